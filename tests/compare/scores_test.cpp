// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/compare/scores.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../../src/compare/isotonic.hpp"
#include "../../src/compare/quantile.hpp"
#include "kernelsearch/core/error.hpp"
#include "support/approx.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct SpaceCase {
  std::string name;
  std::vector<double> objectives;
};
struct ScoreCase {
  std::string strategy, space;  ///< without a space: the mean
  std::vector<double> areas, ratios;
  std::vector<double> rest;  ///< n5, n1, the shares that reached them, milliseconds
  std::uint64_t budget, range;
  double median_length;
  bool truncated, stopped_early;
};
struct IsotonicCase {
  std::vector<double> y, weights, fitted;
};

// Figures of the reference scorer, computed once.
#include "score_cases.inc"

std::vector<Landscape> landscapes() {
  std::vector<Landscape> all;
  for (const SpaceCase& space : space_cases) {
    std::vector<LandscapePoint> points;
    for (std::size_t i = 0; i < space.objectives.size(); ++i)
      points.push_back({"k" + std::to_string(i), space.objectives[i]});
    all.emplace_back(space.name, std::move(points));
  }
  return all;
}

void check_equal(const Scores& scores, const ScoreCase& expected) {
  INFO(expected.strategy, " on ", expected.space);
  const auto same = [](double a, double b) { return std::isinf(b) ? a == b : std::abs(a - b) <= 1e-9; };
  for (std::size_t h = 0; h < area_names.size(); ++h) {
    INFO(std::string(area_names[h]), ": ", scores.areas[h].value, " for ", expected.areas[h]);
    CHECK(same(scores.areas[h].value, expected.areas[h]));
  }
  for (std::size_t k = 0; k < scores.ratios.size(); ++k) CHECK(same(scores.ratios[k], expected.ratios[k]));
  CHECK(same(scores.n5, expected.rest[0]));
  CHECK(same(scores.n1, expected.rest[1]));
  CHECK(same(scores.n5_reached, expected.rest[2]));
  CHECK(same(scores.n1_reached, expected.rest[3]));
  REQUIRE(scores.policy_ms_per_evaluation);
  CHECK(same(*scores.policy_ms_per_evaluation, expected.rest[4]));
}

}  // namespace

TEST_CASE("score: the figures of the reference scorer, also where repeats end at different evaluations") {
  const std::vector<Landscape> spaces = landscapes();
  const std::vector<PolicyScores> scores = score(spaces, trace_cases, {.bootstrap = 0});
  REQUIRE(scores.size() == 3);
  std::size_t seen = 0;
  for (const ScoreCase& expected : score_cases)
    for (const PolicyScores& policy : scores) {
      if (policy.strategy != expected.strategy) continue;
      if (expected.space.empty()) {
        check_equal(policy, expected);
        ++seen;
        continue;
      }
      for (const SpaceScores& s : policy.spaces) {
        if (s.space != expected.space) continue;
        check_equal(s, expected);
        CHECK(s.budget == expected.budget);
        CHECK(s.range == expected.range);
        CHECK(s.median_length == expected.median_length);
        CHECK(s.truncated == expected.truncated);
        CHECK(s.stopped_early == expected.stopped_early);
        CHECK_FALSE(s.areas[0].interval);
        ++seen;
      }
    }
  CHECK(seen == score_cases.size());
}

TEST_CASE("score: intervals hold the score, are the same for a seed, and are narrow where repeats agree") {
  const std::vector<Landscape> spaces = landscapes();
  const auto scores = score(spaces, trace_cases, {.bootstrap = 200, .seed = 3});
  const auto again = score(spaces, trace_cases, {.bootstrap = 200, .seed = 3});
  for (std::size_t p = 0; p < scores.size(); ++p) {
    const AreaScore& area = scores[p].areas[1];
    REQUIRE(area.interval);
    CHECK(area.interval->low < area.interval->high);
    CHECK(area.interval->low <= area.value);
    CHECK(area.interval->high >= area.value);
    CHECK(*area.interval == *again[p].areas[1].interval);
  }
  std::vector<Trace> equal(6, trace_cases.front());
  for (std::size_t r = 0; r < equal.size(); ++r) equal[r].repeat = r;
  const auto sure = score(spaces, equal, {.bootstrap = 50});
  CHECK(sure.front().areas[0].interval->low == approx(sure.front().areas[0].value));
  CHECK(sure.front().areas[0].interval->high == approx(sure.front().areas[0].value));
}

TEST_CASE("area_scores: a repeat alone scores as a policy with that one repeat") {
  const std::vector<Landscape> spaces = landscapes();
  for (const Trace& trace : trace_cases)
    for (const Landscape& space : spaces) {
      if (space.name() != trace.space) continue;
      const auto areas = area_scores(space, trace);
      const auto whole = score(spaces, std::vector<Trace>{trace}, {.bootstrap = 0});
      for (std::size_t h = 0; h < areas.size(); ++h) CHECK(areas[h] == whole.front().areas[h].value);
    }
}

TEST_CASE("score: an empty trace is as bad as can be, a trace of an unknown space an error") {
  const std::vector<Landscape> spaces = landscapes();
  const auto none = score(spaces, std::vector<Trace>{{spaces[0].name(), "none", 0}}, {.bootstrap = 10});
  CHECK(none.front().areas[0].value < -0.5);
  CHECK(none.front().n5 == infinity);
  CHECK(none.front().ratios[0] == 0.0);
  CHECK_FALSE(none.front().policy_ms_per_evaluation);
  CHECK_THROWS_WITH_AS(static_cast<void>(score(spaces, std::vector<Trace>{{"elsewhere", "none", 0}})),
                       doctest::Contains("elsewhere"), ConfigError);
}

TEST_CASE("isotonic regression: SciPy's, to the last bit") {
  for (const IsotonicCase& c : isotonic_cases) {
    std::vector<double> y = c.y;
    comparing::isotonic_regression(y, c.weights);
    CHECK(y == c.fitted);
  }
}

TEST_CASE("quantiles: between the values, and infinity stays infinity") {
  CHECK(comparing::sorted_quantile({1, 2, 4}, 0.25) == 1.5);
  CHECK(comparing::sorted_quantile({1, 2, 4}, 1.0) == 4);
  CHECK(comparing::median({4, 1, 2}) == 2);
  CHECK(comparing::median({4, 1, 2, 3}) == 2.5);
  CHECK(comparing::median({infinity, 1, infinity}) == infinity);
  CHECK(comparing::median({infinity, infinity, 1, infinity}) == infinity);
  CHECK(comparing::median({infinity, 1}) == infinity);
}
