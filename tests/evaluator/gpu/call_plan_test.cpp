// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/call_plan.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

#include "evaluator/gpu/device_source.hpp"
#include "evaluator/gpu/support.hpp"
#include "kernelsearch/core/error.hpp"

using namespace gpu_test;
using namespace kernelsearch::detail;
using namespace kernelsearch::detail::gpu;

namespace {

DeviceProblem maps_and_steps() {
  DeviceProblem problem;
  problem.backend = "cuda";
  problem.function = "matmul";
  problem.kernel = "// never compiled\n";
  problem.arguments =
      R"json([{"name": "n", "type": "i32"}, {"name": "k", "type": "i64"}, {"name": "half", "type": "f16", "value": "n / 2"},
      {"name": "a", "type": "f16", "size": "n*k"},
      {"name": "map_a", "tensor_map": {"array": "a", "sizes": ["k", "n"], "strides": ["2*k"], "box": ["BK", "min(n, 64)"], "swizzle": "2*BK", "promotion": 256}},
      {"name": "filter", "type": "f32", "size": "25", "symbol": "c_filter"},
      {"name": "partial", "type": "f64", "size": "n*SPLIT", "role": "workspace"},
      {"name": "c", "type": "bf16", "size": "n*k", "role": "out"},
      {"name": "map_c", "tensor_map": {"array": "c", "sizes": ["k"], "box": [8]}}])json";
  problem.shapes = R"([{"name": "s", "n": 48, "k": 128}, {"name": "t", "n": 7, "k": 256, "weight": 0}])";
  problem.launch = R"json([{"zero": "partial", "if": "SPLIT > 1"},
      {"function": "matmul", "grid": ["(n + 31) // 32", "k // BK", "SPLIT"], "block": [128], "cluster": [2, 1], "shared_bytes": "2*BK*32"},
      {"function": "reduce<${SPLIT}>", "arguments": ["c", "n", "partial"], "grid": ["n"], "block": [32, 4], "cluster": [1], "if": "SPLIT > 1"},
      {"function": "matmul", "arguments": ["map_c", "half"], "grid": [1], "block": [1], "if": "n == 7"}])json";
  problem.reference = "// never compiled either\n";
  problem.reference_function = "matmul_reference";
  problem.reference_launch = R"({"grid": ["n", "k"], "block": [4], "shared_bytes": 16})";
  problem.more = R"(, "tunables": {"SPLIT": [1, 4], "BK": [32, 64]})";
  return problem;
}

constexpr ModuleId candidate_module{5}, reference_module{3};

struct Planned {
  Problem problem;
  std::vector<std::string> names;
  std::string reason;
  CallPlan plan;
};

Planned planned(const DeviceProblem& text, std::vector<std::uint32_t> indices, std::size_t shape = 0) {
  Planned p{text.parsed(), {}, {}, {}};
  const Candidate candidate{std::make_shared<const Kernel>(p.problem.kernel), Config{std::move(indices)}};
  p.names = launched_kernels(p.problem, candidate);
  p.plan = plan_call(p.problem, candidate, shape, candidate_module, p.names, p.reason);
  return p;
}

template <class T>
T scalar(const Parameter& parameter) {
  T value;
  const auto& scalar = std::get<ScalarParameter>(parameter);
  CHECK(scalar.size == sizeof value);
  std::memcpy(&value, scalar.bits, sizeof value);
  return value;
}

bool is_array(const Parameter& parameter, std::uint32_t binding) {
  const auto* array = std::get_if<ArrayParameter>(&parameter);
  return array != nullptr && array->binding == binding;
}
bool is_map(const Parameter& parameter, std::uint32_t map) {
  const auto* plan = std::get_if<MapParameter>(&parameter);
  return plan != nullptr && plan->map == map;
}

}  // namespace

TEST_CASE("plan_call: one step with everything that a launch has") {
  const Planned p = planned(maps_and_steps(), {0, 1});
  CHECK(p.reason.empty());
  const ProgramPlan& program = p.plan.program;
  REQUIRE(program.steps.size() == 1);
  const auto& step = std::get<LaunchKernel>(program.steps[0]);
  CHECK(step.module == candidate_module);
  CHECK(p.names.at(step.function) == "matmul");
  CHECK(std::vector<unsigned>(step.shape.grid, step.shape.grid + 3) == std::vector<unsigned>{2, 2, 1});
  CHECK(std::vector<unsigned>(step.shape.block, step.shape.block + 3) == std::vector<unsigned>{128, 1, 1});
  CHECK(std::vector<unsigned>(step.shape.cluster, step.shape.cluster + 3) == std::vector<unsigned>{2, 1, 1});
  CHECK(step.shape.shared_bytes == 4096);
  // every argument but the symbol, in order
  const std::vector<Parameter>& q = step.parameters;
  REQUIRE(q.size() == 8);
  CHECK(scalar<std::int32_t>(q[0]) == 48);
  CHECK(scalar<std::int64_t>(q[1]) == 128);
  CHECK(scalar<std::uint16_t>(q[2]) == 0x4e00);  // 24 in half precision
  CHECK(is_array(q[3], 3));
  CHECK(is_map(q[4], 0));
  CHECK(is_array(q[5], 6));
  CHECK(is_array(q[6], 7));
  CHECK(is_map(q[7], 1));
  REQUIRE(program.symbols.size() == 1);
  CHECK(program.symbols[0].name == "c_filter");
  CHECK(program.symbols[0].bytes == 100);
  CHECK(program.symbols[0].binding == 5);
}

TEST_CASE("plan_call: tensor maps as the driver wants them") {
  const Planned p = planned(maps_and_steps(), {0, 1});
  REQUIRE(p.plan.program.maps.size() == 2);
  const MapPlan& a = p.plan.program.maps[0];
  CHECK(a.binding == 3);
  CHECK(a.rank == 2);
  CHECK(a.type == 6);  // FLOAT16
  CHECK((a.sizes[0] == 128 && a.sizes[1] == 48));
  CHECK(a.strides[0] == 256);
  CHECK((a.box[0] == 64 && a.box[1] == 48));
  CHECK(a.swizzle == 3);    // 128B
  CHECK(a.promotion == 3);  // L2_256B
  const MapPlan& c = p.plan.program.maps[1];
  CHECK(c.binding == 7);
  CHECK(c.rank == 1);
  CHECK(c.type == 9);  // BFLOAT16
  CHECK((c.swizzle == 0 && c.promotion == 2));
  CHECK(planned(maps_and_steps(), {0, 0}).plan.program.maps[0].swizzle == 2);
}

TEST_CASE("plan_call: conditions choose steps, names are expanded, sizes of workspaces follow tunables") {
  const Planned p = planned(maps_and_steps(), {1, 0}, 1);
  const auto& steps = p.plan.program.steps;
  REQUIRE(steps.size() == 4);
  CHECK(p.names == std::vector<std::string>{"matmul", "reduce<4>"});
  const auto& zero = std::get<SetToZero>(steps[0]);
  CHECK(zero.binding == 6);
  CHECK(zero.bytes == 7 * 4 * 8);
  CHECK(p.plan.arguments.arguments[6].count == 28);
  const auto &reduce = std::get<LaunchKernel>(steps[2]), &again = std::get<LaunchKernel>(steps[3]);
  CHECK(p.names.at(reduce.function) == "reduce<4>");
  const std::vector<Parameter>& q = reduce.parameters;
  REQUIRE(q.size() == 3);
  CHECK(is_array(q[0], 7));
  CHECK(scalar<std::int32_t>(q[1]) == 7);
  CHECK(is_array(q[2], 6));
  CHECK(reduce.shape.block[1] == 4);
  CHECK(reduce.shape.cluster[0] == 0);  // a cluster of one is none
  CHECK(again.parameters.size() == 2);
  CHECK(p.names.at(again.function) == "matmul");
}

TEST_CASE("plan_call: extents that are no whole numbers >= 1 are a reason, whatever they are") {
  const Problem problem = maps_and_steps().parsed();
  const auto reason = [&](const auto& change) {
    Problem changed = problem;
    change(changed);
    const Candidate candidate{std::make_shared<const Kernel>(changed.kernel), Config{{0, 1}}};
    std::string why;
    (void)plan_call(changed, candidate, 0, candidate_module, launched_kernels(changed, candidate), why);
    return why;
  };
  CHECK(reason([](Problem&) {}).empty());
  for (const char* extent : {"n // 64", "n / 32", "n - 49", "n * 10**9"}) {
    const std::string why =
        reason([&](Problem& p) { p.launch[1].geometry.grid[0] = Expression::parse(extent); });
    CHECK_MESSAGE(contains(why, std::string("the grid ") + extent + " is "), why);
    CHECK(contains(why, "for shape s"));
  }
  CHECK(contains(
      reason([](Problem& p) { p.launch[1].geometry.grid[0] = Expression::parse("n // (SPLIT - 1)"); }),
      "n // (SPLIT - 1)"));
  CHECK(
      contains(reason([](Problem& p) { p.launch[0].condition = Expression::parse("n % (SPLIT - 1) == 0"); }),
               "n % (SPLIT - 1)"));
  CHECK(contains(reason([](Problem& p) { p.arguments[6].size = Expression::parse("n // (SPLIT - 1)"); }),
                 "n // (SPLIT - 1)"));
  CHECK(contains(reason([](Problem& p) { p.launch[1].geometry.block[0] = Expression::parse("SPLIT - 1"); }),
                 "the block SPLIT - 1 is 0"));
  CHECK(contains(reason([](Problem& p) { p.launch[1].geometry.cluster[0] = Expression::parse("SPLIT - 1"); }),
                 "the cluster SPLIT - 1 is 0"));
  CHECK(contains(reason([](Problem& p) { p.launch[1].geometry.shared_bytes = Expression::parse("-BK"); }),
                 "shared_bytes -BK is -64"));
  CHECK(contains(reason([](Problem& p) { p.arguments[4].tensor_map->box[0] = Expression::parse("BK * 8"); }),
                 "the box of a tensor map BK * 8 is 512"));
  CHECK(contains(reason([](Problem& p) { p.arguments[4].tensor_map->strides[0] = Expression::parse("0*k"); }),
                 "a stride of a tensor map 0*k is 0"));
}

TEST_CASE("plan_call: local memory of OpenCL stands where arguments name it, else behind them") {
  DeviceProblem text;
  text.backend = "opencl";
  text.kernel = "// never compiled\n";
  text.launch =
      R"([{"function": "scale", "arguments": ["n", "tile", "x", "y"], "grid": ["n"], "block": [64], "shared_bytes": 32,
                     "local": [{"name": "last", "bytes": "8*K"}, {"name": "tile", "bytes": "4*n"}]}])";
  text.reference_launch = R"({"grid": ["n"], "block": [4], "local": [{"name": "r", "bytes": 24}]})";
  text.more = R"(, "tunables": {"K": [1, 4]})";
  const auto bytes = [](const Parameter& parameter) {
    const auto* const local = std::get_if<LocalParameter>(&parameter);
    return local == nullptr ? 0 : static_cast<int>(local->bytes);
  };
  const Planned p = planned(text, {1}, 1);
  CHECK(p.reason.empty());
  const auto& launch = std::get<LaunchKernel>(p.plan.program.steps.at(0));
  REQUIRE(launch.parameters.size() == 6);
  CHECK(std::holds_alternative<ScalarParameter>(launch.parameters[0]));
  CHECK(bytes(launch.parameters[1]) == 4000);
  CHECK(std::get<ArrayParameter>(launch.parameters[2]).binding == 1);
  CHECK(bytes(launch.parameters[4]) == 32);  // of "local", K = 4
  CHECK(bytes(launch.parameters[5]) == 32);  // shared_bytes
  CHECK(launch.shape.shared_bytes == 4064);  // what a device must have
  const CallPlan reference = plan_reference(p.problem, 0, reference_module, true);
  const auto& one = std::get<LaunchKernel>(reference.program.steps.at(0));
  CHECK(bytes(one.parameters.back()) == 24);
  CHECK(one.shape.shared_bytes == 24);
}

TEST_CASE("plan_reference: no workspaces, no maps, symbols as arrays, floating scalars as real") {
  const Problem problem = maps_and_steps().parsed();
  for (const bool wide : {false, true}) {
    const CallPlan plan = plan_reference(problem, 0, reference_module, wide);
    REQUIRE(plan.program.steps.size() == 1);
    const auto& step = std::get<LaunchKernel>(plan.program.steps[0]);
    CHECK(step.module == reference_module);
    CHECK((step.shape.grid[0] == 48 && step.shape.grid[1] == 128 && step.shape.block[0] == 4));
    CHECK(step.shape.shared_bytes == 16);
    const std::vector<Parameter>& q = step.parameters;
    REQUIRE(q.size() == 6);
    CHECK(scalar<std::int32_t>(q[0]) == 48);
    CHECK(scalar<std::int64_t>(q[1]) == 128);
    if (wide)
      CHECK(scalar<double>(q[2]) == 24.0);
    else
      CHECK(scalar<float>(q[2]) == 24.0f);
    CHECK((is_array(q[3], 3) && is_array(q[4], 5) && is_array(q[5], 7)));
  }
}

TEST_CASE("fill_action: contents depend on seed and name, and only on them") {
  const Problem problem = maps_and_steps().parsed();
  const CallPlan plan = plan_reference(problem, 0, reference_module, true);
  const auto seed = [&](std::size_t argument, std::uint64_t from) {
    return fill_action(problem.arguments[argument], plan.arguments.arguments[argument], BufferId{9}, from,
                       InputFlavour::edge, true)
        .seed;
  };
  CHECK(seed(3, 1) == seed(3, 1));
  CHECK(seed(3, 1) != seed(3, 2));
  CHECK(seed(3, 1) != seed(5, 1));
  const FillArray action = fill_action(problem.arguments[3], plan.arguments.arguments[3], BufferId{9}, 1,
                                       InputFlavour::edge, true);
  CHECK(action.buffer == BufferId{9});
  CHECK(action.count == 48 * 128);
  CHECK(action.flavour == InputFlavour::edge);
  CHECK(action.magnitudes);
  CHECK(action.top < 1.0);
  CHECK(action.top > 0.999);
}

TEST_CASE("fill_action: orders are orders for every length") {
  Argument argument;
  argument.initialisation = Initialisation::permutation;
  argument.type = ElementType::i32;
  argument.is_array = true;
  for (std::size_t count = 1; count <= 300; ++count) {
    PlannedArgument array;
    array.count = count;
    const FillArray action = fill_action(argument, array, BufferId{}, 77, InputFlavour::declared, false);
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < count; ++i) seen.insert((action.factor * i + action.seed % count) % count);
    REQUIRE(seen.size() == count);
  }
}
