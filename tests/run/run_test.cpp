// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/policy/exhaustive.hpp"
#include "kernelsearch/run/measurement_context.hpp"
#include "kernelsearch/store/codec.hpp"
#include "run/support.hpp"
#include "support/approx.hpp"

using namespace run_test;
using kernelsearch::test::approx;

namespace {

/// A stored run of the scripted problem, to be opened again and again.
struct Bench {
  Place place;
  std::shared_ptr<Words::Gate> gate = place.gate;
  RunOptions options;
  RunId run{};

  explicit Bench(RunOptions how, const std::string& words = "") : options(std::move(how)) {
    problem.kernel.regions.device = code_with(words);
    RunInfo info;
    info.problem = "twice";
    info.problem_digest = measurement_digest(problem, "warm");
    info.policy = options.policy;
    info.generator = options.policy == "submit" ? "submit" : "template";
    info.device = "a scripted device";
    info.toolchain = "a scripted compiler 1.0";
    info.seed = options.seed;
    info.options = json{{"budget", options.budget},
                        {"jobs", options.measurement.jobs},
                        {"suggest", options.suggest},
                        {"strategies", options.strategies}}
                       .dump();
    run = place.store->begin_run(info);
  }
  Problem problem = small_problem();

  [[nodiscard]] RunParts parts() const {
    RunParts parts;
    parts.evaluator = Words{problem, gate};
    parts.store = place.store.get();
    parts.problem = problem;
    return parts;
  }
  [[nodiscard]] Run open() const { return Run::resume(std::to_string(number(run)), {}, parts()); }
  [[nodiscard]] StoredTrial trial(std::uint64_t id) const { return *place.store->trial(run, TrialId{id}); }
};

RunOptions submits(std::string suggest = "none", std::string budget = "100") {
  RunOptions options;
  options.policy = "submit";
  options.suggest = std::move(suggest);
  options.budget = std::move(budget);
  return options;
}

RunOptions policy(std::string name, std::string budget) {
  RunOptions options;
  options.policy = std::move(name);
  options.budget = std::move(budget);
  options.measurement.jobs = 2;
  return options;
}

Submission with_code(const std::string& words) {
  Submission submission;
  submission.device = code_with(words);
  return submission;
}

/// That a run with these options is not begun, in such words.
void check_refused(const Place& place, RunOptions options, const char* words) {
  RunParts parts;
  parts.evaluator = Words{small_problem(), place.gate};
  parts.store = place.store.get();
  CHECK_THROWS_WITH_AS((void)Run::start(small_problem(), std::move(options), std::move(parts)),
                       doctest::Contains(words), ConfigError);
}

}  // namespace

TEST_CASE("Run: steps make exactly the trials that were asked for, until the budget is spent") {
  const Bench bench(policy("random", "15"));
  Run session = bench.open();
  StepReport report = session.step({.trials = 1});
  CHECK(report.trials == 1);
  CHECK(!report.finished);
  CHECK(report.reason == "paused");
  report = session.step({.trials = 9});
  CHECK(report.trials == 9);
  CHECK(bench.place.store->run(bench.run).trials == 10);
  CHECK(bench.place.store->run(bench.run).reason == "paused");
  report = session.step({.trials = 100});
  CHECK(report.trials == 5);
  CHECK(report.finished);
  CHECK(report.reason == "the trial budget is spent");
  report = session.step({});
  CHECK(report.trials == 0);
  CHECK(report.finished);
  CHECK(!session.suggestion());
  std::set<std::string> keys;
  for (const StoredTrial& trial : bench.place.store->trials(bench.run)) keys.insert(trial.candidate->key);
  CHECK(keys.size() == 15);
}

TEST_CASE("Run: a policy's options are stored with it, and a resumed run goes on with them") {
  const Place place;
  const Problem problem = small_problem();
  const auto parts = [&] {
    RunParts made;
    made.evaluator = Words{problem, place.gate};
    made.store = place.store.get();
    made.problem = problem;
    return made;
  };
  const auto keys = [&](RunId run) {
    std::vector<std::string> all;
    for (const StoredTrial& trial : place.store->trials(run)) all.push_back(trial.candidate->key);
    return all;
  };
  RunId with{}, without{};
  {
    Run run = Run::start(problem, policy("genetic( patience=0,population = 3 )", "12"), parts());
    with = run.id();
    CHECK(place.store->run(with).info.policy == "genetic(population=3, patience=0)");
    CHECK(run.step({.trials = 7}).trials == 7);
  }
  {
    Run run = Run::start(problem, policy("genetic", "12"), parts());
    without = run.id();
    CHECK(run.step({.trials = 12}).trials == 12);
  }
  // A policy that did not propose what it had proposed could not go on.
  Run again = Run::resume(std::to_string(number(with)), {}, parts());
  CHECK(again.step({}).trials == 5);
  CHECK(place.store->run(with).info.policy == "genetic(population=3, patience=0)");
  CHECK(keys(with).size() == 12);
  CHECK(keys(with) != keys(without));
  const Place empty;
  check_refused(empty, policy("genetic(population=0)", "3"),
                "the option population of genetic is out of bounds: 0; give a number from 2 to 1000000");
  check_refused(empty, policy("genetic(size=4)", "3"), "there is no such option of genetic: size");
  check_refused(empty, policy("genetic(population=4", "3"), "the options of a policy are not closed");
  CHECK(empty.store->runs().empty());
}

TEST_CASE("Run: a run in pieces, opened anew each time, is the run in one go") {
  const Bench whole(policy("iterated_local_search", "12")), pieces(policy("iterated_local_search", "12"));
  whole.open().step({});
  for (const std::uint64_t n : {1, 4, 2, 5}) {
    const StepReport report = pieces.open().step({.trials = n});
    CHECK(report.trials == n);
  }
  const auto keys = [](const Bench& bench) {
    std::vector<std::string> all;
    for (const StoredTrial& trial : bench.place.store->trials(bench.run)) all.push_back(trial.candidate->key);
    return all;
  };
  CHECK(keys(whole) == keys(pieces));
  CHECK(pieces.open().step({}).finished);
}

TEST_CASE("Run: seconds end a step, and a run whose time is up") {
  const Bench bench(policy("random", "all"));
  Run session = bench.open();
  const StepReport report = session.step({.seconds = 1e-9});
  CHECK(report.trials <= 1);
  CHECK(!report.finished);
  const Bench timed(policy("random", "1ms"));
  StepReport last;
  for (int i = 0; i < 1000 && !last.finished; ++i) last = timed.open().step({.trials = 1});
  CHECK(last.finished);
}

TEST_CASE("Run: a stop ends a step midway, and a new session goes on") {
  const Bench bench(policy("random", "20"), "wait");
  Run session = bench.open();
  StepReport report;
  std::thread stepping([&] { report = session.step({}); });
  CHECK(soon([&] { return bench.gate->waiting == 1; }));
  session.request_stop();
  stepping.join();
  CHECK(report.stopped);
  CHECK(!report.finished);
  CHECK(report.trials == 0);
  CHECK(session.spent());
  bench.gate->let_go();
  CHECK(bench.open().step({}).trials == 20);
}

TEST_CASE("Run: observers with a base class and without one hear of each trial and of the end") {
  const Bench bench(policy("random", "20"));
  struct Hooks {
    std::vector<TrialId> told;
    std::vector<std::string> ends;
    void on_trial(const Trial<Candidate>& trial) { told.push_back(trial.outcome.id); }
    void on_end(std::string_view reason) { ends.emplace_back(reason); }
  } hooks;
  struct Based final : RunObserver {
    std::vector<TrialId> told, started;
    std::size_t best = 0;
    void on_start(TrialId id, const Candidate&) override { started.push_back(id); }
    void on_trial(const Trial<Candidate>& trial) override { told.push_back(trial.outcome.id); }
    void on_best(const Trial<Candidate>&) override { ++best; }
  } based;
  Run session = bench.open();
  session.step({.trials = 6}, hooks, based);
  CHECK(hooks.told.size() == 6);
  CHECK(based.told == hooks.told);
  CHECK(based.started.size() == 6);
  CHECK(based.best > 0);
  CHECK(hooks.ends == std::vector<std::string>{"paused"});
}

TEST_CASE("Run: settings from outside in a run of a policy") {
  const Bench bench(policy("random", "5"));
  Run session = bench.open();
  Submission submission;
  submission.settings = {{"UNROLL", std::int64_t{4}}, {"BLOCK", std::int64_t{32}}, {"FAST", true}};
  const std::optional<TrialId> trial = session.submit(submission);
  REQUIRE(trial);
  CHECK(bench.trial(number(*trial)).candidate->key == "4,32,true");
  CHECK(!bench.trial(number(*trial)).outcome.origin);
  submission.parent = trial;
  submission.settings = {{"UNROLL", 2.0}};  // numbers are numbers
  CHECK(bench.trial(number(*session.submit(submission))).candidate->key == "2,32,true");

  const auto refused = [&session](const Submission& wrong, const char* words) {
    try {
      (void)session.submit(wrong);
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
  CHECK(bench.open().step({}).trials == 3);
}

TEST_CASE("Run: kernels from outside are judged, and nothing is lost between sessions") {
  const Bench bench(submits());
  {
    Run session = bench.open();
    StepReport report = session.step({});
    CHECK(report.trials == 1);
    CHECK(report.reason == "waiting for kernels");
    CHECK(session.step({}).trials == 0);
    const auto fast = session.submit(with_code("fast"));
    REQUIRE(fast);
    CHECK(number(*fast) == 1);
    CHECK(bench.trial(1).outcome.ok());
    CHECK(bench.trial(1).outcome.parents == std::vector<TrialId>{TrialId{0}});
    CHECK(bench.trial(1).outcome.objective < bench.trial(0).outcome.objective);
    Submission wrong = with_code("bug fast");
    wrong.strategies = {"unroll", "prefetch"};
    REQUIRE(session.submit(wrong));
    CHECK(bench.trial(2).outcome.evaluation.verdict == Verdict::wrong_result);
    CHECK(bench.trial(2).outcome.evaluation.reason == "y[3] is 7 instead of 6");
    CHECK(bench.trial(2).outcome.parents ==
          std::vector<TrialId>{TrialId{1}});  // the best is the parent unless named
    CHECK(bench.trial(2).point.find("\"prefetch\"") != std::string::npos);
    CHECK(bench.trial(2).point.find("\"submitted\"") != std::string::npos);
    REQUIRE(session.submit(with_code("broken")));
    CHECK(bench.trial(3).outcome.evaluation.verdict == Verdict::build_failed);
  }
  Run again = bench.open();
  Submission settings;
  settings.parent = TrialId{1};
  settings.settings = {{"UNROLL", std::int64_t{4}}};
  REQUIRE(again.submit(settings));
  CHECK(bench.trial(4).candidate->kernel == bench.trial(1).candidate->kernel);
  CHECK(bench.trial(4).outcome.objective < bench.trial(1).outcome.objective);
  Submission macros;
  macros.parent = TrialId{0};
  macros.macros = "#define X 1\n";
  REQUIRE(again.submit(macros));
  CHECK(bench.place.store->kernel(bench.trial(5).candidate->kernel)->macros == "#define X 1\n");
  CHECK(bench.place.store->kernel(bench.trial(5).candidate->kernel)->device ==
        bench.problem.kernel.regions.device);

  Submission same;
  CHECK_THROWS_AS((void)again.submit(same), ConfigError);
  same.parent = TrialId{42};
  CHECK_THROWS_AS((void)again.submit(same), ConfigError);
  CHECK_THROWS_AS((void)again.decline("no"), ConfigError);
  same = with_code("other");
  same.answers = true;
  CHECK_THROWS_AS((void)again.submit(same), ConfigError);  // nothing is suggested
}

TEST_CASE("Run: a kernel that was judged before is not measured again, but is a trial") {
  const Bench bench(submits());
  Run session = bench.open();
  session.step({});
  REQUIRE(session.submit(with_code("fast")));
  const int judged = bench.gate->judged;
  Submission again = with_code("fast");
  again.parent = TrialId{0};
  REQUIRE(session.submit(again));
  CHECK(bench.gate->judged == judged);
  CHECK(bench.trial(2).outcome.objective == bench.trial(1).outcome.objective);
}

TEST_CASE("Run: the budget of a submit run counts every kernel, over sessions") {
  const Bench bench(submits("none", "3"));
  {
    Run session = bench.open();
    session.step({});
    REQUIRE(session.submit(with_code("one")));
  }
  Run session = bench.open();
  REQUIRE(session.submit(with_code("two")));
  CHECK_THROWS_AS((void)session.submit(with_code("three")), ConfigError);
  CHECK(session.step({}).finished);
}

TEST_CASE("Run: a stopped submission leaves no trial behind") {
  const Bench bench(submits());
  Run session = bench.open();
  session.step({});
  std::optional<TrialId> trial{TrialId{9}};
  std::thread submitting([&] { trial = session.submit(with_code("wait")); });
  CHECK(soon([&] { return bench.gate->waiting == 1; }));
  session.request_stop();
  submitting.join();
  CHECK(!trial);
  CHECK(session.spent());
  CHECK(bench.place.store->run(bench.run).trials == 1);
  bench.gate->let_go();
  Run next = bench.open();
  CHECK(number(*next.submit(with_code("wait"))) == 1);
}

TEST_CASE("Run: suggested moves are carried out, declined, and outlive the session") {
  for (const std::string name : {"epsilon_greedy_tree", "beam", "best_of_k", "reflexion"}) {
    CAPTURE(name);
    RunOptions plan = submits(name);
    plan.strategies = {"tile", "vectorize"};
    plan.seed = 3;
    const Bench bench(plan);
    std::optional<Move> first;
    {
      Run session = bench.open();
      session.step({});
      first = session.suggestion();
      REQUIRE(first);
      CHECK(first->kind == MoveKind::rewrite);
      CHECK(first->parents == std::vector<TrialId>{TrialId{0}});
      CHECK(first->strategies.size() == 1);
      CHECK(session.suggestion() == first);  // it waits
      // Something else in between does not answer it, and is no reason to suggest another.
      REQUIRE(session.submit(with_code("idea")));
      CHECK(session.suggestion() == first);
    }
    {
      Run session = bench.open();
      CHECK(session.suggestion() == first);
      Submission answer = with_code("fast");
      answer.answers = true;
      REQUIRE(session.submit(answer));
      const StoredTrial told = bench.trial(2);
      CHECK(told.outcome.origin);
      CHECK(told.outcome.parents == first->parents);
      CHECK(PointCodec<Move>::decode(told.point) == *first);
      const std::optional<Move> second = session.suggestion();
      REQUIRE(second);
      CHECK(!(*second == *first));
      session.decline("it was tried already");
      CHECK(session.spent());
    }
    CHECK(bench.trial(3).outcome.evaluation.verdict == Verdict::not_applicable);
    CHECK(bench.trial(3).outcome.evaluation.reason == "declined: it was tried already");
    Run session = bench.open();
    const std::optional<Move> third = session.suggestion();
    REQUIRE(third);
    Submission answer = with_code("bug");
    answer.answers = true;
    REQUIRE(session.submit(answer));
    CHECK(bench.trial(4).outcome.evaluation.verdict == Verdict::wrong_result);
    REQUIRE(bench.open().suggestion());
    CHECK(bench.place.store->run(bench.run).trials == 4);  // what was declined is none
  }
}

TEST_CASE("Run: refuses what it cannot go on with") {
  const Bench bench(policy("no_such", "5"));
  CHECK_THROWS_AS((void)bench.open(), ConfigError);
  CHECK_THROWS_AS((void)Bench(submits("no_such")).open(), ConfigError);
  CHECK_THROWS_AS((void)Bench(submits("none", "lots")).open(), ConfigError);
  // Another policy than the one whose proposals are in the record.
  Bench changed(policy("random", "10"));
  changed.open().step({.trials = 3});
  RunParts parts = changed.parts();
  parts.policy = Exhaustive(changed.problem.kernel.space);
  CHECK_THROWS_AS((void)Run::resume("latest", {}, std::move(parts)), ConfigError);
  // A problem that is not the run's any more.
  Bench moved(submits());
  moved.open().step({});
  moved.problem.kernel.space = Space::build({});
  CHECK_THROWS_AS((void)moved.open(), ConfigError);
}

TEST_CASE("Run: a run from its start to the winner's files, with an evaluator of one's own") {
  const Place place;
  std::vector<std::string> messages;
  struct Listener final : RunObserver {
    std::vector<std::string>& to;
    explicit Listener(std::vector<std::string>& m) : to(m) {}
    void on_message(std::string_view text) override { to.emplace_back(text); }
  } listener(messages);
  RunParts parts;
  parts.evaluator = Words{small_problem(), place.gate};
  parts.observer = &listener;
  Run run = Run::start(place.folder / "root" / "twice",
                       {.policy = "exhaustive",
                        .budget = "all",
                        .store = place.folder / "runs.db",
                        .out = place.folder / "out",
                        .record = place.folder / "all.json"},
                       std::move(parts));
  CHECK(run.problem().name == "twice");
  run.to_end(listener);
  const RunResult result = run.finish();
  CHECK(result.run == run.id());
  CHECK_FALSE(result.stopped);
  REQUIRE(result.best);
  CHECK(result.row.trials == run.problem().kernel.space.count().low());
  CHECK(result.reason == result.row.reason);
  std::set<std::string> kinds;
  for (const auto& [what, file] : result.files) {
    kinds.insert(what);
    CHECK(std::filesystem::exists(file));
  }
  CHECK(kinds == std::set<std::string>{"record", "settings", "source", "table"});
  CHECK(std::filesystem::exists(place.folder / "all.json"));
  // The best was measured again, which the store has as a revision.
  bool again = false, recorded = false;
  for (const std::string& text : messages) {
    again =
        again || text == "measuring finalist " + std::to_string(number(result.best->outcome.id)) + " again";
    recorded = recorded || text.find("configurations recorded in") != std::string::npos;
  }
  CHECK(again);
  CHECK(recorded);
}

TEST_CASE("Run: a policy of one's own, and a run that is stopped and resumed") {
  const Place place;
  const Problem problem = small_problem();
  const auto parts = [&] {
    RunParts all;
    all.evaluator = Words{problem, place.gate};
    all.policy = Exhaustive(problem.kernel.space);
    all.store = place.store.get();
    all.problem = problem;
    return all;
  };
  const RunOptions options{.policy = "mine", .budget = "9"};
  {
    Run run = Run::start(problem, options, parts());
    CHECK(run.step({.trials = 4}).trials == 4);
    run.request_stop();
    CHECK(run.step({}).stopped);
    CHECK(run.spent());
    CHECK(run.finish().stopped);
  }
  Run run = Run::resume("latest", {}, parts());
  REQUIRE(run.resumed());
  CHECK(run.resumed()->trials == 4);
  CHECK(run.options().policy == "mine");
  run.to_end();
  CHECK(place.store->run(run.id()).trials == 9);
  std::set<std::string> keys;
  for (const StoredTrial& trial : place.store->trials(run.id())) keys.insert(trial.candidate->key);
  CHECK(keys.size() == 9);
  // Without its policy, by a name that there is not, the run cannot go on; without its problem neither.
  RunParts none = parts();
  none.policy.reset();
  CHECK_THROWS_AS((void)Run::resume("latest", {}, std::move(none)), ConfigError);
  RunParts no_problem = parts();
  no_problem.problem.reset();
  CHECK_THROWS_WITH_AS((void)Run::resume("latest", {}, std::move(no_problem)),
                       doctest::Contains("RunParts::problem"), ConfigError);
}

TEST_CASE("Run: a policy that is a command is stored, and a resumed run replays its asks and tells exactly") {
  const Place place;
  const auto write = [&place](const std::string& first, const std::string& second) {
    std::ofstream(place.folder / "mine.sh")
        << "read hello; echo hello >> said\necho '{\"type\":\"ready\",\"protocol\":1}'\nk=0\n"
           "while read line; do\n  case \"$line\" in\n    '{\"type\":\"ask\"'*)\n      k=$((k+1)); c=''\n"
           "      case $k in\n        1) c='{\"UNROLL\":"
        << first << ",\"BLOCK\":16,\"FAST\":false}';;\n        2) c='{\"UNROLL\":" << second
        << ",\"BLOCK\":16,\"FAST\":false}';;\n        3) c='{\"UNROLL\":4,\"BLOCK\":64,\"FAST\":true}';;\n"
           "        4) c='{\"UNROLL\":8,\"BLOCK\":32,\"FAST\":true}';;\n      esac\n"
           "      echo \"{\\\"type\\\":\\\"proposals\\\",\\\"configurations\\\":[$c]}\";;\n"
           "    *) echo tell >> said;;\n  esac\ndone\n";
  };
  write("1", "2");
  const auto parts = [&] {
    RunParts all;
    all.evaluator = Words{small_problem(), place.gate};
    all.store = place.store.get();
    all.problem = small_problem();
    return all;
  };
  RunOptions options;
  options.policy_command = "sh mine.sh";
  options.policy_folder = place.folder.path();
  options.budget = "20";
  {
    Run run = Run::start(small_problem(), options, parts());
    CHECK(run.options().policy == "mine");
    CHECK(run.step({.trials = 2}).trials == 2);
  }
  // The store may be another's: its command is not run on its word.
  CHECK_THROWS_WITH_AS((void)Run::resume("latest", {}, parts()),
                       doctest::Contains("give --policy-command again"), ConfigError);
  RunOptions again;
  again.policy_command = options.policy_command;
  again.policy_folder = options.policy_folder;
  Run run = Run::resume("latest", again, parts());
  run.to_end();
  CHECK(place.store->run(run.id()).info.policy == "mine");
  std::vector<std::string> keys;
  for (const StoredTrial& trial : place.store->trials(run.id())) keys.push_back(trial.candidate->key);
  CHECK(keys == std::vector<std::string>{"1,16,false", "2,16,false", "4,64,true", "8,32,true"});
  std::ifstream in(place.folder / "said");
  std::size_t hellos = 0;
  for (std::string line; std::getline(in, line);) hellos += line == "hello" ? 1 : 0;
  CHECK(hellos == 2);
  // Another policy under that name is found out by what it proposes.
  write("2", "1");
  again.budget = "30";
  CHECK_THROWS_WITH_AS((void)Run::resume("latest", again, parts()),
                       doctest::Contains("does not repeat its recorded proposals"), ConfigError);
}

TEST_CASE("Run: a policy from outside that cannot be is refused before anything stands in the store") {
  const Place place;
  const auto refused = [&](RunOptions options, const char* words) {
    check_refused(place, std::move(options), words);
  };
  refused({.policy_command = "exit 3"}, "policy exit ended: it ended with exit code 3");
  refused({.policy_command = " "}, "a policy command is empty");
  refused({.policy_command = "sh random.sh"}, "a built-in policy has that name");
  refused({.policy_command = "x", .policy_plugin = "y"}, "leave one of them out");
  refused({.policy_command = "x", .system = "stark"}, "a system brings its own policy");
  refused({.policy_plugin = "none.so"}, "there is no such plug-in");
  CHECK(place.store->runs().empty());
}

TEST_CASE("Run: what was measured before is reused, and learned from, unless that is not wanted") {
  const Place place;
  const auto made = [&](RunOptions options) {
    RunParts parts;
    parts.evaluator = Words{small_problem(), place.gate};
    parts.store = place.store.get();
    options.policy = "exhaustive";
    options.budget = "all";
    return Run::start(small_problem(), std::move(options), std::move(parts));
  };
  made({}).to_end();
  const int judged = place.gate->judged;
  Run again = made({});
  CHECK(again.options().learn_from.size() == 1);
  again.to_end();
  CHECK(place.gate->judged == judged + 1);  // the finalist alone
  Run anew = made({.learn = false, .reuse = false});
  CHECK(anew.options().learn_from.empty());
  anew.to_end();
  CHECK(place.gate->judged == 2 * judged + 1);
}

TEST_CASE("Run: what cannot be is refused before anything stands in the store") {
  const Place place;
  const auto refused = [&](RunOptions options, const char* words) {
    check_refused(place, std::move(options), words);
  };
  refused({.policy = "bayesia"}, "did you mean");
  refused({.system = "starc"}, "did you mean stark?");
  refused({.system = "stark", .system_options = R"({"epsilo": 1})"}, "did you mean epsilon?");
  refused({.system = "stark", .system_options = R"({"epsilon": 2})"}, "out of bounds");
  refused({.system = "stark", .system_options = R"({"epsilon": true})"}, "another type");
  refused({.system = "stark", .learn_from = {"x.json"}}, "learns from no earlier runs");
  refused({.system = "kernelband", .system_options = R"({"variant": "v2"})", .learn_from = {"x.db"}},
          "learns from no earlier runs");
  refused({.system = "kernelband", .learn_from = {"x.json"}}, "name a store, or STORE:RUN");
  refused({.system = "kernelband", .system_options = R"({"variant": "v9"})"}, "there are ours, v1, v2");
  refused({.budget = "lots"}, "lots");
  refused({.where = {"NONE == 1"}}, "NONE");
  refused({.validate = "memcheck"}, "Compute Sanitizer");
  refused({.record = "all.txt"}, "format");
  CHECK(place.store->runs().empty());
}

TEST_CASE("Run: a run of a store of 0.1, whose device has the number of cores in its name, goes on") {
  const Place place;
  const Problem problem = small_problem();
  const auto parts = [&](const std::string& device) {
    RunParts all;
    all.evaluator = Words{problem, place.gate, device};
    all.store = place.store.get();
    all.problem = problem;
    return all;
  };
  {
    Run run = Run::start(problem, {.policy = "random", .budget = "4"},
                         parts("AMD EPYC, 2 cores, governor powersave"));
    CHECK(run.step({.trials = 2}).trials == 2);
  }
  CHECK_THROWS_WITH_AS((void)Run::resume("latest", {}, parts("Another")),
                       doctest::Contains("device has changed"), ConfigError);
  Run run = Run::resume("latest", {}, parts("AMD EPYC"));
  run.to_end();
  CHECK(place.store->run(run.id()).trials == 4);
}

TEST_CASE("Run: what cannot be written is said before anything is measured") {
  const Place place;
  std::ofstream(place.folder / "taken") << "a file, no folder";
  RunParts parts;
  parts.evaluator = Words{small_problem(), place.gate};
  parts.store = place.store.get();
  CHECK_THROWS_WITH_AS(
      (void)Run::start(small_problem(), {.budget = "2", .out = place.folder / "taken"}, std::move(parts)),
      doctest::Contains("the winner's files could not be written"), ConfigError);
  RunParts again;
  again.evaluator = Words{small_problem(), place.gate};
  again.store = place.store.get();
  CHECK_THROWS_WITH_AS(
      (void)Run::start(small_problem(), {.budget = "2", .record = "/proc/record.json"}, std::move(again)),
      doctest::Contains("the record could not be written"), ConfigError);
  CHECK(place.gate->judged == 0);
  CHECK(place.store->runs().empty());
}

TEST_CASE("Run: a result is told though its files cannot be written when the run ends") {
  const Place place;
  RunParts parts;
  parts.evaluator = Words{small_problem(), place.gate};
  parts.store = place.store.get();
  Run run = Run::start(
      small_problem(),
      {.policy = "random", .budget = "3", .out = place.folder / "out", .record = place.folder / "r.json"},
      std::move(parts));
  run.to_end();
  // Another program takes the folder's name meanwhile.
  std::ofstream(place.folder / "out") << "a file";
  std::filesystem::create_directory(place.folder / "r.json");
  const RunResult result = run.finish();
  REQUIRE(result.best);
  CHECK(result.row.trials == 3);
  REQUIRE(result.unwritten.size() == 2);
  CHECK(result.unwritten[0].find((place.folder / "out").string()) != std::string::npos);
  CHECK(result.unwritten[1].find("r.json") != std::string::npos);
  std::filesystem::remove(place.folder / "out");
  std::filesystem::remove(place.folder / "r.json");
  CHECK(run.finish().unwritten.empty());
  CHECK(std::filesystem::exists(place.folder / "r.json"));
}

TEST_CASE("Run: objectives decide what is best, are stored, and are kept by a run that goes on") {
  const Place place;
  Problem problem = small_problem();
  problem.objectives = Objectives::parse("maximize waste = time");
  const auto parts = [&] {
    RunParts made;
    made.evaluator = Words{problem, place.gate};
    made.store = place.store.get();
    made.problem = problem;
    return made;
  };
  RunId id{};
  {
    Run run = Run::start(problem, policy("exhaustive", "all"), parts());
    id = run.id();
    CHECK(run.step({.trials = 5}).trials == 5);
  }
  CHECK(json::parse(place.store->run(id).info.options)["objectives"] == "maximize waste = time");
  Run again = Run::resume(std::to_string(number(id)), {}, parts());
  CHECK(again.step({}).finished);
  double slowest = 0, fastest = 1;
  for (const StoredTrial& trial : place.store->trials(id)) {
    if (!trial.outcome.ok()) continue;
    const double seconds = trial.outcome.evaluation.measurement.seconds;
    CHECK(trial.outcome.objective == approx(1 / seconds));
    CHECK(trial.outcome.evaluation.features.find("objective.waste") == seconds);
    slowest = std::max(slowest, seconds);
    fastest = std::min(fastest, seconds);
  }
  REQUIRE(slowest > fastest);
  CHECK(place.store->best_trial(id)->outcome.evaluation.measurement.seconds == slowest);
  CHECK(!place.store->finalists(id));  // pairs compare times
  // The option takes the place of the problem's, and the time is one.
  RunOptions times = policy("exhaustive", "all");
  times.objectives = "time";
  Run run = Run::start(problem, times, parts());
  (void)run.step({});
  for (const StoredTrial& trial : place.store->trials(run.id())) {
    if (!trial.outcome.ok()) continue;
    CHECK(trial.outcome.objective == trial.outcome.evaluation.measurement.seconds);
    CHECK(!trial.outcome.evaluation.features.find("objective.waste"));
  }
}

TEST_CASE("Run: objectives that cannot be had, or that nothing goes by, are refused") {
  const Place place;
  RunOptions options = policy("random", "5");
  options.objectives = "time; energy_joules";
  {
    RunParts parts;
    parts.evaluator = Words{small_problem(), place.gate};
    parts.store = place.store.get();
    Run run = Run::start(small_problem(), options, std::move(parts));
    CHECK_THROWS_WITH_AS((void)run.step({}), doctest::Contains("was not observed: energy_joules"),
                         ConfigError);
  }
  options.objectives = "time energy";
  check_refused(place, options, "an objective is not understood");
  options.objectives = "maximize waste = time";
  options.policy.clear();
  options.system = "cuda_skill_v2";
  check_refused(
      place, options,
      "cuda_skill_v2 goes by the time alone: it chooses methods by the kernel's place in the roofline, "
      "which is made of times: maximize waste = time; search the tunables with a policy, e.g. nsga2, "
      "or with the system helion_lfbo, hand kernels in with the policy submit, or give --objectives "
      "time");
  options.system = "greedy_refine";
  check_refused(place, options, "its model is asked for a faster kernel and is told times");
}

TEST_CASE("Run: kernels from outside go by any objectives, and so does the search of their tunables") {
  Place place;
  Problem problem = small_problem();
  RunParts parts;
  parts.evaluator = Words{problem, place.gate};
  parts.store = place.store.get();
  RunOptions options = submits();
  options.objectives = "maximize waste = time";
  Run run = Run::start(problem, options, std::move(parts));
  (void)run.step({});
  REQUIRE(run.submit(with_code("fast")));
  const auto seconds = [&](TrialId id) {
    return place.store->trial(run.id(), id)->outcome.evaluation.measurement.seconds;
  };
  CHECK(seconds(TrialId{1}) < seconds(TrialId{0}));
  CHECK(place.store->best_trial(run.id())->outcome.id == TrialId{0});
  REQUIRE(run.submit(with_code("other")));  // made from the best
  CHECK(place.store->trial(run.id(), TrialId{2})->outcome.parents == std::vector<TrialId>{TrialId{0}});
  const TuneReport report = run.tune({.trial = TrialId{1}, .trials = 30, .policy = "exhaustive"});
  REQUIRE(report.best);
  // All of them are tried: the best is the slowest.
  double slowest = seconds(TrialId{1});
  for (const TrialId id : report.trials) slowest = std::max(slowest, seconds(id));
  CHECK(seconds(*report.best) == slowest);
  CHECK(slowest > seconds(TrialId{1}));
}

TEST_CASE("Run: a system that goes by what its policy is told takes any objectives") {
  const Place place;
  RunOptions options = policy("", "40");
  options.system = "helion_lfbo";
  options.objectives = "maximize waste = time";
  RunParts parts;
  parts.evaluator = Words{small_problem(), place.gate};
  parts.store = place.store.get();
  Run run = Run::start(small_problem(), options, std::move(parts));
  (void)run.step({});
  double slowest = 0;
  for (const StoredTrial& trial : place.store->trials(run.id()))
    if (trial.outcome.ok()) slowest = std::max(slowest, trial.outcome.evaluation.measurement.seconds);
  CHECK(place.store->best_trial(run.id())->outcome.evaluation.measurement.seconds == slowest);
}
