// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdio>

#include "kernelsearch/optimizer/stop_rule.hpp"

namespace kernelsearch {
namespace detail {
/// 60 rather than 60.000000.
[[nodiscard]] inline std::string short_number(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number);
  return text;
}
}  // namespace detail

KERNELSEARCH_INLINE std::string MaxTrials::describe() const {
  return std::to_string(trials) + " trials";
}

KERNELSEARCH_INLINE std::string WallTime::describe() const {
  return detail::short_number(seconds) + " s of wall time";
}

KERNELSEARCH_INLINE std::string TargetSpeedup::describe() const {
  return "speedup " + detail::short_number(ratio);
}

KERNELSEARCH_INLINE std::string NoGain::describe() const {
  return "no gain in " + std::to_string(trials) + " trials";
}

KERNELSEARCH_INLINE std::string Never::describe() const {
  return "never";
}

}  // namespace kernelsearch
