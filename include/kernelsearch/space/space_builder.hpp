// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

  SpaceBuilder& add(Tunable tunable) {
    tunables_.push_back(std::move(tunable));
    return *this;
  }
  SpaceBuilder& require(Constraint constraint) {
    constraints_.push_back(std::move(constraint));
    return *this;
  }
  /// A function of the values of `names`, in that order.
  SpaceBuilder& require(std::vector<std::string> names, Constraint::Function function,
                        std::string label = "a function") {
    return require(Constraint(std::move(names), std::move(function), std::move(label)));
  }

  /// As Space::build.
  [[nodiscard]] Space build() const { return Space::build(tunables_, constraints_, options_); }

 private:
  std::vector<Tunable> tunables_;
  std::vector<Constraint> constraints_;
  SpaceOptions options_;
};

}  // namespace kernelsearch
