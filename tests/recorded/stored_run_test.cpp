// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/recorded/stored_run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/report/export.hpp"
#include "recordings.hpp"
#include "support/stored_run.hpp"

using namespace kernelsearch;

namespace {

void check_same(const Recording& a, const Recording& b, bool samples = true) {
  REQUIRE(a.trials.size() == b.trials.size());
  CHECK(a.kernel == b.kernel);
  CHECK(a.device == b.device);
  for (std::size_t i = 0; i < a.trials.size(); ++i) {
    CAPTURE(i);
    CHECK(a.space.values(a.trials[i].config) == b.space.values(b.trials[i].config));
    const Evaluation &left = a.trials[i].evaluation, &right = b.trials[i].evaluation;
    CHECK(left.verdict == right.verdict);
    CHECK(left.reason == right.reason);
    CHECK(left.measurement.seconds == right.measurement.seconds);
    CHECK(left.measurement.interval == right.measurement.interval);
    CHECK(left.phases.total() == right.phases.total());
    CHECK(left.features == right.features);
    if (samples) CHECK(left.measurement.shapes.size() == right.measurement.shapes.size());
    if (left.measurement.speedup) CHECK(left.measurement.speedup->ratio == right.measurement.speedup->ratio);
  }
}

}  // namespace

TEST_CASE("stored run: every trial with its configuration, reasons and samples") {
  const StoredRun stored;
  const Recording recording = recording_of(stored.store, stored.run);
  CHECK(recording.name == "first");
  CHECK(recording.kernel == "axpy 2");
  CHECK(recording.device == "some cpu\nx");
  REQUIRE(recording.trials.size() == 2);  // trials 2 and 3 are of the configuration of trial 0
  CHECK(recording.space.count() == BigCount(2));
  CHECK(recording.notes.size() == 1);
  CHECK(recording.trials[0].evaluation.verdict == Verdict::wrong_result);
  CHECK(recording.trials[1].evaluation.measurement.shapes.size() == 2);
  CHECK(recording.trials[1].evaluation.phases.build == 0.5);
}

TEST_CASE("stored run: the store by STORE:RUN, and its exports, are the same recording") {
  const StoredRun stored;
  const Recording recording = recording_of(stored.store, stored.run);
  const std::string store = stored.store.file().string();
  for (const std::string& run :
       {std::string(":1"), std::string(":first"), std::string(":latest"), std::string()})
    check_same(recording, read_recording(store + run));
  CHECK_THROWS_AS((void)read_recording(store + ":7"), ConfigError);
  for (const ExportFormat format : {ExportFormat::json_lines, ExportFormat::csv}) {
    CAPTURE(to_string(format));
    std::ostringstream text;
    export_run(stored.store, stored.run, format, text);
    check_same(recording, parse_recording(text.str(), "export"), format == ExportFormat::json_lines);
    // A line that a full disk cut off is left out.
    const Recording cut = parse_recording(text.str().substr(0, text.str().size() - 30), "export");
    CHECK(cut.trials.size() == 2);
    CHECK(cut.trials[0].evaluation.verdict == Verdict::build_failed);
    CHECK(cut.notes.front().find("cut in the middle") != std::string::npos);
  }
  std::ostringstream t4;
  export_run(stored.store, stored.run, ExportFormat::t4, t4);
  const Recording from_t4 = parse_recording(t4.str(), "export");
  CHECK(from_t4.trials.size() == 2);
  CHECK(from_t4.trials[1].evaluation.measurement.seconds == 1e-3);
  CHECK(from_t4.trials[1].evaluation.measurement.shapes.size() == 2);
}

TEST_CASE("stored run: damaged exports are refused with their line") {
  const auto error = [](const std::string& text) -> std::string {
    try {
      (void)parse_recording(text, "export");
    } catch (const ConfigError& problem) {
      return problem.what();
    }
    return "";
  };
  const StoredRun stored;
  std::ostringstream lines, csv;
  export_run(stored.store, stored.run, ExportFormat::json_lines, lines);
  export_run(stored.store, stored.run, ExportFormat::csv, csv);
  std::string text = lines.str();
  const std::size_t second = text.find('\n') + 1;
  CHECK(error(text.substr(0, second) + "{\"evaluation\": 3}\n" + text.substr(second)).find("no whole") ==
        std::string::npos);
  CHECK(error(text.substr(0, second) + "[]\n" + text.substr(second)).find("export:2") != std::string::npos);
  CHECK(error(text.substr(0, second) + "{\"evaluation\": 3, \"candidate\": {}}\n").find("export:2") !=
        std::string::npos);
  text = csv.str();
  const std::size_t row = text.find('\n') + 1;
  CHECK(error(text.substr(0, row) + "1,2\r\n").find("export:2") != std::string::npos);
  CHECK(error(text.substr(0, row)).find("no whole record") != std::string::npos);
}

TEST_CASE("stored run: with the declared space, its tunables in their order and with all their values") {
  const StoredRun stored;
  const recordings::Shelf shelf;
  const Recording loose = recording_of(stored.store, stored.run);
  std::vector<std::string> names;
  for (const Tunable& t : loose.space.tunables()) names.push_back(t.name);
  REQUIRE(std::is_sorted(names.begin(), names.end()));
  // Declare those that the run has, in another order.
  std::string text = R"({"ConfigurationSpace": {"TuningParameters": [)";
  for (std::size_t i = loose.space.size(); i-- > 0;) {
    const Tunable& tunable = loose.space.tunable(i);
    text += R"({"Name": ")" + tunable.name + R"(", "Type": "int", "Values": [)";
    for (const Value& value : tunable.values) {
      const bool word = std::holds_alternative<std::string>(value);
      text += (word ? "\"" : "") + to_string(value) + (word ? "\"" : "") + ", ";
    }
    if (tunable.kind == TunableKind::permutation)
      text.resize(text.size() - 2);
    else
      text += "123";
    text += "]}" + std::string(i > 0 ? ", " : "]}}");
  }
  const Recording declared =
      recording_of(stored.store, stored.run, {.space = shelf.put("other.t1.json", text)});
  REQUIRE(declared.trials.size() == loose.trials.size());
  CHECK(declared.space.tunable(0).name == names.back());
  CHECK(declared.space.tunable(0).values.size() == loose.space.tunable(names.size() - 1).values.size() + 1);
  for (std::size_t i = 0; i < loose.trials.size(); ++i)
    for (std::size_t t = 0; t < names.size(); ++t)
      CHECK(to_string(declared.space.value(declared.trials[i].config, names.size() - 1 - t)) ==
            to_string(loose.space.value(loose.trials[i].config, t)));
}

TEST_CASE("stored run: a run without candidates is no recording") {
  const StoredRun stored;
  const RunId empty = const_cast<RunStore&>(stored.store).begin_run({.problem = "p"});
  CHECK_THROWS_AS((void)recording_of(stored.store, empty), ConfigError);
}
