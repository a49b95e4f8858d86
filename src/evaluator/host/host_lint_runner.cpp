// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/host_lint_runner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "judge/compile.hpp"
#include "judge/input_generator.hpp"
#include "judge/overrun_text.hpp"
#include "judge/reference.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/shown_verdict.hpp"
#include "kernelsearch/evaluator/host/host_evaluator.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/judge/translation_unit.hpp"
#include "kernelsearch/problem/element_access.hpp"

namespace kernelsearch {
namespace {

using detail::raise;

/// The problem after HostEvaluator's own checks of it and of the machine.
Problem with_evaluator(Problem problem, const HostOptions& options) {
  return HostEvaluator(std::move(problem), options).problem();
}

std::string in_words(const detail::Fault& fault) {
  return std::string(shown_verdict(fault.verdict, fault.overrun)) + ": " + fault.reason;
}

/// The message without the program's name, which belongs at the beginning of a line only.
std::string in_words(const Error& error) {
  const std::string text = error.what(), name = "kernelsearch: ";
  return text.rfind(name, 0) == 0 ? text.substr(name.size()) : text;
}

}  // namespace

struct HostLintRunner::Impl {
  Impl(Problem given, const HostOptions& options)
      : problem(with_evaluator(std::move(given), options)),
        machine(host_machine()),
        settings(detail::worker_settings(options, detail::any_cores(options, problem.threads), problem)),
        compiler(options, machine.id(), machine.cores),
        references(problem, compiler, settings),
        generator(problem, options),
        candidate(problem.default_candidate()) {}

  /// The shape's arguments with the scalars' values taken from the inputs, which lint varies.
  detail::ShapePlan plan_of(const Shape& shape, const CallInputs& inputs) const {
    const auto found = std::find_if(problem.shapes.begin(), problem.shapes.end(),
                                    [&](const Shape& ours) { return ours.name == shape.name; });
    if (found == problem.shapes.end())
      raise<ConfigError>("the problem has no such shape", shape.name, "lint the problem that the runner has");
    detail::ShapePlan plan =
        detail::plan_shape(problem, candidate, static_cast<std::size_t>(found - problem.shapes.begin()));
    if (inputs.size() != plan.arguments.size())
      raise<ConfigError>("wrong number of arguments", std::to_string(inputs.size()),
                         "give the bytes of each argument");
    for (std::size_t a = 0; a < inputs.size(); ++a) {
      detail::PlannedArgument& argument = plan.arguments[a];
      const std::size_t elements = argument.is_array ? (argument.is_input() ? argument.count : 0) : 1;
      if (inputs[a].size() != elements * argument.element_bytes())
        raise<ConfigError>("argument " + problem.arguments[a].name + " has the wrong size",
                           std::to_string(inputs[a].size()) + " bytes", "draw it with draw_inputs");
      if (!argument.is_array && is_floating(argument.type))
        argument.value = load_element(argument.type, inputs[a].data());
    }
    return plan;
  }

  /// Empty where the default built.
  std::string build() {
    if (!library.empty()) return {};
    const auto compiled = compiler.compile(candidate_job(problem, candidate));
    if (compiled.verdict != Verdict::ok)
      return in_words(detail::Fault{compiled.verdict, compiled.reason, 0.0});
    library = compiled.library;
    return {};
  }

  /// Empty where the default ran on slot 0 of `runner`.
  std::string call(const detail::ShapePlan& plan, const CallInputs& inputs) {
    const detail::ArenaBytes needed = detail::Slots(plan, detail::Storage::native, 0, 1, 1).arena_bytes();
    if (!runner || !runner->worker().alive() || !runner->arena_bytes().holds(needed))
      runner = std::make_unique<detail::Runner>(settings, library, detail::Storage::native, false, needed);
    if (runner->fault()) return in_words(*runner->fault());
    runner->select(plan, 0, 1, 1);
    runner->slots().fill(0, inputs, detail::secret_seed());
    double seconds = 0;
    if (auto fault = runner->run(1, 0, settings.call_seconds, seconds))
      return in_words(runner->explained(std::move(*fault), problem));
    if (!runner->slots().guards_intact(0))
      return in_words(detail::overrun_fault(detail::overrun_in(problem, runner->slots(), 0)));
    if (const auto fault = runner->worker().census()) return in_words(*fault);
    return {};
  }

  Problem problem;
  HostMachine machine;
  detail::WorkerSettings settings;
  detail::CompileCache compiler;
  detail::References references;
  detail::InputGenerator generator;
  Candidate candidate;
  std::filesystem::path library;
  std::unique_ptr<detail::Runner> runner;
  std::map<std::string, std::vector<std::vector<bool>>> unwritten;  // by shape: argument, element
};

HostLintRunner::HostLintRunner(Problem problem, HostOptions options)
    : impl_(std::make_unique<Impl>(std::move(problem), options)) {}
HostLintRunner::HostLintRunner(HostLintRunner&&) noexcept = default;
HostLintRunner& HostLintRunner::operator=(HostLintRunner&&) noexcept = default;
HostLintRunner::~HostLintRunner() = default;

CallInputs HostLintRunner::draw(const Problem& problem, const Shape& shape, std::uint64_t seed) {
  CallInputs inputs(impl_->problem.arguments.size());
  const auto found = std::find_if(impl_->problem.shapes.begin(), impl_->problem.shapes.end(),
                                  [&](const Shape& ours) { return ours.name == shape.name; });
  if (found == impl_->problem.shapes.end() || problem.arguments.size() != inputs.size())
    raise<ConfigError>("the problem has no such shape", shape.name, "lint the problem that the runner has");
  const detail::ShapePlan plan = detail::plan_shape(
      impl_->problem, impl_->candidate, static_cast<std::size_t>(found - impl_->problem.shapes.begin()));
  inputs = impl_->generator.contents(plan, InputFlavour::declared, seed);
  for (std::size_t a = 0; a < inputs.size(); ++a) {
    const Argument& argument = impl_->problem.arguments[a];
    if (!argument.is_scalar()) continue;
    inputs[a].resize(size_in_bytes(argument.type));
    const Value& value = plan.arguments[a].value;
    if (const auto* whole = std::get_if<std::int64_t>(&value))
      store_element(argument.type, *whole, inputs[a].data());
    else
      store_element(argument.type, to_number(value), inputs[a].data());
  }
  return inputs;
}

CallOutputs HostLintRunner::run_reference(const Shape& shape, const CallInputs& inputs) {
  const detail::ShapePlan plan = impl_->plan_of(shape, inputs);
  CallOutputs result;
  std::vector<detail::OutputValues> values;
  try {
    // What is compared bit by bit is compared with the reference in the kernel's own precision.
    values = impl_->problem.bit_exact ? impl_->references.in_kernel_precision(plan, inputs)
                                      : impl_->references.exact(plan, inputs);
  } catch (const ConfigError& error) {
    result.failure = in_words(error);
    return result;
  }
  auto& unwritten = impl_->unwritten[shape.name];
  unwritten.assign(plan.arguments.size(), {});
  for (std::size_t a = 0; a < plan.arguments.size(); ++a) {
    const detail::PlannedArgument& argument = plan.arguments[a];
    if (!argument.is_output()) continue;
    unwritten[a] = std::move(values[a].unwritten);
    const auto columns = detail::columns_of(argument);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      detail::OutputValues& given = argument.structure != nullptr ? values[a].fields[c] : values[a];
      std::vector<double>& output = result.outputs.emplace_back();
      if (is_floating(columns[c].type)) {
        output = std::move(given.floating);
      } else {
        output.resize(argument.elements());
        detail::load_doubles(columns[c].type, detail::Storage::native, given.integers.data(), argument.count,
                             output.data());
      }
      const std::size_t together = stored_together(columns[c].type);
      for (std::size_t i = 0; i < unwritten[a].size() * together; ++i)
        if (unwritten[a][i / together]) output[i] = 0;
    }
  }
  return result;
}

CallOutputs HostLintRunner::run_default(const Shape& shape, const CallInputs& inputs) {
  const detail::ShapePlan plan = impl_->plan_of(shape, inputs);
  CallOutputs result;
  result.failure = impl_->build();
  if (result.failure.empty()) result.failure = impl_->call(plan, inputs);
  if (!result.failure.empty()) return result;
  const auto known = impl_->unwritten.find(shape.name);
  const detail::Slots& slots = impl_->runner->slots();
  for (std::size_t a = 0; a < plan.arguments.size(); ++a) {
    const detail::PlannedArgument& argument = plan.arguments[a];
    if (!argument.is_output()) continue;
    for (const detail::Column& column : detail::columns_of(argument)) {
      std::vector<double>& output = result.outputs.emplace_back(argument.elements());
      const std::byte* data = slots.data(0, a);
      std::vector<std::byte> copy;
      if (argument.structure != nullptr) {
        copy = detail::gathered(column, data, argument.count, argument.element_bytes());
        data = copy.data();
      }
      detail::load_doubles(column.type, detail::Storage::native, data, argument.count, output.data());
      const std::size_t together = stored_together(column.type);
      for (std::size_t i = 0; i < argument.elements(); ++i) {
        const std::size_t stored = i / together;
        const bool open =
            known != impl_->unwritten.end() && stored < known->second[a].size() && known->second[a][stored];
        if (open)
          output[i] = 0;
        else if (slots.is_poison(0, a, stored))
          output[i] = std::numeric_limits<double>::quiet_NaN();
      }
    }
  }
  return result;
}

}  // namespace kernelsearch
