// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "evaluations.hpp"
#include "json_reader.hpp"
#include "kernelsearch/core/error.hpp"
#include "raw_recording.hpp"
#include "units.hpp"

namespace kernelsearch::recorded {
namespace {

class T4 {
 public:
  T4(std::string_view text, const std::string& source, double assumed_unit)
      : text_(text), source_(source), assumed_unit_(assumed_unit) {}

  RawRecording read() {
    JsonReader in(text_, source_);
    std::optional<std::size_t> results;
    bool cut = false;
    try {
      in.object([&](std::string_view key) {
        if (key == "results") {
          in.peek();
          results = in.position();
          in.skip();
        } else if (key == "metadata" && in.peek() == '{') {
          metadata(in);
        } else {
          in.skip();
        }
      });
    } catch (const TextEnds&) {
      cut = true;
    }
    if (!results)
      detail::raise<ConfigError>("not a whole T4 file", source_ + " has no \"results\"",
                                 "give a results file, not its metadata");
    survey(*results);
    if (!unit_known_ && assumed_unit_ > 0)
      unit_ = assumed_unit_;
    else if (!unit_known_)
      raw_.notes.push_back("the file names no unit of time: milliseconds, as Kernel Tuner writes");
    bool unfinished = false;
    JsonReader again(text_, source_, *results);  // only now is the unit known: Kernel Tuner writes it last
    try {
      again.array([&] {
        unfinished = true;
        result(again);
        unfinished = false;
      });
    } catch (const TextEnds&) {
    }
    if (unfinished)
      raw_.notes.push_back("the last result was cut in the middle: left out");
    else if (cut)
      raw_.notes.push_back("the closing brackets were missing, as after a kill");
    if (summed_ > 0)
      raw_.notes.push_back(counted(summed_, "result") +
                           " without time of benchmarking: the sum of the runtimes stands for it");
    return std::move(raw_);
  }

 private:
  /// What the results were made for and in which unit, by the first that says both. KTT says the unit there
  /// and nowhere else.
  void survey(std::size_t results) {
    struct Enough {};
    JsonReader in(text_, source_, results);
    try {
      in.array([&] {
        std::vector<std::string> objectives;
        std::vector<std::pair<std::string, std::string>> measured;
        in.object([&](std::string_view key) {
          if (key == "objectives" && in.peek() == '[') {
            in.array([&] { objectives.push_back(to_string(in.value())); });
          } else if (key == "measurements" && in.peek() == '[') {
            in.array([&] {
              auto& [name, unit] = measured.emplace_back();
              in.object([&, &name = name, &unit = unit](std::string_view what) {
                if (in.peek() != '"')
                  in.skip();
                else if (what == "name")
                  name = in.string();
                else if (what == "unit")
                  unit = in.string();
                else
                  in.skip();
              });
            });
          } else {
            in.skip();
          }
        });
        if (objectives.empty()) return;
        take_objective(objectives, measured, in);
        throw Enough{};
      });
    } catch (const TextEnds&) {
    } catch (const Enough&) {
    }
  }

  /// The first objective that is a time is what is read; without one the measurement `time`, where it is.
  void take_objective(const std::vector<std::string>& objectives,
                      const std::vector<std::pair<std::string, std::string>>& measured,
                      const JsonReader& in) {
    const auto unit_of = [&](const std::string& name) {
      const auto found =
          std::find_if(measured.begin(), measured.end(), [&](const auto& one) { return one.first == name; });
      return found == measured.end() ? std::string() : found->second;
    };
    const auto time = std::find_if(objectives.begin(), objectives.end(), [&](const std::string& name) {
      return !other_objective(name, unit_of(name));
    });
    if (time == objectives.end()) {
      const auto other = other_objective(objectives.front(), unit_of(objectives.front()));
      if (objectives.front() == "time") in.fail("its times have an unknown unit: " + unit_of("time"));
      // The runtimes of such a file may be what was wanted instead.
      if (std::none_of(measured.begin(), measured.end(), [](const auto& one) { return one.first == "time"; }))
        detail::raise<ConfigError>("the recording has no times",
                                   source_ + ": it was recorded for " + other->words,
                                   "only recordings of times are read: give a measurement named `time`");
      if (objectives.size() == 1)
        raw_.notes.push_back("recorded for " + other->words + "; it is the times that are read");
    } else {
      objective_ = *time;
      if (const auto scale = in_a_second(unit_of(*time)); scale && !unit_known_) {
        unit_ = *scale;
        unit_known_ = true;
      }
    }
    if (objectives.size() > 1) raw_.notes.push_back(several_objectives(objectives, objective_));
  }

  void metadata(JsonReader& in) {
    in.object([&](std::string_view key) {
      if (in.peek() == '"') {
        const std::string text(in.string());
        if (key == "timeunit") {
          const auto unit = in_a_second(text);
          if (!unit) in.fail("unknown unit of time: " + text);
          unit_ = *unit;
          unit_known_ = true;
        } else if (key == "device") {
          raw_.device = text;
        } else if (key == "kernel") {
          raw_.kernel = text;
        } else if (key == "problem_size") {
          raw_.problem_size = text;
        }
      } else if (key == "tune_params" && in.peek() == '{' && raw_.names.empty()) {
        in.object([&](std::string_view name) {
          raw_.names.emplace_back(name);
          auto& values = raw_.values.emplace_back();
          in.array([&] { values.push_back(in.value()); });
        });
      } else if (key == "tune_param_roles" && in.peek() == '{') {
        in.object([&](std::string_view name) {
          std::string tunable(name);
          const std::string role(in.string());
          const std::optional<TunableRole> named = role_named(role);
          if (!named)
            in.fail("the role of " + tunable + " is " + role + ", which is not one of " + role_names());
          raw_.roles.emplace_back(std::move(tunable), *named);
        });
      } else {
        in.skip();
      }
    });
  }

  struct Fields {
    std::vector<double> runtimes{};
    double time = std::numeric_limits<double>::quiet_NaN();
    std::string invalidity{}, verdict{}, reason{}, error{}, time_text{};
    double correctness = 0;
    bool benchmarked = false, failed = false;
    std::vector<ShapeMeasurement> shapes{};
    std::optional<Speedup> speedup{};
    PhaseSeconds phases{};
    Features features{};
  };

  void result(JsonReader& in) {
    RawTrial trial;
    Fields fields;
    bool configured = false;
    in.object([&](std::string_view key) {
      if (key == "configuration") {
        configuration(in, trial.values);
        configured = true;
      } else if (key == "times") {
        times(in, trial, fields);
      } else if (key == "measurements") {
        in.array([&] { measurement(in, fields); });
      } else if (key == "correctness") {
        fields.correctness = in.number();
      } else if (in.peek() != '"') {
        in.skip();
      } else {
        const std::string_view text = in.string();
        if (key == "timestamp") trial.time_stamp = text;
        if (key == "invalidity") fields.invalidity = text;
        if (key == "verdict") fields.verdict = text;
        if (key == "reason") fields.reason = text;
      }
    });
    if (!configured) in.fail("the result before this place has no configuration");
    trial.evaluation = judge(std::move(fields));
    raw_.trials.push_back(std::move(trial));
  }

  void configuration(JsonReader& in, std::vector<Value>& values) {
    const bool first = raw_.names.empty();
    values.resize(raw_.names.size());
    std::size_t given = 0;
    in.object([&](std::string_view name) {
      if (first) {
        raw_.names.emplace_back(name);
        raw_.values.emplace_back();
        values.emplace_back();
      }
      std::size_t at = given;
      if (at >= raw_.names.size() || raw_.names[at] != name)
        at = static_cast<std::size_t>(std::find(raw_.names.begin(), raw_.names.end(), name) -
                                      raw_.names.begin());
      if (at == raw_.names.size()) in.fail("a tunable that the earlier results lack: " + std::string(name));
      values[at] = in.value();
      ++given;
    });
    if (given != raw_.names.size()) in.fail("the configuration before this place lacks a tunable");
  }

  void times(JsonReader& in, RawTrial& trial, Fields& fields) {
    in.object([&](std::string_view key) {
      if (key == "runtimes") {
        in.array([&] {
          const double sample = in.number() / unit_;
          if (std::isfinite(sample) && sample > 0) fields.runtimes.push_back(sample);
        });
        return;
      }
      if (in.peek() == 'n' || in.peek() == '"' || in.peek() == '[' || in.peek() == '{') {
        in.skip();
        return;
      }
      const double seconds = in.number() / unit_;
      if (key == "compilation" || key == "compilation_time") {  // Kernel Tuner's name and the schema's
        fields.phases.build = seconds;
      } else if (key == "validation") {
        fields.phases.check = seconds;
      } else if (key == "benchmark") {
        fields.phases.measure = seconds;
        fields.benchmarked = true;
      } else if (key == "framework") {
        trial.framework_seconds = seconds;
      }
    });
  }

  void measurement(JsonReader& in, Fields& fields) {
    std::string name, unit, text;
    std::optional<double> number;
    std::vector<double> list;
    in.object([&](std::string_view key) {
      if (key == "name") {
        name = in.string();
      } else if (key == "unit") {
        unit = in.string();
      } else if (key != "value") {
        in.skip();
      } else if (in.peek() == '"') {
        text = in.string();
      } else if (in.peek() == '[') {
        in.array([&] { list.push_back(in.number()); });
      } else if (in.peek() == 'n' || in.peek() == 't' || in.peek() == 'f' || in.peek() == '{') {
        in.skip();
      } else {
        number = in.number();
      }
    });
    const bool is_time = name == "time" || name == objective_ || name.starts_with("times_");
    const auto known = in_a_second(unit);
    if (is_time && !known && !unit.empty()) in.fail("a time has an unknown unit: " + unit);
    const double scale = known.value_or(unit_);
    if ((name == objective_ || (name == "time" && std::isnan(fields.time))) && number) {
      fields.time = *number / scale;
      fields.failed = *number == failed_time;
    }
    if (verdict_of_error(text))
      fields.error = text;
    else if (name == objective_)
      fields.time_text = text;
    if (name.starts_with("times_") && !list.empty()) {
      ShapeMeasurement& shape = fields.shapes.emplace_back();
      shape.shape = name.substr(6);
      for (const double sample : list)
        if (std::isfinite(sample) && sample > 0) shape.samples.push_back(sample / scale);
    } else if (number && name.starts_with("speedup")) {
      if (!fields.speedup) fields.speedup.emplace();
      if (name == "speedup") fields.speedup->ratio = *number;
      if (name == "speedup_low") fields.speedup->interval.low = *number;
      if (name == "speedup_high") fields.speedup->interval.high = *number;
    } else if (!is_time && number && std::isfinite(*number)) {
      fields.features.set(name, *number);
    }
  }

  Evaluation judge(Fields fields) {
    Verdict verdict = verdict_from(fields.verdict).value_or(verdict_of_invalidity(fields.invalidity));
    if (verdict == Verdict::crashed && fields.verdict.empty())
      verdict = verdict_of_error(fields.error).value_or(verdict);  // T4 has one word for both
    double sum = 0;
    for (const double sample : fields.runtimes) sum += sample;
    Evaluation evaluation;
    if (verdict == Verdict::ok && !fields.time_text.empty()) {
      evaluation = Evaluation::failed(Verdict::crashed, "its time is not a number: " + fields.time_text);
    } else if (verdict == Verdict::ok) {
      if (std::isnan(fields.time) && !fields.runtimes.empty())
        fields.time = sum / static_cast<double>(fields.runtimes.size());
      if (fields.shapes.empty() && !fields.runtimes.empty())
        fields.shapes.emplace_back().samples = std::move(fields.runtimes);
      evaluation = fields.failed ? failed_by_time() : measured(fields.time, std::move(fields.shapes));
      if (evaluation.verdict == Verdict::ok) evaluation.measurement.speedup = fields.speedup;
    } else {
      const std::string name = fields.error.empty() ? fields.invalidity : fields.error;
      evaluation = Evaluation::failed(
          verdict, fields.reason.empty() ? reason_of(verdict, name) : std::move(fields.reason),
          fields.correctness);
    }
    if (!fields.benchmarked && sum > 0) {
      fields.phases.measure = sum;
      ++summed_;
    }
    evaluation.phases = fields.phases;
    evaluation.features = std::move(fields.features);
    return evaluation;
  }

  std::string_view text_;
  const std::string& source_;
  RawRecording raw_;
  double unit_ = 1e3;  // of the file's times in a second
  bool unit_known_ = false;
  std::string objective_ = "time";  ///< the measurement that is the time
  std::size_t summed_ = 0;
  double assumed_unit_;  ///< where the file names none; 0: none is assumed
};

}  // namespace

RawRecording read_t4(std::string_view text, const std::string& source, const ReadRecordingOptions& options) {
  return T4(text, source, options.unit.empty() ? 0 : unit_of_time(options.unit)).read();
}

}  // namespace kernelsearch::recorded
