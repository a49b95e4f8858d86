// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/render_report.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "kernelsearch/core/error.hpp"
#include "support/count_in.hpp"
#include "support/stored_run.hpp"

using namespace kernelsearch;

namespace {

constexpr const char* attack = "</script><script>alert(1)</script><!-- \xe2\x80\xa8 & \"' \x1b[2J";

/// A run whose every text wants to become markup.
ReportModel hostile_report(const TemporaryFolder& folder) {
  RunStore store(folder / "runs.db");
  const RunId run = store.begin_run({.name = attack,
                                     .problem = attack,
                                     .policy = attack,
                                     .generator = attack,
                                     .evaluator = attack,
                                     .device = attack,
                                     .toolchain = attack});
  StoredTrial trial;
  trial.point = to_json_text(Move{MoveKind::rewrite, {}, {attack}, 0});
  trial.candidate = StoredCandidate{"digest", "[]", "", nlohmann::json{{attack, attack}}.dump()};
  trial.outcome.objective = 1e-3;
  trial.outcome.evaluation = Evaluation::succeeded(1e-3);
  trial.outcome.evaluation.provenance = attack;
  trial.outcome.evaluation.features.set(attack, 1);
  trial.outcome.rationale = attack;
  ShapeMeasurement shape;
  shape.shape = attack;
  trial.outcome.evaluation.measurement.shapes = {shape};
  store.add_trial(run, {}, trial, StoredKernel{"digest", attack, attack, attack});
  trial.position = 1;
  trial.outcome.id = TrialId{1};
  trial.outcome.evaluation = Evaluation::failed(Verdict::build_failed, attack);
  store.add_trial(run, {}, trial);
  store.end_run(run, attack, 1.0);
  ReportExtras extras;
  extras.exchanges.push_back({attack, attack, {{attack, attack}}, attack, attack, 1, 1, 1, attack, 1.0, {}});
  extras.checkpoints.push_back({attack, attack, TrialId{0}, attack, attack, true, true, {attack}});
  extras.memory.push_back({1, {attack}, attack, attack, attack, Verdict::ok, {}});
  extras.peaks = DevicePeaks{attack, attack, {}, {}, {}, {{attack, 1, 1}}};
  return report_of(store, run, extras);
}

}  // namespace

TEST_CASE("report_json: what a page needs, by column, and the same numbers") {
  StoredRun stored;
  const ReportModel report = report_of(stored.store, stored.run);
  const auto json = nlohmann::json::parse(report_json({&report, 1}));
  const auto& run = json["runs"][0];
  CHECK(json["verdicts"][3] == "build_failed");
  CHECK(run["run"]["problem"] == "axpy 2");
  CHECK(run["winner"] == 1);
  CHECK(run["trials"]["id"] == nlohmann::json{0, 1, 2, 3});
  CHECK(run["trials"]["seconds"] == nlohmann::json{2e-3, 1e-3, nullptr, nullptr});
  CHECK(run["trials"]["speedup"][1] == nlohmann::json{4.0, 3.9, 4.1, 30});
  CHECK(run["trials"]["verdict"] == nlohmann::json{0, 0, 3, 7});
  CHECK(run["texts"][run["trials"]["reason"][2].get<std::size_t>()] == "no");
  CHECK(run["details"]["1"]["shapes"][0]["shape"] == "small");
  CHECK(run["details"]["1"]["features"]["bytes"] == 12);
  const std::string kernel = std::to_string(run["trials"]["kernel"][0].get<std::size_t>());
  CHECK(run["kernels"][kernel][0] == stored.kernel->regions.device);
  CHECK(run["explained"].is_null());
  CHECK(run["peaks"].is_null());
}

TEST_CASE("report_html: no text of a run becomes markup, and the page may connect to nothing") {
  const TemporaryFolder folder;
  const ReportModel report = hostile_report(folder);
  const std::string page = report_html({&report, 1});
  CHECK(page.rfind("<!DOCTYPE html>", 0) == 0);
  CHECK(count_in(page, "<script") == 2);  // the data and the page's own
  CHECK(count_in(page, "</script") == 2);
  CHECK(count_in(page, "<!--") == 0);
  CHECK(count_in(page, "alert(1)") > 10);  // as text
  CHECK(page.find("\xe2\x80\xa8", page.find("<script")) == std::string::npos);
  CHECK(count_in(page, "\x1b") == 0);
  CHECK(count_in(page, "default-src 'none'") == 1);
  CHECK(count_in(page, "connect-src 'none'") == 1);
  CHECK(count_in(page, "unsafe") == 0);
  CHECK(count_in(page, "http://") == count_in(page, "http://www.w3.org/2000/svg"));
  CHECK(count_in(page, "https://") == 0);
  const std::string json = report_json({&report, 1});
  CHECK(json.find_first_of("<>&") == std::string::npos);
  CHECK(json.find("\xe2\x80\xa8") == std::string::npos);
  const auto read = nlohmann::json::parse(json);
  std::string told = attack;
  told.replace(told.find('\x1b'), 1, "\xef\xbf\xbd");
  CHECK(read["runs"][0]["exchanges"][0]["reply"] == told);
}

TEST_CASE("report_json: which trials wrote outside of their arrays, where any did") {
  RunRow run;
  std::vector<StoredTrial> trials(3);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    trials[i].point = "[]";
    trials[i].outcome.id = TrialId{i};
    trials[i].outcome.evaluation = Evaluation::failed(Verdict::cheated, "the same words");
  }
  const ReportModel plain = report_of(run, trials);
  CHECK(!nlohmann::json::parse(report_json({&plain, 1}))["runs"][0]["trials"].contains("out_of_bounds"));
  trials[1].outcome.evaluation.overrun = Overrun{"y", 9, 9};
  const ReportModel report = report_of(run, trials);
  const auto told = nlohmann::json::parse(report_json({&report, 1}))["runs"][0];
  CHECK(told["trials"]["out_of_bounds"] == nlohmann::json{false, true, false});
  CHECK(told["trials"]["verdict"][1] == static_cast<int>(Verdict::cheated));
  CHECK(told["failures"][0]["verdict"] == "cheated");
  CHECK(told["failures"][1]["verdict"] == "out_of_bounds");
}

TEST_CASE("report_json: cost, checkpoints, memory and causes of waiting of the runs that have them") {
  StoredRun stored;
  const auto plain = report_of(stored.store, stored.run);
  const auto without = nlohmann::json::parse(report_json({&plain, 1}))["runs"][0];
  CHECK_FALSE(without["trials"].contains("tokens"));
  CHECK_FALSE(without["trials"].contains("money"));
  CHECK(without["checkpoints"].empty());
  CHECK(without["times"].is_null());
  stored.store.add_times(stored.run, {.model = 2.0, .measuring = 1.0});
  ReportExtras extras;
  extras.exchanges.push_back({"coder", "m", {}, "talk", "", 7, 8, 0.5, "", 0.5, {}});
  extras.checkpoints.push_back({"fast", "start", TrialId{1}, "tiling", "mine", true, false, {"main"}});
  extras.memory.push_back(
      {9, {"tiling"}, "gpu", "memory", "at", Verdict::ok, ChangeEffect{2.0, {1.5, 2.5}, true}});
  const ReportModel report = report_of(stored.store, stored.run, extras);
  const auto run = nlohmann::json::parse(report_json({&report, 1}))["runs"][0];
  CHECK(run["trials"]["tokens"] == nlohmann::json({0, 0, 0, 15}));
  CHECK(run["trials"]["money"] == nlohmann::json({0.0, 0.0, 0.0, 0.5}));
  CHECK(run["times"]["waiting for models"] == 2.0);
  CHECK(run["times"]["measuring"] == 1.0);
  const auto& checkpoint = run["checkpoints"][0];
  CHECK(checkpoint["name"] == "fast");
  CHECK(checkpoint["parent"] == "start");
  CHECK(checkpoint["trial"] == 1);
  CHECK(checkpoint["closed"] == true);
  CHECK(checkpoint["current"] == false);
  CHECK(checkpoint["tips"][0] == "main");
  CHECK(run["memory"][0]["number"] == 9);
  CHECK(run["memory"][0]["effect"] == nlohmann::json({2.0, 1.5, 2.5}));
  CHECK(run["run"]["title"] == "Run 1: first of axpy 2");
}

TEST_CASE("write_report: the file is replaced whole, a link stays one, and what cannot be written says why") {
  const TemporaryFolder folder;
  const auto text_of = [](const std::filesystem::path& file) {
    std::ifstream in(file);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  write_report(folder / "page.html", "old");
  std::filesystem::create_hard_link(folder / "page.html", folder / "opened");
  std::filesystem::create_symlink(folder / "page.html", folder / "link.html");
  write_report(folder / "link.html", "new");
  CHECK(std::filesystem::is_symlink(folder / "link.html"));
  CHECK(text_of(folder / "page.html") == "new");
  CHECK(text_of(folder / "opened") == "old");  // who has it open reads on: nothing was truncated
  CHECK_THROWS_AS(write_report(folder / "none" / "page.html", "x"), ConfigError);
  CHECK_THROWS_AS(write_report(folder.path(), "x"), ConfigError);
  CHECK_NOTHROW(write_report("/dev/null", "x"));
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("report_html: another page has another nonce, and the same run the same page") {
  StoredRun stored;
  const ReportModel report = report_of(stored.store, stored.run);
  const std::string page = report_html({&report, 1});
  CHECK(page == report_html({&report, 1}));
  const auto nonce = [](const std::string& text) { return text.substr(text.find("'nonce-") + 7, 64); };
  const std::vector<ReportModel> two{report, report};
  CHECK(nonce(page) != nonce(report_html(two)));
  CHECK(count_in(page, "nonce=\"" + nonce(page) + "\"") == 2);
}

TEST_CASE("report_markdown: tables, and no text of a run is markup") {
  StoredRun stored;
  const ReportModel report = report_of(stored.store, stored.run);
  const std::string text = report_markdown({&report, 1});
  CHECK(text.rfind("# Run 1: first of axpy 2\n", 0) == 0);
  CHECK(text.find("| 1 | 1.000 ms | 990.0 us to 1.010 ms | 4.00x (3.90 to 4.10) | FAST=true ORDER=\\[0, 1\\] "
                  "TILE=8 |") != std::string::npos);
  CHECK(text.find("| 1 | build\\_failed | 2 | no |") != std::string::npos);
  CHECK(text.find("## Code of trial 1") != std::string::npos);
  const TemporaryFolder folder;
  const ReportModel hostile = hostile_report(folder);
  const std::string escaped = report_markdown({&hostile, 1});
  for (std::size_t at = escaped.find("| "); at != std::string::npos; at = escaped.find("| ", at + 1))
    CHECK(escaped[at + 2] != '<');
}

TEST_CASE("report_svg: a line for each run, well-formed whatever their names") {
  StoredRun stored;
  const ReportModel report = report_of(stored.store, stored.run);
  const TemporaryFolder folder;
  const std::vector<ReportModel> two{report, hostile_report(folder)};
  const std::string svg = report_svg(two);
  CHECK(count_in(svg, "<path class=\"best\"") == 4);  // over trials and over time
  CHECK(count_in(svg, "<script") == 0);
  CHECK(count_in(svg, "Run 1: first of axpy 2, 1.000 ms") == 1);
  CHECK(count_in(svg, "nan") + count_in(svg, "inf") == 0);
  ReportModel empty;
  CHECK(report_svg({&empty, 1}).find("no candidate was right") != std::string::npos);
}
