// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/tree_dot.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/graphviz.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/report/format.hpp"
#include "kernelsearch/store/codec.hpp"

namespace kernelsearch {
namespace {

std::string dot_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : clean_text(text)) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n')
      result += "\\n";
    else
      result += c;
  }
  return result + "\"";
}

}  // namespace

void record_stored(SearchTree& tree, const StoredTrial& trial) {
  Observation<Move> observation{Move{MoveKind::submitted, trial.outcome.parents, {}}, trial.outcome};
  // A move is stored as an object, a configuration as an array.
  if (!trial.point.empty() && trial.point.front() == '{')
    observation.proposal = PointCodec<Move>::decode(trial.point);
  else if (trial.candidate)
    observation.proposal.strategies = {trial.candidate->key};
  tree.record(observation);
}

SearchTree load_tree(const RunStore& store, RunId run) {
  SearchTree tree;
  store.each_trial(run, [&tree](const StoredTrial& trial) { record_stored(tree, trial); });
  return tree;
}

void write_dot(const SearchTree& tree, std::ostream& out) {
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
  Graph graph(tree.size());
  std::vector<char> on_best_path(tree.size(), 0);
  for (std::size_t i = 0; i < tree.size(); ++i)
    for (const std::size_t parent : tree.parents(i)) boost::add_edge(parent, i, graph);
  for (std::optional<std::size_t> at = tree.best(); at; at = tree.first_parent(*at)) on_best_path[*at] = 1;

  const auto write_node = [&](std::ostream& stream, std::size_t i) {
    const TreeNode& node = tree.node(i);
    std::string label = "#" + std::to_string(number(node.id)) + "\n" +
                        (node.ok() ? format_seconds(node.objective) : std::string(to_string(node.verdict)));
    if (tree.parents(i).empty() && !node.move.strategies.empty())
      label += "\n" + detail::joined(node.move.strategies, ", ");
    stream << "[label=" << dot_string(label);
    if (!node.generated())
      stream << ", style=dashed";
    else if (!node.ok())
      stream << ", color=red";
    else if (on_best_path[i] != 0)
      stream << ", penwidth=3";
    if (node.foreign) stream << ", shape=box";
    stream << "]";
  };
  const auto write_edge = [&](std::ostream& stream, const Graph::edge_descriptor& edge) {
    const std::size_t from = boost::source(edge, graph), to = boost::target(edge, graph);
    const Move& move = tree.node(to).move;
    std::string label = detail::joined(move.strategies, ", ");
    if (label.empty() && move.kind != MoveKind::rewrite) label = to_string(move.kind);
    if (move.kind == MoveKind::ablate) label = "without " + label;
    stream << "[label=" << dot_string(label);
    if (on_best_path[from] != 0 && on_best_path[to] != 0) stream << ", penwidth=3";
    stream << "]";
  };
  const auto write_graph = [](std::ostream& stream) { stream << "node [fontname=\"sans-serif\"];\n"; };
  boost::write_graphviz(out, graph, write_node, write_edge, write_graph);
}

}  // namespace kernelsearch
