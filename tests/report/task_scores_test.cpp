// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/task_scores.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "support/approx.hpp"
#include "support/check_has.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

struct Told {
  std::optional<double> seconds, ratio = {};
  std::optional<double> compiled = {};
  bool interval = true;  ///< of `compiled`
};

/// A store whose runs are told by hand: every figure below is computed from these by hand too.
struct Book {
  TemporaryFolder folder;
  RunStore store{folder / "runs.db"};

  RunRow run(const std::string& task, const std::vector<Told>& trials,
             const std::string& generator = "template", bool ends = true) {
    RunInfo info;
    info.problem = task;
    info.generator = generator;
    const RunId id = store.begin_run(info);
    std::uint64_t position = 0;
    for (const Told& told : trials) {
      StoredTrial trial;
      trial.position = position++;
      trial.point = "{}";
      trial.outcome.id = TrialId{trial.position};
      if (!told.seconds) {
        trial.outcome.evaluation = Evaluation::failed(Verdict::wrong_result, "y[3] is 7 instead of 6");
      } else {
        trial.outcome.evaluation = Evaluation::succeeded(*told.seconds);
        trial.outcome.objective = *told.seconds;
        if (told.ratio)
          trial.outcome.evaluation.measurement.speedup =
              Speedup{*told.ratio, {*told.ratio - 0.15, *told.ratio + 0.1}, 3};
        if (told.compiled) {
          trial.outcome.evaluation.features.set("torch.over_compile", *told.compiled);
          if (told.interval)
            trial.outcome.evaluation.features.set("torch.over_compile_low", *told.compiled - 0.2);
          if (told.interval)
            trial.outcome.evaluation.features.set("torch.over_compile_high", *told.compiled + 0.3);
        }
      }
      store.add_trial(id, {}, trial);
    }
    if (ends) store.end_run(id, "the trial budget is spent", 12.5);
    return store.run(id);
  }
};

const std::vector<Told> first{{4.0, 1.0}, {}, {2.0, 2.1, 1.4}, {8.0}};
const std::vector<Told> second{{3.0, 1.0}, {2.5, 1.05}};
const std::vector<Told> never{{}, {}};

std::vector<TaskScore> three_tasks(Book& book) {
  return {score_of_run(book.store, book.run("first", first), true),
          score_of_run(book.store, book.run("second", second), true),
          score_of_run(book.store, book.run("never", never), true)};
}

}  // namespace

TEST_CASE("task_scores: speedups are those of pairs, else by the first paired trial's reference") {
  Book book;
  const auto of = [&](const std::vector<Told>& trials) {
    return trial_speedups(book.store.trials(book.run("p", trials).id));
  };
  CHECK(of(first) == std::vector<double>{1.0, 0.0, 2.1, 0.5});
  CHECK(of(never) == std::vector<double>{0.0, 0.0});
  CHECK(of({{2.0}, {4.0}}) == std::vector<double>{0.0, 0.0});  // nothing is known of the reference
}

TEST_CASE("task_scores: what a run came to, with its own kernel as an answer or not") {
  Book book;
  const TaskScore own = score_of_run(book.store, book.run("first", first), true);
  CHECK(own.state == "right");
  CHECK(own.over_reference->ratio == 2.1);
  CHECK(own.over_compiled->ratio == 1.4);
  CHECK(own.over_compiled->interval == Interval{1.2, 1.7});
  CHECK_FALSE(own.over_baseline.has_value());
  CHECK(own.seconds == 12.5);
  CHECK(own.first == 0);

  // A kernel that was handed in and is slower than the problem's own is still the best answer.
  const TaskScore slower =
      score_of_run(book.store, book.run("slow", {{2.0, 1.0}, {}, {4.0, 0.5}}, "submit"), false);
  CHECK(slower.state == "right");
  CHECK(slower.over_reference->ratio == 0.5);
  CHECK(slower.each == std::vector<double>{0.0, 0.5});
  CHECK(slower.first == 1);

  const TaskScore wrong = score_of_run(book.store, book.run("wrong", {{2.0, 1.0}, {}}, "submit"), false);
  CHECK(wrong.state == "wrong");
  CHECK(wrong.reason == "wrong_result: y[3] is 7 instead of 6");
  const TaskScore none = score_of_run(book.store, book.run("none", {{2.0, 1.0}}, "best_of_k"), false);
  CHECK(none.state == "failed");
  CHECK(none.reason == "there is no answer; the trial budget is spent");
  CHECK(score_of_run(book.store, book.run("killed", {{}}, "template", false), true).state == "unfinished");
  CHECK(only_configurations(book.run("a", {})));
  CHECK_FALSE(only_configurations(book.run("b", {}, "submit")));
}

TEST_CASE("task_scores: the best answer is the one that won the comparison of the finalists") {
  Book book;
  const RunRow run = book.run("close", {{2.0, 1.0}, {1.0, 2.0}, {0.99, 2.01}});
  CHECK(score_of_run(book.store, run, true).over_reference->ratio == 2.01);
  FinalistComparison finalists;
  finalists.winner = TrialId{1};
  finalists.trials = 3;
  book.store.set_finalists(run.id, finalists);
  CHECK(score_of_run(book.store, run, true).over_reference->ratio == 2.0);
}

TEST_CASE("task_scores: fast_p of scripted figures") {
  Book book;
  std::vector<TaskScore> tasks = three_tasks(book);
  const FastShare one = fast_share(tasks, ComparedWith::reference, 1);
  CHECK(one.tasks == 3);
  CHECK(one.faster == 2);
  CHECK(one.sure == 1);  // 1.05 may be 0.9
  CHECK(one.share == approx(2.0 / 3));
  // Wilson's interval of 2 of 3.
  CHECK(one.interval.low == approx(0.2077).epsilon(0.001));
  CHECK(one.interval.high == approx(0.9385).epsilon(0.001));
  CHECK(fast_share(tasks, ComparedWith::reference, 1.05).faster == 1);  // more than p, not as much
  CHECK(fast_share(tasks, ComparedWith::reference, 3).share == 0);
  CHECK(fast_share(tasks, ComparedWith::reference, 3).interval.low == 0);
  // The second was not compared with torch.compile and does not count; the wrong one counts as 0.
  const FastShare compiled = fast_share(tasks, ComparedWith::compiled, 1);
  CHECK(compiled.tasks == 2);
  CHECK(compiled.share == 0.5);
  CHECK(compiled.sure == 1);
  CHECK(fast_share({}, ComparedWith::reference, 1).share == 0);
  // Without an interval, as in stores of earlier versions, nothing is sure.
  const std::vector<TaskScore> older{
      score_of_run(book.store, book.run("older", {{1.0, 1.0, 1.4, false}}), true)};
  CHECK(fast_share(older, ComparedWith::compiled, 1).faster == 1);
  CHECK(fast_share(older, ComparedWith::compiled, 1).sure == 0);
}

TEST_CASE("task_scores: by iteration, each and the best so far") {
  Book book;
  const std::vector<TaskScore> tasks = three_tasks(book);
  const std::vector<IterationScore> rows = iteration_scores(tasks, 1.1);
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].iteration == 0);
  CHECK(rows[0].each->tasks == 3);
  CHECK(rows[0].each->right == approx(2.0 / 3));
  CHECK(rows[0].each->faster == 0);
  CHECK(rows[0].each->mean == 1);
  CHECK(rows[1].each->right == approx(1.0 / 3));
  CHECK(rows[1].each->best == 1.05);
  CHECK(rows[2].each->tasks == 1);
  const SpeedupAverages& so_far = rows[2].so_far;
  CHECK(so_far.tasks == 3);
  CHECK(so_far.faster == approx(1.0 / 3));
  CHECK(so_far.right == approx(2.0 / 3));
  CHECK(so_far.best == 2.1);
  CHECK(so_far.mean == approx((2.1 + 1.05) / 2));
  CHECK(so_far.geometric_mean == approx(1.48492424));
  CHECK(rows[3].each->best == 0.5);
  CHECK(rows[3].so_far.mean == so_far.mean);
  CHECK(iteration_scores(tasks, 1.0)[1].so_far.faster == approx(1.0 / 3));
  const std::uint64_t late[] = {9};
  const std::vector<IterationScore> only = iteration_scores(tasks, 1.1, late);
  REQUIRE(only.size() == 1);
  CHECK_FALSE(only[0].each.has_value());
  CHECK(only[0].so_far.best == 2.1);
  CHECK_THROWS_WITH_AS(static_cast<void>(iteration_scores({}, 1)), doctest::Contains("no tasks to score"),
                       ConfigError);

  // Without the problem's own kernel the first iteration is 1.
  const std::vector<TaskScore> written{
      score_of_run(book.store, book.run("w", {{2.0, 1.0}, {1.0, 2.0}}, "submit"), false)};
  const std::vector<IterationScore> ones = iteration_scores(written, 1.1);
  REQUIRE(ones.size() == 1);
  CHECK(ones[0].iteration == 1);
  CHECK(ones[0].each->best == 2);
}

TEST_CASE("task_scores: the tables as text, Markdown, JSON and a page without scripts") {
  Book book;
  BenchReport report{"a <b>bench</b>|x", three_tasks(book)};
  report.tasks.push_back({});
  report.tasks.back().task = "odd|name";
  report.tasks.back().state = "refused";
  report.tasks.back().reason = "<script>alert(1)</script>";
  report.tasks[0].theirs = "right (1.2x)";
  report.tasks[0].their_right = true;
  report.tasks[2].theirs = "right";
  report.tasks[2].their_right = true;
  const std::string text = bench_text(report);
  check_has(text, "4 tasks, 2 right, 1 wrong, 1 refused; the other harness agrees in 1 of 2");
  check_has(text, "2.10x (1.95 to 2.20)");
  check_has(text, "1.40x (1.20 to 1.70)");
  check_has(text, "than torch.compile");
  CHECK(text.find("over baseline") == std::string::npos);  // nobody named one
  const std::string markdown = bench_markdown(report);
  check_has(markdown,
            "| 2 | 1 | 100.0 % | 100.0 % | 2.1 | 2.1 | 2.1 | 50.0 % | 25.0 % | 1.58 | 1.48 | 2.1 |");
  check_has(markdown, "| odd\\|name | refused |");
  const nlohmann::json json = nlohmann::json::parse(bench_json(report));
  CHECK(json["tasks"].size() == 4);
  CHECK(json["tasks"][0]["over_reference"]["low"] == approx(1.95));
  CHECK(json["tasks"][2]["other_harness"]["right"] == true);
  CHECK(json["fast_p"]["reference"][2]["p"] == 1);
  CHECK(json["fast_p"]["reference"][2]["share"] == 0.5);
  CHECK(json["iterations"][3]["so_far"]["best"] == 2.1);
  const std::string page = bench_html(report);
  check_has(page, "script-src 'none'");
  CHECK(page.find("<script") == std::string::npos);
  CHECK(page.find("<b>") == std::string::npos);
  check_has(page, "&lt;script&gt;alert(1)");
  check_has(page, "<svg viewBox");

  report.iterations = {2};
  CHECK(nlohmann::json::parse(bench_json(report))["iterations"].size() == 1);
}

TEST_CASE("task_scores: of many iterations the first, the last and some between are listed") {
  Book book;
  std::vector<Told> many(100, Told{1.0, 1.5});
  const BenchReport report{"long", {score_of_run(book.store, book.run("long", many), true)}};
  const std::string text = bench_markdown(report);
  std::size_t rows = 0;
  for (std::size_t at = text.find("\n| "); at != std::string::npos; at = text.find("\n| ", at + 1)) ++rows;
  check_has(text, "\n| 0 | 1 |");
  check_has(text, "\n| 99 | 1 |");
  CHECK(rows == 3 + 10 + 20 + 1);  // three headers; fast_p, iterations, tasks
}
