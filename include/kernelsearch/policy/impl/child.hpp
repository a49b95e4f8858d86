// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/policy/impl/ledger.hpp"

namespace kernelsearch::detail {

/// A child of genetic policies: of one parent, or with the chance `crossover` of two, each tunable from one
/// of them (uniform crossover: Syswerda, 1989); then `mutations` tunables on average are drawn anew, and what
/// is not valid or is known is repaired. `parent()` chooses one, as a Config or a reference to it.
template <class Parent>
[[nodiscard]] std::optional<Config> child(Ledger& ledger, Rng& rng, double crossover, double mutations,
                                          const Parent& parent) {
  Config made = parent();
  if (rng.chance(crossover)) {
    const Config& other = parent();
    for (const std::size_t tunable : ledger.free())
      if (rng.chance(0.5)) made.indices[tunable] = other.indices[tunable];
  }
  const double rate = mutations / static_cast<double>(std::max<std::size_t>(ledger.free().size(), 1));
  for (const std::size_t tunable : ledger.free()) {
    const auto usable = ledger.space().usable(tunable);
    if (rng.chance(rate)) made.indices[tunable] = usable[rng.below(usable.size())];
  }
  return ledger.repair(std::move(made), rng);
}

}  // namespace kernelsearch::detail
