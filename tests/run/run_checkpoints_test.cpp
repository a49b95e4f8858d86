// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/run_checkpoints.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/run/run.hpp"
#include "run/support.hpp"
#include "support/check_has.hpp"
#include "support/scripted_model.hpp"

using namespace run_test;
using Action = CheckpointEdit::Action;
using Names = std::vector<std::string>;

namespace {

/// Writes a kernel that nobody wrote before; a fast one for the transformation that is named first.
RunParts peak_parts_of(const Place& place, std::shared_ptr<std::size_t> asked) {
  RunParts parts;
  parts.evaluator = Words{small_problem(), place.gate};
  parts.store = place.store.get();
  parts.problem = small_problem();
  parts.model = scripted::RuleChat([asked](const ChatRequest& request) {
    const std::string text = scripted::text_of(request);
    const bool fast = text.find("# Transformation: Vectorization") != std::string::npos;
    const bool bug = text.find("# Transformation: Loop interchange") != std::string::npos;
    const std::string word = std::string(bug    ? "bug"
                                         : fast ? "fast"
                                                : "slow") +
                             "_" + std::to_string(++*asked);
    return scripted::RuleChat::replied(
        "```cpp\nextern \"C\" void twice(int n, const float* x, float* y) {\n  const int " + word +
        " = 2;\n  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n```\n");
  });
  return parts;
}

RunOptions peak_options_of(const std::string& options) {
  RunOptions all;
  all.system = "peak";
  all.system_options = options;
  all.memory = false;
  all.measurement.jobs = 1;
  all.budget = "60";
  return all;
}

std::string workflow_file(const Place& place, const std::string& names) {
  const auto file = place.folder / "mine.json";
  std::ofstream(file) << R"({"schema": 1, "name": "mine", "transformations": [)" + names + "]}";
  return json{{"workflow", file.string()}, {"inner_trials", 2}, {"retries", 0}, {"middle_retries", 0}}.dump();
}

/// `transformation <- parent` of all trials that have a parent.
Names steps_of(const Place& place, RunId run) {
  Names steps;
  for (const StoredTrial& trial : place.store->trials(run))
    if (!trial.outcome.parents.empty())
      steps.push_back(json::parse(trial.point)["strategies"][0].get<std::string>() + " <- " +
                      std::to_string(number(trial.outcome.parents[0])));
  return steps;
}

std::string refused(RunCheckpoints& checkpoints, const CheckpointEdit& edit) {
  try {
    (void)checkpoints.change(edit);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE(
    "RunCheckpoints: a run of peak follows its workflow, shows its checkpoints and goes on from a restored "
    "one") {
  const Place place;
  auto asked = std::make_shared<std::size_t>(0);
  RunId id{};
  {
    Run run = Run::start(small_problem(),
                         peak_options_of(workflow_file(
                             place, R"("unroll_loops", "vectorize_loop", "loop_interchange", "fast_math")")),
                         peak_parts_of(place, asked));
    id = run.id();
    RunCheckpoints working(*place.store, id);  // nothing yet, and no error
    CHECK(working.tree().list().empty());
    check_has(refused(working, {Action::restore, "root"}), "is at work, or was killed");
    run.to_end();
  }
  const Names first{"unroll_loops <- 0", "vectorize_loop <- 1", "loop_interchange <- 2", "fast_math <- 2"};
  CHECK(steps_of(place, id) == first);
  RunCheckpoints checkpoints(*place.store, id);
  CHECK(checkpoints.use() == CheckpointUse::workflow);
  CHECK(checkpoints.tree().path("fast_math") == Names{"root", "unroll_loops", "vectorize_loop", "fast_math"});
  CHECK(checkpoints.tree().current()->name == "fast_math");
  CHECK(checkpoints.tree().at("vectorize_loop").note == "loop_interchange failed 1 times (wrong_result)");
  check_has(checkpoints.tree().at("vectorize_loop").regions.device, "fast_2");
  CHECK(checkpoints.tree().compare("unroll_loops", "vectorize_loop").speedup > 1.5);
  check_has(checkpoints.compared("unroll_loops", "fast_math"), "fast_math: vectorize_loop, fast_math");

  CHECK(checkpoints.change({Action::name, "tiles", "", TrialId{1}, "keep"}) == "trial 1 is tiles");
  check_has(checkpoints.change({Action::restore, "tiles"}),
            "`kernelsearch tune --resume 1` goes on from tiles, trial 1");
  CHECK(refused(checkpoints, {Action::restore, "tile"}).find("did you mean tiles?") != std::string::npos);
  check_has(refused(checkpoints, {Action::name, "x", "", TrialId{3}}),
            "only a right kernel can be a checkpoint: trial 3: wrong_result");
  check_has(refused(checkpoints, {Action::name, "x", "", TrialId{30}}), "no such trial in this run: 30");

  // What another process sees, and where the run goes on.
  RunCheckpoints again(*place.store, id);
  CHECK(again.tree() == checkpoints.tree());
  CHECK(again.tree().current()->name == "tiles");
  CHECK(again.tree().at("tiles").note == "keep");
  Run::resume("1", peak_options_of(""), peak_parts_of(place, asked)).to_end();
  Names now = steps_of(place, id);
  CHECK(Names(now.begin(), now.begin() + 4) == first);
  CHECK(Names(now.begin() + 4, now.end()) ==
        Names{"vectorize_loop <- 1", "loop_interchange <- 5", "fast_math <- 5"});

  // A branch begins elsewhere; resumed twice, and what was asked before comes again.
  RunCheckpoints third(*place.store, id);
  CHECK(third.tree().current()->name == "fast_math-2");
  check_has(third.change({Action::branch, "second", "root"}), "branch second begins with root");
  Run::resume("1", peak_options_of(""), peak_parts_of(place, asked)).to_end();
  now = steps_of(place, id);
  REQUIRE(now.size() >= 8);
  CHECK(now[7] == "unroll_loops <- 0");
  const RunCheckpoints last(*place.store, id);
  CHECK(last.tree().active_branch() == "second");
  CHECK(last.tree().branches()[0].tip == "fast_math-2");
}

TEST_CASE("RunCheckpoints: a workflow is the run's own, whatever becomes of its file") {
  const Place place;
  auto asked = std::make_shared<std::size_t>(0);
  RunOptions options = peak_options_of(workflow_file(place, R"("unroll_loops", "vectorize_loop")"));
  options.budget = "3";
  Run::start(small_problem(), options, peak_parts_of(place, asked)).to_end();
  (void)workflow_file(place, R"("fast_math")");
  RunOptions more = peak_options_of("");
  Run::resume("1", more, peak_parts_of(place, asked)).to_end();
  const Names steps = steps_of(place, RunId{1});
  CHECK(steps.back() == "vectorize_loop <- 1");
  more.system_options = R"({"workflow": "x1_85"})";
  try {
    (void)Run::resume("1", more, peak_parts_of(place, asked));
    FAIL("resumed with another workflow");
  } catch (const ConfigError& error) {
    check_has(error.what(),
              "a run that goes on keeps its option workflow: x1_85; leave it out; this run was begun");
  }
  // What cannot be followed is found out before a run stands in the store.
  const std::size_t runs = place.store->runs().size();
  for (const char* wrong :
       {R"({"workflow": "a6000_fp32"})", R"({"workflow": "nothing"})", R"({"present": "x"})"})
    CHECK_THROWS_AS((void)Run::start(small_problem(), peak_options_of(wrong), peak_parts_of(place, asked)),
                    ConfigError);
  CHECK(place.store->runs().size() == runs);
}

TEST_CASE("RunCheckpoints: runs that go on from no checkpoints have names for their trials") {
  const Place place;
  RunOptions options;
  options.policy = "random";
  options.budget = "3";
  options.measurement.jobs = 1;
  RunParts parts;
  parts.evaluator = Words{small_problem(), place.gate};
  parts.store = place.store.get();
  Run::start(small_problem(), options, std::move(parts)).to_end();
  RunCheckpoints checkpoints(*place.store, RunId{1});
  CHECK(checkpoints.use() == CheckpointUse::named);
  CHECK(checkpoints.change({Action::name, "good", "", TrialId{1}}) == "trial 1 is good");
  CHECK(checkpoints.tree().path("good") == Names{"good"});
  check_has(refused(checkpoints, {Action::restore, "good"}), "run 1 does not go on from checkpoints: random");
  CHECK(RunCheckpoints(*place.store, RunId{1}).tree().find("good") != nullptr);
  CHECK_THROWS_AS(RunCheckpoints(*place.store, RunId{7}), StoreError);
}
