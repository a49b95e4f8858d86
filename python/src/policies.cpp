// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <map>
#include <string_view>
#include <type_traits>
#include <utility>

#include "binding.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/policy/bayesian_search.hpp"
#include "kernelsearch/policy/beam.hpp"
#include "kernelsearch/policy/best_of_k.hpp"
#include "kernelsearch/policy/differential_evolution.hpp"
#include "kernelsearch/policy/epsilon_greedy_tree.hpp"
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

namespace kernelsearch::python {
namespace {

// ---- Options by name --------------------

/// One member of the options of a policy.
template <class Options>
struct Field {
  const char* name;
  nb::object (*read)(const Options&);
  void (*write)(Options&, nb::handle value, const std::string& place);
};

struct Choice {
  const char* name;
  int value;
};

[[noreturn]] void wrong_option(const std::string& place, nb::handle value, const std::string& todo) {
  detail::raise<ConfigError>("an option of a policy that does not fit",
                             place + " = " + nb::cast<std::string>(nb::repr(value)), todo);
}

template <class Member>
void assign(Member& member, nb::handle value, const std::string& place) {
  if constexpr (std::is_same_v<Member, std::vector<std::string>>) {
    member.clear();
    for (nb::handle entry : nb::iter(value)) member.push_back(nb::cast<std::string>(entry));
  } else {
    const Value given = to_value(value, "option " + place);
    if constexpr (std::is_same_v<Member, std::string>) {
      if (!std::holds_alternative<std::string>(given)) wrong_option(place, value, "give a str");
      member = std::get<std::string>(given);
    } else if constexpr (std::is_same_v<Member, bool>) {
      if (!std::holds_alternative<bool>(given)) wrong_option(place, value, "give True or False");
      member = std::get<bool>(given);
    } else if constexpr (std::is_floating_point_v<Member>) {
      if (std::holds_alternative<std::int64_t>(given))
        member = static_cast<Member>(std::get<std::int64_t>(given));
      else if (std::holds_alternative<double>(given))
        member = std::get<double>(given);
      else
        wrong_option(place, value, "give a number");
    } else {
      static_assert(std::is_unsigned_v<Member>);
      if (!std::holds_alternative<std::int64_t>(given) || std::get<std::int64_t>(given) < 0)
        wrong_option(place, value, "give a whole number, 0 or more");
      member = static_cast<Member>(std::get<std::int64_t>(given));
    }
  }
}

template <class Options, auto Member>
Field<Options> field(const char* name) {
  return {name,
          [](const Options& options) -> nb::object {
            const auto& value = options.*Member;
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::size_t>)
              return nb::int_(static_cast<std::uint64_t>(value));
            else
              return nb::cast(value);
          },
          [](Options& options, nb::handle value, const std::string& place) {
            assign(options.*Member, value, place);
          }};
}

/// Where each enumerator has the number of its place in `names`.
template <class Options, auto Member, const auto& Names>
Field<Options> choice(const char* name) {
  return {name,
          [](const Options& options) -> nb::object {
            return nb::str(Names[static_cast<std::size_t>(options.*Member)]);
          },
          [](Options& options, nb::handle value, const std::string& place) {
            std::string there;
            for (std::size_t i = 0; i < std::size(Names); ++i) {
              if (PyUnicode_Check(value.ptr()) && nb::cast<std::string>(value) == Names[i]) {
                options.*Member = static_cast<std::decay_t<decltype(options.*Member)>>(i);
                return;
              }
              (there += there.empty() ? "" : ", ") += Names[i];
            }
            wrong_option(place, value, "there are " + there);
          }};
}

constexpr const char* neighbourhood_names[] = {"hamming", "adjacent"};
constexpr const char* prior_names[] = {"explore", "constant", "pooled"};
constexpr const char* kernel_names[] = {"compatible", "softmax"};
constexpr const char* proposals_names[] = {"tree", "pattern"};
constexpr const char* start_names[] = {"random", "best_known"};
static_assert(static_cast<int>(Neighbourhood::adjacent) == 1 && static_cast<int>(ArmPrior::pooled) == 2);
static_assert(static_cast<int>(KernelChoice::softmax) == 1 &&
              static_cast<int>(HelionProposals::pattern) == 1);
static_assert(static_cast<int>(HelionStart::best_known) == 1);

#define KS_FIELD(name) field<O, &O::name>(#name)

template <class O>
std::vector<Field<O>> fields();
template <>
std::vector<Field<BayesianSearchOptions>> fields() {
  using O = BayesianSearchOptions;
  return {KS_FIELD(default_first),  KS_FIELD(first_points),   KS_FIELD(alignment_weight),
          KS_FIELD(alignment_mean), KS_FIELD(pool),           KS_FIELD(model_points),
          KS_FIELD(fit_points),     KS_FIELD(refit_each),     KS_FIELD(refit_growth),
          KS_FIELD(perturbation),   KS_FIELD(failure_penalty)};
}
template <>
std::vector<Field<BeamOptions>> fields() {
  using O = BeamOptions;
  return {KS_FIELD(width), KS_FIELD(branch), KS_FIELD(recombine), KS_FIELD(keep_parents)};
}
template <>
std::vector<Field<BestOfKOptions>> fields() {
  using O = BestOfKOptions;
  return {KS_FIELD(k), KS_FIELD(climb)};
}
template <>
std::vector<Field<DifferentialEvolutionOptions>> fields() {
  using O = DifferentialEvolutionOptions;
  return {KS_FIELD(default_first), KS_FIELD(population), KS_FIELD(weight),
          KS_FIELD(crossover),     KS_FIELD(greed),      KS_FIELD(patience)};
}
template <>
std::vector<Field<EpsilonGreedyTreeOptions>> fields() {
  using O = EpsilonGreedyTreeOptions;
  return {KS_FIELD(root_children), KS_FIELD(dead_children), KS_FIELD(epsilon),
          KS_FIELD(epsilon_decay), KS_FIELD(least_epsilon), KS_FIELD(graded)};
}
template <>
std::vector<Field<FlatUcbOptions>> fields() {
  using O = FlatUcbOptions;
  return {KS_FIELD(exploration), KS_FIELD(epsilon)};
}
template <>
std::vector<Field<GeneticAlgorithmOptions>> fields() {
  using O = GeneticAlgorithmOptions;
  return {KS_FIELD(default_first), KS_FIELD(population), KS_FIELD(tournament),
          KS_FIELD(crossover),     KS_FIELD(mutations),  KS_FIELD(patience)};
}
template <>
std::vector<Field<GreedySearchOptions>> fields() {
  using O = GreedySearchOptions;
  return {KS_FIELD(default_first), KS_FIELD(starts),
          choice<O, &O::neighbourhood, neighbourhood_names>("neighbourhood")};
}
template <>
std::vector<Field<HelionLfboOptions>> fields() {
  using O = HelionLfboOptions;
  return {choice<O, &O::proposals, proposals_names>("proposals"),
          KS_FIELD(initial),
          KS_FIELD(copies),
          KS_FIELD(generations),
          KS_FIELD(neighbours),
          KS_FIELD(fraction),
          KS_FIELD(radius),
          KS_FIELD(quantile),
          KS_FIELD(patience),
          KS_FIELD(similarity_penalty),
          KS_FIELD(min_improvement),
          KS_FIELD(polish_rounds),
          KS_FIELD(trees),
          KS_FIELD(block_sizes),
          KS_FIELD(warps),
          KS_FIELD(learn_violations),
          KS_FIELD(restart),
          choice<O, &O::start, start_names>("start")};
}
template <>
std::vector<Field<HierarchicalUcbOptions>> fields() {
  using O = HierarchicalUcbOptions;
  return {KS_FIELD(clusters),
          KS_FIELD(recluster_every),
          KS_FIELD(subsample),
          KS_FIELD(cluster_features),
          KS_FIELD(log_features),
          KS_FIELD(cluster_by_time),
          KS_FIELD(exploration),
          choice<O, &O::prior, prior_names>("prior"),
          KS_FIELD(prior_mean),
          KS_FIELD(prior_pulls),
          KS_FIELD(alpha),
          KS_FIELD(profile_features),
          KS_FIELD(warm_up_epochs),
          KS_FIELD(example_pulls),
          choice<O, &O::kernel, kernel_names>("kernel"),
          KS_FIELD(temperature),
          KS_FIELD(lag),
          KS_FIELD(frontier),
          KS_FIELD(saturated)};
}
template <>
std::vector<Field<IteratedLocalSearchOptions>> fields() {
  using O = IteratedLocalSearchOptions;
  return {KS_FIELD(initial), KS_FIELD(perturbation), KS_FIELD(restart_after),
          choice<O, &O::neighbourhood, neighbourhood_names>("neighbourhood"), KS_FIELD(max_neighbours)};
}
template <>
std::vector<Field<LfboOptions>> fields() {
  using O = LfboOptions;
  return {
      KS_FIELD(initial),           KS_FIELD(trees),       KS_FIELD(exploration),       KS_FIELD(random_share),
      KS_FIELD(stagnation),        KS_FIELD(most_random), KS_FIELD(incumbents),        KS_FIELD(crossovers),
      KS_FIELD(random_candidates), KS_FIELD(refit),       KS_FIELD(similarity_penalty)};
}
template <>
std::vector<Field<MapElitesOptions>> fields() {
  using O = MapElitesOptions;
  return {KS_FIELD(islands), KS_FIELD(migrate_every), KS_FIELD(recombine)};
}
template <>
std::vector<Field<ParticleSwarmOptions>> fields() {
  using O = ParticleSwarmOptions;
  return {KS_FIELD(default_first), KS_FIELD(particles),  KS_FIELD(inertia), KS_FIELD(own),
          KS_FIELD(common),        KS_FIELD(informants), KS_FIELD(patience)};
}
template <>
std::vector<Field<PolicyBanditOptions>> fields() {
  using O = PolicyBanditOptions;
  return {KS_FIELD(exploration), KS_FIELD(window)};
}
template <>
std::vector<Field<RandomSearchOptions>> fields() {
  using O = RandomSearchOptions;
  return {KS_FIELD(default_first)};
}
template <>
std::vector<Field<ReflexionOptions>> fields() {
  using O = ReflexionOptions;
  return {KS_FIELD(patience)};
}
template <>
std::vector<Field<SimulatedAnnealingOptions>> fields() {
  using O = SimulatedAnnealingOptions;
  return {KS_FIELD(default_first), KS_FIELD(starts),
          KS_FIELD(hot),           KS_FIELD(cold),
          KS_FIELD(steps),         choice<O, &O::neighbourhood, neighbourhood_names>("neighbourhood")};
}
template <>
std::vector<Field<TabuSearchOptions>> fields() {
  using O = TabuSearchOptions;
  return {KS_FIELD(default_first), KS_FIELD(starts),
          KS_FIELD(candidates),    KS_FIELD(tenure),
          KS_FIELD(patience),      choice<O, &O::neighbourhood, neighbourhood_names>("neighbourhood")};
}
template <>
std::vector<Field<TpeOptions>> fields() {
  using O = TpeOptions;
  return {KS_FIELD(initial),    KS_FIELD(good_share),   KS_FIELD(most_good),
          KS_FIELD(candidates), KS_FIELD(prior_weight), KS_FIELD(min_bandwidth)};
}
template <>
std::vector<Field<UctOptions>> fields() {
  using O = UctOptions;
  return {KS_FIELD(exploration), KS_FIELD(widening), KS_FIELD(widening_power)};
}

#undef KS_FIELD

// ---- Policies with their options --------------------

/// As the registry: a declared default is tried first where it is not just the first values.
bool declared_default(const PolicySetup& setup) {
  const auto tunables = setup.space.tunables();
  return setup.try_default &&
         std::any_of(tunables.begin(), tunables.end(), [](const Tunable& t) { return t.default_index != 0; });
}

/// What the registry makes the policy with: the test of each policy's standard values compares the two.
template <class Options>
Options registry_options(const PolicySetup& setup) {
  Options options;
  if constexpr (requires { options.seed; }) options.seed = setup.seed;
  if constexpr (requires { options.default_first; }) options.default_first = declared_default(setup);
  if constexpr (std::is_same_v<Options, BayesianSearchOptions>) options.earlier = setup.earlier;
  if constexpr (std::is_same_v<Options, LfboOptions>) options.budget = setup.budget;
  if constexpr (std::is_same_v<Options, BestOfKOptions>) options.climb = true;
  return options;
}

template <class Policy, class Options>
AnyPolicy<Config> build(const PolicySetup& setup, Options options) {
  if constexpr (std::is_same_v<typename Policy::Proposal, Config>) {
    return AnyPolicy<Config>(Policy(setup.space, std::move(options)));
  } else {
    SpaceStrategies strategies(setup.space, {.seed = setup.seed});
    options.strategies = strategies.names();
    return AnyPolicy<Config>(MovesOverSpace(AnyPolicy<Move>(Policy(std::move(options))),
                                            std::move(strategies), {.seed = setup.seed}));
  }
}

template <class Options>
void apply(Options& options, const std::string& policy, const nb::dict& given) {
  const std::vector<Field<Options>> known = fields<Options>();
  for (auto [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const auto& f) { return name == f.name; });
    if (found == known.end()) {
      std::vector<std::string> names;
      std::string there;
      for (const auto& f : known) {
        names.emplace_back(f.name);
        (there += there.empty() ? "" : ", ") += f.name;
      }
      const std::string nearest = nearest_name(name, names);
      detail::raise<ConfigError>(
          "the policy " + policy + " has no such option", name,
          (nearest.empty() ? "" : "did you mean " + nearest + "? ") + "there are " + there);
    }
    found->write(options, value, policy + "." + name);
  }
}

template <class Options>
nb::dict listed(const Options& options) {
  nb::dict dict;
  for (const Field<Options>& f : fields<Options>()) dict[f.name] = f.read(options);
  return dict;
}

struct Configurable {
  AnyPolicy<Config> (*make)(const std::string& name, const PolicySetup&, const nb::dict& given);
  nb::dict (*options)();
};

template <class Policy, class Options>
Configurable of() {
  return {[](const std::string& name, const PolicySetup& setup, const nb::dict& given) {
            Options options = registry_options<Options>(setup);
            if constexpr (std::is_same_v<Options, HierarchicalUcbOptions>) {
              if (!setup.earlier.empty())
                options.examples = move_examples(SpaceStrategies(setup.space, {.seed = setup.seed}),
                                                 setup.earlier, {.seed = setup.seed});
            }
            apply(options, name, given);
            return build<Policy>(setup, std::move(options));
          },
          [] { return listed(registry_options<Options>(PolicySetup{Space::without_tunables()})); }};
}

const std::map<std::string, Configurable>& configurable() {
  static const std::map<std::string, Configurable> table{
      {"bandit",
       {[](const std::string& name, const PolicySetup& setup, const nb::dict& given) {
          PolicyBanditOptions options{.seed = setup.seed};
          apply(options, name, given);
          return AnyPolicy<Config>(
              PolicyBandit(default_bandit_arms(setup.space, setup.seed, declared_default(setup)), options));
        },
        [] { return listed(PolicyBanditOptions{}); }}},
      {"bayesian", of<BayesianSearch, BayesianSearchOptions>()},
      {"beam", of<Beam, BeamOptions>()},
      {"best_of_k", of<BestOfK, BestOfKOptions>()},
      {"differential_evolution", of<DifferentialEvolution, DifferentialEvolutionOptions>()},
      {"epsilon_greedy_tree", of<EpsilonGreedyTree, EpsilonGreedyTreeOptions>()},
      {"flat_ucb", of<FlatUcb, FlatUcbOptions>()},
      {"genetic", of<GeneticAlgorithm, GeneticAlgorithmOptions>()},
      {"greedy", of<GreedySearch, GreedySearchOptions>()},
      {"helion_lfbo", of<HelionLfbo, HelionLfboOptions>()},
      {"helion_lfbo_small",
       {[](const std::string& name, const PolicySetup& setup, const nb::dict& given) {
          HelionLfboOptions options = helion_lfbo_small(setup.seed);
          apply(options, name, given);
          return AnyPolicy<Config>(HelionLfbo(setup.space, options));
        },
        [] { return listed(helion_lfbo_small()); }}},
      {"hierarchical_ucb", of<HierarchicalUcb, HierarchicalUcbOptions>()},
      {"iterated_local_search", of<IteratedLocalSearch, IteratedLocalSearchOptions>()},
      {"lfbo", of<Lfbo, LfboOptions>()},
      {"map_elites", of<MapElites, MapElitesOptions>()},
      {"particle_swarm", of<ParticleSwarm, ParticleSwarmOptions>()},
      {"random", of<RandomSearch, RandomSearchOptions>()},
      {"reflexion", of<Reflexion, ReflexionOptions>()},
      {"simulated_annealing", of<SimulatedAnnealing, SimulatedAnnealingOptions>()},
      {"tabu", of<TabuSearch, TabuSearchOptions>()},
      {"tpe", of<Tpe, TpeOptions>()},
      {"uct", of<Uct, UctOptions>()},
  };
  return table;
}

// ---- Policies of Python --------------------

/// A policy whose ask and tell are Python's. It takes the GIL for each call, so any thread may drive it.
class PythonPolicy {
 public:
  using Proposal = Config;

  PythonPolicy(nb::object object, SpacePointer space, bool guarded)
      : state_(new State{std::move(object), std::move(space)},
               [](State* state) {
                 const nb::gil_scoped_acquire gil;
                 delete state;
               }),
        guarded_(guarded) {}

  std::vector<Config> ask(std::size_t n) {
    const nb::gil_scoped_acquire gil;
    return guard([&] {
      std::vector<Config> configs;
      const nb::object proposed = state_->object.attr("ask")(n);
      if (proposed.is_none()) return configs;
      for (nb::handle each : nb::iter(proposed)) configs.push_back(state_->space->config_of(each));
      if (configs.size() > n)
        detail::raise<ConfigError>("a policy proposed more than it was asked for",
                                   std::to_string(configs.size()) + " instead of " + std::to_string(n),
                                   "return at most n from ask(n)");
      return configs;
    });
  }

  void tell(std::span<const Observation<Config>> batch) {
    const nb::gil_scoped_acquire gil;
    guard([&] {
      nb::list trials;
      for (const auto& [config, outcome] : batch) {
        PythonTrial trial{state_->space, config};
        if (outcome.origin) trial.number = static_cast<std::uint64_t>(outcome.origin->proposal);
        trial.id = outcome.id;
        trial.told = true;
        if (outcome.ok()) trial.value = outcome.objective;
        trial.evaluation = outcome.evaluation;
        trials.append(nb::cast(std::move(trial)));
      }
      state_->object.attr("tell")(trials);
    });
  }

 private:
  struct State {
    nb::object object;
    SpacePointer space;
  };

  /// On another thread an exception of Python would lose its traceback: its text is kept.
  template <class Call>
  std::invoke_result_t<Call&> guard(Call call) const {
    if (!guarded_) return call();
    try {
      return call();
    } catch (nb::python_error& error) {
      detail::raise<ConfigError>("a policy of Python raised an exception", error.what(), "mend the policy");
    }
  }

  std::shared_ptr<State> state_;
  bool guarded_;
};
static_assert(SearchPolicy<PythonPolicy>);

}  // namespace

AnyPolicy<Config> make_policy(nb::handle policy, const SpacePointer& space, const PolicySetup& setup,
                              const nb::dict& options, bool guarded) {
  if (is_name(policy)) {
    const auto name = nb::cast<std::string>(policy);
    const auto found = configurable().find(name);
    if (nb::len(options) == 0 || found == configurable().end()) {
      AnyPolicy<Config> made = make_config_policy(name, setup);
      if (nb::len(options) != 0)
        detail::raise<ConfigError>("a policy without options was given some", name, "leave the options out");
      return made;
    }
    return found->second.make(name, setup, options);
  }
  nb::object object = nb::borrow(policy);
  const bool is_type = PyType_Check(policy.ptr()) != 0;
  if (is_type || !nb::hasattr(policy, "ask")) {
    if (PyCallable_Check(policy.ptr()) == 0)
      throw nb::type_error(
          "kernelsearch: a policy is a name, a class or function that is called as policy(space, seed), or "
          "an object with ask(n) and "
          "tell(trials)");
    nb::dict keywords;
    keywords.update(options);
    object = policy(nb::cast(space), setup.seed, **keywords);
  } else if (nb::len(options) != 0) {
    throw nb::type_error(
        "kernelsearch: options are for a policy that is still to be made; this one is an object already");
  }
  for (const char* call : {"ask", "tell"})
    if (!nb::hasattr(object, call))
      throw nb::type_error(("kernelsearch: a policy of Python needs " + std::string(call) +
                            (call[0] == 'a' ? "(n), which returns at most n configurations"
                                            : "(trials), which is told what became of them"))
                               .c_str());
  return AnyPolicy<Config>(PythonPolicy(std::move(object), space, guarded));
}

void bind_policies(nb::module_& m) {
  m.def(
      "policies",
      [] {
        nb::dict dict;
        for (const ConfigPolicyEntry& entry : config_policies())
          dict[nb::str(entry.name.data(), entry.name.size())] =
              nb::str(entry.summary.data(), entry.summary.size());
        return dict;
      },
      nb::sig("def policies() -> dict[str, str]"), "The search policies by name, each with what it does.");
  m.def(
      "policy_options",
      [](const std::string& name) {
        (void)make_config_policy(name, PolicySetup{Space::without_tunables()});
        const auto found = configurable().find(name);
        return found == configurable().end() ? nb::dict() : found->second.options();
      },
      nb::arg("name"), nb::sig("def policy_options(name: str) -> dict[str, object]"),
      "The options of a policy with their standard values. ConfigError where there is no such policy.");
}

}  // namespace kernelsearch::python
