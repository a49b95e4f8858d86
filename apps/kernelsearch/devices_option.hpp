// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::app {

/// The ordinals of the devices that an option names: numbers, and for a problem of OpenCL also platform and
/// number within it, as `1:0`. Raises ConfigError where that is not a device.
[[nodiscard]] std::vector<int> ordinals_of(const std::string& option, const std::vector<std::string>& texts,
                                           const Problem& problem);

}  // namespace kernelsearch::app
