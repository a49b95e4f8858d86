// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole systems by the command, from the replies of tests/fixtures/exchanges (written for these tests):
// kernels are really compiled, checked and timed.
#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "apps/command.hpp"

using namespace kernelsearch_test;

namespace {

const std::filesystem::path fixtures = std::filesystem::path(KERNELSEARCH_SOURCE_DIR) / "tests/fixtures";

std::vector<std::string> line(const std::string& system, std::vector<std::string> more = {}) {
  std::vector<std::string> all{"tune",
                               (fixtures / "problems/dot").string(),
                               "--system",
                               system,
                               "--store",
                               "runs.db",
                               "--samples",
                               "5",
                               "--json",
                               "-q",
                               "--out",
                               "out",
                               "--replay-exchanges",
                               (fixtures / "exchanges" / system).string()};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// What a run printed, after it went well.
nlohmann::json result_of(const Ran& ran) {
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  const auto result = ran.json();
  REQUIRE(result.is_object());
  return result;
}

/// Questions by role.
std::map<std::string, int> calls_of(const nlohmann::json& result) {
  std::map<std::string, int> calls;
  for (const auto& row : result["models"]["rows"]) calls[row["role"]] += row["calls"].get<int>();
  return calls;
}

/// Trials of the newest run as the export has them.
std::vector<nlohmann::json> trials_of(const Desk& desk) {
  const Ran ran = desk.kernelsearch(
      {"export", "latest", "--store", "runs.db", "--format", "jsonl", "--out", "trials.jsonl"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  std::istringstream lines(read_text(desk.path() / "trials.jsonl"));
  std::vector<nlohmann::json> trials;
  for (std::string one; std::getline(lines, one);)
    if (auto parsed = nlohmann::json::parse(one, nullptr, false); parsed.contains("trial"))
      trials.push_back(std::move(parsed));
  return trials;
}

using Calls = std::map<std::string, int>;

}  // namespace

TEST_CASE("command: list systems") {
  const Desk desk;
  const auto systems = desk.kernelsearch({"list", "systems", "--json"}).json();
  std::set<std::string> names;
  for (const auto& one : systems) names.insert(one["name"]);
  CHECK(names == std::set<std::string>{"best_of_k", "geak", "greedy_refine", "helion_hybrid", "helion_lfbo",
                                       "helion_llm", "kernelband", "peak", "stark"});
  const Ran unknown = desk.kernelsearch(
      {"tune", (fixtures / "problems/dot").string(), "--system", "starc", "--store", "runs.db"});
  CHECK(unknown.code == 3);
  CHECK(unknown.err.find("did you mean stark?") != std::string::npos);
}
