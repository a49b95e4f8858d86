// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/read_problem.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/problem/inputs.hpp"
#include "problem/problem_texts.hpp"

using namespace kernelsearch;
using namespace kernelsearch_test;

namespace {

Value integer(std::int64_t value) {
  return Value{value};
}

const Tunable& tunable(const Problem& problem, const char* name) {
  return problem.kernel.space.tunable(problem.kernel.space.find(name).value());
}

Value default_of(const Problem& problem, const char* name) {
  const Space& space = problem.kernel.space;
  return space.value(space.default_config(), space.find(name).value());
}

}  // namespace

TEST_CASE("read_problem: reads every part") {
  const Problem problem = parsed(full_problem);
  CHECK(problem.name == "matmul");
  CHECK(problem.description == "C = A B");
  CHECK(problem.backend == Backend::host);
  CHECK(problem.function == "matmul");
  CHECK(problem.kernel.regions.device == "void matmul() {}");
  CHECK(problem.kernel.regions.host.empty());
  CHECK(problem.kernel.regions.macros == "#define A 1\n#define B 2\n");
  CHECK(problem.reference.source == "void matmul_reference() {}");
  CHECK(problem.reference.function == "matmul_reference");
  CHECK(problem.reference.flags == std::vector<std::string>{"-O2"});
  CHECK(problem.build.compiler == "g++");
  CHECK(problem.build.flags == std::vector<std::string>{"-O3", "${FLAG}"});
  CHECK(problem.aggregate == Aggregate::geometric_mean);
  CHECK(problem.threads == 2);
  CHECK(evaluate(*problem.operations, problem.shapes[0].variables) == integer(2LL * 512 * 512 * 512));
  CHECK(evaluate(*problem.bytes, {}) == integer(1024));
  CHECK(is_valid(problem, problem.shapes[0], problem.kernel.space.default_config()));
  CHECK_FALSE(is_valid(problem, problem.shapes[1], problem.kernel.space.default_config()));
}

TEST_CASE("read_problem: arguments") {
  const Problem problem = parsed(full_problem);
  REQUIRE(problem.arguments.size() == 7);
  const Shape& shape = problem.shapes[0];
  CHECK_FALSE(problem.arguments[0].is_array);
  CHECK(scalar_value(problem.arguments[0], shape) == integer(512));
  CHECK(scalar_value(problem.arguments[1], shape) == Value{1024.0});
  const Argument& a = problem.arguments[2];
  CHECK(a.is_array);
  CHECK(a.role == Role::in);
  CHECK(a.initialisation == Initialisation::normal);
  CHECK(a.low == 1.0);
  CHECK(a.high == 0.5);
  CHECK(element_count(a, shape) == 512 * 512);
  CHECK(problem.arguments[3].type == ElementType::u16);
  CHECK(element_count(problem.arguments[4], shape,
                      named_values(problem.kernel.space, problem.kernel.space.default_config())) == 512 * 8);
  const Argument& c = problem.arguments[5];
  CHECK(c.role == Role::out);
  CHECK(problem.tolerance_of(c).absolute == 1e-3);
  CHECK(problem.tolerance_of(c).relative == default_tolerance(ElementType::f32).relative);
  const Argument& d = problem.arguments[6];
  CHECK(d.role == Role::inout);
  CHECK(d.low == 0.0);
  CHECK(d.high == 4.0);
  CHECK(problem.tolerance_of(d).absolute == 1e-8);
}

TEST_CASE("read_problem: ranges that are not given suit the type") {
  const Problem problem =
      parsed(R"({"schema": 1, "name": "x", "function": "f", "kernel": {"device": {"text": "f"}},
    "arguments": [{"name": "a", "type": "i32", "size": 9}, {"name": "b", "type": "u8", "size": 9},
                  {"name": "c", "type": "f16", "size": 9}, {"name": "d", "type": "bool", "size": 9},
                  {"name": "e", "type": "f32", "size": 9, "init": "normal"},
                  {"name": "y", "type": "f32", "size": 1, "role": "out"}], "shapes": [{}]})");
  CHECK(problem.arguments[0].low == -64.0);
  CHECK(problem.arguments[0].high == 64.0);
  CHECK(problem.arguments[1].low == 0.0);
  CHECK(problem.arguments[1].high == 128.0);
  CHECK(problem.arguments[2].low == -1.0);
  CHECK(problem.arguments[2].high == 1.0);
  CHECK(problem.arguments[3].low == 0.0);
  CHECK(problem.arguments[4].low == 0.0);
  CHECK(problem.arguments[4].high == 1.0);
  CHECK(problem.shapes[0].name == "shape 1");
}

TEST_CASE("read_problem: lists and ranges expand to the product of shapes") {
  const Problem problem = parsed(full_problem);
  REQUIRE(problem.shapes.size() == 5);
  CHECK(problem.shapes[0].name == "square");
  CHECK(problem.shapes[0].weight == 1.0);
  CHECK(problem.shapes[1].name == "odd n=61 k=33");
  CHECK(problem.shapes[2].name == "odd n=61 k=35");
  CHECK(problem.shapes[4].name == "odd n=63 k=35");
  CHECK(problem.shapes[4].weight == 0.0);
  CHECK(problem.shapes[4].variables == std::vector<NamedValue>{{"n", integer(63)}, {"k", integer(35)}});
  CHECK(parsed(small_problem).shapes[0].name == "n=1000");
}

TEST_CASE("read_problem: every form of tunable") {
  const Problem problem = parsed(full_problem);
  const Space& space = problem.kernel.space;
  REQUIRE(space.size() == 10);
  CHECK(space.tunable(0).name == "TILE");  // in the order of the file
  CHECK(space.tunable(9).name == "MIX");
  CHECK(tunable(problem, "TILE").values == std::vector<Value>{integer(4), integer(8), integer(16)});
  CHECK(tunable(problem, "UNROLL").values.size() == 8);
  CHECK(tunable(problem, "UNROLL").values.back() == integer(8));
  CHECK(tunable(problem, "P").values.size() == 5);
  CHECK(tunable(problem, "P").values.back() == integer(256));
  CHECK(tunable(problem, "PAD").values == std::vector<Value>{false, true});
  CHECK(tunable(problem, "ORDER").values.size() == 6);
  CHECK(tunable(problem, "FLAG").values[1] == Value{std::string("-ffast-math")});
  CHECK(tunable(problem, "X").active_if->text() == "PAD");
  CHECK(tunable(problem, "SCALE").values.size() == 5);
  CHECK(tunable(problem, "GRID").values ==
        std::vector<Value>{integer(1), integer(2), integer(4), integer(8)});
  CHECK(tunable(problem, "MIX").values == std::vector<Value>{1.0, 2.5});
  CHECK(default_of(problem, "TILE") == integer(8));
  CHECK(default_of(problem, "UNROLL") == integer(1));
  CHECK(default_of(problem, "X") == integer(2));
  CHECK(default_of(problem, "ORDER") == Value{Permutation{1, 0, 2}});
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed);
    const Config config = space.sample(rng);
    CHECK(to_number(space.value(config, 0)) * to_number(space.value(config, 1)) <= 32);
  }
}

TEST_CASE(
    "read_problem: without a declared default the valid configuration nearest to the first values serves") {
  std::string text = small_problem;
  text.insert(text.rfind('}'),
              R"(, "tunables": {"A": [1, 2], "B": [1, 2, 3]}, "constraints": ["A + B >= 4"])");
  const Problem problem = parsed(text);
  CHECK(problem.kernel.space.contains(problem.kernel.space.default_config()));
  const auto& b = tunable(problem, "B");
  CHECK(default_of(problem, "B") == b.values[b.default_index]);
}

TEST_CASE("read_problem: a problem without tunables has one configuration") {
  const Problem problem = parsed(small_problem);
  CHECK(problem.kernel.space.size() == 0);
  CHECK(problem.kernel.space.count() == BigCount(1));
  CHECK(problem.reference.source.empty());
  CHECK(problem.build.compiler == "g++");
}

TEST_CASE("read_problem: device problems have a launch geometry and no host build") {
  const Problem problem = parsed(R"({"schema": 1, "name": "x", "backend": "cuda", "function": "f",
    "kernel": {"device": {"text": "f"}}, "shapes": [{"n": 1000}], "tunables": {"BLOCK": [64, 128]},
    "arguments": [{"name": "y", "type": "f32", "size": "n", "role": "out"}],
    "launch": {"grid": ["(n + BLOCK - 1) // BLOCK"], "block": ["BLOCK", 1], "cluster": [2], "shared_bytes": "4*BLOCK"}})");
  CHECK(problem.backend == Backend::cuda);
  CHECK(problem.build.compiler == "nvrtc");
  CHECK(problem.reference.flags.empty());
  CHECK(problem.build.flags.empty());
  const auto tunables = named_values(problem.kernel.space, problem.kernel.space.default_config());
  REQUIRE(problem.launch.size() == 1);
  const LaunchStep& step = problem.launch[0];
  CHECK(step.function == "f");
  CHECK(step.zero.empty());
  CHECK(step.arguments.empty());
  CHECK_FALSE(step.condition);
  CHECK(evaluate(step.geometry.grid[0], problem.shapes[0].variables, tunables) == integer(16));
  CHECK(step.geometry.block.size() == 2);
  CHECK(step.geometry.cluster.size() == 1);
  CHECK(step.geometry.shared_bytes->text() == "4*BLOCK");
}

TEST_CASE("read_problem: sources come from files of the folder") {
  const TemporaryFolder folder;
  folder.write("kernel.cpp", "void fill() { /* from the file */ }\n");
  folder.write("sub/macros.hpp", "#define X 1\n");
  std::string text = small_problem;
  text.replace(text.find(R"({"text": "void fill() {}"})"), 26, R"("kernel.cpp", "macros": "sub/macros.hpp")");
  folder.write("problem.json", text);
  for (const auto& path : {folder.path(), folder.path() / "problem.json"}) {
    const Problem problem = read_problem(path);
    CHECK(problem.kernel.regions.device == "void fill() { /* from the file */ }\n");
    CHECK(problem.kernel.regions.macros == "#define X 1\n");
    CHECK(problem.folder == folder.path());
  }
  CHECK_THROWS_WITH_AS((void)read_problem(folder.path() / "nowhere"), doctest::Contains("kernelsearch new"),
                       ConfigError);
  folder.write("problem.json", "{\n\n\"shema\": 1}");
  CHECK_THROWS_WITH_AS((void)read_problem(folder.path()),
                       doctest::Contains("problem.json:3: /shema is an unknown key"), ConfigError);
}

TEST_CASE("read_problem: sources outside of the folder are refused, also behind a link") {
  const TemporaryFolder outside;
  outside.write("secret.cpp", "secret");
  const TemporaryFolder folder;
  std::filesystem::create_symlink(outside.path() / "secret.cpp", folder.path() / "link.cpp");
  folder.write("kernel.cpp", "void fill() {}");
  folder.write("empty.cpp", " \n");
  std::filesystem::create_directories(folder.path() / "sub");
  const auto with = [&](const std::string& source) {
    std::string text = small_problem;
    text.replace(text.find(R"({"text": "void fill() {}"})"), 26, source);
    return refusal(text, folder.path());
  };
  CHECK(with(R"("kernel.cpp")") == "accepted");
  CHECK(with(R"("./sub/../kernel.cpp")") == "accepted");
  const std::string up = "../" + outside.path().filename().string() + "/secret.cpp";
  CHECK(with('"' + up + '"').find("leads out of the problem's folder") != std::string::npos);
  CHECK(with(R"("link.cpp")").find("leads out of the problem's folder") != std::string::npos);
  CHECK(with('"' + (outside.path() / "secret.cpp").string() + '"').find("absolute") != std::string::npos);
  CHECK(with(R"("kernal.cpp")").find(R"(did you mean "kernel.cpp"?)") != std::string::npos);
  CHECK(with(R"("sub")").find("not there") != std::string::npos);
  CHECK(with(R"("")").find("names no file") != std::string::npos);
  CHECK(with(R"("empty.cpp")").find("empty source") != std::string::npos);
  CHECK(with(R"("a\u0000b")").find("names no file") != std::string::npos);
  CHECK(with("7").find("not a string") != std::string::npos);
}
