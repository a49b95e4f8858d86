// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "evaluator/gpu/builder_pool.hpp"
#include "evaluator/gpu/call_plan.hpp"
#include "evaluator/gpu/gpu_worker_client.hpp"
#include "evaluator/gpu/made_inputs.hpp"
#include "judge/worker_client.hpp"
#include "kernelsearch/core/rng.hpp"

namespace kernelsearch::detail::gpu {

/// Inputs of one shape. Once it is solved the referee holds their right outputs.
struct InputSet {
  std::size_t shape = 0;
  std::uint64_t seed = 0, made_seed = 0;  ///< of what is drawn on the device; of what the controller makes
  InputFlavour flavour = InputFlavour::declared;
  std::vector<std::optional<BufferId>> expected, slack;  ///< of each argument that has them

  [[nodiscard]] bool solved() const noexcept { return !expected.empty(); }
};
using InputSetPointer = std::shared_ptr<InputSet>;

/// Computes what is right in double precision, in a process and device context of its own, and compares
/// candidates' outputs there: expected results are never where a candidate runs. Not thread-safe.
class Referee {
 public:
  /// `shapes`: the plan of each shape at the default configuration; `arguments`: of each shape the arguments
  /// with their numbers for it. Both, and `made`, must outlive this.
  Referee(const Problem& problem, const std::vector<ShapePlan>& shapes,
          const std::vector<std::vector<Argument>>& arguments, MadeInputs& made, const GpuOptions& options,
          const GpuDevice& device, int ordinal, BuilderPool& builders, const Arena& shared);

  /// The number of a process that has been shown nothing yet. It runs the candidates from now on.
  std::uint64_t new_process() noexcept { return process_ = ++processes_; }
  /// From now on this one runs the candidates.
  void use_process(std::uint64_t number) noexcept { process_ = number; }
  /// Sets that are quickly solved are kept until that many processes have been shown them; 1: they are shown
  /// once. Dear ones are shown to every process.
  void share_among(std::size_t processes) noexcept { sharers_ = processes; }
  /// Whether `candidates` can be checked on sets that the process has not been shown and that are there, or
  /// are solved faster than another process is started.
  [[nodiscard]] bool has_unseen(std::size_t candidates) const;

  /// How many sets a check of this shape has: drawn as declared, then edge and ill-conditioned ones where the
  /// arguments and the cost of the reference allow.
  [[nodiscard]] std::size_t sets_of_check(std::size_t shape);
  /// Which of the sets of a check are wanted: those from `begin` to before `end`.
  struct Wanted {
    std::size_t shape = 0, begin = 0, end = 0;
  };
  /// Solved ones for each entry; no process is shown one of them twice. `fresh`: that nobody has been shown,
  /// nor will be, unless they are expensive.
  [[nodiscard]] std::vector<std::vector<InputSetPointer>> for_check(const std::vector<Wanted>& wanted,
                                                                    bool fresh);
  /// A solved set that the process has not been shown, of a shape whose reference is expensive; nothing where
  /// there is none left.
  [[nodiscard]] InputSetPointer for_timing(std::size_t shape);
  /// A set with these inputs, to be solved when it is known which calls are to be verified.
  [[nodiscard]] InputSetPointer unsolved(std::size_t shape, std::uint64_t seed, std::uint64_t made_seed);
  /// In place of an unsolved set one that other processes have been shown, and this one has not; where there
  /// is none, the set itself, which they will be shown. Not of expensive shapes.
  [[nodiscard]] InputSetPointer shared(InputSetPointer unsolved);
  /// Solves those that are not.
  void solve(const std::vector<InputSetPointer>& sets);
  /// Seconds that the reference runs for one check of a shape if all of its sets are new.
  [[nodiscard]] double cost_of_check(std::size_t shape);
  /// Seconds of one run of the reference on a shape.
  [[nodiscard]] double cost(std::size_t shape);
  /// The same where it ran already, else 0.
  [[nodiscard]] double known_cost(std::size_t shape) const {
    const auto known = cost_.find(shape);
    return known == cost_.end() ? 0.0 : known->second;
  }
  /// Whether sets of a shape are too expensive to be drawn anew for every candidate.
  [[nodiscard]] bool is_dear(std::size_t shape) { return cost(shape) > dear_seconds; }

  /// Where an output of a candidate lies: in shared memory at `offset`, or in a buffer that was lent.
  struct Place {
    std::uint64_t offset = 0;
    std::optional<BufferId> lent;  ///< of `lend`
  };
  /// Outputs of a call on `set`, at these places (per argument).
  struct OutputSample {
    InputSetPointer set;
    std::vector<Place> places;
  };
  /// The first sample that is wrong, by its place, and what is wrong with it.
  struct Mismatch {
    std::size_t sample = 0;
    Fault fault;
  };
  /// Takes over the outputs that lie in shared memory; those that were lent stay where they are.
  void receive(const std::vector<OutputSample>& samples);
  /// Solves the sets that are not, and compares what was received, or lent, in one command. A quickly solved
  /// set whose values the fault tells is not kept.
  [[nodiscard]] std::optional<Mismatch> judge(const std::vector<OutputSample>& samples);

  /// The first element of an output of samples that were judged.
  [[nodiscard]] double number(const std::vector<OutputSample>& samples, std::size_t sample,
                              std::size_t argument);

  /// Takes a candidate's buffer on loan; nothing where the devices or drivers cannot share memory between
  /// processes.
  [[nodiscard]] std::optional<BufferId> lend(GpuWorkerClient& owner, BufferId buffer, std::uint64_t bytes);
  /// What this process has lent is no more.
  void give_back(std::uint64_t process);

  /// Starts its process, if none is there.
  void prepare() { start(); }
  [[nodiscard]] pid_t pid() const noexcept { return worker_ ? worker_->pid() : 0; }
  /// Forgets every set, so that the next ones are new.
  void forget();
  /// The shapes are others than before: forgets everything about them.
  void take_shapes();

 private:
  /// A set that is kept, and the processes that it was shown to.
  struct Kept {
    InputSetPointer set;
    std::vector<std::uint64_t> shown;
    [[nodiscard]] bool shown_to(std::uint64_t process) const noexcept {
      return std::find(shown.begin(), shown.end(), process) != shown.end();
    }
  };
  /// What is to be done by its process in one go, and what the reply to it means.
  struct Work {
    std::vector<Action> actions;
    std::vector<std::optional<std::size_t>> timed;  ///< of each timed call the shape whose cost it says
    struct Unwritten {
      std::size_t shape, argument;
      std::uint64_t allowed;
    };
    std::vector<Unwritten> unwritten;  ///< what each value counts
  };
  /// Dearer ones are kept and taken again by the next process: to start one takes some 0.4 s on an H200, and
  /// a candidate is shown up to ten runs of the reference on each shape.
  static constexpr double dear_seconds = 0.02;

  void start();
  /// Raises what a failure means: the problem's author can repair what the reference does, and nothing else.
  enum class Blame { reference, referee };
  void demand(const std::optional<WorkerError>& error, const char* doing, Blame blame = Blame::referee);
  [[nodiscard]] bool independent() const noexcept { return !problem_.reference.source.empty(); }
  /// A set that gives back what it has of buffers.
  InputSetPointer new_set(std::size_t shape, InputFlavour flavour);
  InputSetPointer take(std::size_t shape, InputFlavour flavour, bool fresh, Work& work);
  /// One of those that are kept, for the process at hand, which was not shown it; nothing where there is
  /// none. `fresh`: nor was any other.
  InputSetPointer take_kept(std::size_t shape, InputFlavour flavour, bool fresh);
  void keep_shared(const InputSetPointer& set);
  /// How many sets that are quickly solved are kept at a time.
  [[nodiscard]] std::size_t shared_limit(std::size_t shape, InputFlavour flavour) const;
  /// Bytes of expected results and slack of a set.
  [[nodiscard]] std::uint64_t kept_bytes(std::size_t shape, InputFlavour flavour) const;
  /// How many sets of a flavour are kept of a shape whose reference is expensive.
  [[nodiscard]] std::size_t kept_limit(std::size_t shape, InputFlavour flavour) const;
  [[nodiscard]] std::vector<InputFlavour> flavours_of_check(std::size_t shape);
  void solve(InputSet& set, Work& work);
  Act::Reply carry_out(Work& work, const char* doing, Blame blame = Blame::reference);
  BufferId buffer(std::uint64_t bytes);
  /// Where an output of a sample lies for the referee.
  BufferId place_of(const std::vector<OutputSample>& samples, std::size_t sample, std::size_t argument);
  BufferId scratch(std::size_t use, std::size_t shape, std::size_t argument, std::uint64_t bytes);
  void run(const InputSet& set, bool wide, bool magnitudes,
           const std::vector<std::optional<BufferId>>& outputs, Work& work);
  /// Says of output `a`, which is in `got`, how many elements are wrong and what stands at the first.
  std::string mismatch_text(const InputSet& set, const ShapePlan& plan, std::size_t a, const Column& column,
                            BufferId got, std::uint64_t wrong, std::uint64_t index,
                            const Tolerance& tolerance, bool beyond);
  /// The reference's outputs in the kernel's own precision and types, whose bits a problem may ask for.
  void solve_exactly(InputSet& set, Work& work);
  /// What the expected elements of an output are stored as.
  [[nodiscard]] ElementType expected_type(const Argument& argument) const noexcept;
  [[nodiscard]] ElementType stored(const Argument& argument, bool wide) const noexcept;

  const Problem& problem_;
  const std::vector<ShapePlan>& shapes_;
  const std::vector<std::vector<Argument>>& arguments_;  ///< of each shape
  MadeInputs& made_;
  const GpuOptions& options_;
  GpuDevice device_;
  int ordinal_;
  BuilderPool& builders_;
  const Arena& shared_;
  std::unique_ptr<GpuWorkerClient> worker_;
  IdSource<BufferId> buffer_ids_;
  IdSource<ProgramId> program_ids_;
  std::map<std::uint64_t, std::vector<BufferId>> free_;  ///< buffers by size, to be used again
  std::map<BufferId, std::uint64_t> sizes_;
  /// The process and its number of a buffer; ours.
  std::map<std::pair<std::uint64_t, BufferId>, BufferId> loans_;
  bool loans_work_ = true;
  struct Scratch {
    BufferId buffer{};
    std::uint64_t bytes = 0;
  };
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, Scratch> scratch_;
  struct Defined {
    ProgramId id{};
    CallPlan plan;
  };
  std::map<std::pair<std::size_t, bool>, Defined> programs_;  // shape, wide
  std::vector<BuiltLaunch>
      default_launches_;  ///< of the default, where that is the reference and a command built it
  std::map<std::pair<std::size_t, InputFlavour>, std::vector<Kept>> pool_;
  std::map<std::size_t, double> cost_;
  std::uint64_t run_ = 0;                      ///< times that its process was started
  std::uint64_t process_ = 0, processes_ = 0;  ///< of candidates: the one at hand; how many there were
  std::size_t sharers_ = 1;
  std::uint64_t memory_ = 0;  ///< free bytes of the device when it was started
  Rng rng_{secret_seed()};
};

}  // namespace kernelsearch::detail::gpu
