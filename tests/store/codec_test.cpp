// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/store/codec.hpp"

#include <doctest/doctest.h>

using namespace kernelsearch;

namespace {
struct Unstorable {};
}  // namespace

static_assert(StorablePoint<Config>);
static_assert(StorablePoint<Move>);
static_assert(StorablePoint<int>);
static_assert(!StorablePoint<Unstorable>);
static_assert(StorableCandidate<int>);
static_assert(!StorableCandidate<Unstorable>);

TEST_CASE("PointCodec: what is encoded decodes to an equal point") {
  const Config config{{0, 4294967295u, 7}};
  CHECK(PointCodec<Config>::decode(PointCodec<Config>::encode(config)) == config);
  const Move move{MoveKind::ablate, {TrialId{18446744073709551615ULL}}, {"a\"b", ""}, 9};
  CHECK(PointCodec<Move>::decode(PointCodec<Move>::encode(move)) == move);
  CHECK(PointCodec<std::int64_t>::decode("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("PointCodec: what is no whole number is refused") {
  CHECK_THROWS_AS((void)PointCodec<int>::decode("7x"), ConfigError);
  CHECK_THROWS_AS((void)PointCodec<int>::decode(""), ConfigError);
  CHECK_THROWS_AS((void)PointCodec<int>::decode("99999999999"), ConfigError);
}

TEST_CASE("CandidateCodec: numbers are their own key") {
  CandidateCodec<int> codec;
  const StoredCandidate stored = codec.encode(42);
  CHECK(stored.key == "42");
  CHECK(codec.decode(stored) == 42);
  CHECK_FALSE(codec.kernel(42).has_value());
}
