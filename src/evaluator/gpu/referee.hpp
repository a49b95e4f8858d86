// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "evaluator/gpu/builder_pool.hpp"
#include "evaluator/gpu/call_plan.hpp"
#include "evaluator/gpu/gpu_worker.hpp"
#include "evaluator/gpu/made_inputs.hpp"
#include "evaluator/host/worker_client.hpp"
#include "kernelsearch/core/rng.hpp"

namespace kernelsearch::detail::gpu {

/// Inputs of one shape, known by their seed, whose right outputs the referee holds.
struct SolvedSet {
  std::size_t shape = 0;
  std::uint64_t seed = 0;
  InputFlavour flavour = InputFlavour::declared;
  std::vector<std::optional<BufferId>> expected, slack;  ///< of each argument that has them
};

/// Computes what is right in double precision, in a process and device context of its own, and compares
/// candidates' outputs there: expected results are never where a candidate runs. Not thread-safe.
class Referee {
 public:
  /// `shapes`: the plan of each shape at the default configuration; `arguments`: of each shape the arguments
  /// with their numbers for it. Both, and `made`, must outlive this.
  Referee(const Problem& problem, const std::vector<ShapePlan>& shapes,
          const std::vector<std::vector<Argument>>& arguments, MadeInputs& made, const GpuOptions& options,
          const GpuDevice& device, int ordinal, BuilderPool& builders, const Arena& shared);

  /// The sets that a candidate is checked on: `count` drawn as declared, then edge and ill-conditioned ones
  /// where the arguments and the cost of the reference allow. New ones while the reference is cheap.
  [[nodiscard]] std::vector<std::shared_ptr<const SolvedSet>> for_check(std::size_t shape);
  /// A set of declared contents that was not among those of the last `for_check`.
  [[nodiscard]] std::shared_ptr<const SolvedSet> for_timing(std::size_t shape);

  /// Where an output of a candidate lies: in shared memory at `offset`, or in a buffer that was lent.
  struct Place {
    std::uint64_t offset = 0;
    std::optional<BufferId> lent;  ///< of `lend`
  };
  /// Outputs of a call on `set`, at these places (per argument).
  struct OutputSample {
    std::shared_ptr<const SolvedSet> set;
    std::vector<Place> places;
  };
  /// The first sample that is wrong, by its place, and what is wrong with it.
  struct Mismatch {
    std::size_t sample = 0;
    Fault fault;
  };
  [[nodiscard]] std::optional<Mismatch> compare(const std::vector<OutputSample>& samples);

  /// Takes a candidate's buffer on loan; nothing where the devices or drivers cannot share memory between
  /// processes.
  [[nodiscard]] std::optional<BufferId> lend(GpuWorker& owner, BufferId buffer, std::uint64_t bytes);
  /// The owner of everything on loan has ended.
  void give_back();

  /// Starts its process, if none is there.
  void prepare() { start(); }
  /// Forgets every set: the next ones are new.
  void forget();

 private:
  using Set = std::shared_ptr<SolvedSet>;
  void start();
  /// Raises what a failure means: the problem's author can mend what the reference does, and nothing else.
  enum class Blame { reference, referee };
  void demand(const std::optional<WorkerError>& error, const char* doing, Blame blame = Blame::referee);
  [[nodiscard]] bool independent() const noexcept { return !problem_.reference.source.empty(); }
  Set solve(std::size_t shape, InputFlavour flavour);
  BufferId buffer(std::uint64_t bytes);
  BufferId scratch(std::size_t use, std::size_t shape, std::size_t argument, std::uint64_t bytes);
  void drop(const SolvedSet& set);
  void run(std::size_t shape, bool wide, std::uint64_t seed, InputFlavour flavour, bool magnitudes,
           const std::vector<std::optional<BufferId>>& outputs);
  /// Says of output `a`, which is in `got`, how many elements are wrong and what stands at the first.
  std::string mismatch_text(const SolvedSet& set, const ShapePlan& plan, std::size_t a, const Column& column,
                            BufferId got, std::uint64_t wrong, std::uint64_t index);
  /// The reference's outputs in the kernel's own precision and types, whose bits a problem may ask for.
  void solve_exactly(SolvedSet& set);
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
  std::unique_ptr<GpuWorker> worker_;
  IdSource<BufferId> buffer_ids_;
  IdSource<ProgramId> program_ids_;
  std::map<std::uint64_t, std::vector<BufferId>> free_;  ///< buffers by size, to be used again
  std::map<BufferId, std::uint64_t> sizes_;
  std::map<BufferId, BufferId> loans_;  ///< the owner's number, ours
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
  std::map<std::pair<std::size_t, int>, std::vector<Set>> pool_;
  std::map<std::size_t, double> cost_;
  std::map<std::size_t, std::vector<Set>> last_checked_;  ///< on each shape
  std::map<std::size_t, std::uint64_t> turns_;            ///< candidates checked on each shape
  Rng rng_{secret_seed()};
};

}  // namespace kernelsearch::detail::gpu
