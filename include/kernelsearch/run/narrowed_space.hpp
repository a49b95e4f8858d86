// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// The configurations of `space` for which every expression of `where` holds, with the default nearest to its
/// own. ConfigError for unknown names and where nothing is left.
[[nodiscard]] Space narrowed(const Space& space, const std::vector<std::string>& where);

/// The configurations of `space` that a JSON file lists: an array of objects with a value for each tunable.
/// ConfigError where one of them is not in the space.
[[nodiscard]] Space listed_in(const Space& space, const std::filesystem::path& file);

}  // namespace kernelsearch
