// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/code_loops.hpp"

#include <doctest/doctest.h>

#include <set>

#include "kernelsearch/core/rng.hpp"

using namespace kernelsearch;

namespace {

struct Found {
  std::vector<CodeLoop> loops;
  std::vector<std::set<std::size_t>> lines, own;
};

Found loops_of(const std::vector<CodeLine>& lines) {
  Found found;
  found.loops = code_loops(lines, [&](std::size_t loop, std::size_t line, bool own) {
    if (found.lines.size() <= loop) {
      found.lines.resize(loop + 1);
      found.own.resize(loop + 1);
    }
    CHECK(found.lines[loop].insert(line).second);  // each once
    if (own) found.own[loop].insert(line);
  });
  return found;
}

CodeLine at(std::uint64_t address, CodeFlow flow = CodeFlow::next, std::vector<std::uint64_t> targets = {}) {
  return {address, flow, std::move(targets)};
}

using Set = std::set<std::size_t>;

}  // namespace

TEST_CASE("code_loops: nesting, own lines, blocks out of line") {
  // 1-5 with 2-3 inside; 4 leaves for 7, which comes back to 5
  const Found found =
      loops_of({at(0), at(1), at(2), at(3, CodeFlow::either, {2}), at(4, CodeFlow::either, {7}),
                at(5, CodeFlow::either, {1}), at(6, CodeFlow::end), at(7, CodeFlow::branch, {5})});
  REQUIRE(found.loops.size() == 2);
  CHECK(found.loops[0].begin == 1);
  CHECK(found.loops[0].end == 7);
  CHECK(found.loops[0].depth == 1);
  CHECK(found.lines[0] == Set{1, 2, 3, 4, 5, 7});
  CHECK(found.own[0] == Set{1, 4, 5, 7});
  CHECK(found.loops[1].depth == 2);
  CHECK(found.lines[1] == Set{2, 3});
}

TEST_CASE("code_loops: a jump through a table has several targets") {
  const Found found = loops_of({at(0), at(1, CodeFlow::end, {2, 3, 5}), at(2, CodeFlow::branch, {4}), at(3),
                                at(4, CodeFlow::either, {1}), at(5, CodeFlow::end)});
  REQUIRE(found.loops.size() == 1);
  CHECK(found.lines[0] == Set{1, 2, 3, 4});
}

TEST_CASE("code_loops: what is called from a loop is of the loop; loops in there lie deeper") {
  // 0-2 calls 10, which loops at 11-12 and calls 20
  const Found found =
      loops_of({at(0), at(1, CodeFlow::call, {10}), at(2, CodeFlow::either, {0}), at(3, CodeFlow::end),
                at(10), at(11), at(12, CodeFlow::either, {11}), at(13, CodeFlow::call, {20}),
                at(14, CodeFlow::end), at(20), at(21, CodeFlow::end)});
  REQUIRE(found.loops.size() == 2);
  CHECK(found.loops[0].depth == 1);
  CHECK(found.lines[0] == Set{0, 1, 2, 4, 5, 6, 7, 8, 9, 10});
  CHECK(found.own[0] == Set{0, 1, 2, 4, 7, 8, 9, 10});
  CHECK(found.loops[1].begin == 11);
  CHECK(found.loops[1].depth == 2);
  CHECK(found.lines[1] == Set{5, 6});
}

TEST_CASE("code_loops: recursion ends") {
  const Found found =
      loops_of({at(0, CodeFlow::call, {5}), at(1, CodeFlow::either, {0}), at(2, CodeFlow::end), at(5),
                at(6, CodeFlow::call, {5}), at(7, CodeFlow::either, {6}), at(8, CodeFlow::end)});
  for (const CodeLoop& loop : found.loops) CHECK(loop.depth >= 1);
}

TEST_CASE("code_loops: hottest_loop weighs work by nesting") {
  const std::vector<CodeLoop> loops{{0, 9, 1}, {2, 3, 2}, {5, 6, 2}};
  CHECK(hottest_loop(loops, std::vector<std::size_t>{15, 2, 2}) == 1);
  CHECK(hottest_loop(loops, std::vector<std::size_t>{30, 2, 2}) == 0);
  CHECK(hottest_loop(loops, std::vector<std::size_t>{0, 0, 0}) == std::nullopt);
  CHECK(hottest_loop({}, {}) == std::nullopt);
}

TEST_CASE("code_loops: any flow") {
  Rng rng(5);
  for (int i = 0; i < 500; ++i) {
    std::vector<CodeLine> lines;
    const std::size_t size = static_cast<std::size_t>(rng.below(40));
    for (std::size_t line = 0; line < size; ++line) {
      CodeLine one = at(line);
      if (rng.below(2) == 0) one.flow = static_cast<CodeFlow>(rng.below(5));
      for (std::uint64_t targets = rng.below(3); one.flow != CodeFlow::next && targets > 0; --targets)
        one.targets.push_back(rng.below(size + 3));
      lines.push_back(std::move(one));
    }
    const Found found = loops_of(lines);
    REQUIRE(found.lines.size() == found.loops.size());
    for (std::size_t l = 0; l < found.loops.size(); ++l) {
      CHECK(found.loops[l].depth >= 1);
      CHECK(found.lines[l].count(static_cast<std::size_t>(found.loops[l].begin)) == 1);
    }
  }
}
