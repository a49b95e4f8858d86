// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/move.hpp"
#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/policy/method_choice.hpp"
#include "kernelsearch/policy/search_policy.hpp"
#include "kernelsearch/policy/search_tree.hpp"
#include "kernelsearch/policy/skill_iteration.hpp"
#include "kernelsearch/policy/skill_journal.hpp"

namespace kernelsearch {

/// Which decisions are made as the skill's published scripts make them, instead of as the post describes them
/// and we made them safer (docs/systems/cuda_skill_v2.md).
struct SkillScripts {
  bool gaps = false;      ///< roofline_gaps_as_published
  bool budget = false;    ///< axis_budget_as_published: the slots are always as many as the total
  bool rewrites = false;  ///< where no branch is right, all of them are asked for again
  /// Two times of different moments are compared with `noise` alone: nothing is paired, no interval counts. A
  /// missing ablation says that the method did not contribute, one that is not right that it did; no trace is
  /// shared; a champion that gains no more than the noise is given up, and an ablated kernel always.
  bool filing = false;
};

/// The numbers are CUDA optimisation skill V2's own (post 1.3 to 2.2; its published scripts), unless said.
struct RooflineBudgetOptions {
  std::vector<Method> methods = {};  ///< none: the generator chooses, and nothing is ablated
  MethodDevice device = {};
  std::size_t iterations = 3;
  std::size_t branches = 4;
  std::size_t rewrites = 3;  ///< attempts to repair an iteration of which no branch is right
  double noise = 0.02;       ///< least relative difference that counts; more where the times spread more
  double near = 0.15;        ///< gaps below it do not count, for the early stop
  std::size_t pairs = 0;     ///< ours: pairs of methods that are taken out together, to see interactions
  AxisBudgetOptions budget = {};
  MethodLimits limits = {};
  /// Ours (post 2.4 only says that it may be done): an iteration that brought nothing is followed by one from
  /// the best kernel of the frontier that has not been started from.
  bool from_frontier = false;
  SkillScripts as_published = {};
  std::shared_ptr<SkillJournal> journal = nullptr;  ///< is told how far the search is, for generators
  std::uint64_t seed = 0;  ///< nothing here is drawn; kept so that all policies are made alike
};

/// The search of CUDA optimisation skill V2: the gaps of the best kernel's roofline say on which axes methods
/// are spent, four checks which methods; one iteration tries them together in several implementations
/// (branches), takes the fastest right one as its champion, takes each method out of it again (ablations),
/// and files each as effective, ineffective or implementation failed, by what its absence costs and by its
/// traces in the machine code. Where no branch has code because a method was judged not to apply, the
/// iteration is begun anew without that method, and counts for nothing. What an outage left without an answer
/// (`Evaluation::unanswered`) is asked for again, and does not count as an attempt. Profile,
/// machine code, traits and paired times are features of outcomes (docs/systems/cuda_skill_v2.md).
///
/// What the machine code shows is decided by the ablation where that is known, for the parent differs by all
/// methods of the iteration. Methods that leave one trace and are told apart by nothing are filed as coupled.
///
/// Departures: unknown is never a gap and never evidence; an ablated kernel that is faster than the champion
/// is what the next iteration starts from; what helps only in a kernel that is given up stays open.
class RooflineBudget {
 public:
  using Proposal = Move;

  explicit RooflineBudget(RooflineBudgetOptions options = {});

  std::vector<Move> ask(std::size_t n);
  void tell(std::span<const Observation<Move>> batch);

  [[nodiscard]] const std::vector<SkillIteration>& iterations() const noexcept { return iterations_; }
  [[nodiscard]] const SkillEnding& ending() const noexcept { return ending_; }
  /// Right branches that were not champions, of all iterations, the fastest first.
  [[nodiscard]] std::vector<FrontierKernel> frontier() const;
  /// What is known of each method, by its place.
  [[nodiscard]] const std::vector<MethodRecord>& record() const noexcept { return record_; }
  [[nodiscard]] const SearchTree& tree() const noexcept { return tree_; }
  [[nodiscard]] const RooflineBudgetOptions& options() const noexcept { return options_; }
  /// The kernel that the present iteration, or the next, starts from.
  [[nodiscard]] std::optional<TrialId> champion() const;
  /// The methods whose moves led to this trial and were not taken out again, by place, ascending.
  [[nodiscard]] std::vector<std::size_t> applied(TrialId id) const;

 private:
  enum class Role : std::uint8_t { root, branch, ablation };
  struct Proposed {
    std::size_t iteration = 0;
    Role role = Role::root;
    std::uint32_t left = 1;
    bool begun = false;
  };

  void plan(Move move, Role role);
  void settle(const Observation<Move>& observation);
  void advance();
  void begin_iteration();
  [[nodiscard]] std::optional<std::size_t> frontier_start() const;
  [[nodiscard]] bool assess(SkillIteration& next, std::size_t start);
  bool mend_root();
  bool mend(SkillIteration& now);
  bool rule_out(const SkillIteration& now);
  void choose_champion(SkillIteration& now) const;
  void plan_ablations(SkillIteration& now);
  void close(SkillIteration& now);
  void adopt(const SkillIteration& now);
  [[nodiscard]] SkillStatus status_of(const SkillIteration& now) const;
  [[nodiscard]] Contribution contributed(const MethodVerdict& verdict, const SkillIteration& now) const;
  [[nodiscard]] Evidence ablation_evidence(const SkillIteration& now, std::size_t method) const;
  [[nodiscard]] std::vector<std::size_t> not_told_apart(const SkillIteration& now, std::size_t method) const;
  [[nodiscard]] MethodVerdict judge(const SkillIteration& now, std::size_t method) const;
  void finish(SkillEnd reason, std::string words, const SkillIteration& at);
  [[nodiscard]] const Outcome& outcome(TrialId id) const { return outcomes_[*tree_.find(id)]; }
  [[nodiscard]] double noise(const Attribution& of, const SkillIteration& now) const;
  [[nodiscard]] Attribution gain(const Outcome& start, const Outcome& made) const;
  [[nodiscard]] std::optional<std::size_t> place(std::string_view id) const;

  RooflineBudgetOptions options_;
  SearchTree tree_;
  std::vector<Outcome> outcomes_;  ///< by node, without samples
  std::vector<Proposed> proposals_;
  std::deque<std::pair<Move, Role>> queue_;
  std::vector<Move> planned_;  ///< all that was ever queued: tries of the same are numbered
  std::size_t outstanding_ = 0;
  std::vector<SkillIteration> iterations_;
  std::vector<MethodRecord> record_;
  /// By node and method: why the method does not apply to that kernel.
  std::map<std::pair<std::size_t, std::size_t>, std::string> ruled_out_;
  std::size_t root_rewrites_ = 0;
  std::optional<std::size_t> champion_;
  SkillEnding ending_;
};

static_assert(SearchPolicy<RooflineBudget>);

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/roofline_budget_impl.hpp"
#  include "kernelsearch/policy/impl/roofline_budget_verdicts_impl.hpp"
#endif
