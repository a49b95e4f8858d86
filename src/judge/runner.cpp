// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "judge/runner.hpp"

#include <algorithm>

#include "judge/overrun_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/evaluator/sampling.hpp"
#include "process/pinned_thread.hpp"

namespace kernelsearch::detail {

Runner::Runner(const WorkerSettings& settings, const std::filesystem::path& library, Storage storage,
               bool trusted, const ArenaBytes& bytes)
    : settings_(settings),
      storage_(storage),
      inputs_(bytes.inputs, Arena::Writers::controller),
      outputs_(bytes.outputs, Arena::Writers::both),
      worker_(std::make_unique<WorkerClient>(settings, inputs_, outputs_, library, trusted)) {}

int Runner::core() const noexcept {
  return settings_.frozen && !settings_.cores.empty() ? settings_.cores.front() : -1;
}

bool Runner::has_lockstep() const noexcept {
  return settings_.frozen && settings_.threads == 1 && settings_.other_core >= 0;
}

void Runner::select(const ShapePlan& plan, std::size_t buffer_bytes, std::size_t least, std::size_t most) {
  slots_ = Slots(plan, storage_, buffer_bytes, least, most);
  if (!arena_bytes().holds(slots_.arena_bytes()))
    raise<ConfigError>("the buffers do not fit their arena",
                       std::to_string(slots_.arena_bytes().inputs) + " and " +
                           std::to_string(slots_.arena_bytes().outputs) + " bytes",
                       "report this");
  slots_.attach({inputs_.data(), outputs_.data(), worker_->inputs_at(), worker_->outputs_at()},
                secret_seed());
}

host_protocol::Command Runner::command(std::size_t calls, std::size_t table) const {
  host_protocol::Command command;
  command.calls = static_cast<std::uint32_t>(calls);
  command.table = table;
  command.width = static_cast<std::uint32_t>(slots_.width());
  return command;
}

std::optional<Fault> Runner::charged(const host_protocol::Command& command, double limit_seconds,
                                     double& seconds) {
  Charge charge;
  auto fault = worker_->call(command, std::min(limit_seconds, settings_.run_seconds), charge);
  seconds = settings_.frozen && settings_.threads == 1 ? charge.cpu : charge.wall;
  if (!fault && charge.cpu > 1.2 * settings_.threads * charge.wall + 0.02)
    fault = Fault{Verdict::cheated, threads_text("it used more processor time than its threads can have had",
                                                 settings_.threads)};
  return fault;
}

std::optional<Fault> Runner::run(std::size_t calls, std::size_t first, double limit_seconds,
                                 double& seconds) {
  return charged(command(calls, slots_.table(first)), limit_seconds, seconds);
}

std::optional<Fault> Runner::run_ordered(std::size_t calls, double limit_seconds, double& seconds) {
  return charged(command(calls, slots_.ordered_table()), limit_seconds, seconds);
}

std::optional<Fault> Runner::run_drawn(std::size_t calls, std::size_t filled, double limit_seconds,
                                       double& seconds, std::vector<std::uint32_t>& drawn) {
  slots_.let_draw(filled);
  host_protocol::Command drawing = command(calls, slots_.table(0));
  drawing.filled = static_cast<std::uint32_t>(filled);
  if (auto fault = charged(drawing, limit_seconds, seconds)) return fault;
  auto order = slots_.drawn(filled);
  if (!order) return Fault{Verdict::cheated, "it changed the worker's account of which calls were made"};
  drawn = std::move(*order);
  return std::nullopt;
}

Fault Runner::explained(Fault fault, const Problem& problem) const {
  const auto& write = worker_->forbidden_write();
  if (!write) return fault;
  if (const auto changed = slots_.argument_at(*write))
    return {Verdict::cheated, "it changed its input " + problem.arguments[*changed].name};
  return overrun_fault(named(problem, slots_.plan(), slots_.place_at(*write)));
}

std::optional<Fault> Runner::lockstep(std::span<const std::uint32_t> slots, double limit_seconds,
                                      double& seconds) {
  // One word of each call's outputs is read when the call is answered and again at the end.
  std::vector<std::size_t> outputs;
  for (std::size_t a = 0; a < slots_.plan().arguments.size(); ++a)
    if (slots_.plan().arguments[a].is_output() && slots_.bytes(a) > 0) outputs.push_back(a);
  Rng rng(secret_seed());
  std::vector<const volatile std::byte*> watched;
  for (const std::uint32_t slot : slots) {
    if (outputs.empty()) break;
    const std::size_t a = outputs[rng.below(outputs.size())];
    // Mostly the last element: the one who does a part of the work before answering begins in front.
    const std::size_t at = rng.chance(0.5) ? slots_.bytes(a) - 1 : rng.below(slots_.bytes(a));
    watched.push_back(slots_.data(slot, a) + at);
  }
  return worker_->lockstep(command(0, slots_.table(0)), slots, watched,
                           std::min(limit_seconds, settings_.run_seconds), seconds);
}

double ClockOverhead::of_one_batch() {
  if (!runner_ || !runner_->worker().alive()) {
    runner_ = std::make_unique<Runner>(settings_, std::filesystem::path(), Storage::native, true,
                                       Slots(plan_, Storage::native, 0, 1, 1).arena_bytes());
    runner_->select(plan_, 0, 1, 1);
  }
  double seconds = 0;
  if (const auto fault = runner_->run(0, 0, 1.0, seconds))
    raise<DeviceError>("the worker that shows what the clock takes fails", fault->reason, "try again");
  return seconds;
}

double ClockOverhead::of_batch() {
  constexpr std::size_t batches = 21, first = 2;  // those find nothing in the caches
  std::vector<double> seconds{of_one_batch()};
  const PinnedThread here(runner_->core());
  while (seconds.size() < batches + first) seconds.push_back(of_one_batch());
  seconds.erase(seconds.begin(), seconds.begin() + first);
  std::sort(seconds.begin(), seconds.end());
  uncertainty_ = (seconds[3 * batches / 4] - seconds[batches / 4]) / 2;
  measured_at_ = monotonic_seconds();
  return latest_ = seconds[batches / 2];
}

double ClockOverhead::of_call(std::size_t arguments) {
  if (const auto known = of_calls_.find(arguments); known != of_calls_.end()) return known->second;
  constexpr std::size_t filled = 512, calls = 256, batches = 15;
  ShapePlan plan;
  plan.arguments.resize(arguments);
  for (PlannedArgument& argument : plan.arguments) argument.value = std::int64_t{0};
  Runner runner(settings_, std::filesystem::path(), Storage::native, true,
                Slots(plan, Storage::native, 0, filled, filled).arena_bytes());
  runner.select(plan, 0, filled, filled);
  const PinnedThread here(runner.core());
  std::vector<double> each;
  std::vector<std::uint32_t> drawn;
  for (std::size_t i = 0; i < batches; ++i) {
    double with = 0, without = 0;
    auto fault = runner.run_drawn(calls, filled, 1.0, with, drawn);
    if (!fault) fault = runner.run_drawn(0, filled, 1.0, without, drawn);
    if (fault)
      raise<DeviceError>("the worker that shows what the clock takes fails", fault->reason, "try again");
    each.push_back((with - without) / static_cast<double>(calls));
  }
  return of_calls_[arguments] = std::max(median(each), 0.0);
}

double ClockOverhead::of_batch_lately() {
  constexpr double moment = 0.25;
  return measured_at_ >= 0 && monotonic_seconds() - measured_at_ < moment ? latest_ : of_batch();
}

}  // namespace kernelsearch::detail
