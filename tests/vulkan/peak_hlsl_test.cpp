// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// PEAK's workflow for HLSL, on the example that is written in it. Kernels are really compiled, checked and
// timed; the replies are written for this test (tests/fixtures/exchanges/peak_hlsl). What is asked is looked
// at in the recorded questions.
#include <algorithm>
#include <sstream>

#include "apps/command.hpp"
#include "vulkan/support.hpp"

using namespace vulkan_test;

namespace {

/// The questions of a recording, each its messages' texts one after the other.
std::vector<std::string> recorded_questions(const std::filesystem::path& folder) {
  std::vector<std::string> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    const auto exchange = nlohmann::json::parse(kernelsearch_test::read_text(entry.path()), nullptr, false);
    if (!exchange.is_object() || !exchange.contains("question")) continue;
    std::string text;
    for (const auto& message : exchange["question"]["messages"])
      text += message["text"].get<std::string>() + "\n";
    all.push_back(std::move(text));
  }
  return all;
}

/// The question about that pass and region.
std::string question(const std::vector<std::string>& all, const std::string& title, const std::string& pass,
                     const std::string& region) {
  for (const std::string& one : all)
    if (contains(one, "# Transformation: " + title) && contains(one, "Pass " + pass + " of") &&
        contains(one, "# Your edit: the " + region + " region"))
      return one;
  return {};
}

}  // namespace

TEST_CASE("Vulkan: PEAK's workflow x1_85 transforms the HLSL example, and asks in its terms") {
  if (skipped()) return;
  const kernelsearch_test::Desk desk;
  kernelsearch_test::write_text(desk.path() / "options.json",
                                R"({"retries": 0, "middle_retries": 0, "inner_trials": 1})");
  const std::filesystem::path source = KERNELSEARCH_SOURCE_DIR;
  const auto ran = desk.kernelsearch({"tune", (source / "examples/vulkan/matmul_hlsl").string(), "--system",
                                      "peak", "--workflow", "x1_85", "--samples", "3", "--store", "runs.db",
                                      "--out", "out", "--options", "options.json", "--replay-exchanges",
                                      (source / "tests/fixtures/exchanges/peak_hlsl").string()});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  std::vector<std::string> steps;
  std::istringstream lines(
      desk.kernelsearch({"export", "latest", "--store", "runs.db", "--format", "jsonl"}).out);
  for (std::string line; std::getline(lines, line);) {
    const auto trial = nlohmann::json::parse(line);
    if (!trial["parents"].empty())
      steps.push_back(trial["point"]["strategies"][0].get<std::string>() + ": " +
                      trial["evaluation"]["verdict"].get<std::string>());
  }
  CHECK(steps == std::vector<std::string>{"refactor: ok", "tb_tiling: ok", "thread_tiling: build_failed"});

  const std::vector<std::string> all = recorded_questions(desk.path() / "runs.db.exchanges");
  // All edits of the three but those of the host region, since the launch is fixed.
  CHECK(all.size() == 13);
  for (const std::string& one : all) {
    CHECK(contains(one, "HLSL or GLSL for Vulkan compute, whichever the kernel is written in"));
    CHECK(contains(one, "index of the thread in its block"));
    CHECK(contains(one, "HLSL: a parameter uint3 thread : SV_GroupThreadID"));
    CHECK(contains(one, "HLSL: GroupMemoryBarrierWithGroupSync(); GLSL: barrier()"));
    CHECK(contains(one, "[[vk::push_constant]] cbuffer"));
    CHECK(contains(one, "- Vulkan device: "));
    CHECK(contains(one, "matmul_hlsl"));
    CHECK(contains(one, "groups n // (BLOCK_X * COLUMNS)"));
    CHECK(contains(one, "work group BLOCK_X"));
    CHECK(!contains(one, "# Your edit: the host region"));
  }
  // The first question has the example's kernel, later ones what the steps before made of it.
  const std::string first = question(all, "Refactor", "1", "macros");
  CHECK(contains(first, "RWStructuredBuffer<float> c : register(u0);"));
  CHECK(contains(first, "groupshared float tile_a[BLOCK_Y * ROWS][DEPTH];"));
  CHECK(!contains(first, "#define A_AT"));
  CHECK(contains(question(all, "Refactor", "1", "device"), "#define A_AT(row, col) a[(row) * size + (col)]"));
  CHECK(contains(question(all, "TB-Tiling", "1", "device"), "// refactored"));
  // The code that is inserted is HLSL's too.
  const std::string load = question(all, "TB-Tiling", "3", "device");
  CHECK(contains(load, "#define KS_COPY_TILE(dst, src, ROWS, COLS, ROW_LIMIT, COL_LIMIT, THREAD, THREADS)"));
  CHECK(contains(load, "for (uint ks_i = uint(THREAD)"));
  CHECK(!contains(load, "unsigned("));
  CHECK(contains(load, "TILE_K_SIZE"));
  const std::string threads = question(all, "Thread-Tiling", "2", "device");
  CHECK(contains(threads, "// tiles"));
  CHECK(contains(threads, "TRD_X_DIM"));
  CHECK(contains(threads, "launch bounds"));

  // The winner is HLSL that was made by a step.
  const std::string best = kernelsearch_test::read_text(desk.path() / "out/matmul_hlsl_best.hlsl");
  CHECK((contains(best, "// refactored") || contains(best, "// tiles") || contains(best, "#if TILED")));
}
