// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <tuple>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/policy/roofline_budget.hpp"

namespace kernelsearch {
namespace detail {

inline std::string gaps_text(const RooflineGaps& gaps) {
  std::string text;
  for (const Axis axis : all_axes) {
    std::array<char, 32> number{};
    if (gaps[axis]) std::snprintf(number.data(), number.size(), "%.2f", *gaps[axis]);
    text += (text.empty() ? "" : ", ") + std::string(to_string(axis)) + ' ' +
            (gaps[axis] ? number.data() : "unknown");
  }
  return text;
}

}  // namespace detail

KERNELSEARCH_INLINE RooflineBudget::RooflineBudget(RooflineBudgetOptions options)
    : options_(std::move(options)), record_(options_.methods.size()) {
  if (options_.branches == 0 || options_.iterations == 0)
    detail::raise<ConfigError>("RooflineBudgetOptions has a count of 0", "branches or iterations",
                               "give at least 1 of each");
  if (!(options_.noise >= 0))
    detail::raise<ConfigError>("RooflineBudgetOptions has no usable noise", std::to_string(options_.noise),
                               "give a share such as 0.02");
  plan(Move{}, Role::root);
}

KERNELSEARCH_INLINE std::vector<Move> RooflineBudget::ask(std::size_t n) {
  std::vector<Move> moves;
  for (; moves.size() < n && !queue_.empty(); queue_.pop_front(), ++outstanding_) {
    auto& [move, role] = queue_.front();
    proposals_.push_back({iterations_.empty() ? 0 : iterations_.size() - 1, role});
    moves.push_back(std::move(move));
  }
  return moves;
}

KERNELSEARCH_INLINE void RooflineBudget::plan(Move move, Role role) {
  move.variant =
      static_cast<std::uint32_t>(std::count_if(planned_.begin(), planned_.end(), [&move](const Move& known) {
        return known.kind == move.kind && known.parents == move.parents &&
               known.strategies == move.strategies;
      }));
  planned_.push_back(move);
  queue_.emplace_back(std::move(move), role);
}

KERNELSEARCH_INLINE std::optional<std::size_t> RooflineBudget::place(std::string_view id) const {
  for (std::size_t i = 0; i < options_.methods.size(); ++i)
    if (options_.methods[i].id == id) return i;
  return std::nullopt;
}

KERNELSEARCH_INLINE std::optional<TrialId> RooflineBudget::champion() const {
  if (!champion_) return std::nullopt;
  return outcomes_[*champion_].id;
}

KERNELSEARCH_INLINE std::vector<std::size_t> RooflineBudget::applied(TrialId id) const {
  const std::optional<std::size_t> at = tree_.find(id);
  if (!at) return {};
  std::vector<std::size_t> result;
  const auto add = [&result](std::size_t method) {
    const auto where = std::lower_bound(result.begin(), result.end(), method);
    if (where == result.end() || *where != method) result.insert(where, method);
  };
  for (const std::size_t parent : tree_.parents(*at))
    for (const std::size_t method : applied(outcomes_[parent].id)) add(method);
  const Move& move = tree_.node(*at).move;
  for (const std::string& name : move.strategies)
    if (const auto method = place(name)) {
      if (move.kind == MoveKind::ablate)
        std::erase(result, *method);
      else
        add(*method);
    }
  return result;
}

KERNELSEARCH_INLINE std::vector<FrontierKernel> RooflineBudget::frontier() const {
  std::vector<FrontierKernel> kernels;
  for (const SkillIteration& one : iterations_) {
    if (!one.champion) continue;
    for (const SkillBranch& branch : one.branches)
      if (branch.verdict == Verdict::ok && branch.id != *one.champion)
        kernels.push_back({one.number, branch.id, branch.move.variant, branch.objective,
                           branch.objective / one.champion_objective - 1, one.choice.taken});
  }
  std::stable_sort(kernels.begin(), kernels.end(), [](const FrontierKernel& a, const FrontierKernel& b) {
    return a.objective < b.objective;
  });
  return kernels;
}

KERNELSEARCH_INLINE void RooflineBudget::tell(std::span<const Observation<Move>> batch) {
  for (const Observation<Move>& observation : batch) {
    const bool fresh = tree_.record(observation).fresh;
    Outcome kept = observation.outcome;
    for (ShapeMeasurement& shape : kept.evaluation.measurement.shapes) shape.samples.clear();
    if (fresh)
      outcomes_.push_back(std::move(kept));
    else
      outcomes_[*tree_.find(observation.outcome.id)] = std::move(kept);
    if (fresh)
      settle(observation);
    else
      for (SkillIteration& one : iterations_) {
        const auto again = [&observation](auto& entry) {
          if (entry.id != observation.outcome.id) return;
          entry.verdict = observation.outcome.evaluation.verdict;
          entry.objective = observation.outcome.objective;
        };
        std::for_each(one.branches.begin(), one.branches.end(), again);
        std::for_each(one.ablations.begin(), one.ablations.end(), again);
      }
    if (ending_.reason == SkillEnd::no_kernel && observation.outcome.ok()) ending_ = {};
    advance();
  }
  if (options_.journal) options_.journal->write(iterations_);
}

KERNELSEARCH_INLINE void RooflineBudget::settle(const Observation<Move>& observation) {
  const Outcome& outcome = observation.outcome;
  if (!outcome.origin || number(outcome.origin->proposal) >= proposals_.size()) {
    if (observation.proposal.kind == MoveKind::root)  // handed in from outside, and not asked for again
      std::erase_if(queue_, [](const auto& queued) { return queued.first.kind == MoveKind::root; });
    return;
  }
  Proposed& proposal = proposals_[number(outcome.origin->proposal)];
  if (!proposal.begun) proposal.left = std::max<std::uint32_t>(outcome.origin->count, 1);
  proposal.begun = true;
  if (proposal.left > 0 && --proposal.left == 0) --outstanding_;
  if (outcome.evaluation.is_unanswered()) return plan(observation.proposal, proposal.role);
  if (proposal.role == Role::root) return;
  SkillIteration& its = iterations_[proposal.iteration];
  const Verdict verdict = outcome.evaluation.verdict;
  if (proposal.role == Role::branch) {
    its.branches.push_back({outcome.id, observation.proposal, verdict, outcome.objective});
    // What does not apply is said once: the other branches would be asked for the same methods.
    if (!options_.as_published.rewrites && rule_out(its))
      std::erase_if(queue_, [](const auto& queued) { return queued.second == Role::branch; });
    return;
  }
  for (SkillAblation& ablation : its.ablations) {
    std::vector<std::string> names;
    for (const std::size_t method : ablation.methods) names.push_back(options_.methods[method].id);
    // Among several kernels made of one proposal the first right one counts.
    if (names != observation.proposal.strategies || ablation.verdict == Verdict::ok) continue;
    ablation.id = outcome.id;
    ablation.verdict = verdict;
    ablation.objective = outcome.objective;
  }
}

KERNELSEARCH_INLINE void RooflineBudget::advance() {
  while (queue_.empty() && outstanding_ == 0 && ending_.reason == SkillEnd::none) {
    if (iterations_.empty() || iterations_.back().phase == SkillPhase::closed) {
      begin_iteration();
      continue;
    }
    SkillIteration& now = iterations_.back();
    if (now.phase == SkillPhase::ablating) {
      close(now);
      continue;
    }
    choose_champion(now);
    if (now.champion)
      plan_ablations(now);
    else if (rule_out(now))
      iterations_.pop_back();
    else if (!mend(now))
      close(now);
  }
}

KERNELSEARCH_INLINE void RooflineBudget::finish(SkillEnd reason, std::string words,
                                                const SkillIteration& at) {
  ending_ = {reason, std::move(words), at.gaps, at.bound};
}

KERNELSEARCH_INLINE std::optional<std::size_t> RooflineBudget::frontier_start() const {
  if (!options_.from_frontier || iterations_.empty()) return std::nullopt;
  if (iterations_.back().status == SkillStatus::improved) return std::nullopt;
  for (const FrontierKernel& kernel : frontier()) {
    const bool begun = std::any_of(iterations_.begin(), iterations_.end(),
                                   [&kernel](const SkillIteration& one) { return one.start == kernel.id; });
    if (!begun && outcome(kernel.id).ok()) return tree_.find(kernel.id);
  }
  return std::nullopt;
}

KERNELSEARCH_INLINE void RooflineBudget::begin_iteration() {
  if (!champion_ || !outcomes_[*champion_].ok()) champion_ = tree_.best();
  if (iterations_.size() >= options_.iterations)
    return finish(SkillEnd::iterations, "all " + std::to_string(options_.iterations) + " iterations are done",
                  {});
  if (!champion_) {
    if (!mend_root()) finish(SkillEnd::no_kernel, "there is no right kernel to start from", {});
    return;
  }
  SkillIteration next;
  next.number = iterations_.size() + 1;
  if (const auto from = frontier_start(); !from || !assess(next, *from))
    if (!assess(next, *champion_)) return;
  ending_ = {};
  Move branch{MoveKind::branch, {next.start}, {}, 0};
  for (const std::size_t method : next.choice.taken) branch.strategies.push_back(options_.methods[method].id);
  iterations_.push_back(std::move(next));
  for (std::size_t k = 0; k < options_.branches; ++k) plan(branch, Role::branch);
  iterations_.back().first_variant = queue_.front().first.variant;
}

KERNELSEARCH_INLINE bool RooflineBudget::assess(SkillIteration& next, std::size_t start) {
  const Outcome& from = outcomes_[start];
  const Features& features = from.evaluation.features;
  next.start = from.id;
  next.start_objective = from.objective;
  next.gaps = options_.as_published.gaps ? roofline_gaps_as_published(features) : roofline_gaps(features);
  next.bound = bound_of(next.gaps, options_.near);
  const std::string gaps = detail::gaps_text(next.gaps);
  if (next.bound == Bound::near_peak) {
    finish(SkillEnd::near_peak, "the kernel is near its limit on all axes: gaps " + gaps, next);
    return false;
  }
  std::vector<MethodRecord> record = record_;
  const std::vector<std::size_t> line = applied(from.id);
  for (std::size_t i = 0; i < record.size(); ++i)
    if (record[i].fate == MethodFate::effective && !std::binary_search(line.begin(), line.end(), i))
      record[i].fate = MethodFate::untried;  // in another line of kernels
  for (std::size_t i = 0; i < record.size(); ++i)
    if (const auto why = ruled_out_.find({start, i}); why != ruled_out_.end())
      record[i] = {MethodFate::not_applicable, record[i].attempts, why->second};
  RooflineGaps left = next.gaps;
  const auto slots_of = options_.as_published.budget ? axis_budget_as_published : axis_budget;
  next.budget = slots_of(left, options_.budget);
  next.degraded = next.bound == Bound::unknown;
  if (next.degraded)
    for (const Axis axis : all_axes) next.budget[axis] = 1;
  if (next.budget.total() == 0) {
    finish(SkillEnd::no_axis, "no axis has a known gap worth a method: gaps " + gaps, next);
    return false;
  }
  next.choice = {};
  for (AxisBudget budget = next.budget; budget.total() > 0; budget = slots_of(left, options_.budget)) {
    MethodChoice choice =
        choose_methods(options_.methods, features, options_.device, budget, record, options_.limits);
    next.choice.decisions.insert(next.choice.decisions.end(), choice.decisions.begin(),
                                 choice.decisions.end());
    if (!choice.taken.empty() || options_.methods.empty()) {
      next.budget = budget;
      next.choice.taken = std::move(choice.taken);
      return true;
    }
    if (next.degraded) break;
    // Axes without any method left give their slots to the others that have a gap.
    for (const Axis axis : all_axes)
      if (budget[axis] > 0) left[axis] = options_.as_published.budget ? std::optional(0.0) : std::nullopt;
  }
  finish(SkillEnd::no_method, "no method is left that suits the kernel: gaps " + gaps, next);
  return false;
}

KERNELSEARCH_INLINE bool RooflineBudget::mend_root() {
  if (root_rewrites_ >= options_.rewrites) return false;
  std::optional<std::size_t> furthest;
  for (std::size_t i = 0; i < tree_.size(); ++i) {
    const TreeNode& node = tree_.node(i);
    if (!node.generated() || node.foreign) continue;
    if (!furthest || node.progress > tree_.node(*furthest).progress) furthest = i;
  }
  if (!furthest) return false;
  ++root_rewrites_;
  plan(Move{MoveKind::debug, {tree_.node(*furthest).id}, {}, 0}, Role::root);
  return true;
}

KERNELSEARCH_INLINE void RooflineBudget::choose_champion(SkillIteration& now) const {
  now.champion.reset();
  for (const SkillBranch& branch : now.branches)
    if (branch.verdict == Verdict::ok && (!now.champion || branch.objective < now.champion_objective)) {
      now.champion = branch.id;
      now.champion_objective = branch.objective;
    }
}

/// Notes which methods do not apply to the kernel that the iteration starts from; false where it goes on all
/// the same, because there is code, or nothing of the kind was said.
KERNELSEARCH_INLINE bool RooflineBudget::rule_out(const SkillIteration& now) {
  bool any = false;
  for (const SkillBranch& branch : now.branches)
    if (has_candidate(branch.verdict)) return false;
  for (const SkillBranch& branch : now.branches) {
    if (branch.verdict != Verdict::not_applicable) continue;
    // With several methods the reason begins with the name of the one that is meant; else it is all of them.
    const std::string& reason = outcome(branch.id).evaluation.reason;
    std::vector<std::size_t> meant;
    for (const std::size_t method : now.choice.taken)
      if (reason.starts_with(options_.methods[method].id + ": ")) meant.push_back(method);
    for (const std::size_t method : meant.empty() ? now.choice.taken : meant) {
      ruled_out_.try_emplace({*tree_.find(now.start), method}, reason);
      any = true;
    }
  }
  return any;
}

KERNELSEARCH_INLINE bool RooflineBudget::mend(SkillIteration& now) {
  if (now.retries >= options_.rewrites) return false;
  ++now.retries;
  now.phase = SkillPhase::mending;
  const auto ask_again = [&](std::size_t count) {
    Move again{MoveKind::branch, {now.start}, {}, 0};
    for (const std::size_t method : now.choice.taken) again.strategies.push_back(options_.methods[method].id);
    for (std::size_t k = 0; k < count; ++k) plan(again, Role::branch);
  };
  if (options_.as_published.rewrites) {
    ask_again(options_.branches);
    return true;
  }
  const auto tries = [this](TrialId id) {
    return std::count_if(planned_.begin(), planned_.end(), [id](const Move& move) {
      return move.kind == MoveKind::debug && move.parents.front() == id;
    });
  };
  const SkillBranch* furthest = nullptr;
  const auto better = [&](const SkillBranch& a, const SkillBranch& b) {
    return std::tuple(-outcome(a.id).evaluation.progress, tries(a.id)) <
           std::tuple(-outcome(b.id).evaluation.progress, tries(b.id));
  };
  for (const SkillBranch& branch : now.branches)
    if (has_candidate(branch.verdict) && (furthest == nullptr || better(branch, *furthest)))
      furthest = &branch;
  if (furthest != nullptr) {
    plan(Move{MoveKind::debug, {furthest->id}, {}, 0}, Role::branch);
    return true;
  }
  ask_again(1);  // not one of them is code: there is nothing to repair
  return true;
}

KERNELSEARCH_INLINE void RooflineBudget::plan_ablations(SkillIteration& now) {
  now.phase = SkillPhase::ablating;
  const std::vector<std::size_t>& taken = now.choice.taken;
  const auto without = [&](std::vector<std::size_t> methods) {
    Move move{MoveKind::ablate, {*now.champion}, {}, 0};
    for (const std::size_t method : methods) move.strategies.push_back(options_.methods[method].id);
    now.ablations.emplace_back().methods = std::move(methods);
    plan(std::move(move), Role::ablation);
  };
  for (const std::size_t method : taken) without({method});
  std::size_t pairs = options_.pairs;
  for (std::size_t a = 0; a < taken.size(); ++a)
    for (std::size_t b = a + 1; b < taken.size() && pairs > 0; ++b, --pairs) without({taken[a], taken[b]});
}

}  // namespace kernelsearch
