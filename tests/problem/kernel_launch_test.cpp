// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/kernel_launch.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "kernelsearch/core/error.hpp"
#include "support/device_problem.hpp"

using namespace kernelsearch;

namespace {

Problem tuned_scale() {
  support::DeviceProblem given;
  given.more = R"(, "tunables": {"BLOCK": [64, 128, 4096]}, "valid": "n > 40 or BLOCK < 4096")";
  return given.parsed();
}

Kernel with_launch(const Problem& problem, const std::string& json) {
  Kernel kernel = problem.kernel;
  kernel.regions.macros = launch_line(json) + "#define ONE 1\n";
  return kernel;
}

std::string refused(const Problem& problem, const std::string& json) {
  const auto steps = try_launch_of(problem, with_launch(problem, json));
  return steps ? "" : steps.error();
}

std::string check_at(const Problem& problem, const std::string& json, std::uint32_t block = 0) {
  const auto kernel = std::make_shared<const Kernel>(with_launch(problem, json));
  const auto fine = check_launch(problem, {kernel, Config{{block}}}, launch_of(problem, *kernel));
  return fine ? "" : fine.error();
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("kernel launch: the problem's, or the one in the kernel's own text, the last of several") {
  const Problem problem = tuned_scale();
  REQUIRE(launch_of(problem, problem.kernel).size() == 1);
  CHECK(launch_of(problem, problem.kernel)[0].geometry.block[0].text() == "128");
  Kernel kernel = with_launch(problem, R"({"grid": ["n"], "block": [32]})");
  kernel.regions.macros += launch_line(R"({"grid": ["(n + BLOCK - 1) // BLOCK"], "block": ["BLOCK"]})");
  CHECK(own_launch(kernel.regions.macros) == R"({"grid": ["(n + BLOCK - 1) // BLOCK"], "block": ["BLOCK"]})");
  const auto steps = launch_of(problem, kernel);
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].function == "scale");
  CHECK(steps[0].geometry.grid[0].text() == "(n + BLOCK - 1) // BLOCK");
  CHECK(steps[0].geometry.block[0].text() == "BLOCK");
  CHECK(own_launch("#define X \"//@launch {}\"\n").empty());
  CHECK(own_launch(problem.kernel.regions.macros).empty());
  const auto several = launch_of(
      problem,
      with_launch(problem,
                  R"([{"zero": "y"}, {"function": "scale", "grid": [1], "block": [32], "if": "n < 9"}])"));
  REQUIRE(several.size() == 2);
  CHECK(several[0].zero == "y");
  CHECK(several[1].condition.has_value());
}

TEST_CASE("kernel launch: what is wrong with a line is said as for a problem") {
  const Problem problem = tuned_scale();
  CHECK(has(refused(problem, "{"), "launch:1"));
  CHECK(has(refused(problem, R"({"grid": ["n"]})"), "block"));
  CHECK(has(refused(problem, R"({"grid": ["n"], "block": ["BLOK"]})"), "BLOCK"));
  CHECK(has(refused(problem, R"({"grid": ["n"], "block": ["TILE"]})"), "TILE"));
  CHECK(has(refused(problem, R"({"grid": ["n"], "block": [1], "blocks": 2})"), "blocks"));
  CHECK(
      has(refused(problem, R"([{"function": "scale", "arguments": ["n", "x"], "grid": [1], "block": [1]}])"),
          "passes an output to no kernel"));
  CHECK_THROWS_WITH_AS((void)launch_of(problem, with_launch(problem, "{")),
                       doctest::Contains("correct the line //@launch"), ConfigError);
  Problem host = problem;
  host.backend = Backend::host;
  CHECK(has(refused(host, R"({"grid": ["n"], "block": [1]})"), "is called, not launched"));
  Problem by_itself = problem;
  by_itself.launch.clear();
  CHECK(has(refused(by_itself, R"({"grid": ["n"], "block": [1]})"), "host region"));
}

TEST_CASE("kernel launch: extents are whole, blocks are no larger than devices have them") {
  const Problem problem = tuned_scale();
  CHECK(check_at(problem, R"({"grid": ["n"], "block": ["BLOCK"], "shared_bytes": "4 * BLOCK"})").empty());
  CHECK(check_at(problem, R"({"grid": ["n"], "block": [32, 32]})").empty());
  CHECK(has(check_at(problem, R"({"grid": ["n"], "block": [32, 33]})"), "1056 threads for shape small"));
  // At a configuration that `valid` refuses for a shape nothing is asked of it.
  CHECK(has(check_at(problem, R"({"grid": ["n"], "block": ["BLOCK"]})", 2), "4096 threads for shape large"));
  CHECK(
      has(check_at(problem, R"({"grid": ["n / 2"], "block": [32]})"), "grid n / 2 is 18.5 for shape small"));
  CHECK(has(check_at(problem, R"({"grid": ["n - 37"], "block": [32]})"), "grid n - 37 is 0"));
  CHECK(has(check_at(problem, R"({"grid": ["n"], "block": [32], "shared_bytes": "-4"})"), "shared_bytes"));
  // A text is not 0 bytes.
  CHECK(has(check_at(problem, R"({"grid": ["n"], "block": [32], "shared_bytes": "'many'"})"), "is many"));
  CHECK(has(check_at(problem, R"({"grid": ["1 // (n - 37) + 0"], "block": [32]})"), "zero"));
  CHECK(has(check_at(problem, R"([{"function": "scale", "grid": [1], "block": [32], "if": "n > 40"}])"),
            "no kernel is launched for shape small"));
}
