// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <string>

#include "evaluator/host/support.hpp"
#include "judge/fresh_inputs.hpp"
#include "judge/input_generator.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/host/host_lint_runner.hpp"
#include "kernelsearch/judge/generated_sizes.hpp"
#include "kernelsearch/judge/translation_unit.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;
using support::quick;

namespace {

constexpr const char* good_generator = R"(
#include <kernelsearch_inputs.hpp>
using namespace kernelsearch::inputs;
void make_sizes(Sizes& sizes) { sizes.set("nnz", 3 * sizes.variable("n")); }
void make_inputs(Request& request) {
  const auto start = request.array<std::int32_t>("start");
  const auto n = request.variable("n"), nnz = request.variable("nnz");
  for (std::int64_t i = 0; i <= n; ++i)
    start[i] = request.flavour() == Flavour::edge ? (i == 0 ? 0 : nnz) : i * nnz / n;
  Random random = request.random("columns");
  for (auto& one : request.array<std::int32_t>("column")) one = static_cast<std::int32_t>(random.below(n));
}
)";

constexpr const char* spmv =
    R"(extern "C" void spmv(int n, const int* start, const int* column, const float* value, float* y) {
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int k = start[i]; k < start[i + 1]; ++k) sum += value[k] * static_cast<float>(column[k]);
    y[i] = sum;
  }
})";

std::string sparse(const std::string& generator, const std::string& kernel = spmv) {
  return R"({"schema": 1, "name": "spmv", "function": "spmv", "kernel": {"device": {"text": )" +
         support::quoted(kernel) + R"(}}, "generator": {"source": {"text": )" + support::quoted(generator) +
         R"(}, "sizes": ["nnz"]},
    "arguments": [{"name": "n", "type": "i32"},
      {"name": "start", "type": "i32", "size": "n + 1", "init": "generator"},
      {"name": "column", "type": "i32", "size": "nnz", "init": "generator"},
      {"name": "value", "type": "f32", "size": "nnz"}, {"name": "y", "type": "f32", "size": "n", "role": "out"}],
    "shapes": [{"name": "small", "n": 17, "weight": 0}, {"name": "large", "n": 1000}],
    "reference": {"source": {"text": "void r(int n, const int* start, const int* column, const real* value, real* y) { for (int i = 0; i < n; ++i) { y[i] = 0; for (int k = start[i]; k < start[i + 1]; ++k) y[i] += value[k] * column[k]; } }"}, "function": "r"},
    "build": {"flags": ["-O1"]}})";
}

Evaluation judged(const std::string& text, const std::filesystem::path& folder = support::sources) {
  const Problem problem = parse_problem(text, folder);
  HostEvaluator evaluator(problem, quick());
  return evaluator.evaluate(support::default_candidate(problem), {});
}

/// The message of what a generator does wrong.
std::string complaint(const std::string& generator) {
  HostOptions options = quick();
  options.limits.run_seconds = 3;
  try {
    const Problem problem = parse_problem(sparse(generator), support::sources);
    HostEvaluator evaluator(problem, options);
    return evaluator.evaluate(support::default_candidate(problem), {}).reason;
  } catch (const ConfigError& error) {
    return error.what();
  }
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

bool contains(const std::string& text, const std::string& words) {
  const bool found = text.find(words) != std::string::npos;
  if (!found) MESSAGE(text);
  return found;
}

}  // namespace

TEST_CASE("a generator fills arrays of sizes that it gives, and the kernel is judged on them") {
  const Evaluation e = judged(sparse(good_generator));
  INFO(e.reason);
  CHECK(e.verdict == Verdict::ok);
  const Evaluation wrong = judged(
      sparse(good_generator, replaced(spmv, "k < start[i + 1]", "k < start[i + 1] - (start[i + 1] > 2)")));
  CHECK(wrong.verdict == Verdict::wrong_result);
}

TEST_CASE("a generator's sizes are variables of each shape, computed once") {
  Problem problem = parse_problem(sparse(good_generator), support::sources);
  fill_generated_sizes(problem, quick());
  REQUIRE(problem.shapes[1].generated.size() == 1);
  CHECK(problem.shapes[1].generated[0].first == "nnz");
  CHECK(problem.shapes[1].generated[0].second == Value{std::int64_t{3000}});
  problem.shapes[1].generated[0].second = Value{std::int64_t{5}};
  fill_generated_sizes(problem, quick());
  CHECK(problem.shapes[1].generated[0].second == Value{std::int64_t{5}});
}

TEST_CASE("a generator's contents follow seed, flavour and shape") {
  Problem problem = parse_problem(sparse(good_generator), support::sources);
  fill_generated_sizes(problem, quick());
  detail::InputGenerator generator(problem, quick());
  const auto plan = detail::plan_shape(problem, problem.default_candidate(), 0);
  const auto one = generator.contents(plan, InputFlavour::declared, 1);
  CHECK(one == generator.contents(plan, InputFlavour::declared, 1));
  const auto two = generator.contents(plan, InputFlavour::declared, 2);
  CHECK(one[1] == two[1]);
  CHECK(one[2] != two[2]);
  CHECK(generator.contents(plan, InputFlavour::edge, 1)[1] != one[1]);
  const auto some = generator.contents(plan, InputFlavour::declared, 1, {false, false, true, false, false});
  CHECK(some[1].empty());
  CHECK(some[3].empty());
  CHECK(some[2] == one[2]);
}

TEST_CASE("arrays of a generator are others for every call, those of one call belong together") {
  const Problem problem = [] {
    Problem read = parse_problem(sparse(good_generator), support::sources);
    fill_generated_sizes(read, quick());
    return read;
  }();
  const detail::ShapePlan plan = detail::plan_shape(problem, problem.default_candidate(), 1);
  detail::InputGenerator generator(problem, quick());
  detail::FreshInputs fresh(problem, plan, 1);
  CHECK(fresh.calls_filled_in(1e-9) > 1000000);  // nothing waits for a generator yet
  fresh.generate_by(generator, plan);
  CHECK(fresh.generates(1));
  CHECK(fresh.generates(2));
  CHECK(!fresh.generates(3));
  CHECK(fresh.calls_filled_in(1e-9) == 1);
  CHECK(fresh.calls_filled_in(1e3) > 1);
  detail::Slots slots(plan, detail::Storage::native, 1 << 24, 4, 4);
  std::vector<std::byte> inputs(slots.arena_bytes().inputs), outputs(slots.arena_bytes().outputs);
  slots.attach({inputs.data(), outputs.data(), 0, 0}, 5);
  const detail::Contents given = generator.contents(plan, InputFlavour::declared, 9, fresh.others());
  for (std::size_t slot = 0; slot < 4; ++slot) slots.fill(slot, given, 7, fresh, slot == 3 ? 0 : slot);
  const auto columns = [&](std::size_t slot) {
    return std::vector<std::byte>(slots.data(slot, 2), slots.data(slot, 2) + slots.bytes(2));
  };
  CHECK(columns(0) != given[2]);
  CHECK(columns(0) != columns(1));
  CHECK(columns(1) != columns(2));
  CHECK(columns(0) == columns(3));  // the same seed
}

TEST_CASE("a generator may give every value of a type: none of them is taken for an unfilled element") {
  const std::string kernel =
      "extern \"C\" void f(int n, const unsigned short* x, unsigned short* y) { for (int i = 0; i < n; ++i) "
      "y[i] = x[i]; }";
  const auto text = [&](const std::string& value) {
    return R"({"schema": 1, "name": "all", "function": "f", "kernel": {"device": {"text": )" +
           support::quoted(kernel) + R"(}}, "generator": {"source": {"text": )" +
           support::quoted(
               "#include <kernelsearch_inputs.hpp>\nusing namespace kernelsearch::inputs;\n"
               "void make_inputs(Request& request) {\n  unsigned i = 0;\n"
               "  for (auto& one : request.array<std::uint16_t>(\"x\")) { if (" +
               value + ") one = static_cast<std::uint16_t>(i); ++i; }\n}\n") +
           R"(}}, "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "u16", "size": "n", "init": "generator"},
      {"name": "y", "type": "u16", "size": "n", "role": "out"}], "shapes": [{"name": "one", "n": 65536}],
    "reference": {"source": {"text": "void r(int n, const unsigned short* x, unsigned short* y) { for (int i = 0; i < n; ++i) y[i] = x[i]; }"}, "function": "r"}})";
  };
  const auto contents = [&](const std::string& value) {
    const Problem problem = parse_problem(text(value), support::sources);
    detail::InputGenerator generator(problem, quick());
    return generator.contents(detail::plan_shape(problem, problem.default_candidate(), 0),
                              InputFlavour::declared, 1);
  };
  CHECK(contents("true")[1].size() == 2 * 65536);
  CHECK_THROWS_WITH_AS(contents("i != 77"), doctest::Contains("write every element"), ConfigError);
}

TEST_CASE("what a generator does wrong is said") {
  const std::string good = good_generator;
  CHECK(contains(complaint(replaced(good, "i <= n", "i < n")), "leaves elements unfilled"));
  CHECK(contains(complaint(replaced(good, "i <= n; ++i", "i <= n + 1; ++i")), "writes past an array"));
  CHECK(contains(complaint(replaced(good, "random.below(n)",
                                    "random.below(n) + sizeof(void*) * 0 + (std::size_t)new char / 16")),
                 "does not give the same for the same seed"));
  CHECK(contains(complaint(replaced(good, "Random random", "*(volatile int*)0 = 1; Random random")),
                 "SIGSEGV"));
  CHECK(
      contains(complaint(replaced(good, "Random random", "for (volatile int i = 0;;) i = 1; Random random")),
               "takes too long"));
  CHECK(contains(complaint(replaced(good, "Random random",
                                    "throw std::runtime_error(\"no such image\"); Random random")),
                 "gives up: spmv: no such image (shape small)"));
  CHECK(contains(complaint(replaced(good, "<std::int32_t>(\"start\")", "<std::int64_t>(\"start\")")),
                 "elements of start have 4 bytes, asked for as 8"));
  CHECK(contains(complaint(replaced(good, "(\"start\")", "(\"starts\")")), "no argument starts"));
  CHECK(contains(complaint(replaced(good, "variable(\"nnz\")", "variable(\"nn\")")),
                 "the shape has no variable nn"));
  CHECK(contains(complaint(replaced(good, "sizes.set(\"nnz\", 3 * sizes.variable(\"n\"))", "(void)sizes")),
                 "gives no value for a size: spmv: nnz"));
  CHECK(contains(complaint(replaced(good, "3 * sizes", "-3 * sizes")), "a size must not be negative"));
  CHECK(contains(complaint(replaced(good, "const auto n =", "const auto n = oops,")), "inputs.cpp:7"));
}

TEST_CASE("a generator that leaves bytes of a narrow type is found out") {
  const std::string text = R"({"schema": 1, "name": "x", "function": "f",
    "kernel": {"device": {"text": "extern \"C\" void f(const unsigned char* x, unsigned char* y) { y[0] = x[0]; y[1] = x[1]; }"}},
    "generator": {"source": {"text": "#include <kernelsearch_inputs.hpp>\nvoid make_inputs(kernelsearch::inputs::Request& r) { r.array<std::uint8_t>(\"x\")[0] = 1; }"}},
    "arguments": [{"name": "x", "type": "u8", "size": 2, "init": "generator"}, {"name": "y", "type": "u8", "size": 2, "role": "out"}],
    "shapes": [{"name": "s"}]})";
  CHECK_THROWS_WITH_AS((void)judged(text), doctest::Contains("does not give the same"), ConfigError);
}

TEST_CASE("lint draws from the generator too") {
  Problem problem = parse_problem(sparse(good_generator), support::sources);
  fill_generated_sizes(problem, quick());
  HostLintRunner runner(problem, quick());
  for (const LintFinding& finding : lint(problem, runner)) {
    INFO(finding.what);
    CHECK(finding.severity == LintFinding::Severity::warning);
  }
}

TEST_CASE("a Matrix Market file gives row pointers, columns, values and sizes") {
  const TemporaryFolder folder;
  folder.write("m.mtx",
               support::read(std::filesystem::path(KERNELSEARCH_SOURCE_DIR) / "examples/data/small.mtx"));
  const std::string text =
      R"({"schema": 1, "name": "spmv", "function": "spmv", "kernel": {"device": {"text": )" +
      support::quoted(spmv) + R"(}},
    "generator": {"matrix_market": "m.mtx", "row_pointers": "start", "columns": "column", "values": "value"},
    "arguments": [{"name": "rows", "type": "i32"},
      {"name": "start", "type": "i32", "size": "rows + 1", "init": "generator"},
      {"name": "column", "type": "i32", "size": "entries", "init": "generator"},
      {"name": "value", "type": "f32", "size": "entries", "init": "generator"},
      {"name": "y", "type": "f32", "size": "rows", "role": "out"}],
    "shapes": [{"name": "only"}]})";
  Problem problem = parse_problem(text, folder.path());
  fill_generated_sizes(problem, quick());
  CHECK(problem.shapes[0].generated == std::vector<NamedValue>{{"rows", Value{std::int64_t{5}}},
                                                               {"columns", Value{std::int64_t{5}}},
                                                               {"entries", Value{std::int64_t{9}}}});
  detail::InputGenerator generator(problem, quick());
  const auto contents = generator.contents(detail::plan_shape(problem, problem.default_candidate(), 0),
                                           InputFlavour::declared, 1);
  const auto values = [&](std::size_t a) {
    std::vector<double> result;
    for (std::size_t i = 0; i < contents[a].size(); i += 4)
      result.push_back(load_element(problem.arguments[a].type, &contents[a][i]));
    return result;
  };
  CHECK(values(1) == std::vector<double>{0, 2, 5, 6, 7, 9});
  CHECK(values(2) == std::vector<double>{0, 1, 0, 1, 4, 2, 3, 1, 4});
  CHECK(values(3) == std::vector<double>{4, -1, -1, 4, -0.5, 2.5, 1, -0.5, 3});
  CHECK(judged(text, folder.path()).verdict == Verdict::ok);
  folder.write("m.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n");
  detail::InputGenerator changed(problem, quick());
  CHECK_THROWS_WITH_AS((void)changed.sizes(problem.shapes[0]), doctest::Contains("finds its matrix changed"),
                       ConfigError);
}

TEST_CASE("files, sorted keys and offsets reach the kernel") {
  const TemporaryFolder folder;
  folder.write("x.bin", std::string("\0\0\0\x40\0\0\x80\x40\0\0\xc0\x40", 12));  // 2, 4, 6
  const std::string text =
      R"({"schema": 1, "name": "x", "function": "f", "kernel": {"device": {"text": )" +
      support::quoted(
          R"(extern "C" void f(const float* x, const unsigned short* keys, const int* start, float* y) {
    for (int i = 0; i < 3; ++i) y[i] = x[i];
    y[3] = 1; for (int i = 0; i < 99; ++i) if (keys[i] > keys[i + 1]) y[3] = 0;
    y[4] = start[0]; y[5] = start[10]; y[6] = 1; for (int i = 0; i < 10; ++i) if (start[i] > start[i + 1]) y[6] = 0;
  })") +
      R"(}}, "reference": {"source": {"text": "void r(const real*, const unsigned short*, const int*, real* y) { y[0] = 2; y[1] = 4; y[2] = 6; y[3] = 1; y[4] = 0; y[5] = 50; y[6] = 1; }"}, "function": "r"},
    "arguments": [{"name": "x", "type": "f32", "size": 3, "init": "file", "file": "x.bin"},
      {"name": "keys", "type": "u16", "size": 100, "init": "sorted"},
      {"name": "start", "type": "i32", "size": 11, "init": "offsets", "total": 50, "skew": 1},
      {"name": "y", "type": "f32", "size": 7, "role": "out"}], "shapes": [{"name": "s"}]})";
  const Evaluation e = judged(text, folder.path());
  INFO(e.reason);
  CHECK(e.verdict == Verdict::ok);
}

namespace {

std::string particles(const std::string& declaration, const std::string& body) {
  return R"({"schema": 1, "name": "p", "function": "f", "kernel": {"device": {"text": )" +
         support::quoted(declaration +
                         "\nextern \"C\" void f(int n, const Particle* in, Particle* out) {\n  for (int i = "
                         "0; i < n; ++i) { " +
                         body + " }\n}\n") +
         R"(}}, "reference": {"source": {"text": )" +
         support::quoted(
             "struct Particle { float x; double m; std::int16_t id; };\nvoid r(int n, const Particle* in, "
             "Particle* out) { for (int "
             "i = 0; i < n; ++i) { out[i].x = 2 * in[i].x; out[i].m = in[i].m + 1; out[i].id = in[i].id; } "
             "}") +
         R"(}, "function": "r"}, "shapes": [{"name": "s", "n": 100}], "build": {"flags": ["-O1"]},
    "arguments": [{"name": "n", "type": "i32"},
      {"name": "before", "size": "n", "type": {"struct": "Particle", "fields": [{"name": "x", "type": "f32"}, {"name": "m", "type": "f64"}, {"name": "id", "type": "i16"}]}},
      {"name": "after", "role": "out", "size": "n", "type": {"struct": "Particle", "fields": [{"name": "x", "type": "f32"}, {"name": "m", "type": "f64"}, {"name": "id", "type": "i16"}]}}]})";
}

constexpr const char* layout = "struct Particle { float x; double m; std::int16_t id; };";
constexpr const char* right = "out[i].x = 2 * in[i].x; out[i].m = in[i].m + 1; out[i].id = in[i].id;";

}  // namespace

TEST_CASE("arrays of structs are filled and compared field by field") {
  const Evaluation e = judged(particles(layout, right));
  INFO(e.reason);
  CHECK(e.verdict == Verdict::ok);
  const Evaluation wrong = judged(particles(layout, replaced(right, "in[i].m + 1", "in[i].m + 1.001")));
  CHECK(wrong.verdict == Verdict::wrong_result);
  CHECK(contains(wrong.reason, "].m is"));
  CHECK(judged(particles(layout, replaced(right, "out[i].id = in[i].id;", "out[i].id = in[i].id + 1;")))
            .verdict == Verdict::wrong_result);
  const Evaluation unwritten = judged(particles(layout, replaced(right, "out[i].x = 2 * in[i].x;", "")));
  CHECK(unwritten.verdict == Verdict::wrong_result);
  // within the tolerance of its type: a float's is wider than a double's
  CHECK(judged(particles(layout, replaced(right, "2 * in[i].x", "2.00001f * in[i].x"))).verdict ==
        Verdict::ok);
}

TEST_CASE("structs that are laid out otherwise do not build, and the field is named") {
  const std::pair<std::string, std::string> wrong[] = {
      {"struct Particle { double m; float x; std::int16_t id; };", "Particle.x begins at byte 0"},
      {"struct Particle { float x; double m; std::int32_t id; };", "Particle.id is i16"},
      {"struct Particle { std::int32_t x; double m; std::int16_t id; };", "Particle.x is f32"},
      {"struct Particle { float x; double m; std::uint16_t id; };", "Particle.id is i16"},
      {"struct Particle { float x; double m; std::int16_t id; int more[4]; };", "Particle has 24 bytes"},
  };
  for (const auto& [declaration, words] : wrong) {
    const Evaluation e = judged(particles(declaration, right));
    CHECK(e.verdict == Verdict::build_failed);
    CHECK(contains(e.reason, "the problem says that " + words));
  }
}

TEST_CASE("lint takes structs field by field") {
  const Problem problem = parse_problem(particles(layout, right), support::sources);
  HostLintRunner runner(problem, quick());
  for (const LintFinding& finding : lint(problem, runner)) {
    INFO(finding.what);
    CHECK(finding.severity == LintFinding::Severity::warning);
  }
}

TEST_CASE("headers, further files and libraries; errors name the files of the folder") {
  const TemporaryFolder folder;
  folder.write(
      "kernel.cpp",
      "#include \"scale.hpp\"\n#include <deep.hpp>\n#include <cmath>\nextern \"C\" void scale(int n, const "
      "float* x, float* y) {\n  for (int i = 0; i < n; ++i) y[i] = tripled(x[i]) + ONE;\n}\n");
  folder.write("scale.hpp", "#pragma once\nfloat tripled(float x);\n");
  folder.write("include/deep.hpp", "#define ONE 1\n");
  folder.write("helper.cpp", "#include \"scale.hpp\"\nfloat tripled(float x) { return FACTOR * x; }\n");
  folder.write("reference.cpp",
               "#include \"own.hpp\"\nvoid scale_reference(int n, const real* x, real* y) { for (int i = 0; "
               "i < n; ++i) y[i] = factor() * x[i] + 1; }\n");
  folder.write("own.hpp", "real factor();\n");
  folder.write("more.cpp", "#include \"own.hpp\"\nreal factor() { return 3; }\n");
  const std::string text =
      R"({"schema": 1, "name": "scale", "function": "scale", )" + std::string(support::arguments) +
      R"(, "kernel": {"device": "kernel.cpp", "include": ["include"], "sources": ["helper.cpp"]},
    "shapes": [{"name": "s", "n": 1000}], "tunables": {"FACTOR": [3, 4]},
    "reference": {"source": "reference.cpp", "function": "scale_reference", "sources": ["more.cpp"]},
    "build": {"flags": ["-O1"], "libraries": ["m"]}})";
  CHECK(judged(text, folder.path()).verdict == Verdict::ok);
  HostOptions plain = quick();
  plain.sandbox = Sandbox::none;
  plain.cache_directory = support::scratch() / "plain";
  {
    const Problem problem = parse_problem(text, folder.path());
    HostEvaluator evaluator(problem, plain);
    CHECK(evaluator.evaluate(support::default_candidate(problem), {}).verdict == Verdict::ok);
  }
  folder.write("kernel.cpp", support::read(folder / "kernel.cpp") + "\nint broken() { return nothing; }\n");
  CHECK(contains(judged(text, folder.path()).reason, "kernel.cpp:8:"));
  folder.write("kernel.cpp",
               replaced(support::read(folder / "kernel.cpp"), "int broken() { return nothing; }", ""));
  folder.write("helper.cpp", "\n\nfloat tripled(float x) { return missing * x; }\n");
  CHECK(contains(judged(text, folder.path()).reason, "helper.cpp:3:"));
  folder.write("helper.cpp", "#include \"scale.hpp\"\nfloat tripled(float x) { return FACTOR * x; }\n");
  folder.write("scale.hpp", "\nfloat tripled(flot x);\n");
  const std::string reason = judged(text, folder.path()).reason;
  CHECK(contains(reason, "scale.hpp:2:"));
  CHECK_FALSE(contains(reason, "/problem/"));
  folder.write("scale.hpp", "float tripled(float x);\n");
  CHECK(contains(judged(replaced(text, "[\"m\"]", "[\"nolibrary\"]"), folder.path()).reason, "nolibrary"));
}

TEST_CASE("bit_exact: the kernel's bits are the reference's, in the kernel's precision") {
  const std::string scaled =
      "extern \"C\" void scale(int n, const float* x, float* y) { for (int i = 0; i < n; ++i) y[i] = 3 * "
      "x[i] + 1; }";
  const std::string exact = R"(, "bit_exact": true)";
  const Evaluation e = support::judge(scaled, quick(), exact);
  INFO(e.reason);
  CHECK(e.verdict == Verdict::ok);
  const std::string off =
      "#include <cmath>\nextern \"C\" void scale(int n, const float* x, float* y) { for (int i = 0; i < n; "
      "++i) y[i] = "
      "std::nextafter(3 * x[i] + 1, 1e9f); }";
  CHECK(support::judge(off).verdict == Verdict::ok);
  const Evaluation wrong = support::judge(off, quick(), exact);
  CHECK(wrong.verdict == Verdict::wrong_result);
  CHECK(contains(wrong.reason, "y[0] is"));
  CHECK(contains(wrong.reason, "bit by bit (0x"));
}

TEST_CASE("a kernel that is refused memory is told of its limit and of the key that raises it") {
  const std::string kernel = R"(extern "C" void scale(int n, const float* x, float* y) {
    volatile float* more = new float[25000000000u];
    more[n] = 1;
    for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + more[n];
    delete[] more;
  })";
  const Evaluation e = support::judge(kernel);
  CHECK(e.verdict == Verdict::crashed);
  CHECK(contains(e.reason, "asked for more memory than it may have"));
  CHECK(contains(e.reason, "0.25 GiB besides its arrays"));
  CHECK(contains(e.reason, "set \"memory_gib\" in the problem"));
  const std::string modest = replaced(kernel, "25000000000u", "100000000u");
  CHECK(support::judge(modest).verdict == Verdict::crashed);
  CHECK(support::judge(modest, quick(), R"(, "memory_gib": 1)").verdict == Verdict::ok);
  // one that copes goes on
  const std::string copes =
      "#include <new>\nextern \"C\" void scale(int n, const float* x, float* y) { try { delete[] new "
      "char[100000000000u]; } "
      "catch (const std::bad_alloc&) {} for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1; }";
  CHECK(support::judge(copes).verdict == Verdict::ok);
}

TEST_CASE("a shape whose arrays no memory holds is refused by its size") {
  const std::string text = support::scale_problem("extern \"C\" void scale(int, const float*, float*) {}");
  const Problem large = parse_problem(
      replaced(text, R"("f32", "size": "n"})", R"("f32", "size": "n*60000000"})"), support::sources);
  CHECK_THROWS_WITH_AS(HostEvaluator(large, quick()), doctest::Contains("do not fit into memory"),
                       ConfigError);
}

TEST_CASE("a kernel that starts more threads than may be is told of the same key") {
  const Evaluation e =
      support::judge(support::read(support::sources / "hostile" / "starts_many_threads.cpp"));
  CHECK(e.verdict == Verdict::crashed);
  CHECK(contains(e.reason, "it could start no more threads while it ran, 1 allowed"));
}

TEST_CASE("a kernel that starts threads is told of the key \"threads\"") {
  const std::string kernel = R"(#include <thread>
    #include <unistd.h>
    extern "C" void scale(int n, const float* x, float* y) {
      static std::thread* other = new std::thread([] { for (;;) pause(); });
      (void)other;
      for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
    })";
  const Evaluation e = support::judge(kernel);
  CHECK(e.verdict == Verdict::crashed);
  CHECK(contains(e.reason, "it could start no more threads while it ran, 1 allowed"));
  CHECK(contains(e.reason, "set \"threads\" in the problem"));
}

TEST_CASE("the examples with generators, headers, in-place arrays and exact results are sound" *
          doctest::test_suite("thorough")) {
  for (const char* name : {"csr_spmv", "median_u8", "prefix_sum", "sort_keys"}) {
    CAPTURE(name);
    Problem problem = read_problem(std::filesystem::path(KERNELSEARCH_SOURCE_DIR) / "examples/host" / name);
    fill_generated_sizes(problem, quick());
    problem.shapes.erase(problem.shapes.begin());
    HostOptions options = quick();
    options.limits.call_seconds = 5;
    HostEvaluator evaluator(problem, options);
    // the default, and points with every tunable at its first and at its last value
    const Space& space = problem.kernel.space;
    std::vector<Config> configs{space.default_config()};
    Rng rng(14);
    while (configs.size() < 6) configs.push_back(space.sample(rng));
    for (const Config& config : configs) {
      const Evaluation e = evaluator.evaluate({std::make_shared<const Kernel>(problem.kernel), config}, {});
      INFO(space.key(config) << ": " << e.reason);
      CHECK(e.verdict == Verdict::ok);
    }
  }
}
