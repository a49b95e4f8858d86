// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Small types, quantised inputs and tolerances with a ratio as the GPU evaluator judges them.
#ifdef KERNELSEARCH_GPU_WORKER

#  include "kernelsearch/evaluator/gpu/gpu_evaluator.hpp"
#  include "kernelsearch/problem/read_problem.hpp"
#  include "standin/support.hpp"
#  include "support/temporary_folder.hpp"

using namespace standin_test;

namespace {

std::string json_text(const std::string& text) {
  std::string result = "\"";
  for (const char c : text)
    if (c == '\n')
      result += "\\n";
    else if (c == '"')
      result += "\\\"";
    else
      result += c;
  return result + '"';
}

/// The judgement of a kernel `f(int n, x, [s,] y)` whose threads do `kernel`; those of the reference do
/// `reference`.
Evaluation judged_on_device(const std::string& inputs, const std::string& output,
                            const std::string& parameters, const std::string& kernel,
                            const std::string& reference_parameters, const std::string& reference) {
  const auto function = [](const std::string& name, const std::string& list, const std::string& body) {
    return "extern \"C\" __global__ void " + name + "(int n, " + list +
           ") { const int i = blockIdx.x * blockDim.x + threadIdx.x; " + body + " }";
  };
  const std::string geometry = R"("grid": ["(n + 63) // 64"], "block": [64])";
  const Problem problem = parse_problem(
      R"({"schema": 1, "name": "low", "backend": "hip", "function": "f", "hidden_shapes": {"none": "a test"},
    "arguments": [{"name": "n", "type": "i32"}, )" +
          inputs + R"(, {"name": "y", "role": "out", )" + output + R"(}],
    "kernel": {"device": {"text": )" +
          json_text(function("f", parameters, kernel)) + R"(}}, "shapes": [{"name": "s", "n": 512}],
    "launch": {)" +
          geometry + R"(}, "reference": {"function": "r", "source": {"text": )" +
          json_text(function("r", reference_parameters, reference)) + R"(}, "launch": {)" + geometry + "}}}",
      ".");
  static const TemporaryFolder cache;
  GpuOptions options;
  options.worker = KERNELSEARCH_GPU_WORKER;
  options.cache_directory = cache.path();
  options.pairs.when = Pairing::never;
  options.limits.call = 60;
  options.sandbox = Sandbox::none;
  options.sampling = {.precision = 1.0, .min_samples = 1, .max_samples = 1, .budget_seconds = 0.01};
  GpuEvaluator evaluator(problem, options);
  return evaluator.evaluate(problem.default_candidate(), {});
}

bool judged_as(const Evaluation& evaluation, Verdict verdict, const std::string& words = {}) {
  if (evaluation.verdict == verdict && evaluation.reason.find(words) != std::string::npos) return true;
  MESSAGE(to_string(evaluation.verdict), ": ", evaluation.reason);
  return false;
}

}  // namespace

TEST_CASE("GPU evaluator: f8e4m3 in and out, f4e2m1 and i4 out") {
  const StandIn standin;
  const auto flipped = [](const std::string& type, const std::string& kernel, const std::string& reference_of,
                          const std::string& reference) {
    const std::string bytes = "const unsigned char* x, unsigned char* y";
    return judged_on_device(R"({"name": "x", "size": "n", "type": ")" + type + "\"}",
                            R"("size": "n", "type": ")" + type + "\"", bytes, kernel, reference_of,
                            reference);
  };
  const std::string reals = "const real* x, real* y", minus = "if (i < n) y[i] = -x[i];";
  CHECK(judged_as(flipped("f8e4m3", "if (i < n) y[i] = x[i] ^ 128;", reals, minus), Verdict::ok));
  CHECK(judged_as(flipped("f8e5m2", "if (i < n) y[i] = x[i] ^ 128;", reals, minus), Verdict::ok));
  CHECK(judged_as(flipped("f8e4m3", "if (i < n) y[i] = x[i];", reals, minus), Verdict::wrong_result, "y["));
  const std::string sign = "if (i < n) y[i] = i % 2 ? -x[i] : x[i];";
  CHECK(judged_as(flipped("f4e2m1", "if (i < n / 2) y[i] = x[i] ^ 128;", reals, sign), Verdict::ok));
  CHECK(judged_as(flipped("f4e2m1", "if (i < n / 2) y[i] = x[i] ^ 8;", reals, sign), Verdict::wrong_result));
  const std::string packed = "const unsigned char* x, unsigned char* y",
                    flip = "if (i < n / 2) y[i] = ~x[i];";
  CHECK(judged_as(flipped("i4", "if (i < n / 2) y[i] = x[i] ^ 255;", packed, flip), Verdict::ok));
  CHECK(judged_as(flipped("i4", "if (i < n / 2) y[i] = x[i] ^ (i == 3 ? 15 : 255);", packed, flip),
                  Verdict::wrong_result, "y[7] is "));
}

TEST_CASE("GPU evaluator: c64 has two parts, which are compared for themselves") {
  const StandIn standin;
  const auto verdict = [](const std::string& imaginary) {
    return judged_on_device(
        R"({"name": "x", "size": "n", "type": "c64"})", R"("size": "n", "type": "c64")",
        "const float* x, float* y", "if (i < n) { y[2 * i] = x[2 * i]; y[2 * i + 1] = " + imaginary + "; }",
        "const real* x, real* y", "if (i < n) { y[2 * i] = x[2 * i]; y[2 * i + 1] = -x[2 * i + 1]; }");
  };
  CHECK(judged_as(verdict("-x[2 * i + 1]"), Verdict::ok));
  CHECK(judged_as(verdict("i == 5 ? 9 : -x[2 * i + 1]"), Verdict::wrong_result, "y[5].im is 9"));
}

TEST_CASE("GPU evaluator: quantised inputs belong together") {
  const StandIn standin;
  const auto verdict = [](const std::string& scale) {
    const std::string code = "(((x[i / 2] >> (i % 2 * 4)) & 15) ^ 8) - 8";
    return judged_on_device(
        R"({"name": "x", "size": "n", "type": "i4", "quantised": {"scale": "s", "columns": 128, "block": [1, 32]}},
           {"name": "s", "size": "n // 32", "type": "f32"})",
        R"("size": "n", "type": "f32")", "const unsigned char* x, const float* s, float* y",
        "if (i < n) y[i] = (" + code + ") * " + scale + ";", "const unsigned char* x, const real* s, real* y",
        "if (i < n) y[i] = (" + code + ") * s[i / 32];");
  };
  CHECK(judged_as(verdict("s[i / 32]"), Verdict::ok));
  CHECK(judged_as(verdict("s[i / 64]"), Verdict::wrong_result));
}

TEST_CASE("GPU evaluator: matched ratio, cap and infinities") {
  const StandIn standin;
  const auto verdict = [](const std::string& line, const std::string& members) {
    return judged_on_device(R"({"name": "x", "size": "n", "type": "f32"})",
                            R"("size": "n", "type": "f32", "tolerance": {"absolute": 1e-4)" + members + "}",
                            "const float* x, float* y",
                            "if (i < n) y[i] = i % 100 == 7 ? " + line + " : 2 * x[i] + 3;",
                            "const real* x, real* y", "if (i < n) y[i] = 2 * x[i] + 3;");
  };
  const std::string off = "2 * x[i] + 3.3f", ratio = R"(, "matched_ratio": 0.98)";
  CHECK(judged_as(verdict(off, ""), Verdict::wrong_result, " wrong "));
  CHECK(judged_as(verdict(off, ratio), Verdict::ok));
  CHECK(judged_as(verdict(off, R"(, "matched_ratio": 0.995)"), Verdict::wrong_result, "99.5 % required"));
  CHECK(judged_as(verdict(off, ratio + R"(, "error_cap": 0.5)"), Verdict::ok));
  CHECK(judged_as(verdict(off, ratio + R"(, "error_cap": 0.2)"), Verdict::wrong_result,
                  "none may be farther off than 0.2"));
  CHECK(judged_as(verdict("x[i] / 0.0f * 0", ratio), Verdict::wrong_result, "none may be NaN"));
  CHECK(judged_as(verdict("1 / (x[i] * 0.0f)", ratio), Verdict::wrong_result));
  const auto infinite = [](const std::string& sign, const std::string& rule) {
    return judged_on_device(
        R"({"name": "x", "size": "n", "type": "f32"})",
        R"("size": "n", "type": "f32", "tolerance": {"absolute": 1e-4, "infinities": ")" + rule + "\"}",
        "const float* x, float* y", "if (i < n) y[i] = i % 9 == 0 ? " + sign + "1e30f * 1e30f : x[i];",
        "const real* x, real* y", "if (i < n) y[i] = i % 9 == 0 ? " + sign + "1 / real(0) : x[i];");
  };
  CHECK(judged_as(infinite("-", "negative"), Verdict::ok));
  CHECK(judged_as(infinite("", "negative"), Verdict::wrong_result));
  CHECK(judged_as(infinite("-", "none"), Verdict::wrong_result));
  CHECK(judged_as(infinite("", "as_expected"), Verdict::ok));
}

#endif
