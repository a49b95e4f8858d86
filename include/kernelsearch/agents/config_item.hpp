// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// A configuration that a model wrote down, made valid.
struct ConfigItem {
  Config config;               ///< a configuration of the space
  std::size_t understood = 0;  ///< members that name a tunable and a value for it
  std::size_t ignored = 0;     ///< members that do not
  std::size_t repaired = 0;    ///< values that are not one of their tunable's: the nearest was taken
  bool moved = false;          ///< it broke a constraint: it is the nearest configuration that does not
};

/// Reads a JSON object of tunables and values over the space's default; what it leaves out keeps its default.
/// Numbers outside of a list become the nearest in it (by ratio for powers of two), and what then breaks a
/// constraint the nearest valid configuration. Nothing for what is not an object, or one of which nothing was
/// understood; an empty object is the default.
[[nodiscard]] std::optional<ConfigItem> read_config_item(const Space& space, std::string_view json);

}  // namespace kernelsearch
