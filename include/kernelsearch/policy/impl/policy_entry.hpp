// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

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
#include "kernelsearch/policy/impl/entry_of.hpp"
#include "kernelsearch/policy/move_examples.hpp"
#include "kernelsearch/policy/moves_over_space.hpp"
#include "kernelsearch/policy/policy_bandit.hpp"
#include "kernelsearch/policy/registry.hpp"

/// How the policies of the registry are made over a space, with their options.
namespace kernelsearch {
namespace detail {

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

template <class Policy, class Options>
constexpr ConfigPolicyEntry policy_entry(std::string_view name, std::string_view summary,
                                         std::span<const PolicyOption> options) {
  return policy_entry<&standard_options<Options>, &over_space<Policy, Options>>(name, summary, options);
}

}  // namespace detail
}  // namespace kernelsearch
