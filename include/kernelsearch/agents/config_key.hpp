// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string_view>

#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// The configuration that `Space::key` wrote; nothing for a key of another space.
[[nodiscard]] std::optional<Config> config_of_key(const Space& space, std::string_view key);

}  // namespace kernelsearch
