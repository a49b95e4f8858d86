// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/recorded/write_recording.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/evaluator/sampling.hpp"
#include "recordings.hpp"
#include "support/approx.hpp"
#include "support/random_outcome.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

constexpr RecordingFormat formats[] = {RecordingFormat::cachefile, RecordingFormat::t4,
                                       RecordingFormat::json_lines, RecordingFormat::csv};

std::string text_of(const Recording& recording, RecordingFormat format) {
  switch (format) {
    case RecordingFormat::cachefile:
      return cachefile_text(recording);
    case RecordingFormat::t4:
      return t4_text(recording);
    default:
      return export_text(recording, format);
  }
}

/// Equal but for the last bit, which milliseconds cannot always keep.
bool near(double a, double b) {
  return a == b || std::abs(a - b) <= 4e-16 * std::abs(a);
}
bool near(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) { return near(x, y); });
}

/// Of a space of two tunables, one of which has a role.
Recording with_roles() {
  Tunable block = Tunable::power_of_two("block", 32, 64);
  block.role = TunableRole::threads;
  const Space space = Space::build({block, Tunable::boolean("fast")});
  Recording recording{"r", "kernel", "device", "", space, {}};
  recording.trials.push_back({space.default_config(), Evaluation::succeeded(1.0), "", 0.0});
  return recording;
}

/// Every verdict, one to three shapes, awkward words; values of every kind.
Recording random_recording(Rng& rng) {
  const std::vector<std::string> words{"a", "b,\"c\"", "é"};
  const Space space =
      Space::build({Tunable::power_of_two("tile", 1, 8), Tunable::boolean("fast"),
                    Tunable::floating("share", std::vector<double>{1e-5, 0.0001, 0.5, 3.0, 1e16}),
                    Tunable::categorical("layout", words), Tunable::permutation("order", 3)});
  Recording recording{"r", "ker\"nel", "dev\nice", "[64,64]", space, {}};
  std::vector<Config> configs;
  for (int i = 0; i < 40; ++i) {
    const Config config = space.sample(rng);
    if (std::find(configs.begin(), configs.end(), config) != configs.end()) continue;
    configs.push_back(config);
    RecordedTrial trial{config, {}, i % 3 == 0 ? "2026-01-01T00:00:00.000Z" : "", rng.uniform()};
    const auto verdict = static_cast<Verdict>(rng.below(verdict_count));
    if (verdict == Verdict::ok) {
      trial.evaluation = Evaluation::succeeded(rng.uniform(1e-6, 1.0));
      const std::uint64_t shapes = 1 + rng.below(3);
      for (std::uint64_t s = 0; s < shapes; ++s) {
        ShapeMeasurement shape;
        shape.shape = shapes == 1 ? "" : "s" + std::to_string(s);
        for (std::uint64_t k = 1 + rng.below(10); k > 0; --k) shape.samples.push_back(rng.uniform(1e-6, 1.0));
        summarize(shape);
        trial.evaluation.measurement.shapes.push_back(shape);
      }
      if (rng.chance(0.5)) trial.evaluation.measurement.speedup = Speedup{2.0, {1.5, 2.5}, 3};
    } else {
      trial.evaluation = Evaluation::failed(verdict, random_outcome::awkward_text(rng) + "x", rng.uniform());
    }
    trial.evaluation.features.set("registers", static_cast<double>(rng.below(255)));
    trial.evaluation.phases = {rng.uniform(), rng.uniform(), rng.uniform()};
    recording.trials.push_back(std::move(trial));
  }
  recording.space = Space::listed({space.tunables().begin(), space.tunables().end()}, configs);
  return recording;
}

}  // namespace

TEST_CASE("write_recording: what is written reads back, in every format") {
  Rng rng(3);
  for (int round = 0; round < 30; ++round) {
    const Recording first = random_recording(rng);
    for (const RecordingFormat format : formats) {
      CAPTURE(to_string(format));
      const Recording again = parse_recording(text_of(first, format), "again");
      const bool exports = format == RecordingFormat::json_lines || format == RecordingFormat::csv;
      CHECK(again.kernel == first.kernel);
      CHECK(again.device == first.device);
      if (!exports) CHECK(again.problem_size == first.problem_size);
      CHECK(again.space.count() == first.space.count());
      REQUIRE(again.trials.size() == first.trials.size());
      for (std::size_t i = 0; i < first.trials.size(); ++i) {
        const RecordedTrial &left = first.trials[i], &right = again.trials[i];
        for (std::size_t t = 0; t < first.space.size(); ++t) {
          const std::size_t other = *again.space.find(first.space.tunable(t).name);
          CHECK(again.space.value(right.config, other) == first.space.value(left.config, t));
        }
        CHECK(right.time_stamp == left.time_stamp);
        CHECK(right.total_seconds() == approx(left.total_seconds()));
        if (!exports) CHECK(near(right.framework_seconds, left.framework_seconds));
        const Evaluation &a = left.evaluation, &b = right.evaluation;
        CHECK(b.verdict == a.verdict);
        CHECK(b.reason == a.reason);
        CHECK(near(b.progress, a.progress));
        CHECK(near(b.measurement.seconds, a.measurement.seconds));
        CHECK(near(b.phases.build, a.phases.build));
        CHECK(b.features == a.features);
        CHECK(b.measurement.speedup.has_value() == a.measurement.speedup.has_value());
        if (format == RecordingFormat::csv) continue;
        REQUIRE(b.measurement.shapes.size() == a.measurement.shapes.size());
        for (std::size_t s = 0; s < a.measurement.shapes.size(); ++s) {
          CHECK(b.measurement.shapes[s].shape == a.measurement.shapes[s].shape);
          CHECK(near(b.measurement.shapes[s].samples, a.measurement.shapes[s].samples));
          CHECK(near(b.measurement.shapes[s].median, a.measurement.shapes[s].median));
        }
      }
    }
  }
}

TEST_CASE("write_recording: a tunable with the name of what a cachefile says of a trial") {
  const Space space = Space::build(
      {Tunable{.name = "time", .values = {std::int64_t{1}, std::int64_t{2}}, .default_index = 0}});
  const Recording recording{"", "k", "", "", space, {}, {}};
  const std::string words =
      "a tunable has the name of what a cachefile says of a trial: time; rename it, or write a T4 file";
  try {
    (void)cachefile_text(recording);
    FAIL("it was written");
  } catch (const ConfigError& error) {
    CHECK_MESSAGE(std::string(error.what()).find(words) != std::string::npos, error.what());
  }
}

TEST_CASE("write_recording: a cachefile as Kernel Tuner wants it") {
  const Recording recording = parse_recording(recordings::old_cachefile, "a.json");
  const std::string text = cachefile_text(recording);
  CHECK(text.ends_with("}}\n}\n"));  // anything else is taken for a file that was cut off
  const auto json = nlohmann::ordered_json::parse(text);
  const auto first = nlohmann::ordered_json::parse(
      recordings::old_cachefile.substr(0, recordings::old_cachefile.find("\"cache\"")) + "\"cache\": 0}");
  for (const char* key : {"device_name", "kernel_name", "problem_size", "tune_params_keys", "tune_params"})
    CHECK(json.at(key) == first.at(key));
  CHECK(json.at("objective") == nlohmann::ordered_json::array({"time"}));
  CHECK(json.at("cache").size() == 6);
  const auto& ok = json.at("cache").at("16,1,True");
  CHECK(ok.at("time") == 2.0);
  CHECK(ok.at("times") == nlohmann::ordered_json::array({1.5, 2.5, 2.0}));
  CHECK(ok.at("compile_time") == 900.5);
  CHECK(ok.at("framework_time") == 5.5);
  CHECK(ok.at("GFLOP/s") == 1948.5);
  CHECK_FALSE(ok.contains("__error__"));
  const auto& failed = json.at("cache").at("32,1,True");
  CHECK(failed.at("__error__") == "RuntimeFailedConfig");
  CHECK_FALSE(failed.contains("time"));
  CHECK_FALSE(failed.contains("reason"));  // it says no more than the error
  CHECK(failed.at("fast") == true);
}

TEST_CASE("write_recording: what was read in milliseconds is written so that it reads the same") {
  Rng rng(9);
  std::vector<double> values{1e-9, 1.0 / 3, 3.8753279224038124e-3, 1e6};
  for (int i = 0; i < 20000; ++i)
    values.push_back(std::ldexp(rng.uniform(0.5, 1.0), static_cast<int>(rng.below(60)) - 40));
  for (double& value : values) value /= 1e3;
  const Space space = Space::build({Tunable::integer("i", 0, static_cast<std::int64_t>(values.size()) - 1)});
  Recording recording{"r", "k", "d", "1", space, {}};
  for (std::size_t i = 0; i < values.size(); ++i)
    recording.trials.push_back(
        {Config{{static_cast<std::uint32_t>(i)}}, Evaluation::succeeded(values[i]), "", 0});
  const Recording again = parse_recording(cachefile_text(recording), "again");
  std::size_t same = 0;
  for (std::size_t i = 0; i < values.size(); ++i) same += again.objective(i) == values[i] ? 1 : 0;
  CHECK(same == values.size());
}

TEST_CASE("write_recording: keys as Python writes them") {
  const std::vector<double> numbers{1.0, 0.1, 1e-4, 1e-5, 1e15, 1e16, 123456789012345680.0, -2.5};
  const Space space = Space::build({Tunable::floating("x", numbers), Tunable::boolean("y")});
  const char* const python[] = {
      "1.0", "0.1", "0.0001", "1e-05", "1000000000000000.0", "1e+16", "1.2345678901234568e+17", "-2.5"};
  for (std::uint32_t i = 0; i < numbers.size(); ++i)
    CHECK(cachefile_key(space, Config{{i, i % 2}}) ==
          std::string(python[i]) + (i % 2 == 1 ? ",True" : ",False"));
}

TEST_CASE("write_recording: the format by the file's name, and the file whole or not at all") {
  const recordings::Shelf shelf;
  const Recording recording = parse_recording(recordings::old_cachefile, "a.json");
  CHECK(recording_format_of("x/a.json") == RecordingFormat::cachefile);
  CHECK(recording_format_of("a.json.gz") == RecordingFormat::cachefile);
  CHECK(recording_format_of("a.t4.json.gz") == RecordingFormat::t4);
  CHECK(recording_format_of("a_T4.json") == RecordingFormat::t4);
  CHECK(recording_format_of("a.jsonl") == RecordingFormat::json_lines);
  CHECK(recording_format_of("a.csv.gz") == RecordingFormat::csv);
  CHECK_FALSE(recording_format_of("a.txt").has_value());
  for (const RecordingFormat format : formats) CHECK(recording_format_from(to_string(format)) == format);
  CHECK_FALSE(recording_format_from("xml").has_value());
  for (const char* name : {"a.json", "a.json.gz", "a.t4.json", "a.t4.json.gz", "a.jsonl", "a.csv.gz"}) {
    CAPTURE(name);
    write_recording(recording, shelf.path(name));
    const Recording again = read_recording(shelf.path(name));
    CHECK(again.trials.size() == 6);
    CHECK(again.name == "a");
    const std::string text = recordings::text_of(shelf.path(name));
    CHECK(text.starts_with("\x1F\x8B") == std::string(name).ends_with(".gz"));
  }
  write_recording(recording, shelf.path("odd.txt"), RecordingFormat::t4);
  CHECK(read_recording(shelf.path("odd.txt")).trials.size() == 6);
  CHECK_THROWS_AS(write_recording(recording, shelf.path("b.txt")), ConfigError);
  CHECK_THROWS_AS(write_recording(recording, shelf.path("no/such/folder.json")), ConfigError);
  CHECK_THROWS_AS((void)export_text(recording, RecordingFormat::t4), ConfigError);
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(shelf.path("."))) ++files;
  CHECK(files == 7);  // nothing half written lies about
}

TEST_CASE("write_recording: bytes that are no UTF-8 do not break the file") {
  Recording recording = parse_recording(recordings::old_cachefile, "a.json");
  recording.trials[1].evaluation.reason = "caf\xC3\xA9 \xFF\xC3 \x01 \xED\xA0\x80";
  const Recording again = parse_recording(cachefile_text(recording), "b");
  CHECK(again.trials[1].evaluation.reason.starts_with("caf\xC3\xA9 \xEF\xBF\xBD\xEF\xBF\xBD \xEF\xBF\xBD "));
  CHECK(nlohmann::json::accept(cachefile_text(recording)));
}

TEST_CASE("T4: roles of tunables are written and read") {
  const std::string text = t4_text(with_roles());
  CHECK(text.find(R"("tune_param_roles": {"block": "threads"})") != std::string::npos);
  const recordings::Shelf shelf;
  const Recording back = shelf.read("r.t4.json", text);
  CHECK(back.space.tunable(*back.space.find("block")).role == TunableRole::threads);
  CHECK(back.space.tunable(*back.space.find("fast")).role == TunableRole::none);
  std::string wrong = text;
  wrong.replace(wrong.find("\"threads\""), 9, "\"thread\"");
  std::string error;
  try {
    (void)shelf.read("wrong.t4.json", wrong);
  } catch (const ConfigError& caught) {
    error = caught.what();
  }
  CHECK(error.find("the role of block is thread, which is not one of block_size, warps, threads") !=
        std::string::npos);
}
