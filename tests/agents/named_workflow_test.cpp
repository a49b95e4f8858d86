// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/named_workflow.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "support/check_has.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;
using Names = std::vector<std::string>;

namespace {

Features traits_with(const Names& had, const Names& lacked = {}) {
  Features features;
  for (const std::string& trait : had) features.set("trait." + trait, 1);
  for (const std::string& trait : lacked) features.set("trait." + trait, 0);
  return features;
}

Transformation named_step(std::string name, Names after = {}, Names tags = {}, Names backends = {}) {
  Transformation step;
  step.name = std::move(name);
  step.after = std::move(after);
  step.tags = std::move(tags);
  step.backends = std::move(backends);
  return step;
}

NamedWorkflow listed(Names transformations) {
  NamedWorkflow workflow;
  workflow.name = "mine";
  workflow.transformations = std::move(transformations);
  return workflow;
}

/// Why the workflow cannot be followed; `none` where it can.
std::string refusal_of(const NamedWorkflow& workflow, const WorkflowSubject& subject,
                       const TransformationLibrary& library = TransformationLibrary()) {
  try {
    (void)planned_workflow({}, library, subject, {}, &workflow);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

Names order_of(const WorkflowOptions& plan, Axis axis) {
  return plan.orders[static_cast<std::size_t>(axis)];
}

std::ptrdiff_t place_in(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) - names.begin();
}

}  // namespace

TEST_CASE("workflows: the five of PEAK's table 4 stand there as it prints them, and can be followed") {
  struct Row {
    const char *name, *backend;
    bool half;
    Names steps;
  };
  const std::vector<Row> table{
      {"a6000_fp32",
       "cuda",
       false,
       {"refactor", "tb_tiling", "thread_tiling", "thread_cache", "transpose", "thread_chunk", "split_k",
        "pipelining", "register_staging", "offset", "block_swizzle"}},
      {"a6000_fp16",
       "cuda",
       true,
       {"refactor", "tb_tiling", "warp_tiling", "tensor_core", "tensor_tiling", "pipelining",
        "register_staging", "offset", "block_swizzle"}},
      {"mi200_fp32",
       "hip",
       false,
       {"refactor", "tb_tiling", "warp_tiling", "tensor_core_hip", "tensor_tiling"}},
      {"mi200_fp16",
       "hip",
       true,
       {"refactor", "tb_tiling", "warp_tiling", "tensor_core_hip", "tensor_tiling", "offset", "block_swizzle",
        "pipelining"}},
      {"x1_85", "cuda", false, {"refactor", "tb_tiling", "thread_tiling"}}};
  for (const Row& row : table) {
    const std::string name = row.name;
    CAPTURE(name);
    const NamedWorkflow workflow = find_workflow(row.name);
    CHECK(workflow.transformations == row.steps);
    CHECK(workflow.source.find("PEAK, table 4") == 0);
    const WorkflowSubject subject{row.backend,
                                  traits_with(row.half ? Names{"matmul", "low_precision"} : Names{"matmul"})};
    CHECK(refusal_of(workflow, subject) == "none");
    const WorkflowOptions plan = planned_workflow({}, TransformationLibrary(), subject, {}, &workflow);
    CHECK(plan.order == WorkflowOrder::listed);
    CHECK(plan.transformations == row.steps);
    CHECK(plan.after.at("tb_tiling") == Names{"refactor"});
  }
}

TEST_CASE("workflows: the chains of the proofs can be followed") {
  for (const auto& entry : {std::pair{"h200_fp32", false}, std::pair{"h200_fp16", true}}) {
    const char* name = entry.first;  // no structured binding: clang 14 captures none
    const bool half = entry.second;
    CAPTURE(name);
    const NamedWorkflow workflow = find_workflow(name);
    const WorkflowSubject subject{"cuda",
                                  traits_with(half ? Names{"matmul", "low_precision"} : Names{"matmul"})};
    CHECK(refusal_of(workflow, subject) == "none");
    CHECK(workflow.transformations.size() >= 12);
  }
}

TEST_CASE("workflows: what cannot be followed is refused, with what to do about it") {
  const WorkflowSubject matmul{"cuda", traits_with({"matmul"}, {"reduction"})};
  CHECK(refusal_of(listed({"refactor", "tb_tiling"}), matmul) == "none");
  check_has(refusal_of(listed({"refactr"}), matmul), "there is no such transformation: refactr");
  check_has(refusal_of(listed({"refactr"}), matmul), "did you mean refactor?");
  check_has(refusal_of(listed({"loop_tiling"}), matmul),
            "the transformation loop_tiling is for other backends than cuda: host");
  const WorkflowSubject softmax{"cuda", traits_with({"reduction"}, {"matmul"})};
  check_has(refusal_of(listed({"refactor"}), softmax),
            "the transformation refactor is for problems with the trait matmul");
  check_has(refusal_of(listed({"refactor", "pipelining", "tb_tiling"}), matmul),
            "the workflow has pipelining before tb_tiling, which it builds on: refactor, pipelining, "
            "tb_tiling; put "
            "tb_tiling before it");
  // What the kernel has already needs no step.
  WorkflowSubject tiled = matmul;
  tiled.present = {"refactor", "tb_tiling"};
  CHECK(refusal_of(listed({"pipelining"}), tiled) == "none");
  tiled.present = {"tb_tilling"};
  check_has(refusal_of(listed({"pipelining"}), tiled), "did you mean tb_tiling?");
  // Of a problem that says nothing of its traits nobody knows that they do not fit.
  CHECK(refusal_of(listed({"refactor"}), {"cuda", {}}) == "none");

  NamedWorkflow hip = listed({"refactor"});
  hip.backends = {"hip"};
  check_has(refusal_of(hip, matmul), "the workflow mine is for other backends than cuda: hip");
  NamedWorkflow half = listed({"refactor"});
  half.traits = {"matmul", "low_precision"};
  check_has(refusal_of(half, {"cuda", traits_with({"matmul"}, {"low_precision"})}),
            "the workflow mine is for problems with the trait low_precision");
  // What another backend has instead may stand beside it.
  CHECK(refusal_of(listed({"refactor", "tb_tiling", "warp_tiling", "tensor_core", "tensor_tiling"}),
                   matmul) == "none");

  // Of an open one what does not fit is left out.
  NamedWorkflow open = listed({"refactor", "loop_tiling", "unroll_loops"});
  open.order = WorkflowOrder::open;
  CHECK(planned_workflow({}, TransformationLibrary(), softmax, {}, &open).transformations ==
        Names{"unroll_loops"});

  check_has(
      [] {
        try {
          (void)find_workflow("a6000_fp23");
        } catch (const ConfigError& error) {
          return std::string(error.what());
        }
        return std::string("none");
      }(),
      "did you mean a6000_fp32?");
  CHECK_THROWS_AS((void)find_workflow("nowhere/mine.json"), ConfigError);
}

TEST_CASE("workflows: the standard order is what the kernel is short of, and never the alphabet") {
  const TransformationLibrary library;
  const std::vector<NamedWorkflow> workflows = read_workflows();
  for (const char* backend : {"cuda", "hip", "host"})
    for (const bool half : {false, true}) {
      CAPTURE(backend);
      CAPTURE(half);
      const WorkflowSubject subject{backend, traits_with(half ? Names{"matmul", "low_precision", "reduction"}
                                                              : Names{"matmul", "reduction"})};
      const WorkflowOptions plan = planned_workflow({}, library, subject, workflows);
      CHECK(plan.order == WorkflowOrder::open);
      for (const Axis axis : all_axes) {
        const Names order = order_of(plan, axis);
        CHECK(order.size() == plan.transformations.size());
        CHECK_FALSE(std::is_sorted(order.begin(), order.end()));
        for (const auto& [name, after] : plan.after)
          for (const std::string& before : after) CHECK(place_in(order, before) < place_in(order, name));
      }
      CHECK(order_of(plan, Axis::memory) != order_of(plan, Axis::compute));
      CHECK(order_of(plan, Axis::latency) != order_of(plan, Axis::compute));
    }
  const WorkflowSubject single{"cuda", traits_with({"matmul"}, {"low_precision"})};
  const WorkflowSubject half{"cuda", traits_with({"matmul", "low_precision"})};
  const Names in_single = order_of(planned_workflow({}, library, single, workflows), Axis::compute);
  const Names in_half = order_of(planned_workflow({}, library, half, workflows), Axis::compute);
  // What comes first drags what it builds on forward.
  CHECK(Names(in_single.begin(), in_single.begin() + 3) == Names{"refactor", "tb_tiling", "thread_tiling"});
  CHECK(Names(in_half.begin(), in_half.begin() + 4) ==
        Names{"refactor", "tb_tiling", "warp_tiling", "tensor_core"});
  CHECK(order_of(planned_workflow({}, library, single, workflows), Axis::memory).front() ==
        "coalesce_accesses");

  // Matmul steps never on a softmax, nor on a problem of which nothing is known.
  for (const Features& traits : {traits_with({"reduction", "exponential"}, {"matmul"}), Features{}}) {
    const WorkflowOptions plan = planned_workflow({}, library, {"cuda", traits}, workflows);
    CHECK(plan.transformations.size() >= 8);
    for (const std::string& name : plan.transformations) {
      CAPTURE(name);
      const Names asked = traits_of(library.at(name));
      CHECK(std::find(asked.begin(), asked.end(), "matmul") == asked.end());
    }
  }
}

TEST_CASE("workflows: every transformation that we have is ranked by the standard orders") {
  const TransformationLibrary library;
  const std::vector<NamedWorkflow> workflows = read_workflows();
  for (const Transformation& one : library.transformations())
    for (const NamedWorkflow& order : workflows) {
      if (!order.short_of) continue;
      const bool fits = order.backends.empty() ||
                        std::any_of(order.backends.begin(), order.backends.end(),
                                    [&](const std::string& backend) { return one.applies_to(backend); });
      CAPTURE(one.name);
      CAPTURE(order.name);
      if (fits)
        CHECK(std::find(order.transformations.begin(), order.transformations.end(), one.name) !=
              order.transformations.end());
    }
}

TEST_CASE("workflows: one of a user's own comes first, behind what it builds on") {
  const TransformationLibrary library(
      {named_step("a"), named_step("b"), named_step("c", {"b"}), named_step("fuse_bias", {"a"})});
  NamedWorkflow memory;
  memory.name = "memory";
  memory.order = WorkflowOrder::open;
  memory.short_of = Axis::memory;
  memory.transformations = {"c", "b", "a", "gone"};
  const WorkflowOptions plan = planned_workflow({}, library, {"host", {}}, std::vector{memory});
  CHECK(order_of(plan, Axis::memory) == Names{"a", "fuse_bias", "b", "c"});
  // Without an order of its own an axis has them as they are.
  CHECK(order_of(plan, Axis::compute).size() == 4);
  const WorkflowOptions read = with_workflow_plan({.patience = 7}, workflow_plan_text(plan));
  CHECK(read.patience == 7);
  CHECK(read.order == plan.order);
  CHECK(read.transformations == plan.transformations);
  CHECK(read.after == plan.after);
  CHECK(read.orders == plan.orders);
  WorkflowOptions tiled = plan;
  tiled.present = {"b"};
  CHECK(with_workflow_plan({}, workflow_plan_text(tiled)).present == Names{"b"});
  CHECK_THROWS_AS((void)with_workflow_plan({}, "{}"), ConfigError);
}

TEST_CASE("workflows: a user's files join ours, and refusals name the place") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "workflows");
  const std::string smallest = R"({"schema": 1, "name": "mine", "transformations": ["refactor"]})";
  std::ofstream(folder / "workflows/mine.json") << smallest;
  std::ofstream(folder / "elsewhere.json") << smallest;
  CHECK(find_workflow("mine", folder.path()).transformations == Names{"refactor"});
  CHECK(find_workflow((folder / "elsewhere.json").string()).order == WorkflowOrder::listed);
  CHECK(find_workflow("x1_85", folder.path()).transformations.size() == 3);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = smallest;
    text.replace(text.find(from), from.size(), to);
    try {
      (void)parse_workflow(text, "mine.json");
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  CHECK(with("1", "1") == "none");
  check_has(with("\"schema\": 1", "\"schema\": 2"), "mine.json:1: /schema");
  check_has(with("\"mine\"", "\"a b\""), "/name is not a name");
  check_has(with("[\"refactor\"]", "[]"), "has no transformation");
  check_has(with("[\"refactor\"]", "[\"refactor\", \"refactor\"]"), "/transformations/1 is there twice");
  check_has(with("\"name\"", "\"order\": \"opne\", \"name\""), "/order");
  check_has(with("\"name\"", "\"short_of\": \"memory\", \"name\""), "belongs to an open workflow");
  check_has(with("transformations", "transformation"), "transformation");
}
