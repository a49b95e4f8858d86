// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/traits.hpp"

#include <algorithm>
#include <string>

#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

Features trait_features(const Problem& problem) {
  Features features;
  if (!problem.traits.empty())
    for (const std::string_view trait : known_traits) features.set("trait." + std::string(trait), 0);
  const auto launches = std::count_if(problem.launch.begin(), problem.launch.end(),
                                      [](const LaunchStep& step) { return step.zero.empty(); });
  features.set("trait.multi_launch", launches > 1 ? 1 : 0);
  features.set("trait.threads", problem.threads > 1 ? 1 : 0);
  for (const std::string& trait : problem.traits) features.set("trait." + trait, 1);
  return features;
}

}  // namespace kernelsearch
