// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernelsearch/core/move.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/policy/search_policy.hpp"

/// What every policy over moves must keep to. `make(strategies, seed)` returns the policy under test.
namespace move_policy_contract {

using namespace kernelsearch;

/// A world of kernels that are lists of strategies applied: each has its factor, some orders fail, and the
/// generator runs out of ideas at a known depth and variant, so that the whole tree is finite.
class World {
 public:
  explicit World(std::size_t depth = 3, std::uint32_t variants = 2) : depth_(depth), variants_(variants) {}

  static std::vector<std::string> strategies() { return {"tile", "vectorize", "prefetch"}; }

  /// What becomes of a proposal; `id` is the trial's.
  Observation<Move> realise(const Move& move, std::uint64_t id, std::optional<std::uint64_t> proposal) {
    Observation<Move> observation{move, {}};
    Outcome& outcome = observation.outcome;
    outcome.id = TrialId{id};
    outcome.parents = move.parents;
    if (proposal) outcome.origin = Origin{ProposalId{*proposal}, 0, 1};
    std::optional<std::vector<std::string>> code = generate(move);
    if (!code) {
      outcome.evaluation = Evaluation::failed(Verdict::not_generated, "out of ideas");
      if (outcome.origin) outcome.origin->count = 0;
      return observation;
    }
    code_[id] = *code;
    const std::optional<double> time = time_of(*code);
    if (time) {
      outcome.objective = *time;
      outcome.evaluation = Evaluation::succeeded(*time);
    } else {
      outcome.evaluation = Evaluation::failed(Verdict::wrong_result, "a bug", 0.5);
    }
    outcome.evaluation.features.set("length", static_cast<double>(code->size()));
    return observation;
  }

  static std::optional<double> time_of(const std::vector<std::string>& code) {
    static const std::map<std::string, double> factor{
        {"tile", 0.6}, {"vectorize", 0.8}, {"prefetch", 1.1}, {"mended", 1.0}, {"variant", 0.99}};
    double time = 1.0;
    for (std::size_t i = 0; i < code.size(); ++i) {
      if (i > 0 && code[i] == "vectorize" && code[i - 1] == "prefetch") return std::nullopt;
      time *= factor.at(code[i]);
    }
    return time;
  }

  [[nodiscard]] bool knows(TrialId id) const { return code_.contains(number(id)); }

 private:
  std::optional<std::vector<std::string>> generate(const Move& move) const {
    if (move.kind == MoveKind::root) return std::vector<std::string>{};
    if (move.parents.empty()) return std::vector<std::string>{"tile"};  // handed in
    std::vector<std::string> code = code_.at(number(move.parents.front()));
    if (move.kind == MoveKind::debug) {
      if (move.variant >= variants_) return std::nullopt;
      if (code.size() > depth_) return std::nullopt;
      code.insert(code.end() - 1, "mended");
      return code;
    }
    if (code.size() >= depth_ || move.variant >= variants_) return std::nullopt;
    if (move.kind == MoveKind::recombine) {
      const auto& other = code_.at(number(move.parents.back()));
      code.insert(code.end(), other.begin(), other.end());
      if (code.size() > depth_) code.resize(depth_);
      return code;
    }
    code.push_back(move.strategies.empty() ? "tile" : move.strategies.front());
    if (move.variant > 0) code.push_back("variant");
    return code;
  }

  std::size_t depth_;
  std::uint32_t variants_;
  std::map<std::uint64_t, std::vector<std::string>> code_;
};

template <class Policy>
void tell(Policy& policy, const Observation<Move>& observation) {
  policy.tell(std::span<const Observation<Move>>(&observation, 1));
}

using Key = std::tuple<int, std::vector<TrialId>, std::vector<std::string>, std::uint32_t>;
inline Key key_of(const Move& move) {
  return {static_cast<int>(move.kind), move.parents, move.strategies, move.variant};
}

/// All that happened, so that it can be told to another policy.
struct Record {
  struct Step {
    std::size_t wanted = 0;                      ///< of an ask
    std::vector<Move> proposals;                 ///< what it gave
    std::optional<Observation<Move>> told = {};  ///< or a telling
  };
  std::vector<Step> steps;
  std::vector<Move> moves;
  double best = 1e300;
};

/// Drives the policy with up to `window` outstanding, telling in an order drawn from `order_seed`, and checks
/// what must hold at every step.
template <class Policy>
Record drive(Policy& policy, World& world, std::size_t window, std::uint64_t order_seed,
             std::size_t limit = 30000) {
  Rng order(order_seed);
  Record record;
  std::set<Key> proposed;
  std::vector<std::pair<std::uint64_t, Move>> outstanding;
  std::uint64_t next_id = 0;
  while (record.moves.size() < limit) {
    const std::size_t wanted = window - outstanding.size();
    const std::vector<Move> batch = policy.ask(wanted);
    record.steps.push_back({wanted, batch});
    REQUIRE(batch.size() <= wanted);
    for (const Move& move : batch) {
      CAPTURE(record.moves.size());
      if (record.moves.empty()) REQUIRE(move.kind == MoveKind::root);
      REQUIRE_MESSAGE(proposed.insert(key_of(move)).second, "a proposal was repeated");
      for (const TrialId parent : move.parents) REQUIRE_MESSAGE(world.knows(parent), "a parent without code");
      REQUIRE(move.parents.empty() == (move.kind == MoveKind::root));
      outstanding.emplace_back(record.moves.size(), move);
      record.moves.push_back(move);
    }
    if (outstanding.empty()) break;
    const std::size_t which = order.below(outstanding.size());
    const auto [proposal, move] = outstanding[which];
    outstanding.erase(outstanding.begin() + static_cast<std::ptrdiff_t>(which));
    Observation<Move> observation = world.realise(move, next_id++, proposal);
    record.best = std::min(record.best, observation.outcome.objective);
    tell(policy, observation);
    record.steps.push_back({0, {}, std::move(observation)});
  }
  return record;
}

/// The whole suite for one policy.
template <class Make>
void check(Make make) {
  const std::vector<std::string> names = World::strategies();

  for (const std::size_t window : {1u, 4u, 100u}) {
    CAPTURE(window);
    World world;
    auto policy = make(names, 1);
    const Record record = drive(policy, world, window, 11);
    CHECK_MESSAGE(record.moves.size() < 30000, "a search that runs out of moves ends");
    CHECK(record.moves.size() > 10);
    CHECK(record.best < 0.61);
    CHECK(policy.ask(3).empty());
  }

  {  // without names the generator chooses the strategy
    World world;
    auto policy = make({}, 1);
    const Record record = drive(policy, world, 2, 5);
    CHECK(record.moves.size() > 2);
    for (const Move& move : record.moves) CHECK(move.strategies.empty());
  }

  {  // the same seed and the same outcomes in the same order give the same proposals
    World one, two;
    auto a = make(names, 5), b = make(names, 5);
    CHECK(drive(a, one, 3, 7).moves == drive(b, two, 3, 7).moves);
  }

  {  // exact resume: told again what the first part was told, it goes on the same
    World world;
    auto first = make(names, 3);
    const Record record = drive(first, world, 3, 7, 40);
    auto second = make(names, 3);
    for (const Record::Step& step : record.steps)
      if (step.told)
        tell(second, *step.told);
      else
        REQUIRE(second.ask(step.wanted) == step.proposals);
    CHECK(first.ask(2) == second.ask(2));
  }

  {  // foreign outcomes are taken, also before any ask, and with parents that come later or never
    World world;
    auto policy = make(names, 2);
    Observation<Move> seed = world.realise(Move{MoveKind::submitted, {}, {}}, 900, std::nullopt);
    tell(policy, seed);
    Observation<Move> orphan = seed;
    orphan.outcome.id = TrialId{901};
    orphan.outcome.parents = {TrialId{902}, TrialId{7777}};
    tell(policy, orphan);
    Observation<Move> late = seed;
    late.outcome.id = TrialId{902};
    late.outcome.parents = {TrialId{901}};  // a cycle, if it were believed
    tell(policy, late);
    world.realise(Move{MoveKind::submitted, {}, {}}, 901, std::nullopt);
    world.realise(Move{MoveKind::submitted, {}, {}}, 902, std::nullopt);
    const Record record = drive(policy, world, 2, 9);
    CHECK(record.moves.size() > 3);
    CHECK(record.moves.size() < 30000);
  }

  {  // one proposal, several candidates; outcomes told again, for the better and for the worse
    World world;
    auto policy = make(names, 4);
    const std::vector<Move> first = policy.ask(1);
    REQUIRE(first.size() == 1);
    Observation<Move> a = world.realise(first[0], 0, 0), b = world.realise(first[0], 1, 0);
    a.outcome.origin = Origin{ProposalId{0}, 0, 2};
    b.outcome.origin = Origin{ProposalId{0}, 1, 2};
    b.outcome.objective = 0.9;
    tell(policy, b);
    (void)policy.ask(1);
    tell(policy, a);
    Observation<Move> fraud = b;
    fraud.outcome.evaluation = Evaluation::failed(Verdict::cheated, "found late");
    fraud.outcome.objective = std::numeric_limits<double>::infinity();
    tell(policy, fraud);
    tell(policy, fraud);
    tell(policy, a);
    std::size_t more = 0;
    for (int i = 0; i < 3; ++i) more += policy.ask(1).size();
    CHECK(more > 0);
  }

  {  // a strategy that does not apply is not proposed on that kernel again, and goes on elsewhere
    World world(3, 3);
    auto policy = make(names, 6);
    std::set<std::pair<TrialId, std::string>> ruled_out;
    std::set<TrialId> tried_on;
    std::uint64_t next_id = 0, proposal = 0;
    for (std::vector<Move> asked = policy.ask(1); !asked.empty() && proposal < 20000; asked = policy.ask(1)) {
      const Move& move = asked.front();
      Observation<Move> observation = world.realise(move, next_id++, proposal++);
      const bool named = (move.kind == MoveKind::rewrite || move.kind == MoveKind::branch) &&
                         move.strategies == std::vector<std::string>{"prefetch"};
      if (named) {
        REQUIRE_MESSAGE(ruled_out.insert({move.parents.front(), move.strategies.front()}).second,
                        "what does not apply was proposed again");
        observation.outcome.evaluation = Evaluation::failed(Verdict::not_applicable, "prefetch: no");
        observation.outcome.objective = std::numeric_limits<double>::infinity();
        observation.outcome.origin->count = 0;
      } else if (!move.parents.empty()) {
        tried_on.insert(move.parents.front());
      }
      tell(policy, observation);
    }
    CHECK(proposal < 20000);
    CHECK(tried_on.size() > 1);
  }

  {  // nothing came of the root: the search ends, and a kernel from outside revives it
    World world;
    auto policy = make(names, 4);
    const std::vector<Move> first = policy.ask(4);
    REQUIRE(first.size() == 1);
    Observation<Move> nothing = world.realise(first[0], 0, 0);
    nothing.outcome.evaluation = Evaluation::failed(Verdict::not_generated, "no reply");
    nothing.outcome.objective = std::numeric_limits<double>::infinity();
    nothing.outcome.origin->count = 0;
    tell(policy, nothing);
    CHECK(policy.ask(4).empty());
    tell(policy, world.realise(Move{MoveKind::submitted, {}, {}}, 1, std::nullopt));
    const std::vector<Move> revived = policy.ask(1);
    REQUIRE(revived.size() == 1);
    CHECK(revived[0].parents == std::vector<TrialId>{TrialId{1}});
  }
}

}  // namespace move_policy_contract
