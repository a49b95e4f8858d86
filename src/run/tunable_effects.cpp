// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/tunable_effects.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/steady_seconds.hpp"
#include "kernelsearch/problem/evaluate.hpp"

namespace kernelsearch {
namespace {

/// The valid configurations that differ from the default in tunable `i` alone, the farthest first: where
/// there is an effect it shows there.
std::vector<Config> others(const Problem& problem, std::size_t i) {
  const Space& space = problem.kernel.space;
  const Config& start = space.default_config();
  std::vector<Config> configs;
  for (std::uint32_t v = 0; v < space.tunable(i).values.size(); ++v) {
    Config config = start;
    config.indices[i] = v;
    const auto accepts = [&](const Shape& shape) { return is_valid(problem, shape, config); };
    if (v != start.indices[i] && space.contains(config) &&
        std::all_of(problem.shapes.begin(), problem.shapes.end(), accepts))
      configs.push_back(std::move(config));
  }
  const auto distance = [&](const Config& config) {
    return config.indices[i] > start.indices[i] ? config.indices[i] - start.indices[i]
                                                : start.indices[i] - config.indices[i];
  };
  std::stable_sort(configs.begin(), configs.end(),
                   [&](const Config& a, const Config& b) { return distance(a) > distance(b); });
  return configs;
}

std::optional<Speedup> compared(const ComparePair& compare, const Candidate& candidate,
                                const Candidate& champion) {
  try {
    return compare(candidate, champion);
  } catch (const ConfigError&) {
    return std::nullopt;  // it fails where the default does not
  }
}

}  // namespace

TunableEffects measure_tunable_effects(const Problem& problem, const ComparePair& compare,
                                       const std::vector<std::size_t>& skip, TunableEffectOptions options) {
  const Space& space = problem.kernel.space;
  const Candidate first = problem.default_candidate();
  const double deadline = detail::steady_seconds() + options.seconds;
  TunableEffects effects;
  std::string late;
  for (std::size_t i = 0; i < space.size(); ++i) {
    const std::string& name = space.tunable(i).name;
    if (std::find(skip.begin(), skip.end(), i) != skip.end()) continue;
    const std::vector<Config> configs = others(problem, i);
    if (configs.empty()) continue;
    double low = 1, high = 1;
    bool reached = true, effect = false;
    for (const Config& config : configs) {
      reached = detail::steady_seconds() < deadline;
      if (!reached) break;
      const auto speedup = compared(compare, Candidate{first.kernel, config}, first);
      effect = !speedup || speedup->interval.low < 1 / (1 + options.margin) ||
               speedup->interval.high > 1 + options.margin;
      if (effect) break;
      low = std::min(low, speedup->interval.low);
      high = std::max(high, speedup->interval.high);
    }
    if (effect) continue;
    if (!reached) {
      late += (late.empty() ? "" : ", ") + name;
      continue;
    }
    effects.findings.push_back(
        {LintFinding::Severity::note,
         fmt::format("tunable {} changes nothing measured: its default {} against its {} other value{} gives "
                     "{:.3f} to {:.3f} times the speed",
                     name, to_string(space.value(first.config, i)), configs.size(),
                     configs.size() == 1 ? "" : "s", low, high),
         "remove it, unless it matters at other values of the others or on other machines"});
  }
  if (!late.empty())
    effects.left_out.push_back(fmt::format(
        "whether {} change anything measured: the {:g} s for it were used up", late, options.seconds));
  return effects;
}

}  // namespace kernelsearch
