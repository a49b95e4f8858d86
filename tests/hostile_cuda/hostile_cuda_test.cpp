// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Hostile and honest device kernels and launch functions, judged on a GPU, or with
// KERNELSEARCH_TEST_BACKEND=standin on the stand-in of HIP (whose libraries KERNELSEARCH_HIP_RUNTIME
// and KERNELSEARCH_HIPRTC name). KERNELSEARCH_TEST_REPEAT=N judges each N times, KERNELSEARCH_TEST_THREADS=N
// kernels of N problems at a time.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>

#include "hostile/equal_kernels.hpp"
#include "hostile_cuda/kernels.hpp"
#include "hostile_cuda/naive_harness.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/gpu/gpu_evaluator.hpp"
#include "support/approx.hpp"
#include "support/temporary_folder.hpp"
#include "support/test_backend.hpp"
#include "support/thorough.hpp"

using namespace kernelsearch;
using hostile::Sample;
using kernelsearch::test::approx;

namespace {

const GpuBackend backend = support::test_backend();

/// What came of a kernel.
struct Judged {
  const Sample* sample = nullptr;
  Evaluation ours, searched;
  hostile::NaiveHarness::Judgement naive;
  Verdict after = Verdict::ok;  ///< of an honest kernel that was judged next by the same evaluator
  double honest_seconds = 0;    ///< of that kernel, where the sample says `gain: none`
  std::string error;            ///< of the evaluator or the harness itself
};

GpuOptions options(const std::filesystem::path& cache) {
  GpuOptions chosen;
  chosen.sandbox = Sandbox::none;  // the stand-in's headers are where no sandbox sees them
  chosen.cache_directory = cache;
  chosen.include = {support::test_data() / ".." / "include"};
  chosen.builders = 2;
  chosen.limits.call = 1;
  // Several batches, so that there is something to be gained by what an earlier one was told.
  chosen.sampling = {.precision = 0, .min_samples = 6, .max_samples = 80, .budget_seconds = 30};
  chosen.pairs.when = Pairing::never;
  return chosen;
}

/// Judges the kernels of one problem, hostile ones also naively where asked, and after each of them an honest
/// one.
void judge(const std::string& name, const std::vector<Judged*>& results, const Sample* honest,
           const std::filesystem::path& cache, bool naively) {
  Problem problem = hostile::problem(name, backend);
  if (honest != nullptr) {  // what a judge may compare candidates with
    problem.kernel.regions.device = honest->code;
    problem.kernel.regions.host = honest->host;
  }
  GpuOptions quick = options(cache), brief = quick;
  brief.sampling.max_samples = 6;
  hostile::NaiveHarness naive(problem, backend, quick);
  GpuEvaluator evaluator(problem, quick);
  for (Judged* result : results) try {
      const bool is_hostile = !result->sample->value("expect").empty();
      const Candidate candidate = hostile::candidate(problem, *result->sample);
      if (is_hostile && naively) result->naive = naive.judge(candidate);
      EvaluationContext context;
      if (const std::string seconds = result->sample->value("incumbent"); !seconds.empty())
        context.incumbent = std::atof(seconds.c_str());
      result->ours = evaluator.evaluate(candidate, context);
      if (result->sample->value("searched") == "yes") {
        // By an evaluator that knows nothing faster, which would be reason to look at it for a moment only.
        EvaluationContext search;
        search.trial = TrialId{1};
        result->searched = GpuEvaluator(problem, quick).evaluate(candidate, search);
      }
      if (!is_hostile || honest == nullptr) continue;
      if (result->sample->value("gain") == "none")
        result->honest_seconds =
            evaluator.evaluate(hostile::candidate(problem, *honest), {}).measurement.seconds;
      EvaluationContext at_once;
      at_once.incumbent = 1e-12;  // a few samples will do
      result->after = evaluator.evaluate(hostile::candidate(problem, *honest), at_once).verdict;
    } catch (const std::exception& error) {
      result->error = error.what();
    }
}

/// Why launch functions cannot be built here; empty where they can.
std::string missing_launch_compiler() {
  const TemporaryFolder cache;
  try {
    (void)detail::gpu::BuilderPool(backend, options(cache.path())).library_identity();
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

std::vector<Judged> judge_all(const std::vector<Sample>& hostile_ones, const std::vector<Sample>& honest_ones,
                              const std::filesystem::path& cache, bool naively) {
  std::vector<Judged> results(hostile_ones.size() + honest_ones.size());
  std::map<std::string, std::vector<Judged*>> by_problem;
  std::map<std::string, const Sample*> honest;
  std::size_t next = 0;
  for (const auto* list : {&hostile_ones, &honest_ones})
    for (const Sample& sample : *list) {
      Judged& result = results[next++];
      result.sample = &sample;
      by_problem[sample.value("problem")].push_back(&result);
      if (list == &honest_ones && honest[sample.value("problem")] == nullptr)
        honest[sample.value("problem")] = &sample;
    }
  std::vector<std::string> names;
  for (const auto& [name, list] : by_problem) names.push_back(name);
  std::atomic<std::size_t> taken{0};
  std::vector<std::thread> threads;
  // Processes that share a GPU take turns on it, so that more of them are not sooner done.
  const char* asked = std::getenv("KERNELSEARCH_TEST_THREADS");
  const unsigned most = asked != nullptr ? static_cast<unsigned>(std::max(1, std::atoi(asked)))
                                         : std::clamp(std::thread::hardware_concurrency() / 3, 1u, 4u);
  for (unsigned t = 0; t < most; ++t)
    threads.emplace_back([&] {
      for (std::size_t i = taken++; i < names.size(); i = taken++) try {
          judge(names[i], by_problem[names[i]], honest[names[i]], cache, naively);
        } catch (const std::exception& error) {
          for (Judged* result : by_problem[names[i]]) result->error = error.what();
        }
    });
  for (std::thread& thread : threads) thread.join();
  return results;
}

/// What came of each kernel, a line of CSV, where KERNELSEARCH_TEST_TABLE names a file: for benches.
void write_table(const std::vector<Judged>& results) {
  const char* path = std::getenv("KERNELSEARCH_TEST_TABLE");
  if (path == nullptr) return;
  std::ofstream file(path, std::ios::app);
  for (const Judged& result : results) {
    const Evaluation& ours = result.ours;
    const auto feature = [&](const char* name) { return ours.features.find(name).value_or(0); };
    file << result.sample->name << ',' << (result.sample->value("expect").empty() ? "honest" : "hostile")
         << ',' << to_string(ours.verdict) << ',' << ours.measurement.seconds << ',' << result.naive.mean
         << ',' << feature("verified_calls") << ',' << feature("outside_over_events") << ','
         << feature("charged_batches") << ',' << to_string(result.searched.verdict) << '\n';
  }
}

/// That a kernel got the verdict that it deserves.
void check_verdict(const Judged& result, bool naively) {
  const Sample& sample = *result.sample;
  CAPTURE(sample.name);
  CAPTURE(result.ours.reason);
  CHECK_MESSAGE(result.error.empty(), result.error);
  if (sample.value("expect").empty()) {
    CHECK_MESSAGE(result.ours.verdict == Verdict::ok, to_string(result.ours.verdict));
    return;
  }
  const std::string expected = sample.at("expect", backend);
  CHECK_MESSAGE(sample.allows(result.ours.verdict, result.ours.reason, backend),
                to_string(result.ours.verdict) << " instead of " << expected);
  if (sample.value("searched") == "yes")
    CHECK_MESSAGE(sample.allows(result.searched.verdict, result.searched.reason, backend),
                  "in a search: " << to_string(result.searched.verdict) << " instead of " << expected << ", "
                                  << result.searched.reason);
  CHECK_MESSAGE(result.after == Verdict::ok, "the next: " << to_string(result.after));
  // Under load there is doubt whether it lies, and it is charged what it took: no nanoseconds.
  if (sample.value("charged") == "yes" && result.ours.verdict == Verdict::ok) {
    CHECK(result.ours.features.find("charged_batches").value_or(0) > 0);
    CHECK(result.ours.measurement.seconds > 2e-5);
  }
  // Not on the stand-in: its times are those of a processor that others use.
  if (backend == GpuBackend::cuda && sample.value("gain") == "none" && result.ours.verdict == Verdict::ok)
    CHECK(result.ours.measurement.seconds > 0.7 * result.honest_seconds);
  if (!naively) return;
  const std::string naive = sample.at("naive", backend);
  if (sample.value("forged") == "yes") CHECK(result.naive.mean < 1e-7);
  if (naive == "fooled") CHECK(result.naive.accepted);
  if (naive == "notices") CHECK(!result.naive.accepted);
  if (naive == "breaks") CHECK(!result.naive.usable);
  if (naive != "breaks" && naive != "either") CHECK(result.naive.usable);
}

}  // namespace

TEST_CASE("hostile kernels fool a naive harness and get the verdict that each deserves; honest ones are ok") {
  auto hostile_ones = hostile::samples("hostile", backend), honest_ones = hostile::samples("honest", backend);
  if (const std::string missing = missing_launch_compiler(); !missing.empty()) {
    MESSAGE("launch functions are skipped: " << missing);
    for (auto* list : {&hostile_ones, &honest_ones})
      std::erase_if(*list, [](const Sample& sample) { return !sample.host.empty(); });
  }
  CHECK(hostile_ones.size() >= 60);
  CHECK(honest_ones.size() >= 35);
  if (backend != GpuBackend::cuda)
    for (auto* list : {&hostile_ones, &honest_ones}) keep_tested(*list, 3);
  const TemporaryFolder cache;
  for (std::size_t turn = 0; turn < repeats_asked(); ++turn) {
    CAPTURE(turn);
    const bool naively = turn == 0;  // that an attack works is shown once
    const std::vector<Judged> results = judge_all(hostile_ones, honest_ones, cache.path(), naively);
    write_table(results);
    for (const Judged& result : results) check_verdict(result, naively);
  }
}

TEST_CASE("a kernel beside itself is as fast as it is, by events and by the clock outside") {
  if (backend != GpuBackend::cuda) return;  // the stand-in's times are those of a processor that others use
  const TemporaryFolder cache;
  const bool can_launch = missing_launch_compiler().empty();
  for (const equal::Kernel& kernel : equal::device_kernels()) {
    if (kernel.name.find("short") == std::string::npos &&
        kernel.name.find("sweep_large") == std::string::npos)
      continue;
    if (kernel.launches && !can_launch) continue;
    CAPTURE(kernel.name);
    const Problem problem = equal::problem_of(kernel);
    GpuOptions chosen = options(cache.path());
    chosen.pairs = {.when = Pairing::always};
    GpuEvaluator evaluator(problem, chosen);
    std::vector<equal::Ratio> references, pairs;
    for (int i = 0; i < 5; ++i) {
      const Evaluation evaluation = evaluator.evaluate(equal::twin(problem, 1), {});
      REQUIRE_MESSAGE(evaluation.verdict == Verdict::ok, evaluation.reason);
      if (const auto ratio = equal::ratio_of(evaluation.measurement.speedup)) references.push_back(*ratio);
      if (const auto ratio =
              equal::ratio_of(evaluator.compare(equal::twin(problem, 1), equal::twin(problem, 0))))
        pairs.push_back(*ratio);
    }
    // Far more than noise does to a median.
    REQUIRE(!pairs.empty());
    CHECK(equal::middle_of(pairs) == approx(1).epsilon(0.1).scale(1));
    if (!references.empty()) CHECK(equal::middle_of(references) == approx(1).epsilon(0.1).scale(1));
  }
}

TEST_CASE("all of them are CUDA for a compiler that is here") {
  const TemporaryFolder cache;
  GpuOptions chosen = options(cache.path());
  chosen.architecture = "sm_90a";
  detail::gpu::BuilderPool builders(GpuBackend::cuda, chosen);
  try {
    (void)builders.identity();
  } catch (const Error& error) {
    MESSAGE("skipped: " << error.what());
    return;
  }
  for (const char* folder : {"hostile", "honest"})
    for (const Sample& sample : hostile::samples(folder, GpuBackend::cuda)) {
      CAPTURE(sample.name);
      if (!sample.host.empty()) continue;  // nvcc's
      const Problem problem = hostile::problem(sample.value("problem"), GpuBackend::cuda);
      const Candidate candidate = hostile::candidate(problem, sample);
      const auto built = builders.build(detail::gpu::device_source(candidate),
                                        detail::gpu::compile_options(GpuDevice{}, chosen, {}),
                                        detail::gpu::launched_kernels(problem, candidate));
      const bool expected = !sample.value("expect").starts_with("build_failed");
      CHECK_MESSAGE((built.verdict == Verdict::ok) == expected, built.reason);
      const auto reference =
          builders.build(detail::gpu::reference_source(problem, "double"),
                         detail::gpu::compile_options(GpuDevice{}, chosen, {}), {problem.reference.function});
      CHECK_MESSAGE(reference.verdict == Verdict::ok, reference.reason);
    }
}

int main(int argc, char** argv) {
  if (support::nothing_to_test_on()) return support::skipped;
  if (backend == GpuBackend::hip)
    setenv("KERNELSEARCH_HIPCC", (support::test_data() / "standin" / "hipcc").c_str(), 0);
  return doctest::Context(argc, argv).run();
}
