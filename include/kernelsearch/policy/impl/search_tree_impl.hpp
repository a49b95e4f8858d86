// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/depth_first_search.hpp>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernelsearch/policy/search_tree.hpp"

namespace kernelsearch {

struct SearchTree::State {
  /// `place`: of the parent in the move, because a late parent's edge comes last.
  struct Edge {
    std::size_t place = 0;
  };
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, TreeNode, Edge>;

  Graph graph;
  std::unordered_map<std::uint64_t, std::size_t> index;
  /// Parents that were named but not recorded yet, with the children that named them.
  std::unordered_map<std::uint64_t, std::vector<std::pair<std::size_t, std::size_t>>> awaited;

  [[nodiscard]] bool reaches(std::size_t from, std::size_t to) const {
    std::vector<boost::default_color_type> colours(boost::num_vertices(graph), boost::white_color);
    boost::depth_first_visit(
        graph, from, boost::dfs_visitor<>(),
        boost::make_iterator_property_map(colours.begin(), boost::get(boost::vertex_index, graph)),
        [to](std::size_t at, const Graph&) { return at == to; });  // nothing beyond it is looked at
    return colours[to] != boost::white_color;
  }
};

KERNELSEARCH_INLINE SearchTree::SearchTree() : state_(std::make_unique<State>()) {}
KERNELSEARCH_INLINE SearchTree::~SearchTree() = default;
KERNELSEARCH_INLINE SearchTree::SearchTree(SearchTree&&) noexcept = default;
KERNELSEARCH_INLINE SearchTree& SearchTree::operator=(SearchTree&&) noexcept = default;

KERNELSEARCH_INLINE SearchTree::Recorded SearchTree::record(const Observation<Move>& observation) {
  const Outcome& outcome = observation.outcome;
  State& state = *state_;
  const auto [found, fresh] = state.index.try_emplace(number(outcome.id), size());
  const std::size_t at = found->second;
  if (fresh) boost::add_vertex(state.graph);
  TreeNode& node = state.graph[at];
  node.objective = outcome.objective;
  node.progress = outcome.evaluation.progress;
  node.verdict = outcome.evaluation.verdict;
  node.unanswered = outcome.evaluation.is_unanswered();
  node.build_seconds = outcome.evaluation.phases.build;
  node.features = outcome.evaluation.features;
  if (!fresh) return {at, false};

  node.id = outcome.id;
  node.move = observation.proposal;
  node.foreign = !outcome.origin.has_value();
  const std::vector<TrialId>& parents = outcome.parents.empty() ? node.move.parents : outcome.parents;
  for (std::size_t place = 0; place < parents.size(); ++place) {
    const std::uint64_t id = number(parents[place]);
    if (const auto parent = state.index.find(id); parent == state.index.end())
      state.awaited[id].emplace_back(at, place);
    else if (parent->second != at)
      boost::add_edge(parent->second, at, State::Edge{place}, state.graph);
  }
  if (const auto waiting = state.awaited.find(number(outcome.id)); waiting != state.awaited.end()) {
    for (const auto& [child, place] : waiting->second)
      if (!state.reaches(child, at)) boost::add_edge(at, child, State::Edge{place}, state.graph);
    state.awaited.erase(waiting);
  }
  return {at, true};
}

KERNELSEARCH_INLINE std::size_t SearchTree::size() const noexcept {
  return boost::num_vertices(state_->graph);
}

KERNELSEARCH_INLINE const TreeNode& SearchTree::node(std::size_t index) const {
  return state_->graph[index];
}

KERNELSEARCH_INLINE std::optional<std::size_t> SearchTree::find(TrialId id) const {
  const auto found = state_->index.find(number(id));
  if (found == state_->index.end()) return std::nullopt;
  return found->second;
}

KERNELSEARCH_INLINE std::vector<std::size_t> SearchTree::parents(std::size_t index) const {
  const State::Graph& graph = state_->graph;
  std::vector<std::pair<std::size_t, std::size_t>> placed;
  for (auto [edge, end] = boost::in_edges(index, graph); edge != end; ++edge)
    placed.emplace_back(graph[*edge].place, boost::source(*edge, graph));
  std::sort(placed.begin(), placed.end());
  std::vector<std::size_t> result;
  for (const auto& [place, parent] : placed) result.push_back(parent);
  return result;
}

KERNELSEARCH_INLINE std::vector<std::size_t> SearchTree::children(std::size_t index) const {
  std::vector<std::size_t> result;
  for (auto [edge, end] = boost::out_edges(index, state_->graph); edge != end; ++edge)
    result.push_back(boost::target(*edge, state_->graph));
  std::sort(result.begin(), result.end());
  return result;
}

KERNELSEARCH_INLINE std::optional<std::size_t> SearchTree::first_parent(std::size_t index) const {
  const State::Graph& graph = state_->graph;
  std::optional<std::size_t> first;
  std::size_t first_place = 0;
  for (auto [edge, end] = boost::in_edges(index, graph); edge != end; ++edge)
    if (!first || graph[*edge].place < first_place) {
      first = boost::source(*edge, graph);
      first_place = graph[*edge].place;
    }
  return first;
}

KERNELSEARCH_INLINE std::optional<std::size_t> SearchTree::best() const {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < size(); ++i)
    if (node(i).ok() && (!best || node(i).objective < node(*best).objective)) best = i;
  return best;
}

}  // namespace kernelsearch
