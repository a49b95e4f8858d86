// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "judge/arena.hpp"
#include "judge/worker_client.hpp"

namespace kernelsearch::detail {

/// A library in a worker with its arenas, ready to be called on one shape at a time.
class Runner {
 public:
  /// `bytes`: for the largest `Slots` that will be used.
  Runner(const WorkerSettings& settings, const std::filesystem::path& library, Storage storage, bool trusted,
         const ArenaBytes& bytes);

  [[nodiscard]] const std::optional<Fault>& fault() const noexcept { return worker_->fault(); }
  [[nodiscard]] WorkerClient& worker() noexcept { return *worker_; }
  [[nodiscard]] Storage storage() const noexcept { return storage_; }
  [[nodiscard]] int threads() const noexcept { return settings_.threads; }
  [[nodiscard]] ArenaBytes arena_bytes() const noexcept { return {inputs_.size(), outputs_.size()}; }
  /// The core that it is measured on, for the thread that commands it; below 0: none.
  [[nodiscard]] int core() const noexcept;
  /// Whether calls can be made in lockstep: one thread is measured and there is another core.
  [[nodiscard]] bool has_lockstep() const noexcept;

  /// Lays out the shape; `plan` must outlive its use.
  void select(const ShapePlan& plan, std::size_t buffer_bytes, std::size_t least, std::size_t most);
  [[nodiscard]] Slots& slots() noexcept { return slots_; }

  /// Calls the function once on each of the slots from `first` on. `seconds`: what it is charged for all of
  /// them, processor time of one thread, the time that passes of several; see ClockOverhead for what of it is
  /// the clock's own.
  [[nodiscard]] std::optional<Fault> run(std::size_t calls, std::size_t first, double limit_seconds,
                                         double& seconds);

  /// The same on slots in the order that `Slots::order` wrote.
  [[nodiscard]] std::optional<Fault> run_ordered(std::size_t calls, double limit_seconds, double& seconds);

  /// The same on slots that the worker draws from the first `filled`, each as it makes the call, so that no
  /// kernel can tell what it will be called for next; `drawn`: those, and behind them the others.
  [[nodiscard]] std::optional<Fault> run_drawn(std::size_t calls, std::size_t filled, double limit_seconds,
                                               double& seconds, std::vector<std::uint32_t>& drawn);

  /// The fault of a call, with the array of the problem that it was ended for writing to or next to.
  [[nodiscard]] Fault explained(Fault fault, const Problem& problem) const;

  /// Calls the function on these slots in lockstep; `seconds`: of all of them.
  [[nodiscard]] std::optional<Fault> lockstep(std::span<const std::uint32_t> slots, double limit_seconds,
                                              double& seconds);

 private:
  [[nodiscard]] host_protocol::Command command(std::size_t calls, std::size_t table) const;
  [[nodiscard]] std::optional<Fault> charged(const host_protocol::Command& command, double limit_seconds,
                                             double& seconds);

  WorkerSettings settings_;
  Storage storage_;
  Arena inputs_, outputs_;
  std::unique_ptr<WorkerClient> worker_;
  Slots slots_;
};

/// What the clock itself takes, measured on a worker of our own that makes no calls: stopping and letting go,
/// one message each way. Not thread-safe.
class ClockOverhead {
 public:
  explicit ClockOverhead(const WorkerSettings& settings) : settings_(settings) {}

  /// Seconds of a batch without calls, as `Runner::run` charges them: the median of some, measured now.
  [[nodiscard]] double of_batch();
  /// The same of one batch, to take turns with other batches on the core of the worker.
  [[nodiscard]] double of_one_batch();
  /// The same, or what was measured a moment ago.
  [[nodiscard]] double of_batch_lately();
  /// Seconds that the worker itself needs for each call of a function with that many arguments, besides its
  /// kernel: drawing a slot, copying its pointers, a call that does nothing. Measured once.
  [[nodiscard]] double of_call(std::size_t arguments);
  /// Half of what the middle half of them differ by: what taking it off leaves open.
  [[nodiscard]] double uncertainty() const noexcept { return uncertainty_; }

 private:
  WorkerSettings settings_;
  ShapePlan plan_;
  std::unique_ptr<Runner> runner_;
  double uncertainty_ = 0.0;
  double latest_ = 0.0, measured_at_ = -1;
  std::map<std::size_t, double> of_calls_;  ///< by the number of arguments
};

}  // namespace kernelsearch::detail
