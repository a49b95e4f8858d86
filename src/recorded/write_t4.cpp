// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluations.hpp"
#include "json_text.hpp"
#include "kernelsearch/recorded/write_recording.hpp"
#include "report/t4_words.hpp"

namespace kernelsearch {
namespace {

using namespace recorded;

std::string measurement(std::string_view name, const std::string& value, std::string_view unit) {
  return "{\"name\": " + json_string(name) + ", \"value\": " + value + ", \"unit\": " + json_string(unit) +
         "}";
}

std::string measurements(const Evaluation& evaluation) {
  const Measurement& measured = evaluation.measurement;
  std::string text;
  const auto add = [&text](const std::string& one) { text += (text.empty() ? "" : ", ") + one; };
  if (evaluation.verdict == Verdict::ok) {
    add(measurement("time", number_text(to_milliseconds(measured.seconds)), "ms"));
    if (measured.speedup) {
      add(measurement("speedup", number_text(measured.speedup->ratio), ""));
      add(measurement("speedup_low", number_text(measured.speedup->interval.low), ""));
      add(measurement("speedup_high", number_text(measured.speedup->interval.high), ""));
    }
    if (measured.shapes.size() > 1)
      for (const ShapeMeasurement& shape : measured.shapes)
        add(measurement("times_" + shape.shape, milliseconds_text(shape.samples), "ms"));
  }
  for (const auto& [name, value] : evaluation.features) add(measurement(name, number_text(value), ""));
  return "[" + text + "]";
}

std::string runtimes(const Evaluation& evaluation) {
  if (evaluation.verdict != Verdict::ok) return "[]";
  const auto& shapes = evaluation.measurement.shapes;
  if (shapes.size() == 1) return milliseconds_text(shapes[0].samples);
  return milliseconds_text({evaluation.measurement.seconds});
}

/// Where T4's word for a failure says less than ours.
std::string own_words(const Evaluation& evaluation) {
  if (evaluation.verdict == Verdict::ok) return "";
  return ", \"verdict\": " + json_string(to_string(evaluation.verdict)) +
         ", \"reason\": " + json_string(evaluation.reason);
}

std::string result(const Space& space, const RecordedTrial& trial) {
  const Evaluation& evaluation = trial.evaluation;
  std::string text = "{";
  if (!trial.time_stamp.empty()) text += "\"timestamp\": " + json_string(trial.time_stamp) + ", ";
  text += "\"configuration\": {";
  for (std::size_t i = 0; i < space.size(); ++i)
    text += (i == 0 ? "" : ", ") + json_string(space.tunable(i).name) + ": " +
            value_text(space.value(trial.config, i));
  const auto time = [&text](std::string_view name, double seconds) {
    text += json_string(name) + ": " + number_text(to_milliseconds(seconds)) + ", ";
  };
  text += "}, \"objectives\": [\"time\"], \"times\": {";
  time("compilation_time", evaluation.phases.build);  // the schema's name
  time("compilation", evaluation.phases.build);       // Kernel Tuner's
  time("benchmark", evaluation.phases.measure);
  time("framework", trial.framework_seconds);
  time("search_algorithm", 0.0);
  time("validation", evaluation.phases.check);
  text += "\"runtimes\": " + runtimes(evaluation) + "}, \"invalidity\": ";
  text += json_string(detail::t4_invalidity(evaluation.verdict));
  text += ", \"correctness\": " + number_text(detail::t4_correctness(evaluation));
  return text + own_words(evaluation) + ", \"measurements\": " + measurements(evaluation) + "}";
}

}  // namespace

std::string t4_text(const Recording& recording) {
  const Space& space = recording.space;
  std::string text = "{\"schema_version\": \"1.0.0\",\n\"metadata\": {\"timeunit\": \"milliseconds\"";
  text += ", \"device\": " + json_string(recording.device) + ", \"kernel\": " + json_string(recording.kernel);
  text += ", \"problem_size\": " + json_string(recording.problem_size) + ",\n\"tune_params\": {";
  for (std::size_t i = 0; i < space.size(); ++i) {
    text += (i == 0 ? "" : ", ") + json_string(space.tunable(i).name) + ": [";
    const char* separator = "";
    for (const Value& value : space.tunable(i).values) {
      text += separator + value_text(value);
      separator = ", ";
    }
    text += "]";
  }
  text += "}";
  std::string roles;  // of tunables that have one
  for (const Tunable& tunable : space.tunables())
    if (tunable.role != TunableRole::none)
      roles += (roles.empty() ? "" : ", ") + json_string(tunable.name) + ": " +
               json_string(to_string(tunable.role));
  if (!roles.empty()) text += ",\n\"tune_param_roles\": {" + roles + "}";
  text += "},\n\"results\": [";
  text.reserve(recording.trials.size() * 1024);
  const char* separator = "\n";
  for (const RecordedTrial& trial : recording.trials) {
    text += separator + result(space, trial);
    separator = ",\n";
  }
  return text + "\n]}\n";
}

}  // namespace kernelsearch
