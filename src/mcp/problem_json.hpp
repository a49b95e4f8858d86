// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>

#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::detail {

/// A problem as the tools give it: what a kernel gets, must give and is judged by; without code.
[[nodiscard]] nlohmann::json problem_json(const Problem& problem);
/// The tunables of a space and what must hold between them.
[[nodiscard]] nlohmann::json space_json(const Space& space);

}  // namespace kernelsearch::detail
