// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <span>
#include <string>
#include <utility>

#include "kernelsearch/core/value.hpp"

namespace kernelsearch::detail {

/// How far apart two shapes are, as docs/formats/plan.md has it; infinity where they cannot be compared.
[[nodiscard]] double shape_distance(std::span<const std::pair<std::string, Value>> a,
                                    std::span<const std::pair<std::string, Value>> b);

}  // namespace kernelsearch::detail
