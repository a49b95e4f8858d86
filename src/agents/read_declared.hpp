// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/agents/declared_tunables.hpp"
#include "problem/json_cursor.hpp"

namespace kernelsearch::detail {

/// The keys "tunables" and "constraints" of an object.
[[nodiscard]] DeclaredTunables read_declared(const JsonCursor& document,
                                             const DeclaredTunablesLimits& limits);

}  // namespace kernelsearch::detail
