// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The command with workers of its own, on this machine.
#include <doctest/doctest.h>
#include <stdlib.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "apps/command.hpp"

using namespace kernelsearch_test;

namespace {

const std::string twice_by_workers = R"json({
  "schema": 1, "name": "twice", "function": "twice",
  "kernel": {"device": {"text": "extern \"C\" void twice(int n, const float* x, float* y) { for (int i = 0; i < n; ++i) y[i] = (WRONG ? 3 : 2) * x[i] + 0 * STEP; }"}},
  "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"},
                {"name": "y", "type": "f32", "size": "n", "role": "out"}],
  "shapes": [{"name": "small", "n": 500}],
  "tunables": {"STEP": [0, 1], "WRONG": [0, 1]},
  "build": {"flags": ["-O1"]},
  "reference": {"function": "twice_reference", "source": {"text": "void twice_reference(int n, const real* x, real* y) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }"}}
})json";

std::vector<nlohmann::json> exported(const Desk& desk) {
  std::istringstream lines(
      desk.kernelsearch({"export", "latest", "--format", "jsonl", "--store", "runs.db"}).out);
  std::vector<nlohmann::json> trials;
  for (std::string line; std::getline(lines, line);) trials.push_back(nlohmann::json::parse(line));
  return trials;
}

}  // namespace

TEST_CASE("tune --launch: workers give the verdicts that this process would give") {
  const Desk desk;
  std::filesystem::create_directory(desk.path() / "twice");
  write_text(desk.path() / "twice/problem.json", twice_by_workers);
  const std::vector<std::string> how{"--policy", "exhaustive", "--budget", "all", "--samples", "3",
                                     "--store",  "runs.db",    "--out",    "out", "--no-reuse"};
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> line{"tune", "twice"};
    line.insert(line.end(), how.begin(), how.end());
    line.insert(line.end(), more.begin(), more.end());
    return desk.kernelsearch(line);
  };
  const auto verdicts = [&] {
    std::set<std::string> all;
    for (const auto& trial : exported(desk))
      all.insert(trial["candidate"]["key"].get<std::string>() + " " +
                 trial["evaluation"]["verdict"].get<std::string>());
    return all;
  };
  const Ran here = run({});
  CAPTURE(here.err);
  REQUIRE(here.code == 0);
  const auto known = verdicts();
  CHECK(known.size() == 4);
  const Ran there = run({"--launch", "local", "x2", "--lane-tolerance", "0"});
  CAPTURE(there.err);
  REQUIRE(there.code == 0);
  CHECK(verdicts() == known);
  for (const auto& trial : exported(desk))
    if (trial["evaluation"]["verdict"] == "ok")
      CHECK(trial["evaluation"]["provenance"].get<std::string>().find("(local) on ") != std::string::npos);
  CHECK(there.err.find("lane 0 (local) is ready on") != std::string::npos);

  const Ran bad = run({"--launch", "echo hello; cat >/dev/null #"});
  CHECK(bad.code == 4);
  CHECK(bad.err.find("no worker is ready") != std::string::npos);
  CHECK(bad.err.find("\"hello.") != std::string::npos);
  CHECK(run({"--launch", "false"}).err.find("it ended before it was ready") != std::string::npos);
  CHECK(run({"--slurm", "node=3"}).err.find("this cannot be asked of Slurm") != std::string::npos);
}

#ifdef KERNELSEARCH_STANDIN_HIP
TEST_CASE("tune --launch: device code that one worker built runs on another") {
  setenv("KERNELSEARCH_HIP_RUNTIME", KERNELSEARCH_STANDIN_HIP, 1);
  setenv("KERNELSEARCH_HIPRTC", KERNELSEARCH_STANDIN_HIPRTC, 1);
  const Desk desk;
  auto problem = nlohmann::json::parse(twice_by_workers);
  problem["backend"] = "hip";
  problem.erase("build");
  problem["kernel"]["device"]["text"] =
      "extern \"C\" __global__ void twice(int n, const float* x, float* y) { const int i = blockIdx.x * 64 + "
      "threadIdx.x; if (i < n) y[i] = (WRONG ? 3 : 2) * x[i] + 0 * STEP; }";
  problem["launch"] = {{"grid", {"(n + 63) // 64"}}, {"block", {64}}};
  problem["reference"] = {{"function", "twice_reference"},
                          {"launch", {{"grid", {"n"}}, {"block", {1}}}},
                          {"source",
                           {{"text",
                             "extern \"C\" __global__ void twice_reference(int n, const real* x, real* y) { "
                             "y[blockIdx.x] = 2 * x[blockIdx.x]; }"}}}};
  std::filesystem::create_directory(desk.path() / "twice");
  write_text(desk.path() / "twice/problem.json", problem.dump());
  const Ran ran = desk.kernelsearch({"tune",
                                     "twice",
                                     "--policy",
                                     "exhaustive",
                                     "--budget",
                                     "all",
                                     "--samples",
                                     "3",
                                     "--store",
                                     "runs.db",
                                     "--out",
                                     "out",
                                     "--sandbox",
                                     "none",
                                     "--launch",
                                     "local",
                                     "--build-launch",
                                     "local",
                                     "--lane-tolerance",
                                     "0"});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  const auto trials = exported(desk);
  CHECK(trials.size() == 4);
  for (const auto& trial : trials) {
    const bool wrong = trial["candidate"]["values"]["WRONG"] == 1;
    CHECK(trial["evaluation"]["verdict"] == (wrong ? "wrong_result" : "ok"));
  }
  // All that measured is the first lane, and all that built the second.
  CHECK(ran.err.find("lane 1 (local) is ready") != std::string::npos);
}
#endif
