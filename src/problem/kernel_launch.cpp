// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/kernel_launch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "kernelsearch/problem/evaluate.hpp"
#include "problem_parts.hpp"

namespace kernelsearch {
namespace {

// For CUDA since compute capability 2.0 and for HIP (hipDeviceAttributeMaxThreadsPerBlock) on all that is
// supported; of OpenCL more than any device is known to have (PoCL: 4096), which says itself what it has.
constexpr std::uint64_t most_threads = 1024, most_items = 65536;

detail::Scope scope_of(const Problem& problem, const Space& space) {
  detail::Scope scope;
  scope.backend = problem.backend;
  if (!problem.shapes.empty())
    for (const NamedValue& variable : problem.shapes.front().variables)
      scope.variables.push_back(variable.first);
  if (problem.generator)
    for (const std::string& size : problem.generator->sizes)
      if (std::find(scope.variables.begin(), scope.variables.end(), size) == scope.variables.end())
        scope.variables.push_back(size);
  for (const Tunable& tunable : space.tunables()) scope.tunables.push_back(tunable.name);
  scope.both = scope.variables;
  scope.both.insert(scope.both.end(), scope.tunables.begin(), scope.tunables.end());
  return scope;
}

std::string without_prefix(std::string_view message) {
  constexpr std::string_view prefix = "kernelsearch: ";
  if (message.starts_with(prefix)) message.remove_prefix(prefix.size());
  return std::string(message);
}

/// One shape's launches at one configuration.
class LaunchCheck {
 public:
  LaunchCheck(const Problem& problem, const Shape& shape, std::vector<NamedValue> tunables)
      : problem_(problem), shape_(shape), tunables_(std::move(tunables)) {}

  Result<void, std::string> check(const std::vector<LaunchStep>& steps) const {
    bool launches = false;
    for (const LaunchStep& step : steps) {
      if (step.condition && known(*step.condition) && !is_true(value(*step.condition))) continue;
      if (step.function.empty()) continue;
      launches = true;
      if (auto fine = check(step); !fine) return fine;
    }
    if (!launches) return "no kernel is launched for shape " + shape_.name + ": every \"if\" is false";
    return {};
  }

 private:
  Result<void, std::string> check(const LaunchStep& step) const {
    std::uint64_t threads = 1;
    for (const auto& [key, extent] :
         {std::make_pair("grid", &step.geometry.grid), std::make_pair("block", &step.geometry.block),
          std::make_pair("cluster", &step.geometry.cluster)})
      for (const Expression& expression : *extent) {
        const Result<double, std::string> whole = whole_number(key, expression, 1);
        if (!whole) return whole.error();
        constexpr std::uint64_t enough = std::uint64_t{1} << 32;  // three extents may be more than 64 bits
        if (extent == &step.geometry.block)
          threads = std::min(threads * static_cast<std::uint64_t>(*whole), enough);
      }
    const std::uint64_t most = problem_.backend == Backend::opencl ? most_items : most_threads;
    if (threads > most)
      return "the block of " + step.function + " has " + std::to_string(threads) + " threads for shape " +
             shape_.name + ": a device runs " + std::to_string(most) + " at most";
    for (const LocalArray& one : step.geometry.local)
      if (const auto bytes = whole_number(("local memory " + one.name).c_str(), one.bytes, 1); !bytes)
        return bytes.error();
    if (!step.geometry.shared_bytes) return {};
    const Result<double, std::string> bytes = whole_number("shared_bytes", *step.geometry.shared_bytes, 0);
    return bytes ? Result<void, std::string>() : bytes.error();
  }

  /// 1 where it needs a size that only the generator knows.
  Result<double, std::string> whole_number(const char* key, const Expression& expression,
                                           double least) const {
    if (!known(expression)) return 1.0;
    const Value given = value(expression);
    const double number = try_to_number(given).value_or(std::nan(""));
    if (number == std::floor(number) && number >= least && number <= 2147483647.0) return number;
    return std::string(key) + " " + expression.text() + " is " + to_string(given) + " for shape " +
           shape_.name + ": it must be a whole number from " + (least > 0 ? "1" : "0") + " on";
  }

  [[nodiscard]] Value value(const Expression& expression) const {
    return evaluate(expression, shape_, tunables_, "a launch expression");
  }

  [[nodiscard]] bool known(const Expression& expression) const {
    if (!problem_.generator) return true;
    const auto has = [&](const std::vector<NamedValue>& values, const std::string& name) {
      return std::any_of(values.begin(), values.end(),
                         [&](const NamedValue& one) { return one.first == name; });
    };
    return std::all_of(expression.names().begin(), expression.names().end(), [&](const std::string& name) {
      return has(shape_.variables, name) || has(tunables_, name);
    });
  }

  const Problem& problem_;
  const Shape& shape_;
  std::vector<NamedValue> tunables_;
};

}  // namespace

std::string launch_line(std::string_view json) {
  return std::string(launch_mark) + std::string(json) + '\n';
}

std::string_view own_launch(std::string_view macros) noexcept {
  std::string_view found;
  while (!macros.empty()) {
    const std::size_t end = macros.find('\n');
    const std::string_view line = macros.substr(0, end);
    if (line.starts_with(launch_mark)) found = line.substr(launch_mark.size());
    macros = end == std::string_view::npos ? std::string_view{} : macros.substr(end + 1);
  }
  return found;
}

Result<std::vector<LaunchStep>, std::string> try_launch_of(const Problem& problem, const Kernel& kernel) {
  using Steps = Result<std::vector<LaunchStep>, std::string>;
  const std::string_view json = own_launch(kernel.regions.macros);
  if (json.empty()) return problem.launch;
  if (!is_device(problem.backend))
    return Steps(std::string("a kernel for the processor is called, not launched: leave out its launch"));
  if (problem.launch.empty())
    return Steps(
        std::string("the launch function of the host region launches the kernels: change that instead"));
  try {
    const std::string file = "launch";
    const detail::JsonNode node = detail::parse_json(json, file);
    return detail::read_launch({node, file}, scope_of(problem, kernel.space), problem, kernel.space);
  } catch (const ConfigError& error) {
    return Steps(without_prefix(error.what()));
  }
}

std::vector<LaunchStep> launch_of(const Problem& problem, const Kernel& kernel) {
  auto steps = try_launch_of(problem, kernel);
  if (!steps)
    detail::raise<ConfigError>("the kernel's own launch cannot be used", steps.error(),
                               "correct the line //@launch of its macros region");
  return *std::move(steps);
}

Result<void, std::string> check_launch(const Problem& problem, const Candidate& candidate,
                                       const std::vector<LaunchStep>& steps) {
  try {
    for (const Shape& shape : problem.shapes) {
      if (!is_valid(problem, shape, candidate)) continue;
      const LaunchCheck one(problem, shape, named_values(candidate.kernel->space, candidate.config));
      if (auto fine = one.check(steps); !fine) return fine;
    }
  } catch (const Error& error) {  // a division by zero, say
    return without_prefix(error.what());
  }
  return {};
}

}  // namespace kernelsearch
