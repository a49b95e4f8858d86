// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A search policy as a plug-in of the command. Build the shared library with the compiler and the version of
// kernelsearch that will load it (CMakeLists.txt in this folder), then
//
//     kernelsearch contract --policy-plugin libfar_from_bad.so
//     kernelsearch compare recordings/ --policies bayesian,far_from_bad --policy-plugin libfar_from_bad.so
//     kernelsearch tune problem --policy 'far_from_bad(draws=20)' --policy-plugin libfar_from_bad.so
#include <cstddef>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/external/policy_plugin.hpp"
#include "kernelsearch/policy/random_search.hpp"

using namespace kernelsearch;

namespace {

struct FarFromBadOptions {
  int draws = 8;
  std::uint64_t seed = 0;  // without a row: the run's
};

/// From a few random draws it proposes the one that shares the most values with the best and the fewest with
/// the last one that failed or was slower.
class FarFromBad {
 public:
  using Proposal = Config;

  FarFromBad(Space space, FarFromBadOptions options)
      : space_(std::move(space)),
        rng_(Rng::stream(options.seed, "far_from_bad")),
        rest_(space_, {.seed = options.seed}),
        draws_(options.draws) {}

  std::vector<Config> ask(std::size_t n) {
    std::vector<Config> proposals;
    while (proposals.size() < n) {
      Config config = draw();
      if (known_.contains(config)) {
        const std::vector<Config> other = rest_.ask(1);  // each configuration once, so that this ends
        if (other.empty()) break;
        config = other.front();
      }
      if (known_.insert(config).second) proposals.push_back(std::move(config));
    }
    return proposals;
  }

  void tell(std::span<const Observation<Config>> batch) {
    for (const auto& [config, outcome] : batch) {
      known_.insert(config);
      if (outcome.ok() && (best_.indices.empty() || outcome.objective < best_objective_)) {
        best_ = config;
        best_objective_ = outcome.objective;
      } else {
        bad_ = config;
      }
    }
  }

 private:
  Config draw() {
    Config chosen = space_.sample(rng_);
    for (int i = 0; i < draws_; ++i) {
      Config other = space_.sample(rng_);
      if (known_.contains(chosen) || (!known_.contains(other) && merit(other) > merit(chosen)))
        chosen = std::move(other);
    }
    return chosen;
  }

  [[nodiscard]] int merit(const Config& config) const {
    int merit = 0;
    for (std::size_t i = 0; i < config.indices.size(); ++i) {
      if (!best_.indices.empty()) merit += config.indices[i] == best_.indices[i] ? 1 : 0;
      if (!bad_.indices.empty()) merit -= config.indices[i] == bad_.indices[i] ? 1 : 0;
    }
    return merit;
  }

  Space space_;
  Rng rng_;
  RandomSearch rest_;
  std::unordered_set<Config> known_;
  Config best_, bad_;
  double best_objective_ = 0.0;
  int draws_;
};

constexpr PolicyOption options_of_far_from_bad[] = {
    policy_option<&FarFromBadOptions::draws>("draws", "random draws that a proposal is chosen from", 1, 1000),
};

}  // namespace

KERNELSEARCH_POLICY_PLUGIN(policies) {
  policies.add(policy_entry<FarFromBad, FarFromBadOptions>(
      "far_from_bad", "draws that share values with the best and none with the last bad one",
      options_of_far_from_bad));
}
