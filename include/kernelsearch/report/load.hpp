// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>

#include "kernelsearch/core/features.hpp"

namespace kernelsearch {

/// A trial counts as measured under load above this share: a core shared for less moves a median by less than
/// what repeated runs differ by (docs/measuring.md#load).
inline constexpr double loaded_share = 0.1;

/// How much of what a trial was measured on others had meanwhile, from 0 to 1: the largest of its features
/// `load.core`, `load.steal`, `load.sibling`, `load.device`; 0 where nothing is known.
[[nodiscard]] inline double load_of(const Features& features) {
  double most = 0;
  for (const char* name : {"load.core", "load.steal", "load.sibling", "load.device"})
    most = std::max(most, features.find(name).value_or(0.0));
  return most;
}

}  // namespace kernelsearch
