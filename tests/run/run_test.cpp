// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/run.hpp"

#include <doctest/doctest.h>

#include <set>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/run/measurement_context.hpp"
#include "kernelsearch/store/codec.hpp"
#include "run/support.hpp"

using namespace run_test;

namespace {

/// A stored run of the scripted problem, and sessions on it.
struct Bench {
  Place place;
  std::shared_ptr<Words::Gate> gate = place.gate;
  RunPlan plan;
  RunId run{};

  explicit Bench(RunPlan how, const std::string& words = "") : plan(std::move(how)) {
    problem.kernel.regions.device = code_with(words);
    RunInfo info;
    info.problem = "twice";
    info.problem_digest = measurement_digest(problem, "warm");
    info.policy = plan.policy;
    info.device = "a scripted device";
    run = place.store->begin_run(info);
  }
  Problem problem = small_problem();

  [[nodiscard]] RunSession open() const { return {*place.store, run, Words{problem, gate}, plan}; }
  [[nodiscard]] StoredTrial trial(std::uint64_t id) const { return *place.store->trial(run, TrialId{id}); }
};

RunPlan submits(std::string suggest = "none", std::string budget = "100") {
  RunPlan plan;
  plan.policy = "submit";
  plan.suggest = std::move(suggest);
  plan.budget = std::move(budget);
  return plan;
}

RunPlan policy(std::string name, std::string budget) {
  RunPlan plan;
  plan.policy = std::move(name);
  plan.budget = std::move(budget);
  plan.jobs = 2;
  return plan;
}

Submission with_code(const std::string& words) {
  Submission submission;
  submission.device = code_with(words);
  return submission;
}

}  // namespace

TEST_CASE("RunSession: steps make exactly the trials that were asked for, until the budget is spent") {
  const Bench bench(policy("random", "15"));
  RunSession session = bench.open();
  const ToolCall call;
  StepReport report = session.step({.trials = 1}, call);
  CHECK(report.trials == 1);
  CHECK(!report.finished);
  CHECK(report.reason == "paused");
  report = session.step({.trials = 9}, call);
  CHECK(report.trials == 9);
  CHECK(bench.place.store->run(bench.run).trials == 10);
  CHECK(bench.place.store->run(bench.run).reason == "paused");
  report = session.step({.trials = 100}, call);
  CHECK(report.trials == 5);
  CHECK(report.finished);
  CHECK(report.reason == "the trial budget is spent");
  report = session.step({}, call);
  CHECK(report.trials == 0);
  CHECK(report.finished);
  CHECK(!session.suggestion());
  std::set<std::string> keys;
  for (const StoredTrial& trial : bench.place.store->trials(bench.run)) keys.insert(trial.candidate->key);
  CHECK(keys.size() == 15);
}

TEST_CASE("RunSession: a run in pieces, opened anew each time, is the run in one go") {
  const Bench whole(policy("iterated_local_search", "12")), pieces(policy("iterated_local_search", "12"));
  const ToolCall call;
  whole.open().step({}, call);
  for (const std::uint64_t n : {1, 4, 2, 5}) {
    const StepReport report = pieces.open().step({.trials = n}, call);
    CHECK(report.trials == n);
  }
  const auto keys = [](const Bench& bench) {
    std::vector<std::string> all;
    for (const StoredTrial& trial : bench.place.store->trials(bench.run)) all.push_back(trial.candidate->key);
    return all;
  };
  CHECK(keys(whole) == keys(pieces));
  CHECK(pieces.open().step({}, call).finished);
}

TEST_CASE("RunSession: seconds end a step, and a run whose time is up") {
  const Bench bench(policy("random", "all"));
  RunSession session = bench.open();
  const StepReport report = session.step({.seconds = 1e-9}, {});
  CHECK(report.trials <= 1);
  CHECK(!report.finished);
  const Bench timed(policy("random", "1ms"));
  StepReport last;
  for (int i = 0; i < 1000 && !last.finished; ++i) last = timed.open().step({.trials = 1}, {});
  CHECK(last.finished);
}

TEST_CASE("RunSession: a stop ends a step midway, and a new session goes on") {
  const Bench bench(policy("random", "20"), "wait");
  std::stop_source stop;
  RunSession session = bench.open();
  StepReport report;
  std::thread stepping([&] { report = session.step({}, ToolCall(stop.get_token())); });
  CHECK(soon([&] { return bench.gate->waiting == 1; }));
  stop.request_stop();
  stepping.join();
  CHECK(report.stopped);
  CHECK(!report.finished);
  CHECK(report.trials == 0);
  CHECK(session.spent());
  bench.gate->let_go();
  CHECK(bench.open().step({}, {}).trials == 20);
}

TEST_CASE("RunSession: progress is told per trial") {
  const Bench bench(policy("random", "20"));
  std::vector<std::string> told;
  const ToolCall call({}, [&told](double done, std::optional<double> total, std::string_view text) {
    CHECK(done == static_cast<double>(told.size() + 1));
    CHECK(total == 6);
    told.emplace_back(text);
  });
  bench.open().step({.trials = 6}, call);
  REQUIRE(told.size() == 6);
  CHECK(told[0].rfind("trial 0: ok ", 0) == 0);
}

TEST_CASE("RunSession: settings from outside in a run of a policy") {
  const Bench bench(policy("random", "5"));
  RunSession session = bench.open();
  Submission submission;
  submission.settings = {{"UNROLL", std::int64_t{4}}, {"BLOCK", std::int64_t{32}}, {"FAST", true}};
  const std::optional<TrialId> trial = session.submit(submission, {});
  REQUIRE(trial);
  CHECK(bench.trial(number(*trial)).candidate->key == "4,32,true");
  CHECK(!bench.trial(number(*trial)).outcome.origin);
  submission.parent = trial;
  submission.settings = {{"UNROLL", 2.0}};  // numbers are numbers
  CHECK(bench.trial(number(*session.submit(submission, {}))).candidate->key == "2,32,true");

  const auto refused = [&session](const Submission& wrong, const char* words) {
    try {
      (void)session.submit(wrong, {});
      FAIL("no error");
    } catch (const ConfigError& error) {
      CHECK_MESSAGE(std::string(error.what()).find(words) != std::string::npos, error.what());
    }
  };
  refused(with_code("fast"), "settings alone");
  submission.settings = {{"UNROL", std::int64_t{4}}};
  refused(submission, "did you mean UNROLL?");
  submission.settings = {{"UNROLL", std::int64_t{3}}};
  refused(submission, "give one of 1, 2, 4, 8");
  submission.settings = {{"UNROLL", std::int64_t{8}}, {"BLOCK", std::int64_t{64}}};
  refused(submission, "UNROLL * BLOCK <= 256");
  submission.parent = TrialId{77};
  refused(submission, "no such trial");
  // They count: two of five are gone.
  CHECK(bench.open().step({}, {}).trials == 3);
}

TEST_CASE("RunSession: kernels from outside are judged, and nothing is lost between sessions") {
  const Bench bench(submits());
  const ToolCall call;
  {
    RunSession session = bench.open();
    StepReport report = session.step({}, call);
    CHECK(report.trials == 1);
    CHECK(report.reason == "waiting for kernels");
    CHECK(session.step({}, call).trials == 0);
    const auto fast = session.submit(with_code("fast"), call);
    REQUIRE(fast);
    CHECK(number(*fast) == 1);
    CHECK(bench.trial(1).outcome.ok());
    CHECK(bench.trial(1).outcome.parents == std::vector<TrialId>{TrialId{0}});
    CHECK(bench.trial(1).outcome.objective < bench.trial(0).outcome.objective);
    Submission wrong = with_code("bug fast");
    wrong.strategies = {"unroll", "prefetch"};
    REQUIRE(session.submit(wrong, call));
    CHECK(bench.trial(2).outcome.evaluation.verdict == Verdict::wrong_result);
    CHECK(bench.trial(2).outcome.evaluation.reason == "y[3] is 7 instead of 6");
    CHECK(bench.trial(2).outcome.parents ==
          std::vector<TrialId>{TrialId{1}});  // the best is the parent unless named
    CHECK(bench.trial(2).point.find("\"prefetch\"") != std::string::npos);
    CHECK(bench.trial(2).point.find("\"submitted\"") != std::string::npos);
    REQUIRE(session.submit(with_code("broken"), call));
    CHECK(bench.trial(3).outcome.evaluation.verdict == Verdict::build_failed);
  }
  RunSession again = bench.open();
  Submission settings;
  settings.parent = TrialId{1};
  settings.settings = {{"UNROLL", std::int64_t{4}}};
  REQUIRE(again.submit(settings, call));
  CHECK(bench.trial(4).candidate->kernel == bench.trial(1).candidate->kernel);
  CHECK(bench.trial(4).outcome.objective < bench.trial(1).outcome.objective);
  Submission macros;
  macros.parent = TrialId{0};
  macros.macros = "#define X 1\n";
  REQUIRE(again.submit(macros, call));
  CHECK(bench.place.store->kernel(bench.trial(5).candidate->kernel)->macros == "#define X 1\n");
  CHECK(bench.place.store->kernel(bench.trial(5).candidate->kernel)->device ==
        bench.problem.kernel.regions.device);

  Submission same;
  CHECK_THROWS_AS((void)again.submit(same, call), ConfigError);
  same.parent = TrialId{42};
  CHECK_THROWS_AS((void)again.submit(same, call), ConfigError);
  CHECK_THROWS_AS((void)again.decline("no", call), ConfigError);
  same = with_code("other");
  same.answers = true;
  CHECK_THROWS_AS((void)again.submit(same, call), ConfigError);  // nothing is suggested
}

TEST_CASE("RunSession: a kernel that was judged before is not measured again, but is a trial") {
  const Bench bench(submits());
  RunSession session = bench.open();
  session.step({}, {});
  REQUIRE(session.submit(with_code("fast"), {}));
  const int judged = bench.gate->judged;
  Submission again = with_code("fast");
  again.parent = TrialId{0};
  REQUIRE(session.submit(again, {}));
  CHECK(bench.gate->judged == judged);
  CHECK(bench.trial(2).outcome.objective == bench.trial(1).outcome.objective);
}

TEST_CASE("RunSession: the budget of a submit run counts every kernel, over sessions") {
  const Bench bench(submits("none", "3"));
  {
    RunSession session = bench.open();
    session.step({}, {});
    REQUIRE(session.submit(with_code("one"), {}));
  }
  RunSession session = bench.open();
  REQUIRE(session.submit(with_code("two"), {}));
  CHECK_THROWS_AS((void)session.submit(with_code("three"), {}), ConfigError);
  CHECK(session.step({}, {}).finished);
}

TEST_CASE("RunSession: a stopped submission leaves no trial behind") {
  const Bench bench(submits());
  RunSession session = bench.open();
  session.step({}, {});
  std::stop_source stop;
  std::optional<TrialId> trial{TrialId{9}};
  std::thread submitting([&] { trial = session.submit(with_code("wait"), ToolCall(stop.get_token())); });
  CHECK(soon([&] { return bench.gate->waiting == 1; }));
  stop.request_stop();
  submitting.join();
  CHECK(!trial);
  CHECK(session.spent());
  CHECK(bench.place.store->run(bench.run).trials == 1);
  bench.gate->let_go();
  RunSession next = bench.open();
  CHECK(number(*next.submit(with_code("wait"), {})) == 1);
}

TEST_CASE("RunSession: suggested moves are carried out, declined, and outlive the session") {
  for (const std::string name : {"epsilon_greedy_tree", "beam", "best_of_k", "reflexion"}) {
    CAPTURE(name);
    RunPlan plan = submits(name);
    plan.strategies = {"tile", "vectorize"};
    plan.seed = 3;
    const Bench bench(plan);
    std::optional<Move> first;
    {
      RunSession session = bench.open();
      session.step({}, {});
      first = session.suggestion();
      REQUIRE(first);
      CHECK(first->kind == MoveKind::rewrite);
      CHECK(first->parents == std::vector<TrialId>{TrialId{0}});
      CHECK(first->strategies.size() == 1);
      CHECK(session.suggestion() == first);  // it waits
      // Something else in between does not answer it, and is no reason to suggest another.
      REQUIRE(session.submit(with_code("idea"), {}));
      CHECK(session.suggestion() == first);
    }
    {
      RunSession session = bench.open();
      CHECK(session.suggestion() == first);
      Submission answer = with_code("fast");
      answer.answers = true;
      REQUIRE(session.submit(answer, {}));
      const StoredTrial told = bench.trial(2);
      CHECK(told.outcome.origin);
      CHECK(told.outcome.parents == first->parents);
      CHECK(PointCodec<Move>::decode(told.point) == *first);
      const std::optional<Move> second = session.suggestion();
      REQUIRE(second);
      CHECK(!(*second == *first));
      session.decline("it was tried already", {});
      CHECK(session.spent());
    }
    CHECK(bench.trial(3).outcome.evaluation.verdict == Verdict::not_generated);
    CHECK(bench.trial(3).outcome.evaluation.reason == "declined: it was tried already");
    RunSession session = bench.open();
    const std::optional<Move> third = session.suggestion();
    REQUIRE(third);
    Submission answer = with_code("bug");
    answer.answers = true;
    REQUIRE(session.submit(answer, {}));
    CHECK(bench.trial(4).outcome.evaluation.verdict == Verdict::wrong_result);
    REQUIRE(bench.open().suggestion());
    CHECK(bench.place.store->run(bench.run).trials == 5);
  }
}

TEST_CASE("RunSession: refuses what it cannot go on with") {
  const Bench bench(policy("no_such", "5"));
  CHECK_THROWS_AS((void)bench.open(), ConfigError);
  CHECK_THROWS_AS((void)Bench(submits("no_such")).open(), ConfigError);
  CHECK_THROWS_AS((void)Bench(submits("none", "lots")).open(), ConfigError);
  // Another policy than the one whose proposals are in the record.
  Bench changed(policy("random", "10"));
  changed.open().step({.trials = 3}, {});
  changed.plan.policy = "exhaustive";
  CHECK_THROWS_AS((void)changed.open(), ConfigError);
  // Submitted kernels whose space is not the problem's any more.
  Bench moved(submits());
  moved.open().step({}, {});
  moved.problem.kernel.space = Space::build({});
  CHECK_THROWS_AS((void)moved.open(), ConfigError);
}
