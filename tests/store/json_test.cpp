// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/store/json.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <nlohmann/json.hpp>

#include "kernelsearch/core/error.hpp"
#include "support/random_outcome.hpp"

using namespace kernelsearch;
using nlohmann::json;

TEST_CASE("json: outcomes read back the same, whatever is in them") {
  Rng rng(1);
  for (int i = 0; i < 500; ++i) {
    const Outcome before = random_outcome::outcome(rng, rng() >> 1);
    const Outcome after = from_json_text<Outcome>(to_json_text(before));
    REQUIRE(random_outcome::same(before, after));
  }
}

TEST_CASE("json: numbers keep their last bit") {
  Rng rng(2);
  Measurement before;
  for (int i = 0; i < 20000; ++i) {
    const double value = std::bit_cast<double>(rng());
    if (std::isnan(value)) continue;
    before.seconds = value;
    const double after = from_json_text<Measurement>(to_json_text(before)).seconds;
    REQUIRE(std::bit_cast<std::uint64_t>(after) == std::bit_cast<std::uint64_t>(value));
  }
  before.seconds = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(from_json_text<Measurement>(to_json_text(before)).seconds));
}

TEST_CASE("json: the layout is the documented one") {
  Evaluation e = Evaluation::failed(Verdict::wrong_result, "off by one", 0.5);
  e.measurement.speedup = Speedup{2.0, {1.5, 2.5}, 7};
  e.features.set("registers", 32);
  CHECK(json(e) == json::parse(R"({"verdict":"wrong_result","progress":0.625,"reason":"off by one",
    "measurement":{"seconds":"Infinity","spread":0.0,"interval":[0.0,0.0],"shapes":[],
                   "speedup":{"ratio":2.0,"interval":[1.5,2.5],"pairs":7}},
    "features":{"registers":32.0},"phases":{"build":0.0,"check":0.0,"measure":0.0},
    "tuned_key":"","provenance":""})"));
  CHECK(to_json_text(Config{{0, 3, 1}}) == "[0,3,1]");
  const Move move{MoveKind::recombine, {TrialId{4}, TrialId{2}}, {"tile", "unroll"}, 3};
  CHECK(to_json_text(move) ==
        R"({"kind":"recombine","parents":[4,2],"strategies":["tile","unroll"],"variant":3})");
  CHECK(from_json_text<Move>(to_json_text(move)) == move);
  CHECK(from_json_text<Config>("[0,3,1]") == Config{{0, 3, 1}});
}

TEST_CASE("json: values of every kind keep their kind") {
  for (const Value& value : std::initializer_list<Value>{
           true, std::int64_t{-7}, 2.0, 0.1, std::string("a\"b"), Permutation{2, 0, 1}, std::string("")})
    CHECK(value_from_json(json::parse(json_text(value_to_json(value)))) == value);
}

TEST_CASE("json: bytes that are no UTF-8 are replaced, not thrown about") {
  Evaluation e = Evaluation::failed(Verdict::build_failed, std::string("bad \xff\xfe byte"));
  const Evaluation after = from_json_text<Evaluation>(to_json_text(e));
  CHECK(after.reason == "bad \xef\xbf\xbd\xef\xbf\xbd byte");
}

TEST_CASE("json: damaged text is a ConfigError, never a crash") {
  Rng rng(3);
  const std::string good = to_json_text(random_outcome::outcome(rng, 5));
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bad = good;
    const std::size_t at = rng.below(bad.size());
    if (rng.chance(0.5))
      bad.erase(at, 1 + rng.below(5));
    else
      bad[at] = static_cast<char>(rng.below(256));
    try {
      (void)from_json_text<Outcome>(bad);
    } catch (const ConfigError&) {
      ++refused;
    }
  }
  CHECK(refused > 1000);
  CHECK_THROWS_WITH_AS((void)from_json_text<Move>(R"({"kind":"roots"})"), doctest::Contains("kind"),
                       ConfigError);
  CHECK_THROWS_AS((void)from_json_text<Config>("[-1]"), ConfigError);
  CHECK_THROWS_AS((void)from_json_text<Config>("[4294967296]"), ConfigError);
  CHECK_THROWS_AS((void)parse_json("{", "it"), ConfigError);
}
