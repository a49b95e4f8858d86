// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/store/run_store.hpp"

#include <doctest/doctest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "kernelsearch/core/is_trial.hpp"
#include "support/random_outcome.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

namespace {

RunInfo info(const std::string& name = "first") {
  return {name,
          "matmul",
          "d1g3st",
          "random",
          "template",
          "host",
          "{\"budget\":20}",
          18446744073709551615ULL,
          "cpu-0",
          "g++ 12 -O3",
          "{\"os\":\"linux\"}"};
}

StoredTrial trial(Rng& rng, std::uint64_t id) {
  StoredTrial t;
  t.point = "[1,2]";
  t.outcome = random_outcome::outcome(rng, id);
  if (rng.chance(0.8)) t.candidate = StoredCandidate{"kernel-a", "[1,2]", "16,true", "{\"A\":16}"};
  t.elapsed = static_cast<double>(id) * 0.5;
  return t;
}

void execute(const std::filesystem::path& file, const char* sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
  REQUIRE(sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(database);
}

/// While it lives, another connection opens the store just before a connection that is opened meanwhile runs
/// its n-th statement.
class OpenedBeforeStatement {
 public:
  OpenedBeforeStatement(const std::filesystem::path& file, int n) : file_(file), left_(n) {
    current = this;
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(&watch));
  }
  ~OpenedBeforeStatement() {
    sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(&watch));
    current = nullptr;
  }
  [[nodiscard]] bool reached() const { return left_ < 0; }

 private:
  static int watch(sqlite3* database, char**, const void*) {
    return sqlite3_trace_v2(database, SQLITE_TRACE_STMT, &traced, nullptr);
  }
  static int traced(unsigned, void*, void*, void*) {
    if (current->left_-- != 0) return 0;
    try {
      // Waits for nothing: the one that it would wait for goes on only when this has returned.
      const RunStore other(current->file_, {.busy_seconds = 0.0});
    } catch (const StoreError& error) {
      CHECK(std::string(error.what()).find("locked") != std::string::npos);
    }
    return 0;
  }

  static inline OpenedBeforeStatement* current = nullptr;
  std::filesystem::path file_;
  int left_;
};

}  // namespace

TEST_CASE("RunStore: a run reads back as it was written, by another object too") {
  const TemporaryFolder folder;
  const auto file = folder / "deep/er/runs.db";
  Rng rng(4);
  std::vector<StoredTrial> written;
  RunId id{};
  {
    RunStore store(file);
    id = store.begin_run(info());
    for (std::uint64_t i = 0; i < 600; ++i) {
      written.push_back(trial(rng, i * 3));
      if (i % 100 == 7) written.back().outcome.evaluation = Evaluation::unanswered("no reply");
      store.add_trial(id, {}, written.back(),
                      StoredKernel{"kernel-a", "device\n", std::string("ho\0st", 5), ""});
    }
    store.end_run(id, "done", 7.5);
  }
  const RunStore store(file);
  CHECK(store.file() == file);
  const RunRow run = store.run(id);
  CHECK(run.info.name == "first");
  CHECK(run.info.problem == "matmul");
  CHECK(run.info.problem_digest == "d1g3st");
  CHECK(run.info.policy == "random");
  CHECK(run.info.generator == "template");
  CHECK(run.info.evaluator == "host");
  CHECK(run.info.options == "{\"budget\":20}");
  CHECK(run.info.seed == 18446744073709551615ULL);
  CHECK(run.info.device == "cpu-0");
  CHECK(run.info.toolchain == "g++ 12 -O3");
  CHECK(run.info.environment == "{\"os\":\"linux\"}");
  CHECK(run.reason == "done");
  CHECK(run.seconds == 7.5);
  // What does not apply, and an outage, are kept, and do not count as trials.
  CHECK(run.trials ==
        static_cast<std::uint64_t>(std::count_if(written.begin(), written.end(), [](const StoredTrial& one) {
          return is_trial(one.outcome.evaluation);
        })));
  CHECK(run.trials < 600);
  CHECK(run.started.size() == 24);
  CHECK(run.finished.has_value());

  const std::vector<StoredTrial> read = store.trials(id);
  REQUIRE(read.size() == written.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    REQUIRE(read[i].position == i);
    REQUIRE(random_outcome::same(read[i].outcome, written[i].outcome));
    REQUIRE(read[i].point == written[i].point);
    REQUIRE(read[i].elapsed == written[i].elapsed);
    REQUIRE(read[i].candidate.has_value() == written[i].candidate.has_value());
    if (read[i].candidate) {
      REQUIRE(read[i].candidate->kernel == "kernel-a");
      REQUIRE(read[i].candidate->config == "[1,2]");
      REQUIRE(read[i].candidate->key == "16,true");
      REQUIRE(read[i].candidate->values == "{\"A\":16}");
    }
  }
  CHECK(store.kernel("kernel-a") == StoredKernel{"kernel-a", "device\n", std::string("ho\0st", 5), ""});
  CHECK_FALSE(store.kernel("kernel-b").has_value());
  CHECK(random_outcome::same(store.trial(id, TrialId{30})->outcome, written[10].outcome));
  CHECK_FALSE(store.trial(id, TrialId{31}).has_value());
}

TEST_CASE("RunStore: the best trial is the lowest objective among the right ones") {
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  const RunId run = store.begin_run(info());
  CHECK_FALSE(store.best_trial(run).has_value());
  CHECK_FALSE(store.run(run).best.has_value());
  const double objectives[] = {3.0, 1.5, 2.0, 1.5};
  for (std::uint64_t i = 0; i < 4; ++i) {
    StoredTrial t;
    t.point = "0";
    t.outcome.id = TrialId{i};
    t.outcome.objective = objectives[i];
    store.add_trial(run, {}, t);
  }
  StoredTrial wrong;
  wrong.point = "0";
  wrong.outcome.id = TrialId{4};
  wrong.outcome.objective = 0.1;
  wrong.outcome.evaluation = Evaluation::failed(Verdict::wrong_result, "no");
  store.add_trial(run, {}, wrong);
  CHECK(store.best_trial(run)->outcome.id == TrialId{1});
  CHECK(store.run(run).best == 1.5);
}

namespace {

RunId four_trials(RunStore& store) {
  const RunId run = store.begin_run(info());
  const double objectives[] = {3.0, 1.5, 2.0, 1.6};
  for (std::uint64_t i = 0; i < 4; ++i) {
    StoredTrial t;
    t.point = "0";
    t.outcome.id = TrialId{i};
    t.outcome.objective = objectives[i];
    store.add_trial(run, {}, t);
  }
  return run;
}

}  // namespace

TEST_CASE("RunStore: the winner is the one that the comparison of finalists chose, in every answer") {
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  const RunId run = four_trials(store);
  CHECK(!store.finalists(run));
  const FinalistComparison comparison{TrialId{3},
                                      4,
                                      true,
                                      {{TrialId{1}, std::nullopt, {1.2, {1.1, 1.3}, 20}},
                                       {TrialId{3}, TrialId{1}, {1.05, {1.01, 1.09}, 24}}}};
  store.set_finalists(run, comparison);
  CHECK(store.best_trial(run)->outcome.id == TrialId{3});
  CHECK(store.run(run).best == 1.6);
  CHECK(store.runs().front().best == 1.6);
  const auto read = store.finalists(run);
  REQUIRE(read);
  CHECK(read->winner == TrialId{3});
  CHECK(read->trials == 4);
  CHECK(read->winner_is_default);
  REQUIRE(read->pairs.size() == 2);
  CHECK(!read->pairs[0].opponent);
  CHECK(read->pairs[1].opponent == TrialId{1});
  CHECK(read->pairs[1].speedup.interval == Interval{1.01, 1.09});
  CHECK(read->pairs[1].speedup.pairs == 24);

  // Another run's winner is its own matter.
  const RunId other = four_trials(store);
  CHECK(store.best_trial(other)->outcome.id == TrialId{1});

  // A trial of a resumed run that is slower than the winner changes nothing, a faster one is the best so far.
  const auto add = [&](std::uint64_t id, double objective) {
    StoredTrial t;
    t.point = "0";
    t.outcome.id = TrialId{id};
    t.outcome.objective = objective;
    store.add_trial(run, {}, t);
  };
  add(4, 1.7);
  CHECK(store.best_trial(run)->outcome.id == TrialId{3});
  add(5, 1.4);
  CHECK(store.best_trial(run)->outcome.id == TrialId{5});
  CHECK(store.run(run).best == 1.4);
  FinalistComparison again = comparison;
  again.trials = 6;
  store.set_finalists(run, again);
  CHECK(store.best_trial(run)->outcome.id == TrialId{3});

  // A winner that loses its verdict is none.
  Outcome lost;
  lost.id = TrialId{3};
  lost.evaluation = Evaluation::failed(Verdict::cheated, "found late");
  store.add_revision(run, {}, lost);
  CHECK(store.best_trial(run)->outcome.id == TrialId{5});
}

TEST_CASE("RunStore: a store of the first version is brought up to date and has its lowest objective win") {
  const TemporaryFolder folder;
  RunId run{};
  {
    RunStore store(folder / "runs.db");
    run = four_trials(store);
  }
  for (const char* column : {"winner", "winner_trials", "finalists"})
    execute(folder / "runs.db", (std::string("ALTER TABLE runs DROP COLUMN ") + column).c_str());
  execute(folder / "runs.db",
          "DROP TABLE changes; ALTER TABLE trials DROP COLUMN rationale; ALTER TABLE runs DROP COLUMN times; "
          "DROP TABLE spans; ALTER TABLE trials DROP COLUMN overrun; PRAGMA user_version = 1");
  RunStore store(folder / "runs.db");
  CHECK(store.best_trial(run)->outcome.id == TrialId{1});
  CHECK(!store.finalists(run));
  store.set_finalists(run, {TrialId{3}, 4, false, {}});
  CHECK(store.best_trial(run)->outcome.id == TrialId{3});
}

TEST_CASE("RunStore: what a run did when, in its order, the longest where they are too many") {
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  const RunId run = store.begin_run(info("alpha")), other = store.begin_run(info("beta"));
  CHECK(store.spans(run).empty());
  const RunSpan build{"build", "", TrialId{1}, 0.5, 2}, measure{"measure", "GPU 1", TrialId{1}, 2, 2.25},
      model{"model", "", {}, 0.25, 8};
  store.add_spans(run, std::vector{build, measure});
  store.add_spans(run, std::vector{model});
  store.add_spans(other, std::vector{measure});
  CHECK(store.spans(run) == std::vector{model, build, measure});
  CHECK(store.spans(run, 2) == std::vector{model, build});
  store.remove_run(run);
  CHECK(store.spans(run).empty());
  CHECK(store.spans(other).size() == 1);
}

TEST_CASE("RunStore: a store of version 5 has no bars, and gets those of its next run") {
  const TemporaryFolder folder;
  RunId run{};
  {
    RunStore store(folder / "runs.db");
    run = four_trials(store);
  }
  execute(folder / "runs.db",
          "DROP TABLE spans; ALTER TABLE trials DROP COLUMN overrun; PRAGMA user_version = 5");
  RunStore store(folder / "runs.db");
  CHECK(store.spans(run).empty());
  store.add_spans(run, std::vector{RunSpan{"build", "", TrialId{1}, 0, 1}});
  CHECK(store.spans(run).size() == 1);
}

TEST_CASE("RunStore: version 6 told a write outside of the arrays in words alone, and is told as one since") {
  const TemporaryFolder folder;
  RunId run{};
  const auto failed = [](const char* reason) { return Evaluation::failed(Verdict::cheated, reason); };
  const Evaluation outside = failed("it wrote outside of its arrays: y[9], past the end of y (9 elements)"),
                   faked = failed("it changed its input x");
  {
    RunStore store(folder / "runs.db");
    run = store.begin_run(info());
    Rng rng(8);
    for (std::uint64_t i = 0; i < 3; ++i) {
      StoredTrial told = trial(rng, i);
      told.outcome.evaluation = i == 0 ? outside : faked;
      store.add_trial(run, {}, told);
    }
    Outcome later = store.trial(run, TrialId{2})->outcome;
    later.evaluation = outside;
    store.add_revision(run, {}, later);
    store.put_result("outside", "d", outside);
    store.put_result("faked", "d", faked);
    store.add_inner(run, TrialId{0}, {0, "a", outside});
    store.add_inner(run, TrialId{0}, {1, "b", faked});
  }
  execute(folder / "runs.db",
          "INSERT INTO results VALUES('other', 'd', '', 'damaged'); "
          "ALTER TABLE trials DROP COLUMN overrun; PRAGMA user_version = 6");
  const RunStore store(folder / "runs.db");
  CHECK(store.trial(run, TrialId{0})->outcome.evaluation.overrun == Overrun{});
  CHECK(!store.trial(run, TrialId{1})->outcome.evaluation.overrun);
  CHECK(store.trial(run, TrialId{2})->outcome.evaluation.overrun == Overrun{});
  CHECK(store.find_result("outside")->evaluation.overrun == Overrun{});
  CHECK(!store.find_result("faked")->evaluation.overrun);
  const auto inner = store.inner_trials(run);
  CHECK(inner[0].trial.evaluation.overrun == Overrun{});
  CHECK(!inner[1].trial.evaluation.overrun);
  std::size_t revisions = 0;
  for (const auto& event : store.events(run))
    if (const auto* const revised = std::get_if<StoredRevision>(&event)) {
      ++revisions;
      CHECK(revised->outcome.evaluation.overrun == Overrun{});
    }
  CHECK(revisions == 1);
}

TEST_CASE("RunStore: runs are found by number, name, filter and as the latest") {
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  CHECK_FALSE(store.find_run("latest").has_value());
  const RunId a = store.begin_run(info("alpha"));
  const RunId b = store.begin_run(info("beta"));
  RunInfo unnamed = info("");
  unnamed.device = "gpu-1";
  const RunId c = store.begin_run(unnamed);
  store.end_run(b, "done", 1);
  CHECK(store.find_run("alpha")->id == a);
  CHECK(store.find_run(std::to_string(number(b)))->id == b);
  CHECK(store.find_run("latest")->id == c);
  CHECK(store.find_run("matmul")->id == c);  // unnamed runs bear their problem's name
  CHECK_FALSE(store.find_run("gamma").has_value());
  CHECK_FALSE(store.find_run("99").has_value());
  REQUIRE(store.runs().size() == 3);
  CHECK(store.runs().front().id == c);
  CHECK(store.runs({.name = "alpha"}).size() == 1);
  CHECK(store.runs({.problem = "matmul"}).size() == 3);
  CHECK(store.runs({.problem = "other"}).empty());
  CHECK(store.runs({.problem_digest = "d1g3st"}).size() == 3);
  CHECK(store.runs({.device = "gpu-1"}).size() == 1);
  CHECK(store.runs({.device = "gpu-1, driver 13000"}).size() == 1);
  CHECK(store.runs({.device = "gpu"}).empty());
  CHECK(store.runs({.unfinished = true}).size() == 2);
  CHECK(store.runs({.limit = 2}).size() == 2);
  store.continue_run(b);
  CHECK(store.runs({.unfinished = true}).size() == 3);
  CHECK_THROWS_AS(store.continue_run(RunId{99}), StoreError);
  CHECK_THROWS_AS((void)store.run(RunId{99}), StoreError);
  store.remove_run(a);
  CHECK_FALSE(store.find_run("alpha").has_value());
}

TEST_CASE("RunStore: removing a run takes its trials and leaves the others'") {
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  Rng rng(8);
  const RunId a = store.begin_run(info("a"));
  const RunId b = store.begin_run(info("b"));
  for (const RunId run : {a, b}) {
    store.add_trial(run, {}, trial(rng, 0));
    store.add_inner(run, TrialId{0}, {});
  }
  store.remove_run(a);
  CHECK(store.trials(a).empty());
  CHECK(store.inner_trials(a).empty());
  CHECK(store.events(a).empty());
  CHECK(store.trials(b).size() == 1);
  CHECK(store.inner_trials(b).size() == 1);
}

TEST_CASE("RunStore: events keep their order; a revision keeps what was told first") {
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  const RunId run = store.begin_run(info());
  Rng rng(5);
  const StoredTrial first = trial(rng, 0);
  const std::vector<AskEvent> asks{{4, 3}, {1, 0}};
  store.add_trial(run, asks, first);
  Outcome second = first.outcome, third = first.outcome;
  second.evaluation = random_outcome::evaluation(rng);
  third.evaluation = random_outcome::evaluation(rng);
  store.add_revision(run, {}, second);
  store.add_revision(run, std::vector<AskEvent>{{2, 2}}, third);
  store.add_asks(run, std::vector<AskEvent>{{9, 1}});
  CHECK_THROWS_AS(store.add_revision(run, {}, trial(rng, 77).outcome), StoreError);
  const std::string edit = R"({"action":"restore","name":"root"})";
  store.add_checkpoint_edit(run, edit);
  store.add_asks(run, std::vector<AskEvent>{{8, 1}});

  const auto events = store.events(run);
  REQUIRE(events.size() == 9);
  CHECK(std::get<AskEvent>(events[0]).wanted == 4);
  CHECK(std::get<AskEvent>(events[0]).returned == 3);
  CHECK(std::get<AskEvent>(events[1]).returned == 0);
  REQUIRE(std::get<StoredTold>(events[2]).first.has_value());
  CHECK(random_outcome::same(*std::get<StoredTold>(events[2]).first, first.outcome));
  CHECK(random_outcome::same(std::get<StoredRevision>(events[3]).outcome, second));
  CHECK(std::get<AskEvent>(events[4]).wanted == 2);
  CHECK(random_outcome::same(std::get<StoredRevision>(events[5]).outcome, third));
  CHECK(std::get<AskEvent>(events[6]).wanted == 9);
  CHECK(std::get<StoredCheckpointEdit>(events[7]).edit == edit);
  CHECK(std::get<AskEvent>(events[8]).wanted == 8);
  const Outcome now = store.trial(run, TrialId{0})->outcome;
  CHECK(random_outcome::same(now.evaluation, third.evaluation));
}

TEST_CASE("RunStore: inner trials are kept under their parent, the last of a number wins") {
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  const RunId run = store.begin_run(info());
  store.add_inner(run, TrialId{3}, {1, "b", Evaluation::succeeded(2.0)});
  store.add_inner(run, TrialId{3}, {0, "a", Evaluation::failed(Verdict::crashed, "x")});
  store.add_inner(run, TrialId{1}, {0, "c", Evaluation::succeeded(1.0)});
  store.add_inner(run, TrialId{3}, {1, "b2", Evaluation::succeeded(4.0)});
  const auto all = store.inner_trials(run);
  REQUIRE(all.size() == 3);
  CHECK(all[0].parent == TrialId{1});
  CHECK(all[0].trial.key == "c");
  CHECK(all[1].trial.evaluation.verdict == Verdict::crashed);
  CHECK(all[2].trial.key == "b2");
  CHECK(all[2].trial.evaluation.measurement.seconds == 4.0);
  CHECK(store.inner_trials(run, TrialId{3}).size() == 2);
}

TEST_CASE("RunStore: a trial is written whole or not at all") {
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  const RunId run = store.begin_run(info());
  Rng rng(6);
  store.add_trial(run, {}, trial(rng, 0));
  // The same number again breaks the trial's uniqueness after its asks were written.
  CHECK_THROWS_AS(store.add_trial(run, std::vector<AskEvent>{{1, 1}}, trial(rng, 0)), StoreError);
  CHECK(store.events(run).size() == 1);
  store.add_trial(run, std::vector<AskEvent>{{1, 1}}, trial(rng, 1));
  CHECK(store.events(run).size() == 3);
  CHECK_THROWS_AS(store.add_trial(RunId{42}, {}, trial(rng, 1)), StoreError);
}

TEST_CASE("RunStore: a newer schema, another program's database and no database are refused clearly") {
  const TemporaryFolder folder;
  { RunStore store(folder / "newer.db"); }
  execute(folder / "newer.db", "PRAGMA user_version = 99");
  CHECK_THROWS_WITH_AS(RunStore(folder / "newer.db"), doctest::Contains("newer kernelsearch"), StoreError);
  execute(folder / "other.db", "CREATE TABLE t(x); PRAGMA user_version = 1");
  CHECK_THROWS_WITH_AS(RunStore(folder / "other.db"), doctest::Contains("not a kernelsearch store"),
                       StoreError);
  std::ofstream(folder / "text.db") << std::string(5000, 'x');
  CHECK_THROWS_WITH_AS(RunStore(folder / "text.db"), doctest::Contains("not a kernelsearch store"),
                       StoreError);
  CHECK_THROWS_AS(RunStore("/proc/no/such/place.db"), StoreError);
}

TEST_CASE("RunStore: it runs in WAL mode with the schema's version") {
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  store.begin_run(info());
  CHECK(std::filesystem::exists(folder / "runs.db-wal"));
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open((folder / "runs.db").c_str(), &database) == SQLITE_OK);
  sqlite3_stmt* statement = nullptr;
  REQUIRE(sqlite3_prepare_v2(database, "PRAGMA user_version", -1, &statement, nullptr) == SQLITE_OK);
  REQUIRE(sqlite3_step(statement) == SQLITE_ROW);
  CHECK(sqlite3_column_int(statement, 0) == RunStore::schema_version);
  sqlite3_finalize(statement);
  sqlite3_close(database);
}

TEST_CASE("RunStore: several processes create and write one file at once") {
  const TemporaryFolder folder;
  const auto file = folder / "runs.db";
  constexpr int processes = 4;
  constexpr std::uint64_t each = 60;
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      int code = 0;
      try {
        RunStore store(file);
        const RunId run = store.begin_run(info("process"));
        Rng rng(static_cast<std::uint64_t>(p));
        for (std::uint64_t i = 0; i < each; ++i) store.add_trial(run, {}, trial(rng, i));
        store.end_run(run, "done", 1);
      } catch (...) {
        code = 1;
      }
      _exit(code);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  const RunStore store(file);
  const auto runs = store.runs();
  REQUIRE(runs.size() == processes);
  for (const RunRow& run : runs) CHECK(store.trials(run.id).size() == each);
}

TEST_CASE("RunStore: a store may be created by another at any moment of its opening") {
  const TemporaryFolder folder;
  int statement = 0;
  for (bool reached = true; reached; ++statement) {
    CAPTURE(statement);
    const auto file = folder / std::to_string(statement).c_str();
    const OpenedBeforeStatement other(file, statement);
    CHECK_NOTHROW(RunStore(file).begin_run(info()));
    reached = other.reached();
  }
  CHECK(statement > 10);  // opening runs that many
}

TEST_CASE("RunStore: processes that open a store at the same moment all find it, whoever creates it") {
  const TemporaryFolder folder;
  constexpr int processes = 6;
  for (int round = 0; round < 25; ++round) {
    const auto file = folder / std::to_string(round).c_str() / "new" / "runs.db";
    int gate[2];
    REQUIRE(pipe(gate) == 0);
    std::vector<pid_t> children;
    for (int p = 0; p < processes; ++p) {
      const pid_t child = fork();
      REQUIRE(child >= 0);
      if (child == 0) {
        // All wait here until the parent closes its end.
        close(gate[1]);
        char none = 0;
        int code = read(gate[0], &none, 1) == 0 ? 0 : 2;
        try {
          RunStore store(file);
          store.end_run(store.begin_run(info("process")), "done", 1);
        } catch (const std::exception& error) {
          std::fprintf(stderr, "round %d: %s\n", round, error.what());
          code = 1;
        }
        _exit(code);
      }
      children.push_back(child);
    }
    close(gate[0]);
    close(gate[1]);
    for (const pid_t child : children) {
      int status = 0;
      REQUIRE(waitpid(child, &status, 0) == child);
      CHECK(status == 0);
    }
    CHECK(RunStore(file).runs().size() == processes);
  }
}

TEST_CASE("RunStore: opening a complete store waits for no process that writes") {
  const TemporaryFolder folder;
  const auto file = folder / "runs.db";
  { RunStore created(file); }
  sqlite3* writer = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &writer) == SQLITE_OK);
  REQUIRE(sqlite3_exec(writer, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) == SQLITE_OK);
  CHECK(RunStore(file, {.busy_seconds = 0.0}).runs().empty());
  sqlite3_close(writer);
}

TEST_CASE("RunStore: a refused database of another program keeps its journal mode") {
  const TemporaryFolder folder;
  const auto file = folder / "other.db";
  execute(file, "CREATE TABLE t(x)");
  CHECK_THROWS_WITH_AS(RunStore{file}, doctest::Contains("another program"), StoreError);
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
  sqlite3_stmt* statement = nullptr;
  REQUIRE(sqlite3_prepare_v2(database, "PRAGMA journal_mode", -1, &statement, nullptr) == SQLITE_OK);
  REQUIRE(sqlite3_step(statement) == SQLITE_ROW);
  CHECK(std::string(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0))) == "delete");
  sqlite3_finalize(statement);
  sqlite3_close(database);
}

TEST_CASE("RunStore: several threads use one object at once") {
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&store, t] {
      const RunId run = store.begin_run(info("thread" + std::to_string(t)));
      Rng rng(static_cast<std::uint64_t>(t));
      for (std::uint64_t i = 0; i < 40; ++i) {
        store.add_trial(run, {}, trial(rng, i));
        store.put_result(std::to_string(i), "cpu", Evaluation::succeeded(1));
        (void)store.find_result(std::to_string(i));
        (void)store.best_trial(run);
      }
    });
  for (auto& thread : threads) thread.join();
  for (const RunRow& run : store.runs()) CHECK(store.trials(run.id).size() == 40);
}

TEST_CASE("RunStore: the default file follows the environment") {
  const auto set = [](const char* name, const char* value) { setenv(name, value, 1); };
  const char* const home = std::getenv("HOME");
  const std::string home_before = home == nullptr ? "" : home;
  unsetenv("KERNELSEARCH_STORE");
  set("XDG_DATA_HOME", "/data/me");
  CHECK(RunStore::default_path() == "/data/me/kernelsearch/runs.db");
  set("XDG_DATA_HOME", "relative");
  set("HOME", "/home/me");
  CHECK(RunStore::default_path() == "/home/me/.local/share/kernelsearch/runs.db");
  set("KERNELSEARCH_STORE", "mine.db");
  CHECK(RunStore::default_path() == "mine.db");
  unsetenv("KERNELSEARCH_STORE");
  unsetenv("XDG_DATA_HOME");
  unsetenv("HOME");
  CHECK_THROWS_AS((void)RunStore::default_path(), StoreError);
  if (!home_before.empty()) set("HOME", home_before.c_str());
}

TEST_CASE("RunStore: earlier tunings of a text, those that other runs had told when a run began") {
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  const StoredKernel text{"digest", "the code", "", "#define A 1"};
  const auto tune = [&](RunId run, std::uint64_t id, const StoredKernel& kernel, double seconds) {
    StoredTrial t;
    t.point = "0";
    t.outcome.id = TrialId{id};
    t.candidate = StoredCandidate{kernel.digest, "[0]", "16", R"({"A":16})"};
    store.add_inner(run, TrialId{id}, {0, "8", Evaluation::failed(Verdict::launch_failed, "no")});
    store.add_inner(run, TrialId{id}, {1, "16", Evaluation::succeeded(seconds)});
    store.add_trial(run, {}, t, kernel);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // moments are kept in milliseconds
  };
  const RunId first = store.begin_run(info());
  tune(first, 0, text, 1.0);
  tune(first, 1, {"other", "other code", "", "#define A 1"}, 2.0);
  RunInfo elsewhere = info();
  elsewhere.device = "another device";
  tune(store.begin_run(elsewhere), 0, text, 3.0);
  RunInfo newer = info();
  newer.toolchain = "g++ 13";
  tune(store.begin_run(newer), 0, text, 4.0);
  RunInfo problem = info();
  problem.problem_digest = "another";
  tune(store.begin_run(problem), 0, text, 5.0);
  const RunId second = store.begin_run(info());
  // The same text with another space: another digest.
  tune(second, 0, {"digest 2", "the code", "", "#define A 1"}, 6.0);

  const RunId run = store.begin_run(info());
  tune(run, 0, text, 7.0);
  tune(first, 2, text, 8.0);  // a run beside it goes on
  const std::vector<StoredTuning> known = store.earlier_tunings(run, text);
  REQUIRE(known.size() == 2);
  CHECK(known[0].points.back().seconds == 6.0);
  CHECK(known[0].candidate.values == R"({"A":16})");
  REQUIRE(known[1].points.size() == 2);
  CHECK(known[1].points[0].key == "8");
  CHECK(known[1].points[0].verdict == Verdict::launch_failed);
  CHECK(known[1].points[1].key == "16");
  CHECK(known[1].points[1].verdict == Verdict::ok);
  CHECK(known[1].points[1].seconds == 1.0);
  CHECK(store.earlier_tunings(run, text, 1).size() == 1);
  CHECK(store.earlier_tunings(first, text).empty());
}
