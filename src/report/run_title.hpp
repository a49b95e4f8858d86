// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "kernelsearch/store/run_info.hpp"

namespace kernelsearch {

/// What a report calls a run: `Run 3: mine of matmul`, for people. What has no number is not in a store.
[[nodiscard]] std::string run_title(const RunRow& run);

}  // namespace kernelsearch
