// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evaluator/gpu/builder_pool.hpp"
#include "evaluator/gpu/call_plan.hpp"
#include "evaluator/gpu/gpu_worker.hpp"
#include "evaluator/host/worker_client.hpp"
#include "kernelsearch/core/rng.hpp"

namespace kernelsearch::detail::gpu {

/// Inputs of one shape, known by their seed, whose right outputs the referee holds.
struct SolvedSet {
  std::size_t shape = 0;
  std::uint64_t seed = 0;
  InputFlavour flavour = InputFlavour::declared;
  std::vector<std::uint32_t> expected, slack;  ///< buffers per argument; 0: none
};

/// Computes what is right in double precision, in a process and device context of its own, and compares
/// candidates' outputs there: expected results are never where a candidate runs. Not thread-safe.
class Referee {
 public:
  /// `shapes`: the plan of each shape at the default configuration; must outlive this.
  Referee(const Problem& problem, const std::vector<ShapePlan>& shapes, const GpuOptions& options,
          const GpuDevice& device, int ordinal, BuilderPool& builders, const Arena& shared);

  /// The sets that a candidate is checked on: `count` drawn as declared, then edge and ill-conditioned ones
  /// where the arguments and the cost of the reference allow. New ones while the reference is cheap.
  [[nodiscard]] std::vector<std::shared_ptr<const SolvedSet>> for_check(std::size_t shape);
  /// A set of declared contents that was not among those of the last `for_check`.
  [[nodiscard]] std::shared_ptr<const SolvedSet> for_timing(std::size_t shape);

  /// Where an output of a candidate lies: in shared memory at `offset`, or in a buffer that was lent.
  struct Place {
    std::uint64_t offset = 0;
    std::uint32_t lent = 0;  ///< a number of `lend`; 0: in shared memory
  };
  /// Outputs of a call on `set`, at these places (per argument).
  struct Claim {
    std::shared_ptr<const SolvedSet> set;
    std::vector<Place> places;
  };
  /// The first claim that is wrong, by its place, and what is wrong with it.
  struct Objection {
    std::size_t claim = 0;
    Fault fault;
  };
  [[nodiscard]] std::optional<Objection> compare(const std::vector<Claim>& claims);

  /// Takes a candidate's buffer on loan; 0 where the devices or drivers cannot share memory between
  /// processes.
  [[nodiscard]] std::uint32_t lend(GpuWorker& owner, std::uint32_t buffer, std::uint64_t bytes);
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
  std::uint32_t buffer(std::uint64_t bytes);
  std::uint32_t scratch(std::size_t use, std::size_t shape, std::size_t argument, std::uint64_t bytes);
  void drop(const SolvedSet& set);
  void run(std::size_t shape, bool wide, std::uint64_t seed, InputFlavour flavour, bool magnitudes,
           const std::vector<std::uint32_t>& outputs);
  /// Says of output `a` how many elements are wrong and what stands at the first; `value` reads one of its
  /// elements.
  std::string mismatch_text(const SolvedSet& set, const ShapePlan& plan, std::size_t a, std::uint64_t wrong,
                            std::uint64_t index, Action value);
  [[nodiscard]] ElementType stored(const Argument& argument, bool wide) const noexcept;

  const Problem& problem_;
  const std::vector<ShapePlan>& shapes_;
  const GpuOptions& options_;
  GpuDevice device_;
  int ordinal_;
  BuilderPool& builders_;
  const Arena& shared_;
  std::unique_ptr<GpuWorker> worker_;
  std::uint32_t next_buffer_ = 1;
  std::map<std::uint64_t, std::vector<std::uint32_t>> free_;  ///< buffers by size, to be used again
  std::map<std::uint32_t, std::uint64_t> sizes_;
  std::map<std::uint32_t, std::uint32_t> loans_;  ///< the owner's number, ours
  bool loans_work_ = true;
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, std::pair<std::uint32_t, std::uint64_t>>
      scratch_;
  std::map<std::pair<std::size_t, bool>, CallPlan> plans_;  // shape, wide
  std::map<std::pair<std::size_t, int>, std::vector<Set>> pool_;
  std::map<std::size_t, double> cost_;
  std::map<std::size_t, std::vector<Set>> last_checked_;  ///< on each shape
  std::map<std::size_t, std::uint64_t> turns_;            ///< candidates checked on each shape
  Rng rng_{secret_seed()};
};

}  // namespace kernelsearch::detail::gpu
