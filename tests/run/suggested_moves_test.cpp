// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/suggested_moves.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/core/error.hpp"

using namespace kernelsearch;

namespace {

/// Proposes numbered moves, `limit` of them, and counts what it is told.
struct Counting {
  using Proposal = Move;
  std::shared_ptr<int> asked, told;
  int limit = 100;
  int next = 0;
  std::vector<Move> ask(std::size_t n) {
    ++*asked;
    std::vector<Move> moves;
    while (moves.size() < n && next < limit)
      moves.push_back({MoveKind::rewrite, {TrialId{0}}, {}, static_cast<std::uint32_t>(next++)});
    return moves;
  }
  void tell(std::span<const Observation<Move>> batch) { *told += static_cast<int>(batch.size()); }
};

struct Watched {
  std::shared_ptr<int> asked = std::make_shared<int>(0), told = std::make_shared<int>(0);
  SuggestedMoves moves;
  explicit Watched(int limit = 100) : moves(AnyPolicy<Move>(Counting{asked, told, limit})) {}
  void tell(const Move& move, std::uint64_t id, bool own) {
    Observation<Move> observation{move, {}};
    observation.outcome.id = TrialId{id};
    if (own) observation.outcome.origin = Origin{};
    moves.tell(std::span(&observation, 1));
  }
};

}  // namespace

TEST_CASE("SuggestedMoves: a move waits until it is released, and the inner policy is asked once for it") {
  Watched w;
  w.moves.go_live();
  CHECK(w.moves.ask(3).empty());
  const auto first = w.moves.suggest();
  REQUIRE(first.move);
  CHECK(first.asked);
  CHECK(first.move->variant == 0);
  CHECK(!w.moves.suggest().asked);
  CHECK(w.moves.suggest().move == first.move);
  CHECK(*w.asked == 1);
  CHECK(w.moves.ask(3).empty());
  w.moves.release();
  CHECK(w.moves.ask(3) == std::vector<Move>{*first.move});
  CHECK(w.moves.ask(3).empty());  // the optimizer has it
  CHECK(w.moves.suggest().move == first.move);
  w.tell(*first.move, 1, false);  // foreign: says nothing of it
  CHECK(w.moves.suggest().move == first.move);
  w.tell(*first.move, 2, true);
  CHECK(w.moves.suggest().move->variant == 1);
  CHECK(*w.told == 2);
}

TEST_CASE("SuggestedMoves: a policy without a move is asked again only after news") {
  Watched w(0);
  w.moves.go_live();
  CHECK(w.moves.suggest().asked);
  CHECK(!w.moves.suggest().move);
  CHECK(!w.moves.suggest().asked);
  CHECK(*w.asked == 1);
  w.tell({}, 1, false);
  CHECK(w.moves.suggest().asked);
  CHECK_THROWS_AS(w.moves.release(), ConfigError);
}

TEST_CASE("SuggestedMoves: a record passes through, and what was outstanding in it waits") {
  Watched w;
  const std::vector<Move> asked = w.moves.ask(1);
  REQUIRE(asked.size() == 1);
  w.tell(asked[0], 0, true);
  const Move open = w.moves.ask(1).front();
  w.moves.go_live();
  const auto waiting = w.moves.suggest();
  CHECK(!waiting.asked);
  CHECK(waiting.move == open);
  w.moves.release();
  CHECK(w.moves.ask(1).empty());  // a resumed optimizer has it in its backlog
  w.tell(open, 1, true);
  CHECK(w.moves.suggest().move->variant == 2);
}

TEST_CASE("make_move_policy: by name; the root comes first, and once") {
  for (const MovePolicyEntry& entry : move_policies()) {
    CAPTURE(entry.name);
    CHECK(!entry.summary.empty());
    const std::string strategy = entry.name == "roofline_budget" ? "compute.vectorise" : "a";
    AnyPolicy<Move> policy = make_move_policy(entry.name, {strategy}, 1);
    const std::vector<Move> first = policy.ask(1);
    REQUIRE(first.size() == 1);
    CHECK(first[0].kind == MoveKind::root);
    Observation<Move> root{first[0], {}};
    root.outcome.origin = Origin{};
    root.outcome.evaluation = Evaluation::succeeded(1);
    root.outcome.objective = 1;
    policy.tell(std::span(&root, 1));
    const std::vector<Move> next = policy.ask(1);
    CHECK(next.empty() == (entry.name == "none"));
    if (!next.empty()) CHECK(next[0].strategies == std::vector<std::string>{strategy});
  }
  CHECK_THROWS_AS((void)make_move_policy("roofline_budget", {"compute.magic"}, 0), ConfigError);
  CHECK_NOTHROW((void)make_move_policy("roofline_budget", {"compute.tensor_core"}, 0, Backend::cuda));
  try {
    (void)make_move_policy("best_of_q", {}, 0);
    FAIL("no error");
  } catch (const ConfigError& error) {
    CHECK(std::string(error.what()).find("did you mean best_of_k?") != std::string::npos);
  }
}
