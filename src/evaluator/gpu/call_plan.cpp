// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/call_plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "judge/stretches.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/judge/translation_unit.hpp"
#include "kernelsearch/problem/element_access.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/problem/kernel_launch.hpp"

namespace kernelsearch::detail::gpu {
namespace {

using Names = std::vector<NamedValue>;

/// Evaluates over shape variables and tunables and remembers the first thing that made no sense.
class IntegerEvaluation {
 public:
  IntegerEvaluation(const Shape& shape, Names tunables, std::string& reason)
      : shape_(shape), tunables_(std::move(tunables)), reason_(reason) {}

  std::uint64_t whole(const Expression& expression, const char* what, double least,
                      double most = 2147483647.0) {
    const Value given = value(expression);
    const double number = try_to_number(given).value_or(std::nan(""));
    if (number == std::floor(number) && number >= least && number <= most)
      return static_cast<std::uint64_t>(number);
    if (reason_.empty())
      reason_ = std::string(what) + " " + expression.text() + " is " + to_string(given) + " for shape " +
                shape_.name + ": it must be a whole number from " + to_string(Value{least}) + " to " +
                to_string(Value{most});
    return static_cast<std::uint64_t>(least);
  }

  bool holds(const std::optional<Expression>& condition) { return !condition || is_true(value(*condition)); }

  Value value(const Expression& expression) {
    return sensible(Value{std::int64_t{0}}, [&] {
      return kernelsearch::evaluate(expression, shape_, tunables_, "a launch expression");
    });
  }

  /// What `compute` gives; `otherwise` where it divides by zero or the like at this configuration.
  template <class T, class F>
  T sensible(T otherwise, F compute) {
    try {
      return compute();
    } catch (const Error& error) {
      if (reason_.empty()) reason_ = error.what();
      return otherwise;
    }
  }

  const Names& tunables() const noexcept { return tunables_; }

 private:
  const Shape& shape_;
  Names tunables_;
  std::string& reason_;
};

LaunchShape extents(const LaunchGeometry& geometry, IntegerEvaluation& evaluation) {
  LaunchShape shape;
  const auto set = [&](const std::vector<Expression>& from, unsigned* to, const char* what, unsigned rest) {
    for (std::size_t i = 0; i < from.size() && i < 3; ++i)
      to[i] = static_cast<unsigned>(evaluation.whole(from[i], what, 1));
    for (std::size_t i = from.size(); i < 3; ++i) to[i] = rest;
  };
  set(geometry.grid, shape.grid, "the grid", 1);
  set(geometry.block, shape.block, "the block", 1);
  if (!geometry.cluster.empty()) set(geometry.cluster, shape.cluster, "the cluster", 1);
  // A cluster of one block is left out: the same launch, without needing the hardware for it.
  if (shape.cluster[0] * shape.cluster[1] * shape.cluster[2] == 1) shape.cluster[0] = 0;
  if (geometry.shared_bytes)
    shape.shared_bytes = static_cast<unsigned>(evaluation.whole(*geometry.shared_bytes, "shared_bytes", 0));
  return shape;
}

void override_shape(const BuiltLaunch& built, LaunchShape& shape) {
  if (built.shared_bytes >= 0) shape.shared_bytes = static_cast<unsigned>(built.shared_bytes);
  if (built.block[0] != 0) std::copy(built.block.begin(), built.block.end(), shape.block);
}

std::uint32_t index_of(const Problem& problem, const std::string& name) {
  for (std::size_t a = 0; a < problem.arguments.size(); ++a)
    if (problem.arguments[a].name == name) return static_cast<std::uint32_t>(a);
  raise<ConfigError>("a launch names an unknown argument", name, "declare it under \"arguments\"");
}

/// Local memory of a launch of OpenCL: parameters where the step's arguments name them, else behind all
/// others, `shared_bytes` last. What a group takes in all is the launch's shared memory, which is held
/// against the device.
class LocalMemory {
 public:
  LocalMemory(Backend backend, const LaunchGeometry& geometry, IntegerEvaluation& evaluation)
      : opencl_(backend == Backend::opencl) {
    for (const LocalArray& one : geometry.local)
      arrays_.push_back({&one, {evaluation.whole(one.bytes, "local memory", 1)}, false});
  }
  /// Whether the step's argument is an array of local memory, which then is a parameter.
  bool pass(const std::string& argument, LaunchKernel& launch) {
    for (One& one : arrays_) {
      if (one.array->name != argument) continue;
      launch.parameters.emplace_back(one.parameter);
      return one.passed = true;
    }
    return false;
  }
  void pass_others(LaunchKernel& launch) const {
    if (!opencl_) return;
    for (const One& one : arrays_)
      if (!one.passed) launch.parameters.emplace_back(one.parameter);
    if (launch.shape.shared_bytes != 0)
      launch.parameters.emplace_back(LocalParameter{launch.shape.shared_bytes});
    std::uint64_t all = launch.shape.shared_bytes;
    for (const One& one : arrays_) all += one.parameter.bytes;
    launch.shape.shared_bytes =
        static_cast<unsigned>(std::min<std::uint64_t>(all, std::numeric_limits<unsigned>::max()));
  }

 private:
  struct One {
    const LocalArray* array;
    LocalParameter parameter;
    bool passed;
  };
  bool opencl_;
  std::vector<One> arrays_;
};

int map_type(ElementType type) {  // CUtensorMapDataType
  switch (type) {
    case ElementType::f16:
      return 6;
    case ElementType::bf16:
      return 9;
    case ElementType::f32:
      return 7;
    case ElementType::f64:
      return 8;
    case ElementType::i16:
    case ElementType::u16:
      return 1;
    case ElementType::u32:
      return 2;
    case ElementType::i32:
      return 3;
    case ElementType::u64:
      return 4;
    case ElementType::i64:
      return 5;
    default:
      return 0;
  }
}

MapPlan plan_map(const Problem& problem, const TensorMap& map, IntegerEvaluation& evaluation) {
  MapPlan plan;
  plan.binding = index_of(problem, map.array);
  plan.type = map_type(problem.arguments[plan.binding].type);
  plan.rank = static_cast<std::uint32_t>(map.sizes.size());
  constexpr double most = 1099511627776.0;
  for (std::size_t i = 0; i < map.sizes.size() && i < 5; ++i)
    plan.sizes[i] = evaluation.whole(map.sizes[i], "a size of a tensor map", 1, 4294967296.0);
  for (std::size_t i = 0; i < map.strides.size() && i < 4; ++i)
    plan.strides[i] = evaluation.whole(map.strides[i], "a stride of a tensor map", 1, most);
  for (std::size_t i = 0; i < map.box.size() && i < 5; ++i)
    plan.box[i] = static_cast<std::uint32_t>(evaluation.whole(map.box[i], "the box of a tensor map", 1, 256));
  const auto power = [](std::uint64_t bytes) {
    return bytes == 32 ? 1 : bytes == 64 ? 2 : bytes == 128 ? 3 : 0;
  };
  if (map.swizzle)
    plan.swizzle = power(evaluation.whole(*map.swizzle, "the swizzle of a tensor map", 0, 128));
  const std::uint64_t promotion =
      map.promotion ? evaluation.whole(*map.promotion, "the promotion of a tensor map", 0, 256) : 128;
  plan.promotion = promotion == 64 ? 1 : promotion == 128 ? 2 : promotion == 256 ? 3 : 0;
  return plan;
}

ScalarParameter scalar_parameter(ElementType type, const Value& value) {
  ScalarParameter parameter;
  parameter.size = static_cast<std::uint32_t>(size_in_bytes(type));
  std::byte bytes[16] = {};
  if (const auto* whole = std::get_if<std::int64_t>(&value))
    store_element(type, *whole, bytes);
  else
    store_element(type, to_number(value), bytes);
  std::memcpy(parameter.bits, bytes, sizeof parameter.bits);
  return parameter;
}

PlannedArgument plan_argument(const Problem& problem, const Argument& argument, const Shape& shape,
                              const Names& tunables) {
  PlannedArgument planned;
  planned.type = argument.type;
  planned.is_array = argument.is_array;
  planned.role = argument.role;
  planned.initialisation = argument.initialisation;
  planned.tolerance = problem.tolerance_of(argument);
  if (argument.structure) planned.structure = &*argument.structure;
  if (argument.tensor_map) return planned;
  if (argument.is_array)
    planned.count = element_count(argument, shape, tunables);
  else
    planned.value = scalar_value(argument, shape);
  return planned;
}

}  // namespace

CallPlan plan_call(const Problem& problem, const Candidate& candidate, std::size_t shape, ModuleId module,
                   const std::vector<std::string>& names, std::string& reason,
                   const std::vector<BuiltLaunch>& launches) {
  CallPlan plan;
  const Shape& sizes = problem.shapes[shape];
  IntegerEvaluation evaluation(sizes, named_values(candidate.kernel->space, candidate.config), reason);
  plan.arguments.shape = shape;
  std::vector<Parameter> all(problem.arguments.size());
  for (std::size_t a = 0; a < problem.arguments.size(); ++a) {
    const Argument& argument = problem.arguments[a];
    plan.arguments.arguments.push_back(evaluation.sensible(
        PlannedArgument{}, [&] { return plan_argument(problem, argument, sizes, evaluation.tunables()); }));
    const PlannedArgument& planned = plan.arguments.arguments.back();
    if (argument.tensor_map) {
      all[a] = MapParameter{static_cast<std::uint32_t>(plan.program.maps.size())};
      plan.program.maps.push_back(plan_map(problem, *argument.tensor_map, evaluation));
    } else if (argument.is_array) {
      all[a] = ArrayParameter{static_cast<std::uint32_t>(a)};
    } else {
      all[a] = scalar_parameter(argument.type, planned.value);
    }
    if (!argument.symbol.empty()) {
      plan.program.symbols.push_back(
          {static_cast<std::uint32_t>(a), module, bytes_of(planned), argument.symbol});
    }
  }
  const auto all_but_symbols = [&] {
    std::vector<Parameter> parameters;
    for (std::size_t a = 0; a < problem.arguments.size(); ++a)
      if (problem.arguments[a].symbol.empty()) parameters.push_back(all[a]);
    return parameters;
  };
  if (!candidate.kernel->regions.host.empty()) {
    plan.program.steps.emplace_back(CallEntry{module, all_but_symbols()});
    return plan;
  }
  const auto steps = try_launch_of(problem, *candidate.kernel);
  if (!steps) {
    reason = steps.error();
    return plan;
  }
  for (const LaunchStep& given : *steps) {
    if (!evaluation.holds(given.condition)) continue;
    if (given.function.empty()) {
      const std::uint32_t array = index_of(problem, given.zero);
      plan.program.steps.emplace_back(SetToZero{array, bytes_of(plan.arguments.arguments[array])});
      continue;
    }
    LaunchKernel launch;
    launch.module = module;
    const std::string name = expand_tunables(given.function, *candidate.kernel, candidate.config);
    launch.function = static_cast<std::uint32_t>(std::find(names.begin(), names.end(), name) - names.begin());
    launch.shape = extents(given.geometry, evaluation);
    if (launch.function < launches.size()) override_shape(launches[launch.function], launch.shape);
    if (given.arguments.empty()) launch.parameters = all_but_symbols();
    LocalMemory local(problem.backend, given.geometry, evaluation);
    for (const std::string& argument : given.arguments)
      if (!local.pass(argument, launch)) launch.parameters.push_back(all[index_of(problem, argument)]);
    local.pass_others(launch);
    plan.program.steps.emplace_back(std::move(launch));
  }
  return plan;
}

bool is_reference_argument(const Argument& argument) noexcept {
  return !argument.tensor_map && argument.role != Role::workspace;
}

CallPlan plan_reference(const Problem& problem, std::size_t shape, ModuleId module, bool wide) {
  CallPlan plan;
  const Shape& sizes = problem.shapes[shape];
  std::string reason;
  const Names defaults = named_values(problem.kernel.space, problem.kernel.space.default_config());
  IntegerEvaluation evaluation(sizes, defaults, reason);
  plan.arguments.shape = shape;
  LaunchKernel launch;
  launch.module = module;
  for (std::size_t a = 0; a < problem.arguments.size(); ++a) {
    const Argument& argument = problem.arguments[a];
    plan.arguments.arguments.push_back(plan_argument(problem, argument, sizes, defaults));
    if (!is_reference_argument(argument)) continue;
    if (argument.is_array) {
      launch.parameters.emplace_back(ArrayParameter{static_cast<std::uint32_t>(a)});
    } else {
      const ElementType type = !is_floating(argument.type) ? argument.type
                               : wide                      ? ElementType::f64
                                                           : ElementType::f32;
      launch.parameters.emplace_back(scalar_parameter(type, plan.arguments.arguments.back().value));
    }
  }
  launch.shape = extents(*problem.reference.launch, evaluation);
  LocalMemory(problem.backend, *problem.reference.launch, evaluation).pass_others(launch);
  if (!reason.empty())
    raise<ConfigError>("the reference cannot be launched", reason, "correct reference.launch");
  plan.program.steps.emplace_back(std::move(launch));
  return plan;
}

namespace {

/// The parameters of one draw: see Stretches. Those of the array are these numbers, and its stretches, of a
/// length that is a power of two, are made on the device from the seed.
Argument vary(const Argument& argument, std::uint64_t count, std::uint64_t seed, FillArray& fill) {
  const DeclaredRange declared = declared_range(argument);
  const bool drawn =
      argument.initialisation == Initialisation::uniform || argument.initialisation == Initialisation::normal;
  if (!declared.varies || !drawn) return argument;
  Rng rng = Rng::stream(seed, "parameters");
  const RankRange ranks = drawn_ranks(declared, rng);
  Argument varied = narrowed(argument, ranks);
  if (argument.type == ElementType::boolean) {
    varied.low = 0;
    varied.high = std::clamp((ranks.to - 0.5) / (ranks.to - std::min(ranks.from, 0.5f)), 0.0, 1.0);
  } else if (argument.initialisation == Initialisation::normal) {
    const double scale = rng.uniform(0.4, 1.0);
    varied.low += argument.high * rng.uniform(-0.5, 0.5) * (1 - scale) * 2;
    varied.high *= scale;
  }
  const int width = static_cast<int>(std::bit_width(count));
  const int shortest = std::clamp(width - 2, 4, 9);
  fill.factor = static_cast<std::uint64_t>(1 + shortest) +
                rng.below(static_cast<std::uint64_t>(std::max(width - shortest, 1)));
  return varied;
}

}  // namespace

FillArray fill_action(const Argument& declared, const PlannedArgument& planned, BufferId buffer,
                      std::uint64_t seed, InputFlavour flavour, bool magnitudes) {
  FillArray fill;
  const std::uint64_t own = Rng::stream(seed, declared.name)();
  const Argument argument =
      flavour == InputFlavour::declared ? vary(declared, planned.count, own, fill) : declared;
  fill.buffer = buffer;
  fill.type = argument.type;
  fill.initialisation = argument.initialisation;
  fill.flavour = flavour;
  fill.magnitudes = magnitudes;
  fill.count = planned.count;
  fill.seed = own;
  fill.low = argument.low;
  fill.high = argument.high;
  fill.top = argument.initialisation == Initialisation::normal ? argument.low + 4 * argument.high
             : is_floating(argument.type)                      ? greatest_below(argument.type, argument.high)
                                                               : argument.high - 1;
  if (argument.initialisation == Initialisation::arange)
    fill.factor = static_cast<std::uint64_t>(largest_exact_integer(argument.type)) + 1;
  if (argument.initialisation == Initialisation::permutation) {
    // i -> factor * i + offset is a permutation where the factor has no divisor in common with the count.
    fill.factor = 2654435761u % std::max<std::uint64_t>(planned.count, 2);
    while (std::gcd(fill.factor, planned.count) != 1) ++fill.factor;
  }
  return fill;
}

}  // namespace kernelsearch::detail::gpu
