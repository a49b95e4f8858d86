// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/store/kernel_codec.hpp"
#include "kernelsearch/store/run_store.hpp"
#include "small_kernel.hpp"
#include "temporary_folder.hpp"

/// A run of a small problem with two right trials and two failures, in a store of its own. The second trial
/// is the best, but on the shape "small" the first is faster.
struct StoredRun {
  StoredRun() {
    using namespace kernelsearch;
    kernel = small_kernel(
        "extern \"C\" void axpy(long long n, float* x) {\n  for (long long i = 0; i < n; i += TILE) x[i] += "
        "ONE * ORDER_1;\n}");
    problem.name = "axpy 2";
    problem.function = "axpy";
    problem.kernel = *kernel;
    problem.shapes = {{"small", {{"n", std::int64_t{64}}}, 1.0},
                      {"large", {{"n", std::int64_t{4096}}}, 1.0},
                      {"odd", {{"n", std::int64_t{61}}}, 0.0}};
    problem.build = {"g++", {"-O3", "-DT=${TILE}"}};
    run = store.begin_run({.name = "first",
                           .problem = problem.name,
                           .problem_digest = "d1",
                           .policy = "random",
                           .generator = "template",
                           .evaluator = "host",
                           .options = R"({"budget":"4"})",
                           .seed = 42,
                           .device = "some cpu\nx",
                           .toolchain = "g++ 12.2",
                           .environment = R"({"governor":"performance","sandbox":"bubblewrap 0.8.0"})"});
    add(0, 0, trial_of(2e-3, {1e-6, 4e-3}, 2.0));
    add(1, 1, trial_of(1e-3, {2e-6, 2e-3}, 4.0));
    add(2, 0, Evaluation::failed(Verdict::build_failed, "no"));
    add(3, 0, Evaluation::failed(Verdict::wrong_result, "no"));
  }

  static kernelsearch::Evaluation trial_of(double seconds, const std::vector<double>& medians,
                                           double speedup) {
    using namespace kernelsearch;
    Evaluation e = Evaluation::succeeded(seconds);
    e.measurement.interval = {seconds * 0.99, seconds * 1.01};
    e.measurement.speedup = Speedup{speedup, {speedup - 0.1, speedup + 0.1}, 30};
    const char* const names[] = {"small", "large"};
    for (std::size_t i = 0; i < medians.size(); ++i) {
      ShapeMeasurement shape;
      shape.shape = names[i];
      shape.samples = {medians[i], medians[i]};
      shape.median = medians[i];
      shape.interval = {medians[i] * 0.9, medians[i] * 1.1};
      shape.speedup = Speedup{speedup + 1, {speedup, speedup + 2}, 10};
      e.measurement.shapes.push_back(shape);
    }
    e.phases = {0.5, 0.25, 0.25};
    e.features.set("bytes", 12);
    e.provenance = "built here";
    return e;
  }

  void add(std::uint64_t id, std::uint32_t tile, kernelsearch::Evaluation evaluation) {
    using namespace kernelsearch;
    const Candidate candidate{kernel, {{tile, 1, 0}}};
    StoredTrial trial;
    trial.point = "[]";
    trial.candidate = codec.encode(candidate);
    trial.outcome.id = TrialId{id};
    trial.outcome.evaluation = std::move(evaluation);
    if (trial.outcome.ok()) trial.outcome.objective = trial.outcome.evaluation.measurement.seconds;
    trial.elapsed = static_cast<double>(id);
    store.add_trial(run, {}, trial, codec.kernel(candidate));
  }

  TemporaryFolder folder;
  kernelsearch::RunStore store{folder / "runs.db"};
  std::shared_ptr<const kernelsearch::Kernel> kernel;
  kernelsearch::CandidateCodec<kernelsearch::Candidate> codec;
// A Problem has no default because a Space has none; all its other members have.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
  kernelsearch::Problem problem{.kernel = *small_kernel()};
#pragma GCC diagnostic pop
  kernelsearch::RunId run{};
};
