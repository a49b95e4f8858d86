// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/lint.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "kernelsearch/problem/element_access.hpp"
#include "problem/problem_texts.hpp"
#include "support/check_has.hpp"

using namespace kernelsearch;
using namespace kernelsearch_test;

namespace {

using Severity = LintFinding::Severity;

/// y = alpha * x + z over n elements.
constexpr const char* axpy =
    R"({"schema": 1, "name": "axpy", "function": "f", "kernel": {"device": {"text": "f"}},
  "arguments": [{"name": "n", "type": "i32"}, {"name": "alpha", "type": "f32", "value": 0.5},
    {"name": "x", "type": "f32", "size": "n"}, {"name": "z", "type": "f32", "size": "n"},
    {"name": "y", "type": "f32", "size": "n", "role": "out"}],
  "shapes": [{"name": "large", "n": 2000}, {"name": "odd", "n": 61, "weight": 0}],
  "tunables": {"A": [1, 2]}})";

struct Call {
  double alpha;
  std::vector<double> x, z;
};

Call decoded(const CallInputs& inputs) {
  const auto floats = [](const std::vector<std::byte>& bytes) {
    std::vector<double> values;
    for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4)
      values.push_back(load_element(ElementType::f32, &bytes[i]));
    return values;
  };
  return {load_element(ElementType::f32, inputs[1].data()), floats(inputs[2]), floats(inputs[3])};
}

std::vector<double> right(const Call& call) {
  std::vector<double> y;
  for (std::size_t i = 0; i < call.x.size(); ++i) y.push_back(call.alpha * call.x[i] + call.z[i]);
  return y;
}

using Function = std::function<std::vector<double>(const Call&)>;

/// Runs functions written here in place of compiled code.
class Scripted : public LintRunner {
 public:
  Function reference = right;
  Function kernel = right;
  std::string reference_failure;
  std::string kernel_failure;
  std::vector<std::string> shapes;

  CallOutputs run_reference(const Shape& shape, const CallInputs& inputs) override {
    shapes.push_back(shape.name);
    if (!reference_failure.empty()) return {{}, reference_failure};
    return {{reference(decoded(inputs))}, {}};
  }
  CallOutputs run_default(const Shape&, const CallInputs& inputs) override {
    if (!kernel_failure.empty()) return {{}, kernel_failure};
    return {{kernel(decoded(inputs))}, {}};
  }
};

std::string listed(const std::vector<LintFinding>& findings) {
  std::string text;
  for (const LintFinding& finding : findings)
    text += (finding.severity == Severity::error ? "error: " : "warning: ") + finding.what + "; " +
            finding.todo + "\n";
  return text;
}

std::string linted(Scripted& runner, const char* text = axpy) {
  return listed(lint(parsed(text), runner));
}

Function both(Function f) {
  return f;
}

}  // namespace

TEST_CASE("lint: a sound problem has no finding") {
  Scripted runner;
  CHECK(linted(runner) == "");
  runner.kernel = [](const Call& call) {
    std::vector<double> y = right(call);
    for (double& value : y) value = static_cast<float>(value);
    return y;
  };
  CHECK(linted(runner) == "");
}

TEST_CASE("lint: constant outputs and outputs that ignore inputs") {
  Scripted runner;
  runner.reference = runner.kernel =
      both([](const Call& call) { return std::vector<double>(call.x.size(), 3.0); });
  check_has(linted(runner), "error: output y (shape odd) is always 3.0");
  runner.reference = runner.kernel = both([](const Call& call) {
    std::vector<double> y(call.x.size());
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<double>(i);
    return y;
  });
  check_has(linted(runner), "error: output y (shape odd) does not depend on the inputs' values");
  runner.reference = runner.kernel = both([](const Call& call) {
    return std::vector<double>(call.x.size(), call.x[0] + call.z[1] * call.alpha);
  });
  check_has(linted(runner), "warning: all elements of output y (shape odd) are equal");
}

TEST_CASE("lint: an input that no output depends on, array or scalar") {
  Scripted runner;
  runner.reference = runner.kernel = both([](const Call& call) {
    std::vector<double> y = call.x;
    for (double& value : y) value *= call.alpha;
    return y;
  });
  const std::string text = linted(runner);
  check_has(text, "warning: no output depends on input z");
  CHECK(text.find("input x") == std::string::npos);
  CHECK(text.find("input alpha") == std::string::npos);
  runner.reference = runner.kernel = both([](const Call& call) {
    std::vector<double> y = call.x;
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += call.z[i];
    return y;
  });
  check_has(linted(runner), "warning: no output depends on input alpha");
}

TEST_CASE("lint: tolerances wider than the output's spread") {
  Scripted runner;
  const auto scaled = [](double scale, double offset) {
    return [=](const Call& call) {
      std::vector<double> y = right(call);
      for (double& value : y) value = value * scale + offset;
      return y;
    };
  };
  runner.reference = runner.kernel = scaled(1e-5, 0);
  check_has(
      linted(runner),
      "error: the tolerance of output y (shape odd) is wider than its spread: another call's result would "
      "pass");
  runner.reference = runner.kernel = scaled(1e-3, 100);
  check_has(linted(runner), "is wider than its spread");
  // Few large elements among many tiny ones: zeros pass for most.
  runner.reference = runner.kernel = both([](const Call& call) {
    std::vector<double> y = right(call);
    for (std::size_t i = 0; i < y.size(); ++i)
      if (i % 20 != 0) y[i] *= 1e-6;
    return y;
  });
  check_has(
      linted(runner),
      "warning: the tolerance of output y (shape odd) is as wide as the spread of most of its elements");
  std::string wide = axpy;
  wide.insert(wide.rfind("\"role\": \"out\""), "\"tolerance\": {\"absolute\": 10}, ");
  runner.reference = runner.kernel = right;
  check_has(linted(runner, wide.c_str()), "the bound is 10.0 + ");
}

TEST_CASE("lint: a default that fails or is wrong, a reference that fails") {
  Scripted runner;
  runner.kernel_failure = "it does not compile";
  check_has(linted(runner), "error: the default fails (shape odd): it does not compile");
  runner.kernel_failure.clear();
  runner.kernel = [](const Call& call) {
    std::vector<double> y = right(call);
    y[7] += 1;
    return y;
  };
  check_has(linted(runner), "error: the default's output y (shape odd) is wrong: element 7 is ");
  runner.kernel = [](const Call& call) {
    std::vector<double> y = right(call);
    y[3] = std::numeric_limits<double>::quiet_NaN();
    return y;
  };
  check_has(linted(runner), "wrong: element 3 is nan");
  runner.kernel = [](const Call& call) {
    std::vector<double> y = right(call);
    y.pop_back();
    return y;
  };
  check_has(linted(runner), "element 60 is nothing");
  runner.reference_failure = "no such function";
  std::string with_reference = axpy;
  with_reference.replace(with_reference.rfind('}'), 1,
                         R"(, "reference": {"source": {"text": "void r() {}"}, "function": "r"}})");
  check_has(linted(runner, with_reference.c_str()),
            "error: the reference fails (shape odd): no such function; correct the reference");
  check_has(linted(runner), "error: the default fails (shape odd): no such function; correct the kernel");
}

TEST_CASE("lint: two runs that differ") {
  Scripted runner;
  int calls = 0;
  runner.kernel = [&](const Call& call) {
    std::vector<double> y = right(call);
    y[5] += 1e-7 * ++calls;
    return y;
  };
  check_has(linted(runner), "warning: two runs of the default differ within the tolerance in output y");
  runner.kernel = [&](const Call& call) {
    std::vector<double> y = right(call);
    y[5] += ++calls;
    return y;
  };
  check_has(linted(runner), "error: two runs of the default differ beyond the tolerance in output y");
  runner.kernel = right;
  runner.reference = [&](const Call& call) {
    std::vector<double> y = right(call);
    y[5] += 1e-7 * ++calls;
    return y;
  };
  check_has(linted(runner), "error: two runs of the reference differ in output y");
}

TEST_CASE("lint: outputs that are no numbers") {
  Scripted runner;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  runner.reference = runner.kernel =
      both([=](const Call& call) { return std::vector<double>(call.x.size(), nan); });
  check_has(linted(runner), "error: no element of the reference's output y (shape odd) is finite");
  runner.reference = runner.kernel = both([=](const Call& call) {
    std::vector<double> y = right(call);
    y[1] = nan;
    return y;
  });
  const std::string text = linted(runner);
  check_has(text, "warning: 1 elements of the reference's output y (shape odd) are not finite");
  CHECK(text.find("default") == std::string::npos);  // NaN where NaN is expected is right
}

TEST_CASE("lint: runs the smallest shapes that are valid, and says which are not") {
  std::string text = axpy;
  text.insert(text.rfind("\"tunables\""), "\"valid\": \"n != 61\", ");
  text.insert(text.find("{\"name\": \"odd\""),
              "{\"name\": \"mid\", \"n\": 500}, {\"name\": \"small\", \"n\": 99}, ");
  Scripted runner;
  check_has(listed(lint(parsed(text), runner, {0, 2})), "warning: the default is not valid for shape odd");
  CHECK(runner.shapes.front() == "small");
  CHECK(runner.shapes.back() == "mid");
  (void)lint(parsed(text), runner);
  CHECK(runner.shapes.back() == "large");
}

TEST_CASE("lint: a shape of one element may be constant, the problem may not") {
  std::string text = axpy;
  text.insert(text.find("{\"name\": \"odd\""), "{\"name\": \"one\", \"n\": 1, \"weight\": 0}, ");
  Scripted runner;  // as softmax: one element alone is always 1, whatever its inputs
  runner.reference = runner.kernel = both([](const Call& call) {
    std::vector<double> y = right(call);
    double sum = 0;
    for (double& value : y) sum += value = std::exp(value);
    for (double& value : y) value /= sum;
    return y;
  });
  std::string strict = text;
  strict.insert(strict.rfind("\"role\": \"out\""),
                "\"tolerance\": {\"absolute\": 1e-9, \"relative\": 1e-5}, ");
  CHECK(linted(runner, strict.c_str()) == "");
  runner.reference = runner.kernel =
      both([](const Call& call) { return std::vector<double>(call.x.size(), 1.0); });
  check_has(linted(runner, text.c_str()), "error: output y (shape one) is always 1.0");
}

TEST_CASE("lint_static: nothing to time, nothing to tune, one shape, round or tiny sizes") {
  const auto changed = [](const char* from, const char* to) {
    std::string text = axpy;
    text.replace(text.find(from), std::string(from).size(), to);
    return listed(lint_static(parsed(text)));
  };
  CHECK(listed(lint_static(parsed(axpy))) == "");
  check_has(changed("\"n\": 2000}", "\"n\": 2000, \"weight\": 0}"), "error: no shape is timed");
  check_has(changed(",\n  \"tunables\": {\"A\": [1, 2]}", ""),
            "warning: there is nothing to tune: no tunables");
  check_has(changed("[1, 2]", "[1]"), "warning: there is nothing to tune: one configuration");
  check_has(changed(", {\"name\": \"odd\", \"n\": 61, \"weight\": 0}", ""),
            "warning: there is one shape only");
  check_has(
      changed("\"n\": 2000}, {\"name\": \"odd\", \"n\": 61", "\"n\": 2048}, {\"name\": \"odd\", \"n\": 64"),
      "warning: all sizes are powers of two");
  check_has(changed("\"n\": 2000}", "\"n\": 60}"), "warning: the timed shapes are too small to time well");
  CHECK(changed("\"n\": 2000}, {\"name\": \"odd\", \"n\": 61, \"weight\": 0}],",
                "\"n\": 60}, {\"name\": \"odd\", \"n\": 61, \"weight\": 0}], \"operations\": \"n**4\",") ==
        "");
}

TEST_CASE(
    "lint_static: a macro that the kernel's flags define and the reference reads is the reference's too") {
  Problem problem = parsed(axpy);
  problem.build.flags = {"-O2", "-DCAUSAL=1"};
  problem.reference.source = "void r() { int NOT_CAUSAL = 2, CAUSAL2 = 3; }";
  CHECK(listed(lint_static(problem)) == "");
  problem.reference.source += "\n#if CAUSAL\n#endif";
  check_has(listed(lint_static(problem)),
            "warning: the kernel is built with -DCAUSAL=1, and the reference, which names it, is not");
  problem.reference.flags.push_back("-DCAUSAL=0");  // asked for
  CHECK(listed(lint_static(problem)) == "");
  problem.reference.flags.clear();
  problem.build.flags = {"-DCAUSAL={A}"};  // a tunable's, of which the reference has none
  CHECK(listed(lint_static(problem)) == "");
}

TEST_CASE("lint: workspaces and tensor maps are neither drawn, compared nor missed") {
  const Problem problem = parsed(device_problem);
  const CallInputs inputs = draw_inputs(problem, problem.shapes[1], 4);
  REQUIRE(inputs.size() == 8);
  CHECK(inputs[0].size() == 4);
  CHECK(inputs[2].size() == 61 * 24 * 2);
  CHECK(inputs[3].empty());
  CHECK(inputs[4].size() == 25 * 4);
  CHECK(inputs[5].empty());
  CHECK(inputs[6].empty());
  CHECK(inputs[7].empty());

  /// c depends on a and filter; one output, as many inputs as the reference would get.
  class Device : public LintRunner {
   public:
    CallOutputs run_reference(const Shape&, const CallInputs& inputs) override {
      std::vector<double> c(61 * 61);
      for (std::size_t i = 0; i < c.size(); ++i)
        c[i] = load_element(ElementType::f16, &inputs[2][2 * (i % (61 * 24))]) +
               load_element(ElementType::f32, &inputs[4][4 * (i % 25)]);
      return {{c}, {}};
    }
    CallOutputs run_default(const Shape& shape, const CallInputs& inputs) override {
      return run_reference(shape, inputs);
    }
  } device;
  CHECK(listed(lint(problem, device, {0, 1})) == "");
  // The workspace alone would be traffic enough to time.
  Problem small = problem;
  small.shapes.erase(small.shapes.begin());
  small.shapes[0].weight = 1;
  small.shapes[0].variables = {{"n", Value{std::int64_t{3}}}, {"k", Value{std::int64_t{8}}}};
  small.arguments[5].size = Expression::parse("99999999");
  check_has(listed(lint_static(small)), "warning: the timed shapes are too small to time well");
}

TEST_CASE("draw_inputs: one buffer for each argument, none for outputs, the same for the same seed") {
  const Problem problem = parsed(axpy);
  const CallInputs inputs = draw_inputs(problem, problem.shapes[1], 4);
  REQUIRE(inputs.size() == 5);
  CHECK(load_element(ElementType::i32, inputs[0].data()) == 61);
  CHECK(load_element(ElementType::f32, inputs[1].data()) == 0.5);
  CHECK(inputs[2].size() == 61 * 4);
  CHECK(inputs[2] != inputs[3]);
  CHECK(inputs[4].empty());
  CHECK(inputs == draw_inputs(problem, problem.shapes[1], 4));
  CHECK(inputs != draw_inputs(problem, problem.shapes[1], 5));
}
