// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/value.hpp"
#include "kernelsearch/model/random_forest.hpp"
#include "kernelsearch/policy/helion_lfbo.hpp"

namespace kernelsearch {
namespace detail {

/// The quantile of ascending numbers, between two of them by a straight line (numpy.quantile, method linear,
/// rounding included: it never leaves the interval).
inline double linear_quantile(std::span<const double> ascending, double quantile) {
  const double place = quantile * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double a = ascending[below], b = ascending[std::min(below + 1, ascending.size() - 1)];
  const double part = place - static_cast<double>(below);
  return part >= 0.5 ? b - (b - a) * (1 - part) : a + (b - a) * part;
}

}  // namespace detail

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
  const auto has_numbers = [&](std::size_t t) {
    const std::vector<Value>& values = space.tunable(t).values;
    return std::all_of(values.begin(), values.end(),
                       [](const Value& v) { return try_to_number(v).has_value(); });
  };
  const auto find = [&](const std::string& name) {
    const auto at = space.find(name);
    if (!at) detail::raise<ConfigError>("no tunable of that name", name, "name one of the space");
    if (!has_numbers(*at))
      detail::raise<ConfigError>("a size of blocks or a count of warps is not a number",
                                 name + " has " + to_string(space.tunable(*at).values[0]),
                                 "name a tunable whose values are numbers");
    return *at;
  };
  for (const std::string& name : options_.block_sizes) blocks_.push_back(find(name));
  if (!options_.warps.empty()) warps_ = find(options_.warps);
  for (std::size_t t = 0; t < space.size(); ++t) {
    const TunableRole role = has_numbers(t) ? space.tunable(t).role : TunableRole::none;
    if (role == TunableRole::block_size && options_.block_sizes.empty()) blocks_.push_back(t);
    if (role == TunableRole::warps && options_.warps.empty() && !warps_) warps_ = t;
  }
  if (options_.neighbours == 0) options_.neighbours = options_.proposals == HelionProposals::tree ? 200 : 300;
}

KERNELSEARCH_INLINE HelionLfbo::HelionLfbo(Space space, HelionSource source, HelionLfboOptions options)
    : HelionLfbo(std::move(space), std::move(options)) {
  if (!source.below || !source.uniform || !source.learn)
    detail::raise<ConfigError>("a replay of Helion needs all of its draws and forests",
                               "a HelionSource with a member that is null", "give all three");
  source_ = std::move(source);
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
  for (const Observation<Config>& observation : batch) {
    // What is told anew of a configuration that was proposed does not come from outside: it revises a result.
    if (!observation.outcome.origin && !ledger_.known(observation.proposal))
      foreign_.push_back(observation.proposal);
    ledger_.record(observation);
  }
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
  batch_.push_back(config);
  if (encoding_.space().contains(config)) queue_.push_back(config);
}

/// The best of the population, the first of equals.
KERNELSEARCH_INLINE const Config& HelionLfbo::best() const {
  return *std::min_element(population_.begin(), population_.end(), [this](const Config& a, const Config& b) {
    return ledger_.value(a) < ledger_.value(b);
  });
}

KERNELSEARCH_INLINE std::optional<Config> HelionLfbo::best_foreign() const {
  const auto best = std::min_element(
      foreign_.begin(), foreign_.end(),
      [this](const Config& a, const Config& b) { return ledger_.value(a) < ledger_.value(b); });
  if (best == foreign_.end() || !std::isfinite(ledger_.value(*best))) return std::nullopt;
  return *best;
}

/// Each tunable drawn by itself, as Helion does, or a valid configuration.
KERNELSEARCH_INLINE Config HelionLfbo::random_config() {
  const Space& space = encoding_.space();
  if (!options_.learn_violations) return space.sample(rng_);
  Config config;
  for (std::size_t t = 0; t < space.size(); ++t) {
    const auto usable = space.usable(t);
    config.indices.push_back(usable[below(usable.size())]);
  }
  shrink_blocks(config);
  return config;
}

/// Halves all block sizes together until a thread has no more elements than a random power of two, nor a
/// block more than Triton's 2^20 (config_generation.py, shrink_config). It draws without marks too, as there.
KERNELSEARCH_INLINE void HelionLfbo::shrink_blocks(Config& config) {
  const Space& space = encoding_.space();
  constexpr double most_in_block = 1 << 20, threads_of_warp = 32;
  const double of_thread = std::ldexp(1.0, static_cast<int>(below(12)));  // 1 to 2048
  if (blocks_.empty() || !warps_) return;
  const auto number = [&](std::size_t t, std::uint32_t at) { return to_number(space.tunable(t).values[at]); };
  const double most =
      std::min(of_thread * threads_of_warp * number(*warps_, config.indices[*warps_]), most_in_block);
  for (bool changed = true; changed;) {
    double elements = 1;
    for (const std::size_t t : blocks_) elements *= number(t, config.indices[t]);
    if (!(elements > most)) return;
    changed = false;
    for (const std::size_t t : blocks_) {
      std::optional<std::uint32_t> half;  // the largest value that is at most half
      for (const std::uint32_t at : space.usable(t))
        if (2 * number(t, at) <= number(t, config.indices[t]) && (!half || number(t, at) > number(t, *half)))
          half = at;
      if (!half) continue;
      config.indices[t] = *half;
      changed = true;
    }
  }
}

KERNELSEARCH_INLINE void HelionLfbo::begin_run() {
  const Space& space = encoding_.space();
  const bool first = runs_++ == 0;
  proposed_before_run_ = ledger_.proposed();
  visited_.clear();
  batch_.clear();
  rows_.clear();
  foreign_learned_ = 0;
  copies_.clear();
  model_.reset();
  generation_ = polished_ = 0;
  stage_ = Stage::initial;
  const auto consider = [this](const Config& config) {
    if (visited_.contains(config)) return false;
    submit(config);
    return true;
  };
  if (const std::optional<Config> known = best_foreign();
      first && known && options_.start == HelionStart::best_known) {
    (void)consider(*known);
    (void)consider(space.default_config());
    return;
  }
  (void)consider(space.default_config());
  std::size_t valid = 1;
  for (std::size_t i = 1; i < options_.initial; ++i) {
    const Config config = random_config();
    if (consider(config)) valid += space.contains(config) ? 1 : 0;
  }
  for (std::size_t tries = 0; valid < options_.copies && tries < 100; ++tries)
    valid += consider(space.sample(rng_)) ? 1 : 0;
}

KERNELSEARCH_INLINE void HelionLfbo::after_initial() {
  std::stable_sort(batch_.begin(), batch_.end(),
                   [this](const Config& a, const Config& b) { return ledger_.value(a) < ledger_.value(b); });
  population_ = batch_;
  for (std::size_t i = 0; i < std::min(options_.copies, batch_.size()); ++i)
    if (std::isfinite(ledger_.value(batch_[i]))) copies_.push_back({batch_[i], {}, 0, true});
  stage_ = copies_.empty() ? Stage::polish : Stage::generation;
}

/// Appends to the rows what was measured last, behind what others told.
KERNELSEARCH_INLINE void HelionLfbo::learn_batch() {
  const auto append = [this](const Config& config, bool own) {
    rows_.push_back({config, own && !std::isfinite(ledger_.value(config))});
  };
  for (; foreign_learned_ < foreign_.size(); ++foreign_learned_) append(foreign_[foreign_learned_], false);
  for (const Config& config : batch_) append(config, true);
  batch_.clear();
}

KERNELSEARCH_INLINE void HelionLfbo::fit() {
  model_.reset();
  std::vector<double> values, times;
  for (const Row& row : rows_) {
    values.push_back(row.failed ? std::numeric_limits<double>::infinity() : ledger_.value(row.config));
    if (std::isfinite(values.back())) times.push_back(values.back());
  }
  if (times.empty()) return;
  std::sort(times.begin(), times.end());
  const double tau = detail::linear_quantile(times, options_.quantile);
  FeatureMatrix rows(encoding_.size());
  rows.reserve(rows_.size());
  std::vector<bool> labels;
  std::vector<double> weights;
  double sum = 0;
  std::size_t positives = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    rows.add_row();
    encoding_.encode(rows_[i].config, rows.row(i));
    labels.push_back(values[i] <= tau);
    constexpr double floor = 1e-8;  // Helion's 1e-5 ms
    weights.push_back(labels.back() ? std::max(floor, tau - values[i]) : 1.0);
    sum += labels.back() ? weights.back() : 0.0;
    positives += labels.back() ? 1 : 0;
  }
  if (positives == labels.size()) return;  // one class only: no model
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i]) weights[i] *= static_cast<double>(positives) / sum;
  if (source_.learn) {
    model_ = source_.learn(rows, labels, weights);
    return;
  }
  ForestOptions options;
  options.trees = options_.trees;
  options.criterion = SplitCriterion::entropy;
  options.seed = 42;
  model_ = RandomForestClassifier(rows, labels, weights, options).trees();
}

KERNELSEARCH_INLINE void HelionLfbo::next_generation() {
  if (generation_ > 0) step_copies();
  const bool active = std::any_of(copies_.begin(), copies_.end(), [](const Copy& c) { return c.active; });
  if (!active || generation_ == options_.generations) {
    stage_ = Stage::polish;
    return;
  }
  ++generation_;
  learn_batch();
  fit();
  std::vector<Config> population{best()};
  const auto join = [&population](const Config& config) {
    if (std::find(population.begin(), population.end(), config) == population.end())
      population.push_back(config);
  };
  bool any = false;
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
    any = true;
    copy.measured = select(std::move(pool));
    join(copy.incumbent);
    for (const Config& config : copy.measured) {
      submit(config);
      join(config);
    }
  }
  if (any) population_ = std::move(population);
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
  }
}

/// `neighbours` copies of `base` in which one block size, the warps and up to `radius` of the others move;
/// those in which nothing moved are left out.
KERNELSEARCH_INLINE std::vector<Config> HelionLfbo::random_mutants(const Config& base) {
  std::vector<Config> mutants;
  const std::size_t tunables = encoding_.space().size();
  std::vector<std::vector<std::uint32_t>> near(tunables);
  for (std::size_t t = 0; t < tunables; ++t) near[t] = encoding_.steps(t, base.indices[t], 1);
  for (std::size_t i = 0; i < options_.neighbours; ++i) {
    Config mutant = base;
    const auto move = [&](std::size_t t, const std::vector<std::uint32_t>& steps) {
      if (!steps.empty()) mutant.indices[t] = steps[below(steps.size())];
    };
    std::size_t block = tunables;
    if (!blocks_.empty()) {
      block = blocks_[below(blocks_.size())];
      move(block, encoding_.steps(block, base.indices[block], options_.radius));
    }
    if (warps_) move(*warps_, encoding_.steps(*warps_, base.indices[*warps_], options_.radius));
    std::vector<std::size_t> others;
    for (std::size_t t = 0; t < tunables; ++t)
      if (t != block && t != warps_ && !near[t].empty()) others.push_back(t);
    if (!others.empty()) {
      const std::size_t moves = below(std::min(options_.radius, others.size()) + 1);
      std::vector<std::size_t> moved;
      for (std::size_t m = 0; m < moves; ++m) {  // without replacement, as Python's random.sample
        const std::size_t drawn = below(others.size() - m);
        moved.push_back(others[drawn]);
        others[drawn] = others[others.size() - m - 1];
      }
      for (const std::size_t t : moved) move(t, near[t]);
    }
    if (mutant != base) mutants.push_back(std::move(mutant));
  }
  return mutants;
}

/// `neighbours` walks: in a random tree, the tunables that the path of `base` asks for, then a block size and
/// the warps, each set to the value that this tree likes best; those that end where they began are left out.
KERNELSEARCH_INLINE std::vector<Config> HelionLfbo::tree_mutants(const Config& base) {
  std::vector<Config> mutants;
  const std::vector<double> base_row = encoding_.encode(base);
  std::vector<double> row;
  for (std::size_t i = 0; i < options_.neighbours; ++i) {
    const std::size_t tree = below(model_->trees());
    std::vector<std::size_t> fields;
    const auto add = [&](std::size_t t) {
      if (std::find(fields.begin(), fields.end(), t) == fields.end()) fields.push_back(t);
    };
    for (const std::size_t f : model_->path_features(base_row, tree)) add(encoding_.tunable_of(f));
    if (!blocks_.empty()) add(blocks_[below(blocks_.size())]);
    if (warps_) add(*warps_);
    Config mutant = base;
    row = base_row;
    for (const std::size_t t : fields) {
      const std::vector<std::uint32_t> steps = encoding_.steps(t, mutant.indices[t], options_.radius);
      if (steps.empty()) continue;
      std::vector<std::uint32_t> choices{mutant.indices[t]};
      choices.insert(choices.end(), steps.begin(), steps.end());
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
      mutant.indices[t] = ties[below(ties.size())];
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
    std::vector<double> scores(pool.size());
    for (double& score : scores) score = source_.uniform ? source_.uniform() : rng_.uniform();
    std::vector<std::size_t> order(pool.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&scores](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
    picked.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(wanted));
  } else {
    const TreeEnsemble& trees = *model_;
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

/// The configurations one step of one tunable from the best, or one step of two block sizes, all that are not
/// visited, as long as that gains (surrogate_pattern_search.py, _polish_descent).
KERNELSEARCH_INLINE bool HelionLfbo::next_polish_round() {
  if (polished_ == 0) {
    polish_from_ = best();
    if (!std::isfinite(ledger_.value(polish_from_))) return false;
  } else {
    Config next = polish_from_;
    for (const Config& config : batch_)
      if (ledger_.value(config) < ledger_.value(next)) next = config;
    const double before = ledger_.value(polish_from_), after = ledger_.value(next);
    if (next == polish_from_ || std::abs(after / before - 1) < options_.min_improvement) return false;
    polish_from_ = next;
  }
  batch_.clear();
  if (polished_++ == options_.polish_rounds) return false;
  const auto consider = [this](const Config& config) {
    if (visited_.contains(config) || !admissible(config)) return;
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
  return !batch_.empty();
}

}  // namespace kernelsearch
