// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <vector>

#include "kernelsearch/policy/move_sign.hpp"
#include "problem/json_cursor.hpp"

namespace kernelsearch::detail {

/// The member "signs" of a strategy or a transformation: a list of {"when", "worth", "because"}.
[[nodiscard]] std::vector<MoveSign> read_signs(const std::optional<JsonCursor>& place);

}  // namespace kernelsearch::detail
