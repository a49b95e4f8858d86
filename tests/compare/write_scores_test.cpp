// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/compare/write_scores.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
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

TEST_CASE("scores_to_json and scores_to_csv: what was not scored is counted where there is any") {
  ComparedScores compared;
  CHECK_FALSE(nlohmann::json::parse(scores_to_json(compared.scores))["random"]["spaces"]["t"].contains(
      "ended_early"));
  compared.scores[0].spaces[1].dropped_unknown = 4;
  compared.scores[0].spaces[1].dropped_outside = 3;
  compared.scores[0].spaces[1].ended_early = 2;
  const auto space = nlohmann::json::parse(scores_to_json(compared.scores))["random"]["spaces"]["t"];
  CHECK(space["dropped_unknown"] == 4);
  CHECK(space["dropped_outside"] == 3);
  CHECK(space["ended_early"] == 2);
  CHECK(scores_to_csv(compared.scores).find(",0,4,3,2\n") != std::string::npos);
}

TEST_CASE("scores_to_latex: a table of booktabs in which every name stands for itself") {
  ComparedScores compared;
  const std::string odd = "[50%] a_b & {c} \\x ~y^z #$";
  compared.scores[1].strategy = odd;
  compared.paired[0].strategy = odd;
  compared.paired[0].areas[0].mean = -0.125;
  compared.paired[0].areas[0].adjusted_p = 0.0001;
  compared.scores[0].n5 = std::numeric_limits<double>::infinity();
  compared.scores[0].n5_reached = 0.5;
  compared.scores[0].areas[0] = {0.5, Interval{0.25, 0.75}};
  compared.scores[1].areas[0] = {-0.5, Interval{-0.75, -0.25}};
  const std::string latex = scores_to_latex(compared.scores, {"random", compared.paired});
  const auto has = [&latex](const std::string& part) {
    INFO(latex, "\nwanted: ", part);
    CHECK(latex.find(part) != std::string::npos);
  };
  has("\\usepackage{booktabs}");
  has("\\begin{tabular}{lrrrrrrr}\n    \\toprule\n    Policy & $P$ & $P@20$ & $P@60$ & ratio@60 & $n_5$ & "
      "$\\Delta P$ & $p$ \\\\\n    \\midrule\n");
  has("    random & $\\mathbf{0.50}$ {\\footnotesize $[0.25, 0.75]$} & ");
  has(" & -- (50\\,\\%) & -- & -- \\\\\n");
  has("    {[}50\\%{]} a\\_b \\& \\{c\\} \\textbackslash{}x \\textasciitilde{}y\\textasciicircum{}z \\#\\$ & "
      "$-0.50$ {\\footnotesize $[-0.75, -0.25]$} & ");
  has(" & $-0.12$ & $<0.001$ \\\\\n    \\bottomrule\n");
  // A row has as many cells as the heading, and braces close.
  std::istringstream in(latex);
  int rows = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.size() < 2 || line.substr(line.size() - 2) != "\\\\") continue;
    ++rows;
    std::size_t cells = 1;
    for (std::size_t i = 1; i < line.size(); ++i) cells += line[i] == '&' && line[i - 1] != '\\' ? 1 : 0;
    CHECK(cells == 8);
  }
  CHECK(rows == 3);
  const std::string alone = scores_to_latex(compared.scores);
  CHECK(alone.find("Delta") == std::string::npos);
  CHECK(alone.find("\\begin{tabular}{lrrrrr}") != std::string::npos);
}
