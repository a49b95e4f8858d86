// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <iterator>
#include <string>

#include "kernelsearch/problem/lint.hpp"
#include "problem/problem_texts.hpp"

using namespace kernelsearch;
using namespace kernelsearch_test;

TEST_CASE("the examples are problems without static lint errors") {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(KERNELSEARCH_SOURCE_DIR) / "examples";
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().filename() != "problem.json") continue;
    CAPTURE(entry.path().string());
    const Problem problem = read_problem(entry.path());
    CHECK_FALSE(problem.arguments.empty());
    for (const LintFinding& finding : lint_static(problem)) {
      CAPTURE(finding.what);
      CHECK(finding.severity == LintFinding::Severity::warning);
    }
  }
}

TEST_CASE("the problem in docs/formats/problem.md is one") {
  std::ifstream file(std::string(KERNELSEARCH_SOURCE_DIR) + "/docs/formats/problem.md");
  const std::string manual((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t begin = manual.find("```jsonc\n") + 9;
  const TemporaryFolder folder;
  folder.write("problem.json", manual.substr(begin, manual.find("\n```", begin) - begin));
  folder.write("kernel.cpp", "extern \"C\" void matmul();");
  folder.write("reference.cpp", "void matmul_reference();");
  const Problem problem = read_problem(folder.path());
  CHECK(problem.shapes.size() == 5);
  CHECK(problem.kernel.space.size() == 6);
}
