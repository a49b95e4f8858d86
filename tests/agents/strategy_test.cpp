// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/strategy.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "kernelsearch/agents/sign_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

namespace {

std::string file_with_strategy(const std::string& strategy) {
  return R"({"schema": 1, "name": "x", "backends": ["host"], "strategies": [)" + strategy + "]}";
}

}  // namespace

TEST_CASE("strategies: KernelBand's set is there for GPUs, with what it relieves") {
  for (const char* backend : {"cuda", "hip", "external"}) {
    const auto strategies = read_strategies(backend);
    const auto names = strategy_names(strategies);
    for (const char* name :
         {"tiling", "vectorization", "fusion", "access_layout", "pipelining", "reordering"})
      CHECK(std::find(names.begin(), names.end(), name) != names.end());
    if (std::string(backend) == "external") continue;  // counters see the whole program
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
  CHECK(read_strategies("").size() ==
        read_strategies("host").size() + read_strategies("cuda").size() + read_strategies("external").size());
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
  CHECK(known == std::set<std::string>{"name", "description", "target", "relieves", "when", "unless", "needs",
                                       "lacks", "steps", "knobs", "hazards", "on", "signs"});
  std::set<std::string> of_devices;
  for (const auto& [key, value] : item["properties"]["on"]["items"]["properties"].items())
    of_devices.insert(key);
  CHECK(of_devices == std::set<std::string>{"needs", "lacks", "steps", "knobs", "hazards"});
  for (const char* file : {"gpu", "host", "module"}) {
    std::ifstream data(std::string(KERNELSEARCH_SOURCE_DIR "/data/strategies/") + file + ".json");
    for (const auto& strategy : nlohmann::json::parse(data)["strategies"]) {
      for (const auto& [key, value] : strategy.items()) CHECK(known.contains(key));
      for (const auto& needed : item["required"]) CHECK(strategy.contains(needed.get<std::string>()));
    }
  }
}

TEST_CASE("strategies: a model is shown the steps that are for its device") {
  const auto text_on = [](const char* backend, const char* name, MethodDevice device) {
    for (const Strategy& strategy : on_device(read_strategies(backend), device))
      if (strategy.name == name) return strategy_text(strategy);
    return std::string();
  };
  const std::string hopper = text_on("cuda", "tensor_cores", {90, {}}),
                    ampere = text_on("cuda", "tensor_cores", {80, {}});
  const auto has_part = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has_part(hopper, "wgmma.mma_async"));
  CHECK(!has_part(hopper, "mma.sync"));
  CHECK(has_part(ampere, "mma.sync.m16n8k16"));
  CHECK(!has_part(ampere, "wgmma"));
  const std::string mi250 = text_on("hip", "tensor_cores", {0, {"gfx90a", "mfma"}});
  CHECK(has_part(mi250, "__builtin_amdgcn_mfma"));
  CHECK(!has_part(mi250, "mma.sync"));
  CHECK(has_part(text_on("cuda", "pipelining", {90, {}}), "TMA"));
  CHECK(!has_part(text_on("cuda", "pipelining", {80, {}}), "TMA"));
  CHECK(has_part(text_on("cuda", "pipelining", {80, {}}), "cp.async"));
  CHECK(has_part(text_on("host", "tiling", {0, {"avx2", "avx512"}}), "512 bits"));
  CHECK(!has_part(text_on("host", "tiling", {0, {"avx2", "avx512"}}), "256 bits"));
  CHECK(has_part(text_on("host", "tiling", {0, {"avx2"}}), "256 bits"));
  CHECK(has_part(text_on("host", "tiling", {}), "Steps:\n1. "));
  CHECK(has_part(text_on("host", "tiling", {}), "What goes wrong:\n- "));
  CHECK(!has_part(text_on("host", "tiling", {}), "512 bits"));
  // Programs of other kinds are no PyTorch modules.
  CHECK(on_device(read_strategies("external"), {}).empty());
  CHECK(has_part(text_on("external", "epilogue", {0, {"torch"}}), "torch.addmm"));
  CHECK(!has_part(text_on("external", "epilogue", {0, {"torch"}}), "Triton"));
  CHECK(has_part(text_on("external", "epilogue", {0, {"torch", "gpu", "triton"}}), "tl.math.erf"));
  CHECK(text_on("external", "split_reduction", {0, {"torch", "gpu"}}).empty());
  // Nothing tells them to declare what nothing may search.
  for (const char* backend : {"host", "cuda", "external"})
    for (const Strategy& strategy : read_strategies(backend))
      CHECK(!has_part(strategy.description, "tunable"));

  const auto only = parse_strategies(
      file_with_strategy(R"({"name": "a", "description": "d", "target": "t", "needs": ["tma"]})"), "f");
  CHECK(on_device(only, {}).empty());
  CHECK(on_device(only, {90, {}}).size() == 1);
  CHECK_THROWS_WITH_AS(
      (void)parse_strategies(
          file_with_strategy(R"({"name": "a", "description": "d", "target": "t", "on": [{"steps": ["s"]}]})"),
          "f.json"),
      doctest::Contains("is for every device"), ConfigError);
  CHECK_THROWS_WITH_AS(
      (void)parse_strategies(
          file_with_strategy(R"({"name": "a", "description": "d", "target": "t", "steps": [""]})"), "f.json"),
      doctest::Contains("empty or too long"), ConfigError);
}

TEST_CASE("strategies: those that the kernel shows most for come first, with the reason and its values") {
  const std::vector<Strategy> all = on_device(read_strategies("host"), {0, {"avx512", "avx2", "fma"}});
  Features features;
  const auto set = [&features](const char* name, double value) { features.set(name, value); };
  for (const char* kind : {"vector_128", "vector_256", "vector_512", "spill", "gather", "division"})
    set(("code.loop." + std::string(kind)).c_str(), 0);
  set("code.loop.instructions", 40);
  set("code.loop.scalar_fp", 12);
  set("code.loop.branch", 1);
  set("code.loop.call", 10);
  set("code.call", 10);
  const auto names = [&] {
    std::vector<std::string> order;
    for (const Strategy* one : ranked_strategies(all, features)) order.push_back(one->name);
    return order;
  };
  CHECK(names().front() == "inline_calls");
  CHECK(sign_text(ranked_strategies(all, features).front()->signs, features) == "the hot loop has 10 calls");
  set("code.loop.call", 0);
  set("code.call", 0);
  CHECK(names().front() == "vectorization");
  CHECK(names().back() == "inline_calls");
  // Vectors of full width in half of the loop: vectorisation is not asked for again.
  set("code.loop.instructions", 398);
  set("code.loop.vector_512", 319);
  const std::vector<std::string> wide = names();
  CHECK(std::find(wide.begin(), wide.end(), "vectorization") == wide.end());
}

TEST_CASE("strategies: signs that the format does not allow are refused with the place") {
  const auto refused = [](const std::string& signs, const std::string& words) {
    try {
      (void)parse_strategies(
          file_with_strategy(R"({"name": "a", "description": "b", "target": "c", "signs": )" + signs + "}"),
          "mine.json");
      FAIL_CHECK("was taken: ", signs);
    } catch (const ConfigError& error) {
      CHECK_MESSAGE(std::string(error.what()).find(words) != std::string::npos, error.what());
    }
  };
  refused(R"([{"when": "x >", "because": "y"}])", "is not an expression");
  refused(R"([{"when": "x > 1", "worth": 2, "because": "y"}])", "is out of bounds");
  refused(R"([{"when": "x > 1", "worth": 0, "because": "y"}])", "is out of bounds");
  refused(R"([{"when": "x > 1", "because": ""}])", "is empty or too long");
  refused(R"([{"when": "x > 1"}])", "because");
  refused(R"([{"when": "x > 1", "because": "y", "why": 1}])", "why");
}
