// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <iosfwd>

#include "kernelsearch/policy/search_tree.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch {

/// Adds a stored trial to the tree: a move with its parents; a point of a space stands alone, because
/// configurations have no parents.
void record_stored(SearchTree& tree, const StoredTrial& trial);

/// The tree of a stored run.
[[nodiscard]] SearchTree load_tree(const RunStore& store, RunId run);

/// Draws the tree in Graphviz' DOT language: one node a trial with its number, time or verdict, edges from
/// parents labelled with the strategies. Failures are red, what was not generated is dashed, the path to the
/// best is bold.
void write_dot(const SearchTree& tree, std::ostream& out);

}  // namespace kernelsearch
