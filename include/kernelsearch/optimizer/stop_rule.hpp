// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "kernelsearch/core/config_macros.hpp"

namespace kernelsearch {

/// How a run stands when a stop rule is asked.
struct RunProgress {
  std::uint64_t trials = 0;             ///< told so far
  std::uint64_t trials_since_gain = 0;  ///< told since the best changed
  double seconds = 0.0;        ///< wall time since the run started, earlier parts of a resumed run included
  std::optional<double> best;  ///< lowest objective
  std::optional<double> best_speedup;  ///< of the best trial over the reference, where it was measured
};

/// Decides when a run ends; asked after every told trial. Joined with `||` and `&&`.
///
/// 1. `rule.reached(progress)` is true once the run should end.
/// 2. `rule.describe()` says in a few words what ended it.
template <class R>
concept StopRule = std::copyable<R> && requires(const R& rule, const RunProgress& progress) {
  { rule.reached(progress) } -> std::same_as<bool>;
  { rule.describe() } -> std::same_as<std::string>;
};

/// Ends never; the policy or the budget does.
struct Never {
  [[nodiscard]] bool reached(const RunProgress&) const noexcept { return false; }
  [[nodiscard]] std::string describe() const;
};

/// Ends after a number of trials.
struct MaxTrials {
  std::uint64_t trials;
  [[nodiscard]] bool reached(const RunProgress& progress) const noexcept { return progress.trials >= trials; }
  [[nodiscard]] std::string describe() const;
};

/// Ends after that many seconds of wall time.
struct WallTime {
  double seconds;
  [[nodiscard]] bool reached(const RunProgress& progress) const noexcept {
    return progress.seconds >= seconds;
  }
  [[nodiscard]] std::string describe() const;
};

/// Ends once the best trial is that many times faster than the reference.
struct TargetSpeedup {
  double ratio;
  [[nodiscard]] bool reached(const RunProgress& progress) const noexcept {
    return progress.best_speedup && *progress.best_speedup >= ratio;
  }
  [[nodiscard]] std::string describe() const;
};

/// Ends once that many trials in a row brought no gain.
struct NoGain {
  std::uint64_t trials;
  [[nodiscard]] bool reached(const RunProgress& progress) const noexcept {
    return progress.best && progress.trials_since_gain >= trials;
  }
  [[nodiscard]] std::string describe() const;
};

/// Ends when either rule does.
template <StopRule A, StopRule B>
struct AnyOf {
  A a;
  B b;
  [[nodiscard]] bool reached(const RunProgress& progress) const {
    return a.reached(progress) || b.reached(progress);
  }
  [[nodiscard]] std::string describe() const { return a.describe() + " or " + b.describe(); }
};

/// Ends when both rules do.
template <StopRule A, StopRule B>
struct AllOf {
  A a;
  B b;
  [[nodiscard]] bool reached(const RunProgress& progress) const {
    return a.reached(progress) && b.reached(progress);
  }
  [[nodiscard]] std::string describe() const { return a.describe() + " and " + b.describe(); }
};

template <StopRule A, StopRule B>
[[nodiscard]] AnyOf<A, B> operator||(A a, B b) {
  return {std::move(a), std::move(b)};
}

template <StopRule A, StopRule B>
[[nodiscard]] AllOf<A, B> operator&&(A a, B b) {
  return {std::move(a), std::move(b)};
}

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/optimizer/impl/stop_rule_impl.hpp"
#endif
