// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/move.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// A strategy over a space: the tunables that it may change together.
struct TunableGroup {
  std::string name;
  std::vector<std::string> tunables;
};

struct SpaceStrategiesOptions {
  std::vector<TunableGroup> groups = {};  ///< none: each tunable with more than one usable value is one
  std::uint64_t seed = 0;
  std::size_t max_alternatives = 4096;  ///< of one group on one configuration; beyond it they are sampled
};

/// Moves of configurations: what a rewrite, a repair or a recombination means on a space, so that policies
/// over moves run where there is no code to rewrite.
///
/// * root: the default configuration.
/// * rewrite, branch: a group's tunables take other values, in an order drawn for that parent and group;
///   `Move::variant` says where in that order to begin.
/// * debug: any one tunable takes another value.
/// * ablate: a group returns to its defaults.
/// * recombine: each tunable from one of two parents, then the nearest valid configuration.
class SpaceStrategies {
 public:
  /// ConfigError for a group without tunables, or with one that the space does not have.
  explicit SpaceStrategies(Space space, SpaceStrategiesOptions options = {});

  /// The names of the groups.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] const Space& space() const noexcept { return space_; }

  /// A valid configuration that `tried` is false of, made from the parents as the move says; nothing when
  /// none is left. The same arguments give the same result.
  [[nodiscard]] std::optional<Config> apply(const Move& move, std::span<const Config> parents,
                                            const std::function<bool(const Config&)>& tried) const;

 private:
  struct Group {
    std::string name;
    std::vector<std::size_t> tunables;
  };
  [[nodiscard]] const Group* find(std::string_view name) const;
  [[nodiscard]] Rng stream(const Move& move, std::span<const Config> parents) const;
  [[nodiscard]] std::vector<Config> alternatives(const Config& parent, const Group& group, Rng& rng) const;

  Space space_;
  SpaceStrategiesOptions options_;
  std::vector<Group> groups_;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/space_strategies_impl.hpp"
#endif
