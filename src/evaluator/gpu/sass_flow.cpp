// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/sass_flow.hpp"

#include <algorithm>
#include <map>

namespace kernelsearch::detail::gpu {
namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

struct Graph {
  std::vector<std::size_t> first;  ///< line of each block, and the number of lines
  std::vector<std::vector<std::size_t>> next, previous;
  [[nodiscard]] std::size_t size() const noexcept { return next.size(); }
};

std::size_t line_at(const std::vector<SassLine>& lines, std::uint64_t address) {
  const auto at = std::lower_bound(lines.begin(), lines.end(), address,
                                   [](const SassLine& line, std::uint64_t a) { return line.address < a; });
  return at != lines.end() && at->address == address ? static_cast<std::size_t>(at - lines.begin()) : none;
}

Graph graph_of(const std::vector<SassLine>& lines) {
  std::vector<bool> begins(lines.size() + 1, false);
  begins[0] = begins[lines.size()] = true;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].flow == SassLine::Flow::next) continue;
    begins[i + 1] = true;
    if (!lines[i].target) continue;
    if (const std::size_t to = line_at(lines, *lines[i].target); to != none) begins[to] = true;
  }
  Graph graph;
  std::vector<std::size_t> block(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (begins[i]) graph.first.push_back(i);
    block[i] = graph.first.size() - 1;
  }
  const std::size_t blocks = graph.first.size();
  graph.first.push_back(lines.size());
  graph.next.resize(blocks);
  graph.previous.resize(blocks);
  for (std::size_t b = 0; b < blocks; ++b) {
    const SassLine& last = lines[graph.first[b + 1] - 1];
    const auto add = [&](std::size_t to) {
      graph.next[b].push_back(to);
      graph.previous[to].push_back(b);
    };
    const bool goes_on = last.flow == SassLine::Flow::next || last.flow == SassLine::Flow::either;
    if (goes_on && b + 1 < blocks) add(b + 1);
    if (last.target)
      if (const std::size_t to = line_at(lines, *last.target); to != none) add(block[to]);
  }
  return graph;
}

/// Blocks reached from the first, each after those that are reached through it alone (reversed: postorder).
std::vector<std::size_t> reverse_postorder(const Graph& graph) {
  std::vector<std::size_t> order;
  std::vector<std::size_t> seen(graph.size(), 0);  // 0 or 1 + edges followed
  std::vector<std::size_t> path{0};
  seen[0] = 1;
  while (!path.empty()) {
    const std::size_t b = path.back();
    if (seen[b] - 1 < graph.next[b].size()) {
      const std::size_t to = graph.next[b][seen[b]++ - 1];
      if (seen[to] == 0) {
        seen[to] = 1;
        path.push_back(to);
      }
    } else {
      order.push_back(b);
      path.pop_back();
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

/// Places in the order of each block's immediate dominator (Cooper, Harvey and Kennedy, "A Simple, Fast
/// Dominance Algorithm"); `place` of a block that is not reached is `none`.
std::vector<std::size_t> dominators(const Graph& graph, const std::vector<std::size_t>& order,
                                    const std::vector<std::size_t>& place) {
  std::vector<std::size_t> above(order.size(), none);
  above[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 1; i < order.size(); ++i) {
      std::size_t now = none;
      for (const std::size_t from : graph.previous[order[i]]) {
        std::size_t a = place[from];
        if (a == none || above[a] == none) continue;
        if (now == none) {
          now = a;
          continue;
        }
        std::size_t b = now;
        while (a != b) {
          while (a > b) a = above[a];
          while (b > a) b = above[b];
        }
        now = a;
      }
      if (now != above[i]) {
        above[i] = now;
        changed = true;
      }
    }
  }
  return above;
}

}  // namespace

std::vector<SassLoop> natural_loops(const std::vector<SassLine>& lines) {
  constexpr std::size_t most_loops = 2000;
  std::vector<SassLoop> loops;
  if (lines.empty()) return loops;
  const Graph graph = graph_of(lines);
  const std::vector<std::size_t> order = reverse_postorder(graph);
  std::vector<std::size_t> place(graph.size(), none);
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  const std::vector<std::size_t> above = dominators(graph, order, place);
  const auto dominates = [&](std::size_t a, std::size_t b) {
    while (b > a) b = above[b];
    return a == b;
  };
  std::map<std::size_t, std::vector<std::size_t>> ends;  // by head: where the edges back come from
  for (const std::size_t b : order)
    for (const std::size_t to : graph.next[b])
      if (dominates(place[to], place[b])) ends[to].push_back(b);
  std::vector<std::size_t> depth(graph.size(), 0), heads, sizes;
  std::vector<std::size_t> innermost(graph.size(), none);  // by block: the smallest loop that it is in
  for (const auto& [head, from] : ends) {
    if (loops.size() == most_loops) break;
    std::vector<bool> inside(graph.size(), false);
    inside[head] = true;
    std::vector<std::size_t> open = from;
    while (!open.empty()) {
      const std::size_t b = open.back();
      open.pop_back();
      if (inside[b] || place[b] == none) continue;
      inside[b] = true;
      open.insert(open.end(), graph.previous[b].begin(), graph.previous[b].end());
    }
    SassLoop loop;
    loop.begin = lines[graph.first[head]].address;
    std::size_t blocks = 0, instructions = 0;
    for (std::size_t b = 0; b < graph.size(); ++b) {
      if (!inside[b]) continue;
      ++blocks;
      for (std::size_t i = graph.first[b]; i < graph.first[b + 1]; ++i, ++instructions) {
        loop.counts.add(lines[i].opcode);
        loop.end = std::max(loop.end, lines[i].address);
      }
    }
    // The branch to itself behind a kernel's end keeps runaway threads; it is no loop of the program.
    if (instructions == 1) continue;
    for (std::size_t b = 0; b < graph.size(); ++b) {
      if (!inside[b]) continue;
      ++depth[b];
      if (innermost[b] == none || blocks < sizes[innermost[b]]) innermost[b] = loops.size();
    }
    loops.push_back(std::move(loop));
    heads.push_back(head);
    sizes.push_back(blocks);
  }
  for (std::size_t i = 0; i < loops.size(); ++i) loops[i].depth = depth[heads[i]];
  for (std::size_t b = 0; b < graph.size(); ++b)
    if (innermost[b] != none)
      for (std::size_t i = graph.first[b]; i < graph.first[b + 1]; ++i)
        loops[innermost[b]].own.add(lines[i].opcode);
  return loops;
}

}  // namespace kernelsearch::detail::gpu
