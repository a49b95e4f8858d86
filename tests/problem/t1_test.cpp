// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/t1.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

#include "kernelsearch/core/error.hpp"

using namespace kernelsearch;

namespace {

T1File parse(const std::string& text) {
  std::istringstream input(text);
  return read_t1(input);
}

std::string error_of(const std::string& text) {
  try {
    (void)parse(text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

std::filesystem::path shared() {
  const char* given = std::getenv("KERNELSEARCH_SHARED");
  return std::filesystem::path(given != nullptr ? given : KERNELSEARCH_SOURCE_DIR "/../shared") / "data";
}

struct Expected {
  const char* file;
  const char* count;
  std::uint64_t checksum;  // 0: none published
};

}  // namespace

TEST_CASE("T1: a file with the hub's deviations") {
  const T1File file = parse(R"json({
    // comments are allowed
    "General": {"BenchmarkName": "demo", "OutputFormat": "JSON"},
    "ConfigurationSpace": {
      "TuningParameters": [
        {"Name": "bx", "Type": "int", "Values": "[1, 2] + [32*i for i in range(1, 4)]", "Default": 64},
        {"Name": "fixed", "Type": "int", "Values": "[7]", "Default": [7]},
        {"Name": "tile", "Type": "int", "Values": [1, 2, 2, 4], "Default": 3},
        {"Name": "flag", "Type": "bool", "Values": "[0, 1]", "Default": 1},
        {"Name": "layout", "Type": "string", "Values": "['row', 'col']"}
      ],
      "Conditions": [{"Parameters": ["bx", "tile"], "Expression": "2 <= bx*tile <= 128"}, {"Expression": "flag or layout == 'row'"}]
    },
    "KernelSpecification": {"Language": "CUDA", "KernelName": "k", "KernelFile": "k.cu", "CompilerOptions": ["-O3"],
      "GlobalSize": {"X": "4096 // bx", "Y": "1"}, "LocalSize": {"X": "bx"}, "ProblemSize": [4096, 1], "GridDivX": ["bx"], "Stream": null,
      "Arguments": [{"Name": "out", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": "ProblemSize[0]", "Output": 1},
                    {"Name": "f", "Type": "float", "MemoryType": "Vector", "MemType": "Constant", "Size": 17, "FillValue": 0.5}]}
  })json");
  CHECK(file.name == "demo");
  CHECK(file.space.size() == 5);
  CHECK(file.space.count() == BigCount(11 * 3));
  CHECK(file.space.key(file.space.default_config()) == "64,7,1,1,row");
  CHECK(file.space.tunable(3).kind == TunableKind::boolean);
  CHECK(file.notes ==
        std::vector<std::string>{"tile lists 2 twice", "the default 3 of tile is not one of its values"});
  CHECK(file.language == "CUDA");
  CHECK(file.global_size == std::array<std::string, 3>{"4096 // bx", "1", "1"});
  CHECK(file.local_size[0] == "bx");
  CHECK(file.problem_size == std::vector<std::int64_t>{4096, 1});
  CHECK(file.grid_div_x == std::vector<std::string>{"bx"});
  REQUIRE(file.arguments.size() == 2);
  CHECK(file.arguments[0].output);
  CHECK(file.arguments[1].constant_memory);
  CHECK(file.arguments[1].size == "17");
  CHECK(file.arguments[1].fill_value == 0.5);
}

TEST_CASE("T1: roles of tunables, which are an extension of ours") {
  const auto with = [](const std::string& role) {
    return R"({"ConfigurationSpace": {"TuningParameters": [{"Name": "a", "Values": [1, 2], "Role": ")" +
           role + R"("}, {"Name": "b", "Values": [0, 1]}]}})";
  };
  const T1File file = parse(with("vector"));
  CHECK(file.space.tunable(0).role == TunableRole::vector);
  CHECK(file.space.tunable(1).role == TunableRole::none);
  const std::string error = error_of(with("vectors"));
  CHECK(error.find("the role of a is vectors") != std::string::npos);
  CHECK(error.find("write one of block_size, warps, threads") != std::string::npos);
}

TEST_CASE("T1: two tunables of one name are an error that says where both are") {
  std::istringstream text(R"({"ConfigurationSpace": {"TuningParameters": [
    {"Name": "a", "Type": "int", "Values": "[1, 2]"}, {"Name": "b", "Type": "int", "Values": "[1]"},
    {"Name": "a", "Type": "int", "Values": "[1, 2]"}]}})");
  CHECK_THROWS_WITH_AS(static_cast<void>(read_t1(text, "mine.json")),
                       doctest::Contains("TuningParameters[2] is named a, as [0] is"), ConfigError);
}

TEST_CASE("T1: mistakes name the entry") {
  CHECK(error_of("{").find("not JSON") != std::string::npos);
  CHECK(error_of("[]").find("no \"ConfigurationSpace\"") != std::string::npos);
  CHECK(error_of(R"({"ConfigurationSpace": {"TuningParameters": [{"Name": "a"}]}})")
            .find("tuning parameter a has no \"Values\"") != std::string::npos);
  CHECK(error_of(R"({"ConfigurationSpace": {"TuningParameters": [{"Name": "a", "Values": "[1, 2"}]}})")
            .find("the values of a") != std::string::npos);
  CHECK(error_of(R"({"ConfigurationSpace": {"TuningParameters": [{"Name": "a", "Values": "[b]"}]}})")
            .find("read \"b\"") != std::string::npos);
  CHECK(
      error_of(
          R"({"ConfigurationSpace": {"TuningParameters": [{"Name": "a", "Values": "[1, 2]"}], "Conditions": [{"Expression": "a <"}]}})")
          .find("a condition") != std::string::npos);
  CHECK(
      error_of(
          R"({"ConfigurationSpace": {"TuningParameters": [{"Name": "a", "Values": "[1, 2]"}], "Conditions": [{"Expression": "b < 1"}]}})")
          .find("unknown tunable") != std::string::npos);
  CHECK_THROWS_AS((void)read_t1(std::filesystem::path("no/such/file.json")), ConfigError);
}

TEST_CASE("T1: the published spaces have their counts and checksums") {
  const Expected spaces[] = {
      {"large_spaces/prl_2x2", "1200", 2585576603048ULL},
      {"large_spaces/prl_4x4", "10800", 23184243944168ULL},
      {"large_spaces/dedispersion_paper", "11130", 23674882744181ULL},
      {"large_spaces/prl_8x8", "48720", 104634062446808ULL},
      {"large_spaces/gemm_paper", "116928", 251100967934880ULL},
      {"large_spaces/microhh", "138600", 297664123956700ULL},
      {"large_spaces/expdist", "294000", 631496505993890ULL},
      {"large_spaces/hotspot_paper", "349853", 751321798281412ULL},
      {"large_spaces/sgemm_atf_576", "358128", 769047842636100ULL},
      {"large_spaces/conv3d_ktt", "478177", 1026885892851916ULL},
      {"large_spaces/sgemm_atf_64", "20513952", 44053031834042740ULL},
      {"large_spaces/prl_atf", "23111088", 49630447906875512ULL},
      {"large_spaces/gemm_atf", "108486000", 232958307947325288ULL},
      {"large_spaces/conv_atf_pow2", "149281440", 320577460408152240ULL},
      {"large_spaces/rise_mm_baco", "154888140", 332618554678049520ULL},
      {"large_spaces/conv_atf_4096", "158995200", 341438591024893632ULL},
      {"large_spaces/conv_atf", "168750000", 362406505602136744ULL},
      {"large_spaces/gemm_atf_10x500x64", "251370000", 539832796709932472ULL},
      {"large_spaces/ccsdt_atf", "8805321756000000000", 0},
      {"spaces/convolution", "4362", 0},
      {"spaces/dedispersion", "11130", 0},
      {"spaces/gemm", "116928", 0},
      {"spaces/hotspot", "82984", 0},
  };
  if (!std::filesystem::is_directory(shared() / "large_spaces")) {
    MESSAGE("skipped: no published spaces under " << shared().string() << "; set KERNELSEARCH_SHARED");
    return;
  }
  Rng rng(1);
  for (const Expected& expected : spaces) {
    CAPTURE(std::string(expected.file));
    const T1File file = read_t1(shared() / (std::string(expected.file) + ".t1.json"));
    CHECK(file.space.count().to_string() == expected.count);
    if (expected.checksum != 0) CHECK(file.space.checksum() == expected.checksum);
    CHECK(file.space.contains(file.space.default_config()));
    for (int i = 0; i < 20; ++i) {
      const Config config = file.space.sample(rng);
      CHECK(file.space.contains(config));
      CHECK(file.space.unrank(file.space.rank(config)) == config);
      for (const Constraint& constraint : file.space.constraints()) {
        std::vector<Value> values;
        for (const std::string& name : constraint.names())
          values.push_back(file.space.value(config, *file.space.find(name)));
        CHECK(constraint.holds(values));
      }
    }
  }
}
