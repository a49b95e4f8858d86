// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sys/utsname.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "export_formats.hpp"
#include "kernelsearch/store/clean_json.hpp"
#include "kernelsearch/store/json.hpp"
#include "t4_words.hpp"

namespace kernelsearch::detail {
namespace {

using nlohmann::ordered_json;

constexpr double milliseconds = 1e3;  // of a second; T4's unit, as Kernel Tuner writes it

/// JSON has no infinities; T4 takes texts for measured values.
ordered_json number_or_text(double value) {
  if (std::isfinite(value)) return value;
  return ordered_json(value_to_json(value));
}

ordered_json measurement(const std::string& name, ordered_json value, const char* unit) {
  return {{"name", name}, {"value", std::move(value)}, {"unit", unit}};
}

ordered_json in_milliseconds(const std::vector<double>& seconds) {
  ordered_json list = ordered_json::array();
  for (const double one : seconds) list.push_back(number_or_text(one * milliseconds));
  return list;
}

ordered_json result_of(const StoredTrial& trial) {
  const Evaluation& evaluation = trial.outcome.evaluation;
  const Measurement& measured = evaluation.measurement;
  const bool ok = trial.outcome.ok();
  // T4 knows one kind of run time; with several shapes that is their aggregate, and each shape's samples are
  // among the measurements.
  ordered_json runtimes = ordered_json::array();
  if (ok && measured.shapes.size() == 1)
    runtimes = in_milliseconds(measured.shapes.front().samples);
  else if (ok)
    runtimes.push_back(number_or_text(measured.seconds * milliseconds));

  ordered_json measurements = ordered_json::array();
  if (ok) {
    measurements.push_back(measurement("time", number_or_text(measured.seconds * milliseconds), "ms"));
    if (measured.speedup)
      measurements.push_back(measurement("speedup", number_or_text(measured.speedup->ratio), ""));
    for (const ShapeMeasurement& shape : measured.shapes)
      measurements.push_back(measurement("times_" + shape.shape, in_milliseconds(shape.samples), "ms"));
  }
  for (const auto& [name, value] : evaluation.features)
    measurements.push_back(measurement(name, number_or_text(value), ""));

  // "compilation_time" is what the schema names, "compilation" and "benchmark" what Kernel Tuner writes.
  return {{"timestamp", trial.at},
          {"configuration", ordered_json(parse_json(trial.candidate->values, "stored values"))},
          {"objectives", {"time"}},
          {"times",
           {{"compilation_time", evaluation.phases.build * milliseconds},
            {"compilation", evaluation.phases.build * milliseconds},
            {"benchmark", evaluation.phases.measure * milliseconds},
            {"validation", evaluation.phases.check * milliseconds},
            {"runtimes", std::move(runtimes)}}},
          {"invalidity", t4_invalidity(evaluation.verdict)},
          {"correctness", t4_correctness(evaluation)},
          {"measurements", std::move(measurements)}};
}

std::string text_of(const ordered_json& json) {
  return clean_json(json.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

}  // namespace

void export_t4(const ExportSource& source, std::ostream& out) {
  // Written piece by piece, so that a long run need not fit into memory.
  out << R"({"schema_version":"1.0.0","metadata":{"timeunit":"milliseconds"},"results":[)";
  const char* separator = "\n";
  source.each_trial([&](const StoredTrial& trial) {
    if (!trial.candidate) return;  // nothing was tried: T4 has no place for that
    out << separator << text_of(result_of(trial));
    separator = ",\n";
  });
  out << "\n]}\n";
}

void export_t4_metadata(const RunRow& run, std::ostream& out) {
  utsname system{};
  const bool known = uname(&system) == 0;
  const std::string name = known ? system.sysname : "unknown";
  const ordered_json metadata = {
      {"schema_version", "1.0.0"},
      {"metadata",
       {{"operating_system", name},
        {"hardware",
         {{"hardware_description", ordered_json::array({{{"device", run.info.device}}})},
          {"operating_system", name}}},
        {"environment",
         {{"device_query", ordered_json(parse_json(run.info.environment, "the environment of a run"))},
          {"requirements", {"kernelsearch==" + run.version, run.info.toolchain}}}}}}};
  out << text_of(metadata) << '\n';
}

}  // namespace kernelsearch::detail
