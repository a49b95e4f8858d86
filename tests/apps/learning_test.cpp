// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>
#include <cmath>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "command.hpp"

using namespace kernelsearch_test;

TEST_CASE("command: tune learns from earlier runs of the problem, of others when told, and says so") {
  const Desk desk;
  REQUIRE(desk.kernelsearch({"new", "mine"}).code == 0);
  auto problem = nlohmann::json::parse(read_text(desk.path() / "mine/problem.json"), nullptr, true, true);
  problem["tunables"] = {{"ROWS", {1, 2, 3}}, {"LANES", {1, 2, 4}}, {"FAST_MATH", {""}}};
  problem.erase("constraints");
  problem.erase("default");
  one_small_shape(problem);
  write_text(desk.path() / "mine/problem.json", problem.dump());
  Ran ran = desk.kernelsearch({"tune", "mine", "--policy", "exhaustive", "--budget", "all", "--store",
                               "runs.db", "--record", "all.json", "--json"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  CHECK_FALSE(ran.json().contains("learned_from"));

  // The default policy learns from the store of its own.
  ran = desk.kernelsearch({"tune", "mine", "--budget", "4", "--store", "runs.db", "--json"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  auto learned = ran.json()["learned_from"];
  REQUIRE(learned.size() == 1);
  CHECK(learned[0]["source"] == "runs.db:1");
  CHECK(learned[0]["outcomes"] == 9);
  // Finalists are measured anew, so that the sign of it is a matter of how quiet the machine is.
  CHECK(std::abs(learned[0]["rank_correlation"].get<double>()) <= 1.0);

  ran = desk.kernelsearch({"tune", "mine", "--budget", "4", "--store", "runs.db", "--no-learning", "--json"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  CHECK_FALSE(ran.json().contains("learned_from"));

  // From a recording, and from a store that stands for its runs.
  for (const char* source : {"all.json", "runs.db"}) {
    ran = desk.kernelsearch(
        {"tune", "mine", "--budget", "3", "--store", "other.db", "--no-learning", "--learn-from", source});
    REQUIRE_MESSAGE(ran.code == 0, ran.err);
    CHECK(ran.out.find("learned from") != std::string::npos);
    CHECK(ran.out.find("9 outcomes") != std::string::npos);
  }

  // What is of another space is said and left out.
  problem["tunables"]["ROWS"] = {1, 2, 3, 4};
  problem["tunables"]["MORE"] = {0, 1};
  write_text(desk.path() / "mine/problem.json", problem.dump());
  ran = desk.kernelsearch({"tune", "mine", "--budget", "2", "--store", "new.db", "--learn-from", "all.json"});
  CHECK(ran.err.find("another space") != std::string::npos);
  CHECK(desk.kernelsearch({"tune", "mine", "--learn-from", "none.json", "--store", "new.db"}).code == 3);
}

TEST_CASE("command: measured anew means that no result of another run is taken, nor of another candidate") {
  const Desk desk;
  REQUIRE(desk.kernelsearch({"new", "mine"}).code == 0);
  auto problem = nlohmann::json::parse(read_text(desk.path() / "mine/problem.json"), nullptr, true, true);
  problem["tunables"] = {{"ROWS", {1, 2, 3}}, {"LANES", {1, 2, 4}}, {"FAST_MATH", {""}}};
  problem.erase("constraints");
  problem.erase("default");
  one_small_shape(problem);
  write_text(desk.path() / "mine/problem.json", problem.dump());
  nlohmann::json seen = nlohmann::json::array();
  for (const int rows : {1, 2, 2}) {
    write_text(desk.path() / "only.json",
               nlohmann::json::array({{{"ROWS", rows}, {"LANES", 4}, {"FAST_MATH", ""}}}).dump());
    const Ran ran = desk.kernelsearch({"tune", "mine", "--configs", "only.json", "--policy", "exhaustive",
                                       "--budget", "all", "--store", "runs.db", "--no-learning", "--no-reuse",
                                       "--record", "only.t4.json", "--json"});
    REQUIRE_MESSAGE(ran.code == 0, ran.err);
    const auto recorded = nlohmann::json::parse(read_text(desk.path() / "only.t4.json"));
    REQUIRE(recorded["results"].size() == 1);
    const auto& times = recorded["results"][0]["times"];
    CHECK(std::find(seen.begin(), seen.end(), times) == seen.end());
    seen.push_back(times);
  }
}
