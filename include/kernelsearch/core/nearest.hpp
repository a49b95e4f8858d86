// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kernelsearch/core/config_macros.hpp"

namespace kernelsearch {

/// The candidate with the smallest edit distance to `name` (letters' case hardly counts), or an empty string
/// where none is near enough to be a likely misspelling. Ties go to the earlier candidate.
[[nodiscard]] std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/core/impl/nearest_impl.hpp"
#endif
