// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/host_preprocess.hpp"

#include <doctest/doctest.h>

#include "evaluator/host/support.hpp"

using namespace kernelsearch;

namespace {

Problem with_tunables(const std::string& kernel) {
  return support::parse_problem(
      support::scale_problem(kernel, R"(, "tunables": {"USED": [1, 2], "HIDDEN": [1, 2], "UNUSED": [1, 2],
        "FLAG": ["-DLEVEL=1", "-DLEVEL=2"]}, "default": {})"),
      support::sources);
}

Problem flagged(const std::string& kernel) {
  Problem problem = with_tunables(kernel);
  problem.build.flags = {"-O1", "${FLAG}"};
  return problem;
}

}  // namespace

TEST_CASE("host_preprocess: the kernel's text at a configuration, its flags included") {
  const Problem problem = flagged("int used = USED, level = LEVEL; // comment");
  const Preprocess preprocess = host_preprocess(problem, support::quick());
  Config config = problem.kernel.space.default_config();
  const auto first = preprocess(config);
  REQUIRE(first);
  CHECK(first->find("int used = 1, level = 1;") != std::string::npos);
  CHECK(first->find("comment") == std::string::npos);
  config.indices[*problem.kernel.space.find("USED")] = 1;
  config.indices[*problem.kernel.space.find("FLAG")] = 1;
  const auto second = preprocess(config);
  REQUIRE(second);
  CHECK(second->find("int used = 2, level = 2;") != std::string::npos);
}

TEST_CASE("host_preprocess: nothing where the preprocessor reports an error") {
  const Problem problem = flagged("#include \"nowhere.hpp\"");
  CHECK_FALSE(host_preprocess(problem, support::quick())(problem.kernel.space.default_config()));
}

TEST_CASE("host_preprocess: a tunable that only a false branch or a comment names is unused") {
  const Problem problem = flagged(
      "#if USED == 2\nint hidden = HIDDEN;\n#endif\n#if UNUSED > 5\nint unused = UNUSED;\n#endif\n"
      "extern \"C\" void scale(int n, const float* x, float* y) {}");
  const auto unused = find_unused_tunables(problem, host_preprocess(problem, support::quick()));
  REQUIRE(unused.size() == 1);
  CHECK(problem.kernel.space.tunable(unused[0].tunable).name == "UNUSED");
}
