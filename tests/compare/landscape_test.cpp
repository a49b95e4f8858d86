// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/compare/landscape.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/space/space_builder.hpp"

using namespace kernelsearch;

TEST_CASE("Landscape: ranks from the worst, failures have none, equals share the better rank") {
  const Landscape space("s", {{"a", 3.0}, {"b", INFINITY}, {"c", 1.0}, {"d", 2.0}, {"e", 2.0}, {"f", -1.0}});
  CHECK(space.size() == 6);
  CHECK(space.valid() == 4);
  CHECK(space.best() == 1.0);
  CHECK(space.median() == 2.0);
  CHECK(space.rank(3.0) == 0);
  CHECK(space.rank(2.0) == 2);
  CHECK(space.rank(1.0) == 3);
  CHECK(space.rank(INFINITY) == 0);
  CHECK(space.at_rank(0) == 3.0);
  CHECK(space.at_rank(3) == 1.0);
  CHECK(space.find("d") == 3u);
  CHECK_FALSE(space.find("x"));
  CHECK(space.key(2) == "c");
  CHECK(std::isinf(space.objective(5)));
}

TEST_CASE("Landscape: random search needs longer where fewer are good") {
  std::vector<LandscapePoint> points;
  for (int i = 0; i < 100; ++i) points.push_back({std::to_string(i), 2.0 + i});
  const Landscape easy("easy", points);
  // Good enough is 2 + 0.05 * 49.5: the best 3 of 100, the first of which has rank 97: ceil(97 / 4).
  CHECK(easy.budget() == 25);
  points.front().objective = 1.0;
  for (std::size_t i = 1; i < points.size(); ++i) points[i].objective = 50.0 + static_cast<double>(i);
  CHECK(Landscape("hard", points).budget() == 50);  // one of 100: ceil(99 / 2)
  // The expected rank after M of N draws is M (N + 1) / (M + 1), rounded.
  CHECK(easy.baseline(1) == easy.at_rank(50));
  CHECK(easy.baseline(3) == easy.at_rank(76));
  CHECK(easy.baseline(100000) == 2.0);
}

TEST_CASE("Landscape: of a recording, by the keys of its space") {
  Recording recording{"r", "k", "d", "", SpaceBuilder().add(Tunable::integer("x", 1, 3)).build(), {}};
  for (std::uint32_t i = 0; i < 3; ++i)
    recording.trials.push_back(
        {Config{{i}},
         i == 1 ? Evaluation::failed(Verdict::crashed, "out of memory") : Evaluation::succeeded(0.5 + i),
         ""});
  const Landscape space(recording);
  CHECK(space.name() == "r");
  CHECK(space.size() == 3);
  CHECK(space.valid() == 2);
  CHECK(space.find("3") == 2u);
  CHECK(space.best() == 0.5);
}

TEST_CASE("Landscape: nothing valid and repeated keys are errors") {
  CHECK_THROWS_WITH_AS(Landscape("s", {{"a", INFINITY}}), doctest::Contains("nothing valid"), ConfigError);
  CHECK_THROWS_WITH_AS(Landscape("s", {{"a", 1.0}, {"a", 2.0}}), doctest::Contains("twice"), ConfigError);
}
