// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace kernelsearch {

struct TunedOptions {
  std::uint64_t max_trials = 100;  ///< inner trials of one kernel, further limited by the shared budget
  std::uint64_t seed = 0;
};

}  // namespace kernelsearch
