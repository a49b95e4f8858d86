// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PEAK's workflow by the command: named, followed, its checkpoints changed, its kernels validated. Kernels
// are really compiled, checked and timed; the replies are written for these tests.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "apps/command.hpp"
#include "support/check_has.hpp"

using namespace kernelsearch_test;
using Words = std::vector<std::string>;

namespace {

const std::filesystem::path peak_fixtures = std::filesystem::path(KERNELSEARCH_SOURCE_DIR) / "tests/fixtures";

/// A desk with a workflow, options that try nothing twice, and replies that carry out two of its steps.
struct PeakDesk : Desk {
  PeakDesk() {
    write_text(path() / "mine.json", R"({"schema": 1, "name": "mine",
      "transformations": ["vectorize_loop", "independent_accumulators", "loop_interchange"]})");
    write_text(path() / "options.json", R"({"retries": 0, "middle_retries": 0, "inner_trials": 1})");
    // One short shape, with a rest that wrong kernels forget: times are not looked at.
    std::filesystem::copy(peak_fixtures / "problems/dot", path() / "dot");
    auto problem = nlohmann::json::parse(read_text(path() / "dot/problem.json"), nullptr, true, true);
    problem["shapes"] = nlohmann::json::array({{{"name", "odd"}, {"n", 97}}});
    write_text(path() / "dot/problem.json", problem.dump());
    std::filesystem::create_directories(path() / "replies");
    for (const auto& file : std::filesystem::directory_iterator(peak_fixtures / "exchanges/peak"))
      std::filesystem::copy(file, path() / "replies");
  }

  [[nodiscard]] Ran peak(Words more) const {
    Words all{"tune",        (peak_fixtures / "problems/dot").string(),
              "--system",    "peak",
              "--store",     "runs.db",
              "--samples",   "5",
              "--json",      "--out",
              "out",         "--replay-exchanges",
              "replies",     "--options",
              "options.json"};
    all.insert(all.end(), more.begin(), more.end());
    return kernelsearch(all);
  }
  [[nodiscard]] Ran checkpoints(Words words) const {
    words.insert(words.begin(), {"checkpoints", "latest"});
    words.insert(words.end(), {"--store", "runs.db"});
    return kernelsearch(words);
  }

  /// `transformation <- parent: verdict` of each trial but the first.
  [[nodiscard]] Words steps() const {
    const Ran ran = kernelsearch({"export", "latest", "--store", "runs.db", "--format", "jsonl"});
    std::istringstream lines(ran.out);
    Words steps;
    for (std::string one; std::getline(lines, one);) {
      const auto trial = nlohmann::json::parse(one);
      if (trial["parents"].empty()) continue;
      steps.push_back(trial["point"]["strategies"][0].get<std::string>() + " <- " +
                      std::to_string(trial["parents"][0].get<int>()) + ": " +
                      trial["evaluation"]["verdict"].get<std::string>());
    }
    return steps;
  }
};

}  // namespace

TEST_CASE(
    "peak: a workflow is followed, kernels are validated, and the run goes on from a restored checkpoint") {
  // Sums that are right, and one read past the end that no result shows.
  const PeakDesk desk;
  std::string code = read_text(desk.path() / "replies/accumulators.md");
  const std::string sums = "float all = 0;";
  code.replace(code.find(sums), sums.size(), "volatile float past = y[n];\n  float all = 0;");
  write_text(desk.path() / "replies/accumulators.md", code);
  const Ran first = desk.peak({"--workflow", "mine.json"});
  REQUIRE_MESSAGE(first.code == 0, first.err);
  const Words followed{"vectorize_loop <- 0: ok", "independent_accumulators <- 1: crashed",
                       "loop_interchange <- 1: wrong_result"};
  CHECK(desk.steps() == followed);
  check_has(first.err, "trial 1 passed the validator at ");
  check_has(first.err, "trial 2 did not pass the validator at 1 configuration, in ");

  Ran ran = desk.checkpoints({});
  CHECK(ran.code == 0);
  check_has(ran.out, "root (trial 0)");
  check_has(ran.out, "  vectorize_loop (trial 1)");
  check_has(ran.out,
            "    # independent_accumulators failed 1 times (crashed); loop_interchange failed 1 times "
            "(wrong_result)");
  CHECK(ran.out.find("(trial 2)") == std::string::npos);
  check_has(ran.out, "<- main (active)");
  ran = desk.checkpoints({"name", "vectorize_loop", "vectors", "--note", "before the sums"});
  check_has(ran.out, "trial 1 is vectors");
  ran = desk.checkpoints({"compare", "root", "vectors"});
  check_has(ran.out, "vectors is ");
  check_has(ran.out, "both come from root");
  check_has(ran.out, "+  // v3: sixteen sums and the rest");
  ran = desk.checkpoints({"restore", "root"});
  check_has(ran.out, "`kernelsearch tune --resume 1` goes on from root, trial 0");
  const auto tree = desk.checkpoints({"list", "--json"}).json();
  CHECK(tree["branches"]["main"] == "root");
  CHECK(tree["checkpoints"][1]["note"] == "before the sums");
  CHECK(tree["checkpoints"][1]["code"].contains("device"));

  // The list once more, from the root: all that comes of it is known by now.
  const Ran resumed =
      desk.kernelsearch({"tune", "--resume", "latest", "--store", "runs.db", "--json", "--out", "out"});
  CHECK_MESSAGE(resumed.code == 0, resumed.err);
  check_has(resumed.err, "its checkpoints were changed 2 times");
  // What is known and right is the branch's next checkpoint, at no trial.
  const Words now = desk.steps();
  REQUIRE(now.size() >= 4);
  CHECK(Words(now.begin(), now.begin() + 3) == followed);
  CHECK(now[3] == "vectorize_loop <- 0: not_applicable");
  for (std::size_t i = 4; i < now.size(); ++i) CHECK(now[i].find(" <- 1: ") != std::string::npos);
  check_has(desk.checkpoints({"branch", "second", "vectors"}).out, "branch second begins with vectors");
  check_has(desk.checkpoints({"switch", "main"}).out,
            "branch main; `kernelsearch tune --resume 1` goes on from vectors");

  // Errors say what, what was given, what to do.
  ran = desk.checkpoints({"restore", "vector"});
  CHECK(ran.code == 3);
  check_has(ran.err, "there is no such checkpoint: vector; did you mean vectors?");
  ran = desk.checkpoints({"name", "3", "wrong"});
  CHECK(ran.code == 3);
  check_has(ran.err, "only a right kernel can be a checkpoint: trial 3: wrong_result; name another trial");
  CHECK(desk.checkpoints({"branch", "main", "root"}).code == 3);
  CHECK(desk.checkpoints({"drop", "vectors"}).code == 2);
  ran = desk.checkpoints({"compare", "vectors"});
  CHECK(ran.code == 2);
  check_has(ran.err, "compare takes CHECKPOINT CHECKPOINT");
  CHECK(desk.checkpoints({"list", "--note", "x"}).code == 2);
  CHECK(desk.kernelsearch({"checkpoints", "nothing", "--store", "runs.db"}).code == 3);
}

TEST_CASE("peak: a workflow that cannot be followed is refused before anything is built") {
  const PeakDesk desk;
  Ran ran = desk.peak({"--workflow", "a6000_fp32"});
  CHECK(ran.code == 3);
  check_has(ran.err, "the workflow a6000_fp32 is for other backends than host: cuda");
  ran = desk.peak({"--workflow", "a6000_fp23"});
  CHECK(ran.code == 3);
  check_has(ran.err, "did you mean a6000_fp32?");
  write_text(desk.path() / "mine.json", R"({"schema": 1, "name": "mine", "transformations": ["refactor"]})");
  ran = desk.peak({"--workflow", "mine.json"});
  CHECK(ran.code == 3);
  check_has(ran.err, "the transformation refactor is for other backends than host: cuda, hip");
  CHECK_FALSE(std::filesystem::exists(desk.path() / "out"));
  // In the file of options it is the same, and of other systems it is none.
  write_text(desk.path() / "options.json", R"({"workflow": "unroll_loop.json"})");
  ran = desk.peak({});
  CHECK(ran.code == 3);
  check_has(ran.err, "the workflow cannot be read: unroll_loop.json");
  CHECK(desk.kernelsearch({"tune", (peak_fixtures / "problems/dot").string(), "--workflow", "memory"}).code ==
        2);
  ran = desk.kernelsearch({"tune", (peak_fixtures / "problems/dot").string(), "--workflow", "memory",
                           "--system", "stark", "--store", "runs.db"});
  CHECK(ran.code == 3);
  check_has(ran.err, "there is no such option of stark: workflow");
}

TEST_CASE("list transformations: in the order in which they are tried, with what each asks for") {
  const Desk desk;
  const std::string problem = std::string(KERNELSEARCH_SOURCE_DIR) + "/examples/cuda/matmul_f32";
  const auto names = [&](Words more) {
    more.insert(more.begin(), {"list", "transformations", "--json"});
    const Ran ran = desk.kernelsearch(more);
    REQUIRE_MESSAGE(ran.code == 0, ran.err);
    Words all;
    for (const auto& one : ran.json()) all.push_back(one["name"]);
    return all;
  };
  const Words memory = names({"--problem", problem}),
              compute = names({"--problem", problem, "--short-of", "compute"});
  CHECK(memory.size() == compute.size());
  CHECK(memory.front() == "coalesce_accesses");
  CHECK(compute.front() == "refactor");
  const Words softmax =
      names({"--problem", std::string(KERNELSEARCH_SOURCE_DIR) + "/examples/cuda/softmax_f32"});
  CHECK(std::find(softmax.begin(), softmax.end(), "refactor") == softmax.end());
  CHECK(std::find(memory.begin(), memory.end(), "refactor") != memory.end());
  const Words host = names({"--backend", "host"});
  CHECK(std::find(host.begin(), host.end(), "loop_tiling") != host.end());
  CHECK(std::find(host.begin(), host.end(), "refactor") == host.end());
  const auto all = desk.kernelsearch({"list", "transformations", "--json"}).json();
  for (const auto& one : all)
    if (one["name"] == "tb_tiling") {
      CHECK(one["after"] == nlohmann::json{"refactor"});
      CHECK(one["traits"] == nlohmann::json{"matmul"});
      CHECK(one["tunables"][0] == "TILE_K_SIZE");
      CHECK(one["proved"].is_boolean());
    }
  const Ran table = desk.kernelsearch({"list", "transformations"});
  check_has(table.out, "place  transformation");
  check_has(table.out, "proved");
  const Ran workflows = desk.kernelsearch({"list", "workflows"});
  check_has(workflows.out, "a6000_fp32");
  check_has(workflows.out, "refactor,tb_tiling,thread_tiling,thread_cache");
  CHECK(desk.kernelsearch({"list", "workflows", "--json"}).json().size() >= 8);
  CHECK(desk.kernelsearch({"list", "policies", "--short-of", "compute"}).code == 2);
  CHECK(desk.kernelsearch({"list", "workflows", "--backend", "cuda"}).code == 2);
  CHECK(desk.kernelsearch({"list", "policies", "--methods", "."}).code == 2);
  CHECK(desk.kernelsearch({"list", "transformations", "--problem", problem, "--backend", "hip"}).code == 3);
}
