// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/text_features.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/problem/problem.hpp"

using namespace kernelsearch;

namespace {

Problem launched(std::string host, std::string device) {
  Problem problem;
  problem.backend = Backend::cuda;
  problem.kernel.regions.host = std::move(host);
  problem.kernel.regions.device = std::move(device);
  return problem;
}

}  // namespace

TEST_CASE("text features: barriers and launches are counted in code, not in comments") {
  const Problem problem = launched(
      "void launch() { f<<<1, 32>>>(); /* g<<<1, 1>>>(); */ }\n",
      "// __syncthreads() is not needed\n__global__ void f() { __syncthreads(); __syncthreads(); }\n");
  const Features features = text_features(problem, problem.kernel);
  CHECK(features.find("text.barriers") == 2.0);
  CHECK(features.find("text.launches") == 1.0);
  CHECK(features.find("text.exact") == 0.0);
}

TEST_CASE("text features: launches in a loop are not known, launch steps are") {
  Problem problem = launched("void launch(int n) { for (int i = 0; i < n; ++i) f<<<1, 32>>>(); }\n", "");
  CHECK_FALSE(text_features(problem, problem.kernel).find("text.launches"));
  problem = launched("void launch() { format<<<1, 32>>>(); g<<<1, 1>>>(); }\n", "");
  CHECK(text_features(problem, problem.kernel).find("text.launches") == 2.0);
  problem.launch.resize(3);
  CHECK(text_features(problem, problem.kernel).find("text.launches") == 3.0);
  problem.backend = Backend::host;
  CHECK(text_features(problem, problem.kernel).begin() == text_features(problem, problem.kernel).end());
}

TEST_CASE("text features: outputs of 32 bits held to less than a thousandth are exact") {
  Problem problem = launched("", "");
  Argument output;
  output.name = "y";
  output.is_array = true;
  output.role = Role::out;
  output.tolerance = Tolerance{1e-6, 1e-4};
  problem.arguments = {output};
  const auto exact = [&] { return text_features(problem, problem.kernel).find("text.exact"); };
  CHECK(exact() == 1.0);
  problem.arguments[0].tolerance = Tolerance{1e-6, 1e-2};
  CHECK(exact() == 0.0);
  problem.arguments[0].tolerance = Tolerance{1e-6, 1e-4};
  problem.arguments[0].type = ElementType::f16;
  CHECK(exact() == 0.0);
  problem.arguments[0].type = ElementType::f32;
  problem.arguments[0].role = Role::in;
  CHECK(exact() == 0.0);
}
