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
#include <vector>

#include "kernelsearch/core/impl/option_fault.hpp"
#include "kernelsearch/policy/bayesian_search.hpp"
#include "kernelsearch/policy/beam.hpp"
#include "kernelsearch/policy/best_of_k.hpp"
#include "kernelsearch/policy/differential_evolution.hpp"
#include "kernelsearch/policy/epsilon_greedy_tree.hpp"
#include "kernelsearch/policy/exhaustive.hpp"
#include "kernelsearch/policy/flat_ucb.hpp"
#include "kernelsearch/policy/genetic_algorithm.hpp"
#include "kernelsearch/policy/greedy_search.hpp"
#include "kernelsearch/policy/helion_lfbo.hpp"
#include "kernelsearch/policy/hierarchical_ucb.hpp"
#include "kernelsearch/policy/impl/policy_rows.hpp"
#include "kernelsearch/policy/iterated_local_search.hpp"
#include "kernelsearch/policy/lfbo.hpp"
#include "kernelsearch/policy/map_elites.hpp"
#include "kernelsearch/policy/move_examples.hpp"
#include "kernelsearch/policy/moves_over_space.hpp"
#include "kernelsearch/policy/particle_swarm.hpp"
#include "kernelsearch/policy/policy_bandit.hpp"
#include "kernelsearch/policy/policy_choice.hpp"
#include "kernelsearch/policy/random_search.hpp"
#include "kernelsearch/policy/reflexion.hpp"
#include "kernelsearch/policy/registry.hpp"
#include "kernelsearch/policy/simulated_annealing.hpp"
#include "kernelsearch/policy/tabu_search.hpp"
#include "kernelsearch/policy/tpe.hpp"
#include "kernelsearch/policy/uct.hpp"

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

KERNELSEARCH_INLINE std::span<const ConfigPolicyEntry> config_policies() {
  namespace rows = detail::rows;
  using detail::policy_entry;
  static constexpr ConfigPolicyEntry entries[] = {
      policy_entry<&detail::standard_options<PolicyBanditOptions>, &detail::bandit_over_space>(
          "bandit",
          "annealing, genetic, differential evolution and greedy, the more successful the more often",
          rows::bandit),
      policy_entry<BayesianSearch, BayesianSearchOptions>(
          "bayesian",
          "a Gaussian process with alignment features, expected improvement, earlier runs: the default",
          rows::bayesian),
      policy_entry<Beam, BeamOptions>("beam", "beam search over moves between configurations", rows::beam),
      policy_entry<&detail::climbing_options, &detail::over_space<BestOfK, BestOfKOptions>>(
          "best_of_k", "the best of k changes to one configuration, then of that one", rows::best_of_k),
      policy_entry<DifferentialEvolution, DifferentialEvolutionOptions>(
          "differential_evolution", "differences of members, added to others, compete with their targets",
          rows::differential_evolution),
      policy_entry<EpsilonGreedyTree, EpsilonGreedyTreeOptions>(
          "epsilon_greedy_tree", "STARK's tree search over moves between configurations",
          rows::epsilon_greedy_tree),
      policy_entry<&detail::standard_options<detail::NoOptions>, &detail::exhaustive_over_space>(
          "exhaustive", "every valid configuration once, in order", {}),
      policy_entry<FlatUcb, FlatUcbOptions>(
          "flat_ucb", "UCB1 over which tunable to change in the best configuration", rows::flat_ucb),
      policy_entry<GeneticAlgorithm, GeneticAlgorithmOptions>(
          "genetic", "tournaments, uniform crossover and mutation, without generations", rows::genetic),
      policy_entry<GreedySearch, GreedySearchOptions>(
          "greedy", "best-improvement hill climbing, random restarts", rows::greedy),
      policy_entry<HelionLfbo, HelionLfboOptions>(
          "helion_lfbo", "Helion 1.5.1's LFBO tree search, run after run, for comparison", rows::helion_lfbo),
      policy_entry<&detail::small_helion_options, &detail::over_space<HelionLfbo, HelionLfboOptions>>(
          "helion_lfbo_small", "the same with the smaller population that does better", rows::helion_lfbo),
      policy_entry<&detail::warmed_options, &detail::over_space<HierarchicalUcb, HierarchicalUcbOptions>>(
          "hierarchical_ucb",
          "KernelBand's bandit over clusters of configurations and which tunable to change",
          rows::hierarchical_ucb),
      policy_entry<IteratedLocalSearch, IteratedLocalSearchOptions>(
          "iterated_local_search", "descent over neighbours, leaps at local optima, restarts",
          rows::iterated_local_search),
      policy_entry<Lfbo, LfboOptions>(
          "lfbo", "a random forest's most promising among neighbours of the best and random draws",
          rows::lfbo),
      policy_entry<MapElites, MapElitesOptions>(
          "map_elites", "MAP-Elites on islands over moves between configurations", rows::map_elites),
      policy_entry<ParticleSwarm, ParticleSwarmOptions>(
          "particle_swarm", "particles drawn to the best places found", rows::particle_swarm),
      policy_entry<RandomSearch, RandomSearchOptions>(
          "random", "uniform draws without repetition: the baseline", rows::random),
      policy_entry<Reflexion, ReflexionOptions>(
          "reflexion", "one chain of changes, each made to the last configuration", rows::reflexion),
      policy_entry<SimulatedAnnealing, SimulatedAnnealingOptions>(
          "simulated_annealing",
          "a walk that accepts slower neighbours ever less often, heated again when cold",
          rows::simulated_annealing),
      policy_entry<TabuSearch, TabuSearchOptions>(
          "tabu", "moves to the best neighbour even when slower, values just left are barred", rows::tabu),
      policy_entry<Tpe, TpeOptions>("tpe", "draws where good configurations are denser than the others",
                                    rows::tpe),
      policy_entry<Uct, UctOptions>("uct", "Monte Carlo tree search over moves between configurations",
                                    rows::uct),
  };
  return entries;
}

KERNELSEARCH_INLINE Result<const PolicyOption*> ConfigPolicyEntry::try_find(std::string_view option) const {
  std::vector<std::string> names;
  for (const PolicyOption& one : options) {
    if (one.name == option) return &one;
    names.emplace_back(one.name);
  }
  return detail::unknown_option(name, option, names);
}

KERNELSEARCH_INLINE std::optional<PolicyOptionValue> ConfigPolicyEntry::standard(
    const PolicyOption& option) const {
  if (option.from_space) return std::nullopt;
  for (auto& [option_name, value] : values(PolicySetup{Space::without_tunables()}))
    if (option_name == option.name) return std::move(value);
  return std::nullopt;
}

KERNELSEARCH_INLINE Result<const ConfigPolicyEntry*> try_find_config_policy(std::string_view name) {
  std::vector<std::string> names;
  for (const ConfigPolicyEntry& entry : config_policies()) {
    if (entry.name == name) return &entry;
    names.emplace_back(entry.name);
  }
  return Fault{"no policy of that name", std::string(name), detail::nearest_of(name, names)};
}

KERNELSEARCH_INLINE Result<AnyPolicy<Config>> try_make_config_policy(std::string_view text,
                                                                     const PolicySetup& setup) {
  Result<PolicyChoice> choice = try_choose_policy(text);
  if (!choice) return std::move(choice).error();
  return choice->make(setup);
}

KERNELSEARCH_INLINE AnyPolicy<Config> make_config_policy(std::string_view text, const PolicySetup& setup) {
  return choose_policy(text).make(setup);
}

}  // namespace kernelsearch
