// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sched.h>

#include <vector>

#include "process/kept_affinity.hpp"

namespace kernelsearch::detail {

/// Keeps the calling thread on one core, or on some; back where it was allowed before when it goes out of
/// scope. Does nothing for a core below 0, or for none.
class PinnedThread {
 public:
  explicit PinnedThread(int core) : PinnedThread(core < 0 ? std::vector<int>{} : std::vector<int>{core}) {}
  explicit PinnedThread(const std::vector<int>& cores) noexcept : before_(!cores.empty()) {
    if (!before_.known()) return;
    cpu_set_t some;
    CPU_ZERO(&some);
    for (const int core : cores) CPU_SET(static_cast<std::size_t>(core), &some);
    pinned_ = sched_setaffinity(0, sizeof some, &some) == 0;
  }

  [[nodiscard]] bool pinned() const noexcept { return pinned_; }

 private:
  KeptAffinity before_;
  bool pinned_ = false;
};

}  // namespace kernelsearch::detail
