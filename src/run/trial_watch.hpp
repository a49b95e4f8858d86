// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <string>

#include "kernelsearch/core/outcome.hpp"

namespace kernelsearch::detail {

/// How much of a budget in seconds is kept for comparing the finalists. `longest`: what checking and
/// measuring took of the trial where it took longest.
[[nodiscard]] double finalist_seconds(double budget, double longest);

/// The warning that others used what this was measured on, with what that does to the figures; empty where
/// they did not, or too little to matter (docs/measuring.md#load).
[[nodiscard]] std::string load_warning(const Outcome& outcome);

/// What a run learns from its trials for itself: how long finalists will take, and whether to warn of load,
/// once.
class TrialWatch {
 public:
  void see(const Outcome& outcome, const std::function<void(const std::string&)>& warn);
  [[nodiscard]] double longest() const noexcept { return longest_; }

 private:
  double longest_ = 0;
  bool warned_ = false;
};

}  // namespace kernelsearch::detail
