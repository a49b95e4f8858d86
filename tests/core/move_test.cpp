// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/core/move.hpp"

#include <doctest/doctest.h>

#include <set>

#include "kernelsearch/space/config.hpp"

using namespace kernelsearch;

TEST_CASE("Move: every kind has a name of its own") {
  std::set<std::string_view> names;
  for (int kind = 0; kind <= static_cast<int>(MoveKind::submitted); ++kind)
    names.insert(to_string(static_cast<MoveKind>(kind)));
  CHECK(names.size() == 7);
  CHECK(to_string(MoveKind::root) == "root");
  CHECK(to_string(MoveKind::submitted) == "submitted");
}

TEST_CASE("Move: its strategy is the first, its parents are those of the proposal") {
  const Move move{MoveKind::recombine, {TrialId{3}, TrialId{1}}, {"tile", "unroll"}, 2};
  CHECK(move.strategy() == "tile");
  CHECK(Move{}.strategy().empty());
  CHECK(parents_of(move) == std::vector<TrialId>{TrialId{3}, TrialId{1}});
  CHECK(parents_of(Config{{1, 2}}).empty());
  CHECK(parents_of(42).empty());
}

TEST_CASE("Move: equality looks at every member") {
  const Move move{MoveKind::rewrite, {TrialId{3}}, {"tile"}, 2};
  CHECK(move == Move{move});
  CHECK_FALSE(move == Move{MoveKind::branch, {TrialId{3}}, {"tile"}, 2});
  CHECK_FALSE(move == Move{MoveKind::rewrite, {TrialId{4}}, {"tile"}, 2});
  CHECK_FALSE(move == Move{MoveKind::rewrite, {TrialId{3}}, {"unroll"}, 2});
  CHECK_FALSE(move == Move{MoveKind::rewrite, {TrialId{3}}, {"tile"}, 1});
}
