// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/device_source.hpp"

#include <algorithm>

#include "evaluator/gpu/support.hpp"
#include "kernelsearch/judge/translation_unit.hpp"

using namespace gpu_test;
using namespace kernelsearch::detail::gpu;

namespace {

GpuDevice cuda(int major, int minor) {
  GpuDevice device;
  device.major = major;
  device.minor = minor;
  return device;
}

bool has(const std::vector<std::string>& options, const std::string& option) {
  return std::find(options.begin(), options.end(), option) != options.end();
}

}  // namespace

TEST_CASE("device_source: types, tunables, macros and device code, each with lines of its own") {
  DeviceProblem given;
  given.more = R"(, "tunables": {"TILE": [8, 16], "FAST": [false, true], "ORDER": {"permutation": 2}})";
  Problem problem = given.parsed();
  problem.kernel.regions.macros = "#define TWICE (2 * TILE)";
  const std::string source =
      device_source({std::make_shared<const Kernel>(problem.kernel), Config{{1, 1, 1}}});
  for (const char* part :
       {"typedef int int32_t;", "#define TILE 16\n", "#define FAST 1\n", "#define ORDER {1, 0}\n",
        "#line 1 \"macros\"\n#define TWICE (2 * TILE)\n#line 1 \"device\"\nextern \"C\" __global__"})
    CHECK_MESSAGE(contains(source, part), part);
  CHECK(source.find("#define TILE") < source.find("#define TWICE"));
}

TEST_CASE("reference_source: knows what real is") {
  const Problem problem = DeviceProblem{}.parsed();
  CHECK(contains(reference_source(problem, "double"), "typedef double real;\n#line 1 \"reference\"\n"));
  CHECK(contains(reference_source(problem, "float"), "typedef float real;\n"));
}

TEST_CASE("launched_kernels: each name once, expanded, also of steps that do not run") {
  DeviceProblem given;
  given.launch =
      R"([{"zero": "y"}, {"function": "f<${A}, (${B} > 1)>", "grid": [1], "block": [1], "if": "A == 7"},
      {"function": "scale", "grid": [1], "block": [1]}, {"function": "f<${A}, (${B} > 1)>", "grid": [2], "block": [1], "arguments": ["n", "x", "y"]}])";
  given.more = R"(, "tunables": {"A": [1, 7], "B": [2, 3]})";
  const Problem problem = given.parsed();
  const auto names =
      launched_kernels(problem, {std::make_shared<const Kernel>(problem.kernel), Config{{1, 1}}});
  CHECK(names == std::vector<std::string>{"f<7, (3 > 1)>", "scale"});
}

TEST_CASE("compile_options: the device's architecture, a standard, flags in their order") {
  const GpuOptions options;
  CHECK(has(compile_options(cuda(9, 0), options, {}), "--gpu-architecture=sm_90a"));
  CHECK(has(compile_options(cuda(10, 3), options, {}), "--gpu-architecture=sm_103a"));
  CHECK(has(compile_options(cuda(8, 6), options, {}), "--gpu-architecture=sm_86"));
  CHECK(has(compile_options(cuda(9, 0), options, {}), "-std=c++17"));
  const auto given = compile_options(cuda(9, 0), options, {"-std=c++20", "--use_fast_math", "-lineinfo"});
  CHECK(!has(given, "-std=c++17"));
  const auto at = std::find(given.begin(), given.end(), "-std=c++20");
  REQUIRE(given.end() - at >= 3);
  CHECK(at[1] == "--use_fast_math");
  CHECK(at[2] == "-lineinfo");
  GpuOptions chosen;
  chosen.architecture = "gfx942";
  GpuDevice amd;
  amd.backend = GpuBackend::hip;
  CHECK(has(compile_options(amd, chosen, {}), "--offload-arch=gfx942"));
  for (const std::string& option : compile_options(amd, options, {})) CHECK(!contains(option, "-arch"));
}

TEST_CASE("compile_options: folders of headers, the library's among them, each once") {
  GpuOptions options;
  options.include = {scratch(), scratch(), scratch() / "not there"};
  const auto given = compile_options(cuda(9, 0), options, {});
  CHECK(std::count(given.begin(), given.end(), "-I" + scratch().string()) == 1);
  for (const std::string& option : given) CHECK(!contains(option, "not there"));
  CHECK(std::any_of(given.begin(), given.end(), [](const std::string& option) {
    return option.starts_with("-I") &&
           std::filesystem::exists(option.substr(2) + "/kernelsearch/device/portable.hpp");
  }));
}

TEST_CASE("candidate_flags: tunables expanded, split at blanks, empty ones dropped") {
  DeviceProblem given;
  given.more = R"(, "tunables": {"FLAG": ["", "-DA -DB"], "N": [3, 4]},
      "build": {"compiler": "hiprtc", "flags": ["-O3", "${FLAG}", "-maxrregcount=${N}"]})";
  const Problem problem = given.parsed();
  const auto kernel = std::make_shared<const Kernel>(problem.kernel);
  CHECK(candidate_flags(problem, {kernel, Config{{0, 0}}}) ==
        std::vector<std::string>{"-O3", "-maxrregcount=3"});
  CHECK(candidate_flags(problem, {kernel, Config{{1, 1}}}) ==
        std::vector<std::string>{"-O3", "-DA", "-DB", "-maxrregcount=4"});
}
