// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/policy/hierarchical_ucb.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/policy/flat_ucb.hpp"
#include "support/approx.hpp"
#include "support/bottleneck_landscape.hpp"
#include "support/move_policy_contract.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

const auto with = [](HierarchicalUcbOptions options) {
  return [options](std::vector<std::string> strategies, std::uint64_t seed) {
    HierarchicalUcbOptions mine = options;
    mine.strategies = std::move(strategies);
    mine.seed = seed;
    return HierarchicalUcb(std::move(mine));
  };
};

/// A right or failed child of `parent` made by `strategy`, whose feature `load` is given.
Observation<Move> trial(std::uint64_t id, std::uint64_t parent, const char* strategy, double seconds,
                        double load) {
  Observation<Move> observation{id == 0 ? Move{} : Move{MoveKind::rewrite, {TrialId{parent}}, {strategy}},
                                {}};
  observation.outcome.id = TrialId{id};
  observation.outcome.parents = observation.proposal.parents;
  observation.outcome.objective = seconds;
  observation.outcome.evaluation = std::isfinite(seconds) ? Evaluation::succeeded(seconds)
                                                          : Evaluation::failed(Verdict::crashed, "scripted");
  observation.outcome.evaluation.features.set("load", load);
  return observation;
}
void tell(HierarchicalUcb& policy, const Observation<Move>& observation) {
  policy.tell(std::span<const Observation<Move>>(&observation, 1));
}
constexpr double failed_time = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("HierarchicalUcb: keeps the contract of policies over moves, as do both published versions") {
  static_assert(SearchPolicy<HierarchicalUcb>);
  for (const HierarchicalUcbOptions& options :
       {HierarchicalUcbOptions{}, HierarchicalUcbOptions::v1(), HierarchicalUcbOptions::v2()})
    move_policy_contract::check(with(options));
}

TEST_CASE("HierarchicalUcb: kernels are clustered by how they run, and the log of pulls is attributed anew") {
  HierarchicalUcbOptions options;
  options.strategies = {"a", "b"};
  options.clusters = 2;
  options.subsample = 1.0;
  options.cluster_by_time = false;
  HierarchicalUcb policy(options);
  tell(policy, trial(0, 0, "", 10, 0));
  CHECK(policy.clusters() == 1);
  tell(policy, trial(1, 0, "a", 8, 1));
  CHECK(policy.statistics(0, 0).pulls == 1);
  tell(policy, trial(2, 0, "a", 9, 100));
  tell(policy, trial(3, 2, "b", 9.9, 101));  // the fourth right kernel: 2 K
  REQUIRE(policy.clusters() == 2);
  CHECK(policy.cluster_of(0) == policy.cluster_of(1));
  CHECK(policy.cluster_of(2) == policy.cluster_of(3));
  CHECK(policy.cluster_of(0) != policy.cluster_of(2));
  const ArmStatistics& a = policy.statistics(policy.cluster_of(0), 0);
  CHECK(a.pulls == 2);
  CHECK(a.mean() == approx((0.2 + 0.1) / 2));
  CHECK(policy.statistics(policy.cluster_of(2), 1).mean() == approx(-0.1));
  CHECK(policy.statistics(policy.cluster_of(2), 0).pulls == 0);
  // What failed belongs to its parent's cluster; a revised outcome changes the statistics.
  tell(policy, trial(4, 3, "b", failed_time, 0));
  CHECK(policy.cluster_of(4) == policy.cluster_of(3));
  CHECK(policy.statistics(policy.cluster_of(2), 1).mean() == approx((-0.1 - 1) / 2));
  tell(policy, trial(4, 3, "b", 9.9, 101));
  CHECK(policy.statistics(policy.cluster_of(2), 1).mean() == approx(-0.05));
}

TEST_CASE("HierarchicalUcb: heads learn which strategy suits which kernel, also from examples") {
  HierarchicalUcbOptions options;
  options.strategies = {"a", "b"};
  Rng rng(1);
  for (int i = 0; i < 400; ++i) {
    MoveExample example;
    const double load = rng.uniform(0, 100);
    example.features.set("load", load);
    example.strategy = i % 2 == 0 ? "a" : "b";
    example.reward = (load > 50) == (i % 2 == 0) ? 0.2 : -1.0;
    options.examples.push_back(example);
  }
  options.warm_up_epochs = 5;
  HierarchicalUcb policy(options);
  tell(policy, trial(0, 0, "", 10, 95));
  CHECK(policy.compatibility(0, 0) > 0.8);
  CHECK(policy.compatibility(0, 1) < 0.2);
  CHECK(policy.ask(1).at(0).strategy() == "a");
}

TEST_CASE("HierarchicalUcb: a missing feature counts as the average one") {
  HierarchicalUcbOptions options;
  options.strategies = {"a", "b"};
  options.clusters = 2;
  HierarchicalUcb policy(options);
  for (std::uint64_t i = 0; i < 12; ++i) {
    Observation<Move> t =
        trial(i, 0, "a", 10 - 0.1 * static_cast<double>(i), static_cast<double>(i % 2) * 100);
    if (i % 3 == 0) t.outcome.evaluation.features = {};
    if (i == 5) t.outcome.evaluation.features.set("load", std::numeric_limits<double>::quiet_NaN());
    tell(policy, t);
    CHECK(std::isfinite(policy.compatibility(i, 0)));
  }
  CHECK(policy.clusters() == 2);
  CHECK(policy.ask(2).size() == 2);
}

TEST_CASE("HierarchicalUcb: strategies whose target is saturated in a cluster are masked, but never all") {
  HierarchicalUcbOptions options = HierarchicalUcbOptions::v2();
  options.strategies = {"memory", "compute"};
  options.clusters = 2;
  options.targets = {{"memory", "load"}};
  HierarchicalUcb policy(options);
  for (std::uint64_t i = 0; i < 6; ++i) tell(policy, trial(i, 0, "memory", 10 - static_cast<double>(i), 90));
  for (const Move& move : policy.ask(6)) CHECK(move.strategy() == "compute");
  options.targets.push_back({"compute", "load"});
  HierarchicalUcb all_masked(options);
  for (std::uint64_t i = 0; i < 6; ++i)
    tell(all_masked, trial(i, 0, "memory", 10 - static_cast<double>(i), 90));
  CHECK(all_masked.ask(6).size() == 6);
}

TEST_CASE("HierarchicalUcb: misuse is refused") {
  CHECK_THROWS_AS(HierarchicalUcb({.clusters = 0}), ConfigError);
  CHECK_THROWS_AS(HierarchicalUcb({.recluster_every = 0}), ConfigError);
  CHECK_THROWS_AS(HierarchicalUcb({.kernels_per_cluster = 0}), ConfigError);
}

TEST_CASE("HierarchicalUcb: a quarter less regret than flat UCB on the landscape with hidden compatibility") {
  using namespace bottleneck_landscape;
  const std::vector<std::string> strategies = BottleneckLandscape::strategies();
  Regret flat, hierarchical;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    FlatUcb a({.strategies = strategies, .seed = seed});
    const Regret x = regret_of(a, BottleneckLandscape(seed, seed + 1000), 200);
    HierarchicalUcb b({.strategies = strategies, .seed = seed});
    const Regret y = regret_of(b, BottleneckLandscape(seed, seed + 1000), 200);
    flat.time += x.time, flat.compatibility += x.compatibility;
    hierarchical.time += y.time, hierarchical.compatibility += y.compatibility;
  }
  CAPTURE(flat.time);
  CAPTURE(hierarchical.time);
  CHECK(hierarchical.time < 0.75 * flat.time);
  CHECK(hierarchical.compatibility < 0.75 * flat.compatibility);
}

TEST_CASE(
    "HierarchicalUcb: what a kernel shows comes first, until the strategy was tried and brought nothing") {
  HierarchicalUcbOptions options;
  options.strategies = {"a", "b", "c"};
  options.signs = {{"c", {{Expression::parse("load > 5 and trait.x"), 1.0, "loaded"}}}};
  options.problem.set("trait.x", 1);
  const auto first = [](HierarchicalUcbOptions mine, double load) {
    HierarchicalUcb policy(std::move(mine));
    tell(policy, trial(0, 0, "", 10, load));
    return std::string(policy.ask(1).front().strategy());
  };
  CHECK(first(options, 9) == "c");
  CHECK(first(options, 1) == "a");
  HierarchicalUcbOptions published = HierarchicalUcbOptions::v1();
  published.strategies = options.strategies;
  published.signs = options.signs;
  published.problem = options.problem;
  CHECK(first(published, 9) == "a");

  // Tries without a gain outweigh the sign, which counts less with each of them.
  HierarchicalUcb policy(options);
  tell(policy, trial(0, 0, "", 10, 9));
  std::size_t asked = 0;
  for (std::uint64_t id = 1; id < 8; ++id) {
    const Move move = policy.ask(1).front();
    asked += move.strategy() == "c" ? 1 : 0;
    Observation<Move> slower = trial(id, 0, "c", 11, 9);
    slower.proposal = move;
    slower.outcome.origin = Origin{ProposalId{id}, 0, 1};
    tell(policy, slower);
  }
  CHECK(asked >= 1);
  CHECK(asked <= 4);
}
