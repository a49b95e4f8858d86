// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/problem/inputs.hpp"
#include "problem/problem_texts.hpp"
#include "support/device_examples.hpp"

using namespace kernelsearch;
using namespace kernelsearch_test;

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> device_examples() {
  std::vector<fs::path> found;
  for (const char* backend : {"cuda", "hip"}) {
    const auto of_backend = support::device_examples(fs::path(KERNELSEARCH_SOURCE_DIR) / "examples", backend);
    found.insert(found.end(), of_backend.begin(), of_backend.end());
  }
  return found;
}

/// What is wrong with a configuration for a shape; empty where nothing is.
class LaunchCheck {
 public:
  LaunchCheck(const Problem& problem, const Shape& shape, const Config& config)
      : problem_(problem), shape_(shape), values_(named_values(problem.kernel.space, config)) {}

  std::string run() {
    for (const Argument& argument : problem_.arguments) {
      if (argument.is_array) (void)element_count(argument, shape_, values_);
      if (argument.tensor_map) {
        all(argument.tensor_map->sizes, 1);
        all(argument.tensor_map->strides, 16, 16);
        all(argument.tensor_map->box, 1, 1, 256);
      }
    }
    bool launches = false;
    for (const LaunchStep& step : problem_.launch) {
      if (step.condition && !is_true(evaluate(*step.condition, shape_.variables, values_))) continue;
      launches = launches || !step.function.empty();
      all(step.geometry.grid, 1);
      all(step.geometry.block, 1, 1, 1024);
      all(step.geometry.cluster, 1, 1, 16);
      if (step.geometry.shared_bytes) all({*step.geometry.shared_bytes}, 0);
    }
    if (!launches && !problem_.launch.empty()) wrong_ += "launches no kernel";
    if (!wrong_.empty())
      for (const auto& [name, value] : values_) wrong_ += " " + name + "=" + to_string(value);
    return wrong_;
  }

 private:
  void all(const std::vector<Expression>& expressions, double least, double multiple = 1,
           double most = 0x1p40) {
    for (const Expression& expression : expressions) {
      const Value value = evaluate(expression, shape_, values_);
      const double number = try_to_number(value).value_or(std::nan(""));
      if (!(number >= least && number <= most) || std::fmod(number, multiple) != 0)
        wrong_ += expression.text() + " is " + to_string(value) + ";";
    }
  }

  const Problem& problem_;
  const Shape& shape_;
  std::vector<NamedValue> values_;
  std::string wrong_;
};

}  // namespace

TEST_CASE(
    "device examples: random configurations launch whole numbers of everything wherever they are valid") {
  const std::vector<fs::path> examples = device_examples();
  if (examples.empty()) {
    MESSAGE("skipped: there is no examples/cuda and no examples/hip");
    return;
  }
  for (const fs::path& example : examples) {
    CAPTURE(example.string());
    Problem problem = read_problem(example);
    // Their generators run where kernels do; what they would say is made up here.
    if (problem.generator)
      for (Shape& shape : problem.shapes)
        for (const std::string& size : problem.generator->sizes)
          shape.generated.emplace_back(size, std::int64_t{12347});
    const std::string backend(to_string(problem.backend));
    CHECK((example.parent_path().filename() == backend || example.stem().string().ends_with(backend)));
    Rng rng(2026);
    std::size_t valid = 0;
    for (int i = 0; i < 200; ++i) {
      const Config config = problem.kernel.space.sample(rng);
      for (const Shape& shape : problem.shapes) {
        if (!is_valid(problem, shape, config)) continue;
        ++valid;
        CAPTURE(shape.name);
        CHECK(LaunchCheck(problem, shape, config).run() == "");
      }
    }
    CHECK(valid > 0);
  }
}

TEST_CASE("device examples: the check sees what is wrong") {
  Problem problem = parsed(device_problem);
  const auto checked = [&] {
    return LaunchCheck(problem, problem.shapes[0], problem.kernel.space.default_config()).run();
  };
  CHECK(checked() == "");
  problem.launch[1].geometry.grid[0] = Expression::parse("n / 3");
  CHECK(checked().find("n / 3 is 1365.3") == 0);
  problem.launch.resize(1);
  CHECK(checked().find("launches no kernel BM=64") == 0);
}
