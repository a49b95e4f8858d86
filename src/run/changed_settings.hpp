// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "kernelsearch/problem/shape.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch::detail {

/// `config` with these values; ConfigError where the space has no such tunable, value or configuration.
[[nodiscard]] Config changed_settings(const Space& space, Config config,
                                      const std::vector<NamedValue>& settings);

}  // namespace kernelsearch::detail
