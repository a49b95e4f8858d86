// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/finalists.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/evaluator/function_evaluator.hpp"
#include "kernelsearch/generator/template_generator.hpp"
#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/policy/exhaustive.hpp"
#include "kernelsearch/space/space_builder.hpp"
#include "support/approx.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

/// Times are lucky the first time: the second is the truth.
struct Lucky {
  std::vector<double> first{3.0, 1.0, 2.0, 1.5}, second{3.0, 4.0, 2.5, 1.6};
  std::vector<int> seen = std::vector<int>(4, 0);
  int renewed = 0;
  int finalists = 0;
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) {
    const std::size_t i = candidate.config.indices[0];
    finalists += context.finalist ? 1 : 0;
    return Evaluation::succeeded(seen[i]++ == 0 ? first[i] : second[i]);
  }
  void renew() { ++renewed; }
};

}  // namespace

TEST_CASE("measure_finalists_again: the winner is one that was measured again") {
  const Space space = SpaceBuilder().add(Tunable::integer("i", 0, 3)).build();
  const auto kernel = std::make_shared<const Kernel>(Kernel{{}, space});
  Lucky lucky;
  Optimizer search{Exhaustive(space), TemplateGenerator(kernel), lucky};
  search.run();
  REQUIRE(search.best()->candidate->config.indices[0] == 1);
  std::vector<std::uint64_t> told;
  measure_finalists_again(search, search.evaluator(), {},
                          {.tell = [&told](TrialId id) { told.push_back(number(id)); }});
  CHECK(search.best()->candidate->config.indices[0] == 3);
  CHECK(search.best()->outcome.objective == 1.6);
  CHECK(told.size() == 2);
  CHECK(search.evaluator().renewed == 2);
  CHECK(search.evaluator().finalists == 2);  // and none of the search's own

  // A stop leaves what is known as it is.
  Optimizer stopped{Exhaustive(space), TemplateGenerator(kernel), lucky};
  stopped.run();
  std::stop_source stop;
  stop.request_stop();
  measure_finalists_again(stopped, stopped.evaluator(), stop.get_token(), {});
  CHECK(stopped.best()->outcome.objective == 1.0);
}

namespace {

/// As Lucky, and leaves out the pairs of a finalist that turns out slower than its rival.
struct Sparing : Lucky {
  std::vector<std::optional<double>> rivals;
  std::function<void()> paired = nullptr;
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) {
    Evaluation evaluation = Lucky::evaluate(candidate, context);
    if (!context.finalist) return evaluation;
    rivals.push_back(context.rival);
    if (context.rival && evaluation.measurement.seconds > *context.rival) {
      evaluation.features.set("unpaired", 1);
    } else {
      evaluation.measurement.speedup = Speedup{2, {1.9, 2.1}, 12};
      if (paired) paired();
    }
    return evaluation;
  }
};

}  // namespace

TEST_CASE(
    "measure_finalists_again: only what stays the best is paired, and what is best in the end always is") {
  const Space space = SpaceBuilder().add(Tunable::integer("i", 0, 3)).build();
  const auto kernel = std::make_shared<const Kernel>(Kernel{{}, space});
  SUBCASE("one that turns out slower than its rival goes without") {
    Optimizer search{Exhaustive(space), TemplateGenerator(kernel), Sparing{}};
    search.run();
    measure_finalists_again(search, search.evaluator(), {}, {});
    using Rivals = std::vector<std::optional<double>>;
    CHECK(search.evaluator().rivals == Rivals{1.5, 2.0});
    CHECK(search.best()->outcome.evaluation.measurement.speedup);
  }
  SUBCASE("one that is the best after all is measured once more, with its pairs") {
    Sparing sparing;
    sparing.first = {3.0, 1.0, 1.2, 1.3};
    sparing.second = {3.0, 1.4, 1.5, 1.6};
    Optimizer search{Exhaustive(space), TemplateGenerator(kernel), sparing};
    search.run();
    const auto done = measure_finalists_again(search, search.evaluator(), {}, {});
    CHECK(search.best()->candidate->config.indices[0] == 1);
    CHECK(search.best()->outcome.evaluation.measurement.speedup);
    CHECK(done == std::set<TrialId>{search.best()->outcome.id});
    using Rivals = std::vector<std::optional<double>>;
    CHECK(search.evaluator().rivals == Rivals{1.2, 1.3, 1.4, std::nullopt});
  }
  SUBCASE("what was paired before a stop counts") {
    std::stop_source stop;
    Sparing sparing;
    sparing.second = {3.0, 1.1, 2.5, 1.6};
    sparing.paired = [&stop] { stop.request_stop(); };
    Optimizer search{Exhaustive(space), TemplateGenerator(kernel), sparing};
    search.run();
    const auto done = measure_finalists_again(search, search.evaluator(), stop.get_token(), {});
    CHECK(done.size() == 1);
    CHECK(search.best()->outcome.objective == 1.1);
    CHECK(search.best()->outcome.evaluation.measurement.speedup);
  }
}

TEST_CASE("measure_finalists_again: what the validator objects to makes room for the next best") {
  const Space space = SpaceBuilder().add(Tunable::integer("i", 0, 3)).build();
  const auto kernel = std::make_shared<const Kernel>(Kernel{{}, space});
  Optimizer search{Exhaustive(space), TemplateGenerator(kernel), Lucky{}};
  search.run();
  std::vector<std::uint32_t> asked;
  const auto but = [&asked](std::vector<std::uint32_t> faulty) {
    return [&asked, faulty](const Candidate& candidate) -> std::optional<Evaluation> {
      const std::uint32_t i = candidate.config.indices[0];
      asked.push_back(i);
      if (std::find(faulty.begin(), faulty.end(), i) == faulty.end()) return std::nullopt;
      return Evaluation::failed(Verdict::crashed, "memcheck: a fault");
    };
  };
  measure_finalists_again(search, search.evaluator(), {}, {.validate = but({1, 3})});
  CHECK(asked == std::vector<std::uint32_t>{1, 3, 2});
  CHECK(search.best()->candidate->config.indices[0] == 2);
  CHECK(search.best()->outcome.objective == 2.5);
  CHECK(search.evaluator().renewed == 1);  // what is faulty is not measured
  CHECK_FALSE(search.best()->outcome.evaluation.features.find("checked"));
  CHECK(search.trials()[1].outcome.evaluation.verdict == Verdict::crashed);
  CHECK(search.trials()[1].outcome.evaluation.reason == "memcheck: a fault");

  Optimizer marked{Exhaustive(space), TemplateGenerator(kernel), Lucky{}};
  marked.run();
  measure_finalists_again(marked, marked.evaluator(), {}, {.validate = but({1, 3}), .passed = "checked"});
  CHECK(marked.best()->outcome.evaluation.features.find("checked") == 1.0);
  CHECK_FALSE(marked.trials()[1].outcome.evaluation.features.find("checked"));
  CHECK_FALSE(marked.trials()[0].outcome.evaluation.features.find("checked"));

  Optimizer none{Exhaustive(space), TemplateGenerator(kernel), Lucky{}};
  none.run();
  measure_finalists_again(none, none.evaluator(), {}, {.validate = but({0, 1, 2, 3})});
  CHECK(none.best() == nullptr);
}

TEST_CASE(
    "measure_finalists_again: on a machine too noisy to agree with itself the winner still has passed") {
  // Whatever is measured again turns out slower than all that was not.
  struct Noisy {
    int calls = 0;
    Evaluation evaluate(const Candidate&, const EvaluationContext&) {
      return Evaluation::succeeded(++calls <= 20 ? 1.0 : 10.0);
    }
  };
  const Space space = SpaceBuilder().add(Tunable::integer("i", 0, 19)).build();
  const auto kernel = std::make_shared<const Kernel>(Kernel{{}, space});
  Optimizer search{Exhaustive(space), TemplateGenerator(kernel), Noisy{}};
  search.run();
  std::set<std::uint32_t> passed;
  measure_finalists_again(search, search.evaluator(), {}, {.validate = [&](const Candidate& candidate) {
                            const std::uint32_t i = candidate.config.indices[0];
                            if (i % 2 == 1) return std::optional(Evaluation::failed(Verdict::crashed, "x"));
                            passed.insert(i);
                            return std::optional<Evaluation>();
                          }});
  REQUIRE(search.best() != nullptr);
  CHECK(passed.count(search.best()->candidate->config.indices[0]) == 1);
}

namespace {

/// What is measured of one candidate is luck; pairs tell the truth.
struct Pairs {
  std::vector<double> measured, truth;
  bool able = true;
  std::set<std::uint32_t> broken = {};  ///< are no longer ok when they are compared
  double width = 0.001;                 ///< of a pair's interval, relative
  double measured_width = 0.2;          ///< of a time's
  std::vector<std::pair<std::uint32_t, std::uint32_t>> compared = {};

  Evaluation evaluate(const Candidate& candidate, const EvaluationContext&) const {
    const double seconds = measured[candidate.config.indices[0]];
    Evaluation evaluation = Evaluation::succeeded(seconds);
    evaluation.measurement.interval = {seconds * (1 - measured_width), seconds * (1 + measured_width)};
    return evaluation;
  }
  std::optional<Speedup> compare(const Candidate& candidate, const Candidate& champion, const PairOptions&) {
    const std::uint32_t a = candidate.config.indices[0], b = champion.config.indices[0];
    compared.emplace_back(a, b);
    if (!able) return std::nullopt;
    if (broken.count(a) + broken.count(b) > 0)
      detail::raise<ConfigError>("a candidate to compare is not ok", "it crashed", "mend it");
    const double ratio = truth[b] / truth[a];
    return Speedup{ratio, {ratio * (1 - width), ratio * (1 + width)}, 12};
  }
};

struct Match {
  explicit Match(Pairs pairs, std::uint32_t by_default = 0)
      : space(SpaceBuilder()
                  .add(Tunable::integer("i", 0, static_cast<std::int64_t>(pairs.truth.size()) - 1)
                           .with_default(static_cast<std::int64_t>(by_default)))
                  .build()),
        kernel(std::make_shared<const Kernel>(Kernel{{}, space})),
        search(Exhaustive(space), TemplateGenerator(kernel), std::move(pairs)) {
    search.run();
    steps.baseline = Candidate{kernel, space.default_config()};
  }
  std::optional<FinalistComparison> choose() { return choose_winner(search, search.evaluator(), {}, steps); }
  [[nodiscard]] std::uint32_t point(TrialId id) { return search.log().own(id).candidate->config.indices[0]; }

  Space space;
  std::shared_ptr<const Kernel> kernel;
  Optimizer<Exhaustive, TemplateGenerator, Pairs> search;
  FinalistSteps steps;
};

}  // namespace

TEST_CASE("finalists: why the winner has another time than the search showed is said in a line") {
  const auto at = [](std::uint64_t id, double seconds) {
    Outcome outcome;
    outcome.id = TrialId{id};
    outcome.evaluation = Evaluation::succeeded(seconds);
    return outcome;
  };
  CHECK(winner_remark(at(3, 0.001631), at(3, 0.001635)).empty());
  CHECK(winner_remark(at(3, 0.001631), at(3, 0.001687)) ==
        "trial 3 is the winner at 1.687 ms: the search had shown 1.631 ms for it before the finalists were "
        "measured again");
  CHECK(winner_remark(at(3, 0.001631), at(5, 0.001632)) ==
        "trial 5 is the winner at 1.632 ms: trial 3, which the search had shown at 1.631 ms, lost when the "
        "finalists were measured again");
}

TEST_CASE("choose_winner: the pairs decide, not the luckiest time") {
  // Trial 0 was lucky each time that it was measured, and is the slowest of the three that are close.
  Match match({.measured = {1.0, 1.1, 1.2, 5.0}, .truth = {1.5, 1.2, 1.3, 5.0}}, 3);
  const auto chosen = match.choose();
  REQUIRE(chosen);
  CHECK(match.search.best()->candidate->config.indices[0] == 0);
  CHECK(match.point(chosen->winner) == 1);
  CHECK(chosen->trials == 4);
  CHECK(!chosen->winner_is_default);
  // All have met the default configuration, in the order of their times.
  REQUIRE(chosen->pairs.size() >= 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(match.point(chosen->pairs[i].candidate) == i);
    CHECK(!chosen->pairs[i].opponent);
  }
  CHECK(chosen->pairs[1].speedup.ratio == approx(5.0 / 1.2));
}

namespace {

/// Three devices, whose first comparisons wait for each other.
struct ThreeDevices : Pairs {
  struct Meeting {
    std::mutex mutex;
    std::condition_variable changed;
    int arrived = 0;
  };
  std::shared_ptr<Meeting> meeting = std::make_shared<Meeting>();

  [[nodiscard]] std::size_t lanes() const { return 3; }
  std::optional<Speedup> compare(const Candidate& candidate, const Candidate& champion,
                                 const PairOptions& how) {
    std::unique_lock lock(meeting->mutex);
    ++meeting->arrived;
    meeting->changed.notify_all();
    if (!meeting->changed.wait_for(lock, std::chrono::seconds(60), [this] { return meeting->arrived >= 3; }))
      return std::nullopt;  // the others never came
    return Pairs::compare(candidate, champion, how);
  }
};

}  // namespace

TEST_CASE(
    "choose_winner: finalists meet the default on all devices at once, and what comes out is the same") {
  for (const bool default_broken : {false, true}) {
    CAPTURE(default_broken);
    const Pairs pairs{.measured = {1.0, 1.1, 1.2, 5.0},
                      .truth = {1.5, 1.2, 1.3, 5.0},
                      .broken = default_broken ? std::set<std::uint32_t>{3} : std::set<std::uint32_t>{}};
    Match one(pairs, 3);
    const auto expected = one.choose();
    Optimizer search{Exhaustive(one.space), TemplateGenerator(one.kernel), ThreeDevices{pairs}};
    search.run();
    const auto chosen = choose_winner(search, search.evaluator(), {}, one.steps);
    REQUIRE(expected);
    REQUIRE(chosen);
    CHECK(chosen->winner == expected->winner);
    REQUIRE(chosen->pairs.size() == expected->pairs.size());
    for (std::size_t i = 0; i < chosen->pairs.size(); ++i) {
      CHECK(chosen->pairs[i].candidate == expected->pairs[i].candidate);
      CHECK(chosen->pairs[i].opponent == expected->pairs[i].opponent);
      CHECK(chosen->pairs[i].speedup.ratio == expected->pairs[i].speedup.ratio);
    }
  }
}

TEST_CASE("each_on_a_lane: gives each result in its place, and raises what was raised") {
  for (const std::size_t lanes : {1, 4, 50}) {
    const auto results = detail::each_on_a_lane(lanes, 20, [](std::size_t i) -> std::optional<Speedup> {
      if (i % 3 == 0) return std::nullopt;
      return Speedup{static_cast<double>(i), {}, 1};
    });
    REQUIRE(results.size() == 20);
    for (std::size_t i = 0; i < 20; ++i) {
      CHECK(results[i].has_value() == (i % 3 != 0));
      if (results[i]) CHECK(results[i]->ratio == static_cast<double>(i));
    }
    const auto lost = [](std::size_t i) -> std::optional<Speedup> {
      if (i == 7) throw DeviceError("gone");
      return std::nullopt;
    };
    CHECK_THROWS_AS(static_cast<void>(detail::each_on_a_lane(lanes, 20, lost)), DeviceError);
  }
}

TEST_CASE("choose_winner: what is close against the default is compared directly") {
  // Against the default the intervals of all overlap, so that it cannot tell them apart.
  Match match({.measured = {1.0, 1.1, 1.2, 5.0}, .truth = {1.5, 1.2, 1.3, 5.0}, .width = 0.5}, 3);
  const auto chosen = match.choose();
  REQUIRE(chosen);
  CHECK(match.point(chosen->winner) == 1);
  std::size_t direct = 0;
  for (const FinalistPair& pair : chosen->pairs) direct += pair.opponent ? 1u : 0u;
  CHECK(direct == 2);
}

TEST_CASE("choose_winner: what cannot be faster by more than pairs tell is not compared directly") {
  const auto direct_pairs = [](double second, double width) {
    Match match({.measured = {1.0, 1.0, 5.0}, .truth = {1.0, second, 5.0}, .width = width}, 2);
    const auto chosen = match.choose();
    REQUIRE(chosen);
    CHECK(match.point(chosen->winner) == (second < 1 ? 1u : 0u));
    return std::count_if(chosen->pairs.begin(), chosen->pairs.end(),
                         [](const FinalistPair& pair) { return pair.opponent.has_value(); });
  };
  // As good as equal, by narrow intervals: the faster one by at most 0.6 %.
  CHECK(direct_pairs(1.0, 0.004) == 0);
  // By wider ones perhaps by 1.4 %, which pairs tell.
  CHECK(direct_pairs(1.0, 0.01) == 1);
  // The errors of both do not add up: 3 % behind, each known to 2 %, is at most 0.1 % before.
  CHECK(direct_pairs(1.03, 0.02) == 0);
  CHECK(direct_pairs(1.01, 0.02) == 1);
  CHECK(direct_pairs(0.98, 0.004) == 0);
}

TEST_CASE("choose_winner: none of the pairs says that another finalist is faster than the winner") {
  Rng rng(7);
  for (int round = 0; round < 200; ++round) {
    Pairs pairs;
    for (int i = 0; i < 12; ++i) {
      pairs.truth.push_back(1 + rng.uniform());
      pairs.measured.push_back(pairs.truth.back() * (0.8 + 0.4 * rng.uniform()));
    }
    pairs.width = 0.3 * rng.uniform();
    pairs.measured_width = 0.5 * rng.uniform();
    Match match(std::move(pairs), static_cast<std::uint32_t>(rng.below(12)));
    const auto chosen = match.choose();
    REQUIRE(chosen);
    const auto truth = [&](TrialId id) { return match.search.evaluator().truth[match.point(id)]; };
    const double winner = truth(chosen->winner);
    const std::uint32_t by_default = match.steps.baseline->config.indices[0];
    CHECK(chosen->winner_is_default == (match.point(chosen->winner) == by_default));
    // A tie is the default's: then the fastest of the finalists is not surely faster.
    double fastest = std::numeric_limits<double>::infinity(), surely = 0;
    for (const FinalistPair& pair : chosen->pairs) {
      if (!chosen->winner_is_default) CHECK(winner <= truth(pair.candidate));
      if (pair.opponent && pair.candidate == chosen->winner && !chosen->winner_is_default)
        CHECK(pair.speedup.ratio >= 1);
      if (pair.opponent || truth(pair.candidate) > fastest) continue;
      fastest = truth(pair.candidate);
      surely = pair.speedup.interval.low;
    }
    if (chosen->winner_is_default)
      CHECK(surely <= 1);
    else
      CHECK(winner <= match.search.evaluator().truth[by_default]);
  }
}

TEST_CASE("choose_winner: at least three are compared where there are, at most eight") {
  // Apart by their intervals, and yet three.
  Match apart({.measured = {1, 1.2, 1.4, 1.5, 5}, .truth = {1, 1.2, 1.4, 1.5, 5}, .measured_width = 0.01}, 4);
  REQUIRE(apart.choose());
  std::set<std::uint32_t> seen;
  for (const auto& [a, b] : apart.search.evaluator().compared) seen.insert(a);
  CHECK(seen == std::set<std::uint32_t>{0, 1, 2});

  // So far apart that nothing makes up for it: the best meets the default and nobody else does.
  Match far({.measured = {1, 1.6, 2, 3, 5}, .truth = {1, 1.6, 2, 3, 5}, .measured_width = 0.01}, 4);
  REQUIRE(far.choose());
  CHECK(far.search.evaluator().compared == std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 4}});

  // All are hopelessly behind the default.
  Match behind({.measured = {3, 1, 2, 3}, .truth = {3, 1, 2, 3}, .measured_width = 0.01}, 1);
  const auto chosen = behind.choose();
  REQUIRE(chosen);
  CHECK(chosen->winner_is_default);
  CHECK(chosen->pairs.empty());

  Pairs same{.measured = std::vector<double>(20, 1.0), .truth = std::vector<double>(20, 1.0)};
  Match equal(std::move(same), 19);
  REQUIRE(equal.choose());
  seen.clear();
  for (const auto& [a, b] : equal.search.evaluator().compared) seen.insert(a);
  CHECK(seen.size() == 8);
}

TEST_CASE("choose_winner: an evaluator that cannot compare leaves it to the times") {
  Match match({.measured = {1.0, 1.1, 1.2}, .truth = {1.5, 1.2, 1.3}, .able = false});
  CHECK(!match.choose());
  CHECK(match.search.evaluator().compared.size() <= 2);
  CHECK(match.search.best()->outcome.objective == 1.0);
}

TEST_CASE("choose_winner: a default that is not ok, and a finalist that is no longer") {
  // Without the default the best on its own is what the others are compared with.
  Match match({.measured = {1.0, 1.1, 1.2, 5.0}, .truth = {1.5, 1.2, 1.3, 5.0}, .broken = {3}}, 3);
  auto chosen = match.choose();
  REQUIRE(chosen);
  CHECK(match.point(chosen->winner) == 1);
  for (const FinalistPair& pair : chosen->pairs) CHECK(pair.opponent.has_value());

  Match broken({.measured = {1.0, 1.1, 1.2, 5.0}, .truth = {1.5, 1.2, 1.3, 5.0}, .broken = {1}}, 3);
  chosen = broken.choose();
  REQUIRE(chosen);
  CHECK(broken.point(chosen->winner) == 2);
}

TEST_CASE("choose_winner: a default that is faster than all the others wins") {
  Match match({.measured = {1.0, 1.1, 1.2, 5.0}, .truth = {1.5, 1.2, 1.3, 0.9}}, 3);
  const auto chosen = match.choose();
  REQUIRE(chosen);
  CHECK(match.point(chosen->winner) == 3);
  CHECK(chosen->winner_is_default);
}

TEST_CASE("choose_winner: a tie is the default's, where it was tried") {
  const auto winner = [](double default_truth, double width, std::set<std::uint32_t> broken = {}) {
    Match match({.measured = {1.0, 1.1, 1.2, 5.0},
                 .truth = {1.2, 1.0, 1.3, default_truth},
                 .broken = std::move(broken),
                 .width = width},
                3);
    const auto chosen = match.choose();
    REQUIRE(chosen);
    return match.point(chosen->winner);
  };
  CHECK(winner(1.02, 0.01) == 1);       // surely faster
  CHECK(winner(1.02, 0.03) == 3);       // perhaps
  CHECK(winner(1.02, 0.03, {3}) == 1);  // there is no default to give it to
}

TEST_CASE("choose_winner: what the validator objects to does not win by its pairs either") {
  Match match({.measured = {1.0, 1.1, 1.2, 5.0}, .truth = {1.5, 1.2, 1.3, 5.0}}, 3);
  match.steps.validate = [](const Candidate& candidate) -> std::optional<Evaluation> {
    if (candidate.config.indices[0] != 1) return std::nullopt;
    return Evaluation::failed(Verdict::crashed, "memcheck: a fault");
  };
  const auto chosen = match.choose();
  REQUIRE(chosen);
  CHECK(match.point(chosen->winner) == 2);
  CHECK(match.search.trials()[1].outcome.evaluation.reason == "memcheck: a fault");
}

TEST_CASE("choose_winner: a stop before the first pair leaves what is known") {
  Match match({.measured = {1.0, 1.1, 1.2}, .truth = {1.5, 1.2, 1.3}});
  std::stop_source stop;
  stop.request_stop();
  CHECK(!choose_winner(match.search, match.search.evaluator(), stop.get_token(), match.steps));
  CHECK(match.search.evaluator().compared.empty());
}
