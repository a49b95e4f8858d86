// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <unordered_set>
#include <vector>

#include "evaluator/host/time_floor.hpp"
#include "judge/input_sets.hpp"
#include "judge/load_meter.hpp"
#include "judge/runner.hpp"
#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/evaluator/sampling.hpp"

namespace kernelsearch::detail {

/// Calls that are laid out at once, at most.
inline constexpr std::size_t most_slots = 4096;
/// Batches of a round, at most.
inline constexpr std::size_t most_batches = 64;

/// One candidate in its worker: checked first, then timed by the clock outside. Every timed call has buffers
/// of its own with contents that the candidate has not seen; in each round of batches one call, at a secret
/// place, has a result that is known.
class HostWorker {
 public:
  /// `fastest`: seconds of a call of each shape, of the fastest kernel so far, where there was one; room is
  /// made for what comes near it.
  HostWorker(const Problem& problem, const HostOptions& options, const WorkerSettings& settings,
             InputSets& inputs, ClockOverhead& clock, TimeFloor& floor, const Candidate& candidate,
             const std::filesystem::path& library, std::span<const double> fastest = {});

  /// Runs every shape on every set of inputs and compares. Sets features.
  [[nodiscard]] std::optional<Fault> check(Features& features);

  /// Times the shapes that have weight until each has a tight interval; call after `check`.
  [[nodiscard]] std::optional<Fault> measure(Measurement& measurement, Features& features,
                                             std::optional<double> incumbent, const std::stop_token& stop);

  /// Whether its batches were smaller than they should be, as it is so much faster than all before.
  [[nodiscard]] bool cramped() const;

  /// What the rest of the machine did since measuring began.
  [[nodiscard]] MachineLoad load() const;

  /// One half of a pair: the median time of a short round on the shape.
  [[nodiscard]] std::optional<Fault> time_once(std::size_t shape, double& seconds);

  /// Finds out whether the shape's calls must be timed alone; before pairs, which `measure` did not precede.
  [[nodiscard]] std::optional<Fault> settle(std::size_t shape);
  [[nodiscard]] bool timed_alone(std::size_t shape) const { return shapes_[shape].alone; }
  /// Whether, as `settle` saw both, the faster one is faster where calls are made together and not where they
  /// are made alone.
  [[nodiscard]] bool gains_only_together(std::size_t shape, const HostWorker& other) const;
  void time_alone(std::size_t shape) { shapes_[shape].alone = true; }

  [[nodiscard]] const ShapePlan& plan(std::size_t shape) const { return shapes_[shape].plan; }
  /// Seconds of a call as seen so far.
  [[nodiscard]] double estimate(std::size_t shape) const { return shapes_[shape].estimate; }

 private:
  struct ShapeState {
    ShapePlan plan;
    std::size_t slots = 0;               ///< laid out, at most
    double estimate = 0.0;               ///< seconds per call
    std::size_t calls = 1;               ///< per batch
    bool alone = false;                  ///< each call is a batch
    double lone = 0.0, together = 0.0;   ///< seconds per call, as compared last
    std::size_t even = 0, uneven = 0;    ///< rounds
    double elapsed = 0.0;                ///< wall seconds spent on timing
    std::vector<std::size_t> unwritten;  ///< elements of each argument that the reference left so, at most
    std::unordered_set<std::uint64_t> results;  ///< hashes of outputs that were found right
  };

  void select(std::size_t shape);
  [[nodiscard]] std::optional<Fault> check_shape(std::size_t shape, std::size_t& differing,
                                                 std::size_t& outputs);
  [[nodiscard]] std::optional<Fault> guards(std::size_t first, std::size_t count) const;
  /// Runs calls on slots from `first` on, or as ordered; `seconds`: of one call, without what the clock
  /// takes.
  [[nodiscard]] std::optional<Fault> run(std::size_t calls, std::optional<std::size_t> first,
                                         double limit_seconds, double& seconds);
  /// Batches on the shape for about so long, with one verified call; appends seconds per call, of each batch.
  /// Of short calls at most `most_short` batches, where verifying costs little.
  [[nodiscard]] std::optional<Fault> round(std::size_t shape, double target_seconds,
                                           std::vector<double>& samples,
                                           std::size_t most_short = most_batches);
  /// Guard zones and unwritten outputs of the slots of a batch.
  [[nodiscard]] std::optional<Fault> inspect(std::size_t calls);
  [[nodiscard]] std::optional<Fault> verify(const std::vector<std::vector<std::byte>>& got, InputSet& set);
  /// Calls that are handed out one by one among more filled slots must leave the others alone. Where they
  /// take longer than in batches, by more than what overlaps there, calls are timed alone from then on.
  [[nodiscard]] std::optional<Fault> one_by_one(std::size_t shape, double claimed);
  /// No few of the batches may take the time of all.
  [[nodiscard]] std::optional<Fault> evenness(std::size_t shape);
  /// So many calls on random ones of the filled slots; `seconds`: of the shortest, not in lockstep.
  [[nodiscard]] std::optional<Fault> lone_calls(std::size_t shape, std::size_t filled, std::size_t calls,
                                                bool lockstep, double& seconds);
  /// In the memory of `copies`, which are of no use any more.
  [[nodiscard]] std::vector<std::vector<std::byte>> outputs(std::size_t slot, Contents copies = {});
  /// Memory of what was kept of an earlier batch: new one costs as much as drawing the inputs.
  [[nodiscard]] Contents spare();
  void solve(InputSet& set);
  /// The fault with the argument that was written to, where that is what ended the worker, and the shape.
  [[nodiscard]] Fault explained(Fault fault);
  void plan_batches(ShapeState& state) const;

  const Problem& problem_;
  const HostOptions& options_;
  InputSets& inputs_;
  ClockOverhead& clock_;
  TimeFloor& floor_;
  std::vector<ShapeState> shapes_;
  std::unique_ptr<Runner> runner_;
  ShownSets shown_;
  double overhead_ = 0.0;                 ///< of a batch
  double overhead_share_ = 0.0;           ///< of what was measured, the largest of all shapes
  double one_by_one_ = 0.0;               ///< time of lone calls over that in batches, the largest
  std::size_t verified_ = 0, timed_ = 0;  ///< calls
  std::vector<Contents> spare_;
  std::vector<int> cores_;                 ///< that it measures on
  std::optional<LoadMeter> meter_;         ///< since measuring began
  double cpu_then_ = 0, waited_then_ = 0;  ///< of the worker, when it began
  double cpu_here_ = 0, waited_here_ = 0;  ///< of our own on its core since
  std::optional<std::size_t> selected_;
  double limit_seconds_;
};

/// Times calls of a library that is not verified: the baseline of pairs. `overhead`: what the clock takes of
/// a batch, in seconds.
[[nodiscard]] std::optional<Fault> time_unverified(Runner& runner, InputSets& inputs, const ShapePlan& plan,
                                                   double overhead, CacheMode cache, double call_seconds,
                                                   double& estimate, double& seconds);

}  // namespace kernelsearch::detail
