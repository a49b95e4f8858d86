// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// Collects tunables and constraints, then builds the space.
///
///     const Space space = SpaceBuilder()
///                             .add(Tunable::power_of_two("block", 32, 1024))
///                             .add(Tunable::integer("tile", 1, 8))
///                             .require("block * tile <= 2048")
///                             .build();
class SpaceBuilder {
 public:
  explicit SpaceBuilder(SpaceOptions options = {}) : options_(options) {}

  SpaceBuilder& add(Tunable tunable);
  SpaceBuilder& require(Constraint constraint);
  /// A function of the values of `names`, in that order.
  SpaceBuilder& require(std::vector<std::string> names, Constraint::Function function,
                        std::string label = "a function");

  /// As Space::build.
  [[nodiscard]] Space build() const;
  /// The same without raising.
  [[nodiscard]] Result<Space> try_build() const;

 private:
  std::vector<Tunable> tunables_;
  std::vector<Constraint> constraints_;
  SpaceOptions options_;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/space/impl/space_builder_impl.hpp"
#endif
