// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/t1_problem.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/problem/inputs.hpp"
#include "problem/problem_texts.hpp"

using namespace kernelsearch;
using namespace kernelsearch_test;
using Json = nlohmann::ordered_json;

namespace {

constexpr const char* t1_text = R"json({
  "General": {"BenchmarkName": "smooth"},
  "ConfigurationSpace": {
    "TuningParameters": [
      {"Name": "bx", "Type": "int", "Values": "[16, 32, 64]", "Default": 32},
      {"Name": "tx", "Type": "int", "Values": "[1, 2]"},
      {"Name": "radius", "Type": "int", "Values": "[3, 5]"}],
    "Conditions": [{"Expression": "bx * tx <= 64", "Parameters": ["bx", "tx"]}]},
  "KernelSpecification": {
    "Language": "CUDA", "CompilerOptions": ["-std=c++17"], "KernelName": "smooth", "KernelFile": "smooth.cu",
    "GlobalSizeType": "CUDA", "GlobalSize": {"X": "1000"}, "LocalSize": {"X": "bx", "Y": "1", "Z": "1"},
    "GridDivX": ["bx", "tx"], "ProblemSize": [1000, 7],
    "Arguments": [
      {"Name": "out", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": "ProblemSize[0]*ProblemSize[1]", "FillType": "Constant", "FillValue": 0},
      {"Name": "in", "Type": "float4", "MemoryType": "Vector", "AccessType": "ReadOnly", "Size": "ProblemSize[0] + max(radius)", "FillType": "Random", "FillValue": 2.5},
      {"Name": "order", "Type": "uint8", "MemoryType": "Vector", "AccessType": "ReadWrite", "Size": 9, "FillType": "Random", "FillValue": 4},
      {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "AccessType": "ReadOnly", "FillValue": 1000},
      {"Name": "scale", "Type": "float", "MemoryType": "Scalar", "AccessType": "ReadOnly", "FillValue": 0.5}]}
})json";

T1File t1_with(const char* pointer = "", const char* value = "") {
  Json json = Json::parse(t1_text);
  if (*pointer != 0) {
    if (*value == 0)
      json[Json::json_pointer(pointer).parent_pointer()].erase(Json::json_pointer(pointer).back());
    else
      json[Json::json_pointer(pointer)] = Json::parse(value);
  }
  std::istringstream text(json.dump());
  return read_t1(text);
}

Value at_default(const Problem& problem, const Expression& expression) {
  return evaluate(expression, problem.shapes[0].variables,
                  named_values(problem.kernel.space, problem.kernel.space.default_config()));
}

}  // namespace

TEST_CASE("t1_problem: a complete file becomes a device problem") {
  const TemporaryFolder folder;
  folder.write("smooth.cu", "__global__ void smooth() {}");
  const Problem problem = t1_problem(t1_with(), folder.path());
  CHECK(problem.name == "smooth");
  CHECK(problem.backend == Backend::cuda);
  CHECK(problem.function == "smooth");
  CHECK(problem.kernel.regions.device == "__global__ void smooth() {}");
  CHECK(problem.kernel.space.size() == 3);
  CHECK(problem.build.flags == std::vector<std::string>{"-std=c++17"});
  CHECK(problem.build.compiler == "nvrtc");
  CHECK(problem.reference.flags.empty());
  CHECK(problem.reference.source.empty());
  REQUIRE(problem.launch.size() == 1);
  CHECK(problem.launch[0].function == "smooth");
  CHECK(problem.launch[0].arguments.empty());
  REQUIRE(problem.shapes.size() == 1);
  CHECK(problem.shapes[0].variables == std::vector<NamedValue>{{"problem_size_x", Value{std::int64_t{1000}}},
                                                               {"problem_size_y", Value{std::int64_t{7}}}});
  REQUIRE(problem.arguments.size() == 5);
  const Shape& shape = problem.shapes[0];
  CHECK(problem.arguments[0].role == Role::out);
  CHECK(element_count(problem.arguments[0], shape) == 7000);
  CHECK(problem.arguments[1].type == ElementType::f32);
  CHECK(problem.arguments[1].high == 2.5);
  CHECK(element_count(problem.arguments[1], shape) == 4 * 1005);
  CHECK(problem.arguments[2].role == Role::inout);
  CHECK(problem.arguments[2].high == 5.0);
  CHECK(scalar_value(problem.arguments[3], shape) == Value{std::int64_t{1000}});
  CHECK(scalar_value(problem.arguments[4], shape) == Value{0.5});
}

TEST_CASE("t1_problem: the largest of a tunable of texts is not 0") {
  const TemporaryFolder folder;
  folder.write("smooth.cu", "__global__ void smooth() {}");
  const T1File file = t1_with("/ConfigurationSpace/TuningParameters/2",
                              R"({"Name": "radius", "Type": "string", "Values": "['near', 'far']"})");
  CHECK_THROWS_WITH_AS((void)t1_problem(file, folder.path()), doctest::Contains("max(radius)"), ConfigError);
}

TEST_CASE("t1_problem: launch geometry by divisors, blocks or threads") {
  const TemporaryFolder folder;
  folder.write("smooth.cu", "x");
  const auto grid = [&](const T1File& file) {
    const Problem problem = t1_problem(file, folder.path());
    std::vector<double> sizes;
    for (const Expression& extent : problem.launch.at(0).geometry.grid)
      sizes.push_back(to_number(at_default(problem, extent)));
    CHECK(to_number(at_default(problem, problem.launch[0].geometry.block[0])) == 32);
    return sizes;
  };
  CHECK(grid(t1_with()) == std::vector<double>{32, 7, 1});  // ceil(1000 / (32 * 1)), problem size, 1
  T1File file = t1_with("/KernelSpecification/GridDivX", "");
  CHECK(grid(file) == std::vector<double>{1000, 1, 1});
  file.global_size_type = "OpenCL";
  CHECK(grid(file) == std::vector<double>{32, 1, 1});
  file.shared_memory = 512;
  CHECK(t1_problem(file, folder.path()).launch.at(0).geometry.shared_bytes->text() == "512");
  file.language = "OpenCL";  // where it would be a further parameter, which Local arguments are
  CHECK(!t1_problem(file, folder.path()).launch.at(0).geometry.shared_bytes);
  T1Argument local;
  local.name = "tile";
  local.type = "float2";
  local.memory_type = "Local";
  local.size = "10 * 3";
  file.arguments.push_back(local);
  const Problem with_local = t1_problem(file, folder.path());
  CHECK(with_local.backend == Backend::opencl);
  REQUIRE(with_local.launch.at(0).geometry.local.size() == 1);
  CHECK(with_local.launch[0].geometry.local[0].name == "tile");
  CHECK(to_number(at_default(with_local, with_local.launch[0].geometry.local[0].bytes)) == 240);
  CHECK(with_local.launch[0].arguments.empty());
  CHECK(with_local.arguments.size() + 1 == file.arguments.size());
  // Further ones, and one before others: the launch says the order.
  std::swap(file.arguments.front(), file.arguments.back());
  local.name = "sums";
  local.type = "float";
  file.arguments.push_back(local);
  const Problem mixed = t1_problem(file, folder.path());
  const LaunchStep& step = mixed.launch.at(0);
  REQUIRE(step.geometry.local.size() == 2);
  CHECK(step.geometry.local[1].name == "sums");
  CHECK(to_number(at_default(mixed, step.geometry.local[1].bytes)) == 120);
  REQUIRE(step.arguments.size() == file.arguments.size());
  CHECK((step.arguments.front() == "tile" && step.arguments.back() == "sums"));
  std::swap(file.arguments.front(), file.arguments[file.arguments.size() - 2]);
  CHECK(t1_problem(file, folder.path()).launch.at(0).arguments.empty());
}

TEST_CASE("t1_problem: constant memory is filled by the name of its variable, and is no parameter") {
  const TemporaryFolder folder;
  folder.write("smooth.cu", "float other;\n__constant__ float in[4 * 4];\n__global__ void smooth() {}");
  for (const auto& entry : {std::pair{"/KernelSpecification/Arguments/1/MemoryType", "\"Symbol\""},
                            std::pair{"/KernelSpecification/Arguments/1/MemType", "\"Constant\""}}) {
    const char* pointer = entry.first;  // no structured binding: clang 14 captures none
    CAPTURE(pointer);
    const T1File file = t1_with(pointer, entry.second);
    const Problem problem = t1_problem(file, folder.path());
    const auto found = std::find_if(problem.arguments.begin(), problem.arguments.end(),
                                    [](const Argument& one) { return one.name == "in"; });
    REQUIRE(found != problem.arguments.end());
    CHECK(found->symbol == "in");
    const std::vector<std::string>& order = problem.launch.at(0).arguments;
    CHECK(std::find(order.begin(), order.end(), "in") == order.end());
    for (const Argument& one : problem.arguments)
      if (one.name != "in") CHECK(one.symbol.empty());
  }
}

TEST_CASE("t1_problem: says everything that is missing") {
  const TemporaryFolder folder;
  folder.write("smooth.cu", "x");
  const auto missing = [&](const char* pointer, const char* value) {
    const auto problem = try_t1_problem(t1_with(pointer, value), folder.path());
    REQUIRE_FALSE(problem);
    std::string text;
    for (const std::string& one : problem.error()) text += one + "\n";
    return text;
  };
  CHECK(missing("/KernelSpecification/Language", "\"Vulkan\"") == "a backend for the language \"Vulkan\"\n");
  CHECK(missing("/KernelSpecification/KernelName", "\"\"") == "KernelName\n");
  CHECK(missing("/KernelSpecification/KernelFile", "\"other.cu\"") == "the kernel's file other.cu\n");
  CHECK(missing("/KernelSpecification/KernelFile", "\"\"") == "KernelFile\n");
  const TemporaryFolder outside;
  outside.write("secret.cu", "secret");
  std::filesystem::create_symlink(outside / "secret.cu", folder / "link.cu");
  const std::string absolute = (outside / "secret.cu").string();
  for (const std::string& name : {absolute, std::string("link.cu")})
    CHECK(missing("/KernelSpecification/KernelFile", ('"' + name + '"').c_str()) ==
          "the kernel's file " + name + "\n");
  CHECK(missing("/KernelSpecification/Arguments", "[]") == "Arguments\n");
  CHECK(missing("/KernelSpecification/Arguments/0/Type", "\"custom\"")
            .find("the element type of argument out (custom)\n") == 0);
  CHECK(missing("/KernelSpecification/Arguments/1/MemoryType", "\"Symbol\"") ==
        "a __constant__ variable called in in the kernel's text, for argument in\n");
  CHECK(missing("/KernelSpecification/Arguments/1/MemType", "\"Constant\"") ==
        "a __constant__ variable called in in the kernel's text, for argument in\n");
  folder.write("smooth.cu", "__constant__ float inner[4], in_all; float in;");
  CHECK(missing("/KernelSpecification/Arguments/1/MemType", "\"Constant\"").find("a __constant__ variable") ==
        0);
  CHECK(missing("/KernelSpecification/Arguments/1/MemoryType", "\"Local\"") ==
        "local memory as an argument, for argument in\n");
  CHECK(missing("/KernelSpecification/Arguments/3/Type", "\"float2\"") ==
        "vectors as scalars, for argument n\n");
  CHECK(missing("/KernelSpecification/Arguments/1/FillType", "\"BinaryRaw\"") ==
        "the data of argument in in the folder ()\n");
  CHECK(missing("/KernelSpecification/Arguments/1/FillType", "\"Generator\"")
            .find("its Generator is a program that only KTT runs") != std::string::npos);
  CHECK(missing("/KernelSpecification/Arguments/1/Size", "\"height * 2\"") ==
        "the value of height in the size of argument in ((height * 2) * 4)\n");
  CHECK(missing("/KernelSpecification/Arguments/1/Size", "\"3 *\"")
            .find("the size of argument in as an expression") == 0);
  CHECK(missing("/KernelSpecification/Arguments/1/Size", "").find("the size of argument in\n") == 0);
  CHECK(missing("/KernelSpecification/Arguments/1/Size", "\"0 - 5\"").find("a usable argument in (") == 0);
  CHECK(missing("/KernelSpecification/Arguments/0/Size", "\"bx * 10\"") ==
        "a size without tunables for the output out (bx * 10)\n");
  CHECK(missing("/KernelSpecification/Arguments/3/Type", "\"int8\"").find("a usable argument n (") == 0);
  CHECK(missing("/KernelSpecification/LocalSize/X", "\"block\"")
            .find("the value of block in the block's size X") == 0);
  T1File bare = t1_with("/KernelSpecification/Arguments", "[]");
  bare.kernel_file = "gone.cu";
  CHECK_THROWS_WITH_AS((void)t1_problem(bare, folder.path()),
                       doctest::Contains("lacks: the kernel's file gone.cu; Arguments"), ConfigError);
}

TEST_CASE("t1_problem: data of a file of the folder fill an argument, as KTT's BinaryRaw") {
  const TemporaryFolder folder;
  folder.write("smooth.cu", "__global__ void smooth() {}");
  folder.write("order.bin", "abcdefghi");
  const TemporaryFolder outside;
  outside.write("order.bin", "abcdefghi");
  std::filesystem::create_symlink(outside / "order.bin", folder / "link.bin");
  const auto with = [&](const char* source) {
    Json json = Json::parse(t1_text);
    Json& order = json["KernelSpecification"]["Arguments"][2];
    order["FillType"] = "BinaryRaw";
    order["DataSource"] = source;
    std::istringstream text(json.dump());
    return t1_problem(read_t1(text), folder.path());
  };
  const Problem problem = with("order.bin");
  const Argument& order = problem.arguments[2];
  CHECK(order.initialisation == Initialisation::file);
  REQUIRE(order.files.size() == 1);
  CHECK(order.files[0].bytes == 9);
  CHECK(!order.files[0].digest.empty());
  for (const char* const bad : {"none.bin", "../order.bin", "link.bin", "/etc/passwd", "", "."}) {
    CAPTURE(bad);
    CHECK_THROWS_WITH_AS((void)with(bad), doctest::Contains("the data of argument order"), ConfigError);
  }
  folder.write("order.bin", "abc");
  CHECK_THROWS_WITH_AS((void)with("order.bin"), doctest::Contains("3 bytes of 9"), ConfigError);
}

TEST_CASE("t1_problem: the recorded spaces lack at least their kernels") {
  const char* shared = std::getenv("KERNELSEARCH_SHARED");
  const std::filesystem::path data =
      std::filesystem::path(shared != nullptr ? shared : KERNELSEARCH_SOURCE_DIR "/../shared") / "data" /
      "spaces";
  if (!std::filesystem::is_directory(data)) {
    MESSAGE("skipped: no recorded spaces at KERNELSEARCH_SHARED");
    return;
  }
  for (const char* name : {"convolution", "dedispersion", "hotspot"}) {
    const auto problem = try_t1_problem(read_t1(data / (std::string(name) + ".t1.json")), data);
    CAPTURE(name);
    REQUIRE_FALSE(problem);
    const std::vector<std::string>& missing = problem.error();
    REQUIRE_FALSE(missing.empty());
    CHECK(missing.front().find("the kernel's file ") == 0);
    for (const std::string& one : missing) {
      CAPTURE(one);
      CHECK(one.find("grid") == std::string::npos);
      CHECK(one.find("as an expression") == std::string::npos);
    }
  }
}
