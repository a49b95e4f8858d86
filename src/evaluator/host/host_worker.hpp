// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <unordered_set>
#include <vector>

#include "evaluator/host/input_sets.hpp"
#include "evaluator/host/load_meter.hpp"
#include "evaluator/host/runner.hpp"
#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/evaluator/sampling.hpp"

namespace kernelsearch::detail {

/// One candidate in its worker: checked first, then timed. Every timed call has buffers of its own with
/// contents that the candidate has not seen; one of them, at a secret place, has known results.
class HostWorker {
 public:
  HostWorker(const Problem& problem, const HostOptions& options, const WorkerSettings& settings,
             InputSets& inputs, const Candidate& candidate, const std::filesystem::path& library);

  /// Runs every shape on every set of inputs and compares. Sets features.
  [[nodiscard]] std::optional<Fault> check(Features& features);

  /// Times the shapes that have weight until each has a tight interval; call after `check`.
  [[nodiscard]] std::optional<Fault> measure(Measurement& measurement, Features& features,
                                             std::optional<double> incumbent, const std::stop_token& stop);

  /// What the rest of the machine did since measuring began.
  [[nodiscard]] MachineLoad load() const;

  /// One half of a pair: the median time of a short, verified batch on the shape.
  [[nodiscard]] std::optional<Fault> time_once(std::size_t shape, double& seconds);

  [[nodiscard]] const ShapePlan& plan(std::size_t shape) const { return shapes_[shape].plan; }
  /// Seconds of a call as seen so far.
  [[nodiscard]] double estimate(std::size_t shape) const { return shapes_[shape].estimate; }

 private:
  struct ShapeState {
    ShapePlan plan;
    double estimate = 0.0;  ///< seconds per call
    std::size_t calls = 1;  ///< per sample
    double elapsed = 0.0;   ///< wall seconds spent on timing
    std::size_t even_batches = 0, uneven_batches = 0;
    std::unordered_set<std::uint64_t> results;  ///< hashes of the outputs of earlier calls
  };

  void select(std::size_t shape);
  [[nodiscard]] std::optional<Fault> check_shape(std::size_t shape, std::size_t& differing,
                                                 std::size_t& outputs);
  [[nodiscard]] std::optional<Fault> inspect(std::size_t first, std::size_t count) const;
  [[nodiscard]] std::optional<Fault> batch(std::size_t shape, double target_seconds,
                                           std::vector<double>& samples);
  [[nodiscard]] std::optional<Fault> verify(std::size_t slot, std::size_t slots, InputSet& set);
  /// A single call among filled slots must leave the others alone.
  [[nodiscard]] std::optional<Fault> lone_call(std::size_t shape);
  /// No few of the timed calls of a batch may take the time of all.
  [[nodiscard]] std::optional<Fault> evenness(std::size_t shape, const std::string& name);
  /// Calls timed by our clock alone must not take longer than the samples say.
  [[nodiscard]] std::optional<Fault> cross_check(std::size_t shape, double claimed);
  [[nodiscard]] std::vector<std::vector<std::byte>> outputs(std::size_t slot);
  [[nodiscard]] std::uint64_t hash_outputs(std::size_t slot);
  void plan_samples(ShapeState& state) const;

  const Problem& problem_;
  const HostOptions& options_;
  InputSets& inputs_;
  std::vector<ShapeState> shapes_;
  std::size_t sets_ = 0;  ///< slots that checking wants at once
  std::unique_ptr<Runner> runner_;
  std::vector<int> cores_;                 ///< that it measures on
  std::optional<LoadMeter> meter_;         ///< since measuring began
  double cpu_then_ = 0, waited_then_ = 0;  ///< of the worker, when it began
  std::optional<std::size_t> selected_;
  Rng rng_{secret_seed()};
  double limit_seconds_;
};

/// Fills slots and times one batch of a library that is not verified: the baseline of pairs.
[[nodiscard]] std::optional<Fault> time_unverified(Runner& runner, InputSet& set, CacheMode cache,
                                                   double call_seconds, double& estimate, double& seconds);

}  // namespace kernelsearch::detail
