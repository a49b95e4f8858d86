// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/wire.hpp"

#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <string>
#include <variant>

#include "evaluator/gpu/protocol.hpp"
#include "kernelsearch/core/rng.hpp"

using namespace kernelsearch;
using namespace kernelsearch::detail::gpu;

TEST_CASE("wire: what was written is read") {
  CompareArrays compare;
  compare.got = BufferId{17};
  compare.slack = BufferId{0};
  compare.count = 0xfedcba9876543210u;
  compare.overflow = -0.5;
  const std::vector<std::byte> bytes = Writer()
                                           .put(std::vector<Action>{compare, FlushCache{}})
                                           .put(std::string("a\0b", 3))
                                           .put(std::vector<std::string>{"", "one", "two"})
                                           .put(std::vector<double>{})
                                           .put(std::optional<std::string>())
                                           .put(std::optional<std::string>("here"))
                                           .put(true)
                                           .put(3.25)
                                           .bytes();
  Reader in(bytes);
  const auto actions = in.take<std::vector<Action>>();
  REQUIRE(actions.size() == 2);
  const auto* read = std::get_if<CompareArrays>(&actions[0]);
  REQUIRE(read != nullptr);
  CHECK(read->got == BufferId{17});
  CHECK(read->slack == BufferId{0});
  CHECK(read->count == 0xfedcba9876543210u);
  CHECK(read->overflow == -0.5);
  CHECK(std::holds_alternative<FlushCache>(actions[1]));
  CHECK(in.take<std::string>() == std::string("a\0b", 3));
  CHECK(in.take<std::vector<std::string>>() == std::vector<std::string>{"", "one", "two"});
  CHECK(in.take<std::vector<double>>().empty());
  CHECK(!in.take<std::optional<std::string>>());
  CHECK(in.take<std::optional<std::string>>() == "here");
  CHECK(in.take<bool>());
  CHECK(in.take<double>() == 3.25);
  CHECK(in.ok());
  (void)in.take<char>();
  CHECK(!in.ok());
  CHECK(!in.unknown());
}

TEST_CASE("wire: an alternative that there is not is told from a message that was cut short") {
  using Either = std::variant<std::uint32_t, std::string>;
  const std::vector<std::byte> bytes = Writer().put(std::uint32_t{2}).put(std::uint64_t{0}).bytes();
  Reader in(bytes);
  (void)in.take<Either>();
  CHECK(!in.ok());
  CHECK(in.unknown());
  Reader list(bytes);
  CHECK(list.take<std::vector<Either>>().size() <= 1);
  CHECK(!list.ok());
  const std::vector<std::byte> cut(2);
  Reader shortened(cut);
  (void)shortened.take<Either>();
  CHECK(!shortened.ok());
  CHECK(!shortened.unknown());
}

TEST_CASE("wire: what follows something that was missing is missing too") {
  const std::vector<std::byte> bytes = Writer().put(std::uint64_t{100}).put(std::uint32_t{7}).bytes();
  Reader in(bytes);
  CHECK(in.take<std::string>().empty());
  CHECK(in.take<std::uint32_t>() == 0);
  CHECK(!in.ok());
}

TEST_CASE("wire: of every shortened message something is missed, and nothing beyond its end is read") {
  const std::vector<std::byte> whole = Writer()
                                           .put(std::uint32_t{5})
                                           .put(std::string("kernel"))
                                           .put(std::vector<std::string>{"x", "yz"})
                                           .put(std::vector<std::uint64_t>{1, 2, 3})
                                           .bytes();
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    Reader in(cut);
    (void)in.take<std::uint32_t>();
    (void)in.take<std::string>();
    (void)in.take<std::vector<std::string>>();
    (void)in.take<std::vector<std::uint64_t>>();
    CHECK(in.ok() == (size == whole.size()));
  }
}

TEST_CASE("wire: random bytes are read as something or nothing, never as more than there are") {
  Rng rng(7);
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(rng.below(96)));
    for (std::byte& byte : bytes) {
      // Small numbers more often, so that lengths are sometimes right.
      const std::uint64_t r = rng();
      byte = static_cast<std::byte>(r % 3 == 0 ? r >> 8 : r % 3 == 1 ? 0 : (r >> 8) % 9);
    }
    Reader in(bytes);
    for (int step = 0; step < 12; ++step) switch (rng.below(6)) {
        case 0:
          (void)in.take<std::uint32_t>();
          break;
        case 1:
          CHECK(in.take<std::vector<std::byte>>().size() <= bytes.size());
          break;
        case 2:
          CHECK(in.take<std::vector<Action>>().size() <= bytes.size());
          break;
        case 3:
          CHECK(in.take<std::string>().size() <= bytes.size());
          break;
        case 4:
          CHECK(in.take<std::vector<std::string>>().size() <= bytes.size() + 1);
          break;
        default:
          (void)in.take<std::array<double, 5>>();
      }
  }
}

TEST_CASE("wire: a length that would overflow is refused") {
  const std::vector<std::byte> bytes = Writer().put(~std::uint64_t{0} / 8 + 2).put(std::uint64_t{0}).bytes();
  Reader in(bytes);
  CHECK(in.take<std::vector<std::uint64_t>>().empty());
  CHECK(!in.ok());
}
