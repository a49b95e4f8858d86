// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kernelsearch/policy/best_of_k.hpp"
#include "kernelsearch/policy/exhaustive.hpp"
#include "kernelsearch/policy/helion_lfbo.hpp"
#include "kernelsearch/policy/hierarchical_ucb.hpp"
#include "kernelsearch/policy/move_examples.hpp"
#include "kernelsearch/policy/moves_over_space.hpp"
#include "kernelsearch/policy/policy_bandit.hpp"
#include "kernelsearch/policy/registry.hpp"

/// How an entry of the registry is made of a policy, its options and their rows.
namespace kernelsearch {
namespace detail {

/// Whether some tunable has a default that is not just its first value. Spaces of recordings declare none,
/// and beginning with all first values, the smallest ones, is worse there than beginning anywhere.
inline bool default_first(const PolicySetup& setup) {
  const auto tunables = setup.space.tunables();
  return setup.try_default && std::any_of(tunables.begin(), tunables.end(),
                                          [](const Tunable& tunable) { return tunable.default_index != 0; });
}

/// What a policy is made with by name, before options are given.
template <class Options>
Options standard_options(const PolicySetup& setup) {
  Options options;
  if constexpr (requires { options.seed; }) options.seed = setup.seed;
  if constexpr (requires { options.default_first; }) options.default_first = default_first(setup);
  if constexpr (requires { options.earlier; }) options.earlier = setup.earlier;
  if constexpr (requires { options.budget; }) options.budget = setup.budget;
  if constexpr (requires { options.objectives; }) options.objectives = setup.objectives;
  return options;
}
inline HelionLfboOptions small_helion_options(const PolicySetup& setup) {
  return helion_lfbo_small(setup.seed);
}
/// By name it goes on after the first k changes, as a search over a space must.
inline BestOfKOptions climbing_options(const PolicySetup& setup) {
  auto options = standard_options<BestOfKOptions>(setup);
  options.climb = true;
  return options;
}
/// With what earlier runs of the space say of each strategy.
KERNELSEARCH_INLINE HierarchicalUcbOptions warmed_options(const PolicySetup& setup) {
  auto options = standard_options<HierarchicalUcbOptions>(setup);
  if (!setup.earlier.empty())
    options.examples = move_examples(SpaceStrategies(setup.space, {.seed = setup.seed}), setup.earlier,
                                     {.seed = setup.seed});
  return options;
}

/// The policy on the space of the setup; one over moves with a strategy for each tunable.
template <class Policy, class Options>
AnyPolicy<Config> over_space(const PolicySetup& setup, Options options) {
  if constexpr (std::is_same_v<typename Policy::Proposal, Config>) {
    return AnyPolicy<Config>(Policy(setup.space, std::move(options)));
  } else {
    SpaceStrategies strategies(setup.space, {.seed = setup.seed});
    options.strategies = strategies.names();
    return AnyPolicy<Config>(MovesOverSpace(AnyPolicy<Move>(Policy(std::move(options))),
                                            std::move(strategies), {.seed = setup.seed}));
  }
}

struct NoOptions {};
inline AnyPolicy<Config> exhaustive_over_space(const PolicySetup& setup, const NoOptions&) {
  return AnyPolicy<Config>(Exhaustive(setup.space));
}
inline AnyPolicy<Config> bandit_over_space(const PolicySetup& setup, PolicyBanditOptions options) {
  return AnyPolicy<Config>(
      PolicyBandit(default_bandit_arms(setup.space, setup.seed, default_first(setup)), options));
}

/// Writes the values over what the entry's options are.
KERNELSEARCH_INLINE void write_options(const ConfigPolicyEntry& entry, void* options,
                                       const PolicyOptionValues& given) {
  for (const auto& [name, value] : given) {
    const PolicyOption& row = *value_or_raise(entry.try_find(name));
    row.write(options, value_or_raise(row.try_value(entry.name, value)));
  }
}

/// The entry of a policy that `Standard` gives the options of, and `Make` makes of a setup and them.
template <auto Standard, auto Make>
constexpr ConfigPolicyEntry policy_entry(std::string_view name, std::string_view summary,
                                         std::span<const PolicyOption> options) {
  return {name, summary, options,
          [](const ConfigPolicyEntry& entry, const PolicySetup& setup, const PolicyOptionValues& given) {
            auto its = Standard(setup);
            write_options(entry, &its, given);
            return Make(setup, std::move(its));
          },
          [](const ConfigPolicyEntry& entry, const PolicySetup& setup, const PolicyOptionValues& given) {
            auto its = Standard(setup);
            write_options(entry, &its, given);
            PolicyOptionValues values;
            for (const PolicyOption& row : entry.options) values.emplace_back(row.name, *row.read(&its));
            return values;
          }};
}
template <class Policy, class Options>
constexpr ConfigPolicyEntry policy_entry(std::string_view name, std::string_view summary,
                                         std::span<const PolicyOption> options) {
  return policy_entry<&standard_options<Options>, &over_space<Policy, Options>>(name, summary, options);
}

}  // namespace detail
}  // namespace kernelsearch
