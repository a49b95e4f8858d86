// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/strategy.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "kernelsearch/core/error.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

namespace {

std::string file_with_strategy(const std::string& strategy) {
  return R"({"schema": 1, "name": "x", "backends": ["host"], "strategies": [)" + strategy + "]}";
}

}  // namespace

TEST_CASE("strategies: KernelBand's set is there for GPUs, with what it relieves") {
  for (const char* backend : {"cuda", "hip"}) {
    const auto strategies = read_strategies(backend);
    const auto names = strategy_names(strategies);
    for (const char* name :
         {"tiling", "vectorization", "fusion", "access_layout", "pipelining", "reordering"})
      CHECK(std::find(names.begin(), names.end(), name) != names.end());
    const auto targets = strategy_targets(strategies);
    const auto target = [&](const std::string& name) {
      for (const StrategyTarget& one : targets)
        if (one.strategy == name) return one.feature;
      return std::string();
    };
    CHECK(target("tiling") == "l2_utilisation");
    CHECK(target("fusion") == "dram_utilisation");
    CHECK(target("pipelining") == "sm_utilisation");
  }
  CHECK(read_strategies("host").size() >= 6);
  CHECK(read_strategies("").size() == read_strategies("host").size() + read_strategies("cuda").size());
}

TEST_CASE("strategies: a condition decides only where its features are known") {
  const auto all = read_strategies("cuda");
  const auto layout =
      std::find_if(all.begin(), all.end(), [](const Strategy& one) { return one.name == "access_layout"; });
  REQUIRE(layout != all.end());
  Features features;
  CHECK(layout->applies(features));
  features.set("coalescing", 100);
  CHECK(layout->applies(features));  // bank conflicts are not known
  features.set("bank_conflicts", 0);
  CHECK(!layout->applies(features));
  features.set("bank_conflicts", 12);
  CHECK(layout->applies(features));
}

TEST_CASE("strategies: what the format does not allow names its line and place") {
  const std::string good = R"({"name": "a", "description": "d", "target": "t"})";
  CHECK(parse_strategies(file_with_strategy(good), "f").size() == 1);
  for (const std::string& bad :
       {std::string("{}"), std::string(""), std::string("7"), good + "," + good,
        std::string(R"({"name": "A b", "description": "d", "target": "t"})"),
        std::string(R"({"name": "a", "description": "", "target": "t"})"),
        std::string(R"({"name": "a", "description": "d"})"),
        std::string(R"({"name": "a", "description": "d", "target": "t", "wenn": "x"})"),
        std::string(R"({"name": "a", "description": "d", "target": "t", "when": "x <", "unless": "u"})"),
        std::string(R"({"name": "a", "description": "d", "target": "t", "when": "x < 1"})")}) {
    CAPTURE(bad);
    CHECK_THROWS_WITH_AS((void)parse_strategies(file_with_strategy(bad), "f.json"),
                         doctest::Contains("f.json:1:"), ConfigError);
  }
  CHECK_THROWS_AS(
      (void)parse_strategies(R"({"schema": 2, "name": "x", "backends": [], "strategies": []})", "f"),
      ConfigError);
  CHECK_THROWS_AS(
      (void)parse_strategies(R"({"schema": 1, "name": "x", "backends": ["tpu"], "strategies": []})", "f"),
      ConfigError);
}

TEST_CASE("strategies: a user's file joins, and may not repeat a name") {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder / "strategies");
  std::ofstream(folder / "strategies/mine.json")
      << file_with_strategy(R"({"name": "mine", "description": "d", "target": "t"})");
  CHECK(read_strategies("host", folder.path()).size() == read_strategies("host").size() + 1);
  CHECK(read_strategies("cuda", folder.path()).size() == read_strategies("cuda").size());
  std::ofstream(folder / "strategies/mine.json")
      << file_with_strategy(R"({"name": "tiling", "description": "d", "target": "t"})");
  CHECK_THROWS_AS((void)read_strategies("host", folder.path()), ConfigError);
}

TEST_CASE("strategies: the files keep to their schema's keys and required members") {
  std::ifstream stream(KERNELSEARCH_SOURCE_DIR "/docs/formats/strategies.schema.json");
  const auto schema = nlohmann::json::parse(stream);
  const auto& item = schema["properties"]["strategies"]["items"];
  std::set<std::string> known;
  for (const auto& [key, value] : item["properties"].items()) known.insert(key);
  CHECK(known == std::set<std::string>{"name", "description", "target", "relieves", "when", "unless"});
  for (const char* file : {"gpu", "host"}) {
    std::ifstream data(std::string(KERNELSEARCH_SOURCE_DIR "/data/strategies/") + file + ".json");
    for (const auto& strategy : nlohmann::json::parse(data)["strategies"]) {
      for (const auto& [key, value] : strategy.items()) CHECK(known.contains(key));
      for (const auto& needed : item["required"]) CHECK(strategy.contains(needed.get<std::string>()));
    }
  }
}
