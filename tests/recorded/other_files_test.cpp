// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/recorded/read_recording.hpp"
#include "kernelsearch/recorded/recording_summary.hpp"
#include "kernelsearch/recorded/write_recording.hpp"
#include "recordings.hpp"
#include "support/approx.hpp"

/// Files of other tools (tests/fixtures/others): what is read of each, and what others are called.
using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

std::filesystem::path others() {
  return std::filesystem::path(KERNELSEARCH_SOURCE_DIR) / "tests" / "fixtures" / "others";
}

Recording other(const std::string& file, const std::string& unit = "") {
  return read_recording(others() / file, {.unit = unit});
}

std::map<std::string, Evaluation> evaluations_of(const Recording& recording) {
  std::map<std::string, Evaluation> all;
  for (const RecordedTrial& trial : recording.trials)
    all.emplace(recording.space.key(trial.config), trial.evaluation);
  return all;
}

std::string refusal(const std::string& text, const ReadRecordingOptions& options = {}) {
  try {
    (void)parse_recording(text, "given", options);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

bool says(const Recording& recording, const std::string& words) {
  for (const std::string& note : recording.notes)
    if (has(note, words)) return true;
  return false;
}

std::string feature_text(const Evaluation& evaluation, const char* name) {
  const auto value = evaluation.features.find(name);
  return value ? std::to_string(*value) : "none";
}

}  // namespace

TEST_CASE("other files: KTT's JSON and XML have the same results") {
  for (const char* const file : {"ktt.json", "ktt.xml"}) {
    CAPTURE(file);
    const Recording recording = other(file);
    CHECK(recording.kernel == "blur");
    CHECK(recording.device == "Some GPU");
    CHECK(recording.format.starts_with("KTT results"));
    REQUIRE(recording.trials.size() == 5);
    CHECK(recording.space.tunable(1).name == "USE <LDS> & \"more\"");
    const auto all = evaluations_of(recording);
    CHECK(all.at("8,true").measurement.seconds == approx(250e-6));
    CHECK(all.at("16,false").measurement.seconds == approx(125e-6));
    CHECK(all.at("16,true").verdict == Verdict::wrong_result);
    CHECK(all.at("32,true").verdict == Verdict::rejected);
    CHECK(all.at("32,false").verdict == Verdict::build_failed);
    CHECK(all.at("8,true").phases.build == approx(3e-3));
    CHECK(all.at("8,true").phases.check == approx(0.5e-3));
    CHECK(recording.trials[0].framework_seconds == approx(1.5e-3));
    CHECK(feature_text(all.at("8,true"), "dram") == "7.500000");
    CHECK(feature_text(all.at("8,true"), "RegistersCount") == "32.000000");
  }
}

TEST_CASE("other files: KTT's unit is the file's, or asked for, or an error") {
  std::string text = recordings::text_of(others() / "ktt.json");
  const std::string unit = "\"TimeUnit\": \"Microseconds\", ";
  REQUIRE(has(text, unit));
  const std::string without = std::string(text).replace(text.find(unit), unit.size(), "");
  CHECK(has(refusal(without), "names no unit of time"));
  CHECK(summarize_recording(parse_recording(without, "x", {.unit = "ns"})).best_seconds == approx(125e-9));
  CHECK(has(refusal(text.replace(text.find("Microseconds"), 12, "Fortnights")), "Fortnights"));
}

TEST_CASE("other files: CLTune's kernels of one file are a tunable") {
  const Recording recording = other("cltune.json");
  CHECK(recording.device == "Some GPU");
  const auto all = evaluations_of(recording);
  REQUIRE(all.size() == 3);
  CHECK(all.at("16,16,gemm_fast").measurement.seconds == 0.75e-3);
  CHECK(all.at("8,16,gemm_plain").measurement.seconds == 2.5e-3);
  CHECK(says(recording, "`kernel` is a tunable"));
  const std::string alone =
      R"({"best_kernel": "Xaxpy", "device": "d", "results": [{"kernel": "Xaxpy", "time": 2, "parameters": {"VW": 1}},
         {"kernel": "Xaxpy", "time": 1, "parameters": {"VW": 2}}]})";
  const Recording clblast = parse_recording(alone, "clblast");
  CHECK(clblast.kernel == "Xaxpy");
  CHECK(clblast.space.size() == 1);
  CHECK(has(
      refusal(R"({"device_core_clock": "1", "results": [{"kernel": "a", "time": 2, "parameters": {"V": 1}},
         {"kernel": "b", "time": 1, "parameters": {"W": 2}}]})"),
      "have different tunables"));
}

TEST_CASE("other files: Triton's timings, its failures are Infinity") {
  const Recording recording = other("matmul.autotune.json");
  CHECK(recording.kernel == "matmul");
  CHECK(recording.problem_size == R"([512, 512, "torch.float16"])");
  const auto all = evaluations_of(recording);
  REQUIRE(all.size() == 4);
  CHECK(recording.space.tunable(0).name == "BLOCK");
  CHECK(recording.space.find("pre_hook") == std::nullopt);
  CHECK(all.at("64,4,1,2,None").measurement.seconds == 0.5e-3);
  CHECK(feature_text(all.at("64,4,1,2,None"), "quantile_20_seconds") == std::to_string(0.49e-3));
  CHECK(all.at("128,4,1,2,64").measurement.seconds == 0.25e-3);
  CHECK(all.at("256,8,1,4,None").verdict == Verdict::launch_failed);
  CHECK(all.at("256,8,1,2,None").verdict == Verdict::crashed);
  CHECK(has(refusal(R"({"configs_timings": []})"), "no whole record"));
  CHECK(has(refusal(R"({"configs_timings": [[{"kwargs": {"A": 1}}]]})"), "has no time"));
}

TEST_CASE("other files: BAT's results as JSON and as CSV") {
  for (const char* const file : {"bat.json", "bat.csv"}) {
    CAPTURE(file);
    const Recording recording = other(file);
    const auto all = evaluations_of(recording);
    REQUIRE(all.size() == 3);
    CHECK(all.at("64,1").measurement.seconds == approx(0.002));
    CHECK(all.at("64,1").phases.build == approx(0.5));
    CHECK(recording.trials[0].framework_seconds == approx(1.0));
    CHECK(all.at("128,1").verdict == Verdict::build_failed);
    CHECK(all.at("128,2").measurement.seconds == approx(0.002));  // 512 is no time
    CHECK(feature_text(all.at("128,2"), "objective") == "512.000000");
    CHECK(says(recording, "the objective of 1 result is not its time"));
  }
}

TEST_CASE("other files: nvbench's states, from JSON and from CSV") {
  for (const char* const file : {"nvbench.json", "nvbench.csv"}) {
    CAPTURE(file);
    const Recording recording = other(file);
    CHECK(recording.kernel == "copy");
    CHECK(recording.device == "Some GPU");
    const auto all = evaluations_of(recording);
    REQUIRE(all.size() == 2);
    CHECK(all.at("64,F32").measurement.seconds == 0.002);
    CHECK(all.at("128,F32").verdict == Verdict::rejected);
  }
  CHECK(evaluations_of(other("nvbench.json")).at("128,F32").reason == "Block too large.");
  std::string text = recordings::text_of(others() / "nvbench.json");
  text.replace(text.find("\"device\": 0"), 11, "\"device\": 1");
  CHECK(has(refusal(text), "results of several devices"));
}

TEST_CASE("other files: Google Benchmark's repetitions are samples, its arguments tunables") {
  const Recording recording = other("google_benchmark.json");
  CHECK(recording.kernel == "BM_sum");
  const auto all = evaluations_of(recording);
  REQUIRE(all.size() == 3);
  CHECK(recording.space.tunable(0).name == "arg1");
  CHECK(recording.space.tunable(1).name == "threads");
  CHECK(all.at("8,2").measurement.seconds == approx(3e-6));
  REQUIRE(all.at("8,2").measurement.shapes.size() == 1);
  CHECK(all.at("8,2").measurement.shapes[0].samples == std::vector<double>{2e-6, 4e-6});
  CHECK(all.at("128,2").reason == "too large");
  const std::string several =
      R"({"context": {}, "benchmarks": [{"name": "a/1", "real_time": 5, "time_unit": "ns"},
    {"name": "b", "real_time": 3, "time_unit": "ns"}]})";
  const Recording both = parse_recording(several, "several");
  CHECK(evaluations_of(both).at("b").measurement.seconds == approx(3e-9));
  CHECK(says(both, "the file has 2 benchmarks"));
  CHECK(has(
      refusal(R"({"context": {}, "benchmarks": [{"name": "a", "real_time": 5, "time_unit": "jiffies"}]})"),
      "jiffies"));
}

TEST_CASE("other files: Optuna's table is read when its unit is said") {
  const std::string text = recordings::text_of(others() / "optuna.csv");
  CHECK(has(refusal(text), "--unit ms"));
  CHECK(has(refusal(text, {.unit = "GFLOP/s"}), "higher is better"));
  const Recording recording = other("optuna.csv", "ms");
  CHECK(recording.space.tunable(0).name == "tile");
  const auto all = evaluations_of(recording);
  CHECK(all.at("16,2").measurement.seconds == approx(1.5e-3));
  CHECK(feature_text(all.at("16,2"), "registers") == "22.000000");
  CHECK(says(recording, "a time in ms"));
  const std::string header = "number,value,datetime_start,datetime_complete,duration,params_x,state\n";
  const Recording few = parse_recording(
      header + "0,,,,0 days 00:01:02.500000,1,FAIL\n1,2,,,,2,RUNNING\n2,3,,,,3,PRUNED\n3,4,,,,4,COMPLETE\n",
      "few", {.unit = "s"});
  CHECK(evaluations_of(few).at("1").verdict == Verdict::crashed);
  CHECK(evaluations_of(few).at("1").phases.measure == 62.5);
  CHECK(evaluations_of(few).at("3").verdict == Verdict::timed_out);
  CHECK(few.trials.size() == 3);
  CHECK(has(refusal(header + "0,1,,,,2,DONE\n", {.unit = "s"}), "the state DONE"));
}

TEST_CASE("other files: what cannot be read is called what it is") {
  const std::map<std::string, std::string> names = {
      {R"({"triton_version": "3.4.0", "1": {"BLOCK_SIZE_M": 16}})", "winner for each size"},
      {R"({"1": {"BLOCK_SIZE_M": 16, "num_warps": 4}})", "winner for each size"},
      {R"({"hash": "x", "target": {}, "num_warps": 4, "shared": 0, "name": "k"})",
       "cache of compiled kernels"},
      {R"({"child_paths": {"k.ttir": "x"}})", "cache of compiled kernels"},
      {R"({"XBLOCK": 1, "configs_hash": "c", "found_by_coordesc": false})", "TorchInductor's cached choice"},
      {R"({"op_code": 0, "study_name": "s"})", "Optuna's journal"},
      {R"({"input": ["cuda"], "config": {"index": 1, "entity": []}, "result": []})", "AutoTVM"},
      {"# pre-tuned\n# parameters\n{\"input\": [], \"config\": {\"index\": 1, \"entity\": []}}\n", "AutoTVM"},
      {"# a,b\n1,2\n", "neither JSON nor a table"},
      {"# nothing", "neither JSON nor a table"},
      {R"({"ConfigurationSpace": {}})", "a T1 file"},
      {R"({"$schema": "http://json-schema.org/"})", "a JSON schema"},
      {R"({"machine_info": {}, "benchmarks": [{"name": "x"}]})", "pytest-benchmark"},
      {R"({"results": [{"command": "sleep 1"}]})", "hyperfine"},
      {"\"Name\",\"State\",\"Created\",\"Runtime\",\"tile\"\n\"a\",\"finished\",\"x\",\"3\",\"4\"\n",
       "W&B's runs"},
      {"\"Step\",\"run - loss\",\"run - loss__MIN\"\n", "W&B chart"},
      {"number,values_0,values_1,params_x,state\n0,1,2,3,COMPLETE\n", "several objectives"},
      {"Kernel name,Computation duration (us),Global size,Local size,x\n", "KTT's CSV"},
      {"name,iterations,real_time,cpu_time,time_unit\n", "Google Benchmark's CSV"},
      {"name;time;TBX;\n", "PrintToFile"},
      {"SQLite format 3\n ... CREATE TABLE studies (x)", "Optuna's SQLite storage"},
      {"\x89HDF\r\n", "HDF5"},
      {"PK\x03\x04zip", "a packed archive"},
      {"\x80\x04\x95pickle", "a pickle"},
      {"\xff\xfe{", "UTF-16"},
      {"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"},
      {"<!DOCTYPE html><html></html>", "a web page"},
      {"<?xml version=\"1.0\"?><!-- x --><other/>", "XML of an unknown layout"},
      {"[{\"a\": 1}]", "a JSON list"},
      {"{\"a\": 1}", "JSON without records"},
      {"a,b\n1,2\n", "neither JSON nor a table"},
      {" \n", "it is empty"},
      {"\xef\xbb\xbf", "neither JSON nor a table"},
  };
  for (const auto& one : names) {
    const auto& text = one.first;  // no structured binding: clang 14 captures none
    CAPTURE(text);
    CHECK(has(refusal(text), one.second));
  }
}

TEST_CASE("other files: a sign may stand at the end, a weak one counts last") {
  CHECK(has(refusal(R"({"metadata": {"a": 1}})"), "T4 metadata"));
  const std::string t4 = R"({"metadata": {"timeunit": "s"}, "results": [{"configuration": {"x": 1},
    "times": {"runtimes": [2]}, "invalidity": "correct"}]})";
  CHECK(summarize_recording(parse_recording(t4, "x")).best_seconds == 2);
  const std::string mark = "\xef\xbb\xbf";
  CHECK(summarize_recording(parse_recording(mark + t4, "x")).best_seconds == 2);
  const std::string without = R"({"results": [{"configuration": {"x": 1}, "times": {"runtimes": [2]},
    "invalidity": "correct"}]})";
  CHECK(summarize_recording(parse_recording(without, "x")).best_seconds == 0.002);
  CHECK(summarize_recording(parse_recording(without, "x", {.unit = "us"})).best_seconds == approx(2e-6));
}

TEST_CASE("other files: cut at every byte or damaged, each is read or refused with words") {
  Rng rng(11);
  for (const auto& entry : std::filesystem::directory_iterator(others())) {
    const std::string text = recordings::text_of(entry.path());
    CAPTURE(entry.path().filename().string());
    const auto given = [&](const std::string& damaged) {
      try {
        const Recording recording = parse_recording(damaged, "x", {.unit = "ms"});
        (void)summarize_recording(recording);
        const Recording again = parse_recording(t4_text(recording), "again");
        CHECK(again.trials.size() == recording.trials.size());
        for (std::size_t i = 0; i < again.trials.size() && i < recording.trials.size(); ++i)
          CHECK(again.trials[i].evaluation.verdict == recording.trials[i].evaluation.verdict);
      } catch (const ConfigError& error) {
        CHECK(std::string(error.what()).size() > 20);
      }
    };
    for (std::size_t end = 0; end < text.size(); end += 3) given(text.substr(0, end));
    constexpr std::string_view letters = "{}[]\",:<>/=\\0N-\n\xff";
    for (int i = 0; i < 300; ++i) {
      std::string damaged = text;
      for (int k = 0; k < 3; ++k) damaged[rng.below(damaged.size())] = letters[rng.below(letters.size())];
      given(damaged);
    }
    std::string infinite;
    for (const char c : text) infinite += c >= '1' && c <= '9' ? '9' : c;
    given(infinite);
  }
  std::string deep(100000, '[');
  CHECK(!refusal(deep).empty());
  CHECK(!refusal("{\"results\": " + deep).empty());
  std::string tags;
  for (int i = 0; i < 100000; ++i) tags += "<TuningData>";
  CHECK(!refusal(tags).empty());
}
