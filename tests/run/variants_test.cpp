// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "kernelsearch/run/run.hpp"
#include "run/support.hpp"
#include "support/scripted_model.hpp"

using namespace kernelsearch;
using namespace run_test;

namespace {

/// A run of a system whose model says nothing of use.
Run variant_run(const Place& place, RunOptions options) {
  RunParts parts;
  parts.evaluator = Words{small_problem(), place.gate};
  parts.store = place.store.get();
  parts.model = scripted::RuleChat(std::vector<std::string>{"nothing"});
  options.budget = "2";
  return Run::start(small_problem(), std::move(options), std::move(parts));
}

}  // namespace

TEST_CASE("Run: a paper's variant tunes nothing, begins at the default and has no memory, unless told to") {
  const Place place;
  const auto started = [&](const char* system, std::string options, RunOptions more = {}) {
    more.system = system;
    more.system_options = std::move(options);
    return variant_run(place, std::move(more));
  };
  for (const char* system : {"kernelband", "stark"}) {
    CAPTURE(system);
    const RunOptions ours = started(system, "").options();
    CHECK(ours.inner_trials == 8);
    CHECK(ours.root == "best");
    CHECK(ours.memory);
    const std::string variant =
        std::string(system) == "stark" ? R"({"variant": "paper"})" : R"({"variant": "v1"})";
    const RunOptions paper = started(system, variant).options();
    CHECK(paper.inner_trials == 0);
    CHECK(paper.root == "default");
    CHECK_FALSE(paper.memory);
    const RunOptions told = started(system, variant, {.inner_trials = 3, .root = "best"}).options();
    CHECK(told.inner_trials == 3);
    CHECK(told.root == "best");
  }
  CHECK(started("helion_llm", "").options().root == "default");
}

TEST_CASE("Run: all options are kept with it, those of its variant too") {
  const Place place;
  RunOptions options;
  options.system = "kernelband";
  options.system_options = R"({"variant": "v2", "clusters": 2})";
  Run first = variant_run(place, options);
  first.to_end();
  const auto kept = nlohmann::json::parse(place.store->run(first.id()).info.options)["system_options"];
  CHECK(kept["variant"] == "v2");
  CHECK(kept["clusters"] == 2);
  CHECK(kept["mask"] == true);  // of the variant
  CHECK(kept["prior_mean"] == 0.5);
  CHECK(kept["recluster_every"] == 10);
}
