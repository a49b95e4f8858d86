// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/write_problem.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/problem/digest.hpp"
#include "problem/problem_texts.hpp"

using namespace kernelsearch;
using namespace kernelsearch_test;

namespace {

void check_equal(const Problem& a, const Problem& b) {
  CHECK(a.name == b.name);
  CHECK(a.description == b.description);
  CHECK(problem_digest(a) == problem_digest(b));
  CHECK(kernel_digest(a.kernel) == kernel_digest(b.kernel));
  CHECK(a.operations.has_value() == b.operations.has_value());
  if (a.operations && b.operations) CHECK(a.operations->text() == b.operations->text());
  CHECK(a.bytes.has_value() == b.bytes.has_value());
  if (a.bytes && b.bytes) CHECK(a.bytes->text() == b.bytes->text());
}

constexpr const char* launched_by_host = R"({"schema": 1, "name": "x", "backend": "cuda", "function": "f",
    "kernel": {"device": {"text": "f"}, "host": {"text": "h"}}, "shapes": [{"n": 1000, "a": 0.5, "b": true}],
    "tunables": {"BLOCK": {"values": [64, 128], "role": "block_size"}, "K": {"values": [1, 2], "if": "BLOCK > 64", "role": "warps"}}, "constraints": ["BLOCK * K >= 128"],
    "arguments": [{"name": "y", "type": "f32", "size": "n", "role": "inout", "init": "ill_conditioned", "low": 0, "high": 9}]})";

constexpr const char* one_step = R"({"schema": 1, "name": "x", "backend": "hip", "function": "f",
    "kernel": {"device": {"text": "f"}}, "shapes": [{"n": 1000}], "tunables": {"BLOCK": [64, 128]},
    "arguments": [{"name": "y", "type": "f32", "size": "n", "role": "out"}],
    "launch": {"grid": ["n"], "block": ["BLOCK", 1], "cluster": [2], "shared_bytes": "4*BLOCK"}})";

constexpr const char* one_instance = R"({"schema": 1, "name": "x", "backend": "cuda", "function": "f",
    "kernel": {"device": {"text": "f"}}, "shapes": [{"n": 1000}], "tunables": {"BLOCK": [64, 128]},
    "arguments": [{"name": "y", "type": "f32", "size": "n", "role": "out"}],
    "launch": [{"function": "f", "arguments": ["y", "y"], "grid": ["n"], "block": ["BLOCK", 1]}]})";

constexpr const char* built_by_command = R"({"schema": 1, "name": "x", "function": "f",
    "kernel": {"device": {"name": "src/kernel.cpp", "text": "f"}}, "shapes": [{"n": 1000}], "tunables": {"T": [1, 2]},
    "arguments": [{"name": "y", "type": "f32", "size": "n", "role": "out"}],
    "reference": {"source": {"text": "g"}, "function": "g", "compiler": "clang++"},
    "files": {"build.sh": {"text": "make"}, "tools/plan.txt": {"text": "plan"}},
    "build": {"command": ["sh", "build.sh", "${SOURCE}", "${LIBRARY}", "${T}"], "files": ["build.sh", "tools/plan.txt"],
              "identity": [["sh", "--version"], ["cat", "/opt/x"]], "readable": ["/opt/toolchain"]}})";

constexpr const char* with_local_memory = R"({"schema": 1, "name": "x", "backend": "opencl", "function": "f",
    "kernel": {"device": {"text": "f"}}, "shapes": [{"n": 1000}], "tunables": {"BLOCK": [64, 128]},
    "arguments": [{"name": "y", "type": "f32", "size": "n", "role": "out"}],
    "reference": {"source": {"text": "g"}, "function": "g",
                  "launch": {"grid": [1], "block": [1], "local": [{"name": "r", "bytes": "n"}]}},
    "launch": [{"function": "f", "arguments": ["a", "y"], "grid": ["n"], "block": ["BLOCK"],
                "local": [{"name": "a", "bytes": "4*BLOCK"}, {"name": "b", "bytes": "8"}]}]})";

const auto all_texts = {with_local_memory, full_problem, small_problem, device_problem,
                        launched_by_host,  one_step,     one_instance,  built_by_command};

}  // namespace

TEST_CASE("problem_json: local parameters are written, and count in the digest") {
  const Problem problem = parsed(with_local_memory);
  const Problem again = parsed(problem_json(problem));
  REQUIRE(again.launch.at(0).geometry.local.size() == 2);
  CHECK(again.launch[0].geometry.local[0].name == "a");
  CHECK(again.launch[0].geometry.local[1].bytes.text() == "8");
  CHECK(again.launch[0].arguments == std::vector<std::string>{"a", "y"});
  CHECK(again.reference.launch->local.at(0).bytes.text() == "n");
  CHECK(problem_digest(again) == problem_digest(problem));
  Problem other = problem;
  other.launch[0].geometry.local[1].bytes = Expression::parse("16");
  CHECK(problem_digest(other) != problem_digest(problem));
  other = problem;
  other.reference.launch->local.clear();
  CHECK(problem_digest(other) != problem_digest(problem));
}

TEST_CASE("problem_json: what is written reads back equal") {
  for (const char* text : all_texts) {
    const Problem problem = parsed(text);
    const std::string written = problem_json(problem);
    check_equal(problem, parsed(written));
    CHECK(problem_json(parsed(written)) == written);
  }
}

TEST_CASE("problem_json: the roles of tunables stay") {
  const Problem problem = parsed(problem_json(parsed(launched_by_host)));
  CHECK(problem.kernel.space.tunable(0).role == TunableRole::block_size);
  CHECK(problem.kernel.space.tunable(1).role == TunableRole::warps);
  CHECK(parsed(full_problem).kernel.space.tunable(0).role == TunableRole::none);
  CHECK_THROWS_WITH_AS((void)parsed(R"({"schema": 1, "name": "x", "function": "f", "kernel": {"text": "f"},
    "shapes": [{"n": 10}], "arguments": [{"name": "y", "type": "f32", "size": "n", "role": "out"}],
    "tunables": {"A": {"values": [1, 2], "role": "warps"}, "B": {"values": [1, 2], "role": "warps"}}})"),
                       doctest::Contains("/tunables/B is a second tunable of role warps"), ConfigError);
}

TEST_CASE("problem_json: one launch of the function is written as its geometry, others as steps") {
  CHECK(problem_json(parsed(one_step)).find("\"launch\": {") != std::string::npos);
  CHECK(problem_json(parsed(one_instance)).find("\"launch\": [") != std::string::npos);
  CHECK(problem_json(parsed(launched_by_host)).find("\"launch\"") == std::string::npos);
  for (const auto change :
       {+[](LaunchStep& s) { s.function = "g"; }, +[](LaunchStep& s) { s.arguments = {"y"}; },
        +[](LaunchStep& s) { s.condition = Expression::parse("BLOCK < 128"); }}) {
    Problem problem = parsed(one_step);
    change(problem.launch[0]);
    check_equal(problem, parsed(problem_json(problem)));
  }
}

TEST_CASE("write_problem: a folder of problem.json and sources reads back equal") {
  for (const char* text : all_texts) {
    const TemporaryFolder folder;
    const Problem problem = parsed(text);
    write_problem(problem, folder.path() / "new");
    check_equal(problem, read_problem(folder.path() / "new"));
    const std::string suffix = problem.backend == Backend::cuda     ? ".cu"
                               : problem.backend == Backend::hip    ? ".hip"
                               : problem.backend == Backend::opencl ? ".cl"
                                                                    : ".cpp";
    const bool named = !problem.build.command.empty();
    CHECK(std::filesystem::exists(folder.path() / "new" / ((named ? "src/kernel" : "kernel") + suffix)));
    CHECK(std::filesystem::exists(folder.path() / "new" / "tools" / "plan.txt") == named);
    CHECK(std::filesystem::exists(folder.path() / "new" / ("reference" + suffix)) ==
          !problem.reference.source.empty());
    CHECK_THROWS_WITH_AS(write_problem(problem, folder.path() / "new"), doctest::Contains("there already"),
                         ConfigError);
  }
}

TEST_CASE("write_problem: nothing is written where one file is in the way") {
  const TemporaryFolder folder;
  folder.write("problem.json", "mine");
  CHECK_THROWS_AS(write_problem(parsed(small_problem), folder.path()), ConfigError);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "kernel.cpp"));
  folder.write("file", "");
  CHECK_THROWS_WITH_AS(write_problem(parsed(small_problem), folder.path() / "file" / "x"),
                       doctest::Contains("cannot be made"), ConfigError);
}

TEST_CASE("problem_json: what has no text is refused") {
  Problem problem = parsed(small_problem);
  problem.kernel.space =
      Space::build({Tunable::integer("A", 1, 3)},
                   {Constraint({"A"}, [](std::span<const Value> v) { return to_number(v[0]) > 1; })});
  CHECK_THROWS_WITH_AS((void)problem_json(problem), doctest::Contains("C++ function"), ConfigError);
  problem = parsed(small_problem);
  problem.kernel.regions.device = "\xff";
  CHECK_THROWS_WITH_AS((void)problem_json(problem), doctest::Contains("UTF-8"), ConfigError);
}
