// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/compare/write_scores.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "kernelsearch/compare/comparison.hpp"
#include "support/made_up_recording.hpp"

using namespace kernelsearch;

namespace {

struct ComparedScores {
  std::vector<Recording> recordings{made_up_recording("s"), made_up_recording("t", 1.0)};
  std::vector<Landscape> landscapes = landscapes_of(recordings);
  std::vector<Contestant> contestants{registered_contestant("random"),
                                      {"odd, \"name\"", registered_contestant("iterated_local_search").make}};
  std::vector<Trace> traces =
      compare(recordings, landscapes, contestants, {.repeats = 3, .budget = 30, .threads = 1});
  std::vector<PolicyScores> scores = score(landscapes, traces, {.bootstrap = 20});
  std::vector<PairedDifference> paired = paired_differences(landscapes, traces, "random");
};

}  // namespace

TEST_CASE("scores_to_json: every figure under the scorer's name") {
  const ComparedScores compared;
  const auto json = nlohmann::json::parse(scores_to_json(compared.scores, {"random", compared.paired}));
  REQUIRE(json.size() == 2);
  const PolicyScores& scores = compared.scores[0];
  const auto& mean = json["random"]["summary"]["dev"];
  CHECK(mean["spaces"] == 2);
  CHECK(mean["repeats"] == nlohmann::json::array({3, 3}));
  CHECK(mean["P"] == scores.areas[0].value);
  CHECK(mean["P@60"] == scores.areas[3].value);
  CHECK(mean["P@20_ci95"][1] == scores.areas[1].interval->high);
  CHECK(mean["ratio@200"] == scores.ratios[4]);
  CHECK(mean["policy_ms_per_eval"] == *scores.policy_ms_per_evaluation);
  const auto& space = json["random"]["spaces"]["t"];
  CHECK(space["B"] == compared.landscapes[1].budget());
  CHECK(space["n5_reached"] == scores.spaces[1].n5_reached);
  CHECK(space["median_len"] == 30);
  CHECK_FALSE(json["random"].contains("paired"));
  const auto& paired = json["odd, \"name\""]["paired"];
  CHECK(paired["against"] == "random");
  CHECK(paired["pairs"] == 6);
  CHECK(paired["P@40"]["p_holm"] == compared.paired[0].areas[2].adjusted_p);
}

TEST_CASE("scores_to_json: infinity is the word that the scorer writes") {
  ComparedScores compared;
  compared.scores[0].n5 = std::numeric_limits<double>::infinity();
  const auto json = nlohmann::json::parse(scores_to_json(compared.scores));
  CHECK(json["random"]["summary"]["dev"]["n5"] == "inf");
}

TEST_CASE("scores_to_csv: a row for each space and the mean, as many cells as the header") {
  const ComparedScores compared;
  std::istringstream in(scores_to_csv(compared.scores));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  REQUIRE(lines.size() == 7);
  CHECK(lines[0].rfind("strategy,space,P,P_low,P_high,P@20,", 0) == 0);
  CHECK(lines[1].rfind("random,s,", 0) == 0);
  CHECK(lines[3].rfind("random,mean,", 0) == 0);
  CHECK(lines[4].rfind("\"odd, \"\"name\"\"\",s,", 0) == 0);
  const auto commas = [](const std::string& text) { return std::count(text.begin(), text.end(), ','); };
  for (std::size_t i = 1; i < lines.size(); ++i)
    CHECK(commas(lines[i]) == commas(lines[0]) + (i > 3 ? 1 : 0));
}
