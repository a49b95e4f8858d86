// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/policy/lfbo.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE Lfbo::Lfbo(Space space, LfboOptions options)
    : options_(options),
      encoding_(space),
      points_(space),
      rng_(Rng::stream(options.seed, "lfbo")),
      ledger_(std::move(space), options.seed, false) {
  if (options.trees == 0 || options.incumbents == 0 || options.stagnation == 0) {
    detail::raise<ConfigError>("LFBO cannot run with these options", "no trees, incumbents or stagnation",
                               "give at least 1 of each");
  }
  constexpr std::uint64_t share = 11, least = 6, most = 16, unknown = 12;
  if (options_.initial == 0) {
    options_.initial = static_cast<std::size_t>(
        options_.budget ? std::clamp(*options_.budget / share, least, most) : unknown);
  }
}

KERNELSEARCH_INLINE std::vector<Config> Lfbo::ask(std::size_t n) {
  return ledger_.propose(n, [this] { return next(); });
}

KERNELSEARCH_INLINE void Lfbo::tell(std::span<const Observation<Config>> batch) {
  for (const Observation<Config>& observation : batch) {
    const Config& config = observation.proposal;
    const std::optional<double> before = ledger_.result(config);
    const bool succeeded = before && std::isfinite(*before);
    if (!observation.outcome.origin && !before) first_.push_back(config);
    ledger_.record(observation);
    const double value = ledger_.value(config);
    changed_ += before != value ? 1 : 0;
    if (std::isfinite(value) && !succeeded) ++successes_;
    if (!std::isfinite(value) && succeeded) --successes_;
    ++since_best_;
    if (value < best_) {
      best_ = value;
      since_best_ = 0;
    }
  }
}

KERNELSEARCH_INLINE std::optional<Config> Lfbo::next() {
  if (first_.size() < options_.initial) {
    Config config = points_.next(
        first_, [this](const Config& c) { return ledger_.known(c); }, rng_);
    if (!ledger_.known(config)) {
      first_.push_back(config);
      return config;
    }
  }
  if (successes_ < 2) return ledger_.random();
  const double random =
      options_.random_share + static_cast<double>(since_best_) / static_cast<double>(options_.stagnation);
  if (rng_.chance(std::min(options_.most_random, random))) return ledger_.random();
  const double due = options_.refit * static_cast<double>(ledger_.told().size());
  if (!model_ || static_cast<double>(changed_) >= std::max(1.0, due)) {
    fit();
    rank();
  }
  if (std::optional<Config> config = promising()) return config;
  rank();  // all were proposed: look further with the same model
  if (std::optional<Config> config = promising()) return config;
  return ledger_.random();
}

KERNELSEARCH_INLINE std::optional<Config> Lfbo::promising() {
  const Candidate* best = nullptr;
  for (const Candidate& candidate : candidates_)
    if ((!best || candidate.score > best->score) && !ledger_.known(candidate.config)) best = &candidate;
  if (!best) return std::nullopt;
  const std::size_t trees = model_->trees().trees();
  const auto at = static_cast<std::size_t>(best - candidates_.data());
  penalise(std::span(leaves_).subspan(at * trees, trees));
  return best->config;
}

KERNELSEARCH_INLINE void Lfbo::encode(const Config& config, std::span<double> row) const {
  encoding_.encode(config, row.first(encoding_.size()));
  points_.encode(config, row.subspan(encoding_.size()));
}

KERNELSEARCH_INLINE void Lfbo::fit() {
  changed_ = 0;
  std::vector<double> times;
  for (const Config& config : ledger_.told())
    if (const double time = ledger_.value(config); std::isfinite(time)) times.push_back(time);
  std::sort(times.begin(), times.end());
  const bool positive = times.front() > 0;  // ratios are what counts then
  const auto scale = [positive](double time) { return positive ? std::log(time) : time; };
  const double best = scale(times.front()), middle = scale(times[times.size() / 2]);

  FeatureMatrix rows(encoding_.size() + points_.size());
  rows.reserve(ledger_.told().size());
  std::vector<double> utility;
  for (const Config& config : ledger_.told()) {
    rows.add_row();
    encode(config, rows.row(rows.rows() - 1));
    const double time = std::min(ledger_.value(config), times.back());
    // 0 the best, -1 the median; beyond it only the order of magnitude counts.
    const double behind = (scale(time) - best) / std::max(1e-9, middle - best);
    utility.push_back(behind <= 1 ? -behind : -1 - std::log(behind));
  }
  ForestOptions options = regressor_defaults;
  options.trees = options_.trees;
  options.seed = rng_();
  model_.emplace(rows, utility, std::span<const double>{}, options);
}

KERNELSEARCH_INLINE void Lfbo::add(const Config& config) {
  if (!ledger_.known(config) && among_candidates_.insert(config).second) candidates_.push_back({config, 0.0});
}

KERNELSEARCH_INLINE void Lfbo::add_neighbours(const Config& config) {
  const Space& space = encoding_.space();
  constexpr std::size_t most_values = 48;  // of a tunable: longer lists are sampled
  Config next = config;
  for (std::size_t t = 0; t < space.size(); ++t) {
    const auto usable = space.usable(t);
    const bool all = usable.size() <= most_values;
    for (std::size_t i = 0; i < (all ? usable.size() : most_values); ++i) {
      next.indices[t] = usable[all ? i : rng_.below(usable.size())];
      if (space.contains(next)) add(next);
    }
    next.indices[t] = config.indices[t];
  }
}

KERNELSEARCH_INLINE void Lfbo::gather() {
  candidates_.clear();
  among_candidates_.clear();
  const Space& space = encoding_.space();
  std::vector<std::pair<double, const Config*>> known;
  for (const Config& config : ledger_.told())
    if (const double time = ledger_.value(config); std::isfinite(time)) known.emplace_back(time, &config);
  const std::size_t kept = std::min(options_.incumbents, known.size());
  std::partial_sort(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(kept), known.end(),
                    [](const auto& a, const auto& b) {
                      return a.first != b.first ? a.first < b.first : *a.second < *b.second;
                    });
  for (std::size_t i = 0; i < kept; ++i) add_neighbours(*known[i].second);
  for (std::size_t i = 0; i < options_.crossovers; ++i) {
    Config child = *known[rng_.below(kept)].second;
    const Config& other = *known[rng_.below(kept)].second;
    for (std::size_t t = 0; t < space.size(); ++t) {
      if (rng_.chance(0.5)) child.indices[t] = other.indices[t];
      if (!rng_.chance(1.0 / static_cast<double>(space.size()))) continue;
      const auto usable = space.usable(t);
      child.indices[t] = usable[rng_.below(usable.size())];
    }
    if (space.contains(child)) add(child);
  }
  Config config;
  for (std::size_t i = 0; i < options_.random_candidates; ++i) {
    space.sample(rng_, config);
    add(config);
  }
}

/// Scores new candidates; what is out already weighs on those like it.
KERNELSEARCH_INLINE void Lfbo::rank() {
  gather();
  const TreeEnsemble& forest = model_->trees();
  const std::size_t trees = forest.trees();
  const auto count = static_cast<double>(trees);
  leaves_.resize(candidates_.size() * trees);
  std::vector<double> row(encoding_.size() + points_.size());
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    encode(candidates_[i].config, row);
    const auto leaves = std::span(leaves_).subspan(i * trees, trees);
    forest.leaves(row, leaves);
    double sum = 0, squares = 0;
    for (const std::uint32_t leaf : leaves) {
      const double value = forest.leaf_value(leaf);
      sum += value;
      squares += value * value;
    }
    const double mean = sum / count;
    const double deviation = std::sqrt(std::max(0.0, squares / count - mean * mean));
    // The last term breaks ties, of which trees make many, at random.
    candidates_[i].score = mean + options_.exploration * deviation + 1e-9 * rng_.uniform();
  }
  std::vector<std::uint32_t> leaves(trees);
  std::size_t weighed = 0;
  constexpr std::size_t most_weighed = 64;  // so that many in flight do not cost more than the forest
  ledger_.for_each_outstanding([&](const Config& config) {
    if (weighed++ >= most_weighed) return;
    encode(config, row);
    forest.leaves(row, leaves);
    penalise(leaves);
  });
}

KERNELSEARCH_INLINE void Lfbo::penalise(std::span<const std::uint32_t> leaves) {
  if (options_.similarity_penalty == 0) return;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const auto theirs = std::span<const std::uint32_t>(leaves_).subspan(i * leaves.size(), leaves.size());
    candidates_[i].score -= options_.similarity_penalty * leaf_similarity(leaves, theirs);
  }
}

}  // namespace kernelsearch
