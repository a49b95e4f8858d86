// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sched.h>

#include "kernelsearch/run/measurement.hpp"

namespace kernelsearch::detail {

/// Keeps this thread and what it starts off the measured core while a call lasts. A core below 0 is none.
class CoreLeft {
 public:
  explicit CoreLeft(int core) : known_(core >= 0 && sched_getaffinity(0, sizeof before_, &before_) == 0) {
    if (known_) leave_core_to_measuring(core);
  }
  ~CoreLeft() {
    if (known_) sched_setaffinity(0, sizeof before_, &before_);
  }
  CoreLeft(const CoreLeft&) = delete;
  CoreLeft& operator=(const CoreLeft&) = delete;

 private:
  cpu_set_t before_{};
  bool known_;
};

}  // namespace kernelsearch::detail
