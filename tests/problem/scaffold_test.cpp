// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/scaffold.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "kernelsearch/problem/lint.hpp"
#include "problem/problem_texts.hpp"

using namespace kernelsearch;
using namespace kernelsearch_test;

TEST_CASE("scaffold_problem: the new problem reads, has a space worth searching and no lint") {
  const TemporaryFolder folder;
  scaffold_problem(folder.path() / "my-kernel", "my-kernel");
  const Problem problem = read_problem(folder.path() / "my-kernel");
  CHECK(problem.name == "my-kernel");
  CHECK(problem.function == "my_kernel");
  CHECK(problem.reference.function == "my_kernel_reference");
  CHECK(problem.build.compiler == "g++");
  CHECK(problem.shapes.size() == 3);
  CHECK(problem.kernel.space.size() == 3);
  CHECK(problem.kernel.space.constraints().size() == 1);
  CHECK(problem.kernel.space.count() < problem.kernel.space.raw_count());
  CHECK(BigCount(50) < problem.kernel.space.count());
  CHECK(lint_static(problem).empty());
  CHECK_THROWS_AS(scaffold_problem(folder.path() / "my-kernel", "my-kernel"), ConfigError);
}

TEST_CASE("scaffold_problem: kernel and reference compile at both ends of the space") {
  if (std::system("g++ --version > /dev/null 2>&1") != 0) {
    MESSAGE("skipped: no g++ here");
    return;
  }
  const TemporaryFolder folder;
  scaffold_problem(folder.path(), "p");
  const std::string base = "cd '" + folder.path().string() +
                           "' && g++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only -include cstdint ";
  CHECK(std::system((base + "-DROWS=1 -DLANES=1 kernel.cpp").c_str()) == 0);
  CHECK(std::system((base + "-DROWS=8 -DLANES=32 kernel.cpp").c_str()) == 0);
  CHECK(std::system((base + "-Dreal=double reference.cpp").c_str()) == 0);
}

TEST_CASE("scaffold_problem: any sensible name gives a function's name") {
  const auto function = [](const char* name) {
    const TemporaryFolder folder;
    scaffold_problem(folder.path(), name, {.compiler = "clang++"});
    const Problem problem = read_problem(folder.path());
    CHECK(problem.build.compiler == "clang++");
    return problem.function;
  };
  CHECK(function("saxpy") == "saxpy");
  CHECK(function("2d stencil") == "kernel_2d_stencil");
  CHECK(function("while") == "kernel_while");
  CHECK(function("--x--") == "x__");
  CHECK(function("kernelsearch_x") == "kernel_kernelsearch_x");
  const TemporaryFolder folder;
  CHECK_THROWS_WITH_AS(scaffold_problem(folder.path(), "42"), doctest::Contains("no letter"), ConfigError);
  CHECK_THROWS_WITH_AS(scaffold_problem(folder.path(), ""), doctest::Contains("no letter"), ConfigError);
  CHECK_THROWS_WITH_AS(scaffold_problem(folder.path(), "a\"b"), doctest::Contains("quotes"), ConfigError);
}
