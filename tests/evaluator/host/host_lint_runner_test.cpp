// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/host_lint_runner.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "evaluator/host/support.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/element_access.hpp"
#include "support/check_has.hpp"

using namespace kernelsearch;

namespace {

/// y[i] = a x[i] + z[i], with whatever kernel and reference a test puts in.
struct Texts {
  std::string kernel = "for (int i = 0; i < n; ++i) y[i] = a * x[i] + z[i];";
  std::string reference = "for (int i = 0; i < n; ++i) y[i] = a * x[i] + z[i];";
  std::string tolerance = R"({"absolute": 1e-5, "relative": 1e-5})";
  std::string type = "f32";
  std::string z_size = "n";

  [[nodiscard]] Problem problem() const {
    const std::string cpp = type == "f32" ? "float" : "double";
    const std::string arrays = "x, const " + cpp + "* z, " + cpp + "* y) {\n";
    const auto argument = [&](const std::string& name, const std::string& more) {
      return R"({"name": ")" + name + R"(", "type": ")" + type + R"(", )" + more + "}";
    };
    return parse_problem(
        R"({"schema": 1, "name": "axpy", "backend": "host", "function": "axpy", "arguments": [{"name": "n", "type": "i32"}, )" +
            argument("a", R"("value": "0.75")") + ", " + argument("x", R"("size": "n")") + ", " +
            argument("z", R"("size": ")" + z_size + "\"") + ", " +
            argument("y", R"("size": "n", "role": "out", "tolerance": )" + tolerance) +
            R"(], "shapes": [{"name": "odd", "n": 37, "weight": 0}, {"name": "large", "n": 8192}],
             "tunables": {"UNROLL": [1, 2]}, "build": {"compiler": "g++", "flags": ["-O1"]}, "kernel": {"device": {"text": )" +
            support::quoted("extern \"C\" void axpy(int n, " + cpp + " a, const " + cpp + "* " + arrays +
                            kernel + "\n}") +
            R"(}}, "reference": {"function": "axpy_reference", "source": {"text": )" +
            support::quoted("void axpy_reference(int n, real a, const real* x, const real* z, real* y) {\n" +
                            reference + "\n}") +
            "}}}",
        support::sources);
  }
};

std::string linted(const Texts& texts) {
  const Problem problem = texts.problem();
  HostLintRunner runner(problem, support::quick());
  std::string text;
  for (const LintFinding& finding : lint(problem, runner))
    text +=
        (finding.severity == LintFinding::Severity::error ? "error: " : "warning: ") + finding.what + "\n";
  return text;
}

}  // namespace

TEST_CASE("HostLintRunner: a good problem has no finding") {
  CHECK(linted({}) == "");
}

TEST_CASE("HostLintRunner: outputs are those of the inputs given, the reference's in high precision") {
  const Problem problem = Texts{}.problem();
  HostLintRunner runner(problem, support::quick());
  const Shape& shape = problem.shapes.front();
  CallInputs inputs = draw_inputs(problem, shape, 7);
  for (const double a : {0.75, -3.5}) {  // a scalar that differs from the shape's own
    store_element(ElementType::f32, a, inputs[1].data());
    const CallOutputs exact = runner.run_reference(shape, inputs), got = runner.run_default(shape, inputs);
    REQUIRE_MESSAGE(exact.failure.empty(), exact.failure);
    REQUIRE_MESSAGE(got.failure.empty(), got.failure);
    REQUIRE(exact.outputs.size() == 1);
    REQUIRE(exact.outputs[0].size() == 37);
    REQUIRE(got.outputs.size() == 1);
    REQUIRE(got.outputs[0].size() == 37);
    for (std::size_t i = 0; i < 37; ++i) {
      const double x = load_element(ElementType::f32, &inputs[2][4 * i]);
      const double z = load_element(ElementType::f32, &inputs[3][4 * i]);
      CHECK(exact.outputs[0][i] == a * x + z);
      CHECK(std::abs(got.outputs[0][i] - exact.outputs[0][i]) < 1e-6);
    }
  }
}

TEST_CASE("HostLintRunner: f64 is computed in more than double") {
  Texts texts;
  texts.type = "f64";
  texts.kernel = "for (int i = 0; i < n; ++i) y[i] = sizeof(*x);";
  texts.reference = "for (int i = 0; i < n; ++i) y[i] = sizeof(*x);";
  const Problem problem = texts.problem();
  HostLintRunner runner(problem, support::quick());
  const CallInputs inputs = draw_inputs(problem, problem.shapes[0], 1);
  const CallOutputs exact = runner.run_reference(problem.shapes[0], inputs);
  REQUIRE_MESSAGE(exact.failure.empty(), exact.failure);
  CHECK(exact.outputs[0][0] == sizeof(long double));
  CHECK(runner.run_default(problem.shapes[0], inputs).outputs.at(0).at(0) == sizeof(double));
}

TEST_CASE("HostLintRunner: a constant output is found") {
  Texts texts;
  texts.kernel = texts.reference = "for (int i = 0; i < n; ++i) y[i] = 3;";
  check_has(linted(texts), "error: output y (shape odd) is always 3.0");
}

TEST_CASE("HostLintRunner: an ignored input is found, array or scalar") {
  Texts texts;
  texts.kernel = texts.reference = "for (int i = 0; i < n; ++i) y[i] = x[i];";
  const std::string text = linted(texts);
  check_has(text, "warning: no output depends on input a");
  check_has(text, "warning: no output depends on input z");
  CHECK(text.find("input x") == std::string::npos);
}

TEST_CASE("HostLintRunner: a tolerance wider than the spread is found") {
  Texts texts;
  texts.tolerance = R"({"absolute": 10, "relative": 0})";
  check_has(linted(texts), "error: the tolerance of output y (shape odd) is wider than its spread");
}

TEST_CASE("HostLintRunner: a default that fails is found, in words") {
  Texts texts;
  texts.kernel = "for (int i = 0; i < n; ++i) y[i] = a * x[i] - z[i];";
  check_has(linted(texts), "error: the default's output y (shape odd) is wrong: element 0 is ");
  texts.kernel = "for (int i = 0; i < n; ++i) y[i] = a * x[i] + w[i];";
  check_has(linted(texts), "error: the default fails (shape odd): build_failed: ");
  texts.kernel = "*(volatile int*)nullptr = n;";
  check_has(linted(texts), "error: the default fails (shape odd): crashed: SIGSEGV");
  texts.kernel = "for (int i = 0; i <= n; ++i) y[i] = 1;";
  check_has(linted(texts),
            "error: the default fails (shape odd): out_of_bounds: it wrote outside of its arrays: "
            "y[37], past the end of y (37 elements)");
  texts.kernel = "for (int i = 0; i < n; ++i) y[i] = 1; ((float*)x)[n] = 1;";
  check_has(linted(texts), "(shape odd): out_of_bounds: it wrote outside of its arrays: x[37], past the end");
  texts.kernel = "for (int i = 0; i < n; ++i) y[i] = a * x[i] + z[i]; ((float*)x)[0] = 1;";
  check_has(linted(texts), "error: the default fails (shape odd): cheated: it changed its input x");
  texts.kernel = "for (int i = 0; i + 1 < n; ++i) y[i] = a * x[i] + z[i];";
  check_has(linted(texts), "error: the default's output y (shape odd) is wrong: element 36 is nan");
  texts.kernel = "for (volatile int i = 0;;) {}";
  check_has(linted(texts), "error: the default fails (shape odd): timed_out: ");
}

TEST_CASE("HostLintRunner: a reference that fails is found, in words") {
  Texts texts;
  texts.reference = "for (int i = 0; i < n; ++i) y[i] = a * x[i] + w[i];";
  check_has(linted(texts), "error: the reference fails (shape odd): the reference does not build: ");
  texts.reference = "*(volatile int*)nullptr = n;";
  check_has(linted(texts), "error: the reference fails (shape odd): the reference fails: odd: SIGSEGV");
  texts.reference = "for (int i = 0; i <= n; ++i) y[i] = 1;";
  check_has(linted(texts), "the reference writes outside of its arrays: odd: y[37], past the end of y");
}

TEST_CASE("HostLintRunner: a nondeterministic kernel is found") {
  Texts texts;
  texts.kernel =
      "static int calls = 0; ++calls;\nfor (int i = 0; i < n; ++i) y[i] = a * x[i] + z[i] + calls - 1;";
  check_has(linted(texts),
            "error: two runs of the default differ beyond the tolerance in output y (shape odd)");
  texts.kernel =
      "static int calls = 0; ++calls;\nfor (int i = 0; i < n; ++i) y[i] = a * x[i] + z[i] + 1e-6f * calls;";
  check_has(linted(texts),
            "warning: two runs of the default differ within the tolerance in output y (shape odd)");
}

TEST_CASE("HostLintRunner: what the reference leaves unwritten is nobody's to write") {
  Texts texts;
  texts.reference = "for (int i = 1; i < n; ++i) y[i] = a * x[i] + z[i];";
  CHECK(linted(texts) == "");  // the kernel writes element 0
  texts.kernel = "for (int i = 1; i < n; ++i) y[i] = a * x[i] + z[i];";
  CHECK(linted(texts) == "");
}

TEST_CASE("HostLintRunner: the kernel itself as the reference") {
  Problem problem = Texts{}.problem();
  problem.reference = {};
  HostLintRunner runner(problem, support::quick());
  CHECK(lint(problem, runner).empty());
}

TEST_CASE("HostLintRunner: misuse is a ConfigError") {
  Problem problem = Texts{}.problem();
  HostLintRunner runner(problem, support::quick());
  const CallInputs inputs = draw_inputs(problem, problem.shapes[0], 1);
  CHECK_THROWS_AS((void)runner.run_default(Shape{"other", {}, 1}, inputs), ConfigError);
  CHECK_THROWS_AS((void)runner.run_default(problem.shapes[1], inputs), ConfigError);
  CHECK_THROWS_AS((void)runner.run_reference(problem.shapes[0], {}), ConfigError);
  problem.backend = Backend::cuda;
  CHECK_THROWS_AS(HostLintRunner(problem, support::quick()), ConfigError);
}
