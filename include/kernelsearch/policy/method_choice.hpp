// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/features.hpp"
#include "kernelsearch/model/axis_budget.hpp"
#include "kernelsearch/policy/method.hpp"

namespace kernelsearch {

/// What the device is, as far as methods ask.
struct MethodDevice {
  unsigned architecture = 0;          ///< compute capability, e.g. 90; 0: not a GPU of NVIDIA's, or unknown
  std::vector<std::string> features;  ///< e.g. `tma`, `cp_async`; `avx512`, `fma`
};

/// What CUDA optimisation skill V2 takes an architecture to have (its table of features; sm_120 has TMA).
[[nodiscard]] std::vector<std::string> features_of_architecture(unsigned architecture);

/// What became of a method in earlier iterations.
enum class MethodFate : std::uint8_t {
  untried,
  effective,
  ineffective,
  implementation_failed,
  not_applicable,  ///< judged not to apply to the kernel, by the one who was to implement it
  coupled,         ///< it could not be told apart from another of its iteration that leaves the same trace
};

[[nodiscard]] constexpr std::string_view to_string(MethodFate fate) noexcept {
  constexpr std::string_view names[] = {"untried",        "effective", "ineffective", "implementation_failed",
                                        "not_applicable", "coupled"};
  return names[static_cast<int>(fate)];
}

/// Why a method was taken or passed over: the four checks in their order, then the budget.
enum class MethodReason : std::uint8_t {
  taken,
  already_applied,   ///< effective in the champion's line
  ineffective,       ///< tried, in the code, and of no use
  failed_too_often,  ///< implementations failed `MethodLimits::attempts` times
  architecture,      ///< the device lacks what it needs
  skip_condition,
  no_trigger,
  coupled,         ///< with one that was taken, not told apart from it before, or excluded by one applied
  over_budget,     ///< it passed, but others of its axis were stronger or came first
  not_applicable,  ///< judged not to apply to the kernel
};

[[nodiscard]] constexpr std::string_view to_string(MethodReason reason) noexcept {
  constexpr std::string_view names[] = {"taken",        "already_applied", "ineffective", "failed_too_often",
                                        "architecture", "skip_condition",  "no_trigger",  "coupled",
                                        "over_budget",  "not_applicable"};
  return names[static_cast<int>(reason)];
}

struct MethodDecision {
  std::size_t method = 0;  ///< its place in the registry
  MethodReason reason = MethodReason::taken;
  std::string words;               ///< with the values that decided, for people
  std::optional<double> strength;  ///< of those that passed the checks
};

/// What was tried so far, by place in the registry; empty: nothing.
struct MethodRecord {
  MethodFate fate = MethodFate::untried;
  std::size_t attempts = 0;  ///< iterations that took it
  std::string words = {};    ///< why it does not apply
};

struct MethodLimits {
  /// Iterations that may take a method whose implementation failed, or that could not be told apart.
  std::size_t attempts = 2;
};

/// The methods of one iteration, in order of axis, then as chosen, and why each of the others is not.
struct MethodChoice {
  std::vector<std::size_t> taken;
  std::vector<MethodDecision> decisions;  ///< by axis with a slot, then priority; all methods of those axes
};

/// Scans each axis that has slots from priority 1 on: tried? architecture? skip condition? trigger? The first
/// that passes takes a single slot; of two slots the strongest take (of equals the higher priority). A
/// trigger or skip condition whose features are not known decides nothing. A method whose trigger is unknown,
/// or that has none, comes after all whose trigger is known to hold (CUDA optimisation skill V2, post 1.5).
[[nodiscard]] MethodChoice choose_methods(std::span<const Method> methods, const Features& profile,
                                          const MethodDevice& device, const AxisBudget& budget,
                                          std::span<const MethodRecord> record = {},
                                          MethodLimits limits = {});

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/method_choice_impl.hpp"
#endif
