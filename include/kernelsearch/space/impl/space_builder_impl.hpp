// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <utility>

#include "kernelsearch/space/space_builder.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE SpaceBuilder& SpaceBuilder::add(Tunable tunable) {
  tunables_.push_back(std::move(tunable));
  return *this;
}

KERNELSEARCH_INLINE SpaceBuilder& SpaceBuilder::require(Constraint constraint) {
  constraints_.push_back(std::move(constraint));
  return *this;
}

KERNELSEARCH_INLINE SpaceBuilder& SpaceBuilder::require(std::vector<std::string> names,
                                                        Constraint::Function function, std::string label) {
  return require(Constraint(std::move(names), std::move(function), std::move(label)));
}

KERNELSEARCH_INLINE Space SpaceBuilder::build() const {
  return Space::build(tunables_, constraints_, options_);
}

KERNELSEARCH_INLINE Result<Space> SpaceBuilder::try_build() const {
  return Space::try_build(tunables_, constraints_, options_);
}

}  // namespace kernelsearch
