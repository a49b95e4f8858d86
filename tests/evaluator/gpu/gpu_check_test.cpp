// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/gpu_check.hpp"

#include "evaluator/gpu/support.hpp"

using namespace gpu_test;

namespace {

GpuCheck checked(const DeviceProblem& problem) {
  return check_on_gpu(problem.parsed(), quick());
}

void has_error(const GpuCheck& check, const std::string& words) {
  REQUIRE(check.findings.size() == 1);
  CHECK(check.findings[0].severity == LintFinding::Severity::error);
  CHECK_MESSAGE(contains(check.findings[0].what, words), check.findings[0].what);
}

/// A variable of the environment for as long as it lives.
class Elsewhere {
 public:
  explicit Elsewhere(const char* name) : name_(name), was_(getenv(name)) {
    setenv(name, "/nonexistent/library.so", 1);
  }
  ~Elsewhere() { setenv(name_, was_.c_str(), 1); }
  Elsewhere(const Elsewhere&) = delete;
  Elsewhere& operator=(const Elsewhere&) = delete;

 private:
  const char* name_;
  std::string was_;
};

}  // namespace

TEST_CASE("check_on_gpu: with a device the default is judged") {
  const GpuCheck right = checked({});
  CHECK(right.depth == GpuCheck::Depth::judged);
  CHECK(contains(right.on, "Stand-in of a GPU"));
  CHECK(right.missing.empty());
  CHECK(right.findings.empty());

  DeviceProblem wrong;
  wrong.kernel.replace(wrong.kernel.find("+ 1"), 3, "+ 2");
  has_error(checked(wrong), "the default is wrong_result: y[");
  DeviceProblem reference;
  reference.reference.replace(reference.reference.find("y[i] ="), 6, "y[i] = undeclared +");
  has_error(checked(reference), "the reference does not build");
  DeviceProblem beyond;
  beyond.more = R"(, "valid": "n > 100")";
  const GpuCheck part = checked(beyond);
  REQUIRE(part.findings.size() == 1);
  CHECK(part.findings[0].severity == LintFinding::Severity::warning);
  CHECK(contains(part.findings[0].what, "not valid for shape small"));
}

TEST_CASE("check_on_gpu: without a device kernels are compiled, without a compiler it says so") {
  use_stand_ins();
  const DeviceProblem problem;
  (void)quick();
  const Elsewhere driver("KERNELSEARCH_HIP_RUNTIME");
  GpuOptions options = quick();
  setenv("KERNELSEARCH_HIP_RUNTIME", "/nonexistent/library.so", 1);  // quick() has set it again
  const GpuCheck compiled = check_on_gpu(problem.parsed(), options);
  CHECK(compiled.depth == GpuCheck::Depth::compiled);
  CHECK_MESSAGE(contains(compiled.missing, "there is no hip device 0"), compiled.missing);
  CHECK_MESSAGE(contains(compiled.on, "for gfx90a"), compiled.on);
  CHECK(compiled.findings.empty());
  DeviceProblem broken;
  broken.kernel.replace(broken.kernel.find("y[i] ="), 6, "y[i] = undeclared +");
  has_error(check_on_gpu(broken.parsed(), options), "the default does not build");
  DeviceProblem reference;
  reference.reference.replace(reference.reference.find("y[i] ="), 6, "y[i] = undeclared +");
  has_error(check_on_gpu(reference.parsed(), options), "the reference does not build");

  const Elsewhere compiler("KERNELSEARCH_HIPRTC");
  const GpuCheck nothing = check_on_gpu(problem.parsed(), options);
  if (nothing.depth != GpuCheck::Depth::nothing) {  // found where it is installed
    MESSAGE("skipped: AMD's own compiler is here: ", nothing.on);
    return;
  }
  CHECK_MESSAGE(contains(nothing.missing, "no compiler: hipRTC cannot be loaded"), nothing.missing);
}
