// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/nearest.hpp"
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
#include "kernelsearch/policy/iterated_local_search.hpp"
#include "kernelsearch/policy/lfbo.hpp"
#include "kernelsearch/policy/map_elites.hpp"
#include "kernelsearch/policy/move_examples.hpp"
#include "kernelsearch/policy/moves_over_space.hpp"
#include "kernelsearch/policy/particle_swarm.hpp"
#include "kernelsearch/policy/policy_bandit.hpp"
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

/// A policy over moves on the space of the setup, with a strategy for each tunable.
template <class Policy, class Options>
AnyPolicy<Config> over_space(const PolicySetup& setup, Options options) {
  SpaceStrategies strategies(setup.space, {.seed = setup.seed});
  options.strategies = strategies.names();
  options.seed = setup.seed;
  return AnyPolicy<Config>(MovesOverSpace(AnyPolicy<Move>(Policy(std::move(options))), std::move(strategies),
                                          {.seed = setup.seed}));
}

/// The same with what earlier runs of the space say of each strategy.
KERNELSEARCH_INLINE AnyPolicy<Config> hierarchical_over_space(const PolicySetup& setup) {
  HierarchicalUcbOptions options;
  if (!setup.earlier.empty())
    options.examples = move_examples(SpaceStrategies(setup.space, {.seed = setup.seed}), setup.earlier,
                                     {.seed = setup.seed});
  return over_space<HierarchicalUcb>(setup, std::move(options));
}

}  // namespace detail

KERNELSEARCH_INLINE std::span<const ConfigPolicyEntry> config_policies() {
  using Any = AnyPolicy<Config>;
  static constexpr ConfigPolicyEntry entries[] = {
      {"bandit", "annealing, genetic, differential evolution and greedy, the more successful the more often",
       [](const PolicySetup& s) {
         return Any(
             PolicyBandit(default_bandit_arms(s.space, s.seed, detail::default_first(s)), {.seed = s.seed}));
       }},
      {"bayesian",
       "a Gaussian process with alignment features, expected improvement, earlier runs: the default",
       [](const PolicySetup& s) {
         return Any(BayesianSearch(
             s.space, {.seed = s.seed, .default_first = detail::default_first(s), .earlier = s.earlier}));
       }},
      {"beam", "beam search over moves between configurations",
       [](const PolicySetup& s) { return detail::over_space<Beam>(s, BeamOptions{}); }},
      {"best_of_k", "the best of k changes to one configuration, then of that one",
       [](const PolicySetup& s) { return detail::over_space<BestOfK>(s, BestOfKOptions{.climb = true}); }},
      {"differential_evolution", "differences of members, added to others, compete with their targets",
       [](const PolicySetup& s) {
         return Any(
             DifferentialEvolution(s.space, {.seed = s.seed, .default_first = detail::default_first(s)}));
       }},
      {"epsilon_greedy_tree", "STARK's tree search over moves between configurations",
       [](const PolicySetup& s) {
         return detail::over_space<EpsilonGreedyTree>(s, EpsilonGreedyTreeOptions{});
       }},
      {"exhaustive", "every valid configuration once, in order",
       [](const PolicySetup& s) { return Any(Exhaustive(s.space)); }},
      {"flat_ucb", "UCB1 over which tunable to change in the best configuration",
       [](const PolicySetup& s) { return detail::over_space<FlatUcb>(s, FlatUcbOptions{}); }},
      {"genetic", "tournaments, uniform crossover and mutation, without generations",
       [](const PolicySetup& s) {
         return Any(GeneticAlgorithm(s.space, {.seed = s.seed, .default_first = detail::default_first(s)}));
       }},
      {"greedy", "best-improvement hill climbing, random restarts",
       [](const PolicySetup& s) {
         return Any(GreedySearch(s.space, {.seed = s.seed, .default_first = detail::default_first(s)}));
       }},
      {"helion_lfbo", "Helion 1.5.1's LFBO tree search, run after run, for comparison",
       [](const PolicySetup& s) { return Any(HelionLfbo(s.space, {.seed = s.seed})); }},
      {"helion_lfbo_small", "the same with the smaller population that does better",
       [](const PolicySetup& s) { return Any(HelionLfbo(s.space, helion_lfbo_small(s.seed))); }},
      {"hierarchical_ucb", "KernelBand's bandit over clusters of configurations and which tunable to change",
       [](const PolicySetup& s) { return detail::hierarchical_over_space(s); }},
      {"iterated_local_search", "descent over neighbours, leaps at local optima, restarts",
       [](const PolicySetup& s) { return Any(IteratedLocalSearch(s.space, {.seed = s.seed})); }},
      {"lfbo", "a random forest's most promising among neighbours of the best and random draws",
       [](const PolicySetup& s) { return Any(Lfbo(s.space, {.seed = s.seed, .budget = s.budget})); }},
      {"map_elites", "MAP-Elites on islands over moves between configurations",
       [](const PolicySetup& s) { return detail::over_space<MapElites>(s, MapElitesOptions{}); }},
      {"particle_swarm", "particles drawn to the best places found",
       [](const PolicySetup& s) {
         return Any(ParticleSwarm(s.space, {.seed = s.seed, .default_first = detail::default_first(s)}));
       }},
      {"random", "uniform draws without repetition: the baseline",
       [](const PolicySetup& s) {
         return Any(RandomSearch(s.space, {.seed = s.seed, .default_first = detail::default_first(s)}));
       }},
      {"reflexion", "one chain of changes, each made to the last configuration",
       [](const PolicySetup& s) { return detail::over_space<Reflexion>(s, ReflexionOptions{}); }},
      {"simulated_annealing", "a walk that accepts slower neighbours ever less often, heated again when cold",
       [](const PolicySetup& s) {
         return Any(SimulatedAnnealing(s.space, {.seed = s.seed, .default_first = detail::default_first(s)}));
       }},
      {"tabu", "moves to the best neighbour even when slower, values just left are barred",
       [](const PolicySetup& s) {
         return Any(TabuSearch(s.space, {.seed = s.seed, .default_first = detail::default_first(s)}));
       }},
      {"tpe", "draws where good configurations are denser than the others",
       [](const PolicySetup& s) { return Any(Tpe(s.space, {.seed = s.seed})); }},
      {"uct", "Monte Carlo tree search over moves between configurations",
       [](const PolicySetup& s) { return detail::over_space<Uct>(s, UctOptions{}); }},
  };
  return entries;
}

KERNELSEARCH_INLINE Result<AnyPolicy<Config>> try_make_config_policy(std::string_view name,
                                                                     const PolicySetup& setup) {
  std::string known;
  std::vector<std::string> names;
  for (const ConfigPolicyEntry& entry : config_policies()) {
    if (entry.name == name) return entry.make(setup);
    names.emplace_back(entry.name);
    (known += known.empty() ? "" : ", ") += entry.name;
  }
  const std::string nearest = nearest_name(name, names);
  return Fault{"no policy of that name", std::string(name),
               (nearest.empty() ? "" : "did you mean " + nearest + "? ") + "there are " + known};
}

KERNELSEARCH_INLINE AnyPolicy<Config> make_config_policy(std::string_view name, const PolicySetup& setup) {
  return detail::value_or_raise(try_make_config_policy(name, setup));
}

}  // namespace kernelsearch
