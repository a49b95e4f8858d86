// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/policy/tpe.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE Tpe::Tpe(Space space, TpeOptions options)
    : space_(space),
      options_(options),
      rng_(Rng::stream(options.seed, "tpe")),
      ledger_(std::move(space), options.seed, true) {
  if (options.candidates == 0 || options.most_good == 0 || !(options.good_share > 0) ||
      !(options.prior_weight > 0) || !(options.min_bandwidth > 0)) {
    detail::raise<ConfigError>("TPE cannot run with these options",
                               "no candidates, nothing good, or a weight or width of 0",
                               "give at least one candidate and one good one, and positive numbers");
  }
  for (std::size_t t = 0; t < space_.size(); ++t) {
    const auto usable = space_.usable(t);
    if (usable.size() < 2) continue;
    free_.push_back(t);
    place_.emplace_back(space_.tunable(t).values.size());
    for (std::size_t i = 0; i < usable.size(); ++i) place_.back()[usable[i]] = static_cast<std::uint32_t>(i);
  }
}

KERNELSEARCH_INLINE std::vector<Config> Tpe::ask(std::size_t n) {
  return ledger_.propose(n, [this] { return next(); });
}

KERNELSEARCH_INLINE void Tpe::tell(std::span<const Observation<Config>> batch) {
  for (const Observation<Config>& observation : batch) ledger_.record(observation);
}

KERNELSEARCH_INLINE std::optional<Config> Tpe::next() {
  if (launched_ < options_.initial) {
    ++launched_;
    return ledger_.random();
  }
  std::vector<const Config*> good, bad;
  for (const Config& config : ledger_.told())
    (std::isfinite(ledger_.value(config)) ? good : bad).push_back(&config);
  if (good.size() < 2 || free_.empty()) return ledger_.random();
  std::stable_sort(good.begin(), good.end(), [this](const Config* a, const Config* b) {
    return ledger_.value(*a) < ledger_.value(*b);
  });
  const auto share =
      static_cast<std::size_t>(std::ceil(options_.good_share * static_cast<double>(ledger_.told().size())));
  const std::size_t kept = std::clamp<std::size_t>(share, 1, std::min(options_.most_good, good.size() - 1));
  bad.insert(bad.end(), good.begin() + static_cast<std::ptrdiff_t>(kept), good.end());
  good.resize(kept);
  ledger_.for_each_outstanding([&](const Config& config) { bad.push_back(&config); });

  const Density of_good = density(std::move(good)), of_bad = density(std::move(bad));
  std::optional<Config> best;
  double best_ratio = -1;
  for (std::size_t i = 0; i < options_.candidates; ++i) {
    std::optional<Config> candidate = draw(of_good);
    if (!candidate) continue;
    const double ratio = value(of_good, *candidate) / value(of_bad, *candidate);
    if (!(ratio > best_ratio)) continue;
    best_ratio = ratio;
    best = std::move(candidate);
  }
  return best ? best : ledger_.random();
}

KERNELSEARCH_INLINE Tpe::Density Tpe::density(std::vector<const Config*> centres) const {
  Density made;
  const auto n = static_cast<double>(std::max<std::size_t>(centres.size(), 1));
  const double shrink = std::pow(n, -1.0 / (static_cast<double>(free_.size()) + 4.0));
  made.flat = options_.prior_weight;
  for (std::size_t f = 0; f < free_.size(); ++f) {
    const std::size_t m = space_.usable(free_[f]).size();
    const TunableKind kind = space_.tunable(free_[f]).kind;
    const bool unordered =
        kind == TunableKind::categorical || kind == TunableKind::boolean || kind == TunableKind::permutation;
    const auto last = static_cast<double>(m - 1);
    const double width = std::max(options_.min_bandwidth, 0.5 * shrink * last);
    // For an unordered tunable half the mass leaves the centre at first, less as kernels grow in number.
    const double away = 0.5 * shrink / last;
    std::vector<double> kernel(m), scale(m), sums(m);
    for (std::size_t d = 0; d < m; ++d) {
      const double z = static_cast<double>(d) / width;
      kernel[d] = !unordered ? std::exp(-0.5 * z * z) : d == 0 ? 1 - away * last : away;
      sums[d] = kernel[d] + (d > 0 ? sums[d - 1] : 0.0);
    }
    for (std::size_t c = 0; c < m; ++c) scale[c] = 1.0 / (sums[c] + sums[m - 1 - c] - kernel[0]);
    made.flat /= static_cast<double>(m);
    made.kernel.push_back(std::move(kernel));
    made.scale.push_back(std::move(scale));
  }
  made.centres = std::move(centres);
  return made;
}

KERNELSEARCH_INLINE double Tpe::value(const Density& density, const Config& config) const {
  double sum = density.flat;
  for (const Config* centre : density.centres) {
    double product = 1;
    for (std::size_t f = 0; f < free_.size(); ++f) {
      const std::uint32_t c = place_[f][centre->indices[free_[f]]], x = place_[f][config.indices[free_[f]]];
      product *= density.kernel[f][c > x ? c - x : x - c] * density.scale[f][c];
    }
    sum += product;
  }
  return sum / (static_cast<double>(density.centres.size()) + options_.prior_weight);
}

/// A valid configuration that is not taken, from the density; empty where that is hard to come by.
KERNELSEARCH_INLINE std::optional<Config> Tpe::draw(const Density& density) {
  constexpr int attempts = 32;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const double all = static_cast<double>(density.centres.size()) + options_.prior_weight;
    const auto which = static_cast<std::size_t>(rng_.uniform() * all);
    Config config;
    if (which >= density.centres.size()) {
      config = space_.sample(rng_);
    } else {
      config = *density.centres[which];
      for (std::size_t f = 0; f < free_.size(); ++f) {
        const auto usable = space_.usable(free_[f]);
        const std::uint32_t c = place_[f][config.indices[free_[f]]];
        double left = rng_.uniform() / density.scale[f][c];
        std::size_t x = 0;
        for (; x + 1 < usable.size(); ++x)
          if ((left -= density.kernel[f][x < c ? c - x : x - c]) < 0) break;
        config.indices[free_[f]] = usable[x];
      }
    }
    if (!ledger_.known(config) && space_.contains(config)) return config;
  }
  return std::nullopt;
}

}  // namespace kernelsearch
