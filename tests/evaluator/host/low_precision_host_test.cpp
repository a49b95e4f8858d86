// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <string>

#include "evaluator/host/support.hpp"
#include "kernelsearch/evaluator/host/host_lint_runner.hpp"
#include "kernelsearch/problem/lint.hpp"

using namespace kernelsearch;

namespace {

/// A problem of one function `f(n, x, y)` with inputs and outputs as given.
Problem one_function(const std::string& x, const std::string& y, const std::string& kernel,
                     const std::string& reference, const std::string& more = {}) {
  return parse_problem(
      R"({"schema": 1, "name": "low", "backend": "host", "function": "f", "hidden_shapes": {"none": "a test"},
    "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "size": "n", )" +
          x + R"(}, {"name": "y", "size": "n", "role": "out", )" + y +
          R"(}], "kernel": {"device": {"text": )" + support::quoted(kernel) +
          R"(}}, "shapes": [{"name": "small", "n": 38, "weight": 0},
    {"name": "large", "n": 4096}], "reference": {"source": {"text": )" +
          support::quoted(reference) +
          R"(}, "function": "r"}, "build": {"compiler": "g++", "flags": ["-O1"]})" + more + "}",
      support::sources);
}

Evaluation judged(const Problem& problem) {
  HostEvaluator evaluator(problem, support::quick());
  return evaluator.evaluate(support::default_candidate(problem), {});
}

bool tells(const Evaluation& evaluation, const std::string& words) {
  if (evaluation.reason.find(words) != std::string::npos) return true;
  MESSAGE(evaluation.reason);
  return false;
}

constexpr const char* decode_e4m3 = R"(
static float value(unsigned char p) {
  const int e = p >> 3 & 15, m = p & 7;
  const float v = e ? (8 + m) * __builtin_ldexpf(1, e - 10) : m * __builtin_ldexpf(1, -9);
  return p & 128 ? -v : v;
}
)";

constexpr const char* double_it =
    "void r(int n, const real* x, real* y) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }";

}  // namespace

TEST_CASE("HostEvaluator: f8e4m3 inputs reach the kernel as patterns and the reference as numbers") {
  const auto verdict = [](const std::string& line) {
    return judged(one_function(R"("type": "f8e4m3", "low": -4, "high": 4)", R"("type": "f32")",
                               std::string(decode_e4m3) +
                                   R"(extern "C" void f(int n, const unsigned char* x, float* y) {
                                 for (int i = 0; i < n; ++i) )" +
                                   line + "}",
                               double_it));
  };
  CHECK(verdict("y[i] = 2 * value(x[i]);").verdict == Verdict::ok);
  CHECK(verdict("y[i] = 2 * value(x[i] ^ 1);").verdict == Verdict::wrong_result);
}

TEST_CASE("HostEvaluator: f8e5m2 outputs may round the other way, and no further") {
  const auto verdict = [](const std::string& line) {
    return judged(one_function(R"("type": "f32", "low": -100, "high": 100)", R"("type": "f8e5m2")",
                               R"(#include <cstring>
extern "C" void f(int n, const float* x, unsigned char* y) {
  for (int i = 0; i < n; ++i) {
    const float v = 2 * x[i];
    const _Float16 h = (_Float16)v;  // its upper half is the pattern, towards 0
    unsigned short bits;
    std::memcpy(&bits, &h, 2);
    )" + line + "}\n}",
                               double_it));
  };
  CHECK(verdict("y[i] = bits >> 8;").verdict == Verdict::ok);
  CHECK(verdict("y[i] = (bits + 0x80) >> 8;").verdict == Verdict::ok);
  CHECK(verdict("y[i] = (bits >> 8) - 2;").verdict == Verdict::wrong_result);
  CHECK(verdict("if (i != 5) y[i] = bits >> 8;").verdict == Verdict::wrong_result);
}

TEST_CASE("HostEvaluator: packed inputs and outputs, the lower four bits first") {
  const auto verdict = [](const std::string& type, const std::string& line, const std::string& reference) {
    return judged(one_function("\"type\": \"" + type + "\"", "\"type\": \"" + type + "\"",
                               R"(extern "C" void f(int n, const unsigned char* x, unsigned char* y) {
  for (int i = 0; i < n / 2; ++i) { )" +
                                   line + "}\n}",
                               reference));
  };
  // Integers come packed to the reference as well: each element's complement.
  const std::string flip =
      "void r(int n, const unsigned char* x, unsigned char* y) { for (int i = 0; i < n / 2; ++i) y[i] = "
      "~x[i]; }";
  CHECK(verdict("i4", "y[i] = x[i] ^ 0xff;", flip).verdict == Verdict::ok);
  const Evaluation upper = verdict("u4", "y[i] = x[i] ^ (i == 3 ? 0x0f : 0xff);", flip);
  CHECK(upper.verdict == Verdict::wrong_result);
  CHECK(tells(upper, "y[7] is "));
  // Floats are numbers there, one after another: the sign turned.
  const std::string minus =
      "void r(int n, const real* x, real* y) { for (int i = 0; i < n; ++i) y[i] = i % 2 ? -x[i] : x[i]; }";
  CHECK(verdict("f4e2m1", "y[i] = x[i] ^ 0x80;", minus).verdict == Verdict::ok);
  CHECK(verdict("f4e2m1", "y[i] = x[i] ^ 0x08;", minus).verdict == Verdict::wrong_result);
}

TEST_CASE("HostEvaluator: c64 as std::complex or as its parts, in kernel and reference") {
  const auto verdict = [](const std::string& kernel, const std::string& reference) {
    return judged(one_function(R"("type": "c64")", R"("type": "c64")", "#include <complex>\n" + kernel,
                               "#include <complex>\n" + reference));
  };
  const std::string pairs =
      R"(extern "C" void f(int n, const std::complex<float>* x, std::complex<float>* y) {
    for (int i = 0; i < n; ++i) y[i] = x[i] * x[i]; })";
  const std::string parts =
      R"(extern "C" void f(int n, const float* x, float* y) { for (int i = 0; i < n; ++i) {
    y[2 * i] = x[2 * i] * x[2 * i] - x[2 * i + 1] * x[2 * i + 1]; y[2 * i + 1] = 2 * x[2 * i] * x[2 * i + 1]; } })";
  const std::string right =
      "void r(int n, const std::complex<real>* x, std::complex<real>* y) { for (int i = 0; i < n; ++i) y[i] "
      "= x[i] * x[i]; }";
  CHECK(verdict(pairs, right).verdict == Verdict::ok);
  CHECK(verdict(parts, right).verdict == Verdict::ok);
  std::string wrong = parts;
  wrong.replace(wrong.find("= 2 *"), 5, "= i == 3 ? 9 : 2 *");
  const Evaluation one = verdict(wrong, right);
  CHECK(one.verdict == Verdict::wrong_result);
  CHECK(tells(one, "y[3].im is 9"));
  CHECK(verdict(R"(extern "C" void f(int n, const double* x, short* y) {})", right).verdict ==
        Verdict::build_failed);
}

namespace {

/// y = 2 x + 3 of which one in a hundred is what `line` says.
Evaluation with_ratio(const std::string& line, const std::string& members) {
  return judged(one_function(
      R"("type": "f32")", R"("type": "f32", "tolerance": {"matched_ratio": 0.98)" + members + "}",
      R"(extern "C" void f(int n, const float* x, float* y) {
  for (int i = 0; i < n; ++i) if (i % 100 == 7) { )" +
          line + "} else y[i] = 2 * x[i] + 3; }",
      "void r(int n, const real* x, real* y) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i] + 3; }"));
}

}  // namespace

TEST_CASE("HostEvaluator: what a matched ratio gives away, and what a cap keeps") {
  CHECK(with_ratio("y[i] = 2 * x[i] + 3.3f;", "").verdict ==
        Verdict::wrong_result);  // 1 of 38 elements is too many
  const std::string few = "y[i] = n > 100 ? 2 * x[i] + 3.3f : 2 * x[i] + 3;";
  CHECK(with_ratio(few, "").verdict == Verdict::ok);
  CHECK(with_ratio(few, R"(, "error_cap": 0.5)").verdict == Verdict::ok);
  const Evaluation capped = with_ratio(few, R"(, "error_cap": 0.2)");
  CHECK(capped.verdict == Verdict::wrong_result);
  CHECK(tells(capped, "98 % required, and none may be farther off than 0.2 + 0 |expected|"));
  const std::string zero = "y[i] = n > 100 ? 0 : 2 * x[i] + 3;";
  CHECK(with_ratio(zero, "").verdict == Verdict::ok);  // this is what lint warns of
  CHECK(with_ratio(zero, R"(, "error_cap": 0.5)").verdict == Verdict::wrong_result);
  // What is not written is NaN, and no ratio covers that.
  CHECK(with_ratio("if (n <= 100) y[i] = 2 * x[i] + 3;", "").verdict == Verdict::wrong_result);
  const Evaluation many = with_ratio("y[i] = 0; y[i - 1] = 0; y[i - 2] = 0;", "");
  CHECK(many.verdict == Verdict::wrong_result);
  CHECK(tells(many, " % of y within tolerance, 98 % required"));
}

TEST_CASE("lint: a ratio that covers elements which nobody computes is told") {
  const auto findings = [](const std::string& members) {
    const Problem problem = one_function(
        R"("type": "f32")", R"("type": "f32", "tolerance": {"matched_ratio": 0.98)" + members + "}",
        R"(extern "C" void f(int n, const float* x, float* y) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i] + 3; })",
        "void r(int n, const real* x, real* y) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i] + 3; }");
    HostLintRunner runner(problem, support::quick());
    std::string all;
    for (const LintFinding& finding : lint(problem, runner)) all += finding.what + "\n";
    return all;
  };
  CHECK(findings("").find("a kernel that writes 0 in place of 81 of 4096 elements of output y") !=
        std::string::npos);
  CHECK(findings(R"(, "error_cap": 0.5)").find("in place of") == std::string::npos);
}

TEST_CASE("HostEvaluator: an int4 product with scales by block, in checks and timed calls") {
  const auto verdict = [](const std::string& scale) {
    return judged(parse_problem(
        R"({"schema": 1, "name": "q", "backend": "host", "function": "f", "hidden_shapes": {"none": "a test"},
    "arguments": [{"name": "n", "type": "i32"}, {"name": "k", "type": "i32"},
      {"name": "w", "type": "i4", "size": "n*k", "quantised": {"scale": "s", "columns": "k", "block": [1, 32]}},
      {"name": "s", "type": "f32", "size": "n*k // 32"}, {"name": "x", "type": "f32", "size": "k"},
      {"name": "y", "type": "f32", "size": "n", "role": "out"}],
    "kernel": {"device": {"text": )" +
            support::quoted(R"(
extern "C" void f(int n, int k, const unsigned char* w, const float* s, const float* x, float* y) {
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int j = 0; j < k; ++j) {
      const unsigned char both = w[(i * k + j) / 2];
      const int code = ((j % 2 ? both >> 4 : both & 15) ^ 8) - 8;
      sum += code * )" + scale +
                            R"( * x[j];
    }
    y[i] = sum;
  }
})") + R"(}}, "shapes": [{"name": "s", "n": 9, "k": 64, "weight": 0}, {"name": "l", "n": 64, "k": 256}],
    "reference": {"source": {"text": )" +
            support::quoted(R"(
void r(int n, int k, const unsigned char* w, const real* s, const real* x, real* y) {
  for (int i = 0; i < n; ++i) {
    y[i] = 0;
    for (int j = 0; j < k; ++j) {
      const int code = ((w[(i * k + j) / 2] >> 4 * (j % 2) & 15) ^ 8) - 8;
      y[i] += code * s[(i * k + j) / 32] * x[j];
    }
  }
})") + R"(}, "function": "r"}, "build": {"compiler": "g++", "flags": ["-O1"]}})",
        support::sources));
  };
  CHECK(verdict("s[(i * k + j) / 32]").verdict == Verdict::ok);
  CHECK(verdict("s[i * k / 32]").verdict == Verdict::wrong_result);
}
