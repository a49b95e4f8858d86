// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/run/run.hpp"
#include "run/support.hpp"
#include "support/scripted_model.hpp"

using namespace run_test;

namespace {

/// A space in which two searches do not propose the same by chance.
Problem roomy_problem() {
  Problem problem = small_problem();
  SpaceBuilder builder;
  for (const char* name : {"UNROLL", "BLOCK", "DEPTH", "WIDTH", "LANES", "PAD"})
    builder.add(Tunable::integer(name, 0, 15));
  problem.kernel.space = builder.build();
  return problem;
}

/// Judges configurations by how far they are from one, and refuses a corner of the space.
struct Distances : Words {
  Evaluation run(Staged<Artifact>&& staged, const EvaluationContext&) const {
    const Candidate& candidate = staged.artifact->candidate;
    ++gate->judged;
    double seconds = 1.0;
    for (std::size_t i = 0; i < candidate.config.indices.size(); ++i)
      seconds += 0.1 * static_cast<double>(i + 1) *
                 std::abs(static_cast<double>(candidate.config.indices[i]) - 3.0 - static_cast<double>(i));
    if (candidate.config.indices[0] + candidate.config.indices[1] > 24)
      return Evaluation::failed(Verdict::wrong_result, "y[3] is 7 instead of 6", 0.5);
    return support::scripted_success(seconds, candidate.kernel->regions.device);
  }
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) const {
    return evaluate_in_stages(*this, candidate, context);
  }
};

RunParts hybrid_parts(const Place& place) {
  RunParts parts;
  parts.evaluator = Distances{{roomy_problem(), place.gate}};
  parts.store = place.store.get();
  parts.problem = roomy_problem();
  parts.model = scripted::RuleChat(std::vector<std::string>{
      R"({"configs":[{"UNROLL":6,"BLOCK":6,"DEPTH":6,"WIDTH":6,"LANES":6,"PAD":6},{"UNROLL":2,"PAD":9}]})"});
  return parts;
}

/// One at a time where that is asked for; else as many as runs of one builder and one lane have out.
Run hybrid_run(const Place& place, const std::string& stage2, bool one_at_a_time, std::uint64_t seed = 5) {
  RunOptions options{.budget = "64"};
  options.system = "helion_hybrid";
  options.system_options = R"({"stage2": ")" + stage2 + "\"}";
  options.memory = false;
  options.measurement.jobs = 1;
  if (one_at_a_time) options.lanes.in_flight = 1;
  options.seed = seed;
  return Run::start(roomy_problem(), std::move(options), hybrid_parts(place));
}

std::vector<std::string> proposed(const Place& place, const Run& run) {
  std::vector<std::string> keys;
  for (const StoredTrial& trial : place.store->trials(run.id())) keys.push_back(trial.candidate->key);
  return keys;
}

std::vector<std::string> whole_run(const std::string& stage2, bool one_at_a_time, std::uint64_t seed = 5) {
  const Place place;
  Run run = hybrid_run(place, stage2, one_at_a_time, seed);
  run.to_end();
  return proposed(place, run);
}

constexpr std::size_t hybrid_seeds = 11;  // the default and ten, which are measured while the model is asked

}  // namespace

TEST_CASE("Run: Helion's hybrid: what its second stages propose is told apart, and so are seeds") {
  const std::vector<std::string> helion = whole_run("helion", true), ours = whole_run("ours", true);
  REQUIRE(helion.size() == 64);
  REQUIRE(ours.size() == 64);
  CHECK(std::vector(helion.begin(), helion.begin() + hybrid_seeds + 2) ==
        std::vector(ours.begin(), ours.begin() + hybrid_seeds + 2));
  CHECK(helion != ours);
  CHECK(whole_run("helion", true, 6) != helion);
}

TEST_CASE("Run: Helion's hybrid that is resumed proposes what it would have, with either second stage") {
  // Our second stage learns from each trial, so what it proposes depends on how many are out when it is
  // asked, and a step of so many trials asks for no more: one at a time there is no difference.
  for (const auto& entry :
       {std::pair<std::string, bool>{"helion", true}, {"helion", false}, {"ours", true}}) {
    const std::string& stage2 = entry.first;  // no structured binding: clang 14 captures none
    const bool one_at_a_time = entry.second;
    const std::vector<std::string> whole = whole_run(stage2, one_at_a_time);
    REQUIRE(whole.size() == 64);
    // Among the seeds, when the model's are measured, at the second stage's first, within it.
    for (const std::uint64_t part : {3u, 12u, 13u, 14u, 30u, 63u}) {
      CAPTURE(stage2);
      CAPTURE(one_at_a_time);
      CAPTURE(part);
      const Place place;
      {
        Run first = hybrid_run(place, stage2, one_at_a_time);
        CHECK(first.step({.trials = part}).trials == part);
      }
      RunOptions again;
      if (one_at_a_time) again.lanes.in_flight = 1;  // how many are out at a time is not stored
      Run second = Run::resume("latest", std::move(again), hybrid_parts(place));
      REQUIRE(second.resumed());
      CHECK(second.resumed()->trials == part);
      second.to_end();
      const std::vector<std::string> all = proposed(place, second);
      REQUIRE(all.size() == whole.size());
      const auto differs = std::mismatch(all.begin(), all.end(), whole.begin());
      CHECK(differs.first - all.begin() == 64);  // the first that is not proposed as it would have been
    }
  }
}
