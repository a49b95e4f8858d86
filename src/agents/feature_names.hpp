// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kernelsearch::detail {

/// Whether some evaluator or step gives a feature of that name, or `own` lists it. `ncu.` and `stall_` may be
/// followed by anything, since profilers have more than we name.
[[nodiscard]] bool is_feature_name(std::string_view name, std::span<const std::string> own);

/// The known name that is a likely meaning of a misspelt one; empty where none is.
[[nodiscard]] std::string nearest_feature_name(std::string_view name, std::span<const std::string> own);

}  // namespace kernelsearch::detail
