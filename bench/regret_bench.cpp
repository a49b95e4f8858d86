// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cumulative regret of policies over moves, as Markdown tables: at 20, 50 and 200 pulls on the landscape with
// hidden (cluster, strategy) compatibility, and at 200 on the recorded spaces named, through MovesOverSpace.
//
//     regret_bench [--seeds N] [RECORDING...]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernelsearch/policy/any_policy.hpp"
#include "kernelsearch/policy/epsilon_greedy_tree.hpp"
#include "kernelsearch/policy/flat_ucb.hpp"
#include "kernelsearch/policy/hierarchical_ucb.hpp"
#include "kernelsearch/policy/moves_over_space.hpp"
#include "kernelsearch/policy/uct.hpp"
#include "kernelsearch/recorded/read_recording.hpp"
#include "support/bottleneck_landscape.hpp"

using namespace kernelsearch;
using bottleneck_landscape::Regret;

namespace {

constexpr std::size_t pulls = 200;
const std::vector<std::size_t> horizons{20, 50, pulls};
using Strategies = std::vector<std::string>;
using Examples = std::vector<MoveExample>;

struct Row {
  std::string name;
  std::function<AnyPolicy<Move>(const Strategies&, std::uint64_t seed, const Examples&)> make;
};

template <class Edit>
Row hierarchical(std::string name, Edit edit) {
  return {std::move(name),
          [edit](const Strategies& strategies, std::uint64_t seed, const Examples& examples) {
            HierarchicalUcbOptions options;
            edit(options, examples);
            options.strategies = strategies;
            options.seed = seed;
            return AnyPolicy<Move>(HierarchicalUcb(std::move(options)));
          }};
}

Row flat(std::string name, FlatUcbOptions options) {
  return {std::move(name), [options](const Strategies& strategies, std::uint64_t seed, const Examples&) {
            FlatUcbOptions mine = options;
            mine.strategies = strategies;
            mine.seed = seed;
            return AnyPolicy<Move>(FlatUcb(std::move(mine)));
          }};
}

using Options = HierarchicalUcbOptions;
const std::vector<Row>& rows() {
  static const std::vector<Row> all{
      flat("flat UCB (UCB1)", {}),
      flat("flat UCB, c and failure tuned here", {.exploration = 0.02, .reward = {.failure = -0.2}}),
      flat("epsilon-greedy (0.1)", {.exploration = 0.0, .epsilon = 0.1}),
      flat("greedy choice", {.exploration = 0.0}),
      flat("random choice", {.exploration = 0.0, .epsilon = 1.0}),
      {"STARK's tree",
       [](const Strategies& strategies, std::uint64_t seed, const Examples&) {
         return AnyPolicy<Move>(EpsilonGreedyTree({.strategies = strategies, .seed = seed}));
       }},
      {"UCT", [](const Strategies& strategies, std::uint64_t seed,
                 const Examples&) { return AnyPolicy<Move>(Uct({.strategies = strategies, .seed = seed})); }},
      hierarchical("**hierarchical UCB**", [](Options& o, const Examples& e) { o.examples = e; }),
      hierarchical("- warmed up with 20 moves",
                   [](Options& o, const Examples& e) {
                     o.examples = {e.begin(), e.begin() + 20};
                   }),
      hierarchical("- warmed up with 100 moves",
                   [](Options& o, const Examples& e) {
                     o.examples = {e.begin(), e.begin() + 100};
                   }),
      hierarchical("- without warm-up", [](Options&, const Examples&) {}),
      hierarchical("- without clusters",
                   [](Options& o, const Examples& e) { o.clusters = 1, o.examples = e; }),
      hierarchical("- without heads", [](Options& o, const Examples& e) { o.alpha = 0, o.examples = e; }),
      hierarchical("- without warm-up and clusters", [](Options& o, const Examples&) { o.clusters = 1; }),
      hierarchical("- without warm-up and heads", [](Options& o, const Examples&) { o.alpha = 0; }),
      hierarchical("- without any of them", [](Options& o, const Examples&) { o.clusters = 1, o.alpha = 0; }),
      hierarchical("KernelBand v1", [](Options& o, const Examples& e) { o = Options::v1(), o.examples = e; }),
      hierarchical("KernelBand v1, without warm-up", [](Options& o, const Examples&) { o = Options::v1(); }),
      hierarchical("KernelBand v1, without heads",
                   [](Options& o, const Examples&) { o = Options::v1(), o.alpha = 0; }),
      hierarchical("KernelBand v2", [](Options& o, const Examples&) { o = Options::v2(); }),
  };
  return all;
}

struct Summary {
  double mean = 0.0, half_width = 0.0;
};
/// Mean and 95 % interval (normal) of the mean.
Summary summary_of(const std::vector<double>& values) {
  double sum = 0.0, squares = 0.0;
  for (const double v : values) sum += v, squares += v * v;
  const double n = static_cast<double>(values.size());
  const double mean = sum / n;
  return {mean, 1.96 * std::sqrt(std::max(0.0, squares / n - mean * mean) / n)};
}

/// The ratio of sums with its 95 % interval (delta method on pairs).
Summary ratio_of(const std::vector<double>& values, const std::vector<double>& base) {
  const Summary over = summary_of(values), under = summary_of(base);
  const double ratio = over.mean / under.mean;
  std::vector<double> residuals;
  for (std::size_t i = 0; i < values.size(); ++i)
    residuals.push_back((values[i] - ratio * base[i]) / under.mean);
  return {ratio, summary_of(residuals).half_width};
}

void print_row(const std::string& name, const std::vector<double>& values, const std::vector<double>& base) {
  const Summary own = summary_of(values), ratio = ratio_of(values, base);
  std::printf("| %s | %.1f ± %.1f | %+.0f ± %.0f %% |", name.c_str(), own.mean, own.half_width,
              100 * (ratio.mean - 1), 100 * ratio.half_width);
}

/// Both regrets of one row at each horizon, by seed. The regret in time is what lies above one who knows the
/// compatibilities: the rest nobody could have saved.
struct Curves {
  std::vector<std::vector<double>> time, missed;
};

Curves curves_of(const Row& row, std::size_t seeds) {
  Curves curves{std::vector<std::vector<double>>(horizons.size()), {}};
  curves.missed = curves.time;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    // The examples come from a random phase on the same compatibilities with other noise.
    const Examples examples = bottleneck_landscape::examples_of(BottleneckLandscape(seed, seed + 2'000'000),
                                                                1000, Rng::stream(seed, "examples"));
    AnyPolicy<Move> policy = row.make(BottleneckLandscape::strategies(), seed, examples);
    const BottleneckLandscape landscape(seed, seed + 1'000'000);
    const auto regrets = bottleneck_landscape::regrets_of(policy, landscape, horizons);
    const auto informed = bottleneck_landscape::informed_regrets(landscape, horizons);
    for (std::size_t h = 0; h < horizons.size(); ++h) {
      curves.time[h].push_back(regrets[h].time - informed[h].time);
      curves.missed[h].push_back(regrets[h].compatibility);
    }
  }
  return curves;
}

void landscape_tables(std::size_t seeds) {
  std::vector<Curves> curves;
  for (const Row& row : rows()) curves.push_back(curves_of(row, seeds));
  for (std::size_t h = 0; h < horizons.size(); ++h) {
    std::printf("## Landscape with hidden compatibility: regret at T = %zu, %zu landscapes\n\n", horizons[h],
                seeds);
    std::printf(
        "| policy | ln(best / optimum), summed, above the informed | against UCB1 | missed chance of "
        "success, "
        "summed | against UCB1 |\n|---|--:|--:|--:|--:|\n");
    for (std::size_t r = 0; r < rows().size(); ++r) {
      print_row(rows()[r].name, curves[r].time[h], curves[0].time[h]);
      const Summary own = summary_of(curves[r].missed[h]);
      const Summary ratio = ratio_of(curves[r].missed[h], curves[0].missed[h]);
      std::printf(" %.1f ± %.1f | %+.0f ± %.0f %% |\n", own.mean, own.half_width, 100 * (ratio.mean - 1),
                  100 * ratio.half_width);
    }
    std::printf("\n");
  }
  std::printf("## Ours against each, by regret\n\n| against |");
  for (const std::size_t horizon : horizons)
    std::printf(" time, T = %zu | missed chance, T = %zu |", horizon, horizon);
  std::printf("\n|---|");
  for (std::size_t h = 0; h < horizons.size(); ++h) std::printf("--:|--:|");
  std::printf("\n");
  const auto at = [](const std::string& name) {
    for (std::size_t r = 0; r < rows().size(); ++r)
      if (rows()[r].name == name) return r;
    return std::size_t{0};
  };
  for (const char* ours : {"**hierarchical UCB**", "- without warm-up"})
    for (const char* other : {"flat UCB (UCB1)", "flat UCB, c and failure tuned here", "KernelBand v1",
                              "KernelBand v1, without warm-up", "KernelBand v2"}) {
      std::printf("| %s against %s |", ours, other);
      const Curves &a = curves[at(ours)], &b = curves[at(other)];
      for (std::size_t h = 0; h < horizons.size(); ++h)
        for (const auto member : {&Curves::time, &Curves::missed}) {
          const Summary ratio = ratio_of((a.*member)[h], (b.*member)[h]);
          std::printf(" %+.0f ± %.0f %% |", 100 * (ratio.mean - 1), 100 * ratio.half_width);
        }
      std::printf("\n");
    }
}

/// Sum over `pulls` evaluations of ln(best so far / optimum).
double regret_on(const Recording& recording, const std::unordered_map<Config, std::size_t>& index,
                 double optimum, double worst, const Row& row, std::uint64_t seed) {
  SpaceStrategies strategies(recording.space, {.seed = seed});
  const Strategies names = strategies.names();
  MovesOverSpace policy(row.make(names, seed, {}), std::move(strategies), {.seed = seed});
  double best = std::numeric_limits<double>::infinity(), regret = 0.0;
  for (std::uint64_t t = 0; t < pulls; ++t) {
    const std::vector<Config> asked = policy.ask(1);
    if (asked.empty()) break;
    Observation<Config> observation{asked.front(), {}};
    observation.outcome.id = TrialId{t};
    observation.outcome.origin = Origin{ProposalId{t}, 0, 1};
    if (const auto found = index.find(asked.front()); found != index.end()) {
      observation.outcome.evaluation = recording.trials[found->second].evaluation;
      observation.outcome.objective = recording.objective(found->second);
    } else {
      observation.outcome.evaluation = Evaluation::failed(Verdict::rejected, "not recorded");
    }
    policy.tell(std::span<const Observation<Config>>(&observation, 1));
    best = std::min(best, observation.outcome.objective);
    regret += std::log(std::min(best, worst) / optimum);
  }
  return regret;
}

void recorded_table(const std::vector<std::string>& files, std::size_t seeds) {
  std::printf(
      "\n## Recorded spaces, one strategy a tunable: sum over %zu evaluations of ln(best / optimum), %zu "
      "runs\n\n",
      pulls, seeds);
  std::printf("| policy | mean over the spaces | against UCB1 |");
  std::vector<Recording> recordings;
  std::vector<std::unordered_map<Config, std::size_t>> indices;
  std::vector<std::pair<double, double>> extremes;
  for (const std::string& file : files) {
    recordings.push_back(read_recording(file));
    std::unordered_map<Config, std::size_t> index;
    double optimum = std::numeric_limits<double>::infinity(), worst = 0.0;
    for (std::size_t i = 0; i < recordings.back().trials.size(); ++i) {
      index.emplace(recordings.back().trials[i].config, i);
      const double seconds = recordings.back().objective(i);
      optimum = std::min(optimum, seconds);
      if (std::isfinite(seconds)) worst = std::max(worst, seconds);
    }
    indices.push_back(std::move(index));
    extremes.emplace_back(optimum, worst);
    std::printf(" %s |", recordings.back().name.c_str());
  }
  std::printf("\n|---|--:|--:|");
  for (std::size_t i = 0; i < files.size(); ++i) std::printf("--:|");
  std::printf("\n");
  std::vector<double> base;
  for (const Row& row : rows()) {
    if (row.name.find("warm") != std::string::npos) continue;  // nothing to warm up with here
    std::vector<double> mean(seeds, 0.0), spaces;
    for (std::size_t r = 0; r < recordings.size(); ++r) {
      double sum = 0.0;
      for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        const double regret =
            regret_on(recordings[r], indices[r], extremes[r].first, extremes[r].second, row, seed);
        sum += regret / static_cast<double>(seeds);
        mean[seed] += regret / static_cast<double>(recordings.size());
      }
      spaces.push_back(sum);
    }
    if (base.empty()) base = mean;
    print_row(row.name, mean, base);
    for (const double value : spaces) std::printf(" %.1f |", value);
    std::printf("\n");
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t seeds = 200;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--seeds" && i + 1 < argc)
      seeds = std::stoul(argv[++i]);
    else
      files.emplace_back(argv[i]);
  }
  landscape_tables(seeds);
  if (!files.empty()) recorded_table(files, std::max<std::size_t>(seeds / 5, 1));
}
