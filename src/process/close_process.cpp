// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/process/close_process.hpp"

#include <sys/prctl.h>

namespace kernelsearch {

void close_process() noexcept {
  (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

}  // namespace kernelsearch
