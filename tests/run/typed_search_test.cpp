// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/typed_search.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/run/run.hpp"
#include "run/support.hpp"
#include "support/approx.hpp"
#include "support/scripted_model.hpp"

using namespace run_test;
using kernelsearch::test::approx;

namespace {

/// Code whose tunables are all used, with a variable of this name.
std::string tunable_code(const std::string& word) {
  return "extern \"C\" void twice(int n, const float* x, float* y) {\n  const int " + word +
         " = BLOCK * UNROLL;\n  const bool math = FAST;\n"
         "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n";
}

Problem tunable_problem() {
  Problem problem = small_problem();
  problem.kernel.regions.device = tunable_code("slow");
  return problem;
}

/// What runs are made of whose model writes another fast kernel each time that it is asked.
RunParts writing_parts(const Place& place, std::size_t asked_before = 0) {
  RunParts parts;
  parts.evaluator = Words{tunable_problem(), place.gate};
  parts.store = place.store.get();
  parts.problem = tunable_problem();
  auto asked = std::make_shared<std::size_t>(asked_before);
  parts.model = scripted::RuleChat([asked](const ChatRequest&) {
    return scripted::RuleChat::replied("```cpp device\n" + tunable_code("fast_" + std::to_string(++*asked)) +
                                       "```\n");
  });
  return parts;
}

Run writing_run(const Place& place, RunOptions options) {
  options.system = "best_of_k";
  options.system_options = R"({"k": 9})";
  options.memory = false;
  options.measurement.jobs = 1;
  options.seed = 5;
  return Run::start(tunable_problem(), std::move(options), writing_parts(place));
}

std::vector<std::string> keys_of(const Place& place, RunId run, std::uint64_t trial) {
  std::vector<std::string> keys;
  for (const StoredInnerTrial& inner : place.store->inner_trials(run, TrialId{trial}))
    keys.push_back(inner.trial.key);
  return keys;
}

}  // namespace

TEST_CASE("KernelsTuned: the run's budget counts kernels, each of which has all its inner trials") {
  const Place place;
  Run run = writing_run(place, {.budget = "3", .inner_trials = 6});
  run.to_end();
  const std::vector<StoredTrial> trials = place.store->trials(run.id());
  REQUIRE(trials.size() == 3);
  CHECK(place.store->run(run.id()).trials == 3);
  for (std::uint64_t trial = 0; trial < 3; ++trial) {
    CAPTURE(trial);
    const std::vector<std::string> keys = keys_of(place, run.id(), trial);
    INFO(trials[trial].outcome.evaluation.reason);
    REQUIRE(keys.size() == 6);
    CHECK(trials[trial].outcome.evaluation.features.find("inner_trials") == 6.0);
    CHECK(std::count(keys.begin(), keys.end(), trials[trial].outcome.evaluation.tuned_key) == 1);
  }
  // Each child's search begins with the default and its parent's best.
  const std::string best = trials[0].outcome.evaluation.tuned_key;
  for (std::uint64_t child : {1, 2}) {
    const std::vector<std::string> keys = keys_of(place, run.id(), child);
    CHECK(std::find(keys.begin(), keys.begin() + 2, best) != keys.begin() + 2);
    CHECK(trials[child].outcome.evaluation.measurement.seconds <=
          trials[0].outcome.evaluation.measurement.seconds / 2 * 1.0001);
  }
}

TEST_CASE("KernelsTuned: models are told of pairs with the parent's best, with interval and load") {
  /// Kernels can be timed in pairs, and others have three tenths of the device.
  struct Pairing : Words {
    std::shared_ptr<std::vector<std::pair<Config, Config>>> pairs =
        std::make_shared<std::vector<std::pair<Config, Config>>>();
    Evaluation run(Staged<Artifact>&& staged, const EvaluationContext& context) const {
      Evaluation evaluation = Words::run(std::move(staged), context);
      evaluation.features.set("load.core", 0.3);
      return evaluation;
    }
    Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) const {
      return evaluate_in_stages(*this, candidate, context);
    }
    [[nodiscard]] std::optional<Speedup> compare(const Candidate& candidate, const Candidate& champion,
                                                 const PairOptions& how) const {
      if (how.budget_seconds > 0) pairs->emplace_back(candidate.config, champion.config);
      return Speedup{1.25, {1.2, 1.3}, 24};
    }
  };
  const auto asked_with = [](std::uint64_t inner_trials) {
    const Place place;
    RunParts parts = writing_parts(place);
    const Pairing judge{Words{tunable_problem(), place.gate}};
    parts.evaluator = judge;
    auto asked = std::make_shared<std::vector<ChatRequest>>();
    parts.model = scripted::RuleChat([asked](const ChatRequest& request) {
      asked->push_back(request);
      return scripted::RuleChat::replied("```cpp device\n" +
                                         tunable_code("fast_" + std::to_string(asked->size())) + "```\n");
    });
    RunOptions options{.budget = "3", .inner_trials = inner_trials};
    options.system = "greedy_refine";
    options.memory = false;
    options.measurement.jobs = 1;
    Run run = Run::start(tunable_problem(), std::move(options), std::move(parts));
    run.to_end();
    REQUIRE(asked->size() == 2);
    std::string text;
    for (const Message& message : asked->back().messages) text += message.text + '\n';
    const std::vector<StoredTrial> trials = place.store->trials(run.id());
    REQUIRE(trials.size() == 3);
    if (inner_trials > 0) {
      const Space& space = tunable_problem().kernel.space;
      REQUIRE(!judge.pairs->empty());
      CHECK(space.key(judge.pairs->front().first) == trials[1].outcome.evaluation.tuned_key);
      CHECK(space.key(judge.pairs->front().second) == trials[0].outcome.evaluation.tuned_key);
      // Measuring the winner again forgets nothing of it.
      for (std::size_t i : {1, 2})
        CHECK(trials[i].outcome.evaluation.features.find("times_parent") == approx(0.8));
    }
    return text;
  };
  const std::string told = asked_with(6);
  const auto says = [&told](const char* what) { return told.find(what) != std::string::npos; };
  CHECK(says("against the kernel that it was made from, in pairs: 1.25 times as fast (95 %: 1.2 to 1.3)"));
  CHECK(says("Other programs disturbed the measurement: they had the device 30 % of the time."));
  CHECK(says("against the one before 1.25 times as fast (95 %: 1.2 to 1.3), in pairs"));
  CHECK_FALSE(says(" as fast, measured apart"));
  // As in the papers, where nothing is tuned times are those of each kernel.
  CHECK(asked_with(0).find("in pairs") == std::string::npos);
}

TEST_CASE("KernelsTuned: without inner trials no kernel is tuned") {
  const Place place;
  Run run = writing_run(place, {.budget = "3", .inner_trials = 0});
  run.to_end();
  const std::vector<StoredTrial> trials = place.store->trials(run.id());
  REQUIRE(trials.size() == 3);
  CHECK(place.store->inner_trials(run.id()).empty());
  for (const StoredTrial& trial : trials) {
    CHECK(trial.outcome.evaluation.tuned_key.empty());
    CHECK_FALSE(trial.outcome.evaluation.features.find("inner_trials"));
  }
}

TEST_CASE(
    "KernelsTuned: a resumed run has the kernels left that its budget allows, and tunes them the same") {
  const Place whole, parted;
  Run once = writing_run(whole, {.budget = "4", .inner_trials = 7});
  once.to_end();
  RunId id{};
  {
    Run first = writing_run(parted, {.budget = "2", .inner_trials = 7});
    first.to_end();
    id = first.id();
  }
  REQUIRE(parted.store->trials(id).size() == 2);
  const int judged = parted.gate->judged;
  RunParts parts = writing_parts(parted, 1);
  Run second = Run::resume(std::to_string(number(id)), {.budget = "4"}, std::move(parts));
  CHECK(second.options().inner_trials == 7);
  second.to_end();
  CHECK(parted.store->run(id).trials == 4);
  for (std::uint64_t trial = 0; trial < 4; ++trial) {
    CAPTURE(trial);
    CHECK(keys_of(parted, id, trial).size() == 7);
    CHECK(keys_of(parted, id, trial) == keys_of(whole, once.id(), trial));
  }
  CHECK(parted.gate->judged > judged);
}
