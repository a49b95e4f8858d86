// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/core/ids.hpp"

#include <doctest/doctest.h>

#include <type_traits>

using namespace kernelsearch;

static_assert(!std::is_convertible_v<TrialId, ProposalId>);
static_assert(!std::is_convertible_v<std::uint64_t, TrialId>);
static_assert(!std::is_convertible_v<TrialId, std::uint64_t>);

TEST_CASE("ids: number gives back what the id was made of") {
  CHECK(number(TrialId{0}) == 0);
  CHECK(number(TrialId{7}) == 7);
  CHECK(number(ProposalId{~0ULL}) == ~0ULL);
  CHECK(TrialId{1} < TrialId{2});
}
