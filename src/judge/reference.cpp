// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "judge/reference.hpp"

#include "judge/overrun_text.hpp"
#include "kernelsearch/core/error.hpp"

namespace kernelsearch::detail {

std::vector<OutputValues> outputs_in(Runner& runner) {
  const Slots& slots = runner.slots();
  const ShapePlan& plan = slots.plan();
  std::vector<OutputValues> outputs(plan.arguments.size());
  for (std::size_t a = 0; a < plan.arguments.size(); ++a) {
    const PlannedArgument& argument = plan.arguments[a];
    if (!argument.is_output()) continue;
    OutputValues& output = outputs[a];
    if (argument.structure != nullptr) {
      for (const Column& column : columns_of(argument)) {
        const auto values = gathered(column, slots.data(0, a), argument.count, argument.element_bytes());
        OutputValues& field = output.fields.emplace_back();
        if (is_floating(column.type)) {
          field.floating.resize(argument.count);
          load_doubles(column.type, Storage::native, values.data(), argument.count, field.floating.data());
        } else {
          field.integers = values;
        }
      }
    } else if (is_floating(argument.type)) {
      output.floating.resize(argument.elements());
      load_doubles(argument.type, runner.storage(), slots.data(0, a), argument.count, output.floating.data());
    } else {
      output.integers.assign(slots.data(0, a), slots.data(0, a) + slots.bytes(a));
    }
    if (slots.poison_left(0, a) == 0) continue;
    output.unwritten.resize(argument.count);
    for (std::size_t i = 0; i < argument.count; ++i) output.unwritten[i] = slots.is_poison(0, a, i);
  }
  return outputs;
}

References::References(const Problem& problem, CompileCache& compiler, WorkerSettings settings)
    : problem_(problem), compiler_(compiler), settings_(std::move(settings)) {}

const std::filesystem::path& References::library(Real real) {
  std::filesystem::path& library = libraries_[static_cast<std::size_t>(real)];
  if (!library.empty()) return library;
  const Compiled compiled = compiler_.compile(
      independent() ? reference_job(problem_, real) : candidate_job(problem_, problem_.default_candidate()));
  if (compiled.verdict != Verdict::ok && !independent())
    raise<ConfigError>("the default configuration does not build, and the problem has no reference",
                       problem_.name + ":\n" + compiled.reason, "correct the kernel");
  if (compiled.verdict != Verdict::ok)
    raise<ConfigError>("the reference does not build", problem_.name + ":\n" + compiled.reason,
                       "correct it: its floating types must be `real`, its signature the kernel's");
  return library = compiled.library;
}

Storage References::storage(Real real) const noexcept {
  if (!independent()) return Storage::native;
  switch (real) {
    case Real::f64:
      return Storage::f64;
    case Real::extended:
      return Storage::extended;
    default:
      return uses_f64(problem_) ? Storage::f64 : Storage::f32;
  }
}

Runner& References::ready(Real real, const ShapePlan& plan) {
  auto& runner = runners_[static_cast<std::size_t>(real)];
  const ArenaBytes needed = Slots(plan, storage(real), 0, 1, 1).arena_bytes();
  if (!runner || !runner->worker().alive() || !runner->arena_bytes().holds(needed)) {
    WorkerSettings settings = settings_;
    if (real != Real::kernel) {
      settings.cores.clear();
      settings.frozen = false;
    }
    runner = std::make_unique<Runner>(settings, library(real), storage(real), false, needed);
    if (runner->fault())
      raise<ConfigError>("the reference does not load", problem_.name + ": " + runner->fault()->reason,
                         "correct it");
  }
  runner->select(plan, 0, 1, 1);
  return *runner;
}

std::vector<OutputValues> References::compute(Real real, const ShapePlan& plan, const Contents& contents) {
  const double begin = monotonic_seconds();
  const std::string who = independent() ? "the reference" : "the default configuration";
  std::vector<OutputValues> outputs;
  for (int attempt = 0;; ++attempt) {
    Runner& runner = ready(real, plan);
    Slots& slots = runner.slots();
    slots.fill(0, contents, secret_seed());
    double seconds = 0;
    if (auto fault = runner.run(1, 0, settings_.run_seconds, seconds)) {
      // The process may have been ended with the thread that started it; a reference that fails twice is at
      // fault.
      if (attempt == 0) continue;
      raise<ConfigError>(
          who + " fails",
          problem_.shapes[plan.shape].name + ": " + runner.explained(std::move(*fault), problem_).reason,
          "correct it");
    }
    if (!slots.guards_intact(0))
      raise<ConfigError>(who + " writes outside of its arrays",
                         problem_.shapes[plan.shape].name + place_text(overrun_in(problem_, slots, 0)),
                         "correct it, or the sizes of the arguments");
    outputs = outputs_in(runner);
    break;
  }
  spent_ += monotonic_seconds() - begin;
  return outputs;
}

std::vector<OutputValues> References::exact(const ShapePlan& plan, const Contents& contents) {
  return compute(!independent()       ? Real::kernel
                 : uses_f64(problem_) ? Real::extended
                                      : Real::f64,
                 plan, contents);
}

std::vector<OutputValues> References::in_kernel_precision(const ShapePlan& plan, const Contents& contents) {
  return compute(Real::kernel, plan, contents);
}

}  // namespace kernelsearch::detail
