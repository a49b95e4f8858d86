// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A search policy of one's own against the built-in ones, on recorded hardware: 20 paired repeats, scores
// with intervals, a test of the differences, and a page to look at.
//
//     example_compare_policies [--out FOLDER] [RECORDING...]
//
// Without recordings it compares on two devices that it makes up.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kernelsearch/compare/comparison.hpp"
#include "kernelsearch/compare/html_report.hpp"
#include "kernelsearch/compare/paired_test.hpp"
#include "kernelsearch/kernelsearch.hpp"
#include "kernelsearch/recorded/read_recording.hpp"

using namespace kernelsearch;

/// Two-point hill climber: keeps the best two points and crosses them, changing one tunable in passing.
class TwoPoints {
 public:
  using Proposal = Config;

  explicit TwoPoints(const PolicySetup& setup)
      : space_(setup.space),
        rng_(Rng::stream(setup.seed, "two_points")),
        rest_(space_, {.seed = setup.seed}) {}

  std::vector<Config> ask(std::size_t n) {
    std::vector<Config> proposals;
    while (proposals.size() < n) {
      Config config;
      for (int attempt = 0; attempt < 30; ++attempt) {
        config = seen_.size() < 10 ? space_.sample(rng_) : child();
        if (space_.contains(config) && !seen_.contains(config)) break;
      }
      if (!space_.contains(config) || seen_.contains(config)) {
        const std::vector<Config> other = rest_.ask(1);  // every configuration once, so that this ends
        if (other.empty()) break;
        config = other.front();
      }
      if (seen_.insert(config).second) proposals.push_back(config);
    }
    return proposals;
  }

  void tell(std::span<const Observation<Config>> batch) {
    for (const auto& [config, outcome] : batch) {
      seen_.insert(config);
      if (!outcome.ok()) continue;
      best_.emplace_back(outcome.objective, config);
      std::sort(best_.begin(), best_.end());
      if (best_.size() > 2) best_.pop_back();
    }
  }

 private:
  Config child() {
    if (best_.empty()) return space_.sample(rng_);
    Config config = best_.front().second;
    for (std::size_t i = 0; i < config.indices.size(); ++i)
      if (rng_.chance(0.5)) config.indices[i] = best_.back().second.indices[i];
    const std::size_t changed = rng_.below(config.indices.size());
    const auto usable = space_.usable(changed);
    config.indices[changed] = usable[rng_.below(usable.size())];
    return config;
  }

  Space space_;
  Rng rng_;
  RandomSearch rest_;
  std::unordered_set<Config> seen_;
  std::vector<std::pair<double, Config>> best_;
};

/// What a device that does not exist would have answered at every configuration.
Recording made_up_device(const std::string& name, double cache) {
  Recording recording{name,
                      "stencil",
                      name,
                      "",
                      SpaceBuilder()
                          .add(Tunable::power_of_two("block", 8, 1024))
                          .add(Tunable::integer("tile", 1, 16))
                          .add(Tunable::integer("unroll", 1, 8))
                          .add(Tunable::boolean("stage"))
                          .require("block * tile <= 8192")
                          .build(),
                      {}};
  recording.space.for_each([&](const Config& config) {
    const double block = to_number(recording.space.value(config, 0)),
                 tile = to_number(recording.space.value(config, 1));
    const double unroll = to_number(recording.space.value(config, 2)),
                 stage = to_number(recording.space.value(config, 3));
    const double footprint = block * tile * (1 + stage) / cache;
    const double time = 1 + 0.3 * std::abs(std::log2(footprint)) + (footprint > 1 ? 0.5 : 0.0) +
                        0.1 * std::abs(unroll - (stage > 0 ? 4 : 2)) + 8 / block + 0.05 * (1 - stage);
    const bool fails = tile * unroll > 100;  // too many registers
    recording.trials.push_back({config,
                                fails ? Evaluation::failed(Verdict::launch_failed, "too many registers")
                                      : Evaluation::succeeded(1e-3 * time),
                                {}});
    recording.trials.back().evaluation.phases = {0.8, 0.0, fails ? 0.0 : 0.032 * time};
  });
  return recording;
}

int main(int argc, char** argv) try {
  std::string folder;
  std::vector<Recording> recordings;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--out" && i + 1 < argc)
      folder = argv[++i];
    else
      recordings.push_back(read_recording(argv[i]));
  }
  if (recordings.empty()) {
    recordings.push_back(made_up_device("small_cache", 512));
    recordings.push_back(made_up_device("large_cache", 4096));
  }

  const std::vector<Contestant> contestants{
      {"two_points", [](const PolicySetup& setup) { return AnyPolicy<Config>(TwoPoints(setup)); }},
      registered_contestant("iterated_local_search"),
      registered_contestant("random"),
  };
  const std::vector<Landscape> landscapes = landscapes_of(recordings);
  ComparisonOptions options{.repeats = 20, .seed = 1};
  options.folder = folder;  // empty: nothing is kept
  const std::vector<Trace> traces = compare(recordings, landscapes, contestants, options);

  const std::vector<PolicyScores> scores = score(landscapes, traces);
  const std::vector<PairedDifference> differences = paired_differences(landscapes, traces, "two_points");
  std::printf("%zu runs; P: 0 as random search, 1 the optimum at once; difference from two_points, p\n",
              traces.size());
  for (const PolicyScores& policy : scores) {
    const AreaScore& p = policy.areas[0];
    std::printf("%-22s P %5.2f [%5.2f, %5.2f]  to within 5 %%: %3.0f", policy.strategy.c_str(), p.value,
                p.interval->low, p.interval->high, policy.n5);
    for (const PairedDifference& d : differences)
      if (d.strategy == policy.strategy)
        std::printf("  %+.2f, p = %.4f", d.areas[0].mean, d.areas[0].adjusted_p);
    std::printf("\n");
  }
  if (!folder.empty())
    std::ofstream(folder + "/report.html")
        << html_report({landscapes, traces, scores, {"two_points", differences}, options.seed});
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
