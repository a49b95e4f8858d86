// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/checkpoint_edit.hpp"

#include <doctest/doctest.h>

#include <string>

#include "kernelsearch/core/error.hpp"

using namespace kernelsearch;
using Action = CheckpointEdit::Action;

namespace {

CheckpointTree edited_tree() {
  CheckpointTree tree;
  Checkpoint root;
  root.name = "root";
  tree.add(root);
  Checkpoint tiled;
  tiled.name = "tiled";
  tiled.parent = "root";
  tiled.trial = TrialId{2};
  tree.add(tiled);
  tree.restore("tiled");
  return tree;
}

}  // namespace

TEST_CASE("CheckpointEdit: does to a tree what it says") {
  CheckpointTree tree = edited_tree();
  apply({Action::restore, "root"}, tree);
  CHECK(tree.current()->name == "root");
  apply({Action::name, "tiles", "", TrialId{2}, "of 16"}, tree);
  CHECK(tree.at("tiles").note == "of 16");
  apply({Action::name, "tiles-16", "", TrialId{2}}, tree);
  CHECK(tree.at("tiles-16").note == "of 16");  // a name without a note leaves the note
  apply({Action::branch, "second", "tiles-16"}, tree);
  CHECK(tree.active_branch() == "second");
  CHECK(tree.current()->name == "tiles-16");
  apply({Action::switch_to, "main"}, tree);
  CHECK(tree.current()->name == "root");
}

TEST_CASE("CheckpointEdit: what does not fit is refused, and the tree is as it was") {
  CheckpointTree tree = edited_tree();
  const CheckpointTree before = tree;
  CHECK_THROWS_AS(apply({Action::restore, "tield"}, tree), ConfigError);
  CHECK_THROWS_AS(apply({Action::name, "root", "", TrialId{2}, "x"}, tree), ConfigError);
  CHECK_THROWS_AS(apply({Action::name, "other", "", TrialId{9}}, tree), ConfigError);
  CHECK_THROWS_AS(apply({Action::name, "other"}, tree), ConfigError);
  CHECK_THROWS_AS(apply({Action::branch, "main", "root"}, tree), ConfigError);
  CHECK_THROWS_AS(apply({Action::switch_to, "third"}, tree), ConfigError);
  CHECK(tree == before);
  tree.set_closed("tiled", true);
  CHECK_THROWS_AS(apply({Action::restore, "tiled"}, tree), ConfigError);
  CHECK_THROWS_AS(apply({Action::branch, "second", "tiled"}, tree), ConfigError);
}

TEST_CASE("CheckpointEdit: reads back as it was written") {
  for (const CheckpointEdit& edit :
       {CheckpointEdit{Action::name, "a \"b\"", "", TrialId{7}, "two\nlines"},
        CheckpointEdit{Action::restore, "a"}, CheckpointEdit{Action::branch, "b", "a"},
        CheckpointEdit{Action::switch_to, "main"}, CheckpointEdit{Action::name, "c", "", TrialId{0}, ""}})
    CHECK(checkpoint_edit_from(to_json(edit)) == edit);
  CHECK_THROWS_AS((void)checkpoint_edit_from("{}"), ConfigError);
  CHECK_THROWS_AS((void)checkpoint_edit_from(R"({"action": "drop", "name": "a"})"), ConfigError);
  CHECK_THROWS_AS((void)checkpoint_edit_from(R"({"action": "name", "name": "a", "trial": -1})"), ConfigError);
}
