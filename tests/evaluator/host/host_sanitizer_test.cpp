// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/host_sanitizer.hpp"

#include <doctest/doctest.h>

#include "evaluator/host/support.hpp"
#include "kernelsearch/core/error.hpp"
#include "support/check_has.hpp"

using namespace kernelsearch;
using support::parse_problem;
using support::scale_problem;

namespace {

/// The kernel's body on lines 2 and following of a `scale`.
HostSanitized sanitized(const std::string& body, HostSanitizerOptions options = {},
                        const std::string& more = {}) {
  const Problem problem = parse_problem(
      scale_problem("extern \"C\" void scale(int n, const float* x, float* y) {\n" + body + "\n}", more),
      support::sources);
  return sanitize_on_host(problem, support::quick(), options);
}

/// The sanitizers' libraries may be missing; then everything is left out, and a test has nothing to say.
bool works(const HostSanitized& result) {
  if (result.left_out.empty()) return true;
  MESSAGE("skipped: ", result.left_out.front());
  CHECK(result.left_out.front().find("every shape: ") == 0);
  CHECK(result.findings.empty());
  return false;
}

}  // namespace

TEST_CASE("HostSanitizer: a right kernel has no finding on any shape") {
  const HostSanitized result = sanitized("for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;");
  if (!works(result)) return;
  CHECK(result.findings.empty());
  CHECK(result.shapes == 2);
}

TEST_CASE("HostSanitizer: a read past the end of an array, which no guard shows") {
  const HostSanitized result =
      sanitized("for (int i = 0; i < n; ++i)\n    y[i] = 3 * x[i] + 1 + 0 * x[i + 1];");
  if (!works(result)) return;
  REQUIRE(result.findings.size() == 1);  // the same of the larger shape is not said again
  CHECK(result.findings[0].severity == LintFinding::Severity::error);
  check_has(result.findings[0].what,
            "the default reads 4 bytes past the end of x, at element 37 of 37 (shape small) at ");
  check_has(result.findings[0].what, ":3 ");
  CHECK(result.shapes == 2);
}

TEST_CASE("HostSanitizer: a write before the beginning of an array") {
  const HostSanitized result =
      sanitized("for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;\n  if (n > 100) y[-2] = 0;");
  if (!works(result)) return;
  REQUIRE(result.findings.size() == 1);
  check_has(result.findings[0].what,
            "the default writes 4 bytes before the beginning of y, at element -2 of 4096 (shape large)");
}

TEST_CASE("HostSanitizer: an array of the kernel's own") {
  const HostSanitized result = sanitized(
      "float own[4] = {};\n  volatile int at = n;\n  own[at] = 1;\n"
      "  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + own[0];");
  if (!works(result)) return;
  REQUIRE(!result.findings.empty());
  check_has(result.findings[0].what + result.findings.back().what, "(shape small)");
}

TEST_CASE("HostSanitizer: undefined behaviour is a warning with its line") {
  const HostSanitized result = sanitized(
      "volatile int big = 2147483647;\n  volatile int sum = big + n;\n  (void)sum;\n"
      "  for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;");
  if (!works(result)) return;
  REQUIRE(result.findings.size() == 1);
  CHECK(result.findings[0].severity == LintFinding::Severity::warning);
  check_has(result.findings[0].what, "the default has undefined behaviour at ");
  check_has(result.findings[0].what, ":3 (shape small): signed integer overflow");
}

TEST_CASE("HostSanitizer: what is not looked at is said") {
  const HostSanitized broken = sanitized("undeclared = 1;");
  REQUIRE(broken.left_out.size() == 1);
  if (resolved(Sandbox::automatic) == Sandbox::landlock) return (void)works(broken);  // before it builds
  check_has(broken.left_out[0], "every shape: the kernel does not build with -fsanitize=address,undefined");
  check_has(broken.left_out[0], "undeclared");
  CHECK(broken.shapes == 0);

  const HostSanitized large =
      sanitized("for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;", {.max_bytes = 1000});
  if (large.left_out.size() != 1 || large.shapes == 0) return (void)works(large);
  check_has(large.left_out[0], "shape large: it needs 0 MiB");
  CHECK(large.shapes == 1);

  const HostSanitized late = sanitized("for (volatile int i = 0; i < 10;) {}", {.seconds = 1});
  REQUIRE(late.left_out.size() == 2);
  check_has(late.left_out[0], "shape small: it had not ended");
  check_has(late.left_out[1], "shape large: the time for it was used up");
}

TEST_CASE("HostSanitizer: a shape for which the default is not valid is not run") {
  const HostSanitized result =
      sanitized("for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;", {}, R"(, "valid": "n > 100")");
  if (!works(result)) return;
  CHECK(result.shapes == 1);
}

TEST_CASE("HostSanitizer: device problems are refused") {
  Problem problem = parse_problem(scale_problem("f"), support::sources);
  problem.backend = Backend::cuda;
  CHECK_THROWS_AS((void)sanitize_on_host(problem), ConfigError);
}
