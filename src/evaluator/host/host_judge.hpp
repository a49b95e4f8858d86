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
#include "evaluator/host/time_judgement.hpp"
#include "evaluator/host/verifier.hpp"
#include "judge/input_sets.hpp"
#include "judge/load_meter.hpp"
#include "judge/metrics.hpp"
#include "judge/runner.hpp"
#include "judge/sampler.hpp"
#include "kernelsearch/core/outcome.hpp"

namespace kernelsearch::detail {

/// Calls that are laid out at once, at most.
inline constexpr std::size_t most_slots = 4096;
/// Batches of a round, at most.
inline constexpr std::size_t most_batches = 64;

/// What a host worker calls.
struct HostSubject {
  std::filesystem::path library;
  /// How it stores floating elements: a reference has types of its own.
  Storage storage = Storage::native;
  /// The reference: what it computes is right by definition, and nothing that it does is a fraud.
  bool is_reference = false;
};

/// One candidate, or the reference, in its worker: checked first, then timed by the clock outside. Every
/// timed call has buffers of its own with contents that the candidate has not seen; of each batch one call,
/// at a secret place, is put by with its results, and some of those are compared with what is right.
class HostJudge {
 public:
  /// `fastest`: seconds of a call of each shape, of the fastest kernel so far, where there was one; room is
  /// made for what comes near it.
  HostJudge(const Problem& problem, const HostOptions& options, const WorkerSettings& settings,
            InputSets& inputs, Verifier& verifier, ClockOverhead& clock, TimeFloor& floor,
            const Candidate& candidate, const HostSubject& subject, std::span<const double> fastest = {});

  /// Which shapes are checked.
  enum class Extent : std::uint8_t {
    all,
    timed,  ///< those that have weight, of code that was checked on all of them before
  };

  /// Runs every shape on every set of inputs and compares. Sets features. The reference is called once on
  /// every shape that has weight and compared with nothing.
  [[nodiscard]] std::optional<Fault> check(Features& features, Extent extent = Extent::all);

  /// Times the shapes that have weight until each has a tight interval; call after `check`.
  [[nodiscard]] std::optional<Fault> measure(Measurement& measurement, Features& features,
                                             std::optional<double> incumbent, const std::stop_token& stop);

  /// Whether its batches were smaller than they should be, as it is that much faster than all before.
  [[nodiscard]] bool cramped() const;

  /// What the rest of the machine did since measuring began.
  [[nodiscard]] MachineLoad load() const;

  /// What the clock takes of a batch, in seconds: both sides of a pair are charged the same.
  void assume_overhead(double seconds) noexcept { overhead_ = seconds; }

  /// One half of a pair: the median time of a short round on the shape, in batches that suit calls of `about`
  /// seconds.
  [[nodiscard]] std::optional<Fault> time_once(std::size_t shape, double about, double& seconds);

  /// Finds out whether the shape's calls must be timed alone; before pairs.
  [[nodiscard]] std::optional<Fault> settle(std::size_t shape);
  /// Compares calls that were timed and put by, on each shape of weight, until `calls` are found right, or as
  /// many as were timed; what cannot be had makes the candidate unverified, which does not win.
  [[nodiscard]] std::optional<Fault> assure(std::size_t calls, const std::stop_token& stop);
  /// Whether `least_verified` calls of each shape of weight were found right.
  [[nodiscard]] bool is_assured() const;
  [[nodiscard]] bool timed_alone(std::size_t shape) const { return shapes_[shape].alone; }
  /// Whether, as `settle` saw both, the faster one is faster where calls are made together and not where they
  /// are made alone.
  [[nodiscard]] bool gains_only_together(std::size_t shape, const HostJudge& other) const;
  void time_alone(std::size_t shape) { shapes_[shape].alone = true; }

  [[nodiscard]] const ShapePlan& plan(std::size_t shape) const { return shapes_[shape].plan; }
  /// Seconds of a call as seen so far.
  [[nodiscard]] double estimate(std::size_t shape) const { return shapes_[shape].estimate; }

 private:
  /// A timed call with its contents and what it made of them.
  struct Kept {
    double seconds = 0.0;
    InputSet set;
    std::vector<std::vector<std::byte>> outputs;
  };
  /// What comparing a call may cost.
  enum class Price : std::uint8_t {
    fair,  ///< no reference that is expensive, but where somebody else was of another opinion
    any,
  };
  struct ShapeState {
    ShapePlan plan;
    std::size_t slots = 0;               ///< laid out, at most
    double estimate = 0.0;               ///< seconds per call
    std::size_t calls = 1, filled = 1;   ///< per batch, and the slots that they are drawn from
    double loop = 0.0;                   ///< seconds per call that are the worker's own
    bool alone = false;                  ///< each call is a batch
    double lone = 0.0, together = 0.0;   ///< seconds per call, as compared last
    std::size_t even = 0, uneven = 0;    ///< rounds
    double elapsed = 0.0;                ///< wall seconds spent on timing
    std::vector<std::size_t> unwritten;  ///< elements of each argument that the reference left so, at most
    std::unordered_set<std::uint64_t> results;          ///< hashes of outputs that were found right
    std::size_t verified = 0, timed = 0, doubtful = 0;  ///< calls
    std::vector<Kept> reserve;                          ///< put by, at random
    std::size_t offered = 0;                            ///< to the reserve
  };

  struct SampleTimer;

  void select(std::size_t shape);
  /// One call on the shape, which tells about how long it takes.
  [[nodiscard]] std::optional<Fault> try_shape(std::size_t shape);
  [[nodiscard]] std::optional<Fault> check_shape(std::size_t shape, std::size_t& differing,
                                                 std::size_t& outputs);
  [[nodiscard]] std::optional<Fault> guards(std::size_t first, std::size_t count) const;
  /// A metric of the first slots that nothing was written to: what is not checked would pass as it is.
  [[nodiscard]] std::optional<Fault> unwritten_metric(std::size_t count) const;
  /// The set of a round of timed calls.
  [[nodiscard]] std::shared_ptr<InputSet> timing_set(const ShapePlan& plan);
  /// Runs calls on slots from `first` on; `seconds`: of one call, without what the clock takes.
  [[nodiscard]] std::optional<Fault> run(std::size_t calls, std::size_t first, double limit_seconds,
                                         double& seconds);
  /// Runs a batch on slots that the worker draws (`drawn_`); `seconds` without what its loop takes as well.
  [[nodiscard]] std::optional<Fault> run_drawn(const ShapeState& state, double limit_seconds,
                                               double& seconds);
  /// Batches on the shape for about so long, with one verified call; appends seconds per call, of each batch.
  /// For short calls at most `most_short` batches, where verifying costs little.
  [[nodiscard]] std::optional<Fault> round(std::size_t shape, double target_seconds,
                                           std::vector<double>& samples,
                                           std::size_t most_short = most_batches);
  /// Guard zones and unwritten outputs of the slots of a batch, and some that were not called.
  [[nodiscard]] std::optional<Fault> inspect();
  [[nodiscard]] Fault wrote_others() const;
  /// Compares a call with the known result, the reference's or the default configuration's; `decided`:
  /// whether it could be.
  [[nodiscard]] std::optional<Fault> verify(std::size_t shape, Kept& call, Price price, bool& decided);
  /// Compares some calls of a round that took `seconds` and puts the others by.
  [[nodiscard]] std::optional<Fault> verify_some(std::size_t shape, std::vector<Kept> kept, double seconds);
  [[nodiscard]] std::optional<Fault> assure(std::size_t shape, std::size_t calls,
                                            const std::stop_token& stop);
  /// Calls a shape on until it was called often enough to be believed.
  [[nodiscard]] std::optional<Fault> call_on(std::size_t shape, const std::stop_token& stop);
  /// Puts a call by for `assure`, so that each of the shape has the same chance to be among them.
  void put_by(ShapeState& state, Kept call);
  void recycle(Kept call);
  /// Calls that are handed out one by one among more filled slots must leave the others alone. Where they
  /// take longer than in batches, by more than what overlaps there, calls are timed alone from then on.
  [[nodiscard]] std::optional<Fault> one_by_one(std::size_t shape, double claimed);
  /// No few of the batches may take the time of all, unless the same contents take as long again in a fresh
  /// process.
  [[nodiscard]] std::optional<Fault> evenness(std::size_t shape);
  /// How the times of batches with the same contents, in the same order, in two fresh processes belong
  /// together.
  [[nodiscard]] std::optional<Fault> shown_again(std::size_t shape, Pattern& pattern);
  /// Times batches of which each is made from one of `seeds` in a process of its own.
  [[nodiscard]] std::optional<Fault> replay(std::size_t shape, const Contents& contents,
                                            std::span<const std::uint64_t> seeds,
                                            std::vector<double>& seconds);
  /// That many calls on random ones of the filled slots; `seconds`: of the shortest, not in lockstep.
  [[nodiscard]] std::optional<Fault> lone_calls(std::size_t shape, std::size_t filled, std::size_t calls,
                                                bool lockstep, double& seconds);
  /// Memory of what was kept of an earlier batch: new one costs as much as drawing the inputs.
  [[nodiscard]] Contents spare();
  void solve(ShapeState& state, InputSet& set);
  /// The fault with the argument that was written to, where that is what ended the worker, and the shape.
  [[nodiscard]] Fault explained(Fault fault);
  void plan_batches(ShapeState& state, double about);

  const Problem& problem_;
  const HostOptions& options_;
  const HostSubject subject_;
  InputSets& inputs_;
  Verifier& verifier_;
  ClockOverhead& clock_;
  TimeFloor& floor_;
  const WorkerSettings& settings_;
  Rng rng_{secret_seed()};
  std::vector<ShapeState> shapes_;
  Metrics metrics_{problem_};
  std::unique_ptr<Runner> runner_;
  ShownSets shown_;
  double overhead_ = 0.0;                 ///< of a batch
  double overhead_share_ = 0.0;           ///< of what was measured, the largest of all shapes
  double one_by_one_ = 0.0;               ///< time of lone calls over that in batches, the largest
  std::size_t verified_ = 0, timed_ = 0;  ///< calls
  std::vector<std::uint32_t> drawn_;      ///< slots of the last batch as they were called, then the others
  std::vector<Contents> spare_;
  std::vector<int> cores_;                 ///< that it measures on
  std::optional<LoadMeter> meter_;         ///< since measuring began
  double cpu_then_ = 0, waited_then_ = 0;  ///< of the worker, when it began
  double cpu_here_ = 0, waited_here_ = 0;  ///< of our own on its core since
  std::optional<std::size_t> selected_;
  double limit_seconds_;
};

}  // namespace kernelsearch::detail
