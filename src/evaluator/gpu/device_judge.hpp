// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "evaluator/gpu/device_judge_parts.hpp"
#include "evaluator/gpu/made_inputs.hpp"
#include "evaluator/gpu/nvml.hpp"
#include "evaluator/gpu/referee.hpp"
#include "judge/metrics.hpp"
#include "kernelsearch/evaluator/evaluation_context.hpp"
#include "kernelsearch/evaluator/gpu/gpu_evaluator.hpp"

namespace kernelsearch::detail::gpu {

class HiddenShapeCheck;

/// One device: the process that candidates run in, and the referee. Candidates are judged one after another;
/// a process that one of them broke is replaced before the next. Where the reference takes long, the
/// candidates of a search take turns in several processes, which are shown the same contents, each of them
/// once: what the referee solved then serves all. Not thread-safe.
class DeviceJudge {
 public:
  /// What is given must outlive it. `least_shared`: bytes of outputs that a call may have, where the problem
  /// will have other shapes than now.
  DeviceJudge(const Problem& problem, const GpuOptions& options, const GpuDevice& device, int ordinal,
              BuilderPool& builders, std::uint64_t least_shared = 0);
  ~DeviceJudge();
  DeviceJudge(const DeviceJudge&) = delete;
  DeviceJudge& operator=(const DeviceJudge&) = delete;

  /// Checks, then measures; `baseline` is what improved candidates are timed against in pairs, null for none.
  [[nodiscard]] Evaluation judge(const GpuArtifact& artifact, const GpuArtifact* baseline,
                                 Evaluation evaluation, const EvaluationContext& context);

  /// Times two candidates in pairs; both are checked first.
  [[nodiscard]] std::optional<Fault> compare(const GpuArtifact& candidate, const GpuArtifact& champion,
                                             const PairOptions& limits, Speedup& speedup);

  /// Checks on every shape, once, and measures nothing.
  [[nodiscard]] std::optional<Fault> check_only(const GpuArtifact& artifact);
  /// The problem has other shapes than before. Its processes stay.
  void take_shapes();
  /// Seconds that one run of the reference took on each shape, all together.
  [[nodiscard]] double reference_seconds() const;

  /// Starts the processes that a search needs, at the same time; what goes wrong is said when they are first
  /// needed.
  void prepare();
  /// From now on candidates run in a process that none has run in, and nothing that was shown is shown again.
  void renew();
  [[nodiscard]] const GpuDevice& device() const noexcept { return device_; }
  [[nodiscard]] double busy_seconds() const noexcept { return busy_; }

 private:
  struct Workspace {
    BufferId buffer{};
    std::uint64_t bytes = 0;
  };
  /// A process that candidates run in, with what it holds.
  struct Process {
    std::unique_ptr<GpuWorkerClient> worker;
    std::uint64_t number = 0;           ///< under which the referee knows it
    std::vector<std::size_t> reserved;  ///< slots of each shape
    std::uint64_t guard_seed = 0;
    std::uint64_t memory_free = 0;  ///< bytes of the device when it was started
    bool rewrite_guards = false;    ///< the last candidate failed and may have damaged them
    /// For a module, a shape and an argument.
    std::map<std::tuple<ModuleId, std::size_t, std::size_t>, Workspace> workspaces;
    /// For each set that it holds what is made of: for each argument.
    std::map<std::tuple<std::size_t, std::uint64_t, InputFlavour>, std::vector<BufferId>> held_made;
    std::uint64_t held_made_bytes = 0;
    /// Among these the ones that timed calls were given last.
    std::vector<std::tuple<std::size_t, std::uint64_t, InputFlavour>> timed_made;
  };
  /// What a loaded candidate looks like on one shape.
  struct ShapeState {
    CallPlan plan;
    bool valid = true;
    std::vector<std::optional<BufferId>> workspaces;  ///< of each argument that is one
    double estimate = 0, elapsed = 0;
    double verified_seconds = 0;                ///< of the reference, for timed calls
    bool verified = false;                      ///< one timed call at least
    std::unordered_set<std::uint64_t> results;  ///< hashes of outputs of earlier calls
  };
  struct Subject {
    ModuleId module{};
    std::vector<ShapeState> shapes;
    bool checked_in_part = false;  ///< since it was surely slower than the best
    bool finalist = false;
    double inside = 0, outside = 0;  ///< seconds of launch functions by their events and by the clock outside
    std::size_t charged = 0;         ///< batches whose time is that of the clock outside
  };
  /// Timed calls of a shape, one in each slot from `first` on.
  struct Batch {
    std::size_t shape = 0, first = 0;
    bool shared = false;  ///< verified calls may be given what other processes have been shown
    std::uint64_t poison = 0;
    std::vector<InputSetPointer> sets{};  ///< of each call
    std::vector<std::size_t> verified{};  ///< calls whose outputs the referee will look at
    std::size_t first_sights = 0;         ///< calls, the first ones, whose inputs no other call had
  };
  /// What a batch of calls that launch nothing takes by the controller's clock, from the command until the
  /// outputs that are to be verified are handed over. Measured before the candidate is loaded.
  struct EmptyBatch {
    double fixed = 0, call = 0;            ///< seconds; of each call
    double collecting = 0, collected = 0;  ///< of handing over outputs at all, and those of each call
    bool disturbed = false;                ///< load may have made them longer
    [[nodiscard]] double seconds(std::size_t calls, std::size_t verified) const noexcept {
      return fixed + call * static_cast<double>(calls) + (verified > 0 ? collecting : 0.0) +
             collected * static_cast<double>(verified);
    }
  };

  struct SampleTimer;
  struct PairTimer;

  /// Has a process that `candidates` can be checked in: the next one, where they take turns.
  void start(std::size_t candidates = 1);
  /// A process with the evaluator's kernels loaded, which no candidate has run in.
  [[nodiscard]] Process started();
  /// The sandbox of a process that candidates run in: where their code runs on the host.
  [[nodiscard]] Sandbox in_worker(Sandbox chosen) const noexcept;
  /// Ends it, and what the referee has of it.
  void end(Process& process);
  /// Numbers and gives room for what the shapes at hand need.
  void number_shapes();
  /// How many processes the candidates of a search should take turns in, from what the reference costs.
  [[nodiscard]] std::size_t processes_wanted();
  /// Begins to start these, while candidates run in the first one.
  void start_others();
  /// Takes those that are ready; `no_more`: has no further ones started.
  void take_started(bool no_more);
  /// Whether timed calls of a shape are given contents that other processes have been shown.
  [[nodiscard]] bool shares(const Subject& subject, std::size_t shape);
  std::optional<Fault> admit(const GpuArtifact& artifact, ModuleId module, Subject& subject,
                             Features& features);
  void dismiss(Subject& subject, const GpuArtifact& artifact);
  std::optional<Fault> check(Subject& subject, Features& features, std::optional<double> incumbent);
  std::optional<Fault> check_shape(Subject& subject, std::size_t shape, std::vector<InputSetPointer> sets,
                                   std::optional<double> incumbent, std::size_t& differing);
  std::optional<Fault> measure(Subject& subject, Measurement& measurement, Features& features,
                               const EvaluationContext& context);
  std::optional<Fault> batch(Subject& subject, std::size_t shape, std::size_t count, Depth depth,
                             std::vector<double>& samples);
  /// A batch of a launch function, whose time is taken from outside as well.
  std::optional<Fault> launched_batch(Subject& subject, std::size_t shape, std::size_t count, Depth depth,
                                      std::vector<double>& samples);
  std::optional<Fault> pairs(Subject& subject, Subject& other, const PairOptions& limits, bool both,
                             Speedup& speedup, Measurement* measurement);
  std::optional<Fault> pair_batch(Subject& subject, Subject& other, std::size_t shape, std::size_t count,
                                  bool both, PairedTimes& times);
  /// Pairs of launch functions: rounds of fresh processes, one for each side, of which one lives at a time.
  std::optional<Fault> pairs_apart(const GpuArtifact& candidate, const GpuArtifact& champion,
                                   const PairOptions& limits, bool both, Speedup& speedup,
                                   Measurement* measurement);
  /// One side of a round: times of `count` calls of each timed shape.
  std::optional<Fault> alone(const GpuArtifact& artifact, std::size_t count, bool checked,
                             std::vector<std::vector<double>>& samples);

  /// Draws what the calls of a batch are given; their slots are ready then.
  std::optional<Fault> draw(std::size_t shape, std::size_t count, bool shared, Batch& batch);
  /// Chooses which of these calls of a batch are to be verified.
  std::optional<Fault> choose_verified(ShapeState& state, Depth depth, std::vector<std::size_t> calls,
                                       Batch& batch);
  /// One timed call with everything before and after it.
  void timed_call(std::vector<Action>& actions, const Subject& subject, const Batch& batch, std::size_t call);
  /// Runs a batch of one subject and reads what its calls left.
  std::optional<Fault> run_batch(Subject& subject, const Batch& batch, std::vector<double>& seconds,
                                 std::vector<std::uint64_t>& results);
  /// Takes the clock's times of calls in place of their events' where these do not agree, and counts that.
  void settle_times(Subject& subject, std::vector<double>& seconds, const std::vector<double>& outside) const;
  /// Has the chosen calls wait for the referee.
  void remember(const Batch& batch, const std::vector<std::uint64_t>& results, const ShapeState& state);
  std::optional<Fault> calibrate();

  /// Slots are sets of a shape's arrays; they stay over candidates.
  [[nodiscard]] std::size_t slots(std::size_t shape);
  std::optional<Fault> reserve(std::size_t shape, std::size_t count);
  /// Writes the zones around a slot's arrays, and around those of all slots.
  void guard(std::vector<Action>& actions, std::size_t shape, std::size_t slot) const;
  std::optional<Fault> guard_all();
  [[nodiscard]] BufferId slot_buffer(std::size_t shape, std::size_t slot, std::size_t argument) const;
  [[nodiscard]] ProgramId program_of(ModuleId module, std::size_t shape) const;
  void fill(std::vector<Action>& actions, const Subject& subject, std::size_t slot, const InputSet& set,
            std::uint64_t poison);
  /// The same without workspaces, which timed calls find as an earlier one left them.
  void fill_arrays(std::vector<Action>& actions, std::size_t slot, const InputSet& set, std::uint64_t poison);
  /// Has the worker hold what is made of the inputs of a set, in buffers of their own, which `fill` copies.
  std::optional<Fault> hold_made(std::size_t shape, std::uint64_t seed, InputFlavour flavour);
  void forget_made();
  /// Has it hold new sets for the calls of a batch in place of those of the batch before: as many as there
  /// are calls, or as can be made in a twentieth of a second, at least one. `seeds` are theirs.
  std::optional<Fault> hold_new(std::size_t shape, std::size_t count, std::vector<std::uint64_t>& seeds);
  void forget_timed();
  void fill_output(std::vector<Action>& actions, std::size_t shape, std::size_t slot, std::size_t argument,
                   std::uint64_t poison) const;
  void call(std::vector<Action>& actions, const Subject& subject, std::size_t shape, std::size_t slot,
            bool timed) const;
  void prepare(std::vector<Action>& actions, std::size_t shape, std::size_t slot) const;
  void inspect(std::vector<Action>& actions, const Subject& subject, std::size_t shape, std::size_t slot,
               std::uint64_t poison) const;
  /// Reads what `fill` and `inspect` asked for, from `values` at `at` on.
  std::optional<Fault> judged(const Subject& subject, const std::vector<std::uint64_t>& values,
                              std::size_t& at, std::size_t shape, std::size_t slot, std::uint64_t& result);
  /// The buffer of an array: the workspace of the subject's own, or that of the slot.
  [[nodiscard]] BufferId buffer_of(const Subject& subject, std::size_t shape, std::size_t slot,
                                   std::size_t argument) const;
  /// Where it wrote around an array, looked up now.
  Overrun overrun_of(const Subject& subject, std::size_t shape, std::size_t slot, std::size_t argument);
  /// Whether an output is part of what a result is known again by. One that is not checked could be different
  /// every time, so that nothing would be.
  [[nodiscard]] bool is_told_by_hash(std::size_t argument, const PlannedArgument& planned) const;
  [[nodiscard]] std::size_t inputs(std::size_t shape) const;
  /// What other processes did with the device in the seconds before now, looked at once a second.
  /// The energy by the device's counter, where an objective asks for it.
  std::optional<Fault> meter(Subject& subject, const Measurement& measurement, Features& features,
                             const EvaluationContext& context);
  void set_load(Features& features, double measured_seconds);
  /// A call that was made on a slot with known contents.
  struct Called {
    InputSetPointer set;
    std::size_t slot = 0;
    std::uint64_t result = 0;  ///< hash of its outputs just after it
    bool timed = false;
    bool repeats = false;  ///< its result is that of an earlier call
    bool says = false;     ///< its metrics are the candidate's
  };
  /// Has the referee look at the calls that wait for it. They wait because a device that goes back and forth
  /// between two processes for every call does little else.
  std::optional<Fault> verify_pending();
  /// Hands over the outputs of those of `calls` from `begin` on that fit the shared memory, `samples` then.
  std::optional<Fault> collect(const std::vector<Called>& calls, std::size_t begin,
                               std::vector<Referee::OutputSample>& samples);
  /// Has the referee solve what is not, and compare.
  std::optional<Fault> settle(const std::vector<Called>& calls, std::size_t begin,
                              const std::vector<Referee::OutputSample>& samples);
  /// Slots of a shape from which on `count` are free; makes room by verifying.
  std::optional<Fault> make_room(std::size_t shape, std::size_t count, std::size_t& first);
  std::optional<Fault> send(std::vector<Action> actions, double seconds, Act::Reply& done);
  [[nodiscard]] Fault fault_of(const WorkerError& error);
  [[nodiscard]] bool only_timed_shape() const;
  [[nodiscard]] double floor_seconds(std::size_t shape) const;
  [[nodiscard]] bool timed(std::size_t shape) const { return problem_.shapes[shape].weight > 0; }

  const Problem& problem_;
  const GpuOptions& options_;
  GpuDevice device_;
  int ordinal_;
  BuilderPool& builders_;
  std::vector<ShapePlan> plans_;                 ///< per shape, of everything but workspaces
  std::vector<std::vector<Argument>> at_shape_;  ///< per shape: the arguments with their numbers for it
  MadeInputs made_;
  Arena shared_;
  Referee referee_;
  Metrics metrics_;
  Process now_;                  ///< runs the candidate at hand
  std::deque<Process> waiting_;  ///< wait for their turn
  std::vector<Process> spare_;   ///< no candidate has run in them
  std::unique_ptr<HiddenShapeCheck> hidden_;
  std::unique_ptr<Nvml> nvml_;
  std::optional<OtherProcesses> others_;  ///< on the device
  double others_seen_ = 0;                ///< when they were looked at
  IdSource<BufferId> buffer_ids_;
  IdSource<ProgramId> program_ids_;
  std::vector<std::vector<BufferId>> slot_buffers_;  ///< of each shape: each argument of each slot
  std::map<std::pair<ModuleId, std::size_t>, ProgramId> programs_;  ///< of each shape
  std::vector<Called> pending_;                                     ///< calls that the referee has not seen
  std::vector<std::size_t> held_;    ///< slots of each shape that hold their outputs
  const bool launches_;              ///< launch functions, which share the worker's process
  std::vector<EmptyBatch> empty_;    ///< of each shape, where candidates are launch functions
  std::size_t verified_ = 0;         ///< timed calls that were right
  double referee_seconds_ = 0;       ///< that the referee took, since the process began
  std::optional<bool> baseline_ok_;  ///< once it was checked
  std::uint64_t memory_ = 0;         ///< free bytes of the device when the first process was started
  std::size_t wanted_ = 1;           ///< processes that take turns, once they are started
  std::atomic<double> busy_{0};
  Rng rng_{secret_seed()};
  std::mutex ready_mutex_;
  std::vector<Process> ready_;  ///< started, and not taken yet
  std::jthread starter_;        ///< the last member: it uses the others
};

}  // namespace kernelsearch::detail::gpu
