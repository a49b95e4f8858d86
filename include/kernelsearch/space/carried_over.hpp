// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernelsearch/space/config.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

namespace detail {
/// The values of `config` by name, those that `space` lacks at its default; `exact` is false where a tunable
/// of both has no such value in `space`.
inline Config renamed(const Space& from, const Config& config, const Space& space, bool& exact) {
  exact = true;
  Config result;
  result.indices.reserve(space.size());
  for (std::size_t i = 0; i < space.size(); ++i) {
    std::size_t index = space.default_config().indices[i];
    if (const auto known = from.find(space.tunable(i).name)) {
      const auto position = space.tunable(i).position(from.value(config, *known));
      if (position)
        index = *position;
      else
        exact = false;
    }
    result.indices.push_back(static_cast<std::uint32_t>(index));
  }
  return result;
}
}  // namespace detail

/// `config` of the space `from` in another one: the values that both have, defaults for the others, and the
/// nearest configuration where a constraint forbids that one.
[[nodiscard]] inline Config carried_over(const Space& from, const Config& config, const Space& space) {
  bool exact = true;
  Config result = detail::renamed(from, config, space, exact);
  return space.contains(result) ? result : space.nearest(result);
}

/// The same where it is the same configuration: empty where a tunable of both spaces has no such value here,
/// or a constraint forbids it.
[[nodiscard]] inline std::optional<Config> same_config(const Space& from, const Config& config,
                                                       const Space& space) {
  bool exact = true;
  Config result = detail::renamed(from, config, space, exact);
  if (!exact || !space.contains(result)) return std::nullopt;
  return result;
}

}  // namespace kernelsearch
