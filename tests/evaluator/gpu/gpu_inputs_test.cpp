// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Inputs that the controller makes, sizes that a generator gives, structs, headers of the problem's own and
// exact bits, through the whole evaluator. Each kernel is right only where its inputs are as the problem
// says.
#include <cstring>

#include "evaluator/gpu/made_inputs.hpp"
#include "evaluator/gpu/support.hpp"
#include "kernelsearch/core/error.hpp"

using namespace gpu_test;
using namespace kernelsearch::detail;
using namespace kernelsearch::detail::gpu;

namespace {

void put(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

Problem in_folder(const DeviceProblem& problem, const std::filesystem::path& folder) {
  return parse_problem(problem.text(), folder);
}

Evaluation judged(const Problem& problem) {
  GpuEvaluator evaluator(problem, quick());
  return evaluator.evaluate(default_candidate(problem), {});
}

Evaluation judged(const DeviceProblem& problem) {
  return judged(problem.parsed());
}

/// y[i] is 1 in the reference, and in the kernel where `condition` holds of element i.
DeviceProblem where(const std::string& arguments, const std::string& parameters,
                    const std::string& condition) {
  DeviceProblem problem;
  problem.arguments = R"([{"name": "n", "type": "i32"}, )" + arguments +
                      R"(, {"name": "y", "type": "i32", "size": "n", "role": "out"}])";
  const std::string head =
      "(int n, " + parameters + ", int* y) {\n  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n";
  problem.kernel =
      "extern \"C\" __global__ void scale" + head + "  if (i < n) y[i] = (" + condition + ") ? 1 : 0;\n}\n";
  problem.reference = "extern \"C\" __global__ void scale_reference" + head + "  if (i < n) y[i] = 1;\n}\n";
  return problem;
}

}  // namespace

TEST_CASE("GPU inputs: sorted values are sorted") {
  DeviceProblem problem = where(R"({"name": "x", "type": "f32", "size": "n", "init": "sorted"})",
                                "const float* x", "i == 0 || x[i - 1] <= x[i]");
  problem.reference.replace(problem.reference.find("const float*"), 12, "const real*");
  const Evaluation sorted = judged(problem);
  CHECK_MESSAGE(sorted.verdict == Verdict::ok, sorted.reason);
  problem.arguments.replace(problem.arguments.find("sorted"), 6, "normal");
  CHECK(judged(problem).verdict == Verdict::wrong_result);
}

TEST_CASE("GPU inputs: ranges that depend on the shape") {
  const Evaluation e = judged(where(R"({"name": "x", "type": "i32", "size": "n", "low": 0, "high": "n"})",
                                    "const int* x", "x[i] >= 0 && x[i] < n"));
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
}

TEST_CASE("GPU inputs: offsets begin at 0, never fall and end at the total") {
  const Evaluation e = judged(
      where(R"({"name": "at", "type": "i32", "size": "n + 1", "init": "offsets", "total": "3*n", "skew": 1})",
            "const int* at", "at[0] == 0 && at[i] <= at[i + 1] && at[n] == 3 * n"));
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
}

TEST_CASE("GPU inputs: a file's contents, larger ones piece by piece, in every call") {
  const TemporaryFolder folder;
  std::string bytes(4000 * 4, '\0');
  for (int i = 0; i < 4000; ++i) {
    const int value = 7 * i + 3;
    std::memcpy(bytes.data() + 4 * i, &value, 4);
  }
  put(folder / "data.bin", bytes);
  DeviceProblem problem =
      where(R"({"name": "x", "type": "i32", "size": "4000", "init": "file", "file": "data.bin"})",
            "const int* x", "x[4 * i] == 28 * i + 3");
  const Evaluation e = judged(in_folder(problem, folder.path()));
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
}

TEST_CASE("GPU inputs: what a generator makes, with its sizes in sizes and launches") {
  const TemporaryFolder folder;
  put(folder / "inputs.cpp",
      "#include <kernelsearch_inputs.hpp>\n"
      "using namespace kernelsearch::inputs;\n"
      "void make_sizes(Sizes& s) { s.set(\"entries\", 2 * s.variable(\"n\")); }\n"
      "void make_inputs(Request& r) {\n"
      "  const auto x = r.array<std::int32_t>(\"x\");\n"
      "  const int first = static_cast<int>(r.random().below(1000));\n"
      "  for (std::size_t i = 0; i < x.size(); ++i) x[i] = first + 2 * static_cast<int>(i);\n"
      "}\n");
  DeviceProblem problem = where(
      R"({"name": "entries", "type": "i32"}, {"name": "x", "type": "i32", "size": "entries", "init": "generator"})",
      "int entries, const int* x",
      "entries == 2 * n && x[i + n] - x[i] == 2 * n && gridDim.x == (entries + 127) / 128");
  problem.launch = R"({"grid": ["(entries + 127) // 128"], "block": [128]})";
  problem.more = R"(, "generator": {"source": "inputs.cpp", "sizes": ["entries"]})";
  const Evaluation e = judged(in_folder(problem, folder.path()));
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
}

TEST_CASE("GPU inputs: a generator that fails is the problem's fault and said so") {
  const TemporaryFolder folder;
  put(folder / "inputs.cpp",
      "#include <kernelsearch_inputs.hpp>\n#include <stdexcept>\n"
      "void make_inputs(kernelsearch::inputs::Request&) { throw std::runtime_error(\"no luck today\"); }\n");
  DeviceProblem problem =
      where(R"({"name": "x", "type": "i32", "size": "n", "init": "generator"})", "const int* x", "x[i] == 0");
  problem.more = R"(, "generator": {"source": "inputs.cpp"})";
  std::string said;
  try {
    (void)judged(in_folder(problem, folder.path()));
  } catch (const ConfigError& error) {
    said = error.what();
  }
  CHECK_MESSAGE(contains(said, "no luck today"), said);
}

namespace {

/// Points move by their velocity; the mass stays.
DeviceProblem moving(const std::string& body) {
  DeviceProblem problem;
  const std::string structure =
      R"({"struct": "Point", "fields": [{"name": "kind", "type": "u8", "low": 0, "high": 3}, {"name": "x", "type": "f32"}, {"name": "v", "type": "f64"}]})";
  problem.arguments = R"([{"name": "n", "type": "i32"}, {"name": "p", "type": )" + structure +
                      R"(, "size": "n"}, {"name": "q", "type": )" + structure +
                      R"(, "size": "n", "role": "out"}])";
  const std::string type = "struct Point {\n  unsigned char kind;\n  float x;\n  double v;\n};\n";
  const std::string head =
      "(int n, const Point* p, Point* q) {\n  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n";
  const auto function = [&](const std::string& name, const std::string& text) {
    return type + "extern \"C\" __global__ void " + name + head + "  if (i < n) {" + text + "}\n}\n";
  };
  problem.kernel = function("scale", body);
  problem.reference = function("scale_reference", "q[i] = p[i]; q[i].x = p[i].x + (float)p[i].v;");
  return problem;
}

}  // namespace

TEST_CASE("GPU inputs: structs in and out are compared field by field") {
  const Evaluation right = judged(moving("Point r = p[i]; r.x += (float)r.v; q[i] = r;"));
  CHECK_MESSAGE(right.verdict == Verdict::ok, right.reason);
  const Evaluation wrong = judged(moving("Point r = p[i]; r.x += (float)r.v; r.v = 2 * r.v; q[i] = r;"));
  CHECK(wrong.verdict == Verdict::wrong_result);
  CHECK_MESSAGE(contains(wrong.reason, "].v is "), wrong.reason);
  const Evaluation kind =
      judged(moving("q[i].kind = p[i].kind + 1; q[i].x = p[i].x + (float)p[i].v; q[i].v = p[i].v;"));
  CHECK_MESSAGE(contains(kind.reason, "].kind is "), kind.reason);
}

TEST_CASE("GPU inputs: a struct that is laid out otherwise does not build") {
  DeviceProblem problem = moving("q[i] = p[i];");
  problem.kernel.replace(problem.kernel.find("  float x;"), 10, "  double x;");
  const Evaluation e = judged(problem);
  CHECK(e.verdict == Verdict::build_failed);
  CHECK_MESSAGE(contains(e.reason, "the problem says that Point"), e.reason);
}

TEST_CASE("GPU inputs: headers of the problem's own, and messages that name its files") {
  const TemporaryFolder folder;
  put(folder / "src" / "near.hpp", "#define THREE 3\n");
  put(folder / "include" / "far.hpp", "#include \"deep/one.hpp\"\n");
  put(folder / "include" / "deep" / "one.hpp", "#define ONE 1\n");
  DeviceProblem problem;
  std::string kernel = "#include \"near.hpp\"\n#include <far.hpp>\n" + problem.kernel;
  kernel.replace(kernel.find("3 * x[i] + 1"), 12, "THREE * x[i] + ONE");
  put(folder / "src" / "kernel.hip", kernel);
  std::string text = problem.text();
  const std::string inline_kernel = R"({"device": {"text": )" + support::quoted(problem.kernel) + "}";
  text.replace(text.find(inline_kernel), inline_kernel.size(),
               R"({"device": "src/kernel.hip", "include": ["include"])");
  const Evaluation e = judged(parse_problem(text, folder.path()));
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  put(folder / "src" / "kernel.hip", "#include \"near.hpp\"\n" + problem.kernel + "int broken = THREE +;\n");
  const Evaluation broken = judged(parse_problem(text, folder.path()));
  CHECK(broken.verdict == Verdict::build_failed);
  CHECK_MESSAGE(contains(broken.reason, "kernel.hip:6"), broken.reason);
}

TEST_CASE("GPU inputs: exact bits where the problem asks for them") {
  DeviceProblem problem;
  problem.more = R"(, "build": {"flags": ["-ffp-contract=off"]})";
  const auto with = [&](const std::string& sum, const std::string& more) {
    DeviceProblem changed = problem;
    changed.kernel.replace(changed.kernel.find("3 * x[i] + 1"), 12, sum);
    changed.reference.replace(changed.reference.find("3 * x[i] + 1"), 12, "x[i] + x[i] + x[i]");
    changed.more += more;
    return judged(changed);
  };
  const std::string exact = R"(, "bit_exact": true)";
  // 3 x and x + x + x are both rounded twice at most, and differ in the last bit for some x.
  CHECK(with("x[i] + x[i] + x[i]", exact).verdict == Verdict::ok);
  const std::string other = "(x[i] + x[i] + x[i]) * (1 + 1.2e-7f)";
  CHECK(with(other, "").verdict == Verdict::ok);
  const Evaluation e = with(other, exact);
  CHECK(e.verdict == Verdict::wrong_result);
  CHECK_MESSAGE(contains(e.reason, "bit by bit"), e.reason);
}

TEST_CASE("GPU inputs: what is made is what the same seed gives, kept while it is used") {
  const DeviceProblem given =
      where(R"({"name": "x", "type": "f32", "size": "n", "init": "sorted"})", "const float* x", "true");
  const Problem problem = given.parsed();
  const std::vector<ShapePlan> plans{plan_shape(problem, default_candidate(problem), 0),
                                     plan_shape(problem, default_candidate(problem), 1)};
  MadeInputs made(problem, plans, quick());
  CHECK(made.any());
  CHECK(!made.made(0));
  CHECK(made.made(1));
  CHECK(made.bytes(1) == 4000);
  const auto first = made.of(1, 5, InputFlavour::declared);
  CHECK(made.of(1, 5, InputFlavour::declared) == first);
  CHECK(made.of(1, 6, InputFlavour::declared) != first);
  MadeInputs again(problem, plans, quick());
  CHECK(*again.of(1, 5, InputFlavour::declared) == *first);
}

TEST_CASE("GPU inputs: signs are left out where values are drawn, fields of structs included") {
  const Problem problem = moving("q[i] = p[i];").parsed();
  const Argument& points = problem.arguments[1];
  std::vector<std::byte> bytes(2 * points.element_bytes(), std::byte{0});
  const float x = -1.5f;
  const double v = -2.5;
  std::memcpy(&bytes[16 + 4], &x, 4);
  std::memcpy(&bytes[16 + 8], &v, 8);
  bytes[16] = std::byte{0x81};  // no float
  const auto changed = without_signs(points, bytes);
  float got_x = 0;
  double got_v = 0;
  std::memcpy(&got_x, &changed[16 + 4], 4);
  std::memcpy(&got_v, &changed[16 + 8], 8);
  CHECK(got_x == 1.5f);
  CHECK(got_v == 2.5);
  CHECK(changed[16] == std::byte{0x81});
  Argument sorted;
  sorted.initialisation = Initialisation::sorted;
  std::vector<std::byte> one(4);
  std::memcpy(one.data(), &x, 4);
  CHECK(without_signs(sorted, one) == one);
}
