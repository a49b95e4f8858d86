// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/peak.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "support/scripted_model.hpp"

using namespace kernelsearch;
using namespace scripted;

TEST_CASE("systems: peak offers a problem what fits it, in the order that its kernels' shortage says") {
  Problem problem = read_problem(KERNELSEARCH_SOURCE_DIR "/examples/cuda/matmul_f32");
  systems::PeakSettings settings;
  WorkflowOptions plan = systems::peak_workflow(problem, settings);
  CHECK(plan.order == WorkflowOrder::open);
  const auto offers = [&plan](const std::string& name) {
    return std::find(plan.transformations.begin(), plan.transformations.end(), name) !=
           plan.transformations.end();
  };
  CHECK(offers("refactor"));
  CHECK_FALSE(offers("tensor_core_hip"));
  CHECK_FALSE(offers("loop_tiling"));
  CHECK_FALSE(std::is_sorted(plan.transformations.begin(), plan.transformations.end()));

  // A time at which the counted work is far from the peak, or the bytes are.
  settings.transformations.facts.peaks = {"a device", "given", {}, 1e12, {}, {{"memory", 1e30, 1e12}}};
  settings.transformations.facts.cold = true;
  plan = systems::peak_workflow(problem, settings);
  REQUIRE(plan.short_of);
  Outcome outcome;
  outcome.evaluation = Evaluation::succeeded(1.0);
  for (const Shape& shape : problem.shapes) {
    ShapeMeasurement measured;
    measured.shape = shape.name;
    measured.median = 1000.0;
    outcome.evaluation.measurement.shapes.push_back(measured);
  }
  CHECK(plan.short_of(outcome) == Axis::compute);  // of large matrices it is the arithmetic
  settings.transformations.facts.peaks.levels[0].bandwidth = 1e6;
  CHECK(systems::peak_workflow(problem, settings).short_of(outcome) == Axis::memory);
  outcome.evaluation.features.set("stall_wait", 90);
  CHECK(systems::peak_workflow(problem, settings).short_of(outcome) ==
        Axis::latency);  // a profile knows better
  outcome.evaluation = Evaluation::succeeded(1.0);
  CHECK_FALSE(systems::peak_workflow(problem, settings).short_of(outcome));

  problem.traits = {"reduction"};
  plan = systems::peak_workflow(problem, systems::PeakSettings());
  CHECK_FALSE(offers("refactor"));
  CHECK(offers("unroll_loops"));
  systems::PeakSettings named;
  named.named = find_workflow("a6000_fp32");
  CHECK_THROWS_AS((void)systems::peak_workflow(problem, named), ConfigError);
  problem.traits = {"matmul"};
  CHECK(systems::peak_workflow(problem, named).transformations == named.named->transformations);
  named.workflow.present = {"refactor"};
  CHECK(systems::peak_workflow(problem, named).present == std::vector<std::string>{"refactor"});
}

TEST_CASE("systems: peak tunes what each transformation leaves") {
  systems::PeakSettings settings;
  CHECK(settings.workflow.patience == 3);
  CHECK(settings.workflow.retries == 2);
  settings.workflow.transformations = {"vectorize_loop", "unroll_loops"};
  settings.tuning.max_trials = 10;
  settings.loop.budget = std::make_shared<TrialBudget>(60);
  RuleChat chat([](const ChatRequest& request) {
    const bool first = text_of(request).find("# Transformation: Vectorization") != std::string::npos;
    return RuleChat::replied(std::string("```cpp\nextern \"C\" void f() {\n  base\n  vectorize\n") +
                             (first ? "" : "  UNROLL\n  tiling\n") + "}\n```\n");
  });
  auto search = systems::peak(chat, problem_of_words(), KernelLandscape{}, settings);
  (void)search.run();
  CHECK(search.policy().checkpoints().find("vectorize_loop") != nullptr);
  REQUIRE(search.best() != nullptr);
  CHECK(search.best()->outcome.evaluation.features.find("inner_trials") == 10.0);
  CHECK_FALSE(search.best()->outcome.evaluation.tuned_key.empty());
  CHECK(chat.count("transformer") >= 2);
}
