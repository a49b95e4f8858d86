// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUDA optimisation skill V2 by the command, on kernels of known merit (tests/fixtures/skill), which are
// really compiled, checked, disassembled and timed.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "apps/command.hpp"

using namespace kernelsearch_test;
using nlohmann::json;

namespace {

const std::filesystem::path skill_fixtures =
    std::filesystem::path(KERNELSEARCH_SOURCE_DIR) / "tests/fixtures";

std::vector<std::string> skill_line(std::vector<std::string> more) {
  std::vector<std::string> all{"tune",         (skill_fixtures / "skill/problem").string(),
                               "--system",     "cuda_skill_v2",
                               "--methods",    (skill_fixtures / "skill/methods").string(),
                               "--store",      "runs.db",
                               "--json",       "-q",
                               "--out",        "out",
                               "--iterations", "1"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

json file_of(const Desk& desk, const std::string& name) {
  return json::parse(read_text(desk.path() / name));
}

/// The entry of a list of state.json with this id.
json entry_of(const json& list, const std::string& id) {
  for (const json& one : list)
    if (one["id"] == id) return one;
  return nullptr;
}

/// What is true of these kernels however they were handed in.
void check_verdicts(const Desk& desk, const std::string& folder) {
  const json state = file_of(desk, folder + "/state.json");
  CAPTURE(state.dump(1));
  REQUIRE(state["history"].size() == 1);
  CHECK(state["history"][0]["status"] == "improved");
  const json roofline = state["roofline_history"][0];
  // The divider decides, not the memory: most slots are on the axis of computing.
  CHECK(roofline["bound"] == "compute");
  CHECK(roofline["axis_budget"]["compute"] == 2);
  CHECK(roofline["axis_budget"]["memory"] == 1);
  CHECK(roofline["axis_budget"]["latency"] == 0);
  CHECK(roofline["delta_latency"].is_null());

  const json earned = entry_of(state["effective_methods"], "compute.strength_reduction");
  REQUIRE(earned.is_object());
  CHECK(earned["evidence"] == "verified");
  CHECK(earned["kept"] == true);
  // A chain of division and addition against one of multiplication and addition.
  CHECK(earned["attribution"]["percent"] > 30);
  CHECK(earned["attribution"]["paired"] == true);
  // The two kernels, timed apart, say about the same, however busy the machine is.
  const json attribution = file_of(desk, folder + "/iterv1/attribution.json");
  const json entry = entry_of(attribution["methods"], "compute.strength_reduction");
  const double apart =
      100 * (entry["ablated_ms"].get<double>() / attribution["champion_ms"].get<double>() - 1);
  const double percent = earned["attribution"]["percent"];
  CHECK(earned["attribution"]["interval"][0] <= percent);
  CHECK(percent <= earned["attribution"]["interval"][1]);
  CHECK(std::abs(apart - percent) < 0.5 * (100 + percent));
  const json idle = entry_of(state["ineffective_methods"], "compute.unroll");
  REQUIRE(idle.is_object());
  CHECK(idle["evidence"] == "verified");  // it is there, and all of the gain is the other's
  const json claimed = entry_of(state["implementation_failed_methods"], "memory.streaming_stores");
  REQUIRE(claimed.is_object());
  CHECK(claimed["evidence"] == "absent");  // though the kernel got faster
  const std::string summary = read_text(desk.path() / folder / "summary.md");
  CHECK(summary.find("| compute.strength_reduction | 1 |") != std::string::npos);
  CHECK(summary.find("95 % interval") != std::string::npos);
}

}  // namespace

TEST_CASE("cuda_skill_v2: from files: the right axis, what earned, what did not, what is not there" *
          doctest::test_suite("thorough")) {
  const Desk desk;
  std::filesystem::copy(skill_fixtures / "skill/kernels", desk.path() / "mine",
                        std::filesystem::copy_options::recursive);
  const Ran ran = desk.kernelsearch(skill_line({"--from-files", "mine"}));
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  check_verdicts(desk, "mine");
  const json branches = file_of(desk, "mine/iterv1/branch_results.json");
  CHECK(branches["champion"] == "b2");
  CHECK(branches["valid_branches"] == 2);
  CHECK(branches["branches"][2]["verdict"] == "wrong_result");
  CHECK(branches["branches"][3]["verdict"] == "build_failed");
  CHECK(read_text(desk.path() / "mine/iterv1/branches/b4/request.md").find("branch 4 of 4") !=
        std::string::npos);
  CHECK(read_text(desk.path() / "mine/iterv1/analysis.md").find("streaming_stores") != std::string::npos);
  const Ran report = desk.kernelsearch({"report", "latest", "--store", "runs.db"});
  CHECK(report.code == 0);
  CHECK(report.out == read_text(desk.path() / "mine/summary.md"));
}

TEST_CASE("cuda_skill_v2: a run that was cut goes on from its store, without what it had done") {
  const Desk desk;
  std::filesystem::copy(skill_fixtures / "skill/kernels", desk.path() / "mine",
                        std::filesystem::copy_options::recursive);
  Ran ran = desk.kernelsearch(skill_line({"--from-files", "mine", "--budget", "3"}));
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.json()["trials"] == 3);
  CHECK(read_text(desk.path() / "mine/summary.md").find("cut short") != std::string::npos);
  ran = desk.kernelsearch(
      {"tune", "--resume", "latest", "--budget", "6", "--store", "runs.db", "--json", "-q", "--out", "out"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  ran = desk.kernelsearch(
      {"tune", "--resume", "latest", "--budget", "60", "--store", "runs.db", "--json", "-q", "--out", "out"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.json()["trials"] == 1 + 4 + 3);
  check_verdicts(desk, "mine");
}

TEST_CASE("cuda_skill_v2: killed while branches or ablations are under way, it goes on the same" *
          doctest::test_suite("thorough")) {
  const Desk desk;
  std::filesystem::copy(skill_fixtures / "skill/kernels", desk.path() / "mine",
                        std::filesystem::copy_options::recursive);
  std::vector<std::string> arguments = skill_line({"--from-files", "mine"});
  for (const char* place : {"branches/b2", "branches/b4", "ablations/compute.unroll"}) {
    Started started(desk.path(), Desk::line(arguments));
    const auto request = desk.path() / "mine/iterv1" / place / "request.md";
    while (started.running() && !std::filesystem::exists(request))
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    REQUIRE_MESSAGE(started.running(), place);
    started.signal(SIGKILL);
    CHECK(started.finish().code == 128 + SIGKILL);
    // Whoever finds the folder after a kill reads how far the run had come, not of its end alone.
    const json state = file_of(desk, "mine/state.json");
    CAPTURE(state.dump(1));
    REQUIRE(state["history"].size() == 1);
    const bool branches_known = std::string(place).starts_with("ablations");
    CHECK(state["history"][0]["phase"] == (branches_known ? "ablating" : "branching"));
    CHECK(state["best_trial"].is_number());
    CHECK_FALSE(std::filesystem::exists(desk.path() / "mine/summary.md"));
    CHECK(file_of(desk, "mine/env.json")["peaks"]["memory"].is_array());
    arguments = {"tune", "--resume", "latest", "--store", "runs.db", "--json", "-q", "--out", "out"};
  }
  const Ran ran = desk.kernelsearch(arguments);
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.json()["trials"] == 1 + 4 + 3);
  CHECK(ran.json()["run"] == 1);
  check_verdicts(desk, "mine");
}

TEST_CASE("cuda_skill_v2: from a model's replies") {
  const Desk desk;
  const Ran ran = desk.kernelsearch(
      skill_line({"--replay-exchanges", (skill_fixtures / "exchanges/cuda_skill_v2").string()}));
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  check_verdicts(desk, "out/run_1");
  const json result = ran.json();
  CHECK(result["models"]["faults"].value("no_code", 0) == 2);  // told once, then given up
  const json branches = file_of(desk, "out/run_1/iterv1/branch_results.json");
  CHECK(branches["branches"][3]["verdict"] == "not_generated");
}

TEST_CASE("cuda_skill_v2: what cannot be is refused") {
  const Desk desk;
  const Ran other = desk.kernelsearch({"tune", (skill_fixtures / "skill/problem").string(), "--system",
                                       "stark", "--from-files", "mine", "--store", "runs.db"});
  CHECK(other.code == 3);
  CHECK(other.err.find("there is no such option of stark: from_files") != std::string::npos);
  CHECK(desk.kernelsearch({"report", "latest", "--store", "runs.db"}).code == 3);
}
