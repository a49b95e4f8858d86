// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/tunable_effects.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/read_problem.hpp"

using namespace kernelsearch;

namespace {

Problem fill_problem(const std::string& tunables, const std::string& more = {}) {
  return parse_problem(
      R"({"schema": 1, "name": "fill", "function": "fill", "kernel": {"device": {"text": "f"}},
    "arguments": [{"name": "n", "type": "i32"}, {"name": "y", "type": "f32", "size": "n", "role": "out"}],
    "shapes": [{"n": 1000}], "tunables": {)" +
          tunables + "}" + more + "}",
      ".");
}

Speedup around(double ratio, double half) {
  return {ratio, {ratio - half, ratio + half}, 12};
}

/// Counts its calls; `speedup` says what a configuration gives.
struct Scripted {
  const Problem& problem;
  std::function<std::optional<Speedup>(const std::vector<std::int64_t>&)> speedup;
  std::size_t calls = 0;

  ComparePair compare() {
    return [this](const Candidate& candidate, const Candidate& champion) {
      ++calls;
      CHECK(champion.config == problem.kernel.space.default_config());
      std::vector<std::int64_t> values;
      for (const Value& value : candidate.kernel->space.values(candidate.config))
        values.push_back(std::get<std::int64_t>(value));
      return speedup(values);
    };
  }
};

}  // namespace

TEST_CASE("tunable effects: a tunable whose every value is as fast as the default is noted") {
  const Problem problem = fill_problem(R"("A": [1, 2, 4], "B": [1, 2, 4])");
  Scripted scripted{problem, [](const auto& v) { return around(v[1] == 4 ? 1.5 : 1.005, 0.01); }};
  const TunableEffects effects = measure_tunable_effects(problem, scripted.compare());
  REQUIRE(effects.findings.size() == 1);
  CHECK(effects.findings[0].severity == LintFinding::Severity::note);
  CHECK(effects.findings[0].what ==
        "tunable A changes nothing measured: its default 1 against its 2 other values gives 0.995 to 1.015 "
        "times the speed");
  CHECK(effects.left_out.empty());
  CHECK(scripted.calls == 3);  // the farthest value of B shows it
}

TEST_CASE("tunable effects: slower, faster, noisy and failing are effects") {
  const Problem problem = fill_problem(R"("A": [1, 2])");
  const auto noted = [&](std::function<std::optional<Speedup>(const std::vector<std::int64_t>&)> speedup) {
    Scripted scripted{problem, std::move(speedup)};
    return measure_tunable_effects(problem, scripted.compare()).findings.size();
  };
  CHECK(noted([](auto&&) { return around(1.0, 0.02); }) == 1);
  CHECK(noted([](auto&&) { return around(0.94, 0.01); }) == 0);
  CHECK(noted([](auto&&) { return around(1.06, 0.01); }) == 0);
  CHECK(noted([](auto&&) { return around(1.0, 0.1); }) == 0);
  CHECK(noted([](auto&&) { return std::optional<Speedup>(); }) == 0);
  CHECK(noted([](auto&&) -> std::optional<Speedup> {
          throw ConfigError("a candidate to compare is not ok");
        }) == 0);
}

TEST_CASE("tunable effects: only configurations that are valid are measured, none of those to skip") {
  const Problem problem = fill_problem(R"("A": [1, 2, 4], "B": [1, 2], "C": [1, 2])",
                                       R"(, "constraints": ["A <= 2"], "valid": "B < 2")");
  std::vector<std::vector<std::int64_t>> seen;
  Scripted scripted{problem, [&](const auto& v) {
                      seen.push_back(v);
                      return around(1, 0.001);
                    }};
  const TunableEffects effects = measure_tunable_effects(problem, scripted.compare(), {2});
  REQUIRE(seen.size() == 1);
  CHECK(seen[0] == std::vector<std::int64_t>{2, 1, 1});
  REQUIRE(effects.findings.size() == 1);  // B has nothing to compare with
  CHECK(effects.findings[0].what.find("tunable A ") == 0);
}

TEST_CASE("tunable effects: what the time does not reach is left out by name") {
  const Problem problem = fill_problem(R"("A": [1, 2], "B": [1, 2])");
  Scripted scripted{problem, [](auto&&) { return around(1, 0.001); }};
  const TunableEffects effects =
      measure_tunable_effects(problem, scripted.compare(), {}, {.margin = 0.03, .seconds = -1});
  CHECK(effects.findings.empty());
  CHECK(scripted.calls == 0);
  REQUIRE(effects.left_out.size() == 1);
  CHECK(effects.left_out[0].find("whether A, B change anything measured") == 0);
}
