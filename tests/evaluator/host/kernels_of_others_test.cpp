// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels as others have them: in C, called like functions of libc, with structs that hold arrays.
#include <doctest/doctest.h>

#include <algorithm>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/host/host_lint_runner.hpp"
#include "kernelsearch/judge/trivial_answers.hpp"
#include "kernelsearch/problem/lint.hpp"
#include "kernelsearch/problem/write_problem.hpp"
#include "support.hpp"

using namespace kernelsearch;

namespace {

namespace fs = std::filesystem;

fs::path others_folder(const std::string& name) {
  const fs::path folder = support::scratch() / ("others-" + name);
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

void put_other(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

Evaluation judged_here(const Problem& problem) {
  HostEvaluator evaluator(problem, support::quick());
  return evaluator.evaluate(support::default_candidate(problem), {});
}

/// What `check` finds wrong.
std::string errors_of(const Problem& problem) {
  HostLintRunner runner(problem, support::quick());
  std::string errors;
  for (const LintFinding& finding : lint(problem, runner, {}))
    if (finding.severity == LintFinding::Severity::error) errors += finding.what + "\n";
  return errors;
}

constexpr const char* in_place = R"("arguments": [{"name": "n", "type": "i32"},
    {"name": "p", "size": "n", "role": "inout", "type": "f32"}], "tunables": {"T": [1, 4]},
    "build": {"flags": ["-O2"]})";

}  // namespace

TEST_CASE("kernels of others: one called as a function of libc or libm is what is called") {
  // Before, libc's step() was called and crashed, and div() was timed without the kernel having run.
  for (const std::string name : {"step", "div", "y0", "index", "read"}) {
    CAPTURE(name);
    const Problem problem = parse_problem(
        R"({"schema": 1, "name": "libc", "function": ")" + name + R"(", "kernel": {"device": {"text": )" +
            support::quoted("extern \"C\" void " + name +
                            "(int n, float* p) { for (int i = 0; i < n; ++i) p[i] += T; }") +
            R"(}}, "shapes": [{"name": "a", "n": 1700}], "reference": {"function": "plus", "source": {"text":
            "void plus(int n, real* p) { for (int i = 0; i < n; ++i) p[i] += 1; }"}}, )" +
            in_place + "}",
        ".");
    const Evaluation e = judged_here(problem);
    CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
    CHECK(errors_of(problem).empty());
  }
}

TEST_CASE("kernels of others: a file in C is compiled as C, with the tunables, and needs no extern C") {
  const fs::path folder = others_folder("c");
  put_other(
      folder / "kernel.c",
      "#include \"twice.h\"\n#include <stdlib.h>\n"
      "void gesummv(int n, double alpha, double A[n][n], double *restrict x, double *restrict y) {\n"
      "  double *sums = malloc(n * sizeof *sums);  /* no C++: an implicit conversion, and arrays of variable "
      "length */\n"
      "  for (int i0 = 0; i0 < n; i0 += T)\n    for (int i = i0; i < n && i < i0 + T; i++) {\n"
      "      sums[i] = 0;\n      for (int j = 0; j < n; j++) sums[i] += A[i][j] * x[j];\n    }\n"
      "  for (int i = 0; i < n; i++) y[i] = TWICE(alpha * sums[i]) / 2;\n  free(sums);\n}\n");
  put_other(folder / "twice.h", "#define TWICE(x) ((x) + (x))\n");
  const auto problem_of = [&](const std::string& more) {
    return parse_problem(
        R"({"schema": 1, "name": "c", "function": "gesummv", "kernel": {"device": "kernel.c"},
      "arguments": [{"name": "n", "type": "i32"}, {"name": "alpha", "type": "f64", "value": 1.5},
        {"name": "A", "type": "f64", "size": "n*n"}, {"name": "x", "type": "f64", "size": "n"},
        {"name": "y", "type": "f64", "size": "n", "role": "out"}],
      "shapes": [{"name": "a", "n": 90}], "tunables": {"T": [1, 8], "FAST": ["", "-ffast-math -funroll-loops"]},
      "build": {"flags": ["-O2", "${FAST}"]})" +
            more + "}",
        folder);
  };
  for (
      const char* reference :
      {"",
       R"(, "reference": {"function": "r", "source": {"text": "void r(int n, real alpha, const real* A, const real* x, real* y) { for (int i = 0; i < n; ++i) { real s = 0; for (int j = 0; j < n; ++j) s += A[i * n + j] * x[j]; y[i] = alpha * s; } }"}})"}) {
    CAPTURE(reference);
    const Problem problem = problem_of(reference);
    const Evaluation e = judged_here(problem);
    CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
    HostEvaluator evaluator(problem, support::quick());
    const auto kernel = std::make_shared<const Kernel>(problem.kernel);
    const Evaluation other = evaluator.evaluate({kernel, Config{{1, 1}}}, {});
    CHECK_MESSAGE(other.verdict == Verdict::ok, other.reason);
    CHECK_MESSAGE(errors_of(problem).empty(), errors_of(problem));
    // Written and read again it is the same.
    CHECK(parse_problem(problem_json(problem), folder).build.command == problem.build.command);
  }
  put_other(folder / "kernel.c", "void gesummv(int n, { }\n");
  const Evaluation broken = judged_here(problem_of(""));
  CHECK(broken.verdict == Verdict::build_failed);
  CHECK_MESSAGE(broken.reason.find("kernel.c:1:") != std::string::npos, broken.reason);
}

TEST_CASE("kernels of others: a field of a struct may be an array, as in blocks of quantised numbers") {
  const std::string text =
      R"({"schema": 1, "name": "q4", "function": "q4dot", "kernel": {"device": {"text": )" +
      support::quoted(
          "struct BlockQ4 { float d; unsigned char qs[16]; };\n"
          "extern \"C\" void q4dot(int blocks, const BlockQ4* x, const signed char* y, float* s) {\n"
          "  float sum = 0;\n  for (int b = 0; b < blocks; ++b) {\n    int dot = 0;\n"
          "    for (int i = 0; i < 16; ++i) dot += ((x[b].qs[i] & 15) - 8) * y[32 * b + i] + ((x[b].qs[i] >> "
          "4) - 8) * y[32 * b + 16 + i];\n"
          "    sum += x[b].d * dot;\n  }\n  s[0] = sum;\n}\n") +
      R"(}}, "arguments": [{"name": "blocks", "type": "i32"},
      {"name": "x", "size": "blocks", "type": {"struct": "BlockQ4", "fields": [{"name": "d", "type": "f32", "low": 0.5, "high": 1},
        {"name": "qs", "type": "u8", "count": 16, "low": 0, "high": 256}]}},
      {"name": "y", "type": "i8", "size": "blocks*32", "low": -8, "high": 8}, {"name": "s", "type": "f32", "size": 1, "role": "out"}],
      "shapes": [{"name": "a", "blocks": 64}], "tunables": {"U": [1, 2]}, "tolerances": {"f32": {"absolute": 1e-3, "relative": 1e-4}}, "build": {"flags": ["-O2"]}})";
  const Problem problem = parse_problem(text, ".");
  REQUIRE(problem.arguments[1].structure);
  CHECK(problem.arguments[1].structure->fields.size() == 17);
  CHECK(size_in_bytes(*problem.arguments[1].structure) == 20);
  const Evaluation e = judged_here(problem);
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  const std::string written = problem_json(problem);
  CHECK(written.find("\"count\": 16") != std::string::npos);
  CHECK(parse_problem(written, ".").arguments[1].structure->fields.size() == 17);
  // What the kernel's own struct has otherwise is said when it is built.
  std::string other = text;
  other.replace(other.find("qs[16]"), 6, "qs[17]");
  CHECK(judged_here(parse_problem(other, ".")).verdict == Verdict::build_failed);
  for (const char* count : {"0", "1025", "-1", "\"x\""}) {
    other = text;
    other.replace(other.find("\"count\": 16"), 11, std::string("\"count\": ") + count);
    CHECK_THROWS_AS((void)parse_problem(other, "."), ConfigError);
  }
  // The largest block of ggml has 273 numbers, and C's way to write an array is answered with ours.
  other = text;
  other.replace(other.find("\"count\": 16"), 11, "\"count\": 272");
  CHECK(parse_problem(other, ".").arguments[1].structure->fields.size() == 273);
  other = text;
  other.replace(other.find("\"qs\", "), 6, "\"qs[16]\", ");
  CHECK_THROWS_WITH_AS((void)parse_problem(other, "."),
                       doctest::Contains("has a size in the name of a field: \"qs[16]\"; write {\"name\": "
                                         "\"qs\", \"type\": ..., \"count\": ...}"),
                       ConfigError);
}

TEST_CASE("kernels of others: check and tune say the same of what is compared bit by bit") {
  // Escape counts at the edge differ between a reference in double and a kernel in float; in float they
  // agree.
  const std::string loop =
      "(int w, float x0, float dx, int* out) { for (int i = 0; i < w; ++i) { real cr = x0 + i * dx, ci = "
      "real(0.3f), r = 0, m = 0; "
      "int k = 0; for (; k < 200 && r * r + m * m < 4; ++k) { real t = r * r - m * m + cr; m = 2 * r * m + "
      "ci; r = t; } out[i] = k; } }";
  std::string reference = loop;
  for (const char* type : {"float x0", "float dx"}) reference.replace(reference.find(type), 5, "real");
  const Problem problem = parse_problem(
      R"({"schema": 1, "name": "m", "bit_exact": true, "function": "mandel", "kernel": {"device": {"text": )" +
          support::quoted("using real = float;\nextern \"C\" void mandel" + loop) +
          R"(}}, "arguments": [{"name": "w", "type": "i32"}, {"name": "x0", "type": "f32", "value": -2.2},
          {"name": "dx", "type": "f32", "value": "3.0/w"}, {"name": "out", "type": "i32", "size": "w", "role": "out"}],
          "shapes": [{"name": "a", "w": 9600}], "tunables": {"V": [1, 2]}, "build": {"flags": ["-O2", "-ffp-contract=off"]},
          "reference": {"function": "r", "flags": ["-O2", "-ffp-contract=off"], "source": {"text": )" +
          support::quoted("void r" + reference) + "}}}",
      ".");
  const Evaluation e = judged_here(problem);
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  CHECK_MESSAGE(errors_of(problem).find("is wrong") == std::string::npos, errors_of(problem));
}

TEST_CASE(
    "kernels of others: OpenMP without `threads` runs in one thread for check as for tune, or the hint is "
    "given") {
  const auto problem_of = [](const std::string& clause) {
    return parse_problem(
        R"({"schema": 1, "name": "omp", "function": "k", "kernel": {"device": {"text": )" +
            support::quoted(
                "extern \"C\" void k(int n, const float* x, float* y) {\n#pragma omp parallel for " + clause +
                "\n  for (int i = 0; i < n; ++i) y[i] = x[i] + 1;\n}\n") +
            R"(}}, "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"},
            {"name": "y", "type": "f32", "size": "n", "role": "out"}], "shapes": [{"name": "a", "n": 30000}],
            "tunables": {"C": [1, 2]}, "build": {"flags": ["-O2", "-fopenmp"]}, "reference": {"function": "r", "source":
            {"text": "void r(int n, const real* x, real* y) { for (int i = 0; i < n; ++i) y[i] = x[i] + 1; }"}}})",
        ".");
  };
  const Problem plain = problem_of("");
  CHECK_MESSAGE(judged_here(plain).verdict == Verdict::ok, judged_here(plain).reason);
  CHECK_MESSAGE(errors_of(plain).find("the default fails") == std::string::npos, errors_of(plain));
  const auto findings = lint_static(plain);
  CHECK(std::any_of(findings.begin(), findings.end(), [](const LintFinding& finding) {
    return finding.what.find("built with OpenMP") != std::string::npos;
  }));
  const Problem four = problem_of("num_threads(4)");
  const Evaluation e = judged_here(four);
  CHECK(e.verdict == Verdict::crashed);
  CHECK_MESSAGE(e.reason.find("set \"threads\" in the problem") != std::string::npos, e.reason);
  CHECK_MESSAGE(errors_of(four).find("set \"threads\" in the problem") != std::string::npos, errors_of(four));
  // Without a reference, the default is used as one, with no more cores than otherwise.
  Problem alone = plain;
  alone.reference = {};
  CHECK_NOTHROW((void)try_trivial_answers(alone, support::quick()));
  alone = four;
  alone.reference = {};
  CHECK_THROWS_WITH_AS(
      (void)try_trivial_answers(alone, support::quick()),
      doctest::Contains("the default configuration fails: a: it ended the process with status 1"),
      ConfigError);
  CHECK_MESSAGE(errors_of(alone).find("correct the reference") == std::string::npos, errors_of(alone));
}

TEST_CASE("kernels of others: a timed shape whose arrays are empty gets a word") {
  const Problem problem = parse_problem(
      R"({"schema": 1, "name": "z", "function": "k", "kernel": {"device": {"text": "extern \"C\" void k(int n, float* p) {}"}},
          "shapes": [{"name": "none", "n": 0}, {"name": "some", "n": 50000}, {"name": "edge", "n": 0, "weight": 0}], )" +
          std::string(in_place) + "}",
      ".");
  std::string said;
  for (const LintFinding& finding : lint_static(problem)) said += finding.what + "\n";
  CHECK_MESSAGE(said.find("array p has no elements in shape none, which is timed") != std::string::npos,
                said);
  CHECK_MESSAGE(said.find("shape edge") == std::string::npos, said);
}

TEST_CASE("host: an exception that nothing catches is said with its text, also with two bases") {
  const auto reason = [](const std::string& thrown) {
    const std::string text =
        R"x({"schema": 1, "name": "thrower", "function": "thrower", "kernel": {"device": {"text":
        "#include <stdexcept>\n#include <string>\nstruct Own : private std::string, public std::runtime_error { Own() : std::runtime_error(\"of its own\") {} };\nextern \"C\" void thrower(int n, float* y) { if (n > 0) throw )x" +
        thrown + R"x(; y[0] = 1; }"}},
        "arguments": [{"name": "n", "type": "i32"}, {"name": "y", "type": "f32", "size": "n", "role": "out"}],
        "shapes": [{"name": "s", "n": 64}], "tunables": {"T": [1, 2]},
        "reference": {"function": "fill", "source": {"text": "void fill(int n, real* y) { for (int i = 0; i < n; ++i) y[i] = 1; }"}}})x";
    const Evaluation evaluation = judged_here(parse_problem(text, "."));
    CHECK(evaluation.verdict == Verdict::crashed);
    return evaluation.reason;
  };
  CHECK(reason(R"x(std::out_of_range(\"tile 7 of 4\"))x") ==
        "an exception that nothing caught ended it while it ran: tile 7 of 4 (shape s)");
  CHECK(reason("Own()").find(": of its own") != std::string::npos);
  CHECK(reason("42").find("exception that nothing caught") == std::string::npos);
}
