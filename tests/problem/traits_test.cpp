// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/traits.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/lint.hpp"
#include "kernelsearch/problem/write_problem.hpp"
#include "problem/problem_texts.hpp"

using namespace kernelsearch;
using namespace kernelsearch_test;

namespace {

std::string with_traits(const std::string& list) {
  std::string text = small_problem;
  text.insert(text.find("\"schema\""), "\"traits\": " + list + ", ");
  return text;
}

}  // namespace

TEST_CASE("traits: those listed are 1 and then the other known ones 0; none listed: nothing is known") {
  const Features none = trait_features(parsed(small_problem));
  CHECK(!none.find("trait.matmul"));
  CHECK(none.find("trait.threads") == 0.0);
  CHECK(none.find("trait.multi_launch") == 0.0);
  const Features some = trait_features(parsed(with_traits(R"(["matmul", "mine"])")));
  CHECK(some.find("trait.matmul") == 1.0);
  CHECK(some.find("trait.mine") == 1.0);
  CHECK(some.find("trait.attention") == 0.0);
  CHECK(some.size() == known_traits.size() + 1);
  CHECK(trait_features(parsed(full_problem)).find("trait.threads") == 1.0);  // two of them
  CHECK(trait_features(parsed(with_traits("null"))) == none);
}

TEST_CASE("traits: several launches are known without being listed, zeroed arrays are none") {
  Problem problem = parsed(device_problem);
  std::size_t kernels = 0;
  for (const LaunchStep& step : problem.launch) kernels += step.zero.empty() ? 1 : 0;
  REQUIRE(kernels > 0);
  CHECK(trait_features(problem).find("trait.multi_launch") == (kernels > 1 ? 1.0 : 0.0));
  LaunchStep zero;
  zero.zero = "c";
  problem.launch = {problem.launch.front(), zero};
  problem.launch.front().zero.clear();
  CHECK(trait_features(problem).find("trait.multi_launch") == 0.0);
  problem.launch.push_back(problem.launch.front());
  CHECK(trait_features(problem).find("trait.multi_launch") == 1.0);
}

TEST_CASE("traits: read, written, and no part of a problem's identity") {
  const Problem problem = parsed(with_traits(R"(["matmul", "low_precision"])"));
  CHECK(problem.traits == std::vector<std::string>{"matmul", "low_precision"});
  CHECK(parsed(problem_json(problem)).traits == problem.traits);
  CHECK(problem_digest(problem) == problem_digest(parsed(small_problem)));
  for (const char* bad : {R"("matmul")", R"([""])", R"(["Mat"])", R"(["a", "a"])", "[3]"})
    CHECK(refusal(with_traits(bad)).find("/traits") != std::string::npos);
}

TEST_CASE("traits: lint names those that no method of ours asks for") {
  const auto findings = [](const std::string& list) {
    std::string text;
    for (const LintFinding& finding : lint_static(parsed(with_traits(list))))
      text += finding.what + "; " + finding.todo + "\n";
    return text;
  };
  CHECK(findings(R"(["matmul"])").find("trait") == std::string::npos);
  CHECK(findings(R"(["matmull"])").find("did you mean matmul?") != std::string::npos);
  CHECK(findings(R"(["my_own_kind_of_work"])").find("trait my_own_kind_of_work") != std::string::npos);
}
