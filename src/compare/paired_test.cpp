// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/compare/paired_test.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "quantile.hpp"

namespace kernelsearch {
namespace {

using Areas = std::array<double, area_names.size()>;
using RepeatAreas = std::map<std::pair<std::string, std::uint64_t>, Areas>;  ///< by space and repeat
using Pairs = std::vector<std::vector<double>>;                              ///< differences, by space

double mean_of_means(const Pairs& pairs) {
  double sum = 0.0;
  for (const auto& space : pairs)
    sum += std::accumulate(space.begin(), space.end(), 0.0) / static_cast<double>(space.size());
  return sum / static_cast<double>(pairs.size());
}

double permutation_p(const Pairs& pairs, double mean, const PairedTestOptions& options, Rng& rng) {
  // Equal to rounding counts as at least as far, else an exact tie would be decided by the order of a sum.
  const double limit = std::abs(mean) * (1 - 1e-12);
  std::size_t as_far = 1;
  for (std::size_t i = 0; i < options.permutations; ++i) {
    double sum = 0.0;
    for (const auto& space : pairs) {
      double part = 0.0;
      std::uint64_t signs = 0;
      for (std::size_t r = 0; r < space.size(); ++r) {
        if (r % 64 == 0) signs = rng();
        part += (signs & 1) != 0 ? space[r] : -space[r];
        signs >>= 1;
      }
      sum += part / static_cast<double>(space.size());
    }
    if (std::abs(sum / static_cast<double>(pairs.size())) >= limit) ++as_far;
  }
  return static_cast<double>(as_far) / static_cast<double>(options.permutations + 1);
}

Interval bootstrap_interval(const Pairs& pairs, const PairedTestOptions& options, Rng& rng) {
  std::vector<double> means;
  for (std::size_t b = 0; b < options.bootstrap; ++b) {
    double sum = 0.0;
    for (const auto& space : pairs) {
      double part = 0.0;
      for (std::size_t r = 0; r < space.size(); ++r) part += space[rng.below(space.size())];
      sum += part / static_cast<double>(space.size());
    }
    means.push_back(sum / static_cast<double>(pairs.size()));
  }
  if (means.empty()) return {};
  std::sort(means.begin(), means.end());
  return {comparing::sorted_quantile(means, 0.025), comparing::sorted_quantile(means, 0.975)};
}

PairedDifference difference(const std::string& strategy, const RepeatAreas& mine, const RepeatAreas& theirs,
                            const PairedTestOptions& options) {
  PairedDifference result;
  result.strategy = strategy;
  for (std::size_t h = 0; h < area_names.size(); ++h) {
    std::map<std::string, std::vector<double>> by_space;
    for (const auto& [key, areas] : mine)
      if (const auto other = theirs.find(key); other != theirs.end())
        by_space[key.first].push_back(areas[h] - other->second[h]);
    Pairs pairs;
    result.pairs = 0;
    for (auto& [space, differences] : by_space) {
      result.pairs += differences.size();
      pairs.push_back(std::move(differences));
    }
    if (pairs.empty()) continue;
    Rng rng = Rng::stream(options.seed, strategy + "\n" + std::string(area_names[h]));
    AreaDifference& area = result.areas[h];
    area.mean = mean_of_means(pairs);
    area.p = permutation_p(pairs, area.mean, options, rng);
    area.interval = bootstrap_interval(pairs, options, rng);
  }
  return result;
}

/// Holm (1979): the k-th smallest of m, times m - k + 1, and never below a smaller one's.
void adjust(std::vector<PairedDifference>& differences, std::size_t h) {
  std::vector<AreaDifference*> tests;
  for (PairedDifference& d : differences)
    if (d.pairs > 0) tests.push_back(&d.areas[h]);
  std::sort(tests.begin(), tests.end(), [](const auto* a, const auto* b) { return a->p < b->p; });
  double least = 0.0;
  for (std::size_t k = 0; k < tests.size(); ++k) {
    least = std::max(least, std::min(1.0, tests[k]->p * static_cast<double>(tests.size() - k)));
    tests[k]->adjusted_p = least;
  }
}

}  // namespace

std::vector<PairedDifference> paired_differences(std::span<const Landscape> landscapes,
                                                 std::span<const Trace> traces, std::string_view against,
                                                 const PairedTestOptions& options) {
  std::vector<std::string> strategies;
  std::map<std::string, RepeatAreas, std::less<>> areas;
  for (const Trace& trace : traces) {
    const auto space = std::find_if(landscapes.begin(), landscapes.end(),
                                    [&](const Landscape& l) { return l.name() == trace.space; });
    if (space == landscapes.end())
      detail::raise<ConfigError>("a trace is of an unknown space", trace.space, "give its recording too");
    if (!areas.contains(trace.strategy)) strategies.push_back(trace.strategy);
    areas[trace.strategy][{trace.space, trace.repeat}] = area_scores(*space, trace, {.cap = options.cap});
  }
  const auto other = areas.find(against);
  if (other == areas.end())
    detail::raise<ConfigError>("no traces of the policy to test against", against,
                               "name one that takes part");
  std::vector<PairedDifference> differences;
  for (const std::string& strategy : strategies)
    if (strategy != against)
      differences.push_back(difference(strategy, areas[strategy], other->second, options));
  for (std::size_t h = 0; h < area_names.size(); ++h) adjust(differences, h);
  return differences;
}

}  // namespace kernelsearch
