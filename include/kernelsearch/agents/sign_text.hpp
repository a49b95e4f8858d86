// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <span>
#include <string>

#include "kernelsearch/core/features.hpp"
#include "kernelsearch/policy/move_sign.hpp"

namespace kernelsearch {

/// Why a move is worth trying on a kernel with these features, or is not, on one line with the values that
/// say it: `the hot loop has 10 calls`. Empty where no sign is seen. `problem`: what is known of the problem.
[[nodiscard]] std::string sign_text(std::span<const MoveSign> signs, const Features& features,
                                    const Features& problem = {});

}  // namespace kernelsearch
