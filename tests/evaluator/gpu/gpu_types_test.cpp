// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Every element type and way of filling arrays, as kernel and reference see them.
#include "evaluator/gpu/support.hpp"

using namespace gpu_test;

namespace {

// o[i] is computed from a[i]; `type` as problems call it, `c` as C++ does.
DeviceProblem map(const std::string& type, const std::string& c, const std::string& expression,
                  const std::string& reference_type, const std::string& reference_expression) {
  DeviceProblem problem;
  problem.kernel =
      "#include <hip/hip_fp16.h>\n#include <hip/hip_bf16.h>\nextern \"C\" __global__ void scale(int n, "
      "const " +
      c + "* a, " + c +
      "* o) {\n  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) o[i] = " + expression +
      ";\n}\n";
  problem.reference = "extern \"C\" __global__ void scale_reference(int n, const " + reference_type +
                      "* a, " + reference_type +
                      "* o) {\n  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) o[i] = " +
                      reference_expression + ";\n}\n";
  problem.arguments = R"([{"name": "n", "type": "i32"}, {"name": "a", "type": ")" + type +
                      R"(", "size": "n"}, {"name": "o", "type": ")" + type +
                      R"(", "size": "n", "role": "out"}])";
  problem.shapes = R"([{"name": "one", "n": 1, "weight": 0}, {"name": "odd", "n": 131}])";
  return problem;
}

}  // namespace

TEST_CASE("GpuEvaluator: arrays of every type are filled, widened and compared as what they are") {
  const struct {
    const char *type, *c, *expression, *wrong, *reference_type, *reference_expression;
  } types[] = {
      {"f16", "__half", "__float2half(2 * __half2float(a[i]) + 1)",
       "__float2half(2.2f * __half2float(a[i]) + 1)", "real", "2 * a[i] + 1"},
      {"bf16", "__hip_bfloat16", "__float2bfloat16(2 * __bfloat162float(a[i]) + 1)",
       "__float2bfloat16(2.4f * __bfloat162float(a[i]) + 1)", "real", "2 * a[i] + 1"},
      {"f32", "float", "2 * a[i] + 1", "2.001f * a[i] + 1", "real", "2 * a[i] + 1"},
      {"f64", "double", "2 * a[i] + 1", "2.00000001 * a[i] + 1", "real", "2 * a[i] + 1"},
      {"i8", "signed char", "a[i] / 2", "a[i] >> 1", "signed char", "a[i] / 2"},
      {"i16", "short", "a[i] * 3", "a[i] * 3 + (i == 130)", "short", "a[i] * 3"},
      {"i32", "int", "a[i] * 3", "a[i] * 3 + (i == 130)", "int", "a[i] * 3"},
      {"i64", "long long", "a[i] * 100000000000000001", "a[i] * 100000000000000001 + (i == 130)", "long long",
       "a[i] * 100000000000000001"},
      {"u8", "unsigned char", "a[i] + 1", "a[i] | 1", "unsigned char", "a[i] + 1"},
      {"u16", "unsigned short", "a[i] + 1", "a[i] | 1", "unsigned short", "a[i] + 1"},
      {"u32", "unsigned", "a[i] - 300u", "a[i] - 300u + (i == 130)", "unsigned", "a[i] - 300u"},
      {"u64", "unsigned long long", "a[i] - 300ull", "a[i] - 300ull + (i == 130)", "unsigned long long",
       "a[i] - 300ull"},
      {"bool", "bool", "!a[i]", "a[i]", "bool", "!a[i]"},
  };
  for (const auto& t : types) {
    CAPTURE(t.type);
    Judge judge(map(t.type, t.c, t.expression, t.reference_type, t.reference_expression));
    const auto e = judge.own();
    CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
    const auto wrong = judge.code(map(t.type, t.c, t.wrong, "int", "0").kernel);
    CHECK_MESSAGE(wrong.verdict == Verdict::wrong_result, t.type << ": " << wrong.reason);
    CHECK(judge.code(map(t.type, t.c, "a[i]", "int", "0").kernel).verdict == Verdict::wrong_result);
  }
}

TEST_CASE("GpuEvaluator: nothing is left of arrays of one byte when they are not written") {
  for (const char* type : {"i8", "u8", "bool"}) {
    Judge judge(map(type, "char", "a[i]", "char", "a[i]"));
    CHECK(judge.own().verdict == Verdict::ok);
    CHECK(judge.code("extern \"C\" __global__ void scale(int, const char*, char*) {}").verdict ==
          Verdict::wrong_result);
    CHECK(judge.code(map(type, "char", "i == 77 ? o[i] : a[i]", "int", "0").kernel).verdict ==
          Verdict::wrong_result);
  }
}

TEST_CASE("GpuEvaluator: scalars of every type, of shapes and of expressions") {
  DeviceProblem problem;
  problem.kernel =
      "extern \"C\" __global__ void scale(long long n, float half, double third, bool flag, short s, "
      "unsigned char b, const float* x, float* y) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) y[i] = half * x[i] + (flag ? third : 0) + s + b;\n}\n";
  problem.reference =
      "extern \"C\" __global__ void scale_reference(long long n, real half, real third, bool flag, short s, "
      "unsigned char b, const real* x, real* y) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) y[i] = half * x[i] + (flag ? third : 0) + s + b;\n}\n";
  problem.arguments = R"([{"name": "n", "type": "i64"}, {"name": "half", "type": "f32", "value": "0.5 * n"},
      {"name": "third", "type": "f64", "value": "1/3"}, {"name": "flag", "type": "bool", "value": "n > 100"},
      {"name": "s", "type": "i16", "value": "-3"}, {"name": "b", "type": "u8", "value": 200},
      {"name": "x", "type": "f32", "size": "n"}, {"name": "y", "type": "f32", "size": "n", "role": "out"}])";
  Judge judge(problem);
  const auto e = judge.own();
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  std::string wrong = problem.kernel;
  wrong.replace(wrong.find("flag ?"), 6, "true ?");
  CHECK(judge.code(wrong).verdict == Verdict::wrong_result);
}

TEST_CASE("GpuEvaluator: arrays updated in place, orders, counters and constant fills") {
  DeviceProblem problem;
  problem.kernel =
      "extern \"C\" __global__ void scale(int n, const int* order, const int* count, const float* ones, "
      "const float* zeros, float* f, unsigned* c) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i >= n) return;\n"
      "  f[i] = f[i] * 2 + ones[i] + zeros[i];\n"
      "  atomicAdd(c + order[i], (unsigned)count[i]);\n}\n";
  problem.reference =
      "extern \"C\" __global__ void scale_reference(int n, const int* order, const int* count, const real* "
      "ones, const real* zeros, real* f, unsigned* c) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i >= n) return;\n"
      "  f[i] = f[i] * 2 + 1;\n"
      "  for (int j = 0; j < n; ++j) if (order[j] == i) c[i] += count[j];\n}\n";
  problem.arguments =
      R"([{"name": "n", "type": "i32"}, {"name": "order", "type": "i32", "size": "n", "init": "permutation"},
      {"name": "count", "type": "i32", "size": "n", "init": "arange"}, {"name": "ones", "type": "f32", "size": "n", "init": "ones"},
      {"name": "zeros", "type": "f32", "size": "n", "init": "zeros"},
      {"name": "f", "type": "f32", "size": "n", "role": "inout", "init": "normal", "mean": 3, "deviation": 2},
      {"name": "c", "type": "u32", "size": "n", "role": "inout", "low": 5, "high": 10}])";
  Judge judge(problem);
  const auto e = judge.own();
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  for (const auto& entry : {std::pair{"f[i] * 2", "f[i]"},
                            {"c + order[i]", "c + i"},
                            {"(unsigned)count[i]", "1u"},
                            {"ones[i] + zeros[i]", "ones[i] + 1"},
                            {"atomicAdd(", "atomicMax("}}) {
    const auto& from = entry.first;  // no structured binding: clang 14 captures none
    const auto& to = entry.second;
    std::string wrong = problem.kernel;
    wrong.replace(wrong.find(from), std::string(from).size(), to);
    CHECK_MESSAGE(judge.code(wrong).verdict == Verdict::wrong_result, from);
  }
}

TEST_CASE("GpuEvaluator: declared ranges hold in every set of inputs") {
  // Outside of [0.5, 2) it is wrong on purpose.
  DeviceProblem problem;
  problem.kernel.replace(problem.kernel.find("3 * x[i]"), 8, "(x[i] >= 0.5f && x[i] < 2.0f ? 3 : 0) * x[i]");
  problem.arguments.replace(problem.arguments.find("\"size\": \"n\""), 11,
                            R"("size": "n", "low": 0.5, "high": 2)");
  const auto e = Judge(problem).own();
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  DeviceProblem wider = problem;
  wider.arguments.replace(wider.arguments.find("\"low\": 0.5"), 10, "\"low\": 0.4");
  CHECK(Judge(wider).own().verdict == Verdict::wrong_result);
}

TEST_CASE("GpuEvaluator: honest sums pass on ill-conditioned inputs, sloppy ones do not") {
  DeviceProblem problem;
  problem.function = "total";
  problem.arguments =
      R"([{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"}, {"name": "s", "type": "f32", "size": 1, "role": "out"}])";
  problem.shapes = R"([{"name": "only", "n": 5000}])";
  problem.launch = R"({"grid": [1], "block": [64]})";
  problem.reference =
      "extern \"C\" __global__ void total_reference(int n, const real* x, real* s) { real t = 0; for (int i "
      "= 0; i < n; ++i) t += x[i]; *s = t; }";
  problem.reference_function = "total_reference";
  problem.reference_launch = R"({"grid": [1], "block": [1]})";
  const auto sum = [](const std::string& add) {
    return "extern \"C\" __global__ void total(int n, const float* x, float* s) {\n"
           "  __shared__ float all[64];\n  float t = 0;\n  for (int i = threadIdx.x; i < n; i += 64) {" +
           add +
           "}\n  all[threadIdx.x] = t;\n  __syncthreads();\n  if (threadIdx.x == 0) {\n    t = 0;\n"
           "    for (int i = 0; i < 64; ++i) t += all[i];\n    *s = t;\n  }\n}\n";
  };
  problem.kernel = sum("t += x[i];");
  Judge judge(problem);
  const auto e = judge.own();
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  const auto sloppy = judge.code(sum("t += x[i]; t = __uint_as_float(__float_as_uint(t) & 0xffff0000u);"));
  CHECK(sloppy.verdict == Verdict::wrong_result);
  CHECK(judge.code(sum("if (i != 4999) t += x[i];")).verdict == Verdict::wrong_result);
}

TEST_CASE("GpuEvaluator: edge values are among the inputs") {
  Judge judge;
  const auto with = [](const std::string& expression) {
    return "extern \"C\" __global__ void scale(int n, const float* x, float* y) {\n"
           "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = " +
           expression + ";\n}\n";
  };
  // 0 / 0 at zeros; wrong at -1; wrong where neighbours are equal
  CHECK(judge.code(with("3 * (x[i] * x[i] / x[i]) + 1")).verdict == Verdict::wrong_result);
  CHECK(judge.code(with("x[i] == -1 ? 0 : 3 * x[i] + 1")).verdict == Verdict::wrong_result);
  CHECK(judge.code(with("i > 0 && x[i] == x[i - 1] ? 0 : 3 * x[i] + 1")).verdict == Verdict::wrong_result);
  GpuOptions options = quick();
  options.check.edge = options.check.ill_conditioned = false;
  Judge trusting({}, options);
  CHECK(trusting.code(with("x[i] == -1 ? 0 : 3 * x[i] + 1")).verdict == Verdict::ok);
}

TEST_CASE("GpuEvaluator: NaN is right only where the reference has it") {
  DeviceProblem problem;
  problem.reference.replace(problem.reference.find("3 * x[i] + 1"), 12, "sqrt(x[i])");
  problem.kernel.replace(problem.kernel.find("3 * x[i] + 1"), 12, "sqrtf(x[i])");
  Judge judge(problem);
  const auto e = judge.own();
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  std::string all = problem.kernel, none = problem.kernel;
  all.replace(all.find("sqrtf(x[i])"), 11, "NAN");
  none.replace(none.find("sqrtf(x[i])"), 11, "sqrtf(fabsf(x[i]))");
  CHECK(judge.code(all).verdict == Verdict::wrong_result);
  CHECK(judge.code(none).verdict == Verdict::wrong_result);
}
