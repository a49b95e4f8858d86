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

/// A Kernel Tuner cachefile, in the layout of any version.
class Cachefile {
 public:
  Cachefile(std::string_view text, const std::string& source)
      : text_(text), source_(source), in_(text, source) {}

  RawRecording read() {
    try {
      in_.object([&](std::string_view key) { entry(key); });
      if (!in_.at_end()) in_.fail("something follows the end of the recording");
    } catch (const TextEnds&) {
      cut_ = true;
    }
    if (!records_) missing("cache");
    if (raw_.names.empty()) missing("tune_params_keys");
    take_values();
    if (!read_) {
      JsonReader later(text_, source_, *records_);
      try {
        read_records(later);
      } catch (const TextEnds&) {
        cut_ = true;
      }
    }
    if (ignored_ > 0)
      raw_.notes.push_back(counted(ignored_, "entry") +
                           " of the records neither number nor sample: left out");
    if (unfinished_)
      raw_.notes.push_back("the last record was cut in the middle: left out");
    else if (cut_)
      raw_.notes.push_back("the closing brackets were missing, as after a kill");
    check_times();
    return std::move(raw_);
  }

 private:
  [[noreturn]] void missing(const std::string& key) const {
    detail::raise<ConfigError>("not a whole cachefile", source_ + " has no \"" + key + "\"",
                               cut_ ? "it is cut off before its first record: record it again"
                                    : "give a file that Kernel Tuner or kernelsearch wrote");
  }

  void entry(std::string_view key) {
    if (key == "device_name") {
      raw_.device = text_of(in_.value());
    } else if (key == "kernel_name") {
      raw_.kernel = text_of(in_.value());
    } else if (key == "problem_size") {
      raw_.problem_size = compact(in_.skip());
      if (raw_.problem_size == "[]") raw_.problem_size.clear();  // as it is written where unknown
    } else if (key == "tune_params_keys") {
      in_.array([&] {
        raw_.names.emplace_back(in_.string());
        if (cachefile_entry(raw_.names.back()))
          in_.fail("a tunable has the name of what is said of a trial, which cannot be told apart");
      });
    } else if (key == "tune_params") {
      in_.object([&](std::string_view name) {
        auto& [tunable, values] = listed_.emplace_back();
        tunable = name;
        in_.array([&, &list = values] { list.push_back(in_.value()); });
      });
    } else if (key == "objective") {
      objective();
    } else if (key == "cache") {
      in_.peek();
      records_ = in_.position();
      // Kernel Tuner writes them last; only then are the tunables known.
      if (raw_.names.empty())
        in_.skip();
      else
        read_records(in_);
    } else {
      in_.skip();
    }
  }

  static std::string text_of(const Value& value) { return to_string(value); }

  /// Without the white space, which Kernel Tuner puts between numbers.
  static std::string compact(std::string_view json) {
    std::string text;
    for (const char c : json)
      if (c != '\n' && c != '\r' && c != '\t' && c != ' ') text += c;
    return text.size() > 1 && text.front() == '"' ? text.substr(1, text.size() - 2) : text;
  }

  /// A name, or a list of names.
  void objective() {
    if (in_.peek() == '"') {
      objectives_.emplace_back(in_.string());
    } else if (in_.peek() == '[') {
      in_.array([&] { objectives_.push_back(text_of(in_.value())); });
    } else {
      in_.skip();
    }
    const auto is_time = [](const std::string& name) { return !other_objective(name, ""); };
    if (std::any_of(objectives_.begin(), objectives_.end(), is_time)) return;
    for (const std::string& name : objectives_)
      other_ += (other_.empty() ? "" : ", and for ") + other_objective(name, "")->words;
  }

  /// What was recorded may be no time at all: then no number of it is one.
  void check_times() {
    const bool timed = std::any_of(raw_.trials.begin(), raw_.trials.end(), [](const RawTrial& trial) {
      return trial.evaluation.verdict == Verdict::ok;
    });
    if (!timed && untimed_ > 0) {
      std::string names;
      for (const auto& [name, value] : raw_.trials[first_untimed_].evaluation.features)
        names += (names.empty() ? "" : ", ") + std::string(name);
      detail::raise<ConfigError>(
          "the recording has no times",
          source_ + (other_.empty() ? "" : ": it was recorded for " + other_) +
              (names.empty() ? "" : "; its records have " + names),
          "only recordings of times are read: record it with `time`, or convert what it has to a time");
    }
    if (objectives_.size() > 1)
      raw_.notes.push_back(several_objectives(objectives_, "time"));
    else if (!other_.empty())
      raw_.notes.push_back("recorded for " + other_ + "; it is the times that are read");
  }

 public:
  /// What `json.dump` makes of Kernel Tuner's results: a list of records, or that and the environment in a
  /// list.
  RawRecording read_list() {
    try {
      in_.array([&] {
        if (in_.peek() == '[') {
          JsonReader names(text_, source_, in_.position());
          names.array([&] { take_names(names); });
          in_.array([&] { one_of_list(in_); });
        } else if (!raw_.trials.empty() && is_environment()) {
          in_.object([&](std::string_view key) {
            if ((key == "device_name" || key == "device") && in_.peek() == '"')
              raw_.device = in_.string();
            else
              in_.skip();
          });
        } else {
          if (raw_.names.empty()) {
            JsonReader names(text_, source_, in_.position());
            take_names(names);
            if (raw_.names.empty()) missing("records with tunables and a time");
          }
          one_of_list(in_);
        }
      });
    } catch (const TextEnds&) {
      cut_ = true;
    }
    if (raw_.names.empty()) missing("records with tunables and a time");
    raw_.values.resize(raw_.names.size());
    if (unfinished_)
      raw_.notes.push_back("the last record was cut in the middle: left out");
    else if (cut_)
      raw_.notes.push_back("the closing brackets were missing, as after a kill");
    raw_.notes.push_back("a list of results without names of device and kernel");
    check_times();
    return std::move(raw_);
  }

 private:
  void one_of_list(JsonReader& in) {
    unfinished_ = true;
    record(in);
    unfinished_ = false;
  }

  /// The tunables of the first record are what comes before the first entry that says how it was measured.
  void take_names(JsonReader& in) {
    if (in.peek() != '{') in.fail("a record of Kernel Tuner's results is not an object");
    bool measured = !raw_.names.empty();
    in.object([&](std::string_view key) {
      measured = measured || cachefile_entry(key);
      if (!measured) raw_.names.emplace_back(key);
      in.skip();
    });
  }

  /// Whether the object that comes lacks the first tunable.
  bool is_environment() {
    unfinished_ = true;
    JsonReader look(text_, source_, in_.position());
    bool has = false;
    look.object([&](std::string_view key) {
      has = has || key == raw_.names.front();
      look.skip();
    });
    unfinished_ = false;
    return !has;
  }

  void take_values() {
    for (const std::string& name : raw_.names) {
      const auto found = std::find_if(listed_.begin(), listed_.end(),
                                      [&](const auto& entry) { return entry.first == name; });
      raw_.values.push_back(found == listed_.end() ? std::vector<Value>{} : std::move(found->second));
    }
  }

  void read_records(JsonReader& in) {
    read_ = true;
    in.object([&](std::string_view) {
      unfinished_ = true;
      record(in);
      unfinished_ = false;
    });
  }

  /// Where `name` is among the tunables; they mostly come in order.
  std::optional<std::size_t> tunable(std::string_view name, std::size_t expected) const {
    if (expected < raw_.names.size() && raw_.names[expected] == name) return expected;
    const auto found = std::find(raw_.names.begin(), raw_.names.end(), name);
    if (found == raw_.names.end()) return std::nullopt;
    return static_cast<std::size_t>(found - raw_.names.begin());
  }

  struct Fields {
    double time = std::numeric_limits<double>::quiet_NaN();
    std::string error{}, verdict{}, reason{};
    std::optional<double> progress{};
    std::optional<Speedup> speedup{};
    std::vector<ShapeMeasurement> shapes{};
    PhaseSeconds phases{};
    Features features{};
  };

  void record(JsonReader& in) {
    RawTrial trial;
    Fields fields;
    trial.values.resize(raw_.names.size());
    std::size_t given = 0;
    in.object([&](std::string_view key) {
      if (const auto at = tunable(key, given)) {
        trial.values[*at] = in.value();
        ++given;
      } else {
        field(in, key, trial, fields);
      }
    });
    if (given != raw_.names.size()) in.fail("the record before this place lacks a tunable, or has one twice");
    const bool untimed =
        fields.error.empty() && fields.verdict.empty() && std::isnan(fields.time) && fields.shapes.empty();
    if (untimed && untimed_++ == 0) first_untimed_ = raw_.trials.size();
    trial.evaluation = judge(std::move(fields));
    raw_.trials.push_back(std::move(trial));
  }

  void field(JsonReader& in, std::string_view key, RawTrial& trial, Fields& fields) {
    const char next = in.peek();
    if (next == '[') {
      samples(in, key, fields);
    } else if (next == '"') {
      const std::string_view text = in.string();
      if (key == "timestamp")
        trial.time_stamp = text;
      else if (key == "verdict")
        fields.verdict = text;
      else if (key == "reason")
        fields.reason = text;
      else if (key == "__error__" || key == "time" || verdict_of_error(text))
        fields.error = text;
      else
        ++ignored_;
    } else if (next == '{' || next == 'n' || next == 't' || next == 'f') {
      in.skip();  // null stands for what was not measured
      if (next != 'n') ++ignored_;
    } else {
      number(in.number(), key, trial, fields);
    }
  }

  static void number(double value, std::string_view key, RawTrial& trial, Fields& fields) {
    if (key == "time") {
      fields.time = from_milliseconds(value);
    } else if (key == "compile_time") {
      fields.phases.build = from_milliseconds(value);
    } else if (key == "verification_time") {
      fields.phases.check = from_milliseconds(value);
    } else if (key == "benchmark_time") {
      fields.phases.measure = from_milliseconds(value);
    } else if (key == "framework_time") {
      trial.framework_seconds = from_milliseconds(value);
    } else if (key == "progress") {
      fields.progress = value;
    } else if (key == "speedup") {
      speedup(fields).ratio = value;
    } else if (key == "speedup_low") {
      speedup(fields).interval.low = value;
    } else if (key == "speedup_high") {
      speedup(fields).interval.high = value;
    } else if (key != "strategy_time" && std::isfinite(value)) {
      fields.features.set(key, value);
    }
  }

  static Speedup& speedup(Fields& fields) {
    if (!fields.speedup) fields.speedup.emplace();
    return *fields.speedup;
  }

  /// `times`, or `times_NAME` for one of several shapes.
  void samples(JsonReader& in, std::string_view key, Fields& fields) {
    if (key != "times" && !key.starts_with("times_")) {
      in.skip();
      ++ignored_;
      return;
    }
    ShapeMeasurement shape;
    if (key.size() > 6) shape.shape = key.substr(6);
    shape.samples.reserve(32);
    in.array([&] {
      if (in.peek() == 'n') {
        in.skip();
        return;
      }
      const double sample = from_milliseconds(in.number());
      if (std::isfinite(sample) && sample > 0) shape.samples.push_back(sample);
    });
    if (!shape.samples.empty()) fields.shapes.push_back(std::move(shape));
  }

  static Evaluation judge(Fields fields) {
    Evaluation evaluation;
    const auto ours = verdict_from(fields.verdict);
    if (fields.error.empty() && (!ours || *ours == Verdict::ok)) {
      if (std::isnan(fields.time) && fields.shapes.size() == 1) {  // tuned for something else
        double sum = 0;
        for (const double sample : fields.shapes[0].samples) sum += sample;
        fields.time = sum / static_cast<double>(fields.shapes[0].samples.size());
      }
      // With lists of shapes, the plain one is for those who know none.
      if (fields.shapes.size() > 1)
        std::erase_if(fields.shapes, [](const ShapeMeasurement& shape) { return shape.shape.empty(); });
      evaluation = fields.time == from_milliseconds(failed_time)
                       ? failed_by_time()
                       : measured(fields.time, std::move(fields.shapes));
      if (evaluation.verdict == Verdict::ok) evaluation.measurement.speedup = fields.speedup;
    } else {
      const Verdict verdict = ours ? *ours : verdict_of_error(fields.error).value_or(Verdict::crashed);
      evaluation = Evaluation::failed(
          verdict, fields.reason.empty() ? reason_of(verdict, fields.error) : std::move(fields.reason));
    }
    if (fields.progress) evaluation.progress = *fields.progress;
    evaluation.phases = fields.phases;
    evaluation.features = std::move(fields.features);
    return evaluation;
  }

  std::string_view text_;
  const std::string& source_;
  JsonReader in_;
  RawRecording raw_;
  std::vector<std::pair<std::string, std::vector<Value>>> listed_;
  std::optional<std::size_t> records_;
  std::size_t ignored_ = 0, untimed_ = 0, first_untimed_ = 0;
  std::vector<std::string> objectives_;
  std::string other_;  ///< what it was recorded for, where that is not a time
  bool read_ = false, cut_ = false, unfinished_ = false;
};

}  // namespace

RawRecording read_result_list(std::string_view text, const std::string& source) {
  return Cachefile(text, source).read_list();
}

RawRecording read_cachefile(std::string_view text, const std::string& source) {
  return Cachefile(text, source).read();
}

}  // namespace kernelsearch::recorded
