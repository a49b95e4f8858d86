// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/policy/helion_lfbo.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE HelionLfboOptions helion_lfbo_small(std::uint64_t seed) {
  HelionLfboOptions options;
  options.seed = seed;
  options.initial = 50;
  options.copies = 3;
  options.fraction = 0.2;
  options.patience = 2;
  return options;
}

KERNELSEARCH_INLINE HelionLfbo::HelionLfbo(Space space, HelionLfboOptions options)
    : options_(std::move(options)),
      encoding_(space),
      rng_(Rng::stream(options_.seed, "helion_lfbo")),
      ledger_(space, options_.seed, false) {
  if (options_.initial == 0 || options_.copies == 0 || options_.trees == 0)
    detail::raise<ConfigError>("an LFBO search cannot run without a population",
                               "no initial points, copies or trees", "give at least one of each");
  const auto find = [&](const std::string& name) {
    const auto at = space.find(name);
    if (!at) detail::raise<ConfigError>("no tunable of that name", name, "name one of the space");
    return *at;
  };
  for (const std::string& name : options_.block_sizes) blocks_.push_back(find(name));
  if (!options_.warps.empty()) warps_ = find(options_.warps);
  if (options_.neighbours == 0) options_.neighbours = options_.proposals == HelionProposals::tree ? 200 : 300;
}

KERNELSEARCH_INLINE std::vector<Config> HelionLfbo::ask(std::size_t n) {
  std::vector<Config> proposals;
  while (proposals.size() < n) {
    if (queue_.empty()) {
      if (ledger_.outstanding() > 0 || !advance()) break;
      continue;
    }
    Config config = std::move(queue_.front());
    queue_.pop_front();
    if (ledger_.known(config)) continue;
    ledger_.propose(config);
    proposals.push_back(std::move(config));
  }
  return proposals;
}

KERNELSEARCH_INLINE void HelionLfbo::tell(std::span<const Observation<Config>> batch) {
  for (const Observation<Config>& observation : batch) ledger_.record(observation);
}

/// One step of the run, everything it waits for being known; false when there is nothing left.
KERNELSEARCH_INLINE bool HelionLfbo::advance() {
  switch (stage_) {
    case Stage::begin:
      begin_run();
      return true;
    case Stage::initial:
      after_initial();
      [[fallthrough]];
    case Stage::generation:
      if (stage_ == Stage::generation) {
        next_generation();
        return true;
      }
      [[fallthrough]];
    case Stage::polish:
      if (next_polish_round()) return true;
      idle_runs_ = ledger_.proposed() == proposed_before_run_ ? idle_runs_ + 1 : 0;
      // Runs that find nothing new, because little is left, give way to plain draws.
      stage_ = !options_.restart ? Stage::done : idle_runs_ >= 3 ? Stage::rest : Stage::begin;
      return true;
    case Stage::rest: {
      std::optional<Config> drawn = ledger_.random();
      if (!drawn) return false;
      queue_.push_back(*std::move(drawn));
      return true;
    }
    case Stage::done:
      return false;
  }
  return false;
}

KERNELSEARCH_INLINE bool HelionLfbo::admissible(const Config& config) const {
  return options_.learn_violations || encoding_.space().contains(config);
}

KERNELSEARCH_INLINE void HelionLfbo::submit(const Config& config) {
  visited_.insert(config);
  trained_on_.push_back(config);
  if (encoding_.space().contains(config)) queue_.push_back(config);
}

/// Each tunable drawn by itself, as Helion does, or a valid configuration.
KERNELSEARCH_INLINE Config HelionLfbo::random_config() {
  const Space& space = encoding_.space();
  if (!options_.learn_violations) return space.sample(rng_);
  Config config;
  for (std::size_t t = 0; t < space.size(); ++t) {
    const auto usable = space.usable(t);
    config.indices.push_back(usable[rng_.below(usable.size())]);
  }
  return config;
}

KERNELSEARCH_INLINE void HelionLfbo::begin_run() {
  const Space& space = encoding_.space();
  proposed_before_run_ = ledger_.proposed();
  visited_.clear();
  trained_on_.clear();
  copies_.clear();
  model_.reset();
  generation_ = polished_ = 0;
  submit(space.default_config());
  std::size_t valid = 1;
  for (std::size_t i = 1; i < options_.initial; ++i) {
    const Config config = random_config();
    if (visited_.contains(config)) continue;
    submit(config);
    valid += space.contains(config) ? 1 : 0;
  }
  for (std::size_t tries = 0; valid < options_.copies && tries < 100; ++tries) {
    const Config config = space.sample(rng_);
    if (visited_.contains(config)) continue;
    submit(config);
    ++valid;
  }
  stage_ = Stage::initial;
}

KERNELSEARCH_INLINE void HelionLfbo::after_initial() {
  std::vector<Config> finite;
  for (const Config& config : trained_on_)
    if (std::isfinite(ledger_.value(config))) finite.push_back(config);
  std::stable_sort(finite.begin(), finite.end(),
                   [this](const Config& a, const Config& b) { return ledger_.value(a) < ledger_.value(b); });
  for (std::size_t i = 0; i < std::min(options_.copies, finite.size()); ++i)
    copies_.push_back({finite[i], {}, 0, true});
  polish_from_ = finite.empty() ? Config{} : finite.front();
  stage_ = copies_.empty() ? Stage::polish : Stage::generation;
}

KERNELSEARCH_INLINE void HelionLfbo::fit() {
  model_.reset();
  std::vector<double> times;
  for (const Config& config : trained_on_)
    if (const double time = ledger_.value(config); std::isfinite(time)) times.push_back(time);
  if (times.empty()) return;
  std::sort(times.begin(), times.end());
  const double place = options_.quantile * static_cast<double>(times.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double tau = times[below] + (place - static_cast<double>(below)) *
                                        (times[std::min(below + 1, times.size() - 1)] - times[below]);
  FeatureMatrix rows(encoding_.size());
  rows.reserve(trained_on_.size());
  std::vector<bool> labels;
  std::vector<double> weights;
  double sum = 0;
  std::size_t positives = 0;
  for (const Config& config : trained_on_) {
    rows.add_row();
    encoding_.encode(config, rows.row(rows.rows() - 1));
    const double time = ledger_.value(config);
    labels.push_back(time <= tau);
    constexpr double floor = 1e-8;  // Helion's 1e-5 ms
    weights.push_back(labels.back() ? std::max(floor, tau - time) : 1.0);
    sum += labels.back() ? weights.back() : 0.0;
    positives += labels.back() ? 1 : 0;
  }
  if (positives == labels.size()) return;  // one class only: no model
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i]) weights[i] *= static_cast<double>(positives) / sum;
  ForestOptions options;
  options.trees = options_.trees;
  options.criterion = SplitCriterion::entropy;
  options.seed = 42;
  model_.emplace(rows, labels, weights, options);
}

KERNELSEARCH_INLINE void HelionLfbo::next_generation() {
  if (generation_ > 0) step_copies();
  const bool active = std::any_of(copies_.begin(), copies_.end(), [](const Copy& c) { return c.active; });
  if (!active || generation_ == options_.generations) {
    stage_ = Stage::polish;
    return;
  }
  ++generation_;
  fit();
  for (Copy& copy : copies_) {
    copy.measured.clear();
    if (!copy.active) continue;
    // The first two generations are random even where there is a model (a slip of the original's, kept).
    const bool by_tree = options_.proposals == HelionProposals::tree && model_ && generation_ > 2;
    std::vector<Config> pool{copy.incumbent};
    std::unordered_set<Config> in_pool{copy.incumbent};
    for (Config& mutant : by_tree ? tree_mutants(copy.incumbent) : random_mutants(copy.incumbent))
      if (!visited_.contains(mutant) && admissible(mutant) && in_pool.insert(mutant).second)
        pool.push_back(std::move(mutant));
    if (pool.size() == 1) {
      copy.active = false;
      continue;
    }
    copy.measured = select(std::move(pool));
    for (const Config& config : copy.measured) submit(config);
  }
}

KERNELSEARCH_INLINE void HelionLfbo::step_copies() {
  for (Copy& copy : copies_) {
    if (!copy.active) continue;
    const double before = ledger_.value(copy.incumbent);
    double best = before;
    for (const Config& config : copy.measured) {
      if (!(ledger_.value(config) < best)) continue;
      best = ledger_.value(config);
      copy.incumbent = config;
    }
    if (best == before || std::abs(best / before - 1) < options_.min_improvement)
      copy.active = ++copy.failures <= options_.patience;
    if (best < ledger_.value(polish_from_)) polish_from_ = copy.incumbent;
  }
}

KERNELSEARCH_INLINE void HelionLfbo::move(Config& config, std::size_t tunable, std::size_t radius) {
  const auto steps = encoding_.steps(tunable, config.indices[tunable], radius);
  if (!steps.empty()) config.indices[tunable] = steps[rng_.below(steps.size())];
}

KERNELSEARCH_INLINE std::vector<Config> HelionLfbo::random_mutants(const Config& base) {
  std::vector<Config> mutants;
  for (std::size_t i = 0; i < options_.neighbours; ++i) {
    Config mutant = base;
    std::vector<std::size_t> others;
    const std::size_t block =
        blocks_.empty() ? encoding_.space().size() : blocks_[rng_.below(blocks_.size())];
    for (std::size_t t = 0; t < encoding_.space().size(); ++t)
      if (t != block && t != warps_) others.push_back(t);
    if (!blocks_.empty()) move(mutant, block, options_.radius);
    if (warps_) move(mutant, *warps_, options_.radius);
    const std::size_t moves = std::min<std::size_t>(rng_.below(3), others.size());
    for (std::size_t m = 0; m < moves; ++m) {
      std::swap(others[m], others[m + rng_.below(others.size() - m)]);
      move(mutant, others[m], 1);
    }
    if (mutant != base) mutants.push_back(std::move(mutant));
  }
  return mutants;
}

KERNELSEARCH_INLINE std::vector<Config> HelionLfbo::tree_mutants(const Config& base) {
  std::vector<Config> mutants;
  const std::vector<double> base_row = encoding_.encode(base);
  std::vector<double> row;
  for (std::size_t i = 0; i < options_.neighbours; ++i) {
    const std::size_t tree = rng_.below(model_->trees().trees());
    std::vector<std::size_t> fields;
    const auto add = [&](std::size_t t) {
      if (std::find(fields.begin(), fields.end(), t) == fields.end()) fields.push_back(t);
    };
    for (const std::size_t f : model_->trees().path_features(base_row, tree)) add(encoding_.tunable_of(f));
    if (!blocks_.empty()) add(blocks_[rng_.below(blocks_.size())]);
    if (warps_) add(*warps_);
    Config mutant = base;
    row = base_row;
    for (const std::size_t t : fields) {
      std::vector<std::uint32_t> choices = encoding_.steps(t, mutant.indices[t], options_.radius);
      choices.push_back(mutant.indices[t]);
      double best = -1;
      std::vector<std::uint32_t> ties;
      for (const std::uint32_t choice : choices) {
        mutant.indices[t] = choice;
        encoding_.encode(mutant, row);
        const double probability = model_->predict(row, tree);
        if (probability > best) ties.clear();
        if (probability >= best) ties.push_back(choice);
        best = std::max(best, probability);
      }
      mutant.indices[t] = ties[rng_.below(ties.size())];
    }
    if (mutant != base) mutants.push_back(std::move(mutant));
  }
  return mutants;
}

/// The part of the pool to be measured; the incumbent, which comes first in it, competes but is left out.
KERNELSEARCH_INLINE std::vector<Config> HelionLfbo::select(std::vector<Config> pool) {
  const auto share = static_cast<std::size_t>(options_.fraction * static_cast<double>(pool.size()));
  const std::size_t wanted = std::min(pool.size(), std::max<std::size_t>(share, 2));
  std::vector<std::size_t> picked;
  if (!model_) {
    std::vector<std::size_t> order(pool.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    rng_.shuffle(order);
    picked.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(wanted));
  } else {
    const TreeEnsemble& trees = model_->trees();
    std::vector<std::uint32_t> leaves(pool.size() * trees.trees());
    const auto leaves_of = [&](std::size_t i) {
      return std::span(leaves).subspan(i * trees.trees(), trees.trees());
    };
    std::vector<double> probability(pool.size()), similar(pool.size());
    for (std::size_t i = 0; i < pool.size(); ++i) {
      trees.leaves(encoding_.encode(pool[i]), leaves_of(i));
      for (const std::uint32_t leaf : leaves_of(i)) probability[i] += trees.leaf_value(leaf);
      probability[i] /= static_cast<double>(trees.trees());
    }
    std::vector<bool> taken(pool.size());
    while (picked.size() < wanted) {
      std::size_t best = pool.size();
      double best_score = 0;
      for (std::size_t i = 0; i < pool.size(); ++i) {
        if (taken[i]) continue;
        const double penalty =
            picked.empty() ? 0.0
                           : options_.similarity_penalty * similar[i] / static_cast<double>(picked.size());
        if (best < pool.size() && !(probability[i] - penalty > best_score)) continue;
        best = i;
        best_score = probability[i] - penalty;
      }
      taken[best] = true;
      picked.push_back(best);
      for (std::size_t i = 0; i < pool.size(); ++i)
        if (!taken[i]) similar[i] += leaf_similarity(leaves_of(best), leaves_of(i));
    }
  }
  std::vector<Config> chosen;
  for (const std::size_t i : picked)
    if (i != 0 && chosen.size() + 1 < wanted) chosen.push_back(std::move(pool[i]));
  return chosen;
}

KERNELSEARCH_INLINE bool HelionLfbo::next_polish_round() {
  if (!std::isfinite(ledger_.value(polish_from_))) return false;
  if (polished_ > 0) {
    Config best = polish_from_;
    for (const Config& config : waiting_)
      if (ledger_.value(config) < ledger_.value(best)) best = config;
    const double gain = 1 - ledger_.value(best) / ledger_.value(polish_from_);
    polish_from_ = best;
    if (gain < options_.min_improvement) return false;
  }
  waiting_.clear();
  if (polished_++ == options_.polish_rounds) return false;
  const auto consider = [this](const Config& config) {
    if (visited_.contains(config) || !admissible(config)) return;
    waiting_.push_back(config);
    submit(config);
  };
  const Config centre = polish_from_;
  for (std::size_t t = 0; t < encoding_.space().size(); ++t) {
    Config next = centre;
    for (const std::uint32_t at : encoding_.steps(t, centre.indices[t], 1)) {
      next.indices[t] = at;
      consider(next);
    }
  }
  for (std::size_t a = 0; a < blocks_.size(); ++a)
    for (std::size_t b = a + 1; b < blocks_.size(); ++b)
      for (const std::uint32_t p : encoding_.steps(blocks_[a], centre.indices[blocks_[a]], 1))
        for (const std::uint32_t q : encoding_.steps(blocks_[b], centre.indices[blocks_[b]], 1)) {
          Config next = centre;
          next.indices[blocks_[a]] = p;
          next.indices[blocks_[b]] = q;
          consider(next);
        }
  return !waiting_.empty();
}

}  // namespace kernelsearch
