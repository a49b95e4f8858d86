// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/policy/exhaustive.hpp"
#include "kernelsearch/policy/helion_lfbo.hpp"
#include "kernelsearch/policy/iterated_local_search.hpp"
#include "kernelsearch/policy/lfbo.hpp"
#include "kernelsearch/policy/random_search.hpp"
#include "kernelsearch/policy/registry.hpp"
#include "kernelsearch/policy/tpe.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE std::span<const ConfigPolicyEntry> config_policies() {
  using Any = AnyPolicy<Config>;
  static constexpr ConfigPolicyEntry entries[] = {
      {"exhaustive", "every valid configuration once, in order",
       [](const PolicySetup& s) { return Any(Exhaustive(s.space)); }},
      {"helion_lfbo", "Helion 1.5.1's LFBO tree search, run after run, for comparison",
       [](const PolicySetup& s) { return Any(HelionLfbo(s.space, {.seed = s.seed})); }},
      {"helion_lfbo_small", "the same with the smaller population that does better",
       [](const PolicySetup& s) { return Any(HelionLfbo(s.space, helion_lfbo_small(s.seed))); }},
      {"iterated_local_search", "descent over neighbours, leaps at local optima, restarts",
       [](const PolicySetup& s) { return Any(IteratedLocalSearch(s.space, {.seed = s.seed})); }},
      {"lfbo", "a random forest's most promising among neighbours of the best and random draws",
       [](const PolicySetup& s) { return Any(Lfbo(s.space, {.seed = s.seed, .budget = s.budget})); }},
      {"random", "uniform draws without repetition: the baseline",
       [](const PolicySetup& s) {
         return Any(RandomSearch(s.space, {.seed = s.seed, .default_first = true}));
       }},
      {"tpe", "draws where good configurations are denser than the others",
       [](const PolicySetup& s) { return Any(Tpe(s.space, {.seed = s.seed})); }},
  };
  return entries;
}

KERNELSEARCH_INLINE AnyPolicy<Config> make_config_policy(std::string_view name, const PolicySetup& setup) {
  std::string known;
  std::vector<std::string> names;
  for (const ConfigPolicyEntry& entry : config_policies()) {
    if (entry.name == name) return entry.make(setup);
    names.emplace_back(entry.name);
    (known += known.empty() ? "" : ", ") += entry.name;
  }
  const std::string nearest = nearest_name(name, names);
  detail::raise<ConfigError>(
      "no policy of that name", name,
      (nearest.empty() ? "" : "did you mean " + nearest + "? ") + "there are " + known);
}

}  // namespace kernelsearch
