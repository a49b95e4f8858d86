// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/recorded/read_recording.hpp"

#include <doctest/doctest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/recorded/write_recording.hpp"
#include "recordings.hpp"
#include "support/approx.hpp"
#include "support/check_has.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;
using recordings::old_cachefile;
using recordings::Shelf;

namespace {

std::map<std::string, Evaluation> by_key(const Recording& recording) {
  std::map<std::string, Evaluation> all;
  for (const RecordedTrial& trial : recording.trials)
    all.emplace(recording.space.key(trial.config), trial.evaluation);
  return all;
}

bool noted(const Recording& recording, const std::string& words) {
  return std::any_of(recording.notes.begin(), recording.notes.end(),
                     [&](const std::string& note) { return note.find(words) != std::string::npos; });
}

std::string error_of(const Shelf& shelf, const std::string& name, const std::string& text) {
  try {
    (void)shelf.read(name, text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), with);
}

std::string packed(const std::string& text, const std::filesystem::path& file) {
  gzFile out = gzopen(file.c_str(), "wb");
  gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
  gzclose(out);
  return recordings::text_of(file);
}

constexpr const char* t1_text = R"({
  "ConfigurationSpace": {
    "TuningParameters": [
      {"Name": "block", "Type": "int", "Values": "[16, 32]", "Default": 32},
      {"Name": "tile", "Type": "int", "Values": "[1, 2, 3]", "Default": 3},
      {"Name": "fast", "Type": "bool", "Values": "[True, False]", "Default": "True"},
      {"Name": "version", "Type": "int", "Values": "[7]"}],
    "Conditions": [{"Expression": "block * tile <= 64 * version", "Parameters": ["block", "tile", "version"]},
                   {"Expression": "tile < 3 or block == 32", "Parameters": ["block", "tile"]}]},
  "KernelSpecification": {"Language": "CUDA", "KernelName": "saxpy", "KernelFile": "saxpy.cu"}})";

}  // namespace

TEST_CASE("read_recording: every configuration of a recorded space, its failures among them") {
  const std::filesystem::path file = recordings::shared("convolution_A100.json.gz");
  if (file.empty()) {
    MESSAGE("skipped: the recorded spaces are not here; set KERNELSEARCH_SHARED");
    return;
  }
  const Recording recording = read_recording(file);
  CHECK(recording.name == "convolution_A100");
  CHECK(recording.trials.size() == 4362);
  CHECK(recording.space.count() == BigCount(4362));
  CHECK(recording.notes.empty());
  CHECK(recording.problem_size == "[4096,4096]");
  const auto failed =
      std::count_if(recording.trials.begin(), recording.trials.end(),
                    [](const RecordedTrial& t) { return t.evaluation.verdict != Verdict::ok; });
  CHECK(failed == 161);
  CHECK(recording.trials.front().evaluation.measurement.seconds == 3.8753279224038124 / 1e3);
  CHECK(recording.trials.front().evaluation.measurement.shapes.at(0).samples.size() == 32);
}

TEST_CASE("read_recording: records count although what lies beside them is of another version") {
  const std::filesystem::path file = recordings::shared("gemm_RTX_2080_Ti.json.gz");
  if (file.empty()) {
    MESSAGE("skipped: the recorded spaces are not here; set KERNELSEARCH_SHARED");
    return;
  }
  const Recording recording = read_recording(file);
  CHECK(recording.trials.size() == 17956);
  CHECK(recording.space.count() == BigCount(17956));
  CHECK(recording.space.size() == 15);  // two that the T1 file declares are not in the recording
  CHECK(noted(recording, "does not hold for 484 records"));
  CHECK(recording.space.tunable(0).default_index == 2);  // MWG 64, as declared
  // Asked for, the declared space decides.
  const Recording asked = read_recording(file, {.space = recordings::shared("gemm.t1.json")});
  CHECK(asked.trials.size() == 17956 - 484);
  CHECK(noted(asked, "484 records outside the declared constraints"));
}

TEST_CASE("read_recording: the same measurements from T4 as from the cachefile") {
  const std::filesystem::path cachefile = recordings::shared("convolution_A4000.json.gz");
  const std::filesystem::path t4 = recordings::shared("convolution_A4000_T4.json.gz");
  if (cachefile.empty() || t4.empty()) {
    MESSAGE("skipped: the recorded spaces are not here; set KERNELSEARCH_SHARED");
    return;
  }
  const Recording a = read_recording(cachefile), b = read_recording(t4);
  CHECK(b.name == "convolution_A4000_T4");
  const auto left = by_key(a), right = by_key(b);
  REQUIRE(left.size() == right.size());
  std::size_t equal = 0, verdicts = 0;
  for (const auto& [key, evaluation] : left) {
    const Evaluation& other = right.at(key);
    verdicts += evaluation.verdict == other.verdict ? 1 : 0;
    equal += evaluation.measurement.seconds == other.measurement.seconds ? 1 : 0;
  }
  CHECK(verdicts == left.size());
  CHECK(equal == left.size());
  CHECK(noted(b, "the sum of the runtimes stands for it"));
}

TEST_CASE("read_recording: an old cachefile, field by field") {
  const Shelf shelf;
  const Recording recording = shelf.read("small_gpu.json", old_cachefile);
  CHECK(recording.name == "small_gpu");
  CHECK(recording.device == "Some GPU");
  CHECK(recording.kernel == "saxpy");
  CHECK(recording.problem_size == "[4096,16]");
  CHECK(recording.notes.empty());
  REQUIRE(recording.trials.size() == 6);
  CHECK(recording.space.count() == BigCount(6));
  CHECK(recording.space.raw_count() == BigCount(12));
  CHECK(recording.space.constraints().back().text() == "recorded configurations");
  CHECK(recording.space.tunable(0).kind == TunableKind::power_of_two);
  CHECK(recording.space.tunable(2).kind == TunableKind::boolean);

  const RecordedTrial& first = recording.trials[0];
  CHECK(recording.space.key(first.config) == "16,1,true");
  CHECK(first.time_stamp == "2023-12-22 09:54:05.502007+00:00");
  CHECK(first.framework_seconds == approx(0.0055));
  CHECK(first.total_seconds() == approx(0.9005 + 0.01 + 0.12025 + 0.0055));
  const Evaluation& ok = first.evaluation;
  CHECK(ok.verdict == Verdict::ok);
  CHECK(ok.phases.build == 0.9005);
  CHECK(ok.phases.check == 0.01);
  CHECK(ok.phases.measure == 0.12025);
  CHECK(ok.features.find("GFLOP/s") == 1948.5);
  CHECK(ok.features.size() == 1);
  CHECK(ok.measurement.seconds == 0.002);
  REQUIRE(ok.measurement.shapes.size() == 1);
  CHECK(ok.measurement.shapes[0].samples == std::vector<double>{0.0015, 0.0025, 0.002});
  CHECK(ok.measurement.shapes[0].median == 0.002);
  CHECK(ok.measurement.shapes[0].ended == SamplingEnd::recorded);
  CHECK(ok.measurement.spread == approx(0.25));
  CHECK(ok.measurement.interval == Interval{0.0015, 0.0025});

  const Verdict verdicts[] = {Verdict::ok,           Verdict::rejected,
                              Verdict::build_failed, Verdict::launch_failed,
                              Verdict::crashed,      Verdict::ok};
  for (std::size_t i = 0; i < 6; ++i) {
    CAPTURE(i);
    const Evaluation& evaluation = recording.trials[i].evaluation;
    CHECK(evaluation.verdict == verdicts[i]);
    CHECK(evaluation.reason.empty() == (verdicts[i] == Verdict::ok));
    CHECK(evaluation.progress == graded_progress(verdicts[i]));
  }
  CHECK(recording.trials[4].evaluation.reason == "no time was recorded");
  CHECK(recording.trials[1].evaluation.reason.starts_with("InvalidConfig"));
  CHECK(std::isinf(recording.objective(1)));
  CHECK(recording.objective(5) == 0.0005);
}

TEST_CASE("read_recording: the layout of 1.4, its objective a list and its failures in __error__") {
  const Shelf shelf;
  std::string text = replaced(old_cachefile, R"("objective": "time")", R"("objective": [ "GFLOP/s" ])");
  text = replaced(text, R"("time": "RuntimeFailedConfig")", R"("__error__": "RuntimeFailedConfig")");
  text = replaced(text, R"("time": "InvalidConfig")", R"("time": 3.5, "__error__": "InvalidConfig")");
  text = replaced(text, R"("time": "CompilationFailedConfig")",
                  R"("time": Infinity, "GFLOP/s": "CompilationFailedConfig")");
  const Recording recording = shelf.read("a.json", text);
  CHECK(noted(recording, "recorded for GFLOP/s"));
  CHECK(recording.trials[1].evaluation.verdict == Verdict::rejected);
  CHECK(recording.trials[2].evaluation.verdict == Verdict::build_failed);
  CHECK(recording.trials[3].evaluation.verdict == Verdict::launch_failed);
}

TEST_CASE("read_recording: a cachefile cut at every byte is read up to there, or refused with words") {
  const Shelf shelf;
  const auto whole = by_key(shelf.read("whole.json", old_cachefile));
  std::size_t read = 0, records = 0;
  for (std::size_t size = 0; size < old_cachefile.size(); ++size) {
    CAPTURE(size);
    try {
      const Recording recording = shelf.read("cut.json", old_cachefile.substr(0, size));
      ++read;
      CHECK(recording.trials.size() >= records);
      records = recording.trials.size();
      for (const auto& [key, evaluation] : by_key(recording)) {
        REQUIRE(whole.count(key) == 1);
        CHECK(evaluation.verdict == whole.at(key).verdict);
        CHECK(evaluation.phases.build == whole.at(key).phases.build);
        CHECK(evaluation.measurement.seconds == whole.at(key).measurement.seconds);
      }
      if (size + 3 < old_cachefile.size()) CHECK(!recording.notes.empty());
    } catch (const ConfigError& error) {
      CHECK(records == 0);
      CHECK(std::string(error.what()).find("cut.json") != std::string::npos);
    }
  }
  CHECK(records == 6);
  CHECK(read > 900);
  // As Kernel Tuner leaves it after a kill: a comma and no brackets.
  const std::string killed = old_cachefile.substr(0, old_cachefile.find("\n\"32,3,True\""));
  REQUIRE(killed.back() == ',');
  const Recording recording = shelf.read("killed.json", killed);
  CHECK(recording.trials.size() == 5);
  CHECK(noted(recording, "closing brackets were missing"));
  CHECK(noted(shelf.read("killed2.json", old_cachefile.substr(0, old_cachefile.size() - 60)),
              "cut in the middle"));
}

TEST_CASE("read_recording: gzip, whole and cut") {
  const Shelf shelf;
  const std::string gz = packed(old_cachefile, shelf.path("a.json.gz"));
  CHECK(read_recording(shelf.path("a.json.gz")).trials.size() == 6);
  CHECK(read_recording(shelf.path("a.json.gz")).name == "a");
  // Deflate keeps a small file in one block, of which the front can still be read.
  const Recording cut = shelf.read("b.json.gz", gz.substr(0, gz.size() - 24));
  CHECK(cut.trials.size() >= 1);
  CHECK(cut.trials.size() <= 6);
  CHECK(noted(cut, "gzip file ends too early"));
  std::string broken = gz;
  for (std::size_t i = 60; i < 90; ++i) broken[i] = static_cast<char>(~broken[i]);
  CHECK(error_of(shelf, "c.json.gz", broken).find("c.json.gz") != std::string::npos);
}

TEST_CASE("read_recording: what is malformed is named with its line") {
  const Shelf shelf;
  const auto refused = [&](const std::string& what, const std::string& with, const std::string& words) {
    const std::string error = error_of(shelf, "bad.json", replaced(old_cachefile, what, with));
    INFO("error: ", error, "\nwanted: ", words);
    CHECK(error.find(words) != std::string::npos);
  };
  refused("\"time\": 2.0", "\"time\": two", "bad.json:30: expected a value");
  refused("\"tile\": 1, \"fast\": true, \"time\": 2.0", "\"time\": 2.0",
          "bad.json:30: the record before this place lacks a tunable");
  refused("\"time\": 2.0,", "\"time\": 2.0", "not separated by commas");
  refused("\"tune_params_keys\"", "\"other\"", "tune_params_keys");
  refused("\"tune_params_keys\": [", "\"tune_params_keys\": [\"time\", ",
          "a tunable has the name of what is said of a trial");
  CHECK(error_of(shelf, "empty.json", "").find("it is empty") != std::string::npos);
  CHECK(error_of(shelf, "text.json", "hello").find("neither JSON") != std::string::npos);
  CHECK(error_of(shelf, "other.json", "{\"a\": [1, {}]}").find("known layout") != std::string::npos);
  CHECK(error_of(shelf, "t1.json", t1_text).find("a T1 file") != std::string::npos);
  CHECK_THROWS_AS((void)read_recording(shelf.path("absent.json")), ConfigError);
  CHECK_THROWS_AS((void)read_recording(shelf.path(".")), ConfigError);
  std::string deep(100000, '[');
  CHECK(error_of(shelf, "deep.json", replaced(old_cachefile, "2.0", deep)).find("nested") !=
        std::string::npos);
}

TEST_CASE("read_recording: records that repeat, go beyond the lists or hold more than numbers") {
  const Shelf shelf;
  std::string text = replaced(old_cachefile, "\"32,3,True\": {\"block\": 32, \"tile\": 3",
                              "\"64,3,True\": {\"block\": 64, \"tile\": 3");
  text = replaced(text, "\"16,2,True\": {\"block\": 16, \"tile\": 2",
                  "\"16,1,True\": {\"block\": 16, \"tile\": 1");
  text = replaced(text, "\"time\": NaN",
                  "\"time\": 4.5, \"note\": \"x\", \"power\": null, \"more\": {\"a\": [1]}");
  const Recording recording = shelf.read("a.json", text);
  CHECK(recording.trials.size() == 5);
  CHECK(by_key(recording).at("16,1,true").verdict == Verdict::rejected);  // the later one
  CHECK(noted(recording, "1 record of a configuration recorded before"));
  CHECK(noted(recording, "1 value of block recorded but not listed"));
  CHECK(noted(recording, "2 entries of the records"));
  CHECK(by_key(recording).at("64,3,true").verdict == Verdict::ok);
  CHECK(by_key(recording).at("32,2,false").measurement.seconds == 0.0045);
}

TEST_CASE("read_recording: a declared space, beside the file or asked for") {
  const Shelf shelf;
  (void)shelf.put("small.t1.json", t1_text);
  (void)shelf.put("smallest.t1.json", "not for this one");
  SUBCASE("beside: constraints that the records break are not used") {
    const Recording recording = shelf.read("small_gpu.json", old_cachefile);
    CHECK(recording.trials.size() == 6);
    CHECK(noted(recording,
                "`tile < 3 or block == 32`, declared next to the recording, does not hold for 1 record"));
    CHECK(recording.space.size() == 3);
    REQUIRE(recording.space.constraints().size() == 2);
    CHECK(recording.space.constraints()[0].text() == "block * tile <= 64 * version");
    CHECK(recording.space.tunable(0).default_index == 1);
    CHECK(noted(recording, "6 configurations recorded of 12 declared"));
  }
  SUBCASE("asked for: records that break them are left out") {
    const Recording recording =
        shelf.read("other.json", old_cachefile, {.space = shelf.path("small.t1.json")});
    CHECK(recording.trials.size() == 5);
    CHECK(noted(recording, "1 record outside the declared constraints"));
  }
  SUBCASE("a space of something else is ignored beside and refused when asked for") {
    const std::string text = replaced(t1_text, "\"Name\": \"tile\"", "\"Name\": \"tiles\"");
    const std::string conditions = "\"Conditions\": [";
    const std::string other = text.substr(0, text.find(conditions)) + "\"Conditions\": []}}";
    (void)shelf.put("small.t1.json", other);
    const Recording recording = shelf.read("small_gpu.json", old_cachefile);
    CHECK(recording.trials.size() == 6);
    CHECK(noted(recording, "is not its space"));
    CHECK_THROWS_AS((void)shelf.read("x.json", old_cachefile, {.space = shelf.path("small.t1.json")}),
                    ConfigError);
  }
}

TEST_CASE("read_recording: T4 in every unit, with the schema's names and Kernel Tuner's") {
  const Shelf shelf;
  const auto text = [](const std::string& unit, double scale, const char* compile) {
    const auto n = [scale](double seconds) { return std::to_string(seconds * scale); };
    return "{\"results\": [{\"configuration\": {\"a\": 1, \"b\": \"x\"}, \"times\": {\"" +
           std::string(compile) + "\": " + n(2.0) + ", \"benchmark\": " + n(0.5) +
           ", \"framework\": " + n(0.25) + ", \"validation\": " + n(0.125) +
           ", \"search_algorithm\": 0, \"runtimes\": [" + n(0.25) + ", " + n(0.75) +
           "]}, \"invalidity\": \"correct\", \"correctness\": 1}], \"schema_version\": \"1.0.0\"" +
           (unit.empty() ? "" : ", \"metadata\": {\"timeunit\": \"" + unit + "\"}") + "}";
  };
  const std::map<std::string, double> units{{"milliseconds", 1e3}, {"miliseconds", 1e3}, {"seconds", 1},
                                            {"microseconds", 1e6}, {"nanoseconds", 1e9}, {"", 1e3}};
  for (const auto& entry : units)
    for (const char* compile : {"compilation", "compilation_time"}) {
      const std::string& unit = entry.first;
      const double scale = entry.second;
      CAPTURE(unit);
      const Recording recording = shelf.read("a.json", text(unit, scale, compile));
      REQUIRE(recording.trials.size() == 1);
      const RecordedTrial& trial = recording.trials[0];
      CHECK(trial.evaluation.phases.build == approx(2.0));
      CHECK(trial.evaluation.phases.check == approx(0.125));
      CHECK(trial.evaluation.phases.measure == approx(0.5));
      CHECK(trial.framework_seconds == approx(0.25));
      CHECK(trial.evaluation.measurement.seconds == approx(0.5));  // the mean of the run times
      CHECK(trial.evaluation.measurement.shapes.at(0).samples.size() == 2);
      CHECK(noted(recording, "names no unit") == unit.empty());
    }
  CHECK(error_of(shelf, "b.json", text("fortnights", 1, "compilation")).find("fortnights") !=
        std::string::npos);
}

TEST_CASE(
    "read_recording: a T4 file's unit is its metadata's or its objective's measurement's, in any spelling") {
  const Shelf shelf;
  const auto text = [](const std::string& objective, const std::string& unit, const std::string& timeunit,
                       const std::string& more = "") {
    return R"({"results": [{"configuration": {"a": 1}, "objectives": [")" + objective +
           R"("], "times": {"runtimes": [96.0], "compilation_time": 10.0}, "invalidity": "correct", "measurements": [)" +
           more + R"({"name": ")" + objective + R"(", "value": 96.0, "unit": ")" + unit + R"("}]}])" +
           (timeunit.empty() ? "" : R"(, "metadata": {"timeunit": ")" + timeunit + R"("})") + "}";
  };
  const auto seconds = [&](const std::string& content) {
    return shelf.read("a.json", content).trials.at(0).evaluation.measurement;
  };
  // KTT writes so: before, it was read as milliseconds, a thousand times too long.
  const Measurement ktt = seconds(text("TotalDuration", "Microseconds", ""));
  CHECK(ktt.seconds == approx(96e-6));
  CHECK(ktt.shapes.at(0).samples.at(0) == approx(96e-6));
  CHECK(shelf.read("a.json", text("TotalDuration", "Microseconds", "")).trials[0].evaluation.phases.build ==
        approx(10e-6));
  CHECK(seconds(text("time", "", "Microseconds")).seconds == approx(96e-6));
  CHECK(seconds(text("time", "us", "")).seconds == approx(96e-6));
  CHECK(seconds(text("time", "\xc2\xb5s", "")).seconds == approx(96e-6));
  CHECK(seconds(text("time", "", "")).seconds == approx(96e-3));
  CHECK(seconds(text("time", "NS", "seconds")).seconds == approx(96e-9));  // its own goes before
  // What nobody knows is never taken for milliseconds.
  CHECK(error_of(shelf, "b.json", text("time", "fortnights", "")).find("fortnights") != std::string::npos);
  CHECK(error_of(shelf, "b.json", text("time", "", "jiffies")).find("jiffies") != std::string::npos);
  // An objective that is no time is refused with its direction; beside a time it is a feature.
  CHECK(error_of(shelf, "b.json", text("GFLOP/s", "", "")).find("GFLOP/s, higher is better") !=
        std::string::npos);
  CHECK(error_of(shelf, "b.json", text("power", "W", "seconds")).find("power in W, lower is better") !=
        std::string::npos);
  CHECK(error_of(shelf, "b.json", text("score", "", "")).find("score, of which no direction is known") !=
        std::string::npos);
  const std::string timed = R"({"name": "time", "value": 4.0, "unit": "ms"}, )";
  const Recording both = shelf.read("a.json", text("GFLOP/s", "", "", timed));
  CHECK(both.trials[0].evaluation.measurement.seconds == 0.004);
  CHECK(both.trials[0].evaluation.features.find("GFLOP/s") == 96.0);
  CHECK(noted(both, "recorded for GFLOP/s, higher is better"));
  CHECK(seconds(text("time", " us ", "")).seconds == approx(96e-6));
}

TEST_CASE("read_recording: a T4 file that was recorded for several objectives says so") {
  const Shelf shelf;
  const auto read = [&](const std::string& objectives) {
    return shelf.read(
        "a.json",
        R"({"results": [{"configuration": {"a": 1}, "times": {}, "invalidity": "correct", "correctness": 1,
"measurements": [{"name": "time", "value": 4.0, "unit": "ms"}, {"name": "energy", "value": 2.0, "unit": "J"}], "objectives": )" +
            objectives + R"(}], "schema_version": "1.0.0"})");
  };
  const Recording two = read(R"(["time", "energy", "power"])"), one = read(R"(["time"])");
  CHECK(two.trials[0].evaluation.measurement.seconds == 0.004);
  CHECK(noted(two, "recorded for time and for energy, power; what is read is time"));
  CHECK(!noted(one, "recorded for"));
  // The order does not decide which one is read, and one note says it.
  const Recording later = read(R"(["energy", "time"])"), without = read(R"(["energy", "power"])");
  CHECK(later.trials[0].evaluation.measurement.seconds == 0.004);
  CHECK(later.trials[0].evaluation.features.find("energy") == 2.0);
  CHECK(noted(later, "recorded for energy and for time; what is read is time"));
  CHECK(!noted(later, "what is read is energy"));
  CHECK(!noted(later, "it is the times that are read"));
  CHECK(noted(without, "recorded for energy and for power; what is read is time"));
  // The time may have another name, and then it is the only one.
  const Recording duration = shelf.read(
      "a.json",
      R"({"results": [{"configuration": {"a": 1}, "times": {}, "invalidity": "correct", "correctness": 1,
"measurements": [{"name": "energy", "value": 2.0, "unit": "J"}, {"name": "Duration", "value": 4.0, "unit": "us"}],
"objectives": ["energy", "Duration"]}], "schema_version": "1.0.0"})");
  CHECK(duration.trials[0].evaluation.measurement.seconds == approx(4e-6));
  CHECK(noted(duration, "recorded for energy and for Duration; what is read is Duration"));
  CHECK(noted(read(R"(["energy"])"),
              "recorded for energy in J, lower is better; it is the times that are read"));
}

TEST_CASE("read_recording: a cachefile that was recorded for several objectives says so") {
  const Shelf shelf;
  const auto read = [&](const std::string& objectives) {
    return shelf.read("a.json",
                      replaced(old_cachefile, R"("objective": "time")", "\"objective\": " + objectives));
  };
  CHECK(noted(read(R"(["time", "energy"])"), "recorded for time and for energy; what is read is time"));
  CHECK(
      noted(read(R"([ "energy", "GFLOP/s" ])"), "recorded for energy and for GFLOP/s; what is read is time"));
  CHECK(!noted(read(R"(["time"])"), "recorded for"));
  CHECK(!noted(read("null"), "recorded for"));
}

TEST_CASE("read_recording: a time or a feature that is a text is never a number") {
  const Shelf shelf;
  // The runtimes next to it are not taken in its place.
  const Recording t4 = shelf.read(
      "a.json",
      R"({"results": [{"configuration": {"a": 1}, "times": {"runtimes": [4.0, 4.0]}, "invalidity": "correct",
"correctness": 1, "measurements": [{"name": "time", "value": "fast", "unit": "ms"}], "objectives": ["time"]},
{"configuration": {"a": 2}, "times": {}, "invalidity": "correct", "correctness": 1,
"measurements": [{"name": "time", "value": 2.0, "unit": "ms"}, {"name": "note", "value": "n/a", "unit": ""}],
"objectives": ["time"]}], "schema_version": "1.0.0"})");
  CHECK(t4.trials[0].evaluation.verdict == Verdict::crashed);
  CHECK(t4.trials[0].evaluation.reason == "its time is not a number: fast");
  CHECK(t4.trials[1].evaluation.measurement.seconds == 0.002);
  CHECK(!t4.trials[1].evaluation.features.find("note"));
  const auto csv = [](const std::string& seconds, const std::string& power) {
    return "run,trial,config_key,verdict,seconds,problem,device,tunable.a,feature.power\n1,0,k,ok," +
           seconds + ",p,d,1," + power + "\n";
  };
  CHECK(shelf.read("a.csv", csv("0.5", "2.5")).trials[0].evaluation.features.find("power") == 2.5);
  CHECK(error_of(shelf, "b.csv", csv("0.5", "n/a"))
            .find("b.csv:2: not a line of an export: feature.power is not a number: n/a") !=
        std::string::npos);
  CHECK(error_of(shelf, "b.csv", csv("fast", "2.5")).find("seconds is not a number: fast") !=
        std::string::npos);
}

TEST_CASE("read_recording: what is no time is refused, and Kernel Tuner's old mark of a failure is one") {
  const Shelf shelf;
  std::string scored = replaced(old_cachefile, R"("objective": "time")", R"("objective": "score")");
  for (std::size_t at = 0; (at = scored.find("\"time\": ", at)) != std::string::npos;)
    scored.replace(at, 6, "\"score\"");
  for (std::size_t at = 0; (at = scored.find("\"times\": ", at)) != std::string::npos;)
    scored.replace(at, 7, "\"score2\"");
  const std::string error = error_of(shelf, "b.json", scored);
  CHECK_MESSAGE(error.find("the recording has no times") != std::string::npos, error);
  CHECK_MESSAGE(error.find("score, of which no direction is known") != std::string::npos, error);
  const Recording failed = shelf.read("a.json", replaced(old_cachefile, "\"time\": 2.0", "\"time\": 1e20"));
  const auto evaluations = by_key(failed);
  const auto marked = std::find_if(evaluations.begin(), evaluations.end(), [](const auto& one) {
    return one.second.reason.find("1e20") != std::string::npos;
  });
  REQUIRE(marked != evaluations.end());
  CHECK(marked->second.verdict == Verdict::crashed);
}

TEST_CASE(
    "read_recording: Kernel Tuner's results as json.dump writes them, with the environment or without") {
  const Shelf shelf;
  const std::string records =
      R"([{"block": 16, "fast": true, "time": 2.0, "times": [1.5, 2.5], "compile_time": 30.0, "GFLOP/s": 7},
          {"block": 32, "fast": true, "time": 1e20},
          {"block": 32, "fast": false, "time": "InvalidConfig"}])";
  for (const std::string& text : {records, "[" + records + R"(, {"device_name": "A100", "other": [1]}])"}) {
    const Recording recording = shelf.read("results.json", text);
    REQUIRE(recording.trials.size() == 3);
    CHECK(recording.space.size() == 2);
    const auto evaluations = by_key(recording);
    CHECK(evaluations.at("16,true").measurement.seconds == 0.002);
    CHECK(evaluations.at("16,true").measurement.shapes.at(0).samples.size() == 2);
    CHECK(evaluations.at("16,true").features.find("GFLOP/s") == 7.0);
    CHECK(evaluations.at("32,true").verdict == Verdict::crashed);
    CHECK(evaluations.at("32,false").verdict == Verdict::rejected);
    CHECK(recording.device == (text == records ? "" : "A100"));
  }
  // Kernel Tuner appends while it tunes; a list that was cut is read up to there.
  const Recording cut =
      shelf.read("results.json", records.substr(0, records.find("{\"block\": 32, \"fast\": false") + 20));
  CHECK(cut.trials.size() == 2);
  CHECK(noted(cut, "cut in the middle"));
  for (const char* wrong : {"[1, 2]", "[]", "[[]]", "[{}]", R"([{"time": 1}])", "[\"a\"]",
                            R"([{"times": {}}, {"a": 1, "time": 2}])"}) {
    CAPTURE(wrong);
    CHECK_FALSE(error_of(shelf, "b.json", wrong).empty());
  }
  CHECK(shelf.read("a.json", "\xef\xbb\xbf" + old_cachefile).trials.size() ==
        shelf.read("b.json", old_cachefile).trials.size());
}

TEST_CASE("read_recording: bytes outside of UTF-8 are the same when it is read, written and read again") {
  const Shelf shelf;
  const std::string text =
      "[{\"n\xff\": 1, \"c\": \"\xfe\", \"time\": 2.0}, {\"n\xff\": 2, \"c\": \"\xfd\", \"time\": 3.0}]";
  const Recording first = shelf.read("latin.json", text);
  CHECK(first.space.tunable(0).name == "n\xef\xbf\xbd");
  const Recording again = shelf.read("again.t4.json", t4_text(first));
  REQUIRE(again.trials.size() == 2);
  CHECK(again.space.tunable(0).name == first.space.tunable(0).name);
  CHECK(again.space.tunable(1).values == std::vector<Value>{Value{std::string("\xef\xbf\xbd")}});
  // Names that only such bytes tell apart are one name.
  check_has(error_of(shelf, "two.json", "[{\"n\xff\": 1, \"n\xfe\": 2, \"time\": 2.0}]"), "n\xef\xbf\xbd");
}

TEST_CASE("read_recording: T4's words for failures") {
  const Shelf shelf;
  std::string text = "{\"metadata\": {\"timeunit\": \"seconds\"}, \"results\": [";
  const char* const words[] = {"timeout", "compile", "runtime", "correctness", "constraints", "correct"};
  for (int i = 0; i < 6; ++i)
    text += std::string(i == 0 ? "" : ",") + "{\"configuration\": {\"a\": " + std::to_string(i) +
            "}, \"times\": {}, \"invalidity\": \"" + words[i] +
            "\", \"correctness\": 0.5, \"measurements\": [{\"name\": \"time\", \"value\": " +
            (i == 5 ? "3.0" : "\"\"") +
            ", \"unit\": \"ms\"}, {\"name\": \"power\", \"value\": 90, \"unit\": \"W\"}]}";
  text +=
      ",{\"configuration\": {\"a\": 6}, \"times\": {}, \"invalidity\": \"runtime\", \"correctness\": 0, "
      "\"measurements\": [{\"name\": \"time\", \"value\": \"RuntimeFailedConfig\", \"unit\": \"\"}]}]}";
  const Recording recording = shelf.read("a.json", text);
  const Verdict verdicts[] = {Verdict::timed_out,    Verdict::build_failed, Verdict::crashed,
                              Verdict::wrong_result, Verdict::rejected,     Verdict::ok,
                              Verdict::launch_failed};
  REQUIRE(recording.trials.size() == 7);
  for (std::size_t i = 0; i < 7; ++i) CHECK(recording.trials[i].evaluation.verdict == verdicts[i]);
  CHECK(recording.trials[3].evaluation.progress == graded_progress(Verdict::wrong_result, 0.5));
  CHECK(recording.trials[5].evaluation.measurement.seconds == 0.003);
  CHECK(recording.trials[5].evaluation.features.find("power") == 90.0);
  // cut within the last result
  const Recording cut = shelf.read("b.json", text.substr(0, text.size() - 20));
  CHECK(cut.trials.size() == 6);
  CHECK(noted(cut, "cut in the middle"));
}

TEST_CASE("read_recording: orders are read from texts and lists, other lists are names") {
  const Shelf shelf;
  const auto text = [](const std::string& a, const std::string& b) {
    return R"({"device_name": "", "kernel_name": "k", "problem_size": 5, "tune_params_keys": ["o"], "tune_params": {"o": [)" +
           a + ", " + b + R"(]}, "cache": {"x": {"o": )" + a + R"(, "time": 1}, "y": {"o": )" + b +
           R"(, "time": 2}}})";
  };
  for (const Recording& recording : {shelf.read("a.json", text("[0, 1, 2]", "[2, 0, 1]")),
                                     shelf.read("b.json", text("\"[0, 1, 2]\"", "\"[2, 0, 1]\""))}) {
    CHECK(recording.space.tunable(0).kind == TunableKind::permutation);
    CHECK(recording.trials.size() == 2);
    CHECK(recording.problem_size == "5");
  }
  const Recording lists = shelf.read("c.json", text("[4, 4]", "[8, 2]"));
  CHECK(lists.space.tunable(0).kind == TunableKind::categorical);
  CHECK(lists.space.key(lists.trials[1].config) == "[8, 2]");
  CHECK(shelf.read("d.json", text("\"a\\u00e9\\\"\"", "null")).space.tunable(0).values.size() == 2);
}

TEST_CASE("read_recording: any text is read or refused with words, and what is read can be written") {
  const Recording whole = parse_recording(old_cachefile, "whole.json");
  const std::vector<std::string> texts{old_cachefile, cachefile_text(whole), t4_text(whole),
                                       export_text(whole, RecordingFormat::json_lines),
                                       export_text(whole, RecordingFormat::csv)};
  const std::string pieces[] = {"\"", "{",     "}",    "[",     "]",  ",",    ":",    "NaN",
                                "-",  "1e999", "null", "\\u00", "\n", "\xff", "true", "0"};
  Rng rng(12);
  std::size_t read = 0, refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text = texts[rng.below(texts.size())];
    for (std::uint64_t edits = 1 + rng.below(3); edits > 0; --edits) {
      const std::size_t at = rng.below(text.size());
      switch (rng.below(4)) {
        case 0:
          text[at] = static_cast<char>(rng.below(256));
          break;
        case 1:
          text.erase(at, 1 + rng.below(20));
          break;
        case 2:
          text.insert(at, pieces[rng.below(std::size(pieces))]);
          break;
        default:
          text.insert(at, text.substr(rng.below(text.size()), rng.below(60)));
      }
      if (text.empty()) text = " ";
    }
    CAPTURE(text);
    std::optional<Recording> recording;
    try {
      recording = parse_recording(text, "mutant");
    } catch (const Error& error) {
      ++refused;
      CHECK(std::string(error.what()).find("kernelsearch: ") == 0);
      continue;
    }
    ++read;
    for (const std::string& written : {cachefile_text(*recording), t4_text(*recording)}) {
      const Recording again = parse_recording(written, "again");
      REQUIRE(again.trials.size() == recording->trials.size());
      for (std::size_t i = 0; i < again.trials.size(); ++i)
        CHECK(again.trials[i].evaluation.verdict == recording->trials[i].evaluation.verdict);
    }
  }
  CHECK(read > 500);
  CHECK(refused > 500);
}
