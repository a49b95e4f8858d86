// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `kernelsearch prompt`: what a system would ask, printed and not asked.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "apps/command.hpp"

using namespace kernelsearch_test;

namespace {

const std::string host_matmul = KERNELSEARCH_SOURCE_DIR "/examples/host/matmul";
const std::string matmul_peak = KERNELSEARCH_SOURCE_DIR "/examples/cuda/matmul_peak";

bool printed(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("prompt: the first question of each role, without a model, a key or a run") {
  Desk desk;
  const Ran ran = desk.kernelsearch({"prompt", host_matmul, "--system", "stark"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  for (const char* part : {"==== planner: about ", "==== coder: about ", "==== debugger: about ",
                           "---- message 1 of 2, system, the same in every question", "## Machine",
                           "## Problem: matmul", "- processor: ", "- compiler: ", "at best "})
    CHECK_MESSAGE(printed(ran.out, part), part);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(desk.path()))
    CHECK(entry.path().extension() != ".db");  // no store was made
  // As tune would ask it: what is written is tuned, unless it is said that nothing is.
  CHECK(printed(ran.out, "If the code gains settings worth searching"));
  const Ran untuned = desk.kernelsearch({"prompt", host_matmul, "--system", "stark", "--inner-trials", "0"});
  CHECK(printed(untuned.out, "declare no tunables"));
  // The same again: nothing in it changes from call to call.
  CHECK(desk.kernelsearch({"prompt", host_matmul, "--system", "stark"}).out == ran.out);
}

TEST_CASE("prompt: one role, as JSON, of a problem whose device is not here") {
  Desk desk;
  const Ran ran =
      desk.kernelsearch({"prompt", matmul_peak, "--system", "peak", "--role", "transformer", "--json"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  const auto questions = ran.json();
  REQUIRE(questions.is_array());
  REQUIRE(questions.size() == 1);
  CHECK(questions[0]["role"] == "transformer");
  CHECK(questions[0]["tokens"].get<int>() > 500);
  CHECK(questions[0]["messages"][0]["speaker"] == "system");
  CHECK(questions[0]["messages"][0]["stable"] == true);
  CHECK(printed(ran.out, "n*m*K_SPLITS if K_SPLITS > 1 else 0"));
}

TEST_CASE("prompt: --attempt is a question that was asked before") {
  Desk desk;
  const std::vector<std::string> line{"prompt",        host_matmul, "--system",
                                      "greedy_refine", "--role",    "rewriter"};
  std::vector<std::string> again = line;
  again.insert(again.end(), {"--attempt", "2"});
  CHECK(!printed(desk.kernelsearch(line).out, "attempt 3"));
  CHECK(printed(desk.kernelsearch(again).out, "attempt 3"));
}

TEST_CASE("prompt: what is not known is said, with what there is") {
  Desk desk;
  Ran ran = desk.kernelsearch({"prompt", host_matmul, "--system", "stork"});
  CHECK(ran.code == 3);
  CHECK(printed(ran.err, "stark"));
  ran = desk.kernelsearch({"prompt", host_matmul, "--system", "helion_lfbo"});
  CHECK(ran.code == 3);
  CHECK(printed(ran.err, "asks no language model"));
  ran = desk.kernelsearch({"prompt", host_matmul, "--system", "stark", "--role", "planer"});
  CHECK(ran.code == 3);
  CHECK(printed(ran.err, "did you mean planner? it has: planner, coder, debugger"));
  ran = desk.kernelsearch({"prompt", host_matmul});
  CHECK(ran.code == 2);
  CHECK(printed(ran.err, "--system"));
}

TEST_CASE("prompt: --variant and --options show what that system would ask") {
  Desk desk;
  const auto shown = [&desk](std::vector<std::string> more) {
    std::vector<std::string> line{"prompt", host_matmul, "--system", "kernelband", "--role", "rewriter"};
    line.insert(line.end(), more.begin(), more.end());
    return desk.kernelsearch(line);
  };
  CHECK(printed(shown({}).out, "If the code gains settings worth searching"));
  for (const char* version : {"v1", "v2"}) {
    const Ran paper = shown({"--variant", version});
    CHECK_MESSAGE(printed(paper.out, "declare no tunables"), paper.err);  // the paper tunes nothing
  }
  // v2 takes the first by evidence, v1 draws one while it warms up.
  CHECK(printed(shown({"--variant", "v2"}).out, "Strategy: tiling\n"));
  CHECK(printed(shown({"--variant", "v1"}).out, "Strategy: fusion\n"));
  CHECK(printed(shown({"--variant", "v1", "--seed", "2"}).out, "Strategy: vectorization\n"));
  write_text(desk.path() / "mine.json", R"({"variant": "v1", "without": "model_chooses"})");
  const Ran chosen = shown({"--options", "mine.json"});
  CHECK_MESSAGE(printed(chosen.out, "- loop_order: "), chosen.err);  // the six to choose from
  CHECK_FALSE(printed(chosen.out, "- strength_reduction: "));
  CHECK(printed(shown({"--options", "mine.json", "--system-options", R"({"variant": "ours"})"}).out,
                "- strength_reduction: "));
  const Ran written =
      desk.kernelsearch({"prompt", host_matmul, "--system", "kernelband(variant=v1)", "--role", "rewriter"});
  CHECK_MESSAGE(written.out == shown({"--variant", "v1"}).out, written.err);
  const auto refused = [&](std::vector<std::string> more, const char* words) {
    const Ran ran = shown(std::move(more));
    CHECK(ran.code == 3);
    CHECK_MESSAGE(printed(ran.err, words), ran.err);
  };
  refused({"--variant", "v3"}, "there are ours, v1, v2");
  refused({"--variant", "v2", "--options", "mine.json"}, "name different variants");
  write_text(desk.path() / "bad.json", R"({"alpa": 1})");
  refused({"--options", "bad.json"}, "did you mean alpha?");
  write_text(desk.path() / "bad.json", R"({"alpha": "much"})");
  refused({"--options", "bad.json"}, "give a number");
  write_text(desk.path() / "bad.json", R"({"alpha": -1})");
  refused({"--options", "bad.json"}, "out of bounds");
  write_text(desk.path() / "bad.json", "[1]");
  refused({"--options", "bad.json"}, "JSON object");
  write_text(desk.path() / "bad.json", "{");
  refused({"--options", "bad.json"}, "bad.json");
  write_text(desk.path() / "bad.json", " \n");
  refused({"--options", "bad.json"}, "is empty");
  CHECK(shown({"--options", "none.json"}).code == 2);
}
