// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

namespace kernelsearch::detail {

/// Seconds that pairs with the reference have taken in a search. A trial that would be the best is paired
/// with the reference; if the reference takes long, that would leave little time for other trials, so some of
/// them go without a speedup. Finalists never do.
class PairingTime {
 public:
  /// As a part of the time that trials take without their pairs.
  static constexpr double share = 0.25;
  /// Pairs of one trial that take no longer than this are always taken.
  static constexpr double cheap = 0.5;

  /// Whether the next trial's pairs may be taken: the first ones always, as nothing is known of them.
  [[nodiscard]] bool allows() const noexcept { return is_cheap() || pairs_ + last_ <= share * trials_; }
  /// Whether pairs take next to no time.
  [[nodiscard]] bool is_cheap() const noexcept { return last_ <= cheap; }

  void trial(double seconds) noexcept { trials_ += std::max(seconds, 0.0); }
  void pairs(double seconds) noexcept {
    last_ = std::max(seconds, 0.0);
    pairs_ += last_;
  }

 private:
  double trials_ = 0, pairs_ = 0, last_ = 0;
};

}  // namespace kernelsearch::detail
