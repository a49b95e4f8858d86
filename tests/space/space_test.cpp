// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/space/space.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/space/space_builder.hpp"

using namespace kernelsearch;

namespace {

struct RandomSpace {
  std::vector<Tunable> tunables;
  std::vector<Constraint> constraints;
};

/// Up to six tunables of all kinds and up to five constraints, some of which fail to evaluate for some
/// points.
RandomSpace random_space(Rng& rng) {
  RandomSpace out;
  const std::vector<std::string> layouts{"row", "col", "tiled"};
  const std::size_t n = 1 + rng.below(6);
  for (std::size_t i = 0; i < n; ++i) {
    const std::string name = "t" + std::to_string(i);
    Tunable tunable;
    switch (rng.below(7)) {
      case 0:
        tunable = Tunable::boolean(name);
        break;
      case 1:
        tunable = Tunable::power_of_two(name, 1, std::int64_t{1} << rng.below(5));
        break;
      case 2:
        tunable = Tunable::integer(name, 0, static_cast<std::int64_t>(rng.below(6)));
        break;
      case 3:
        tunable = Tunable::integer(name, 6, 1, -1);
        break;
      case 4:
        tunable = Tunable::categorical(name, layouts);
        break;
      case 5:
        tunable = Tunable::floating(name, std::vector<double>{0.5, 1.0, 2.5});
        break;
      default:
        tunable = Tunable::integer(name, -2, 3);
        break;
    }
    tunable.default_index = rng.below(tunable.values.size());
    if (i > 0 && rng.chance(0.2)) {
      const std::string negated = rng.chance(0.5) ? "not " : "";
      tunable = tunable.when(negated + "t" + std::to_string(rng.below(i)));
    }
    out.tunables.push_back(tunable);
  }
  const auto name = [&] { return "t" + std::to_string(rng.below(n)); };
  const auto number = [&] { return std::to_string(rng.below(9)); };
  for (std::uint64_t count = rng.below(6); count > 0; --count) {
    const std::string a = name(), b = name(), c = name(), d = name();
    const std::string p = number(), q = number();
    switch (rng.below(12)) {
      case 0:
        out.constraints.emplace_back(a + " % " + b + " == 0");
        break;
      case 1:
        out.constraints.emplace_back(a + " * " + b + " * " + c + " <= " + p + q);
        break;
      case 2:
        out.constraints.emplace_back(p + " <= " + a + " + " + b + " < " + p + q);
        break;
      case 3:
        out.constraints.emplace_back(a + " == 'row' or " + b + " > " + p);
        break;
      case 4:
        out.constraints.emplace_back("not (" + a + " == 1 and " + b + " == 2 and " + c + " > 1)");
        break;
      case 5:
        out.constraints.emplace_back("(" + a + " / " + b + ") % " + c + " == 0");
        break;
      case 6:
        out.constraints.emplace_back(a + " != 1 or (" + b + " == 2 and " + c + " >= " + d + ")");
        break;
      case 7:
        out.constraints.emplace_back(a + (rng.chance(0.5) ? " not in " : " in ") + "[1, 2, 'col'] and " + b +
                                     " != " + c);
        break;
      case 8:
        out.constraints.emplace_back("min(" + a + ", " + b + ") + abs(" + c + ") <= " + p);
        break;
      case 9:
        out.constraints.emplace_back("(" + a + " if " + b + " else " + c + ") != " + d);
        break;
      case 10:
        out.constraints.emplace_back("(" + a + " + " + b + ") // 2 * " + c + " - " + d + " < " + p);
        break;
      default:
        out.constraints.emplace_back(std::vector<std::string>{a, b}, [](std::span<const Value> v) {
          return try_to_number(v[0]).value_or(0) + 2 * try_to_number(v[1]).value_or(0) > 1;
        });
        break;
    }
  }
  return out;
}

/// Every valid configuration, by trying all.
std::set<Config> brute_force(const std::vector<Tunable>& tunables,
                             const std::vector<Constraint>& constraints) {
  std::map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < tunables.size(); ++i) index[tunables[i].name] = i;
  const auto pick = [&](const std::vector<std::string>& names, const Config& config) {
    std::vector<Value> values;
    for (const std::string& name : names) {
      values.push_back(tunables[index.at(name)].values[config.indices[index.at(name)]]);
    }
    return values;
  };
  std::set<Config> valid;
  Config config;
  config.indices.assign(tunables.size(), 0);
  for (;;) {
    bool fine = true;
    for (const Constraint& constraint : constraints)
      fine = fine && constraint.holds(pick(constraint.names(), config));
    for (std::size_t i = 0; i < tunables.size(); ++i) {
      const auto& condition = tunables[i].active_if;
      if (!condition || config.indices[i] == tunables[i].default_index) continue;
      fine = fine && condition->try_test(pick(condition->names(), config)).value_or(false);
    }
    if (fine) valid.insert(config);
    std::size_t i = tunables.size();
    while (i > 0 && config.indices[i - 1] + 1 == tunables[i - 1].values.size()) config.indices[--i] = 0;
    if (i == 0) return valid;
    ++config.indices[i - 1];
  }
}

/// The rule of the checksum, written out bit by bit.
std::uint64_t slow_checksum(const Space& space, const std::set<Config>& valid) {
  std::uint64_t sum = 0;
  for (const Config& config : valid) {
    std::uint32_t crc = 0xFFFFFFFFU;
    for (const char c : space.key(config)) {
      crc ^= static_cast<unsigned char>(c);
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320U : 0U);
    }
    sum += ~crc;
  }
  return sum;
}

std::size_t distance(const Config& a, const Config& b) {
  std::size_t differing = 0;
  for (std::size_t i = 0; i < a.indices.size(); ++i) differing += a.indices[i] != b.indices[i] ? 1 : 0;
  return differing;
}

void check_against(const Space& space, const std::set<Config>& valid, Rng& rng) {
  REQUIRE(space.count() == BigCount(valid.size()));
  std::set<Config> visited;
  std::uint64_t next = 0;
  space.for_each([&](const Config& config) {
    CHECK(space.rank(config) == BigCount(next));
    CHECK(space.unrank(next) == config);
    ++next;
    visited.insert(config);
  });
  CHECK(visited == valid);
  CHECK(valid.count(space.default_config()) == 1);
  Config declared;
  for (std::size_t i = 0; i < space.size(); ++i) {
    declared.indices.push_back(static_cast<std::uint32_t>(space.tunable(i).default_index));
  }
  std::size_t nearest = space.size() + 1;
  for (const Config& config : valid) nearest = std::min(nearest, distance(config, declared));
  CHECK(distance(space.default_config(), declared) == nearest);
  for (int i = 0; i < 20; ++i) {
    Config any;
    for (std::size_t t = 0; t < space.size(); ++t) {
      any.indices.push_back(
          static_cast<std::uint32_t>(rng.below(space.tunable(t).values.size() + (i == 0 ? 1 : 0))));
    }
    CHECK(space.contains(any) == (valid.count(any) == 1));
    CHECK(space.contains(space.sample(rng)));
  }
  for (std::size_t t = 0; t < space.size(); ++t) {
    std::set<std::uint32_t> positions;
    for (const Config& config : valid) positions.insert(config.indices[t]);
    CHECK(std::equal(positions.begin(), positions.end(), space.usable(t).begin(), space.usable(t).end()));
  }
  const Config from = space.sample(rng);
  std::set<Config> hamming, adjacent;
  for (const Config& config : valid) {
    if (distance(config, from) != 1) continue;
    hamming.insert(config);
    for (std::size_t t = 0; t < space.size(); ++t) {
      const auto usable = space.usable(t);
      const auto a = std::find(usable.begin(), usable.end(), config.indices[t]) - usable.begin();
      const auto b = std::find(usable.begin(), usable.end(), from.indices[t]) - usable.begin();
      if (a - b == 1 || b - a == 1) adjacent.insert(config);
    }
  }
  const auto as_set = [](const std::vector<Config>& list) {
    return std::set<Config>(list.begin(), list.end());
  };
  CHECK(as_set(space.neighbours(from, Neighbourhood::hamming)) == hamming);
  CHECK(space.neighbours(from, Neighbourhood::hamming).size() == hamming.size());
  CHECK(as_set(space.neighbours(from, Neighbourhood::adjacent)) == adjacent);
}

}  // namespace

TEST_CASE("Space: random small spaces agree with trying every combination, in any order of declaration") {
  Rng rng(2024);
  int empty = 0, built = 0;
  for (int round = 0; round < 400; ++round) {
    RandomSpace random = random_space(rng);
    const std::set<Config> valid = brute_force(random.tunables, random.constraints);
    if (valid.empty()) {
      ++empty;
      CHECK_THROWS_AS((void)Space::build(random.tunables, random.constraints), ConfigError);
      continue;
    }
    ++built;
    const Space space = Space::build(random.tunables, random.constraints);
    CAPTURE(round);
    check_against(space, valid, rng);
    const std::uint64_t checksum = space.checksum();
    CHECK(checksum == slow_checksum(space, valid));

    rng.shuffle(random.constraints);
    CHECK(Space::build(random.tunables, random.constraints).checksum() == checksum);
    rng.shuffle(random.tunables);
    const Space shuffled = Space::build(random.tunables, random.constraints);
    CHECK(shuffled.count() == space.count());
  }
  CHECK(empty > 10);
  CHECK(built > 150);
}

TEST_CASE("Space: random spaces with larger domains, whose constraints are not tabulated") {
  // %a %b %c %d stand for tunables, %n for a number
  const std::vector<std::string> templates{
      "%a * %b * %c <= %n%n%n",
      "%a * %b + %c <= %n%n and %b != %d",
      "%n <= %a + %b - %c <= %n%n",
      "(%a * %b) % %c == 0",
      "(%a // %b) % %c == %d % 2",
      "%a % ((%b * %c) / %d) == 0",
      "(%a / %b + %c / %d) * 3 <= %n%n",
      "not (%a > %n and %b > %n and %c * %d > %n%n)",
      "%a == %n or %b * %c <= %n%n or %d == %n",
      "min(%a, %b) * max(%c, %d) < %n%n",
      "abs(%a - %b) <= %n and abs(%b - %c) <= %n%n",
      "(%a if %b > %c else %d * 2) <= %n%n",
      "(%a * %b if %c % 2 == 0 else %a + %b) > %n%n",
      "%a * %a + %b * %b == %c * %c or %d < %n",
      "(%a + 1) // (%b + 1) in [0, 1, %c]",
      "%a ** 2 + %b * %c < %n%n%n",
      "-%a + %b * %c - %d // 2 != %n",
      "%a % 3 == %b % 3 == %c % 3",
      "(%a < %b) + (%b < %c) + (%c < %d) >= 2",
      "(%a or %b) * %c <= %n%n and (%a and %d) < %n%n",
      "%a / 2 * %b % 1.5 <= %c // 2.0",
      "%a // (%b - %n) + %c < %d",
      "(%a == 1 and %b * %c < %n%n) or (%a != 1 and %b + %c == %d + %n)",
  };
  Rng rng(77);
  int built = 0;
  for (int round = 0; round < 120; ++round) {
    std::vector<Tunable> tunables;
    const std::size_t n = 3 + rng.below(2);
    for (std::size_t i = 0; i < n; ++i) {
      const auto first = static_cast<std::int64_t>(rng.below(3));
      tunables.push_back(Tunable::integer("t" + std::to_string(i), first, first + (n == 3 ? 24 : 11)));
    }
    std::vector<Constraint> constraints;
    for (std::uint64_t count = 1 + rng.below(3); count > 0; --count) {
      const std::string& shape = templates[rng.below(templates.size())];
      std::vector<std::string> names;
      for (std::size_t i = 0; i < 4; ++i) names.push_back("t" + std::to_string((i + rng.below(2)) % n));
      rng.shuffle(names);
      std::string text;
      for (std::size_t i = 0; i < shape.size(); ++i) {
        const char next = shape[i] == '%' && i + 1 < shape.size() ? shape[i + 1] : ' ';
        if (next == 'n')
          text += std::to_string(rng.below(9) + 1);
        else if (next >= 'a' && next <= 'd')
          text += names[static_cast<std::size_t>(next - 'a')];
        else {
          text += shape[i];
          continue;
        }
        ++i;
      }
      constraints.emplace_back(text);
      CAPTURE(text);
    }
    const std::set<Config> valid = brute_force(tunables, constraints);
    std::string texts;
    for (const Constraint& constraint : constraints) texts += constraint.text() + "; ";
    CAPTURE(texts);
    if (valid.empty()) {
      CHECK_THROWS_AS((void)Space::build(tunables, constraints), ConfigError);
      continue;
    }
    ++built;
    const Space space = Space::build(tunables, constraints);
    REQUIRE(space.count() == BigCount(valid.size()));
    std::set<Config> visited;
    space.for_each([&](const Config& config) { visited.insert(config); });
    REQUIRE(visited == valid);
    CHECK(space.checksum() == slow_checksum(space, valid));
    rng.shuffle(tunables);
    CHECK(Space::build(tunables, constraints).count() == space.count());
  }
  CHECK(built > 80);
}

TEST_CASE("Space: conditions with divisors that may be zero hold only where they can be evaluated") {
  const Space space = SpaceBuilder()
                          .add(Tunable::integer("a", 0, 40))
                          .add(Tunable::integer("b", 0, 40))
                          .add(Tunable::integer("c", 0, 40))
                          .require("c == 0 or (a * b) % c == 0")
                          .build();
  std::uint64_t expected = 0;
  for (int a = 0; a <= 40; ++a) {
    for (int b = 0; b <= 40; ++b) {
      for (int c = 0; c <= 40; ++c) expected += c == 0 || a * b % c == 0 ? 1 : 0;
    }
  }
  CHECK(space.count() == BigCount(expected));
}

TEST_CASE("Space: the limit on states ends a hopeless build with an error") {
  SpaceBuilder builder(SpaceOptions{.max_states = 1000});
  std::vector<std::string> names;
  for (int i = 0; i < 12; ++i) {
    names.push_back("t" + std::to_string(i));
    builder.add(Tunable::integer(names.back(), 0, 9));
  }
  builder.require(
      names, [](std::span<const Value> values) { return to_number(values[0]) < to_number(values[11]); },
      "mystery");
  CHECK_THROWS_WITH_AS((void)builder.build(), doctest::Contains("too entangled"), ConfigError);
  const Result<Space> tried = builder.try_build();
  REQUIRE_FALSE(tried);
  CHECK(tried.error().what.find("too entangled") != std::string::npos);
}

TEST_CASE("Space: the nearest valid configuration") {
  const Space space = SpaceBuilder()
                          .add(Tunable::integer("a", 1, 9).with_default(std::int64_t{9}))
                          .add(Tunable::integer("b", 1, 9).with_default(std::int64_t{9}))
                          .require("a * b <= 20")
                          .build();
  CHECK(space.key(space.default_config()) == "2,9");
  CHECK(space.key(space.nearest(Config{{4, 3}})) == "5,4");  // valid already
  CHECK(space.key(space.nearest(Config{{4, 4}})) == "4,5");
  CHECK_THROWS_AS((void)space.nearest(Config{{1}}), ConfigError);
}

TEST_CASE("Space: draws are uniform") {
  const Space space = SpaceBuilder()
                          .add(Tunable::integer("a", 1, 6))
                          .add(Tunable::integer("b", 1, 12))
                          .add(Tunable::integer("c", 0, 4))
                          .add(Tunable::boolean("d"))
                          .require("b % a == 0")
                          .require("a + c <= 7")
                          .build();
  const auto n = space.count().low();
  std::vector<double> hits(n, 0.0);
  Rng rng(99);
  const double draws = 200.0 * static_cast<double>(n);
  for (double i = 0; i < draws; i += 1) hits[space.rank(space.sample(rng)).low()] += 1;
  double chi2 = 0;
  for (const double h : hits) chi2 += (h - 200.0) * (h - 200.0) / 200.0;
  const double freedom = static_cast<double>(n) - 1;
  CHECK(std::abs(chi2 - freedom) < 4 * std::sqrt(2 * freedom));  // four standard deviations
}

TEST_CASE("Space: names, values and keys") {
  const std::vector<std::string> layouts{"row", "col"};
  const Space space = SpaceBuilder()
                          .add(Tunable::power_of_two("block", 32, 256).with_default(std::int64_t{64}))
                          .add(Tunable::categorical("layout", layouts))
                          .add(Tunable::floating("ratio", std::vector<double>{0.25, 1.0}))
                          .add(Tunable::permutation("order", 3))
                          .require("block <= 128 or layout == 'col'")
                          .build();
  CHECK(space.size() == 4);
  CHECK(space.find("layout") == 1);
  CHECK_FALSE(space.find("lay").has_value());
  CHECK(space.raw_count() == BigCount(4 * 2 * 2 * 6));
  CHECK(space.count() == BigCount(7 * 2 * 6));
  const Config config = space.default_config();
  CHECK(space.key(config) == "64,row,0.25,[0, 1, 2]");
  CHECK(space.value(config, 0) == Value{std::int64_t{64}});
  CHECK(space.config_of(space.values(config)) == config);
  CHECK(space.config_of(std::vector<Value>{64.0, std::string("col"), std::int64_t{1}, Permutation{2, 1, 0}})
            ->indices == std::vector<std::uint32_t>{1, 1, 1, 5});
  CHECK_FALSE(space.config_of(std::vector<Value>{std::int64_t{63}}).has_value());
  CHECK_FALSE(space.contains(Config{{3, 0, 0, 0}}));
  CHECK_FALSE(space.contains(Config{{0, 0, 0}}));
  CHECK(space.neighbours(Config{{3, 0, 0, 0}}, Neighbourhood::hamming).empty());
  CHECK_THROWS_AS((void)space.rank(Config{{3, 0, 0, 0}}), ConfigError);
  CHECK_THROWS_AS((void)space.unrank(space.count()), ConfigError);
  CHECK_THROWS_AS((void)space.value(Config{}, 0), ConfigError);
  // adjacent orders differ by one swap of a pair: three of them for three items
  std::size_t orders = 0;
  for (const Config& next : space.neighbours(config, Neighbourhood::adjacent)) {
    orders += next.indices[3] != config.indices[3] ? 1 : 0;
  }
  CHECK(orders == 3);
  CHECK(space.memory_bytes() > 100);
  CHECK(space.groups().size() == 3);
}

TEST_CASE("Space: a tunable that is not active does not multiply the count") {
  const Space space = SpaceBuilder()
                          .add(Tunable::boolean("use_shared"))
                          .add(Tunable::integer("padding", 0, 3).when("use_shared"))
                          .build();
  CHECK(space.count() == BigCount(5));
}

TEST_CASE("Space: counts beyond 64 bits are exact, and so are ranks and draws") {
  SpaceBuilder independent, chained;
  for (int i = 0; i < 40; ++i) independent.add(Tunable::integer("t" + std::to_string(i), 1, 1000));
  const Space wide = independent.build();
  CHECK(wide.count().to_string() == "1" + std::string(120, '0'));
  for (int i = 0; i < 30; ++i) chained.add(Tunable::integer("t" + std::to_string(i), 0, 9));
  for (int i = 0; i + 1 < 30; ++i)
    chained.require("t" + std::to_string(i) + " + t" + std::to_string(i + 1) + " <= 12");
  const Space chain = chained.build();  // one group
  CHECK(chain.groups().size() == 1);
  CHECK_FALSE(chain.count().fits_u64());
  Rng rng(4);
  for (const Space& space : {wide, chain}) {
    for (int i = 0; i < 50; ++i) {
      const Config config = space.sample(rng);
      CHECK(space.contains(config));
      CHECK(space.unrank(space.rank(config)) == config);
      const BigCount rank = BigCount::draw_below(rng, space.count());
      CHECK(space.rank(space.unrank(rank)) == rank);
    }
  }
}

TEST_CASE("Space: mistakes are named") {
  const auto block = Tunable::power_of_two("block", 32, 256);
  const auto message = [](std::vector<Tunable> tunables, std::vector<Constraint> constraints) -> std::string {
    const Result<Space> tried = Space::try_build(tunables, constraints);
    try {
      (void)Space::build(std::move(tunables), std::move(constraints));
    } catch (const ConfigError& error) {
      REQUIRE_FALSE(tried);
      CHECK(tried.error().text() == error.what());
      return error.what();
    }
    REQUIRE(tried);
    return "no error";
  };
  CHECK(message({block}, {"blok <= 64"}).find("did you mean \"block\"?") != std::string::npos);
  CHECK(message({block, block}, {}).find("same name: block") != std::string::npos);
  CHECK(message({Tunable{"x", TunableKind::integer, {}}}, {}).find("no values: x") != std::string::npos);
  CHECK(message({Tunable::integers("x", std::vector<std::int64_t>{1, 2, 1})}, {}).find("twice: x = 1") !=
        std::string::npos);
  CHECK(message({block, Tunable::integer("tile", 1, 8)},
                {"block >= 64", "block * tile <= 1024", "tile > 4", "block % tile == 1", "tile > 1"})
            .find("`block % tile == 1`") == std::string::npos);
  CHECK(message({block, Tunable::integer("tile", 1, 8)}, {"tile > 4", "block * tile < 100", "tile > 1"})
            .find("`block * tile < 100` leaves none") != std::string::npos);
  CHECK(message({block}, {"block / 0 > 1"}).find("`block / 0 > 1`") != std::string::npos);
  CHECK(message({block}, {"block >= 64"}) == "no error");
  CHECK_THROWS_AS((void)Tunable::integer("x", 3, 1), ConfigError);
  CHECK_THROWS_AS((void)Tunable::power_of_two("x", 3, 8), ConfigError);
  CHECK_THROWS_AS((void)block.with_default(std::int64_t{48}), ConfigError);
  CHECK_THROWS_AS((void)Tunable::permutation("x", 9), ConfigError);
}

TEST_CASE("space: one made from a list has exactly what was listed and answers like one that was built") {
  Rng rng(77);
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    const RandomSpace given = random_space(rng);
    std::optional<Space> built;
    try {
      built = Space::build(given.tunables, given.constraints);
    } catch (const ConfigError&) {
      continue;  // nothing valid
    }
    std::vector<Config> configs;
    built->for_each([&](const Config& config) {
      configs.push_back(config);
      if (rng.chance(0.1)) configs.push_back(config);  // said twice, counted once
    });
    std::reverse(configs.begin(), configs.end());
    const Space listed = Space::listed(given.tunables, configs, given.constraints);
    CHECK(listed.count() == built->count());
    CHECK(listed.raw_count() == built->raw_count());
    CHECK(listed.checksum() == built->checksum());
    CHECK(listed.default_config() == built->default_config());
    std::set<Config> all(configs.begin(), configs.end()), visited;
    listed.for_each([&](const Config& config) { visited.insert(config); });
    CHECK(visited == all);
    for (int i = 0; i < 5; ++i) {
      const Config config = built->sample(rng);
      CHECK(listed.contains(config));
      CHECK(listed.unrank(listed.rank(config)) == config);
      for (const Neighbourhood neighbourhood : {Neighbourhood::hamming, Neighbourhood::adjacent})
        CHECK(listed.neighbours(config, neighbourhood) == built->neighbours(config, neighbourhood));
    }
    for (std::size_t i = 0; i < listed.size(); ++i)
      CHECK(std::equal(listed.usable(i).begin(), listed.usable(i).end(), built->usable(i).begin(),
                       built->usable(i).end()));
    // The list is a constraint as well, for those who look at constraints only.
    if (listed.count() != listed.raw_count()) {
      const Constraint& last = listed.constraints().back();
      CHECK(last.text() == "one of the listed configurations");
      CHECK(last.holds(listed.values(configs.front())));
      for (int i = 0; i < 20; ++i) {
        Config any;
        for (const Tunable& t : listed.tunables())
          any.indices.push_back(static_cast<std::uint32_t>(rng.below(t.values.size())));
        CHECK(last.holds(listed.values(any)) == (all.count(any) > 0));
        CHECK(listed.contains(any) == (all.count(any) > 0));
      }
    }
  }
}

TEST_CASE("space: a list must hold something, and what fits") {
  const std::vector<Tunable> two{Tunable::integer("a", 0, 1), Tunable::integer("b", 0, 2)};
  CHECK_THROWS_AS((void)Space::listed(two, {}), ConfigError);
  CHECK_THROWS_AS((void)Space::listed(two, {Config{{0}}}), ConfigError);
  CHECK_THROWS_AS((void)Space::listed(two, {Config{{0, 3}}}), ConfigError);
  const Space single = Space::listed(two, {Config{{1, 2}}});
  CHECK(single.count() == BigCount(1));
  CHECK(single.default_config() == Config{{1, 2}});
  CHECK_FALSE(single.contains(Config{{1, 1}}));
}

TEST_CASE("space: `not in` keeps what is not in the list") {
  const auto values = [](const char* constraint) {
    const Space space =
        Space::build({Tunable::integer("c", 1, 6), Tunable::integer("d", 0, 1)}, {constraint});
    std::string text;
    for (const std::uint32_t at : space.usable(0)) text += to_string(space.tunable(0).values[at]);
    return text;
  };
  CHECK(values("c not in [2, 5]") == "1346");
  CHECK(values("not (c not in [2, 5])") == "25");
  CHECK(values("not (c in [2, 5])") == "1346");
  CHECK(values("c not in [2, 5] or c == 7") == "1346");
  CHECK(values("c not in [2, 5, d] and d == 1") == "346");
}

TEST_CASE("Space: with another default everything else is the same") {
  const Space space = SpaceBuilder()
                          .add(Tunable::integer("x", 0, 4))
                          .add(Tunable::integer("y", 0, 4))
                          .require("(x + y) % 2 == 0")
                          .build();
  const Config other{{3, 1}};
  const Space changed = space.with_default(other);
  CHECK(changed.default_config() == other);
  CHECK(changed.tunable(0).default_index == 3);
  CHECK(changed.count() == space.count());
  CHECK(changed.checksum() == space.checksum());
  CHECK(changed.unrank(BigCount(7)) == space.unrank(BigCount(7)));
  CHECK(space.default_config() == Config{{0, 0}});
  CHECK_THROWS_WITH_AS(static_cast<void>(space.with_default(Config{{3, 2}})), doctest::Contains("3,2"),
                       ConfigError);
  CHECK_THROWS_AS(static_cast<void>(space.with_default(Config{{3}})), ConfigError);
}

TEST_CASE("Space: a value by the tunable's name, and the nearest name where there is none") {
  const Space space =
      SpaceBuilder().add(Tunable::power_of_two("block", 32, 128)).add(Tunable::integer("tile", 1, 8)).build();
  const Config config{{1, 4}};
  CHECK(space.value(config, "block") == Value{std::int64_t{64}});
  CHECK(space.value(config, "tile") == Value{std::int64_t{5}});
  CHECK_THROWS_WITH_AS((void)space.value(config, "blok"), doctest::Contains("did you mean block?"),
                       ConfigError);
  CHECK_THROWS_WITH_AS((void)space.value(config, "warps"), doctest::Contains("it has: block, tile"),
                       ConfigError);
}
