// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/runtime/plan.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "support/approx.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

using Shape = std::vector<std::pair<std::string, Value>>;

Shape n(std::int64_t size) {
  return {{"n", size}};
}

PlanEntry entry(std::int64_t size, std::int64_t tile, double low, std::uint32_t pairs = 30) {
  PlanEntry made;
  made.shape = n(size);
  made.values = {{"TILE", tile}, {"FAST", true}};
  made.seconds = 0.5;
  made.over_default = Speedup{low + 0.1, {low, low + 0.2}, pairs};
  made.trial = static_cast<std::uint64_t>(tile);
  made.toolchain = "g++ 12";
  return made;
}

ProblemPlan part(std::vector<PlanEntry> entries, std::vector<PlanEntry> kept = {}) {
  ProblemPlan made;
  made.problem = "matmul";
  made.problem_digest = "p1";
  made.kernel_digest = "k1";
  made.backend = "host";
  made.device = "cpu";
  made.cache = "warm";
  made.default_values = {{"TILE", std::int64_t{1}}, {"FAST", false}};
  made.entries = std::move(entries);
  made.default_kept = std::move(kept);
  return made;
}

std::int64_t tile_of(const std::optional<Settings>& settings) {
  return settings ? settings->integer("TILE") : -1;
}

std::int64_t tile_of(const Plan& plan, std::int64_t size) {
  return tile_of(plan.best_for("matmul", "cpu", n(size)));
}

std::string refusal(const std::string& text) {
  try {
    (void)Plan::parse(text, "f");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

}  // namespace

TEST_CASE("Plan: the file, which is read by people too") {
  PlanEntry kept = entry(64, 4, 0.9);
  const Plan plan({part({entry(512, 8, 1.5), entry(256, 2, 1.25)}, {kept})});
  CHECK(plan.text() == R"({
  "plan_format": 1,
  "plans": [
    {
      "problem": "matmul",
      "problem_digest": "p1",
      "kernel_digest": "k1",
      "backend": "host",
      "device": "cpu",
      "cache": "warm",
      "never_worse": true,
      "nearest_shape": {"distance":"log2","max_distance":2.0,"ties":"default, then better proven"},
      "default": {"TILE":1,"FAST":false},
      "entries": [
        {"shape":{"n":256},"settings":{"TILE":2,"FAST":true},"over_default":{"ratio":1.35,"interval":[1.25,1.45],"pairs":30},"seconds":0.5,"trial":2,"toolchain":"g++ 12"},
        {"shape":{"n":512},"settings":{"TILE":8,"FAST":true},"over_default":{"ratio":1.6,"interval":[1.5,1.7],"pairs":30},"seconds":0.5,"trial":8,"toolchain":"g++ 12"}
      ],
      "default_kept": [
        {"shape":{"n":64},"settings":{"TILE":4,"FAST":true},"over_default":{"ratio":1.0,"interval":[0.9,1.1],"pairs":30},"seconds":0.5,"trial":4,"toolchain":"g++ 12"}
      ]
    }
  ]
}
)");
  CHECK(Plan::parse(plan.text(), "f").text() == plan.text());
  CHECK(Plan().text() == "{\n  \"plan_format\": 1,\n  \"plans\": []\n}\n");
  CHECK(Plan::parse(Plan().text(), "f").parts().empty());
  // Of whatever order the entries come in.
  CHECK(Plan({part({entry(256, 2, 1.25), entry(512, 8, 1.5)}, {kept})}).text() == plan.text());
}

TEST_CASE(
    "Plan: the nearest measured shape decides, and where the default stays there the answer is nothing") {
  const Plan plan({part({entry(512, 8, 1.5)}, {entry(128, 4, 0.9)})});
  CHECK(tile_of(plan, 512) == 8);
  CHECK(tile_of(plan, 600) == 8);
  CHECK(tile_of(plan, 2048) == 8);
  CHECK(tile_of(plan, 2049) == -1);  // farther than two doublings
  CHECK(tile_of(plan, 128) == -1);
  CHECK(tile_of(plan, 160) == -1);  // within two doublings of 512, but nearer to where the default stays
  CHECK(tile_of(plan, 256) == -1);  // equally near to both
  CHECK(tile_of(plan, 257) == 8);
  CHECK_FALSE(plan.best_for("conv", "cpu", n(512)));
  CHECK_FALSE(plan.best_for("matmul", "other cpu", n(512)));
  CHECK(tile_of(plan.best_for("matmul", "cpu, 2 cores", n(512))) == 8);
  CHECK(tile_of(plan.best_for("matmul", "cpu", n(512), "k1")) == 8);
  CHECK_FALSE(plan.best_for("matmul", "cpu", n(512), "k2"));
  const auto best = plan.best_for("matmul", "cpu", n(512));
  REQUIRE(best);
  CHECK(best->speedup == approx(1.6));
  CHECK(best->speedup_interval == Interval{1.5, 1.7});
  CHECK(best->source == "plan, trial 8");
  ProblemPlan exact = part({entry(512, 8, 1.5)});
  exact.max_distance = 0.0;
  CHECK(tile_of(Plan({exact}), 512) == 8);
  CHECK(tile_of(Plan({exact}), 513) == -1);
}

TEST_CASE("Plan: of equally near shapes the better proven counts, and several kernels must be told apart") {
  const Plan tie({part({entry(512, 8, 1.5), entry(128, 4, 1.75)})});
  CHECK(tile_of(tie, 256) == 4);
  ProblemPlan other = part({entry(512, 16, 2.0)});
  other.kernel_digest = "k2";
  const Plan two({part({entry(512, 8, 1.5)}), other});
  CHECK(tile_of(two.best_for("matmul", "cpu", n(512), "k1")) == 8);
  CHECK(tile_of(two.best_for("matmul", "cpu", n(512), "k2")) == 16);
  CHECK_THROWS_WITH_AS((void)two.best_for("matmul", "cpu", n(512)), doctest::Contains("several kernels"),
                       ConfigError);
}

TEST_CASE("Plan: saved and loaded; a file that is not there is empty, a damaged one is refused") {
  const TemporaryFolder folder;
  const auto file = folder / "plan.json";
  CHECK(Plan::load(file).parts().empty());
  const Plan plan({part({entry(512, 8, 1.5)})});
  plan.save(file);
  CHECK(Plan::load(file).text() == plan.text());
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) ==
        1);  // nothing is left beside
  CHECK_THROWS_AS(plan.save(folder / "no/such/folder.json"), ConfigError);
  CHECK_THROWS_AS((void)Plan::load(folder.path()), ConfigError);
  std::ofstream(file) << "{";
  CHECK_THROWS_WITH_AS((void)Plan::load(file), doctest::Contains("plan.json"), ConfigError);
  CHECK_THROWS_WITH_AS(Plan({part({entry(512, 8, 1.5)}, {entry(512, 8, 0.5)})}),
                       doctest::Contains("shape twice"), ConfigError);
  ProblemPlan nameless = part({});
  nameless.device = "";
  CHECK_THROWS_AS(Plan({nameless}), ConfigError);
}

TEST_CASE("Plan: refusals say what and where") {
  const std::string good = Plan({part({entry(512, 8, 1.5)})}).text();
  CHECK(refusal(good).empty());
  const auto with = [&](const char* what, const char* by) { return refusal(replaced(good, what, by)); };
  CHECK(with("\"plan_format\": 1", "\"plan_format\": 2").find("plan_format 2 is not known") !=
        std::string::npos);
  CHECK(with("\"log2\"", "\"l1\"").find("plans[0]: its rules for the nearest shape") != std::string::npos);
  CHECK(with("[1.5,1.7]", "[0.9,1.7]").find("entries[0]: not above 1 over the default") != std::string::npos);
  CHECK(with("[1.5,1.7]", "[1.7,1.5]").find("must be ascending") != std::string::npos);
  CHECK(with("[1.5,1.7]", "[1.5]").find("two numbers") != std::string::npos);
  CHECK(with("\"pairs\":30", "\"pairs\":-1").find("must be a count") != std::string::npos);
  CHECK(with("\"pairs\":30", "\"pairs\":4294967297").find("must be a count") != std::string::npos);
  CHECK(with("\"trial\":8", "\"trial\":-8").find("\"trial\"") != std::string::npos);
  CHECK(with("\"device\": \"cpu\"", "\"device\": \"\"").find("\"device\" is empty") != std::string::npos);
  CHECK(with("\"device\": \"cpu\",", "").find("device") != std::string::npos);
  CHECK(with("\"max_distance\":2.0", "\"max_distance\":-1").find("max_distance") != std::string::npos);
  CHECK(refusal("[]").find("f: ") != std::string::npos);
  // What is not proven may stand in a plan that does not say that it is.
  CHECK(refusal(replaced(replaced(good, "[1.5,1.7]", "[0.9,1.7]"), "\"never_worse\": true",
                         "\"never_worse\": false"))
            .empty());
}

TEST_CASE("Plan: no text crashes it, and what is read is written the same") {
  const std::string good = Plan({part({entry(512, 8, 1.5)}, {entry(64, 2, 0.9)})}).text();
  Rng rng(5);
  for (int i = 0; i < 3000; ++i) {
    std::string bad = good;
    for (int k = 0; k < 1 + i % 3; ++k) bad[rng.below(bad.size())] = static_cast<char>(rng.below(256));
    try {
      const std::string once = Plan::parse(bad, "f").text();
      CHECK(Plan::parse(once, "f").text() == once);
    } catch (const ConfigError&) {
    }
  }
}

TEST_CASE("merge_plans: the better proven wins, is said, and the order does not matter") {
  using Named = std::pair<std::string, Plan>;
  const Named a{"a", Plan({part({entry(512, 8, 1.5), entry(256, 2, 1.25)})})};
  ProblemPlan shorter = part({entry(512, 16, 1.75)}, {entry(64, 4, 0.9)});
  shorter.max_distance = 1.0;
  const Named b{"b", Plan({shorter})};
  ProblemPlan elsewhere = part({entry(512, 32, 3.0)});
  elsewhere.device = "gpu";
  const Named c{"c", Plan({elsewhere})};
  const std::vector<Named> one{a, b, c}, other{c, b, a};
  const MergedPlans merged = merge_plans(one);
  CHECK(tile_of(merged.plan, 512) == 16);
  CHECK(tile_of(merged.plan, 256) == 2);
  CHECK(tile_of(merged.plan, 64) == -1);
  CHECK(tile_of(merged.plan, 100) == -1);
  CHECK(tile_of(merged.plan.best_for("matmul", "gpu", n(512))) == 32);
  CHECK(merged.plan.parts().front().max_distance == 1.0);
  CHECK(merged.plan.parts().front().never_worse);
  REQUIRE(merged.notes.size() == 1);
  CHECK(merged.notes[0] ==
        "matmul on cpu, n=512: TILE=16 FAST=true (1.850x of it, at least 1.750x, 30 pairs) of b rather than "
        "TILE=8 "
        "FAST=true (1.600x of it, at least 1.500x, 30 pairs) of a");
  CHECK(merge_plans(other).plan.text() == merged.plan.text());
  const std::vector<Named> same{a, a};
  CHECK(merge_plans(same).plan.text() == a.second.text());
  CHECK(merge_plans(same).notes.empty());
  CHECK(merge_plans({}).plan.parts().empty());
}

TEST_CASE("merge_plans: what one plan found faster than the default and another did not") {
  using Named = std::pair<std::string, Plan>;
  const auto merged = [](PlanEntry faster, PlanEntry not_faster) {
    const bool proven = faster.proven();
    ProblemPlan first = part({std::move(faster)});
    first.never_worse = proven;
    const std::vector<Named> plans{{"a", Plan({first})}, {"b", Plan({part({}, {std::move(not_faster)})})}};
    const std::vector<Named> turned{plans[1], plans[0]};
    const MergedPlans result = merge_plans(plans);
    CHECK(merge_plans(turned).plan.text() == result.plan.text());
    CHECK(result.notes.size() == 1);
    CHECK(result.plan.parts().front().never_worse);
    return tile_of(result.plan, 512);
  };
  // The same settings: more pairs decide, and of equally many the default.
  CHECK(merged(entry(512, 8, 1.01, 40), entry(512, 8, 0.99, 30)) == 8);
  CHECK(merged(entry(512, 8, 1.01, 30), entry(512, 8, 0.99, 30)) == -1);
  CHECK(merged(entry(512, 8, 1.01, 20), entry(512, 8, 0.99, 30)) == -1);
  // Others: that some are not faster says nothing of those that are.
  CHECK(merged(entry(512, 8, 1.01, 20), entry(512, 4, 0.99, 30)) == 8);
  PlanEntry unpaired = entry(512, 8, 1.01);
  unpaired.over_default.reset();
  CHECK(merged(unpaired, entry(512, 4, 0.99, 30)) == -1);
}
