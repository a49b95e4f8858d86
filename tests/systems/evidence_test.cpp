// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Moves in the order of what kernels show: docs/benchmarks/systems.md.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernelsearch/systems/system_registry.hpp"
#include "support/recorded_kernels.hpp"
#include "support/scripted_model.hpp"

using namespace kernelsearch;
using namespace recorded_kernels;

namespace {

bool lists(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// A softmax by rows, whose hot loop has calls and no vector instruction.
Recorded softmax_with_calls() {
  for (Recorded kernel : read_kernels()) {
    if (kernel.name != "softmax_plain") continue;
    for (const char* kind : {"vector_128", "vector_256", "vector_512", "gather", "spill", "division"})
      kernel.features.set("code.loop." + std::string(kind), 0);
    kernel.features.set("code.loop.call", 10);
    kernel.features.set("code.loop.scalar_fp", 20);
    kernel.features.set("code.loop.instructions", 60);
    return kernel;
  }
  throw std::runtime_error("bench/evidence/kernels.json has no softmax_plain");
}

}  // namespace

TEST_CASE("evidence: a softmax with calls in its hot loop gets no matrix product's recipe") {
  const Recorded kernel = softmax_with_calls();
  const std::vector<std::string> first = proposed(kernel, Order::evidence, 4);
  REQUIRE(first.size() == 4);
  CHECK(first.front() == "inline_calls");
  for (const char* recipe : {"loop_interchange", "loop_tiling", "register_block"})
    CHECK_FALSE(lists(first, recipe));
  // By the axis alone, as before, these three are the first.
  CHECK(lists(proposed(kernel, Order::axis, 3), "register_block"));
  CHECK(band_proposed(kernel, true, 1) == std::vector<std::string>{"inline_calls"});
  CHECK(band_proposed(kernel, false, 1) != std::vector<std::string>{"inline_calls"});
}

TEST_CASE("evidence: on the recorded kernels the first three hold the best move in four of five") {
  const std::vector<Recorded> kernels = read_kernels();
  REQUIRE(kernels.size() >= 30);
  std::size_t held = 0, by_name = 0, band = 0;
  for (const Recorded& kernel : kernels) {
    held += holds_one(proposed(kernel, Order::evidence, 3), kernel.best) ? 1 : 0;
    by_name += holds_one(proposed(kernel, Order::alphabet, 3), kernel.best) ? 1 : 0;
    std::vector<std::string> best;
    for (const std::string& one : kernel.best)
      for (const std::string& strategy : strategies_of(one)) best.push_back(strategy);
    band += best.empty() || holds_one(band_proposed(kernel, true, 3), best) ? 1 : 0;
  }
  CHECK(10 * held >= 8 * kernels.size());
  CHECK(10 * by_name <= 4 * kernels.size());
  CHECK(10 * band >= 8 * kernels.size());
}

TEST_CASE("evidence: papers' variants go without it, and so do systems that are told to") {
  for (const char* name : {"stark", "geak", "best_of_k", "greedy_refine", "peak"}) {
    CAPTURE(name);
    const SystemEntry& system = find_system(name);
    CHECK(SystemOptions(name, system.options, "{}").flag("evidence"));
    CHECK_FALSE(SystemOptions(name, system.options, R"({"variant": "paper"})").flag("evidence"));
  }
  const SystemEntry& band = find_system("kernelband");
  CHECK(SystemOptions("kernelband", band.options, "{}").number("evidence") > 0);
  for (const char* version : {"v1", "v2"})
    CHECK(SystemOptions("kernelband", band.options, R"({"variant": ")" + std::string(version) + "\"}")
              .number("evidence") == 0);
}
