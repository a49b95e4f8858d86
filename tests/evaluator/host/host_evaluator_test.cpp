// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/host_evaluator.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "evaluator/host/support.hpp"

using namespace kernelsearch;

TEST_CASE("HostEvaluator: a right kernel is ok and measured") {
  const auto e = support::judge(R"(extern "C" void scale(int n, const float* x, float* y) {
    for (int i = 0; i < n; ++i) y[i] = 3 * x[i] + 1;
  })");
  CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  REQUIRE(e.measurement.shapes.size() == 1);
  CHECK(e.measurement.shapes[0].samples.size() >= 6);
  CHECK(e.measurement.seconds > 0);
}

namespace {

// "// expect: VERDICT: words of the reason"
struct Expectation {
  std::string verdict, words;
};

Expectation expectation(const std::string& source) {
  const std::string mark = "// expect: ";
  const auto begin = source.find(mark) + mark.size();
  const std::string line = source.substr(begin, source.find('\n', begin) - begin);
  const auto colon = line.find(": ");
  return {line.substr(0, colon), line.substr(colon + 2)};
}

std::vector<std::filesystem::path> kernels(const char* folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(support::sources / folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

TEST_CASE("HostEvaluator: hostile kernels get the verdict that each deserves") {
  const auto paths = kernels("hostile");
  CHECK(paths.size() >= 35);
  for (const auto& path : paths) {
    const std::string source = support::read(path);
    const Expectation expected = expectation(source);
    CAPTURE(path.filename().string());
    const Evaluation e = support::judge(source);
    CAPTURE(e.reason);
    CHECK(to_string(e.verdict) == expected.verdict);
    CHECK(e.reason.find(expected.words) != std::string::npos);
    CHECK(e.progress < 1.0);
    CHECK(e.measurement.shapes.empty());
  }
}

TEST_CASE("HostEvaluator: honest kernels are ok, whatever else they do") {
  const auto paths = kernels("honest");
  CHECK(paths.size() >= 10);
  for (const auto& path : paths) {
    CAPTURE(path.filename().string());
    const Evaluation e = support::judge(support::read(path));
    CHECK_MESSAGE(e.verdict == Verdict::ok, e.reason);
  }
}
