// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/compare/landscape.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "kernelsearch/core/error.hpp"

namespace kernelsearch {
namespace {

/// Share of the way from the median to the best that counts as found.
constexpr double cutoff = 0.95;

std::vector<LandscapePoint> points_of(const Recording& recording) {
  std::vector<LandscapePoint> points;
  points.reserve(recording.trials.size());
  for (std::size_t i = 0; i < recording.trials.size(); ++i)
    points.push_back({recording.space.key(recording.trials[i].config), recording.objective(i)});
  return points;
}

}  // namespace

Landscape::Landscape(const Recording& recording) : Landscape(recording.name, points_of(recording)) {}

Landscape::Landscape(std::string name, std::vector<LandscapePoint> points)
    : name_(std::move(name)), points_(std::move(points)) {
  number_.reserve(points_.size());
  for (std::size_t i = 0; i < points_.size(); ++i) {
    LandscapePoint& point = points_[i];
    if (!std::isfinite(point.objective) || point.objective <= 0)
      point.objective = std::numeric_limits<double>::infinity();
    else
      worst_first_.push_back(point.objective);
    if (!number_.emplace(point.key, static_cast<std::uint32_t>(i)).second)
      detail::raise<ConfigError>("a configuration is recorded twice", name_ + ", " + point.key,
                                 "keep one of the two");
  }
  if (worst_first_.empty())
    detail::raise<ConfigError>("nothing valid is recorded", name_,
                               "give a recording with at least one configuration that ran");
  std::sort(worst_first_.begin(), worst_first_.end(), std::greater<>());
  const std::size_t n = worst_first_.size();
  median_ = n % 2 == 1 ? worst_first_[n / 2] : (worst_first_[n / 2 - 1] + worst_first_[n / 2]) / 2;
  const double found = best() + (median_ - best()) * (1 - cutoff);
  std::uint64_t first = 0;  // rank of the first that is good enough
  while (worst_first_[first] > found) ++first;
  const std::uint64_t left = n + 1 - first;
  budget_ = std::max<std::uint64_t>(1, (first + left - 1) / left);
}

std::optional<std::uint32_t> Landscape::find(std::string_view key) const {
  const auto found = number_.find(key);
  if (found == number_.end()) return std::nullopt;
  return found->second;
}

double Landscape::baseline(std::uint64_t evaluations) const {
  const auto m = static_cast<double>(evaluations);
  const auto n = static_cast<double>(valid());
  // nearbyint rounds halves to even, as the scorer does
  const double rank = std::nearbyint(m * (n + 1) / (m + 1));
  return worst_first_[std::min(valid() - 1, static_cast<std::size_t>(rank))];
}

std::size_t Landscape::rank(double objective) const {
  const auto better = static_cast<std::size_t>(
      worst_first_.end() - std::upper_bound(worst_first_.begin(), worst_first_.end(), objective,
                                            [](double value, double other) { return other < value; }));
  return valid() - 1 - std::min(better, valid() - 1);
}

}  // namespace kernelsearch
