// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/checkpoint_tree.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "support/approx.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;
using Names = std::vector<std::string>;

namespace {

Checkpoint step(std::uint64_t trial, std::string parent, std::string transformation, double objective) {
  Checkpoint checkpoint;
  checkpoint.name = transformation.empty() ? "root" : transformation;
  checkpoint.parent = std::move(parent);
  checkpoint.trial = TrialId{trial};
  checkpoint.transformation = std::move(transformation);
  checkpoint.objective = objective;
  return checkpoint;
}

/// root -> tile -> vectorize, and prefetch from tile.
CheckpointTree small_tree() {
  CheckpointTree tree;
  tree.add(step(0, "", "", 8.0));
  tree.add(step(1, "root", "tile", 4.0));
  tree.add(step(3, "tile", "vectorize", 2.0));
  tree.add(step(5, "tile", "prefetch", 5.0));
  tree.restore("vectorize");
  return tree;
}

std::string refusal(const std::string& json) {
  try {
    (void)CheckpointTree::from_json(json, "c.json");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("CheckpointTree: names, paths, the best") {
  CheckpointTree tree = small_tree();
  CHECK(tree.add(step(7, "prefetch", "vectorize", 3.0)) == "vectorize-2");
  CHECK(tree.add(step(8, "root", "vectorize", 9.0)) == "vectorize-3");
  CHECK(tree.path("vectorize-2") == Names{"root", "tile", "prefetch", "vectorize-2"});
  CHECK(tree.transformations_on("vectorize-2") == Names{"tile", "prefetch", "vectorize"});
  CHECK(tree.best()->name == "vectorize");
  tree.set_closed("vectorize", true);
  CHECK(tree.best()->name == "vectorize-2");
  tree.set_objective("prefetch", INFINITY);
  CHECK(tree.find(TrialId{5})->name == "prefetch");
  CHECK(tree.find(TrialId{6}) == nullptr);
  CHECK(tree.find("nothing") == nullptr);
  CHECK_THROWS_AS((void)tree.at("tiel"), ConfigError);
  CHECK_THROWS_AS(tree.add(step(9, "nowhere", "x", 1.0)), ConfigError);
  CHECK_THROWS_AS(tree.add(step(9, "", "a b", 1.0)), ConfigError);
  CHECK(CheckpointTree().best() == nullptr);
  CHECK(CheckpointTree().current() == nullptr);
}

TEST_CASE("CheckpointTree: restored, branched, renamed") {
  CheckpointTree tree = small_tree();
  CHECK(tree.active_branch() == "main");
  CHECK(tree.current()->name == "vectorize");
  tree.restore("tile");
  CHECK(tree.current()->name == "tile");
  CHECK(tree.list().size() == 4);  // nothing is lost
  tree.branch("other", "prefetch");
  CHECK(tree.active_branch() == "other");
  CHECK(tree.current()->name == "prefetch");
  tree.switch_to("main");
  CHECK(tree.current()->name == "tile");
  tree.rename("tile", "blocks-of-32");
  CHECK(tree.current()->name == "blocks-of-32");
  CHECK(tree.path("vectorize") == Names{"root", "blocks-of-32", "vectorize"});
  CHECK(tree.transformations_on("vectorize") == Names{"tile", "vectorize"});
  CHECK_THROWS_AS(tree.rename("root", "vectorize"), ConfigError);
  CHECK_THROWS_AS(tree.branch("main", "root"), ConfigError);
  CHECK_THROWS_AS(tree.branch("new", "nowhere"), ConfigError);
  CHECK_THROWS_AS(tree.switch_to("mian"), ConfigError);
  CHECK_THROWS_AS(tree.restore("nowhere"), ConfigError);
  CHECK(tree.branches().size() == 2);
}

TEST_CASE("CheckpointTree: compared") {
  CheckpointTree tree = small_tree();
  tree.set_code("vectorize", {"a\nb\nc\n", "", "#define X\n"}, "16,true");
  tree.set_code("prefetch", {"a\nx\nc\nd\n", "", "#define X\n"}, "");
  const CheckpointComparison comparison = tree.compare("vectorize", "prefetch");
  CHECK(comparison.common == "tile");
  CHECK(comparison.only_first == Names{"vectorize"});
  CHECK(comparison.only_second == Names{"prefetch"});
  CHECK(comparison.speedup == approx(0.4));
  CHECK(comparison.diff == "-b\n+x\n+d\n");
  CHECK(tree.at("vectorize").tuned_key == "16,true");
  const CheckpointComparison down = tree.compare("root", "vectorize");
  CHECK(down.common == "root");
  CHECK(down.only_first.empty());
  CHECK(down.only_second == Names{"tile", "vectorize"});
  CHECK(down.speedup == 4.0);
  CHECK(down.diff.empty());  // no code of the root
  tree.add(step(9, "", "alone", INFINITY));
  CHECK(tree.compare("alone", "root").common.empty());
  CHECK(tree.compare("alone", "root").speedup == 0.0);
}

TEST_CASE("CheckpointTree: described") {
  CheckpointTree tree = small_tree();
  tree.set_note("tile", "fuse failed 3 times");
  tree.set_closed("prefetch", true);
  tree.branch("mine", "tile");
  CHECK(tree.describe() ==
        "root (trial 0): 8\n"
        "  tile (trial 1): 4, 2.00x <- mine (active)\n"
        "    # fuse failed 3 times\n"
        "    vectorize (trial 3): 2, 4.00x <- main\n"
        "    prefetch (trial 5): 5, 1.60x [closed]\n");
}

TEST_CASE("CheckpointTree: saved, edited by hand and loaded") {
  CheckpointTree tree = small_tree();
  tree.set_code("root", {"int a;\n\n  int b;\n", "no newline", ""}, "");
  tree.set_note("root", "the problem's own");
  tree.set_objective("prefetch", INFINITY);
  tree.branch("other", "tile");
  CHECK(CheckpointTree::from_json(tree.to_json(), "c.json") == tree);
  CHECK(CheckpointTree::from_json(CheckpointTree().to_json(), "c.json") == CheckpointTree());
  const TemporaryFolder folder;
  tree.save(folder / "c.json");
  tree.save(folder / "c.json");
  CHECK(CheckpointTree::load(folder / "c.json") == tree);
  CHECK_THROWS_AS((void)CheckpointTree::load(folder / "none.json"), ConfigError);
  CHECK_THROWS_AS(tree.save(folder / "none/c.json"), ConfigError);

  const CheckpointTree edited = CheckpointTree::from_json(
      "{\"schema\": 1, // by hand\n \"active\": \"b\", \"branches\": {\"b\": \"fast\"},\n"
      " \"checkpoints\": [{\"name\": \"fast\", \"trial\": 4, \"code\": {\"device\": [\"x\", \"y\"]}}]}",
      "c.json");
  CHECK(edited.current()->name == "fast");
  CHECK(edited.current()->regions.device == "x\ny\n");
  CHECK(std::isinf(edited.current()->objective));
}

TEST_CASE("CheckpointTree: files that do not fit are refused with their place") {
  const std::string good =
      R"({"schema": 1, "active": "main", "branches": {"main": "a"}, "checkpoints": [{"name": "a", "trial": 0}, {"name": "b", "parent": "a", "trial": 1}]})";
  CHECK(refusal(good) == "none");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return refusal(text);
  };
  CHECK(with("\"schema\": 1", "\"schema\": 9").find("/schema") != std::string::npos);
  CHECK(with("\"active\": \"main\"", "\"active\": \"mian\"").find("/active names no branch") !=
        std::string::npos);
  CHECK(with("{\"main\": \"a\"}", "{\"main\": \"z\"}").find("/branches/main names no checkpoint") !=
        std::string::npos);
  CHECK(with("\"parent\": \"a\"", "\"parent\": \"z\"").find("/checkpoints/1 has a parent") !=
        std::string::npos);
  CHECK(with("\"name\": \"b\"", "\"name\": \"a\"").find("name of another") != std::string::npos);
  CHECK(with("\"name\": \"b\"", "\"name\": \"b c\"").find("/checkpoints/1 does not fit") !=
        std::string::npos);
  CHECK(with("\"trial\": 1", "\"trial\": -1").find("is negative") != std::string::npos);
  CHECK(with("\"trial\": 1", "\"trail\": 1").find("trail") != std::string::npos);
  // whatever else is in a file: refused or read, never worse
  Rng rng(2);
  for (int i = 0; i < 2000; ++i) {
    std::string text = good;
    const std::size_t edits = 1 + rng.below(4);
    for (std::size_t e = 0; e < edits; ++e) text[rng.below(text.size())] = "{}[],:\"a0 "[rng.below(10)];
    (void)refusal(text);
  }
}

TEST_CASE("attach_code gives checkpoints the code of their trials") {
  TrialLog<Candidate> log;
  Trial<Candidate> trial;
  trial.candidate = Candidate{std::make_shared<const Kernel>(Kernel{{"code", "", ""}}), {}};
  trial.outcome.id = TrialId{1};
  trial.outcome.evaluation.tuned_key = "3";
  log.append(trial);
  CheckpointTree tree = small_tree();
  attach_code(tree, log);
  CHECK(tree.at("tile").regions.device == "code");
  CHECK(tree.at("tile").tuned_key == "3");
  CHECK(tree.at("root").regions == Regions{});
}
