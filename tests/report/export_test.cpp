// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/export.hpp"

#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/report/summary.hpp"
#include "kernelsearch/store/json.hpp"
#include "support/random_outcome.hpp"
#include "support/stored_run.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;
using nlohmann::json;

namespace {

/// A run with every kind of trial, and what was written.
struct Exported {
  Exported() {
    Rng rng(11);
    run = store.begin_run({.name = "r",
                           .problem = "mat,mul \"x\"",
                           .policy = "random",
                           .seed = 7,
                           .device = "cpu",
                           .toolchain = "g++ 12",
                           .environment = "{\"clock\":3}"});
    for (std::uint64_t i = 0; i < 300; ++i) {
      StoredTrial trial;
      trial.point = "[1]";
      trial.outcome = random_outcome::outcome(rng, i);
      trial.elapsed = rng.uniform();
      if (has_candidate(trial.outcome.evaluation.verdict))
        trial.candidate =
            StoredCandidate{"k", "[1]", random_outcome::awkward_text(rng),
                            i % 2 == 0 ? R"({"TILE":16,"FAST":true,"S":"a,\"b"})" : R"({"TILE":0.1})"};
      store.add_trial(run, {}, trial);
    }
    store.add_inner(run, TrialId{2}, {5, "inner", Evaluation::succeeded(0.5)});
    trials = store.trials(run);
  }
  std::string as(ExportFormat format) const {
    std::ostringstream out;
    export_run(store, run, format, out);
    return out.str();
  }
  TemporaryFolder folder;
  RunStore store{folder / "runs.db"};
  RunId run{};
  std::vector<StoredTrial> trials;
};

/// A reader of RFC 4180 that knows nothing of the writer: records of fields.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> records(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::string& field = records.back().back();
    if (quoted) {
      if (c != '"')
        field += c;
      else if (i + 1 < text.size() && text[i + 1] == '"')
        field += text[++i];
      else
        quoted = false;
    } else if (c == '"') {
      REQUIRE(field.empty());
      quoted = true;
    } else if (c == ',') {
      records.back().emplace_back();
    } else if (c == '\r') {
      REQUIRE(text.at(++i) == '\n');
      records.push_back({""});
    } else {
      REQUIRE(c != '\n');
      field += c;
    }
  }
  REQUIRE_FALSE(quoted);
  REQUIRE(records.back() == std::vector<std::string>{""});
  records.pop_back();
  return records;
}

}  // namespace

TEST_CASE("export: format names") {
  for (const auto format :
       {ExportFormat::json_lines, ExportFormat::csv, ExportFormat::t4, ExportFormat::t4_metadata})
    CHECK(export_format_from(to_string(format)) == format);
  CHECK_FALSE(export_format_from("xml"));
}

TEST_CASE("export: JSON Lines hold one trial a line with everything") {
  const Exported exported;
  std::istringstream in(exported.as(ExportFormat::json_lines));
  std::size_t i = 0;
  for (std::string line; std::getline(in, line); ++i) {
    const json object = json::parse(line);
    const StoredTrial& trial = exported.trials.at(i);
    REQUIRE(random_outcome::same(object.get<Outcome>(), trial.outcome));
    REQUIRE(object["position"] == trial.position);
    REQUIRE(object["elapsed"] == trial.elapsed);
    REQUIRE(object["at"] == trial.at);
    REQUIRE(object["point"] == json::array({1}));
    REQUIRE(object.contains("candidate") == trial.candidate.has_value());
    if (trial.candidate) {
      REQUIRE(object["candidate"]["key"] == trial.candidate->key);
      REQUIRE(object["candidate"]["values"] == json::parse(trial.candidate->values));
    }
    REQUIRE(object["run"]["problem"] == "mat,mul \"x\"");
    REQUIRE(object["run"]["seed"] == 7);
    REQUIRE(object.contains("inner") == (i == 2));
    if (i == 2) REQUIRE(object["inner"][0]["evaluation"]["measurement"]["seconds"] == 0.5);
  }
  CHECK(i == exported.trials.size());
}

TEST_CASE("export: CSV reads back by RFC 4180 with the same numbers") {
  const Exported exported;
  const auto records = read_csv(exported.as(ExportFormat::csv));
  REQUIRE(records.size() == exported.trials.size() + 1);
  std::map<std::string, std::size_t> column;
  for (std::size_t c = 0; c < records[0].size(); ++c) column[records[0][c]] = c;
  CHECK(column.size() == records[0].size());
  CHECK(records[0][0] == "run");
  CHECK(records[0][8] == "verdict");
  CHECK(records[0][28] == "provenance");
  CHECK(records[0][29] == "tunable.FAST");
  for (std::size_t i = 0; i < exported.trials.size(); ++i) {
    const auto& record = records[i + 1];
    REQUIRE(record.size() == records[0].size());
    const auto field = [&](const char* name) { return record.at(column.at(name)); };
    const StoredTrial& trial = exported.trials[i];
    const Evaluation& evaluation = trial.outcome.evaluation;
    REQUIRE(field("problem") == "mat,mul \"x\"");
    REQUIRE(field("verdict") == to_string(evaluation.verdict));
    // A carriage return of its own commands a terminal, one at the end of a line stays.
    const auto shown = [](const std::string& text) {
      std::string kept;
      for (std::size_t k = 0; k < text.size(); ++k)
        if (text[k] != '\r' || (k + 1 < text.size() && text[k + 1] == '\n')) kept += text[k];
      return kept;
    };
    REQUIRE(field("reason") == shown(evaluation.reason));
    REQUIRE(field("provenance") == shown(evaluation.provenance));
    REQUIRE(std::strtod(field("elapsed_seconds").c_str(), nullptr) == trial.elapsed);
    if (trial.outcome.ok()) {
      REQUIRE(std::strtod(field("seconds").c_str(), nullptr) == evaluation.measurement.seconds);
      REQUIRE(std::strtod(field("objective").c_str(), nullptr) == trial.outcome.objective);
      REQUIRE(field("speedup").empty() != evaluation.measurement.speedup.has_value());
    } else {
      REQUIRE(field("seconds").empty());
      REQUIRE(field("objective").empty());
    }
    if (trial.candidate) {
      REQUIRE(field("config_key") == trial.candidate->key);
      REQUIRE(field("tunable.TILE") == (i % 2 == 0 ? "16" : "0.1"));
      REQUIRE(field("tunable.S") == (i % 2 == 0 ? "a,\"b" : ""));
    }
    for (const auto& [name, value] : evaluation.features)
      REQUIRE(std::strtod(field(("feature." + name).c_str()).c_str(), nullptr) == value);
  }
}

TEST_CASE("export: T4 has what its schema requires, of the types it requires") {
  const Exported exported;
  const json document = json::parse(exported.as(ExportFormat::t4));
  CHECK(document.at("schema_version") == "1.0.0");
  CHECK(document.at("metadata").at("timeunit") == "milliseconds");
  std::vector<const StoredTrial*> tried;
  for (const StoredTrial& trial : exported.trials)
    if (trial.candidate) tried.push_back(&trial);
  const json& results = document.at("results");
  REQUIRE(results.is_array());
  REQUIRE(results.size() == tried.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const json& result = results[i];
    const Evaluation& evaluation = tried[i]->outcome.evaluation;
    REQUIRE(result.at("timestamp").is_string());
    REQUIRE(result.at("configuration") == json::parse(tried[i]->candidate->values));
    REQUIRE(result.at("objectives") == json::array({"time"}));
    const json& times = result.at("times");
    for (const char* const name : {"compilation_time", "compilation", "benchmark", "validation"})
      REQUIRE(times.at(name).is_number());
    REQUIRE(times["compilation_time"].get<double>() == evaluation.phases.build * 1e3);
    REQUIRE(times.at("runtimes").is_array());
    const std::string invalidity = result.at("invalidity");
    const std::map<Verdict, std::string> expected{{Verdict::ok, "correct"},
                                                  {Verdict::rejected, "constraints"},
                                                  {Verdict::build_failed, "compile"},
                                                  {Verdict::launch_failed, "runtime"},
                                                  {Verdict::crashed, "runtime"},
                                                  {Verdict::timed_out, "timeout"},
                                                  {Verdict::wrong_result, "correctness"},
                                                  {Verdict::cheated, "correctness"}};
    REQUIRE(invalidity == expected.at(evaluation.verdict));
    REQUIRE(result.at("correctness").is_number());
    REQUIRE((result["correctness"] == 1.0) ==
            (invalidity == "correct" ||
             (evaluation.verdict == Verdict::wrong_result && evaluation.progress >= 0.75)));
    for (const json& measurement : result.at("measurements")) {
      REQUIRE(measurement.at("name").is_string());
      const json& value = measurement.at("value");
      REQUIRE((value.is_number() || value.is_string() || value.is_array()));
      REQUIRE(measurement.at("unit").is_string());
    }
    if (evaluation.verdict == Verdict::ok && evaluation.measurement.shapes.size() == 1)
      REQUIRE(times["runtimes"].size() == evaluation.measurement.shapes[0].samples.size());
  }
  const json metadata = json::parse(exported.as(ExportFormat::t4_metadata));
  CHECK(metadata.at("schema_version") == "1.0.0");
  CHECK(metadata.at("metadata").at("hardware").at("hardware_description").at(0).at("device") == "cpu");
  CHECK(metadata.at("metadata").at("hardware").at("operating_system") == "Linux");
  CHECK(metadata.at("metadata").at("environment").at("device_query") == json{{"clock", 3}});
  CHECK(metadata.at("metadata").at("environment").at("requirements").at(1) == "g++ 12");
}

TEST_CASE("export: no text of a store of others commands the terminal that shows an export") {
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  const std::string evil = "\x1b[2J\xe2\x80\xae\x07\xc2\x9b\x7f";
  const RunId run =
      store.begin_run({.name = evil, .problem = evil, .policy = evil, .device = evil, .toolchain = evil});
  StoredTrial trial;
  trial.point = R"({"kind":"rewrite","parents":[],"strategies":[")" + std::string("\xe2\x80\xae") +
                R"("],"variant":0})";
  trial.candidate = StoredCandidate{"", "[0]", evil, R"({"A":")" + std::string("\xe2\x80\xae") + R"("})"};
  trial.outcome.evaluation = Evaluation::succeeded(1.0);
  trial.outcome.evaluation.provenance = evil;
  trial.outcome.objective = 1.0;
  trial.outcome.rationale = evil;
  store.add_trial(run, {}, trial);
  for (const ExportFormat format : {ExportFormat::json_lines, ExportFormat::csv, ExportFormat::t4,
                                    ExportFormat::t4_metadata, ExportFormat::dot}) {
    CAPTURE(to_string(format));
    std::ostringstream out;
    export_run(store, run, format, out);
    std::string text = out.str();
    std::erase(text, '\r');
    CHECK(clean_text(text) == text);
    if (format == ExportFormat::json_lines) CHECK(json::parse(text)["run"]["name"] == evil);
  }
  const std::string summary = run_summary(store, run);
  CHECK(clean_text(summary) == summary);
}

TEST_CASE("export: a run without trials, a run that is not there, a stream that fails") {
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  const RunId run = store.begin_run({.name = "empty"});
  std::ostringstream out;
  export_run(store, run, ExportFormat::t4, out);
  CHECK(json::parse(out.str()).at("results").empty());
  CHECK_THROWS_AS(export_run(store, RunId{9}, ExportFormat::csv, out), StoreError);
  out.setstate(std::ios::badbit);
  CHECK_THROWS_AS(export_run(store, run, ExportFormat::csv, out), StoreError);
}

TEST_CASE("export: trials that are in no store are written alike, without inner trials") {
  const Exported run;
  for (const ExportFormat format : {ExportFormat::csv, ExportFormat::t4, ExportFormat::json_lines}) {
    CAPTURE(to_string(format));
    std::ostringstream out;
    export_trials(run.store.run(run.run), run.trials, format, out);
    if (format == ExportFormat::json_lines) {
      CHECK(out.str().find("\"inner\"") == std::string::npos);
      CHECK(run.as(format).find("\"inner\"") != std::string::npos);
    } else {
      CHECK(out.str() == run.as(format));
    }
  }
}

TEST_CASE("export: a trace has each trial with its phases inside, on as many lanes as there were at a time") {
  StoredRun stored;  // trials told at 0, 1, 2, 3 s; the first two take a second, the failures nothing
  Evaluation overlapping = StoredRun::trial_of(3e-3, {}, 1.0);
  overlapping.phases = {1.5, 0, 1.0};
  stored.add(5, 1, overlapping);  // from 2.5 to 5 s
  Evaluation during = StoredRun::trial_of(3e-3, {}, 1.0);
  during.phases = {0.5, 0, 0};
  stored.add(4, 1, during);  // from 3.5 to 4 s
  std::ostringstream out;
  export_run(stored.store, stored.run, ExportFormat::trace, out);
  const json trace = json::parse(out.str());
  CHECK(trace["traceEvents"][0]["args"]["name"] == "kernelsearch: axpy 2");
  std::map<std::string, json> trials;
  std::size_t phases = 0;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    if (event["name"].get<std::string>().rfind("trial ", 0) == 0)
      trials[event["name"]] = event;
    else
      ++phases;
  }
  REQUIRE(trials.size() == 4);
  CHECK(phases == 3 + 3 + 2 + 1);
  CHECK(trials["trial 1"]["ts"] == 0.0);
  CHECK(trials["trial 1"]["dur"] == 1e6);
  CHECK(trials["trial 1"]["args"]["seconds"] == 1e-3);
  CHECK(trials["trial 1"]["args"]["settings"]["TILE"] == 8);
  CHECK(trials["trial 5"]["ts"] == 2.5e6);
  CHECK(trials["trial 5"]["tid"] == 0);
  CHECK(trials["trial 4"]["tid"] == 1);
}

TEST_CASE("export: a trace has what the run wrote down on lanes with names") {
  StoredRun stored;
  stored.store.add_spans(stored.run, std::vector<RunSpan>{{"build", "", TrialId{1}, 0, 2},
                                                          {"build", "", TrialId{2}, 1, 2},
                                                          {"wait", "GPU 1", TrialId{1}, 2, 3},
                                                          {"measure", "GPU 1", TrialId{1}, 3, 3.5},
                                                          {"measure", "GPU 0", TrialId{2}, 3, 3.5},
                                                          {"model", "", {}, 4, 6}});
  std::ostringstream out;
  export_run(stored.store, stored.run, ExportFormat::trace, out);
  std::map<int, std::string> lanes;
  std::map<std::string, std::pair<std::string, json>> bars;
  const json trace = json::parse(out.str());
  for (const json& event : trace["traceEvents"])
    if (event["ph"] == "M" && event["name"] == "thread_name") lanes[event["tid"]] = event["args"]["name"];
  for (const json& event : trace["traceEvents"])
    if (event["ph"] == "X") bars[event["name"]] = {lanes[event["tid"]], event};
  REQUIRE(bars.size() == 6);
  CHECK(bars["build of trial 1"].first == "build 1");
  CHECK(bars["build of trial 2"].first == "build 2");
  CHECK(bars["wait of trial 1"].first == "queue 1");
  CHECK(bars["measure of trial 1"].first == "GPU 1");
  CHECK(bars["measure of trial 2"].first == "GPU 0");
  CHECK(bars["model"].first == "model 1");
  CHECK(bars["measure of trial 1"].second["ts"] == 3e6);
  CHECK(bars["measure of trial 1"].second["dur"] == 0.5e6);
  CHECK(bars["measure of trial 1"].second["args"]["settings"]["TILE"] == 8);
  CHECK(bars["model"].second["args"].empty());
}
