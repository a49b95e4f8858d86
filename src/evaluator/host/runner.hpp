// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "evaluator/host/arena.hpp"
#include "evaluator/host/worker_client.hpp"

namespace kernelsearch::detail {

/// What a command gave.
struct Ran {
  std::vector<double> samples;  ///< seconds per call by the worker's clock
  double seconds = 0.0;         ///< of the whole command by our clock
};

/// A library in a worker with an arena, ready to be called on one shape at a time.
class Runner {
 public:
  /// `arena_bytes`: for the largest `Slots` that will be used.
  Runner(const WorkerSettings& settings, const std::filesystem::path& library, Storage storage, bool trusted,
         std::size_t arena_bytes);

  [[nodiscard]] const std::optional<Fault>& fault() const noexcept { return worker_->fault(); }
  [[nodiscard]] WorkerClient& worker() noexcept { return *worker_; }
  [[nodiscard]] Storage storage() const noexcept { return storage_; }
  [[nodiscard]] std::size_t arena_bytes() const noexcept { return arena_.size(); }

  /// Lays out the shape; `plan` must outlive its use.
  void select(const ShapePlan& plan, std::size_t buffer_bytes, std::size_t least, std::size_t most);
  [[nodiscard]] Slots& slots() noexcept { return slots_; }

  /// Calls the function `samples` times `calls` times, the c-th call on slot `first` + c % `slots`.
  [[nodiscard]] std::optional<Fault> run(std::size_t samples, std::size_t calls, std::size_t first,
                                         std::size_t slots, host_protocol::Prepare prepare,
                                         double limit_seconds, Ran& ran);

 private:
  WorkerSettings settings_;
  Storage storage_;
  Arena arena_;
  std::unique_ptr<WorkerClient> worker_;
  Slots slots_;
  std::unique_ptr<host_protocol::Command> command_ = std::make_unique<host_protocol::Command>();
  std::unique_ptr<host_protocol::Reply> reply_ = std::make_unique<host_protocol::Reply>();
};

}  // namespace kernelsearch::detail
