// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "kernelsearch/evaluator/code_loops.hpp"

namespace kernelsearch {
namespace detail {

inline constexpr std::size_t no_block = static_cast<std::size_t>(-1);

/// Blocks of lines. A call is an edge to what it calls as well, so that its loops are found.
struct CodeGraph {
  std::vector<std::size_t> first;  ///< line of each block, and the number of lines
  std::vector<std::vector<std::size_t>> next, previous;
  std::vector<std::vector<std::size_t>> calls;  ///< those of `next` that are calls
  [[nodiscard]] std::size_t size() const noexcept { return next.size(); }
};

inline std::size_t line_at(std::span<const CodeLine> lines, std::uint64_t address) {
  const auto at = std::lower_bound(lines.begin(), lines.end(), address,
                                   [](const CodeLine& line, std::uint64_t a) { return line.address < a; });
  return at != lines.end() && at->address == address ? static_cast<std::size_t>(at - lines.begin())
                                                     : no_block;
}

inline CodeGraph graph_of(std::span<const CodeLine> lines) {
  std::vector<bool> begins(lines.size() + 1, false);
  begins[0] = begins[lines.size()] = true;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].flow == CodeFlow::next) continue;
    begins[i + 1] = true;
    for (const std::uint64_t target : lines[i].targets)
      if (const std::size_t to = line_at(lines, target); to != no_block) begins[to] = true;
  }
  CodeGraph graph;
  std::vector<std::size_t> block(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (begins[i]) graph.first.push_back(i);
    block[i] = graph.first.size() - 1;
  }
  const std::size_t blocks = graph.first.size();
  graph.first.push_back(lines.size());
  graph.next.resize(blocks);
  graph.previous.resize(blocks);
  graph.calls.resize(blocks);
  for (std::size_t b = 0; b < blocks; ++b) {
    const CodeLine& last = lines[graph.first[b + 1] - 1];
    const auto add = [&](std::size_t to) {
      graph.next[b].push_back(to);
      graph.previous[to].push_back(b);
    };
    if (last.flow != CodeFlow::branch && last.flow != CodeFlow::end && b + 1 < blocks) add(b + 1);
    for (const std::uint64_t target : last.targets) {
      const std::size_t to = line_at(lines, target);
      if (to == no_block) continue;
      add(block[to]);
      if (last.flow == CodeFlow::call) graph.calls[b].push_back(block[to]);
    }
  }
  return graph;
}

/// Blocks reached from the first, each after those that are reached through it alone (reversed: postorder).
inline std::vector<std::size_t> reverse_postorder(const CodeGraph& graph) {
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
/// Dominance Algorithm"); `place` of a block that is not reached is `no_block`.
inline std::vector<std::size_t> dominators(const CodeGraph& graph, const std::vector<std::size_t>& order,
                                           const std::vector<std::size_t>& place) {
  std::vector<std::size_t> above(order.size(), no_block);
  above[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 1; i < order.size(); ++i) {
      std::size_t now = no_block;
      for (const std::size_t from : graph.previous[order[i]]) {
        std::size_t a = place[from];
        if (a == no_block || above[a] == no_block) continue;
        if (now == no_block) {
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

/// Blocks of each subroutine, by its first: those that are reached without another call.
inline std::map<std::size_t, std::vector<std::size_t>> subroutines(const CodeGraph& graph) {
  constexpr std::size_t most = 1000;
  std::map<std::size_t, std::vector<std::size_t>> found;
  for (const auto& calls : graph.calls)
    for (const std::size_t first : calls) {
      if (found.size() == most || found.count(first) != 0) continue;
      std::vector<std::size_t>& blocks = found[first];
      std::vector<bool> inside(graph.size(), false);
      std::vector<std::size_t> open{first};
      while (!open.empty()) {
        const std::size_t b = open.back();
        open.pop_back();
        if (inside[b]) continue;
        inside[b] = true;
        blocks.push_back(b);
        for (const std::size_t to : graph.next[b])
          if (std::find(graph.calls[b].begin(), graph.calls[b].end(), to) == graph.calls[b].end())
            open.push_back(to);
      }
    }
  return found;
}

/// By block: how many loops of its callers it is in.
inline std::vector<std::size_t> called_depth(const CodeGraph& graph, const std::vector<std::size_t>& depth,
                                             const std::map<std::size_t, std::vector<std::size_t>>& called) {
  constexpr int longest_chain = 8;  // of calls; recursion would go on for ever
  std::vector<std::size_t> extra(graph.size(), 0);
  for (int round = 0; round < longest_chain; ++round) {
    bool changed = false;
    for (std::size_t b = 0; b < graph.size(); ++b)
      for (const std::size_t first : graph.calls[b]) {
        const auto blocks = called.find(first);
        if (blocks == called.end() || extra[first] >= depth[b] + extra[b]) continue;
        changed = true;
        const std::size_t now = depth[b] + extra[b];
        for (const std::size_t inside : blocks->second) extra[inside] = std::max(extra[inside], now);
      }
    if (!changed) break;
  }
  return extra;
}

}  // namespace detail

KERNELSEARCH_INLINE std::vector<CodeLoop> code_loops(
    std::span<const CodeLine> lines,
    const std::function<void(std::size_t loop, std::size_t line, bool own)>& visit) {
  using detail::no_block;
  constexpr std::size_t most_loops = 2000;
  std::vector<CodeLoop> loops;
  if (lines.empty()) return loops;
  const detail::CodeGraph graph = detail::graph_of(lines);
  const std::vector<std::size_t> order = detail::reverse_postorder(graph);
  std::vector<std::size_t> place(graph.size(), no_block);
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  const std::vector<std::size_t> above = detail::dominators(graph, order, place);
  const auto dominates = [&](std::size_t a, std::size_t b) {
    while (b > a) b = above[b];
    return a == b;
  };
  std::map<std::size_t, std::vector<std::size_t>> ends;  // by head: where the edges back come from
  for (const std::size_t b : order)
    for (const std::size_t to : graph.next[b])
      if (dominates(place[to], place[b])) ends[to].push_back(b);
  std::vector<std::size_t> depth(graph.size(), 0), heads, sizes;
  std::vector<std::size_t> innermost(graph.size(), no_block);  // by block: the smallest loop that it is in
  std::vector<std::vector<std::size_t>> members;               // blocks of each loop
  constexpr std::size_t most_members = std::size_t{1} << 24;
  std::size_t all_members = 0;
  for (const auto& [head, from] : ends) {
    if (loops.size() == most_loops || all_members > most_members) break;
    std::vector<bool> inside(graph.size(), false);
    inside[head] = true;
    std::vector<std::size_t> open = from, blocks{head};
    while (!open.empty()) {
      const std::size_t b = open.back();
      open.pop_back();
      if (inside[b] || place[b] == no_block) continue;
      inside[b] = true;
      blocks.push_back(b);
      open.insert(open.end(), graph.previous[b].begin(), graph.previous[b].end());
    }
    CodeLoop loop;
    loop.begin = lines[graph.first[head]].address;
    std::size_t instructions = 0;
    for (const std::size_t b : blocks) {
      instructions += graph.first[b + 1] - graph.first[b];
      loop.end = std::max(loop.end, lines[graph.first[b + 1] - 1].address);
    }
    // The branch to itself behind a kernel's end keeps runaway threads; it is not a loop of the program.
    if (instructions == 1) continue;
    for (const std::size_t b : blocks) {
      ++depth[b];
      if (innermost[b] == no_block || blocks.size() < sizes[innermost[b]]) innermost[b] = loops.size();
    }
    loops.push_back(loop);
    heads.push_back(head);
    sizes.push_back(blocks.size());
    all_members += blocks.size();
    members.push_back(std::move(blocks));
  }
  const auto called = detail::subroutines(graph);
  const std::vector<std::size_t> extra = detail::called_depth(graph, depth, called);
  for (std::size_t i = 0; i < loops.size(); ++i) {
    loops[i].depth = depth[heads[i]] + extra[heads[i]];
    std::vector<bool> seen(graph.size(), false);
    std::vector<std::pair<std::size_t, bool>>
        open;  // first block of what is called, and whether from its own
    const auto take = [&](std::size_t b, bool own) {
      seen[b] = true;
      for (std::size_t line = graph.first[b]; line < graph.first[b + 1]; ++line) visit(i, line, own);
      for (const std::size_t first : graph.calls[b]) open.emplace_back(first, own);
    };
    for (const std::size_t b : members[i]) take(b, innermost[b] == i);
    while (!open.empty()) {
      const auto [first, own] = open.back();
      open.pop_back();
      const auto blocks = called.find(first);
      if (blocks == called.end() || seen[first]) continue;
      for (const std::size_t b : blocks->second)
        if (!seen[b]) take(b, own && innermost[b] == no_block);
    }
  }
  return loops;
}

KERNELSEARCH_INLINE std::optional<std::size_t> hottest_loop(std::span<const CodeLoop> loops,
                                                            std::span<const std::size_t> work) {
  std::optional<std::size_t> best;
  double most = 0;
  for (std::size_t i = 0; i < loops.size() && i < work.size(); ++i) {
    const double heat = static_cast<double>(work[i]) *
                        std::pow(10.0, static_cast<double>(std::min<std::size_t>(loops[i].depth, 20)));
    if (heat <= most) continue;
    best = i;
    most = heat;
  }
  return best;
}

}  // namespace kernelsearch
