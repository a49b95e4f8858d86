// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/gpu_preprocess.hpp"

#include "evaluator/gpu/support.hpp"

using namespace gpu_test;

namespace {

std::string unused_in(Backend backend, const std::string& kernel) {
  DeviceProblem given;
  given.kernel = kernel;
  given.more = R"(, "tunables": {"USED": [1, 2], "HIDDEN": [1, 2], "OTHER": [1, 2], "UNUSED": [1, 2]})";
  Problem problem = given.parsed();
  problem.backend = backend;
  const Preprocess preprocess = gpu_preprocess(problem, quick());
  REQUIRE(preprocess);
  REQUIRE(preprocess(problem.kernel.space.default_config()));
  std::string names;
  for (const UnusedTunable& one : find_unused_tunables(problem, preprocess))
    names += problem.kernel.space.tunable(one.tunable).name + " ";
  return names;
}

}  // namespace

TEST_CASE("gpu_preprocess: branches for the device's compiler are what is looked at") {
  const std::string text =
      "#include \"kernelsearch/device/portable.hpp\"\n"
      "#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)\nint used = USED;\n"
      "#  if USED == 2\nint hidden = HIDDEN;\n#  endif\n#else\nint other = OTHER;\n#endif\n// UNUSED\n";
  CHECK(unused_in(Backend::cuda, text) == "OTHER UNUSED ");
  CHECK(unused_in(Backend::hip, text) == "OTHER UNUSED ");
}
