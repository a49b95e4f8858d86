// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "evaluations.hpp"
#include "json_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/recorded/write_recording.hpp"
#include "raw_recording.hpp"

namespace kernelsearch {
namespace {

using namespace recorded;

class CachefileWriter {
 public:
  explicit CachefileWriter(const Recording& recording) : recording_(recording), space_(recording.space) {}

  std::string write() {
    out_.reserve(recording_.trials.size() * 1024);
    header();
    const char* separator = "";
    for (const RecordedTrial& trial : recording_.trials) {
      out_ += separator;
      record(trial);
      separator = ",\n";
    }
    // Kernel Tuner takes a file that ends otherwise for one that was cut off.
    out_ += "}\n}\n";
    return std::move(out_);
  }

 private:
  void header() {
    out_ += "{\n\"device_name\": " + json_string(recording_.device);
    out_ += ",\n\"kernel_name\": " + json_string(recording_.kernel);
    out_ += ",\n\"problem_size\": " + problem_size() + ",\n\"tune_params_keys\": [";
    for (std::size_t i = 0; i < space_.size(); ++i)
      out_ += (i == 0 ? "\n" : ",\n") + json_string(space_.tunable(i).name);
    out_ += "\n],\n\"tune_params\": {";
    for (std::size_t i = 0; i < space_.size(); ++i) {
      out_ += (i == 0 ? "\n" : ",\n") + json_string(space_.tunable(i).name) + ": [";
      const char* separator = "";
      for (const Value& value : space_.tunable(i).values) {
        out_ += separator + value_text(value);
        separator = ", ";
      }
      out_ += "]";
    }
    out_ += "\n},\n\"objective\": [\n\"time\"\n],\n\"cache\": {\n";
  }

  /// Sizes as numbers where they are some, which is what Kernel Tuner compares; else as they are.
  std::string problem_size() const {
    const std::string& text = recording_.problem_size;
    if (text.empty()) return "[]";
    std::string sizes;
    const bool list = text.front() == '[' && text.size() > 1;
    const char* const last = text.data() + text.size() - (list ? 1 : 0);
    for (const char* at = text.data() + (list ? 1 : 0); at != last;) {
      std::int64_t size = 0;
      const auto [end, error] = std::from_chars(at, last, size);
      if (error != std::errc{} || (end != last && (!list || *end != ',' || end + 1 == last)))
        return json_string(text);
      sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
      at = end == last ? end : end + 1;
    }
    if (list && text.back() != ']') return json_string(text);
    return list ? "[" + sizes + "]" : sizes;
  }

  void entry(std::string_view name, const std::string& json) {
    out_ += ", " + json_string(name) + ": " + json;
  }
  void milliseconds(std::string_view name, double seconds) {
    entry(name, number_text(to_milliseconds(seconds)));
  }

  void record(const RecordedTrial& trial) {
    out_ += json_string(cachefile_key(space_, trial.config)) + ": {";
    for (std::size_t i = 0; i < space_.size(); ++i)
      out_ += (i == 0 ? "" : ", ") + json_string(space_.tunable(i).name) + ": " +
              value_text(space_.value(trial.config, i));
    const Evaluation& evaluation = trial.evaluation;
    if (evaluation.verdict == Verdict::ok)
      success(evaluation.measurement);
    else
      failure(evaluation);
    milliseconds("compile_time", evaluation.phases.build);
    milliseconds("verification_time", evaluation.phases.check);
    milliseconds("benchmark_time", evaluation.phases.measure);
    for (const auto& [name, value] : evaluation.features)
      if (!taken(name)) entry(name, number_text(value));
    entry("strategy_time", "0");
    milliseconds("framework_time", trial.framework_seconds);
    if (!trial.time_stamp.empty()) entry("timestamp", json_string(trial.time_stamp));
    out_ += "}";
  }

  /// Whether an entry of that name already means something.
  bool taken(std::string_view name) const { return cachefile_entry(name) || space_.find(name).has_value(); }

  void success(const Measurement& measurement) {
    milliseconds("time", measurement.seconds);
    if (measurement.shapes.size() == 1) {
      entry("times", milliseconds_text(measurement.shapes[0].samples));
    } else {  // one list for what knows no shapes, and one for each
      entry("times", milliseconds_text({measurement.seconds}));
      for (const ShapeMeasurement& shape : measurement.shapes)
        entry("times_" + shape.shape, milliseconds_text(shape.samples));
    }
    if (!measurement.speedup) return;
    entry("speedup", number_text(measurement.speedup->ratio));
    entry("speedup_low", number_text(measurement.speedup->interval.low));
    entry("speedup_high", number_text(measurement.speedup->interval.high));
  }

  /// Kernel Tuner has three words for failures; ours follow where they say more.
  void failure(const Evaluation& evaluation) {
    const std::string_view name = error_name(evaluation.verdict);
    const Verdict meant = verdict_of_error(name).value_or(Verdict::crashed);
    entry("__error__", json_string(name));
    if (meant != evaluation.verdict) entry("verdict", json_string(to_string(evaluation.verdict)));
    if (evaluation.reason != reason_of(meant, name)) entry("reason", json_string(evaluation.reason));
    if (evaluation.progress != graded_progress(evaluation.verdict))
      entry("progress", number_text(evaluation.progress));
  }

  const Recording& recording_;
  const Space& space_;
  std::string out_;
};

}  // namespace

bool recorded::cachefile_entry(std::string_view name) {
  constexpr std::array<std::string_view, 15> names{
      "time",          "times",          "compile_time", "verification_time", "benchmark_time",
      "strategy_time", "framework_time", "timestamp",    "__error__",         "verdict",
      "reason",        "progress",       "speedup",      "speedup_low",       "speedup_high"};
  return std::find(names.begin(), names.end(), name) != names.end() || name.starts_with("times_");
}

std::string cachefile_text(const Recording& recording) {
  // In such a file it would be overwritten by what was measured, or the other way round.
  for (const Tunable& tunable : recording.space.tunables())
    if (cachefile_entry(tunable.name))
      detail::raise<ConfigError>("a tunable has the name of what a cachefile says of a trial", tunable.name,
                                 "rename it, or write a T4 file (.t4.json)");
  return CachefileWriter(recording).write();
}

}  // namespace kernelsearch
