// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/optimizer/optimizer.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <stdexcept>
#include <tuple>

#include "kernelsearch/evaluator/function_evaluator.hpp"
#include "support/approx.hpp"
#include "support/scripted.hpp"

using namespace kernelsearch;
using namespace scripted;
using kernelsearch::test::approx;

namespace {

/// Everything a run can show, as text that can be compared byte for byte.
template <class Optimizer>
std::string transcript(const Optimizer& optimizer) {
  std::string text;
  for (const auto& trial : optimizer.trials()) {
    const Outcome& o = trial.outcome;
    text += std::to_string(number(o.id)) + ":" + (trial.candidate ? std::to_string(*trial.candidate) : "-") +
            ":" + std::string(to_string(o.evaluation.verdict)) + ":" + std::to_string(o.objective);
    if (o.origin)
      text += ":" + std::to_string(number(o.origin->proposal)) + "." + std::to_string(o.origin->index) + "/" +
              std::to_string(o.origin->count);
    text += "\n";
  }
  return text;
}

struct Recorder {
  RunRecord<int, int> record;
  void on_ask(const AskEvent& event) { record.events.emplace_back(event); }
  void on_trial(const Trial<int>& trial, const int& proposal) {
    record.events.emplace_back(ToldEvent<int, int>{trial, proposal});
  }
};

}  // namespace

TEST_CASE("Optimizer: runs to the end of the policy and finds the best") {
  Optimizer search{Counting{.last = 400}, Copying{}, Landscape{}};
  const RunSummary summary = search.run();
  CHECK(summary.trials == 400);
  CHECK(summary.reason == "the policy has nothing more to propose");
  REQUIRE(search.best() != nullptr);
  CHECK(*search.best()->candidate == 321);
  CHECK(summary.verdicts[static_cast<int>(Verdict::build_failed)] == 58);
}

TEST_CASE("Optimizer: step does one proposal at a time") {
  Optimizer search{Counting{.last = 2}, Copying{}, Landscape{}};
  CHECK(search.step());
  CHECK(search.trials().size() == 1);
  CHECK(search.step());
  CHECK_FALSE(search.step());
  CHECK(search.done());
}

TEST_CASE("Optimizer: one proposal may yield several candidates or none, and the policy hears how many") {
  Optimizer search{Counting{.last = 7}, Copying{.barren = 3, .twins = 4}, Landscape{}};
  search.run();
  // 0 barren, 1, 2, 3 barren, 4 twins, 5, 6 barren
  REQUIRE(search.trials().size() == 8);
  const auto& told = search.policy().told;
  CHECK(told[0].outcome.evaluation.verdict == Verdict::not_generated);
  CHECK(told[0].outcome.evaluation.reason == "barren");
  CHECK(told[0].outcome.origin == Origin{ProposalId{0}, 0, 0});
  CHECK(told[4].outcome.origin == Origin{ProposalId{4}, 0, 2});
  CHECK(told[5].outcome.origin == Origin{ProposalId{4}, 1, 2});
  CHECK_FALSE(search.trials()[3].candidate.has_value());
}

TEST_CASE("Optimizer: the budget counts candidates, failed generations included, and is never exceeded") {
  for (const std::size_t in_flight : {1, 4}) {
    Optimizer search{Counting{.last = 1000},
                     Copying{.barren = 5, .twins = 2},
                     Landscape{},
                     {.in_flight = in_flight, .budget = std::make_shared<TrialBudget>(37)}};
    const RunSummary summary = search.run();
    CHECK(summary.trials == 37);
    CHECK(summary.reason == "the trial budget is spent");
  }
}

namespace {

/// Of every third proposal it says that it does not apply.
struct Declining {
  using Candidate = int;
  Generation<int> generate(int proposal, const History<int>&) const {
    if (proposal % 3 == 1) return Generation<int>::not_applicable("no: " + std::to_string(proposal));
    return Generation<int>::one(proposal);
  }
};

}  // namespace

TEST_CASE("Optimizer: what does not apply is told and draws no trial, also in a run that is resumed") {
  for (const std::size_t in_flight : {1, 4}) {
    CAPTURE(in_flight);
    const auto options = [in_flight](std::uint64_t trials) {
      return OptimizerOptions{.in_flight = in_flight, .budget = std::make_shared<TrialBudget>(trials)};
    };
    Recorder recorder;
    Optimizer search{Counting{.last = 1000, .window = 1}, Declining{}, Landscape{}, options(10)};
    const RunSummary summary = search.run(recorder);
    CHECK(summary.trials == 10);
    CHECK(search.progress().trials == 10);
    CHECK(summary.verdicts[static_cast<int>(Verdict::not_applicable)] == 5);  // 1, 4, 7, 10, 13
    const Outcome& declined = search.policy().told[1].outcome;
    CHECK(declined.evaluation.verdict == Verdict::not_applicable);
    CHECK(declined.evaluation.reason == "no: 1");
    CHECK(declined.origin == Origin{ProposalId{1}, 0, 0});
    CHECK_FALSE(search.trials()[1].candidate.has_value());

    Optimizer again{Counting{.last = 1000, .window = 1}, Declining{}, Landscape{}, options(12)};
    again.resume(recorder.record);
    CHECK(again.progress().trials == 10);
    CHECK(again.run().trials == 12);  // two more, as in one part
    Optimizer whole{Counting{.last = 1000, .window = 1}, Declining{}, Landscape{}, options(12)};
    whole.run();
    CHECK(transcript(again) == transcript(whole));
  }
}

namespace {

/// Nobody answers at first, or for good.
struct Unreachable {
  using Candidate = int;
  std::shared_ptr<std::atomic<int>> left = std::make_shared<std::atomic<int>>(0);
  Generation<int> generate(int proposal, const History<int>&) const {
    if (--*left >= 0) return Generation<int>::unanswered("no reply: network");
    return Generation<int>::one(proposal);
  }
};

/// In place of the answer to `at` it waits until it is stopped; then it says that the call was cancelled.
struct Waiting {
  using Candidate = int;
  int at = 0;
  std::stop_source stop;
  Generation<int> generate(int proposal, const History<int>&) {
    if (proposal != at) return Generation<int>::one(proposal);
    stop.request_stop();
    return Generation<int>::none("no reply: cancelled: the call was cancelled");
  }
};

}  // namespace

TEST_CASE("Optimizer: an outage is told and draws no trial, also in a run that is resumed") {
  for (const std::size_t in_flight : {1, 3}) {
    CAPTURE(in_flight);
    Recorder recorder;
    Unreachable lost;
    *lost.left = 4;
    Optimizer search{Counting{.last = 1000, .window = 1},
                     lost,
                     Landscape{},
                     {.in_flight = in_flight, .budget = std::make_shared<TrialBudget>(10)}};
    const RunSummary summary = search.run(recorder);
    CHECK(summary.reason == "the trial budget is spent");
    CHECK(summary.trials == 10);
    CHECK(summary.verdicts[static_cast<int>(Verdict::not_generated)] == 4);
    CHECK(search.policy().told[3].outcome.evaluation.is_unanswered());
    Optimizer again{Counting{.last = 1000, .window = 1},
                    Unreachable{},
                    Landscape{},
                    {.in_flight = in_flight, .budget = std::make_shared<TrialBudget>(12)}};
    again.resume(recorder.record);
    CHECK(again.progress().trials == 10);
    CHECK(again.run().trials == 12);
  }
}

TEST_CASE("Optimizer: a long outage ends the run, which goes on when it is resumed, and once more") {
  Recorder recorder;
  for (const int part : {1, 2, 3}) {
    CAPTURE(part);
    Unreachable lost;
    *lost.left = part < 3 ? 1000 : 0;
    Optimizer search{Counting{.last = 1000, .window = 1},
                     lost,
                     Landscape{},
                     {.budget = std::make_shared<TrialBudget>(5), .unanswered_in_a_row = 4}};
    search.resume(recorder.record);
    const RunSummary summary = search.run(recorder);
    CHECK(summary.trials == (part < 3 ? 0 : 5));
    CHECK(summary.verdicts[static_cast<int>(Verdict::not_generated)] == (part < 3 ? 4 * part : 8));
    CHECK(summary.reason == (part < 3 ? "nobody answered 4 questions in a row: resume the run when the model "
                                        "can be reached"
                                      : "the trial budget is spent"));
  }
}

TEST_CASE("Optimizer: a question that a stop cuts short is no trial and is asked again, after each resume") {
  for (const std::size_t in_flight : {1, 3}) {
    CAPTURE(in_flight);
    Optimizer whole{Counting{.last = 1000},
                    Copying{},
                    Landscape{},
                    {.in_flight = in_flight, .budget = std::make_shared<TrialBudget>(9)}};
    whole.run();
    Recorder recorder;
    for (int part = 0; part < 2; ++part) {
      const std::stop_source stop;
      Optimizer search{
          Counting{.last = 1000},
          Waiting{4, stop},
          Landscape{},
          {.in_flight = in_flight, .budget = std::make_shared<TrialBudget>(9), .stop = stop.get_token()}};
      search.resume(recorder.record);
      const RunSummary summary = search.run(recorder);
      CHECK(summary.reason == "stopped from outside");
      CHECK(summary.verdicts[static_cast<int>(Verdict::not_generated)] == 0);
      CHECK(summary.trials <= 4);
    }
    Optimizer last{Counting{.last = 1000},
                   Copying{},
                   Landscape{},
                   {.in_flight = in_flight, .budget = std::make_shared<TrialBudget>(9)}};
    last.resume(recorder.record);
    last.run(recorder);
    CHECK(transcript(last) == transcript(whole));
  }
}

TEST_CASE("Optimizer: what does not apply is no trial without a gain") {
  struct Refusing {
    using Candidate = int;
    Generation<int> generate(int proposal, const History<int>&) const {
      return proposal == 0 ? Generation<int>::one(321) : Generation<int>::not_applicable("no");
    }
  };
  Optimizer search{Counting{.last = 20}, Refusing{}, Landscape{}};
  search.run();
  CHECK(search.progress().trials_since_gain == 0);
  CHECK(search.progress().trials == 1);
}

TEST_CASE("Optimizer: the same seed gives the same trials, byte for byte, whatever the phases take") {
  for (const std::size_t in_flight : {1, 4}) {
    std::string first;
    for (int repeat = 0; repeat < 4; ++repeat) {
      const std::chrono::microseconds d{repeat * 130};
      Optimizer search{
          Chaotic{7},
          Copying{.barren = 11, .twins = 5, .delay = d},
          Landscape{.build_delay = d, .run_delay = 2 * d, .lane_count = repeat % 2 + 1u},
          {.in_flight = in_flight, .build_threads = 2, .budget = std::make_shared<TrialBudget>(50)}};
      search.run();
      if (repeat == 0)
        first = transcript(search);
      else
        CHECK(transcript(search) == first);
    }
    CHECK(first.size() > 100);
  }
}

TEST_CASE("Optimizer: told in the order of completion, a recorded run still replays exactly") {
  Recorder recorder;
  Optimizer search{
      Chaotic{3},
      Copying{.barren = 11, .twins = 5},
      Landscape{.build_delay = std::chrono::microseconds(50), .run_delay = std::chrono::microseconds(90)},
      {.in_flight = 4, .build_threads = 2, .order = TellOrder::completion}};
  search.run(recorder);
  Optimizer again{Chaotic{3}, Copying{.barren = 11, .twins = 5}, Landscape{}};
  again.resume(recorder.record);
  CHECK(transcript(again) == transcript(search));
}

TEST_CASE("Optimizer: stopped anywhere and resumed, it ends as if it had never stopped") {
  for (const std::size_t in_flight : {1, 3}) {
    const OptimizerOptions options{.in_flight = in_flight, .build_threads = 2};
    Optimizer whole{Chaotic{5}, Copying{.barren = 11, .twins = 5}, Landscape{}, options};
    Recorder all;
    whole.run(all);
    for (std::size_t cut = 0; cut <= all.record.events.size(); cut += 3) {
      RunRecord<int, int> part;
      part.events.assign(all.record.events.begin(),
                         all.record.events.begin() + static_cast<std::ptrdiff_t>(cut));
      Optimizer resumed{Chaotic{5}, Copying{.barren = 11, .twins = 5}, Landscape{}, options};
      resumed.resume(part);
      resumed.run();
      REQUIRE(transcript(resumed) == transcript(whole));
    }
  }
}

TEST_CASE("Optimizer: resuming with another policy is refused") {
  Recorder recorder;
  Optimizer search{Chaotic{5}, Copying{}, Landscape{}};
  search.run(MaxTrials{20}, recorder);
  Optimizer other{Chaotic{6}, Copying{}, Landscape{}};
  CHECK_THROWS_AS(other.resume(recorder.record), ConfigError);
}

TEST_CASE("Optimizer: a damaged record is a fault for try_resume, with what resume raises") {
  Recorder recorder;
  Optimizer search{Chaotic{5}, Copying{}, Landscape{}};
  search.run(MaxTrials{20}, recorder);
  const auto fault = [](const RunRecord<int, int>& record, std::uint64_t seed = 5) -> std::string {
    Optimizer tried{Chaotic{seed}, Copying{}, Landscape{}};
    const Result<void> resumed = tried.try_resume(record);
    if (resumed) return "none";
    Optimizer raising{Chaotic{seed}, Copying{}, Landscape{}};
    CHECK_THROWS_WITH_AS(raising.resume(record), resumed.error().text().c_str(), ConfigError);
    return resumed.error().text();
  };
  CHECK(fault(recorder.record) == "none");
  CHECK(fault(recorder.record, 6).find("does not repeat its recorded proposals") != std::string::npos);

  RunRecord<int, int> revised = recorder.record;
  revised.events.emplace_back(
      RevisedEvent{.outcome = {.id = TrialId{999}, .origin = {}, .parents = {}, .evaluation = {}}});
  CHECK(fault(revised).find("never told: trial 999") != std::string::npos);

  RunRecord<int, int> unproposed = recorder.record;
  ToldEvent<int, int> told{
      {1, {.id = TrialId{999}, .origin = Origin{ProposalId{999}, 0, 1}, .parents = {}, .evaluation = {}}},
      {}};
  unproposed.events.emplace_back(told);
  CHECK(fault(unproposed).find("never made: proposal 999") != std::string::npos);

  RunRecord<int, int> foreign = recorder.record;
  told.trial.outcome.origin.reset();
  foreign.events.emplace_back(told);
  CHECK(fault(foreign).find("a trial from outside without its point: trial 999") != std::string::npos);
}

TEST_CASE("Optimizer: the caller owns the loop, tells in any order, brings no evaluator") {
  Optimizer search{Counting{.last = 6}, Copying{}};
  auto jobs = search.ask(4);
  REQUIRE(jobs.size() == 4);
  CHECK(search.outstanding() == 4);
  for (const int i : {2, 0, 3})
    search.tell(jobs[static_cast<std::size_t>(i)].id, Evaluation::succeeded(10.0 - i));
  CHECK(search.outstanding() == 1);
  auto more = search.ask(4);
  CHECK(more.size() == 2);
  CHECK(search.ask(1).empty());
  CHECK_FALSE(search.done());  // something is outstanding
  search.tell(jobs[1].id, Evaluation::failed(Verdict::crashed, "signal 11"));
  for (const auto& job : more) search.tell(job.id, Evaluation::succeeded(1.0));
  CHECK(search.ask(1).empty());
  CHECK(search.done());
  CHECK(*search.best()->candidate == 4);
  CHECK_THROWS_WITH_AS(search.tell(jobs[1].id, {}),
                       doctest::Contains("not outstanding: trial 1; tell each id from ask() once"),
                       ConfigError);
}

TEST_CASE("Optimizer: foreign trials are told without an origin and can become the best") {
  Optimizer search{Counting{.last = 3}, Copying{}, Landscape{}};
  const TrialId seed = search.submit(-1, -1, Evaluation::succeeded(0.5));
  search.run();
  CHECK_FALSE(search.policy().told[0].outcome.origin.has_value());
  CHECK(search.best()->outcome.id == seed);
  auto job = search.submit(-2, -2);
  REQUIRE(job);
  search.tell(job->id, Evaluation::succeeded(0.25));
  CHECK(*search.best()->candidate == -2);
}

TEST_CASE("Optimizer: a revised outcome replaces what was known, also when it takes the best away") {
  Optimizer search{Counting{.last = 400}, Copying{}, Landscape{}};
  search.run();
  const TrialId best = search.best()->outcome.id;
  search.revise(best, Evaluation::failed(Verdict::cheated, "found late"));
  CHECK(search.best()->outcome.id != best);
  const auto& told = search.policy().told.back();
  CHECK(told.outcome.id == best);
  CHECK(told.outcome.evaluation.verdict == Verdict::cheated);
  CHECK(search.summary().verdicts[static_cast<int>(Verdict::cheated)] == 1);
  CHECK_THROWS_AS(search.revise(TrialId{9999}, {}), ConfigError);
}

TEST_CASE("Optimizer: observers hear of a trial before the policy does, and of the rest of the run") {
  struct Watcher {
    const Counting* policy = nullptr;
    int started = 0, bests = 0, asks = 0;
    std::string end;
    bool before = true;
    std::size_t trials = 0;
    void on_start(TrialId, const int&) { ++started; }
    void on_trial(const Trial<int>&, const int&) { before = before && policy->told.size() == trials++; }
    void on_best(const Trial<int>&) { ++bests; }
    void on_ask(const AskEvent&) { ++asks; }
    void on_end(std::string_view reason) { end = reason; }
  } watcher;
  Optimizer search{Counting{.last = 10}, Copying{}, Landscape{}};
  watcher.policy = &search.policy();
  search.run(MaxTrials{5} || TargetSpeedup{2.0}, watcher);
  CHECK(watcher.before);
  CHECK(watcher.trials == 5);
  CHECK(watcher.started == 5);
  CHECK(watcher.bests == 4);  // 0 fails; 1, 2, 3, 4 come closer to 321
  CHECK(watcher.asks == 5);
  CHECK(watcher.end == "5 trials or speedup 2");
}

TEST_CASE("Optimizer: building one candidate overlaps measuring another, lanes limit the measuring") {
  struct Counted : Landscape {
    std::atomic<int>*running, *most_running, *overlapped, *building;
    Staged<Artifact> build(int x, const EvaluationContext& c) const {
      ++*building;
      auto staged = Landscape::build(x, c);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (*running > 0) ++*overlapped;
      --*building;
      return staged;
    }
    Evaluation run(Staged<Artifact>&& staged, const EvaluationContext& c) const {
      const int now = ++*running;
      int most = *most_running;
      while (most < now && !most_running->compare_exchange_weak(most, now)) {
      }
      auto evaluation = Landscape::run(std::move(staged), c);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      --*running;
      return evaluation;
    }
    Evaluation evaluate(int x, const EvaluationContext& context) {
      return evaluate_in_stages(*this, x, context);
    }
  };
  for (const std::size_t lanes : {1u, 2u}) {
    std::atomic<int> running{0}, most{0}, overlapped{0}, building{0};
    Counted evaluator{{.lane_count = lanes}, &running, &most, &overlapped, &building};
    Optimizer search{Counting{.last = 60}, Copying{}, evaluator, {.in_flight = 8, .build_threads = 3}};
    search.run();
    CHECK(most == static_cast<int>(lanes));
    CHECK(overlapped > 0);
  }
}

TEST_CASE("Optimizer: a stop from outside keeps what was measured") {
  std::stop_source stop;
  struct StopAfter {
    std::stop_source& stop;
    int left;
    void on_trial(const Trial<int>&, const int&) {
      if (--left == 0) stop.request_stop();
    }
  } observer{stop, 10};
  for (const std::size_t in_flight : {1u, 4u}) {
    stop = {};
    observer.left = 10;
    Optimizer search{Counting{.last = 1000},
                     Copying{},
                     Landscape{.run_delay = std::chrono::microseconds(100)},
                     {.in_flight = in_flight, .stop = stop.get_token()}};
    const RunSummary summary = search.run(observer);
    CHECK(summary.reason == "stopped from outside");
    CHECK(summary.trials >= 10);
    CHECK(summary.trials < 30);
    CHECK(search.outstanding() == 0);
  }
}

TEST_CASE("Optimizer: a lost device ends the run with its error, and what was measured stays") {
  const auto evaluate = [](int x) -> double {
    if (x == 12) throw DeviceError("kernelsearch: the device is gone");
    return 1.0 + x;
  };
  for (const std::size_t in_flight : {1u, 4u}) {
    Optimizer search{Counting{.last = 100}, Copying{}, FunctionEvaluator(evaluate), {.in_flight = in_flight}};
    CHECK_THROWS_AS(search.run(), DeviceError);
    CHECK(search.trials().size() >= 9);
    CHECK(search.best() != nullptr);
  }
}

TEST_CASE("Optimizer: a policy that waits for its own model is not mistaken for a finished one") {
  struct Thinking : Counting {
    int waits = 0;
    bool ready = false;
    std::vector<int> ask(std::size_t n) {
      if (!ready) return {};
      ready = false;
      return Counting::ask(std::min<std::size_t>(n, 3));
    }
    bool await() {
      ready = next < last;
      waits += ready ? 1 : 0;
      return ready;
    }
  };
  for (const std::size_t in_flight : {1u, 4u}) {
    Optimizer search{Thinking{{.last = 9}}, Copying{}, Landscape{}, {.in_flight = in_flight}};
    CHECK(search.run().trials == 9);
    CHECK(search.policy().waits >= 3);
  }
}

namespace {

/// The root, then five moves from it with more parents each.
struct Moves {
  using Proposal = Move;
  std::uint64_t next = 0;
  [[nodiscard]] static std::vector<TrialId> parents(std::uint64_t of) {
    std::vector<TrialId> all;
    for (std::uint64_t p = 0; p < of; ++p) all.push_back(TrialId{p});
    return all;
  }
  std::vector<Move> ask(std::size_t n) {
    std::vector<Move> moves;
    for (; moves.size() < n && next < 6; ++next) moves.push_back({MoveKind::rewrite, parents(next), {}, 0});
    return moves;
  }
  void tell(std::span<const Observation<Move>>) {}
};

struct Writer {
  using Candidate = int;
  Generation<int> generate(const Move& move, const History<int>&) const {
    return Generation<int>::one(static_cast<int>(move.parents.size()));
  }
};

/// Right where the context names as many parents as the candidate says, in their order.
struct CountsParents {
  Evaluation evaluate(int x, const EvaluationContext& context) const {
    if (context.parents == Moves::parents(static_cast<std::uint64_t>(x))) return Evaluation::succeeded(1.0);
    return Evaluation::failed(Verdict::wrong_result, "other parents");
  }
};

}  // namespace

TEST_CASE("Optimizer: evaluators are told the parents, in every way of running") {
  for (const std::size_t in_flight : {1u, 4u}) {
    Optimizer search{Moves{}, Writer{}, CountsParents{}, {.in_flight = in_flight}};
    CHECK(search.run().verdicts[static_cast<int>(Verdict::ok)] == 6);
  }
  Optimizer search{Moves{}, Writer{}};
  for (const auto& job : search.ask(3))
    CHECK(job.context.parents == Moves::parents(static_cast<std::uint64_t>(job.candidate)));
  const Move submitted{MoveKind::submitted, {TrialId{2}}, {}, 0};
  CHECK(search.submit(submitted, 7)->context.parents == submitted.parents);
  Optimizer points{Counting{.last = 1}, Copying{}};  // points of a space have no parents
  CHECK(points.ask(1).front().context.parents.empty());
}

TEST_CASE("Optimizer: counts of 0 in the options are refused") {
  CHECK_THROWS_AS((Optimizer{Counting{}, Copying{}, Landscape{}, {.in_flight = 0}}), ConfigError);
}

TEST_CASE("Optimizer: there is no best before a trial is right") {
  Optimizer search{Counting{.last = 3}, Copying{}};
  CHECK(search.best() == nullptr);
  const auto jobs = search.ask(1);
  REQUIRE(jobs.size() == 1);
  search.tell(jobs[0].id, Evaluation::failed(Verdict::crashed, "as scripted"));
  CHECK(search.best() == nullptr);
}

TEST_CASE(
    "Optimizer: a first objective that is no number is a failure and never the best, through every door") {
  const double nan = std::nan("");
  const auto told_nan = [nan] {
    Evaluation evaluation;  // not by way of succeeded(), which makes a failure of it
    evaluation.measurement.seconds = nan;
    return evaluation;
  };
  const auto failed = [](const Outcome& outcome) {
    CHECK(outcome.evaluation.verdict == Verdict::wrong_result);
    CHECK(outcome.evaluation.reason == "the objective is not a number (NaN)");
    CHECK(std::isinf(outcome.objective));
  };
  SUBCASE("told, and better ones after it") {
    Optimizer search{Counting{.last = 9}, Copying{}};
    search.tell(search.ask(1).at(0).id, told_nan());
    CHECK(search.best() == nullptr);
    failed(search.trials()[0].outcome);
    search.tell(search.ask(1).at(0).id, Evaluation::succeeded(2.0));
    search.tell(search.ask(1).at(0).id, Evaluation::succeeded(1.0));
    REQUIRE(search.best() != nullptr);
    CHECK(search.best()->outcome.objective == 1.0);
    CHECK(search.summary().verdicts[static_cast<int>(Verdict::wrong_result)] == 1);
  }
  SUBCASE("a trial from outside") {
    Optimizer search{Counting{.last = 9}, Copying{}};
    search.submit(5, 5, told_nan());
    CHECK(search.best() == nullptr);
    failed(search.trials()[0].outcome);
  }
  SUBCASE("revised, when it was the best") {
    Optimizer search{Counting{.last = 9}, Copying{}};
    const TrialId id = search.submit(5, 5, Evaluation::succeeded(1.0));
    search.submit(6, 6, Evaluation::succeeded(2.0));
    search.revise(id, told_nan());
    REQUIRE(search.best() != nullptr);
    CHECK(search.best()->outcome.objective == 2.0);
    failed(search.trials()[0].outcome);
    CHECK(search.summary().verdicts[static_cast<int>(Verdict::ok)] == 1);
  }
  SUBCASE("an objective of one's own") {
    OptimizerOptions options;
    options.objective = [](const Measurement& m) { return m.seconds > 1 ? m.seconds : std::sqrt(-1.0); };
    Optimizer search{Counting{.last = 9}, Copying{}, External{}, options};
    search.submit(5, 5, Evaluation::succeeded(0.5));
    CHECK(search.best() == nullptr);
    search.submit(6, 6, Evaluation::succeeded(2.0));
    REQUIRE(search.best() != nullptr);
    CHECK(search.best()->outcome.objective == 2.0);
  }
  SUBCASE("a record of an earlier version") {
    RunRecord<int, int> record;
    record.events.emplace_back(AskEvent{1, 1});
    Trial<int> trial{1, {}};
    trial.outcome.id = TrialId{0};
    trial.outcome.origin = Origin{ProposalId{0}, 0, 1};
    trial.outcome.evaluation = told_nan();
    trial.outcome.objective = nan;
    record.events.emplace_back(ToldEvent<int, int>{trial, std::nullopt});
    Optimizer search{Counting{.last = 9}, Copying{}};
    search.resume(record);
    CHECK(search.best() == nullptr);
    search.tell(search.ask(1).at(0).id, Evaluation::succeeded(3.0));
    REQUIRE(search.best() != nullptr);
    CHECK(search.best()->outcome.objective == 3.0);
  }
}

TEST_CASE(
    "Optimizer: with objectives their scalar decides, and no evaluator is told a time to stop early by") {
  OptimizerOptions options;
  options.objectives = Objectives::parse("time; energy_joules");
  Optimizer search{Counting{.last = 9}, Copying{}, External{}, options};
  const auto told = [](double seconds, double joules) {
    Evaluation evaluation = Evaluation::succeeded(seconds);
    evaluation.features.set("energy_joules", joules);
    return evaluation;
  };
  search.tell(search.ask(1).at(0).id, told(1, 16));
  const auto next = search.ask(1);
  CHECK(!next.at(0).context.incumbent);
  search.tell(next[0].id, told(2, 2));
  REQUIRE(search.best() != nullptr);
  CHECK(search.best()->outcome.objective == approx(2));
  CHECK(search.best()->outcome.evaluation.features.find("objective.energy_joules") == 2);
  // One that lacks a feature is a failure with that reason, since others have it.
  search.submit(7, 7, Evaluation::succeeded(1e-9));
  CHECK(search.trials().back().outcome.evaluation.verdict == Verdict::wrong_result);
  CHECK(search.trials().back().reason().find("was not observed: energy_joules") != std::string::npos);
  CHECK(!search.trials().back().ok());
  search.revise(search.trials()[0].outcome.id, told(1, 1));
  CHECK(search.best()->outcome.id == search.trials()[0].outcome.id);

  // Where nothing has it, the objective is what is wrong.
  Optimizer none{Counting{.last = 9}, Copying{}, External{}, options};
  CHECK_THROWS_WITH_AS(none.submit(5, 5, Evaluation::succeeded(1.0)),
                       doctest::Contains("objective energy_joules reads a feature"), ConfigError);
  options.objective = [](const Measurement& m) { return m.seconds; };
  CHECK_THROWS_WITH_AS((Optimizer{Counting{.last = 9}, Copying{}, External{}, options}),
                       doctest::Contains("leave one of them out"), ConfigError);
}

TEST_CASE("Optimizer: the time is what evaluators may stop early by, as long as nothing else is minimized") {
  OptimizerOptions options;
  Optimizer times{Counting{.last = 9}, Copying{}, External{}, options};
  times.tell(times.ask(1).at(0).id, Evaluation::succeeded(3.0));
  CHECK(times.ask(1).at(0).context.incumbent == 3.0);
  options.objective = [](const Measurement& m) { return 1 / m.seconds; };
  Optimizer own{Counting{.last = 9}, Copying{}, External{}, options};
  own.tell(own.ask(1).at(0).id, Evaluation::succeeded(3.0));
  CHECK(!own.ask(1).at(0).context.incumbent);
}
