// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/known_problem.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "support/scripted_model.hpp"

using namespace kernelsearch;
using namespace scripted;

TEST_CASE("known: what the problem tells is filled in where nothing was given") {
  Problem problem = problem_of_words();
  problem.kernel.regions.macros = "#define A 1\n";
  const LlmConfigSearchOptions search = systems::known(problem, LlmConfigSearchOptions{});
  CHECK(search.workload.find("## Problem: words\n\nA kernel of words") == 0);
  CHECK(search.workload.find("Compiled with: g++") != std::string::npos);
  CHECK(search.kernel.find("#define A 1\n\nextern") == 0);
  LlmConfigSearchOptions mine;
  mine.kernel = "mine";
  CHECK(systems::known(problem, mine).kernel == "mine");
  problem.backend = Backend::hip;
  const NaturalTransformationsOptions transform = systems::known(problem, NaturalTransformationsOptions{});
  CHECK(transform.backend == Backend::hip);
  CHECK(transform.function == "f");
}
