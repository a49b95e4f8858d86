// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/sanitizer_report.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/core/rng.hpp"
#include "tool_support.hpp"

using namespace kernelsearch;

namespace {

// Written by hand in the documented format.
const std::string memcheck =
    "========= COMPUTE-SANITIZER\n"
    "========= Invalid __global__ write of size 4 bytes\n"
    "=========     at outside+0x90\n"
    "=========     by thread (104,0,0) in block (7,0,0)\n"
    "=========     Access at 0x7f1c62a00fa0 is out of bounds\n"
    "=========     and is 1 bytes after the nearest allocation at 0x7f1c62a00000 of size 4000 bytes\n"
    "=========     Saved host backtrace up to driver entry point at kernel launch time\n"
    "=========         Host Frame: [0x33]\n"
    "========= \n"
    "========= Invalid __global__ write of size 4 bytes\n"
    "=========     at other+0x90\n"
    "========= \n"
    "========= ERROR SUMMARY: 24 errors\n";

const std::string racecheck =
    "========= COMPUTE-SANITIZER\n"
    "========= Error: Race reported between Write access at racing(int, float *)+0x70\n"
    "=========     and Read access at racing(int, float *)+0xb0 [992 hazards]\n"
    "=========\n"
    "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n";

}  // namespace

TEST_CASE("memcheck: the first error with its kernel and address") {
  const SanitizerReport report = read_sanitizer_log(memcheck);
  CHECK(report.complete);
  CHECK(report.errors == 24);
  CHECK(report.kernel == "outside");
  CHECK(report.address == "0x7f1c62a00fa0");
  CHECK(report.first ==
        "Invalid __global__ write of size 4 bytes at outside+0x90 by thread (104,0,0) in block (7,0,0) "
        "Access at "
        "0x7f1c62a00fa0 is out of bounds and is 1 bytes after the nearest allocation at 0x7f1c62a00000 of "
        "size 4000 "
        "bytes");
}

TEST_CASE("racecheck: hazards that are errors") {
  const SanitizerReport report = read_sanitizer_log(racecheck);
  CHECK(report.complete);
  CHECK(report.errors == 1);
  CHECK(report.kernel == "racing");
  CHECK(report.first.find("[992 hazards]") != std::string::npos);
  const SanitizerReport fine = read_sanitizer_log(
      "========= COMPUTE-SANITIZER\n========= RACECHECK SUMMARY: 2 hazards displayed (0 errors, 2 "
      "warnings)\n");
  CHECK(fine.complete);
  CHECK(fine.errors == 0);
}

TEST_CASE("what Compute Sanitizer gave on an H200") {
  const auto read = [](const char* tool) {
    return read_sanitizer_log(tool_test::read_data(std::string("sanitizer_") + tool + ".log"));
  };
  const struct {
    const char* tool;
    std::uint64_t errors;  // those that were not printed as well
    const char *kernel, *address, *first;
  } logs[] = {
      {"memcheck", 24, "outside", "0x7f2432a81fa0",
       "Invalid __global__ write of size 4 bytes at outside+0x120"},
      {"racecheck", 1, "racing", "", "Error: Race reported between Write access at racing+0x100"},
      {"initcheck", 1000, "uninitialised", "0x7f1ff2a81880",
       "Uninitialized __global__ memory read of size 4 bytes at uninitialised+0xe0"},
      {"synccheck", 128, "half_barrier", "", "Barrier error detected. Divergent thread(s) in warp."},
  };
  for (const auto& log : logs) {
    CAPTURE(std::string(log.tool));
    const SanitizerReport report = read(log.tool);
    CHECK(report.complete);
    CHECK(report.errors == log.errors);
    CHECK(report.kernel == log.kernel);
    CHECK(report.address == log.address);
    CHECK_MESSAGE(report.first.starts_with(log.first), report.first);
  }
}

TEST_CASE("a clean run, and one without a summary") {
  const SanitizerReport clean =
      read_sanitizer_log("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n");
  CHECK(clean.complete);
  CHECK(clean.errors == 0);
  CHECK(clean.first.empty());
  CHECK(!read_sanitizer_log("========= COMPUTE-SANITIZER\n").complete);
  CHECK(!read_sanitizer_log("").complete);
  CHECK(!read_sanitizer_log("ERROR SUMMARY: 0 errors\n").complete);  // not the tool's line
}

TEST_CASE("any text can be read") {
  Rng rng(5);
  for (const std::string& text : {memcheck, racecheck, tool_test::read_data("sanitizer_initcheck.log")})
    for (int i = 0; i < 2000; ++i) {
      const SanitizerReport report = read_sanitizer_log(tool_test::damaged(text, rng));
      if (report.complete && report.errors == 0) CHECK(report.first.empty());
    }
}
