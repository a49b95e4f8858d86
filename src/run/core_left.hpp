// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/run/measurement.hpp"
#include "process/kept_affinity.hpp"

namespace kernelsearch::detail {

/// Keeps this thread and what it starts off the measured core while a call lasts. A core below 0 means none.
class CoreLeft {
 public:
  explicit CoreLeft(int core) : before_(core >= 0) {
    if (before_.known()) leave_core_to_measuring(core);
  }

 private:
  KeptAffinity before_;
};

}  // namespace kernelsearch::detail
