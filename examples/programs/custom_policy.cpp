// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A search policy of one's own, in one file: every requirement of the SearchPolicy concept, nothing else. It
// is then compared with two of the library's on a landscape whose optimum is known.
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "kernelsearch/kernelsearch.hpp"

using namespace kernelsearch;

/// Draws at random for a while, then walks: each step changes one tunable of the best by one position.
class DrawThenWalk {
 public:
  using Proposal = Config;

  DrawThenWalk(Space space, std::size_t draws, std::uint64_t seed)
      : space_(std::move(space)), rng_(Rng::stream(seed, "draw_then_walk")), draws_(draws) {}

  std::vector<Config> ask(std::size_t n) {
    std::vector<Config> proposals;
    for (int attempt = 0; attempt < 1000 && proposals.size() < n; ++attempt) {
      Config config = space_.sample(rng_);
      if (seen_.size() >= draws_ && best_) {
        const auto around = space_.neighbours(*best_, Neighbourhood::adjacent);
        if (!around.empty() && attempt < 50) config = around[rng_.below(around.size())];
      }
      if (seen_.insert(config).second) proposals.push_back(std::move(config));
    }
    return proposals;
  }

  void tell(std::span<const Observation<Config>> batch) {
    for (const auto& [config, outcome] : batch) {
      seen_.insert(config);
      if (outcome.ok() && outcome.objective < best_time_) {
        best_ = config;
        best_time_ = outcome.objective;
      }
    }
  }

 private:
  Space space_;
  Rng rng_;
  std::size_t draws_;
  std::unordered_set<Config> seen_;
  std::optional<Config> best_;
  double best_time_ = INFINITY;
};
static_assert(SearchPolicy<DrawThenWalk>);

int main() {
  const Space space = SpaceBuilder()
                          .add(Tunable::integer("x", 0, 99))
                          .add(Tunable::integer("y", 0, 99))
                          .require("(x + y) % 3 != 1")
                          .build();
  const auto landscape = [&](const Candidate& c) {
    const double x = c.config.indices[0], y = c.config.indices[1];
    return 1.0 + 0.01 * (std::abs(x - 63) + 2 * std::abs(y - 21)) +
           (c.config.indices[0] % 2 == 0 ? 0.05 : 0.0);
  };
  const auto mean_best = [&](auto make) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Optimizer search{make(seed), TemplateGenerator(Kernel{{}, space}), FunctionEvaluator(landscape)};
      search.run(MaxTrials{150});
      const auto* best = search.best();
      sum += best != nullptr ? best->outcome.objective : INFINITY;
    }
    return sum / 20;
  };
  std::printf("mean best of 150 trials, 20 seeds (1.00 is the optimum)\n");
  std::printf("random                 %.3f\n",
              mean_best([&](auto s) { return RandomSearch(space, {.seed = s}); }));
  std::printf("iterated local search  %.3f\n",
              mean_best([&](auto s) { return IteratedLocalSearch(space, {.seed = s}); }));
  std::printf("draw, then walk        %.3f\n", mean_best([&](auto s) { return DrawThenWalk(space, 30, s); }));
}
