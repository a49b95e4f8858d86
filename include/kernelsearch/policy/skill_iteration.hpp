// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/evidence.hpp"
#include "kernelsearch/core/move.hpp"
#include "kernelsearch/core/verdict.hpp"
#include "kernelsearch/model/axis_budget.hpp"
#include "kernelsearch/model/roofline.hpp"
#include "kernelsearch/policy/attribution.hpp"
#include "kernelsearch/policy/method_choice.hpp"

namespace kernelsearch {

/// How far an iteration of RooflineBudget is.
enum class SkillPhase : std::uint8_t { branching, mending, ablating, closed };

[[nodiscard]] constexpr std::string_view to_string(SkillPhase phase) noexcept {
  constexpr std::string_view names[] = {"branching", "mending", "ablating", "closed"};
  return names[static_cast<int>(phase)];
}

/// What an iteration came to. The published state knows no `unchanged`: it calls that regressed.
enum class SkillStatus : std::uint8_t {
  open,
  improved,
  unchanged,  ///< within the noise of what it started from
  regressed,
  failed_validation,  ///< no branch was right, also after the rewrites
};

[[nodiscard]] constexpr std::string_view to_string(SkillStatus status) noexcept {
  constexpr std::string_view names[] = {"open", "improved", "unchanged", "regressed", "failed_validation"};
  return names[static_cast<int>(status)];
}

/// One implementation of an iteration's methods: a branch, or what repairs one.
struct SkillBranch {
  TrialId id{};
  Move move;
  Verdict verdict = Verdict::not_generated;
  double objective = std::numeric_limits<double>::infinity();
};

/// The champion without one of its methods, or without two.
struct SkillAblation {
  std::vector<std::size_t> methods;  ///< places in the registry
  std::optional<TrialId> id;         ///< once it was told
  Verdict verdict = Verdict::not_generated;
  double objective = std::numeric_limits<double>::infinity();
  Attribution attribution;  ///< of all of `methods` together
};

/// What two methods do to each other (`interaction_of`).
struct SkillInteraction {
  std::size_t one = 0, other = 0;  ///< places in the registry
  Attribution both;                ///< of removing both
  Attribution beyond;              ///< what that is beyond the product of their own
};

/// What became of one method in one iteration.
struct MethodVerdict {
  std::size_t method = 0;  ///< place in the registry
  MethodFate fate = MethodFate::untried;
  Evidence evidence = Evidence::unknown;     ///< by the ablation where that is known, else by the parent
  Evidence by_parent = Evidence::unknown;    ///< champion against what the iteration started from
  Evidence by_ablation = Evidence::unknown;  ///< champion against the champion without it
  Attribution attribution;
  Contribution contributed = Contribution::unknown;
  bool kept = false;  ///< it is in the kernel that the next iteration starts from
  std::string words;  ///< why, for people
  /// Methods of the same iteration, by place, that its trace may be of as well, where no ablation tells.
  std::vector<std::size_t> coupled = {};

  /// Effective by measurement, and seen in the machine code.
  [[nodiscard]] bool proven() const noexcept {
    return fate == MethodFate::effective && evidence == Evidence::verified;
  }
};

/// One iteration of CUDA optimisation skill V2, as far as it has come.
struct SkillIteration {
  std::size_t number = 1;
  SkillPhase phase = SkillPhase::branching;
  SkillStatus status = SkillStatus::open;
  TrialId start{};  ///< the kernel whose profile decided, which the branches are made from
  double start_objective = std::numeric_limits<double>::infinity();
  RooflineGaps gaps;
  Bound bound = Bound::unknown;
  AxisBudget budget;
  bool degraded = false;  ///< no axis had evidence: a slot for each that nothing is known of
  MethodChoice choice;
  std::uint32_t first_variant = 0;    ///< of its branches: more than 0 where the same was tried before
  std::vector<SkillBranch> branches;  ///< as told
  std::size_t retries = 0;            ///< rewrites after every branch had failed
  std::optional<TrialId> champion;    ///< the fastest right branch
  double champion_objective = std::numeric_limits<double>::infinity();
  Attribution gain;    ///< of the champion over the start: the start's time over its own, less 1
  double noise = 0.0;  ///< relative differences up to this count as none
  std::vector<SkillAblation> ablations;
  std::vector<SkillInteraction> interactions;
  std::vector<MethodVerdict> verdicts;  ///< in the order of `choice.taken`, once closed
};

/// A right branch that was not the champion.
struct FrontierKernel {
  std::size_t iteration = 0;
  TrialId id{};
  std::uint32_t variant = 0;
  double objective = std::numeric_limits<double>::infinity();
  double behind = 0.0;               ///< objective over the champion's, less 1
  std::vector<std::size_t> methods;  ///< places in the registry
};

/// Why a search of RooflineBudget is over.
enum class SkillEnd : std::uint8_t {
  none,        ///< it is not
  iterations,  ///< as many as were asked for
  near_peak,
  no_axis,    ///< all axes of which something is known are near their limit, and of no other is nothing known
  no_method,  ///< no method passes the checks on the axes with slots
  no_kernel,  ///< there is no right kernel to start from
};

[[nodiscard]] constexpr std::string_view to_string(SkillEnd end) noexcept {
  constexpr std::string_view names[] = {"none",    "iterations", "near_peak",
                                        "no_axis", "no_method",  "no_kernel"};
  return names[static_cast<int>(end)];
}

struct SkillEnding {
  SkillEnd reason = SkillEnd::none;
  std::string words;
  RooflineGaps gaps;  ///< that decided it, of near_peak, no_axis and no_method
  Bound bound = Bound::unknown;
};

}  // namespace kernelsearch
