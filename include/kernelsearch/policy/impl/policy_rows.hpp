// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "kernelsearch/core/impl/field_rows.hpp"
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
#include "kernelsearch/policy/hierarchical_ucb_options.hpp"
#include "kernelsearch/policy/impl/policy_entry.hpp"
#include "kernelsearch/policy/iterated_local_search.hpp"
#include "kernelsearch/policy/lfbo.hpp"
#include "kernelsearch/policy/map_elites.hpp"
#include "kernelsearch/policy/nsga2.hpp"
#include "kernelsearch/policy/particle_swarm.hpp"
#include "kernelsearch/policy/policy_bandit.hpp"
#include "kernelsearch/policy/policy_option.hpp"
#include "kernelsearch/policy/random_search.hpp"
#include "kernelsearch/policy/reflexion.hpp"
#include "kernelsearch/policy/simulated_annealing.hpp"
#include "kernelsearch/policy/tabu_search.hpp"
#include "kernelsearch/policy/tpe.hpp"
#include "kernelsearch/policy/uct.hpp"

/// The policies of the registry and their options: the one table that every interface takes them from. A new
/// policy is its include, the rows of its options and its entry.
namespace kernelsearch::detail::rows {

inline constexpr double most_of_a_count = fields::most_of_a_count;
using fields::above_0, fields::amount, fields::at_least_1, fields::Bounds, fields::counted, fields::share;

template <auto Member>
constexpr PolicyOption option(std::string_view name, Bounds bounds, std::string_view summary) {
  return {fields::field<Member>(name, bounds, summary)};
}
template <auto Member>
constexpr PolicyOption option(std::string_view name, std::string_view summary) {
  return {fields::field<Member>(name, Bounds{}, summary)};
}
template <auto Member, const auto& Names>
constexpr PolicyOption choice(std::string_view name, std::string_view summary) {
  return {fields::choice<Member, Names>(name, summary)};
}

inline constexpr std::string_view neighbourhoods[] = {"hamming", "adjacent"};
inline constexpr std::string_view arm_priors[] = {"explore", "constant", "pooled"};
inline constexpr std::string_view kernel_choices[] = {"compatible", "softmax"};
inline constexpr std::string_view helion_proposals[] = {"tree", "pattern"};
inline constexpr std::string_view helion_starts[] = {"random", "best_known"};
inline constexpr std::string_view uct_backups[] = {"mean", "best"};
static_assert(static_cast<int>(Neighbourhood::adjacent) == 1 && static_cast<int>(ArmPrior::pooled) == 2 &&
              static_cast<int>(KernelChoice::softmax) == 1 && static_cast<int>(UctBackup::best) == 1 &&
              static_cast<int>(HelionProposals::pattern) == 1 &&
              static_cast<int>(HelionStart::best_known) == 1);

/// Whether the default configuration comes first, which most policies ask.
template <class Options>
constexpr PolicyOption default_first() {
  PolicyOption row = option<&Options::default_first>(
      "default_first", "propose the space's default configuration before anything else");
  row.from_space = true;
  return row;
}

constexpr std::string_view patience_of_a_population =
    "results in a row that do not improve the population before a fresh one; 0: never";
constexpr std::string_view neighbourhood_summary =
    "hamming: one tunable differs; adjacent: it moves by one position, or freely where it has at most four";

// ---- The rows --------------------

inline constexpr PolicyOption bandit[] = {
    option<&PolicyBanditOptions::exploration>("exploration", amount,
                                              "weight of the bonus for arms that were seldom used"),
    option<&PolicyBanditOptions::window>("window", at_least_1, "latest proposals that count"),
};

inline constexpr PolicyOption bayesian[] = {
    default_first<BayesianSearchOptions>(),
    option<&BayesianSearchOptions::first_points>(
        "first_points", counted, "configurations spread over the space before the model is asked"),
    option<&BayesianSearchOptions::alignment_weight>(
        "alignment_weight", amount, "weight of alignment against distance when those are chosen"),
    option<&BayesianSearchOptions::alignment_mean>(
        "alignment_mean", amount, "standard deviations that full alignment is expected to gain at first"),
    option<&BayesianSearchOptions::pool>(
        "pool", {8, most_of_a_count},
        "candidates that the model is asked about; a smaller space is listed whole"),
    option<&BayesianSearchOptions::model_points>("model_points", {2, most_of_a_count},
                                                 "observations that the model is refitted on"),
    option<&BayesianSearchOptions::fit_points>("fit_points", {2, most_of_a_count},
                                               "observations that length scales are fitted on"),
    option<&BayesianSearchOptions::refit_each>(
        "refit_each", counted, "up to this many observations the model is refitted after each"),
    option<&BayesianSearchOptions::refit_growth>(
        "refit_growth", {1}, "afterwards, the growth of their number that a refit waits for"),
    option<&BayesianSearchOptions::perturbation>(
        "perturbation", amount, "standard deviation of the logarithms of length scales about the fit"),
    option<&BayesianSearchOptions::failure_penalty>(
        "failure_penalty", share, "share of the expected improvement that a sure failure loses"),
};

inline constexpr PolicyOption beam[] = {
    option<&BeamOptions::width>("width", at_least_1, "configurations kept from one generation to the next"),
    option<&BeamOptions::branch>("branch", at_least_1, "proposals from each of them in a generation"),
    option<&BeamOptions::recombine>("recombine", share, "share of proposals that join two of the beam"),
    option<&BeamOptions::keep_parents>("keep_parents",
                                       "parents compete with their children for the next beam"),
};

inline constexpr PolicyOption best_of_k[] = {
    option<&BestOfKOptions::k>("k", at_least_1, "changes of one configuration"),
    option<&BestOfKOptions::climb>("climb",
                                   "go on from the best of them; false: changes of a random one follow"),
};

inline constexpr PolicyOption differential_evolution[] = {
    default_first<DifferentialEvolutionOptions>(),
    option<&DifferentialEvolutionOptions::population>("population", {4, most_of_a_count}, "members"),
    option<&DifferentialEvolutionOptions::weight>("weight", amount,
                                                  "weight of the difference between two members (F)"),
    option<&DifferentialEvolutionOptions::crossover>("crossover", share,
                                                     "chance that a tunable takes the mutant's value (CR)"),
    option<&DifferentialEvolutionOptions::greed>(
        "greed", share, "chance that the mutant is built on the best member, not on a random one"),
    option<&DifferentialEvolutionOptions::patience>("patience", counted, patience_of_a_population),
};

inline constexpr PolicyOption epsilon_greedy_tree[] = {
    option<&EpsilonGreedyTreeOptions::root_children>(
        "root_children", counted, "children of the root, after which it cannot be selected"),
    option<&EpsilonGreedyTreeOptions::dead_children>(
        "dead_children", counted, "a node with more children than these, all failed, cannot be selected"),
    option<&EpsilonGreedyTreeOptions::epsilon>("epsilon", share,
                                               "chance of a random leaf instead of the best node"),
    option<&EpsilonGreedyTreeOptions::epsilon_decay>("epsilon_decay", share,
                                                     "factor of epsilon for each trial; 1: none"),
    option<&EpsilonGreedyTreeOptions::least_epsilon>("least_epsilon", share, "where the decay stops"),
    option<&EpsilonGreedyTreeOptions::graded>(
        "graded", "a failed node counts as its parent slowed by what it lacks, not as infinitely slow"),
};

inline constexpr PolicyOption flat_ucb[] = {
    option<&FlatUcbOptions::exploration>("exploration", amount, "c in sqrt(c ln t / n); 0: greedy choice"),
    option<&FlatUcbOptions::epsilon>("epsilon", share, "share of tunables drawn at random; 1: random choice"),
};

inline constexpr PolicyOption genetic[] = {
    default_first<GeneticAlgorithmOptions>(),
    option<&GeneticAlgorithmOptions::population>("population", {2, most_of_a_count},
                                                 "survivors; as many random configurations come first"),
    option<&GeneticAlgorithmOptions::tournament>("tournament", at_least_1,
                                                 "members that compete to become a parent"),
    option<&GeneticAlgorithmOptions::crossover>("crossover", share, "share of children with two parents"),
    option<&GeneticAlgorithmOptions::mutations>("mutations", amount,
                                                "tunables changed at random in a child, on average"),
    option<&GeneticAlgorithmOptions::patience>("patience", counted, patience_of_a_population),
};

inline constexpr PolicyOption greedy[] = {
    default_first<GreedySearchOptions>(),
    option<&GreedySearchOptions::starts>(
        "starts", counted, "random configurations before each climb, which begins at the best of them"),
    choice<&GreedySearchOptions::neighbourhood, neighbourhoods>("neighbourhood", neighbourhood_summary),
};

inline constexpr PolicyOption helion_lfbo[] = {
    choice<&HelionLfboOptions::proposals, helion_proposals>(
        "proposals", "tree: walks along the best one's path in a tree; pattern: random moves"),
    option<&HelionLfboOptions::initial>("initial", at_least_1, "configurations that a run begins with"),
    option<&HelionLfboOptions::copies>("copies", at_least_1, "the best of them, searched from in parallel"),
    option<&HelionLfboOptions::generations>("generations", counted, "generations of a run, at most"),
    option<&HelionLfboOptions::neighbours>(
        "neighbours", counted, "proposals of each copy in a generation; 0: 200 (tree) or 300 (pattern)"),
    option<&HelionLfboOptions::fraction>("fraction", share, "share of them that is measured"),
    option<&HelionLfboOptions::radius>("radius", counted,
                                       "steps of a move in the tree's walk, and of block sizes and warps"),
    option<&HelionLfboOptions::quantile>("quantile", share,
                                         "quantile of the times up to which a configuration counts as good"),
    option<&HelionLfboOptions::patience>("patience", counted,
                                         "generations without a gain that a copy survives"),
    option<&HelionLfboOptions::similarity_penalty>(
        "similarity_penalty", amount, "penalty for sharing leaves with what was selected already"),
    option<&HelionLfboOptions::min_improvement>("min_improvement", amount,
                                                "relative gain below which a result counts as no gain"),
    option<&HelionLfboOptions::polish_rounds>("polish_rounds", counted,
                                              "rounds of descent over all single moves at the end of a run"),
    option<&HelionLfboOptions::trees>("trees", at_least_1, "trees of the forest"),
    option<&HelionLfboOptions::block_sizes>(
        "block_sizes", "tunables of which every random mutant moves one; none: those of role block_size"),
    option<&HelionLfboOptions::warps>(
        "warps", "the tunable that every random mutant moves; none: the one of role warps"),
    option<&HelionLfboOptions::learn_violations>(
        "learn_violations", "learn from configurations that break a constraint, as failures"),
    option<&HelionLfboOptions::restart>("restart", "begin another run when one ends; false: a single run"),
    choice<&HelionLfboOptions::start, helion_starts>(
        "start", "random: the default and random configurations; best_known: the best from outside"),
};

inline constexpr PolicyOption hierarchical_ucb[] = {
    option<&HierarchicalUcbOptions::clusters>("clusters", at_least_1,
                                              "clusters, at most; 1: a flat bandit with heads"),
    option<&HierarchicalUcbOptions::recluster_every>("recluster_every", at_least_1,
                                                     "trials between two clusterings"),
    option<&HierarchicalUcbOptions::subsample>("subsample", share,
                                               "share of the pool that k-means++ seeds from"),
    option<&HierarchicalUcbOptions::cluster_features>("cluster_features",
                                                      "features that are clustered by; none: all"),
    option<&HierarchicalUcbOptions::log_features>("log_features", "features that are taken as ln(1 + x)"),
    option<&HierarchicalUcbOptions::cluster_by_time>("cluster_by_time",
                                                     "the logarithm of the time is one of the features"),
    option<&HierarchicalUcbOptions::exploration>("exploration", amount, "c in sqrt(c ln t / n)"),
    choice<&HierarchicalUcbOptions::prior, arm_priors>(
        "prior",
        "explore: each arm once first; constant: as prior_pulls of prior_mean; pooled: of all clusters' "
        "mean"),
    option<&HierarchicalUcbOptions::prior_mean>("prior_mean", {-1, 1}, "reward that arms begin with"),
    option<&HierarchicalUcbOptions::prior_pulls>("prior_pulls", amount, "pulls that the prior counts for"),
    option<&HierarchicalUcbOptions::alpha>("alpha", amount, "weight of the heads; 0: none"),
    option<&HierarchicalUcbOptions::profile_features>(
        "profile_features", "features that the heads see; none: all of the first right configuration"),
    option<&HierarchicalUcbOptions::warm_up_epochs>("warm_up_epochs", counted,
                                                    "passes over the examples of earlier runs"),
    option<&HierarchicalUcbOptions::example_pulls>(
        "example_pulls", amount,
        "pulls that the examples' mean reward counts for; 0: they warm up the heads alone"),
    choice<&HierarchicalUcbOptions::kernel, kernel_choices>(
        "kernel",
        "configuration of a cluster that is changed: compatible: the heads' choice; softmax: drawn by speed"),
    option<&HierarchicalUcbOptions::temperature>("temperature", above_0, "temperature of the softmax"),
    option<&HierarchicalUcbOptions::lag>(
        "lag", amount, "weight of the logarithm of how far a configuration is behind the best; 0: none"),
    option<&HierarchicalUcbOptions::frontier>("frontier", counted,
                                              "fastest configurations that are changed; 0: all"),
    option<&HierarchicalUcbOptions::saturated>(
        "saturated", {0, 100}, "percent of the hardware's limit from which a target masks its strategies"),
};

inline constexpr PolicyOption iterated_local_search[] = {
    option<&IteratedLocalSearchOptions::initial>("initial", counted,
                                                 "first configurations: the default and random ones"),
    option<&IteratedLocalSearchOptions::perturbation>("perturbation", counted,
                                                      "random steps away from the best at a local optimum"),
    option<&IteratedLocalSearchOptions::restart_after>(
        "restart_after", counted, "perturbations in a row without a gain before a random restart"),
    choice<&IteratedLocalSearchOptions::neighbourhood, neighbourhoods>("neighbourhood",
                                                                       neighbourhood_summary),
    option<&IteratedLocalSearchOptions::max_neighbours>("max_neighbours", at_least_1,
                                                        "neighbours of one centre, at most"),
};

inline constexpr PolicyOption lfbo[] = {
    option<&LfboOptions::initial>(
        "initial", counted, "first configurations; 0: an eleventh of the budget, from 6 to 16, else 12"),
    option<&LfboOptions::trees>("trees", at_least_1, "trees of the forest"),
    option<&LfboOptions::exploration>("exploration", amount,
                                      "deviations between trees that are added to what they promise"),
    option<&LfboOptions::random_share>("random_share", share, "share of the proposals that are random draws"),
    option<&LfboOptions::stagnation>("stagnation", at_least_1,
                                     "outcomes without a new best that raise that share by 1"),
    option<&LfboOptions::most_random>("most_random", share, "the most that it is raised to"),
    option<&LfboOptions::incumbents>("incumbents", at_least_1,
                                     "the best configurations, around which proposals are looked for"),
    option<&LfboOptions::crossovers>("crossovers", counted, "candidates made of two of them"),
    option<&LfboOptions::random_candidates>("random_candidates", counted, "candidates drawn at random"),
    option<&LfboOptions::refit>("refit", amount, "share of new outcomes after which the forest is made anew"),
    option<&LfboOptions::similarity_penalty>(
        "similarity_penalty", amount,
        "penalty for sharing all leaves with what is out; 1: from best to median"),
};

inline constexpr PolicyOption map_elites[] = {
    option<&MapElitesOptions::islands>("islands", at_least_1, "archives that exchange their best in a ring"),
    option<&MapElitesOptions::migrate_every>("migrate_every", counted,
                                             "trials between two exchanges; 0: none"),
    option<&MapElitesOptions::recombine>("recombine", share,
                                         "share of proposals that join two elites of an island"),
};

inline constexpr PolicyOption nsga2[] = {
    default_first<Nsga2Options>(),
    option<&Nsga2Options::population>("population", {2, 200},
                                      "survivors; as many random configurations come first"),
    option<&Nsga2Options::crossover>("crossover", share, "share of children with two parents"),
    option<&Nsga2Options::mutations>("mutations", amount,
                                     "tunables changed at random in a child, on average"),
};

inline constexpr PolicyOption particle_swarm[] = {
    default_first<ParticleSwarmOptions>(),
    option<&ParticleSwarmOptions::particles>("particles", at_least_1, "particles"),
    option<&ParticleSwarmOptions::inertia>("inertia", amount,
                                           "share of its velocity that a particle keeps (w)"),
    option<&ParticleSwarmOptions::own>("own", amount,
                                       "pull of the best place that the particle itself found (c1)"),
    option<&ParticleSwarmOptions::common>("common", amount,
                                          "pull of the best place that its informants found (c2)"),
    option<&ParticleSwarmOptions::informants>("informants", counted,
                                              "particles on either side of it in a ring that it learns from"),
    option<&ParticleSwarmOptions::patience>("patience", counted, patience_of_a_population),
};

inline constexpr PolicyOption random[] = {default_first<RandomSearchOptions>()};

inline constexpr PolicyOption reflexion[] = {
    option<&ReflexionOptions::patience>(
        "patience", counted, "steps without a gain before the chain goes on from the best; 0: never"),
};

inline constexpr PolicyOption simulated_annealing[] = {
    default_first<SimulatedAnnealingOptions>(),
    option<&SimulatedAnnealingOptions::starts>(
        "starts", counted, "random configurations at first; the walk begins at the best of them"),
    option<&SimulatedAnnealingOptions::hot>(
        "hot", above_0, "first temperature, in units of the spread of the results so far"),
    option<&SimulatedAnnealingOptions::cold>("cold", above_0,
                                             "last temperature, after which it begins afresh"),
    option<&SimulatedAnnealingOptions::steps>("steps", at_least_1, "proposals from hot to cold"),
    choice<&SimulatedAnnealingOptions::neighbourhood, neighbourhoods>("neighbourhood", neighbourhood_summary),
};

inline constexpr PolicyOption tabu[] = {
    default_first<TabuSearchOptions>(),
    option<&TabuSearchOptions::starts>("starts", counted,
                                       "random configurations at first; the walk begins at the best of them"),
    option<&TabuSearchOptions::candidates>("candidates", at_least_1,
                                           "unknown neighbours measured before each move"),
    option<&TabuSearchOptions::tenure>("tenure", counted,
                                       "moves during which a value that was left must not come back"),
    option<&TabuSearchOptions::patience>("patience", counted,
                                         "moves without a new best before it begins afresh"),
    choice<&TabuSearchOptions::neighbourhood, neighbourhoods>("neighbourhood", neighbourhood_summary),
};

inline constexpr PolicyOption tpe[] = {
    option<&TpeOptions::initial>("initial", counted, "random configurations first, the default leading them"),
    option<&TpeOptions::good_share>("good_share", {0.001, 1},
                                    "share of the known configurations that count as good (gamma)"),
    option<&TpeOptions::most_good>("most_good", at_least_1, "the most that count as good"),
    option<&TpeOptions::candidates>(
        "candidates", at_least_1,
        "configurations drawn from the good, the most promising of which is proposed"),
    option<&TpeOptions::prior_weight>("prior_weight", above_0, "weight of the flat prior, in configurations"),
    option<&TpeOptions::min_bandwidth>("min_bandwidth", above_0,
                                       "least width of the kernels, in positions of values"),
};

inline constexpr PolicyOption uct[] = {
    option<&UctOptions::exploration>("exploration", amount,
                                     "c in value + c sqrt(ln N / n), values from 0 to 1"),
    option<&UctOptions::widening>(
        "widening", above_0, "a node visited n times has at most ceil(widening * n^widening_power) children"),
    option<&UctOptions::widening_power>("widening_power", share, "see widening"),
    choice<&UctOptions::backup, uct_backups>(
        "backup", "what a node is worth: the mean of its subtree, as in UCT, or the best of it"),
};

// ---- The policies by name, in order --------------------

inline constexpr ConfigPolicyEntry entries[] = {
    policy_entry<&detail::standard_options<PolicyBanditOptions>, &detail::bandit_over_space>(
        "bandit",
        "annealing, genetic, differential evolution and greedy, the more successful the more often; for "
        "comparison "
        "with OpenTuner",
        bandit),
    policy_entry<BayesianSearch, BayesianSearchOptions>(
        "bayesian",
        "a Gaussian process with alignment features, expected improvement, earlier runs: the default, for "
        "every "
        "space and budget",
        bayesian),
    policy_entry<Beam, BeamOptions>(
        "beam",
        "beam search over changes of configurations; for comparison: the search of GEAK without a model",
        beam),
    policy_entry<&detail::climbing_options, &detail::over_space<BestOfK, BestOfKOptions>>(
        "best_of_k",
        "the best of k changes to one configuration, then of that one; for comparison: what STARK and "
        "KernelBand are "
        "measured against",
        best_of_k),
    policy_entry<DifferentialEvolution, DifferentialEvolutionOptions>(
        "differential_evolution",
        "differences of members, added to others, compete with their targets; for comparison with other "
        "tuners",
        differential_evolution),
    policy_entry<EpsilonGreedyTree, EpsilonGreedyTreeOptions>(
        "epsilon_greedy_tree",
        "a tree of changes of configurations; for comparison: the search of STARK without a model",
        epsilon_greedy_tree),
    policy_entry<&detail::standard_options<detail::NoOptions>, &detail::exhaustive_over_space>(
        "exhaustive", "every valid configuration once, in order; for small spaces, and to record them", {}),
    policy_entry<FlatUcb, FlatUcbOptions>(
        "flat_ucb",
        "UCB1 over which tunable to change in the best configuration; for comparison with hierarchical_ucb",
        flat_ucb),
    policy_entry<GeneticAlgorithm, GeneticAlgorithmOptions>(
        "genetic",
        "tournaments, uniform crossover and mutation, without generations; for comparison with other tuners",
        genetic),
    policy_entry<GreedySearch, GreedySearchOptions>(
        "greedy", "best-improvement hill climbing, random restarts; for comparison with other tuners",
        greedy),
    policy_entry<HelionLfbo, HelionLfboOptions>(
        "helion_lfbo", "Helion 1.5.1's LFBO tree search, run after run; for comparison with Helion",
        helion_lfbo),
    policy_entry<&detail::small_helion_options, &detail::over_space<HelionLfbo, HelionLfboOptions>>(
        "helion_lfbo_small",
        "helion_lfbo with the smaller population that does better; for comparison with Helion", helion_lfbo),
    policy_entry<&detail::warmed_options, &detail::over_space<HierarchicalUcb, HierarchicalUcbOptions>>(
        "hierarchical_ucb",
        "a bandit over clusters of configurations and which tunable to change; for comparison: the search of "
        "KernelBand without a model",
        hierarchical_ucb),
    policy_entry<IteratedLocalSearch, IteratedLocalSearchOptions>(
        "iterated_local_search",
        "descent over neighbours, leaps at local optima, restarts; where a proposal must take microseconds",
        iterated_local_search),
    policy_entry<Lfbo, LfboOptions>("lfbo",
                                    "a random forest's most promising among neighbours of the best and "
                                    "random draws; second to bayesian in our "
                                    "figures",
                                    lfbo),
    policy_entry<MapElites, MapElitesOptions>("map_elites",
                                              "the best of each cell of features, on islands; for "
                                              "comparison: the search of AlphaEvolve without a model",
                                              map_elites),
    policy_entry<Nsga2, Nsga2Options>("nsga2",
                                      "a genetic algorithm that orders its members by fronts and crowding "
                                      "(NSGA-II); for several objectives",
                                      nsga2),
    policy_entry<ParticleSwarm, ParticleSwarmOptions>(
        "particle_swarm", "particles drawn to the best places found; for comparison with other tuners",
        particle_swarm),
    policy_entry<RandomSearch, RandomSearchOptions>(
        "random", "uniform draws without repetition: the baseline that policies are scored against", random),
    policy_entry<Reflexion, ReflexionOptions>("reflexion",
                                              "one chain of changes, each made to the last configuration; "
                                              "for comparison: the search of GEAK without a "
                                              "model",
                                              reflexion),
    policy_entry<SimulatedAnnealing, SimulatedAnnealingOptions>(
        "simulated_annealing",
        "a walk that accepts slower neighbours ever less often, heated again when cold; where a proposal "
        "must take "
        "microseconds",
        simulated_annealing),
    policy_entry<TabuSearch, TabuSearchOptions>("tabu",
                                                "moves to the best neighbour even when slower, values just "
                                                "left are barred; for comparison with other tuners",
                                                tabu),
    policy_entry<Tpe, TpeOptions>(
        "tpe", "draws where good configurations are denser than the others; for comparison with Optuna", tpe),
    policy_entry<Uct, UctOptions>(
        "uct", "Monte Carlo tree search over changes of configurations; for comparison with the other trees",
        uct),
};

}  // namespace kernelsearch::detail::rows
