// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "kernelsearch/policy/bayesian_search.hpp"
#include "kernelsearch/policy/impl/bayesian_search_state.hpp"
#include "kernelsearch/policy/impl/rank_agreement.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE BayesianSearch::BayesianSearch(Space space, BayesianSearchOptions options)
    : state_(std::make_unique<State>(std::move(space), std::move(options))) {}
KERNELSEARCH_INLINE BayesianSearch::BayesianSearch(BayesianSearch&&) noexcept = default;
KERNELSEARCH_INLINE BayesianSearch& BayesianSearch::operator=(BayesianSearch&&) noexcept = default;
KERNELSEARCH_INLINE BayesianSearch::~BayesianSearch() = default;

KERNELSEARCH_INLINE std::vector<Config> BayesianSearch::ask(std::size_t n) {
  return state_->ledger.propose(n, [this]() -> std::optional<Config> {
    std::optional<Config> config = state_->next();
    if (config) state_->add(*config);
    return config;
  });
}

KERNELSEARCH_INLINE void BayesianSearch::tell(std::span<const Observation<Config>> batch) {
  for (const Observation<Config>& observation : batch) state_->record(observation);
}

KERNELSEARCH_INLINE std::vector<LearnedFrom> BayesianSearch::learned() const {
  const State& s = *state_;
  std::vector<LearnedFrom> learned;
  std::vector<double> row(s.prior.runs());
  for (std::size_t r = 0; r < s.prior.runs(); ++r) {
    std::vector<double> then, now;
    for (const State::Point& point : s.points) {
      if (!std::isfinite(point.objective)) continue;
      s.prior.write(point.config, row);
      then.push_back(row[r]);
      now.push_back(point.objective);
    }
    learned.push_back({s.prior.source(r), s.prior.outcomes(r), detail::rank_agreement(then, now)});
  }
  return learned;
}

KERNELSEARCH_INLINE std::size_t BayesianSearch::State::add(const Config& config) {
  const auto [entry, fresh] = index.emplace(config, points.size());
  if (fresh) points.push_back({config});
  return entry->second;
}

KERNELSEARCH_INLINE void BayesianSearch::State::record(const Observation<Config>& observation) {
  ledger.record(observation);
  if (!ledger.space().contains(observation.proposal)) return;  // from outside, of another space
  Point& point = points[add(observation.proposal)];
  const bool was_known = !std::isnan(point.objective), was_good = std::isfinite(point.objective);
  const Outcome& outcome = observation.outcome;
  // What could not even be generated says nothing of the kernel.
  point.objective = outcome.evaluation.verdict == Verdict::not_generated
                        ? std::numeric_limits<double>::quiet_NaN()
                    : outcome.ok() && outcome.objective > 0 && std::isfinite(outcome.objective)
                        ? outcome.objective
                        : std::numeric_limits<double>::infinity();
  known += static_cast<std::size_t>(!std::isnan(point.objective)) - static_cast<std::size_t>(was_known);
  successes += static_cast<std::size_t>(std::isfinite(point.objective)) - static_cast<std::size_t>(was_good);
  stale = true;
}

KERNELSEARCH_INLINE std::optional<Config> BayesianSearch::State::next() {
  if (points.empty() && options.default_first) return ledger.random();  // the default configuration
  if (stale) judge_prior();
  if (points.size() < (trust ? std::min<std::size_t>(2, options.first_points) : options.first_points))
    return first_point();
  if (successes >= 2 && features.size() > 0)
    if (std::optional<Config> config = from_model()) return config;
  return ledger.random();
}

/// Far from the others and well aligned; with earlier runs, the best of those first.
KERNELSEARCH_INLINE std::optional<Config> BayesianSearch::State::first_point() {
  // One point that owes nothing to the earlier runs comes first: should they mislead, it is the best so far.
  if (trust && points.size() == 1)
    for (const Config& config : prior.ranking())
      if (!ledger.known(config)) return config;
  const std::size_t draws = points.empty() ? (trust ? 32 : 8) : 64;
  const double promising =
      trust && points.empty() ? prior.promising() : std::numeric_limits<double>::infinity();
  std::optional<Config> best;
  double best_score = -2;
  std::vector<double> at(features.places()), other(features.places());
  for (std::size_t draw = 0; draw < draws; ++draw) {
    Config config = ledger.space().sample(rng);
    if (ledger.known(config)) continue;
    double score = options.alignment_weight * features.alignment(config);
    if (trust && points.empty() && prior.mean(config) > promising) score -= 1;
    if (!points.empty()) {
      features.place(config, at);
      double nearest = std::numeric_limits<double>::infinity();
      for (const Point& point : points) {
        features.place(point.config, other);
        double square = 0;
        for (std::size_t i = 0; i < at.size(); ++i) square += (at[i] - other[i]) * (at[i] - other[i]);
        nearest = std::min(nearest, square);
      }
      score += std::sqrt(nearest);
    }
    if (score > best_score) {
      best_score = score;
      best = std::move(config);
    }
  }
  return best ? best : ledger.random();
}

/// Targets of the model, and which points failed.
KERNELSEARCH_INLINE void BayesianSearch::State::set_targets() {
  std::vector<double> good;
  for (const Point& point : points)
    if (std::isfinite(point.objective)) good.push_back(point.objective);
  std::sort(good.begin(), good.end());
  const double best = good.front();
  const double scale_now = trust ? prior.scale() : std::max(1e-9, std::log(good[good.size() / 2] / best));
  const double worst = detail::excess(good.back(), best, scale_now);
  z.assign(points.size(), std::numeric_limits<double>::quiet_NaN());
  fail.assign(points.size(), std::numeric_limits<double>::quiet_NaN());
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (std::isnan(points[i].objective)) continue;
    const bool failed = std::isinf(points[i].objective);
    fail[i] = failed ? 1.0 : 0.0;
    z[i] = failed ? worst : detail::excess(points[i].objective, best, scale_now);
    if (trust) z[i] -= mean_of(points[i].config);
    sum += z[i];
    squares += z[i] * z[i];
  }
  if (trust) return;
  const double n = static_cast<double>(known), mean = sum / n;
  const double sd = std::sqrt(std::max(0.0, squares / n - mean * mean)) + 1e-9;
  for (std::size_t i = 0; i < points.size(); ++i) z[i] = (z[i] - mean) / sd - mean_of(points[i].config);
}

/// An earlier run that orders what was measured now no better than chance is not followed.
KERNELSEARCH_INLINE void BayesianSearch::State::judge_prior() {
  trust = prior.runs() > 0;
  if (!trust || known < 2) return;
  std::vector<double> then, now;
  for (const Point& point : points) {
    if (std::isnan(point.objective)) continue;
    then.push_back(prior.mean(point.config));
    now.push_back(point.objective);
  }
  trust = detail::rank_agreement(then, now) > 0;
}

/// The model's mean function, of which it learns how far it is off.
KERNELSEARCH_INLINE double BayesianSearch::State::mean_of(const Config& config) const {
  return trust ? prior.mean(config) : -options.alignment_mean * features.alignment(config);
}

/// A configuration's features divided by their length scales, then the terms that enter linearly.
KERNELSEARCH_INLINE Eigen::VectorXf BayesianSearch::State::column(const Config& config) const {
  constexpr float offset = 1.0F, slope = 0.7F;  // prior standard deviations of the linear terms' weights
  const std::size_t smooth = features.size(), runs = trust ? prior.runs() : 0;
  Eigen::VectorXf x(static_cast<Eigen::Index>(smooth + (trust ? runs + 1 : 0)));
  features.write(config, std::span<float>(x.data(), smooth));
  for (std::size_t f = 0; f < smooth; ++f) x[static_cast<Eigen::Index>(f)] *= scale[f];
  if (!trust) return x;
  std::vector<double> row(runs);
  prior.write(config, row);
  x[static_cast<Eigen::Index>(smooth)] = offset;
  for (std::size_t r = 0; r < runs; ++r)
    x[static_cast<Eigen::Index>(smooth + 1 + r)] =
        slope * static_cast<float>(row[r]) / std::sqrt(static_cast<float>(runs));
  return x;
}

KERNELSEARCH_INLINE Eigen::MatrixXf BayesianSearch::State::columns(const std::vector<std::size_t>& of) const {
  Eigen::MatrixXf x(static_cast<Eigen::Index>(features.size() + (trust ? prior.runs() + 1 : 0)),
                    static_cast<Eigen::Index>(of.size()));
  for (std::size_t i = 0; i < of.size(); ++i)
    x.col(static_cast<Eigen::Index>(i)) = column(points[of[i]].config);
  return x;
}

/// Known points, best first; failures last.
KERNELSEARCH_INLINE std::vector<std::size_t> BayesianSearch::State::best_points() const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (!std::isnan(points[i].objective)) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    return points[a].objective < points[b].objective;
  });
  return order;
}

/// Small spaces whole; of others the neighbours of the best, what earlier runs found best, and random draws.
KERNELSEARCH_INLINE void BayesianSearch::State::fill_pool() {
  const Space& space = ledger.space();
  pool.clear();
  if (space.count() <= BigCount(options.pool)) {
    space.for_each([this](const Config& config) {
      if (!ledger.known(config)) pool.push_back(config);
    });
    return;
  }
  std::unordered_set<Config> in;
  const auto take = [&](const Config& config) {
    if (!ledger.known(config) && in.insert(config).second) pool.push_back(config);
  };
  const std::vector<std::size_t> best = best_points();
  for (std::size_t k = 0; k < std::min<std::size_t>(10, best.size()) && pool.size() < options.pool / 2; ++k)
    for (const Config& config : ledger.neighbours(points[best[k]].config, Neighbourhood::hamming, rng)) {
      if (pool.size() >= options.pool / 2) break;
      take(config);
    }
  std::size_t promised = 0;
  for (const Config& config : prior.ranking()) {
    if (!trust || promised >= options.pool / 4) break;
    const std::size_t before = pool.size();
    take(config);
    promised += pool.size() - before;
  }
  const std::size_t draws = 4 * options.pool;  // in a space nearly used up most draws are known
  for (std::size_t draw = 0; draw < draws && pool.size() < options.pool; ++draw) take(space.sample(rng));
}

KERNELSEARCH_INLINE void BayesianSearch::State::refit() {
  set_targets();
  // What the model is made of: all, or the best and the latest; and those in flight.
  std::vector<std::size_t> chosen = best_points();
  if (chosen.size() > options.model_points) {
    std::vector<std::size_t> latest(chosen.begin() + static_cast<std::ptrdiff_t>(options.model_points / 2),
                                    chosen.end());
    chosen.resize(options.model_points / 2);
    std::sort(latest.begin(), latest.end(), std::greater<>());
    latest.resize(options.model_points - chosen.size());
    chosen.insert(chosen.end(), latest.begin(), latest.end());
  }

  std::vector<std::size_t> subset = chosen;
  if (subset.size() > options.fit_points) {
    std::vector<std::size_t> rest(subset.begin() + static_cast<std::ptrdiff_t>(options.fit_points / 2),
                                  subset.end());
    rng.shuffle(rest);
    subset.resize(options.fit_points / 2);
    subset.insert(subset.end(), rest.begin(),
                  rest.begin() + static_cast<std::ptrdiff_t>(options.fit_points - subset.size()));
  }
  FeatureMatrix x(features.size());
  std::vector<double> targets;
  std::vector<float> row(features.size());
  for (const std::size_t i : subset) {
    features.write(points[i].config, row);
    x.add_row(std::vector<double>(row.begin(), row.end()));
    targets.push_back(z[i]);
  }
  scale.assign(features.size(), 1.0F);
  std::vector<double> shared;
  if (trust) {
    const Eigen::MatrixXf linear = columns(subset).bottomRows(static_cast<Eigen::Index>(prior.runs() + 1));
    const Eigen::MatrixXd k = (linear.transpose() * linear).cast<double>();
    shared.assign(k.data(), k.data() + k.size());
  }
  process.fit(x, targets, shared);
  const std::vector<double> lengths = process.lengths();
  std::vector<double> factor(lengths.size());
  for (double& f : factor) f = std::exp(-options.perturbation * rng.normal());
  for (std::size_t f = 0; f < features.size(); ++f) {
    const std::size_t g = features.length_of()[f];
    scale[f] = static_cast<float>(factor[g] / lengths[g]);
  }

  for (std::size_t i = 0; i < points.size(); ++i)
    if (std::isnan(points[i].objective)) chosen.push_back(i);
  rows = std::move(chosen);
  appended = points.size();
  fill_pool();
  posterior.reset();
  if (pool.empty()) return;  // everything is proposed already
  const Eigen::MatrixXf at = columns(rows);
  Eigen::MatrixXf candidates(at.rows(), static_cast<Eigen::Index>(pool.size()));
  expected.assign(pool.size(), 0.0);
  for (std::size_t c = 0; c < pool.size(); ++c) {
    candidates.col(static_cast<Eigen::Index>(c)) = column(pool[c]);
    expected[c] = mean_of(pool[c]);
  }
  posterior.emplace(at, std::move(candidates), trust ? static_cast<Eigen::Index>(prior.runs() + 1) : 0,
                    process.noise());
  fitted = known;
  fitted_trust = trust;
}

KERNELSEARCH_INLINE std::optional<Config> BayesianSearch::State::from_model() {
  const bool due = !posterior || trust != fitted_trust ||
                   (known <= options.refit_each
                        ? stale && known != fitted
                        : static_cast<double>(known) >= options.refit_growth * static_cast<double>(fitted));
  if (due)
    refit();
  else
    set_targets();
  stale = false;
  if (!posterior) return std::nullopt;
  for (; appended < points.size(); ++appended) {
    posterior->append(column(points[appended].config));
    rows.push_back(appended);
  }

  Eigen::VectorXd y(static_cast<Eigen::Index>(rows.size())), failed = y;
  double best = std::numeric_limits<double>::infinity();
  bool any_failed = false;
  double n = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    y[static_cast<Eigen::Index>(i)] = z[rows[i]];
    failed[static_cast<Eigen::Index>(i)] = fail[rows[i]];
    if (std::isnan(z[rows[i]])) continue;
    ++n;
    any_failed = any_failed || fail[rows[i]] > 0;
  }
  // With a prior the target is what the best time lies above itself: nothing.
  if (trust)
    best = 0;
  else
    for (std::size_t i = 0; i < points.size(); ++i)
      if (fail[i] == 0) best = std::min(best, z[i] + mean_of(points[i].config));

  const Eigen::VectorXd w = posterior->whiten(y);
  constexpr double trusted_signal = 0.05;  // of what earlier runs leave unexplained, before anything is seen
  const double signal = (w.squaredNorm() + 2 * (trust ? trusted_signal : 1.0)) / (n + 2);
  const Eigen::VectorXf mean = posterior->mean(w);
  const Eigen::VectorXf variance = posterior->variance();
  Eigen::VectorXf failing;
  if (any_failed) failing = posterior->mean(posterior->whiten(failed));
  std::size_t chosen = pool.size();
  double most = -1;
  for (std::size_t c = 0; c < pool.size(); ++c) {
    if (pool[c].indices.empty()) continue;
    const auto at = static_cast<Eigen::Index>(c);
    const double sd = std::sqrt(signal * static_cast<double>(variance[at]));
    const double u = (best - (static_cast<double>(mean[at]) + expected[c])) / sd;
    const double density = 0.3989422804014327 * std::exp(-0.5 * u * u);
    double gain = sd * (u * 0.5 * std::erfc(-u * 0.7071067811865476) + density);
    if (any_failed)
      gain *= 1 - options.failure_penalty * std::clamp(static_cast<double>(failing[at]), 0.0, 1.0);
    if (gain <= most) continue;
    if (ledger.known(pool[c])) {  // told from outside since
      pool[c].indices.clear();
      continue;
    }
    most = gain;
    chosen = c;
  }
  if (chosen == pool.size()) return std::nullopt;
  Config config = std::move(pool[chosen]);
  pool[chosen].indices.clear();
  return config;
}

}  // namespace kernelsearch
