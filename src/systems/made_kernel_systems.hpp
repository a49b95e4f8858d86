// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <utility>

#include "kernelsearch/systems/peak.hpp"
#include "made_systems.hpp"

/// What the systems have in common whose candidates are kernels that models write, over the problem's space
/// and what they declare.
namespace kernelsearch::systems::made {

/// The option `repairs` of a system that repairs failed kernels by debug moves (`Repaired`).
[[nodiscard]] SystemOption repairs_option(std::size_t standard, std::vector<VariantValue> variants);

/// The option `evidence` of a system whose moves are ordered by what kernels show for them.
[[nodiscard]] SystemOption evidence_option(std::vector<VariantValue> variants);

template <class Policy, class Generator>
SystemSearch search_of_kernels(std::pair<Policy, Generator> parts, const SystemSetup& setup) {
  SystemSearch search{.parts = SearchParts<Move>{std::move(parts.first), std::move(parts.second)},
                      .kernel_of = kernels_of(setup.problem)};
  if (setup.inner_trials > 0)
    search.inner = InnerSearch{TunesByBayes{}, {.max_trials = setup.inner_trials, .seed = setup.seed}, false};
  return search;
}

}  // namespace kernelsearch::systems::made
