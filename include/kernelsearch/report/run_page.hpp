// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch {

/// A run as one HTML page without scripts or anything from elsewhere: its summary, the best so far over the
/// trials, the winner's code, and every trial with its verdict, time, speedup, parents and reason. All texts
/// from kernels and compilers are escaped.
[[nodiscard]] std::string run_page(const RunStore& store, RunId run);

}  // namespace kernelsearch
