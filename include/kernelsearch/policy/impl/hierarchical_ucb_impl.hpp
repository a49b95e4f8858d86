// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/model/kmeans.hpp"
#include "kernelsearch/model/normaliser.hpp"
#include "kernelsearch/policy/hierarchical_ucb.hpp"
#include "kernelsearch/policy/impl/hierarchical_ucb_options_impl.hpp"

namespace kernelsearch {

struct HierarchicalUcb::State {
  explicit State(HierarchicalUcbOptions given)
      : options(std::move(given)),
        rng(Rng::stream(options.seed, "hierarchical_ucb")),
        ledger(options.strategies, options.limits),
        arms(ledger.strategies(), options.reward),
        strategy_prior(ledger.strategies()) {}

  HierarchicalUcbOptions options;
  Rng rng;
  MoveLedger ledger;

  // Clusters: none until there are enough kernels, then as of the last clustering.
  struct Clustering {
    std::vector<std::string> names;
    RunningZScore scale;
    KMeans means;
    std::vector<std::size_t> nearest_centre;  ///< by cluster: the node that stands for it
  };
  std::optional<Clustering> clustering;
  std::vector<std::size_t> cluster;  ///< by node that has code; of others see `cluster_of`
  std::vector<bool> barred;          ///< node after node, by strategy: its condition is false there
  std::vector<double> seen;          ///< the same: what the node's signs say of it
  std::size_t right = 0, right_at_clustering = 0, told_since_clustering = 0;
  PullStatistics arms;  ///< cluster after cluster

  // What `choose` counts besides pulls; kept, since counting it over all nodes at each choice costs more than
  // everything else once there are thousands.
  std::vector<std::size_t> waited_on;  ///< nodes with proposals outstanding, and some whose came
  std::vector<double> declined;        ///< by arm: answers that its strategy does not apply
  bool declined_known = false;

  // Heads: none until the first right kernel, or from the start where there are examples.
  struct Heads {
    std::vector<std::string> names;
    RunningMinMax scale;
    std::vector<LogisticHead> heads;  ///< by strategy
  };
  std::optional<Heads> heads;
  std::size_t learned = 0;                    ///< pulls that the heads have seen
  std::vector<ArmStatistics> strategy_prior;  ///< of the examples

  [[nodiscard]] std::size_t count() const { return clustering ? clustering->means.centres().rows() : 1; }
  [[nodiscard]] std::size_t arm_of(std::size_t in, std::size_t strategy) const {
    return in * ledger.strategies() + strategy;
  }
  [[nodiscard]] auto arm_of_pull() const {
    return [this](const Pull& pull) { return arm_of(cluster[pull.parent], pull.strategy); };
  }

  // --- features ------------------------------------------------------------------------------------------

  static std::optional<double> finite(std::optional<double> value) {
    return value && std::isfinite(*value) ? value : std::nullopt;
  }
  [[nodiscard]] static std::optional<double> log_time(const TreeNode& node) {
    if (!node.ok() || !(node.objective > 0.0)) return std::nullopt;
    return finite(std::log(node.objective));
  }

  // --- clusters ------------------------------------------------------------------------------------------

  /// A feature as clusters take it.
  [[nodiscard]] std::optional<double> cluster_feature(const TreeNode& node, const std::string& name) const {
    std::optional<double> value = finite(node.features.find(name));
    const auto& logs = options.log_features;
    if (value && std::find(logs.begin(), logs.end(), name) != logs.end()) value = finite(std::log1p(*value));
    return value;
  }

  /// The runtime vector before scaling: features by name, then log time; what is unknown is the mean.
  [[nodiscard]] std::vector<double> runtime_vector(const TreeNode& node,
                                                   const std::vector<std::string>& names,
                                                   std::span<const double> means) const {
    std::vector<double> row;
    for (const std::string& name : names)
      row.push_back(cluster_feature(node, name).value_or(means.empty() ? 0.0 : means[row.size()]));
    if (options.cluster_by_time)
      row.push_back(log_time(node).value_or(means.empty() ? 0.0 : means[row.size()]));
    return row;
  }

  void recluster() {
    if (!options.rebuilt) arms.follow(ledger, arm_of_pull());  // in the clusters as they were chosen
    told_since_clustering = 0;
    right_at_clustering = right;
    std::vector<std::size_t> pool;
    std::vector<std::string> names = options.cluster_features;
    for (std::size_t i = 0; i < ledger.tree().size(); ++i) {
      if (!ledger.node(i).ok()) continue;
      pool.push_back(i);
      if (options.cluster_features.empty())
        for (const auto& [name, value] : ledger.node(i).features) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    const std::size_t width = names.size() + (options.cluster_by_time ? 1 : 0);
    if (width == 0) return;

    // Means over the kernels that have the feature, which then stand for those that do not.
    std::vector<double> means(width, 0.0);
    for (std::size_t f = 0; f < width; ++f) {
      double sum = 0.0, known = 0.0;
      for (const std::size_t i : pool) {
        const TreeNode& node = ledger.node(i);
        const std::optional<double> value =
            f < names.size() ? cluster_feature(node, names[f]) : log_time(node);
        if (value) sum += *value, known += 1.0;
      }
      means[f] = known > 0.0 ? sum / known : 0.0;
    }
    RunningZScore scale(width);
    for (const std::size_t i : pool) scale.observe(runtime_vector(ledger.node(i), names, means));
    FeatureMatrix points(width);
    for (const std::size_t i : pool)
      points.add_row(scale.normalise(runtime_vector(ledger.node(i), names, means)));
    KMeans kmeans(width, {.clusters = options.clusters, .subsample = options.subsample, .seed = rng()});
    const std::vector<std::size_t> labels = kmeans.fit(points);

    Clustering made{std::move(names), std::move(scale), std::move(kmeans), {}};
    made.nearest_centre.assign(made.means.centres().rows(), 0);
    std::vector<double> least(made.nearest_centre.size(), std::numeric_limits<double>::infinity());
    for (std::size_t p = 0; p < pool.size(); ++p) {
      double distance = 0.0;
      for (std::size_t f = 0; f < width; ++f) {
        const double apart = points.row(p)[f] - made.means.centres().row(labels[p])[f];
        distance += apart * apart;
      }
      if (distance >= least[labels[p]]) continue;
      least[labels[p]] = distance;
      made.nearest_centre[labels[p]] = pool[p];
    }
    clustering.emplace(std::move(made));
    for (std::size_t p = 0; p < pool.size(); ++p) cluster[pool[p]] = labels[p];
    declined_known = false;
    for (std::size_t i = 0; i < cluster.size(); ++i)
      if (!ledger.node(i).ok() && ledger.node(i).generated()) cluster[i] = inherited(i);
    if (options.rebuilt)
      arms.rebuild(ledger, count() * ledger.strategies(), arm_of_pull());
    else
      arms.resize(count() * ledger.strategies());
  }

  /// The cluster of what failed: its parent's, which was placed before it.
  [[nodiscard]] std::size_t inherited(std::size_t node) const {
    const std::optional<std::size_t> parent = ledger.tree().first_parent(node);
    return parent && *parent < node ? cluster[*parent] : 0;
  }

  [[nodiscard]] std::size_t place(std::size_t node) const {
    if (!clustering) return 0;
    if (!ledger.node(node).ok() || options.placing == KernelPlacing::chosen) return inherited(node);
    const std::vector<double> row =
        runtime_vector(ledger.node(node), clustering->names, clustering->scale.mean());
    return clustering->means.nearest(clustering->scale.normalise(row));
  }

  // --- heads ---------------------------------------------------------------------------------------------

  /// The profile before scaling; what is unknown lies in the middle. Time is not part of it: it only ever
  /// falls, so what a head learned of it early would mislead it later.
  [[nodiscard]] std::vector<double> profile(const Features& features) const {
    std::vector<double> row;
    for (const std::string& name : heads->names) {
      const std::optional<double> value = finite(features.find(name));
      const std::size_t f = row.size();
      const bool scaled = heads->scale.count() > 0;
      row.push_back(value ? *value : scaled ? (heads->scale.low()[f] + heads->scale.high()[f]) / 2 : 0.0);
    }
    row.resize(std::max<std::size_t>(row.size(), 1), 0.0);  // no features: a head is its bias
    return row;
  }

  void make_heads(std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    const std::size_t width = std::max<std::size_t>(names.size(), 1);
    heads.emplace(Heads{std::move(names), RunningMinMax(width),
                        std::vector<LogisticHead>(ledger.strategies(), LogisticHead(width, options.head))});
  }

  void warm_up() {
    if (options.examples.empty()) return;
    for (const MoveExample& example : options.examples)
      if (const auto strategy = ledger.strategy_of(example.strategy))
        strategy_prior[*strategy].add(std::clamp(example.reward, -1.0, 1.0), 0.0);
    if (!(options.alpha > 0.0)) return;
    std::vector<std::string> names = options.profile_features;
    if (names.empty())
      for (const MoveExample& example : options.examples)
        for (const auto& [name, value] : example.features) names.push_back(name);
    make_heads(std::move(names));
    for (const MoveExample& example : options.examples) heads->scale.observe(profile(example.features));
    for (std::size_t s = 0; s < ledger.strategies(); ++s) {
      FeatureMatrix rows(std::max<std::size_t>(heads->names.size(), 1));
      std::vector<bool> labels;
      for (const MoveExample& example : options.examples) {
        if (example.strategy != ledger.name(s)) continue;
        rows.add_row(heads->scale.normalise(profile(example.features)));
        labels.push_back(example.reward > 0.0);
      }
      if (!labels.empty()) heads->heads[s].warm_up(rows, labels, options.warm_up_epochs);
    }
  }

  void learn() {
    if (!(options.alpha > 0.0) || !heads) return;
    for (; learned < ledger.pulls().size(); ++learned) {
      const Pull& pull = ledger.pulls()[learned];
      const bool gained = options.reward(ledger.node(pull.parent), ledger.node(pull.child)) > 0.0;
      const std::vector<double> row = heads->scale.normalise(profile(ledger.node(pull.parent).features));
      heads->heads[pull.strategy].add(row, gained);
    }
  }

  [[nodiscard]] double compatibility(std::size_t node, std::size_t strategy) const {
    if (!heads) return 0.5;
    return heads->heads[strategy].predict(heads->scale.normalise(profile(ledger.node(node).features)));
  }

  // --- the choice ----------------------------------------------------------------------------------------

  void bar(std::size_t node) {
    barred.resize(ledger.tree().size() * ledger.strategies(), false);
    seen.resize(barred.size(), 0.0);
    if (options.evidence > 0.0)
      for (const StrategySigns& one : options.signs)
        if (const auto strategy = ledger.strategy_of(one.strategy))
          seen[node * ledger.strategies() + *strategy] =
              seen_signs(one.signs, ledger.node(node).features, options.problem).worth;
    for (const StrategyCondition& condition : options.conditions)
      if (const auto strategy = ledger.strategy_of(condition.strategy))
        barred[node * ledger.strategies() + *strategy] =
            !holds_for(condition.when, ledger.node(node).features);
  }
  /// Whether the strategy may be proposed for the kernel.
  [[nodiscard]] bool may(std::size_t node, std::size_t strategy) const {
    return ledger.open(node, strategy) && !barred[node * ledger.strategies() + strategy];
  }
  [[nodiscard]] bool may(std::size_t node) const {
    for (std::size_t s = 0; s < ledger.strategies(); ++s)
      if (may(node, s)) return true;
    return false;
  }

  void take_in(const Observation<Move>& observation) {
    const std::size_t known = ledger.tree().size();
    const std::optional<std::size_t> again = ledger.tree().find(observation.outcome.id);
    const bool was_right = again && ledger.node(*again).ok();
    ledger.tell(observation);
    const std::size_t at = again ? *again : known;
    const TreeNode& node = ledger.node(at);
    right += (node.ok() ? 1 : 0);
    right -= (was_right ? 1 : 0);
    if (!again) cluster.push_back(0);
    cluster[at] = place(at);
    // A new node's own arms are empty; one that changed, or that came after its children, has counted ones.
    if (again || !ledger.tree().children(at).empty())
      declined_known = false;
    else if (const auto arm = declined_known ? declined_arm(at) : std::nullopt)
      declined[*arm] += 1.0;
    bar(at);
    if (node.ok()) {
      if (options.alpha > 0.0 && !heads) {
        std::vector<std::string> names = options.profile_features;
        if (names.empty())
          for (const auto& [name, value] : node.features) names.push_back(name);
        make_heads(std::move(names));
      }
      if (heads) heads->scale.observe(profile(node.features));
    }
    learn();
    told_since_clustering += node.not_applicable() ? 0 : 1;
    const bool due = told_since_clustering >= options.recluster_every ||
                     (options.recluster_doubled && right >= 2 * right_at_clustering);
    if (options.clusters > 1 && right >= options.kernels_per_cluster * options.clusters &&
        (!clustering || due))
      recluster();
    else
      arms.follow(ledger, arm_of_pull());
  }

  /// Percent of the hardware's limit that the cluster's representative uses of what the strategy relieves;
  /// before there are clusters the fastest kernel stands for all.
  [[nodiscard]] std::optional<double> target_use(std::size_t in, std::size_t strategy) const {
    if (!clustering && ledger.expandable().empty()) return std::nullopt;
    const std::size_t stands_for =
        clustering ? clustering->nearest_centre[in] : std::get<2>(*ledger.expandable().begin());
    for (const StrategyTarget& target : options.targets)
      if (target.strategy == ledger.name(strategy))
        return finite(ledger.node(stands_for).features.find(target.feature));
    return std::nullopt;
  }
  /// Whether the cluster's hardware has no room left for what the strategy relieves. Where that is so for all
  /// strategies, the one is left that relieves what is used least.
  [[nodiscard]] bool masked(std::size_t in, std::size_t strategy) const {
    if (options.targets.empty()) return false;
    const auto use = target_use(in, strategy);
    if (!use || *use < options.saturated) return false;
    std::size_t least = 0;
    for (std::size_t s = 0; s < ledger.strategies(); ++s) {
      const auto other = target_use(in, s);
      if (!other || *other < options.saturated) return true;
      if (*other < options.saturated + options.mask_reach && *other < *target_use(in, least)) least = s;
    }
    return strategy != least;
  }

  /// Kernels that may be rewritten, best first.
  [[nodiscard]] std::vector<std::size_t> candidates() const {
    std::vector<std::size_t> result;
    const std::size_t most = options.frontier > 0 ? options.frontier : ledger.tree().size();
    for (const auto& [objective, progress, node] : ledger.expandable()) {
      if (result.size() >= most || (!ledger.node(node).ok() && !result.empty())) break;
      if (!may(node)) continue;
      result.push_back(node);
      if (!ledger.node(node).ok()) break;  // nothing right is left: the failure that came furthest
    }
    return result;
  }

  [[nodiscard]] double lag(std::size_t node, std::size_t best) const {
    const double own = ledger.node(node).objective, least = ledger.node(best).objective;
    if (!(options.lag > 0.0) || !(least > 0.0) || !std::isfinite(own)) return 0.0;
    return options.lag * std::log(own / least);
  }

  [[nodiscard]] std::optional<double> known_room(std::size_t node, std::size_t strategy) const {
    for (const StrategyTarget& target : options.targets)
      if (target.strategy == ledger.name(strategy))
        if (const auto used = finite(ledger.node(node).features.find(target.feature)))
          return 1.0 - *used / 100.0;
    return std::nullopt;
  }
  [[nodiscard]] double headroom(std::size_t node, std::size_t strategy) const {
    if (const auto room = known_room(node, strategy)) return *room;
    const auto& best = *ledger.expandable().begin();
    return ledger.node(node).ok() ? std::get<0>(best) / ledger.node(node).objective : 0.0;
  }

  [[nodiscard]] std::size_t draw(const std::vector<std::size_t>& kernels,
                                 const std::vector<std::size_t>& able, std::size_t strategy) {
    if (options.unknown_room == UnknownRoom::fastest &&
        std::none_of(able.begin(), able.end(),
                     [&](std::size_t k) { return known_room(kernels[k], strategy).has_value(); }))
      return able.front();
    std::vector<double> weights;
    double total = 0.0;
    for (const std::size_t k : able) {
      weights.push_back(std::exp(headroom(kernels[k], strategy) / options.temperature));
      total += weights.back();
    }
    double at = rng.uniform() * total;
    for (std::size_t i = 0; i < able.size(); ++i)
      if ((at -= weights[i]) < 0.0) return able[i];
    return able.back();
  }

  struct Arm {
    double mean = 0.0, pulls = 0.0, build = 0.0;
  };
  [[nodiscard]] Arm judged(std::size_t in, std::size_t strategy, double pending) const {
    const ArmStatistics& own = arms[arm_of(in, strategy)];
    const double n = static_cast<double>(own.pulls);
    Arm arm{own.mean(), n + pending, own.mean_build()};
    if (options.prior == ArmPrior::explore) return arm;
    double mean = options.prior_mean, weight = options.prior_pulls;
    if (options.prior == ArmPrior::pooled) {
      const double pulls_of_examples = strategy_prior[strategy].pulls > 0 ? options.example_pulls : 0.0;
      double sum = pulls_of_examples * strategy_prior[strategy].mean(), pulls = pulls_of_examples;
      for (std::size_t c = 0; c < count(); ++c) {
        sum += arms[arm_of(c, strategy)].reward;
        pulls += static_cast<double>(arms[arm_of(c, strategy)].pulls);
      }
      mean = (sum + options.prior_mean) / (pulls + 1.0);
    }
    arm.mean = (own.reward + weight * mean) / (n + weight);
    arm.pulls += weight;
    return arm;
  }

  /// The arm on which a node is the answer that it does not apply.
  [[nodiscard]] std::optional<std::size_t> declined_arm(std::size_t node) const {
    if (!ledger.node(node).not_applicable()) return std::nullopt;
    const auto parent = ledger.tree().first_parent(node);
    const auto strategy = ledger.strategy_of(ledger.node(node).move.strategy());
    return parent && strategy ? std::optional(arm_of(cluster[*parent], *strategy)) : std::nullopt;
  }

  void count_declined() {
    if (declined_known) return;
    declined.assign(count() * ledger.strategies(), 0.0);
    for (std::size_t i = 0; i < ledger.tree().size(); ++i)
      if (const auto arm = declined_arm(i)) declined[*arm] += 1.0;
    declined_known = true;
  }

  std::optional<Move> choose() {
    const std::vector<std::size_t> kernels = candidates();
    if (kernels.empty()) return std::nullopt;
    const std::size_t strategies = ledger.strategies();
    std::vector<double> pending(count() * strategies, 0.0);
    // The authors' code of v2, whose arms have a pull of their own to begin with, counts the pulls so far.
    const bool counted = options.prior == ArmPrior::constant;
    double t = static_cast<double>(ledger.pulls().size() + (counted ? 0 : 1));
    std::erase_if(waited_on, [&](std::size_t node) { return ledger.pending_on(node) == 0; });
    for (const std::size_t node : waited_on)
      for (std::size_t s = 0; s < strategies; ++s)
        pending[arm_of(cluster[node], s)] += static_cast<double>(ledger.pending(node, s));
    // An answer that a strategy does not apply is not a pull and has no reward, but the arm is no longer one
    // that nothing is known of: without this it would be asked again on each new kernel first.
    count_declined();
    for (std::size_t arm = 0; arm < pending.size(); ++arm) pending[arm] += declined[arm];
    for (const double waiting : pending) t += waiting;
    t = std::max(t, 1.0);

    std::vector<std::vector<double>> profiles;  // of the kernels, scaled
    if (options.alpha > 0.0 && heads)
      for (const std::size_t kernel : kernels)
        profiles.push_back(heads->scale.normalise(profile(ledger.node(kernel).features)));

    for (const bool mask : {true, false}) {  // where the mask leaves nothing, it is lifted
      using Key = std::tuple<double, double, double, double>;
      std::optional<Key> top;
      std::size_t best_kernel = 0, best_strategy = 0;
      for (std::size_t c = 0; c < count(); ++c)
        for (std::size_t s = 0; s < strategies; ++s) {
          if (mask && masked(c, s)) continue;
          std::vector<std::size_t> able;  // places in `kernels`
          for (std::size_t k = 0; k < kernels.size(); ++k)
            if (cluster[kernels[k]] == c && may(kernels[k], s)) able.push_back(k);
          if (able.empty()) continue;
          const Arm arm = judged(c, s, pending[arm_of(c, s)]);
          const double own = static_cast<double>(arms[arm_of(c, s)].pulls) + pending[arm_of(c, s)];
          // The candidate that the head and the signs, less its lag, like best; the fastest of equals.
          std::size_t at = able.front();
          double compatible = 0.0, worth = -std::numeric_limits<double>::infinity();
          for (const std::size_t k : able) {
            const double p = profiles.empty() ? 0.0 : heads->heads[s].predict(profiles[k]);
            const double value = options.alpha * p - lag(kernels[k], kernels.front()) +
                                 options.evidence * seen[kernels[k] * strategies + s] / (1.0 + own);
            if (value > worth) worth = value, compatible = p, at = k;
          }
          const double bound =
              arm.pulls > 0.0 ? arm.mean + std::sqrt(options.exploration * std::log(t) / arm.pulls) + worth
                              : std::numeric_limits<double>::infinity();
          // Equal bounds: fewer pulls, then the faster build (KernelBand); then the head's opinion.
          const Key key{bound, -arm.pulls, -arm.build, compatible};
          if (top && !(*top < key)) continue;
          top = key;
          best_strategy = s;
          best_kernel = kernels[options.kernel == KernelChoice::softmax ? draw(kernels, able, s) : at];
        }
      if (top) {
        if (ledger.pending_on(best_kernel) == 0) waited_on.push_back(best_kernel);
        return ledger.propose(best_kernel, best_strategy);
      }
      if (options.targets.empty()) break;
    }
    return std::nullopt;
  }
};

KERNELSEARCH_INLINE HierarchicalUcb::HierarchicalUcb(HierarchicalUcbOptions options)
    : state_(std::make_unique<State>(std::move(options))) {
  if (state_->options.clusters == 0 || state_->options.recluster_every == 0 ||
      state_->options.kernels_per_cluster == 0)
    detail::raise<ConfigError>("HierarchicalUcbOptions has a count of 0",
                               "clusters, recluster_every or kernels_per_cluster", "give at least 1 of each");
  state_->warm_up();
}
KERNELSEARCH_INLINE HierarchicalUcb::~HierarchicalUcb() = default;
KERNELSEARCH_INLINE HierarchicalUcb::HierarchicalUcb(HierarchicalUcb&&) noexcept = default;
KERNELSEARCH_INLINE HierarchicalUcb& HierarchicalUcb::operator=(HierarchicalUcb&&) noexcept = default;

KERNELSEARCH_INLINE std::vector<Move> HierarchicalUcb::ask(std::size_t n) {
  return state_->ledger.ask(n, [this] { return state_->choose(); });
}
KERNELSEARCH_INLINE void HierarchicalUcb::tell(std::span<const Observation<Move>> batch) {
  for (const Observation<Move>& observation : batch) state_->take_in(observation);
}
KERNELSEARCH_INLINE const SearchTree& HierarchicalUcb::tree() const noexcept {
  return state_->ledger.tree();
}
KERNELSEARCH_INLINE std::size_t HierarchicalUcb::clusters() const noexcept {
  return state_->count();
}
KERNELSEARCH_INLINE std::size_t HierarchicalUcb::cluster_of(std::size_t node) const {
  // Without code nothing is made from it, and there may be thousands: its place is looked up, not kept.
  return state_->ledger.node(node).generated() ? state_->cluster[node] : state_->inherited(node);
}
KERNELSEARCH_INLINE const ArmStatistics& HierarchicalUcb::statistics(std::size_t cluster,
                                                                     std::size_t strategy) const {
  return state_->arms[state_->arm_of(cluster, strategy)];
}
KERNELSEARCH_INLINE double HierarchicalUcb::compatibility(std::size_t node, std::size_t strategy) const {
  return state_->compatibility(node, strategy);
}

}  // namespace kernelsearch
