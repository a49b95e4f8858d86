// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What HierarchicalUcb decides, one part of its score at a time: each test fails when that part is
// switched off.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "kernelsearch/policy/hierarchical_ucb.hpp"
#include "support/approx.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

/// A policy that is told trials, numbered from 0; the first is the root.
class ToldBandit {
 public:
  explicit ToldBandit(HierarchicalUcbOptions options) : policy(std::move(options)) {}

  /// Tells a kernel made of `parent` by `strategy`; its number.
  std::uint64_t kernel(std::uint64_t parent, const char* strategy, double seconds, Features features = {},
                       double build = 0.0) {
    Evaluation evaluation = Evaluation::succeeded(seconds);
    evaluation.features = std::move(features);
    evaluation.phases.build = build;
    return tell(parent, strategy, std::move(evaluation));
  }
  std::uint64_t refusal(std::uint64_t parent, const char* strategy) {
    return tell(parent, strategy, Evaluation::failed(Verdict::not_applicable, "not here"));
  }
  std::string next() {
    const std::vector<Move> moves = policy.ask(1);
    return moves.empty() ? "nothing" : std::string(moves.front().strategy());
  }

  HierarchicalUcb policy;

 private:
  std::uint64_t tell(std::uint64_t parent, const char* strategy, Evaluation evaluation) {
    Observation<Move> told{
        number_ == 0 ? Move{} : Move{MoveKind::rewrite, {TrialId{parent}}, {strategy}, number_}, {}};
    told.outcome.id = TrialId{number_};
    told.outcome.parents = told.proposal.parents;
    if (evaluation.verdict == Verdict::ok) told.outcome.objective = evaluation.measurement.seconds;
    told.outcome.evaluation = std::move(evaluation);
    policy.tell(std::span<const Observation<Move>>(&told, 1));
    return number_++;
  }
  std::uint32_t number_ = 0;
};

Features load_of(double load) {
  Features features;
  features.set("load", load);
  return features;
}

HierarchicalUcbOptions named(HierarchicalUcbOptions options,
                             std::vector<std::string> strategies = {"a", "b"}) {
  options.strategies = std::move(strategies);
  return options;
}

}  // namespace

TEST_CASE("HierarchicalUcb: in v1 the heads decide between arms that have earned the same") {
  HierarchicalUcbOptions options = named(HierarchicalUcbOptions::v1());
  for (int i = 0; i < 100; ++i)
    for (const char* strategy : {"a", "b"})
      options.examples.push_back({load_of(i), strategy, (i > 50) == (strategy[0] == 'b') ? 0.2 : -1.0});
  for (const double load : {95.0, 5.0}) {
    ToldBandit bandit(options);
    bandit.kernel(0, "", 10, load_of(load));
    bandit.kernel(0, "a", 9, load_of(load));
    bandit.kernel(0, "b", 9, load_of(load));
    CHECK(bandit.next() == (load > 50 ? "b" : "a"));
  }
}

TEST_CASE("HierarchicalUcb: in v1 the heads decide which of the arms that were never pulled comes first") {
  HierarchicalUcbOptions options = named(HierarchicalUcbOptions::v1());
  for (int i = 0; i < 100; ++i)
    for (const char* strategy : {"a", "b"})
      options.examples.push_back({load_of(i), strategy, (i > 50) == (strategy[0] == 'b') ? 0.2 : -1.0});
  for (const double load : {95.0, 5.0}) {
    ToldBandit bandit(options);
    bandit.kernel(0, "", 10, load_of(load));
    CHECK(bandit.next() == (load > 50 ? "b" : "a"));
  }
}

TEST_CASE("HierarchicalUcb: in v2 an arm that was pulled little is tried again, though it earned less") {
  HierarchicalUcbOptions options = named(HierarchicalUcbOptions::v2());
  options.clusters = 1;
  ToldBandit bandit(options);
  bandit.kernel(0, "", 10);
  for (int i = 0; i < 12; ++i) bandit.kernel(0, "a", 7);
  for (int i = 0; i < 2; ++i) bandit.kernel(0, "b", 10);
  CHECK(bandit.next() == "b");
}

TEST_CASE("HierarchicalUcb: in v2 an arm begins at one pull of one half") {
  HierarchicalUcbOptions options = named(HierarchicalUcbOptions::v2());
  options.exploration = 0.0;
  ToldBandit less(options);
  less.kernel(0, "", 10);
  less.kernel(0, "a", 6);  // (0.4 + 0.5) / 2 is less than 0.5
  CHECK(less.next() == "b");
  ToldBandit more(options);
  more.kernel(0, "", 10);
  more.kernel(0, "a", 4);  // (0.6 + 0.5) / 2 is more
  CHECK(more.next() == "a");
}

TEST_CASE("HierarchicalUcb: in v2 a kernel is drawn by the softmax of the fraction of its resource left") {
  HierarchicalUcbOptions options = named(HierarchicalUcbOptions::v2(), {"a"});
  options.targets = {{"a", "load"}};
  int second = 0;
  constexpr int draws = 600;
  for (std::uint64_t seed = 0; seed < draws; ++seed) {
    options.seed = seed;
    ToldBandit bandit(options);
    bandit.kernel(0, "", 10, load_of(50));
    bandit.kernel(0, "a", 10, load_of(49));
    second += bandit.policy.ask(1).at(0).parents.front() == TrialId{1} ? 1 : 0;
  }
  // exp(0.51 / 0.01) of exp(0.5 / 0.01) + exp(0.51 / 0.01); the deviation is 0.018.
  CHECK(static_cast<double>(second) / draws == approx(0.731).epsilon(0.1));
}

TEST_CASE("HierarchicalUcb: of equal arms the one with fewer pulls, then the one that builds faster") {
  HierarchicalUcbOptions options = named(HierarchicalUcbOptions::v1());
  options.exploration = 0.0;
  options.alpha = 0.0;
  for (const bool second : {true, false}) {
    const char* const rare = second ? "b" : "a";
    const char* const often = second ? "a" : "b";
    ToldBandit pulls(options);
    pulls.kernel(0, "", 10);
    pulls.kernel(0, often, 9, {}, 1.0);
    pulls.kernel(0, often, 9, {}, 1.0);
    pulls.kernel(0, rare, 9, {}, 2.0);  // though it takes longer
    CHECK(pulls.next() == rare);
    ToldBandit builds(options);
    builds.kernel(0, "", 10);
    builds.kernel(0, often, 9, {}, 2.0);
    builds.kernel(0, rare, 9, {}, 1.0);
    CHECK(builds.next() == rare);
  }
}

TEST_CASE("HierarchicalUcb: a head's label is a gain, and no change is none") {
  HierarchicalUcbOptions options = named(HierarchicalUcbOptions::v1());
  options.head.capacity = 1;
  ToldBandit bandit(options);
  bandit.kernel(0, "", 10, load_of(50));
  for (int i = 0; i < 4; ++i) bandit.kernel(0, "a", 10, load_of(50));
  for (int i = 0; i < 4; ++i) bandit.kernel(0, "b", 9.9, load_of(50));
  CHECK(bandit.policy.compatibility(0, 0) < 0.5);
  CHECK(bandit.policy.compatibility(0, 1) > 0.5);
}

TEST_CASE("HierarchicalUcb: a head of v1 learns when its buffer of 32 is full, and not before") {
  ToldBandit bandit(named(HierarchicalUcbOptions::v1()));
  bandit.kernel(0, "", 10, load_of(50));
  for (int i = 0; i < 31; ++i) bandit.kernel(0, "a", 9, load_of(50));
  CHECK(bandit.policy.compatibility(0, 0) == 0.5);
  bandit.kernel(0, "a", 9, load_of(50));
  CHECK(bandit.policy.compatibility(0, 0) > 0.5);
}

TEST_CASE("HierarchicalUcb: proposals that are out count as pulls") {
  for (const HierarchicalUcbOptions& options : {HierarchicalUcbOptions::v1(), HierarchicalUcbOptions::v2()}) {
    ToldBandit fresh(named(options, {"a", "b", "c"}));
    fresh.kernel(0, "", 10);
    std::set<std::string> names;
    for (const Move& move : fresh.policy.ask(3)) names.emplace(move.strategy());
    CHECK(names.size() == 3);
  }
  // Also where the bound is finite: a is a little better, and then it is out.
  HierarchicalUcbOptions options = named(HierarchicalUcbOptions::v1());
  options.alpha = 0.0;
  ToldBandit known(options);
  known.kernel(0, "", 10);
  known.kernel(0, "a", 8.9);
  known.kernel(0, "b", 9);
  const std::vector<Move> moves = known.policy.ask(2);
  CHECK(moves.at(0).strategy() == "a");
  CHECK(moves.at(1).strategy() == "b");
}

TEST_CASE("HierarchicalUcb: the mask looks at the kernel nearest to the centre of a cluster") {
  for (const bool saturated : {true, false}) {
    HierarchicalUcbOptions options = named(HierarchicalUcbOptions::v2(), {"memory"});
    options.strategies.emplace_back("compute");
    options.clusters = 2;
    options.subsample = 1.0;
    options.recluster_every = 6;
    options.cluster_by_time = false;
    options.cluster_features = {"place"};
    options.targets = {{"memory", "load"}};
    options.limits.variants = 1;
    ToldBandit bandit(options);
    const auto at = [](double place, double load) {
      Features features = load_of(load);
      features.set("place", place);
      return features;
    };
    // The middle of the first cluster says the contrary of its other kernels; the second has room.
    const double middle = saturated ? 90 : 10, rest = saturated ? 10 : 90;
    bandit.kernel(0, "", 10, at(0, rest));
    bandit.kernel(7, "none", 10, at(1, middle));
    bandit.kernel(7, "none", 10, at(2, rest));
    for (const double place : {100, 101, 102}) bandit.kernel(7, "none", 10, at(place, 10));
    REQUIRE(bandit.policy.clusters() == 2);
    REQUIRE(bandit.policy.cluster_of(0) == bandit.policy.cluster_of(2));
    REQUIRE(bandit.policy.cluster_of(0) != bandit.policy.cluster_of(3));
    std::size_t memory = 0;  // on kernels of the first cluster
    for (const Move& move : bandit.policy.ask(saturated ? 9 : 12))
      memory += move.strategy() == "memory" && number(move.parents.front()) < 3 ? 1 : 0;
    CHECK(memory == (saturated ? 0 : 3));
  }
}

namespace {

/// Kernels in two places, 0 and 100, by turns, each made of the one before but one.
void tell_in_two_places(ToldBandit& bandit, std::uint64_t kernels) {
  for (std::uint64_t i = 0; i < kernels; ++i)
    bandit.kernel(i < 2 ? 0 : i - 2, i % 2 == 0 ? "a" : "b", 10 - 0.1 * static_cast<double>(i),
                  load_of(i % 2 == 0 ? 0 : 100));
}

HierarchicalUcbOptions of_two_clusters() {
  HierarchicalUcbOptions options = named(HierarchicalUcbOptions::v2());
  options.clusters = 2;
  options.subsample = 1.0;
  options.cluster_by_time = false;
  options.cluster_features = {"load"};
  return options;
}

}  // namespace

TEST_CASE("HierarchicalUcb: how many right kernels the first clustering waits for") {
  for (const std::size_t each : {1, 2, 4}) {
    HierarchicalUcbOptions options = of_two_clusters();
    options.kernels_per_cluster = each;
    ToldBandit bandit(options);
    tell_in_two_places(bandit, 2 * each - 1);
    CHECK(bandit.policy.clusters() == 1);
    bandit.kernel(0, "a", 10, load_of(100));
    CHECK(bandit.policy.clusters() == 2);
  }
}

TEST_CASE("HierarchicalUcb: a new kernel is in the cluster of the nearest center, or in its parent's") {
  for (const bool chosen : {false, true}) {
    HierarchicalUcbOptions options = of_two_clusters();
    options.placing = chosen ? KernelPlacing::chosen : KernelPlacing::nearest;
    ToldBandit bandit(options);
    tell_in_two_places(bandit, 4);
    REQUIRE(bandit.policy.cluster_of(0) != bandit.policy.cluster_of(1));
    bandit.kernel(0, "a", 9, load_of(99));
    CHECK(bandit.policy.cluster_of(4) == bandit.policy.cluster_of(chosen ? 0 : 1));
  }
}

TEST_CASE("HierarchicalUcb: statistics after clustering anew, from the log or as they were") {
  for (const bool rebuilt : {true, false}) {
    HierarchicalUcbOptions options = of_two_clusters();
    options.rebuilt = rebuilt;
    ToldBandit bandit(options);
    // All pulls are of the kernel at 100; those before there are clusters count for number 0.
    bandit.kernel(0, "", 10, load_of(0));
    bandit.kernel(0, "a", 9, load_of(100));
    bandit.kernel(1, "b", 8, load_of(0));
    bandit.kernel(1, "b", 8, load_of(100));
    REQUIRE(bandit.policy.clusters() == 2);
    const std::size_t high = bandit.policy.cluster_of(1), low = bandit.policy.cluster_of(0);
    CHECK(bandit.policy.statistics(rebuilt ? high : 0, 1).pulls == 2);
    CHECK(bandit.policy.statistics(rebuilt ? low : 0, 0).pulls == 1);
    CHECK(bandit.policy.statistics(rebuilt ? low : 1, 1).pulls == 0);
    // Later pulls count for the cluster that the kernel is in, and once.
    bandit.kernel(1, "b", 8, load_of(0));
    CHECK(bandit.policy.statistics(high, 1).pulls == (rebuilt ? 3 : high == 0 ? 3 : 1));
  }
}

TEST_CASE("HierarchicalUcb: clusters are made anew when the right kernels have doubled, or by trials alone") {
  for (const bool doubled : {true, false}) {
    HierarchicalUcbOptions options = of_two_clusters();
    options.recluster_doubled = doubled;
    options.recluster_every = 100;
    ToldBandit bandit(options);
    for (int i = 0; i < 4; ++i) bandit.kernel(0, "a", 10, load_of(0));  // of one kind: one cluster
    REQUIRE(bandit.policy.clusters() == 1);
    for (int i = 0; i < 4; ++i) bandit.kernel(0, "a", 10, load_of(100));
    CHECK(bandit.policy.clusters() == (doubled ? 2 : 1));
  }
}

TEST_CASE("HierarchicalUcb: where all strategies are masked, which one is left") {
  const auto left = [](double reach, double a, double b) {
    HierarchicalUcbOptions options = named(HierarchicalUcbOptions::v2());
    options.targets = {{"a", "a"}, {"b", "b"}};
    options.mask_reach = reach;
    ToldBandit bandit(options);
    Features features;
    features.set("a", a);
    features.set("b", b);
    bandit.kernel(0, "", 10, features);
    return bandit.next();
  };
  CHECK(left(100, 90, 80) == "b");
  CHECK(left(1, 90, 80) == "a");  // neither is near the threshold: the first
  CHECK(left(1, 90, 75.5) == "b");
  CHECK(left(1, 75.2, 75.5) == "a");
}

TEST_CASE("HierarchicalUcb: the softmax of what was not measured goes by speed, or takes the fastest") {
  for (const bool fastest : {true, false}) {
    HierarchicalUcbOptions options = named(HierarchicalUcbOptions::v2(), {"a"});
    options.targets = {{"a", "load"}};
    options.unknown_room = fastest ? UnknownRoom::fastest : UnknownRoom::speed;
    std::set<std::uint64_t> drawn;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      options.seed = seed;
      ToldBandit bandit(options);
      bandit.kernel(0, "", 10);
      bandit.kernel(0, "a", 9.99);
      drawn.insert(number(bandit.policy.ask(1).at(0).parents.front()));
    }
    CHECK(drawn == (fastest ? std::set<std::uint64_t>{1} : std::set<std::uint64_t>{0, 1}));
  }
}

TEST_CASE("HierarchicalUcb: a strategy whose condition is false is not proposed for that kernel") {
  for (HierarchicalUcbOptions options :
       {HierarchicalUcbOptions{}, HierarchicalUcbOptions::v1(), HierarchicalUcbOptions::v2()}) {
    options = named(options);
    options.conditions = {{"a", Expression::parse("load > 50")}};
    options.limits.variants = 2;
    ToldBandit bandit(options);
    bandit.kernel(0, "", 10, load_of(20));
    bandit.kernel(0, "b", 9, load_of(80));
    bandit.kernel(0, "b", 9.5);  // what is not known decides nothing
    std::multiset<std::string> tried;
    for (const Move& move : bandit.policy.ask(100))
      tried.insert(std::string(move.strategy()) + std::to_string(number(move.parents.front())));
    CHECK(tried == std::multiset<std::string>{"a1", "a1", "a2", "a2", "b0", "b0", "b1", "b1", "b2", "b2"});
  }
  // A kernel with nothing to try takes no place of those that are rewritten.
  HierarchicalUcbOptions options = named(HierarchicalUcbOptions{}, {"a"});
  options.frontier = 1;
  options.conditions = {{"a", Expression::parse("load > 50")}};
  ToldBandit bandit(options);
  bandit.kernel(0, "", 10, load_of(80));
  bandit.kernel(0, "a", 5, load_of(20));
  CHECK(bandit.policy.ask(1).at(0).parents.front() == TrialId{0});
  // None at all: the search ends.
  ToldBandit barred(options);
  barred.kernel(0, "", 10, load_of(20));
  CHECK(barred.policy.ask(1).empty());
}

TEST_CASE("HierarchicalUcb: an answer that a strategy does not apply is no pull, but the arm is known") {
  HierarchicalUcbOptions options = named(HierarchicalUcbOptions::v1());
  options.alpha = 0.0;
  ToldBandit bandit(options);
  bandit.kernel(0, "", 10);
  bandit.refusal(0, "a");
  bandit.kernel(0, "b", 9);
  CHECK(bandit.policy.statistics(0, 0).pulls == 0);
  CHECK(bandit.next() == "b");  // not the other one again, because a kernel is new
}

TEST_CASE("HierarchicalUcb: features named as logarithms are clustered by them") {
  for (const bool logs : {true, false}) {
    HierarchicalUcbOptions options = named({});
    options.clusters = 2;
    options.subsample = 1.0;
    options.cluster_by_time = false;
    options.cluster_features = {"bytes"};
    if (logs) options.log_features = {"bytes"};
    ToldBandit bandit(options);
    for (const double bytes : {1.0, 2.0, 5000.0, 1e6}) {
      Features features;
      features.set("bytes", bytes);
      bandit.kernel(9, "none", 10, features);
    }
    REQUIRE(bandit.policy.clusters() == 2);
    CHECK((bandit.policy.cluster_of(2) == bandit.policy.cluster_of(logs ? 3 : 0)));
  }
}

TEST_CASE(
    "HierarchicalUcb: a strategy that does not apply, told after a choice, is no arm that was never pulled") {
  HierarchicalUcbOptions options = named(HierarchicalUcbOptions::v1(), {"a", "b", "c"});
  options.alpha = 0.0;
  ToldBandit bandit(options);
  bandit.kernel(0, "", 10);
  CHECK(bandit.next() == "a");
  bandit.refusal(0, "b");
  bandit.kernel(0, "c", 5);
  CHECK(bandit.next() == "c");
}

TEST_CASE("HierarchicalUcb: without heads examples still say which strategy comes first") {
  for (const char* good : {"a", "b"}) {
    HierarchicalUcbOptions options = named(HierarchicalUcbOptions{});
    options.alpha = 0.0;
    options.example_pulls = 3.0;
    for (int i = 0; i < 20; ++i)
      for (const char* strategy : {"a", "b"})
        options.examples.push_back({load_of(50), strategy, strategy[0] == good[0] ? 0.3 : -0.3});
    ToldBandit bandit(options);
    bandit.kernel(0, "", 10, load_of(50));
    CHECK(bandit.next() == good);
  }
}

TEST_CASE("HierarchicalUcb: a kernel without a feature is placed where the average one would be") {
  HierarchicalUcbOptions options = named(HierarchicalUcbOptions{});
  options.clusters = 2;
  options.subsample = 1.0;
  options.cluster_features = {"load"};
  options.cluster_by_time = false;
  ToldBandit bandit(options);
  std::uint64_t high = 0;
  for (int i = 0; i < 12; ++i) high = bandit.kernel(0, i == 0 ? "" : "a", 10, load_of(i % 4 == 0 ? 0 : 100));
  const std::uint64_t low = bandit.kernel(0, "a", 10, load_of(0)), unknown = bandit.kernel(0, "a", 10);
  REQUIRE(bandit.policy.cluster_of(low) != bandit.policy.cluster_of(high));
  CHECK(bandit.policy.cluster_of(unknown) == bandit.policy.cluster_of(high));
}

TEST_CASE("HierarchicalUcb: no more kernels than the frontier holds are rewritten") {
  for (const std::size_t frontier : {1, 0}) {
    HierarchicalUcbOptions options = named(HierarchicalUcbOptions::v1());
    options.clusters = 1;
    options.alpha = options.exploration = 0.0;
    options.frontier = frontier;
    options.limits.variants = 1;
    ToldBandit bandit(options);
    bandit.kernel(0, "", 10);
    bandit.kernel(0, "a", 5);
    bandit.kernel(0, "b", 9);
    CHECK(bandit.next() == "a");                          // on the fastest, which it closes there
    CHECK(bandit.next() == (frontier == 1 ? "b" : "a"));  // the worse strategy there, or the better elsewhere
  }
}
