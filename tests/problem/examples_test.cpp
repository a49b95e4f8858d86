// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <iterator>
#include <string>
#include <vector>

#include "kernelsearch/problem/lint.hpp"
#include "problem/problem_texts.hpp"
#include "support/device_examples.hpp"

using namespace kernelsearch;
using namespace kernelsearch_test;

TEST_CASE("the examples are problems without static lint errors") {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(KERNELSEARCH_SOURCE_DIR) / "examples";
  std::vector<fs::path> examples;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root))
    if (entry.path().filename() == "problem.json") examples.push_back(entry.path());
  for (const fs::directory_entry& backend : fs::directory_iterator(root))  // those that are NAME.json
    for (const fs::path& path : support::device_examples(root, backend.path().filename().string()))
      if (path.extension() == ".json") examples.push_back(path);
  for (const fs::path& path : examples) {
    CAPTURE(path.string());
    const Problem problem = read_problem(path);
    CHECK_FALSE(problem.arguments.empty());
    if (!problem.external) CHECK_FALSE(problem.traits.empty());
    for (const LintFinding& finding : lint_static(problem)) {
      CAPTURE(finding.what);
      CHECK(finding.severity == LintFinding::Severity::warning);
      CHECK(finding.what.rfind("trait ", 0) != 0);
      CHECK(finding.what.find("and the reference, which names it, is not") == std::string::npos);
    }
  }
}

namespace {

/// The problem in a section of docs/formats/problem.md.
Problem from_manual(const std::string& section, const std::string& suffix) {
  std::ifstream file(std::string(KERNELSEARCH_SOURCE_DIR) + "/docs/formats/problem.md");
  const std::string manual((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t begin = manual.find("```jsonc\n", manual.find("\n## " + section)) + 9;
  const TemporaryFolder folder;
  folder.write("problem.json", manual.substr(begin, manual.find("\n```", begin) - begin));
  folder.write("kernel" + suffix, "extern \"C\" void matmul();");
  folder.write("reference" + suffix, "void matmul_reference();");
  return read_problem(folder.path());
}

}  // namespace

TEST_CASE("the problems in docs/formats/problem.md are some") {
  const Problem device = from_manual("Device kernels", ".cu");
  CHECK(device.launch.size() == 3);
  CHECK(device.kernel.space.size() == 4);
  const Problem problem = from_manual("A whole one", ".cpp");
  CHECK(problem.shapes.size() == 5);
  CHECK(problem.kernel.space.size() == 6);
}
