// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <optional>

#include "csv_text.hpp"
#include "evaluations.hpp"
#include "json_reader.hpp"
#include "kernelsearch/core/error.hpp"
#include "raw_recording.hpp"
#include "units.hpp"
#include "xml_reader.hpp"

/// What KTT's `Tuner::SaveResults` writes as JSON and as XML: the same fields under the same names.
namespace kernelsearch::recorded {
namespace {

/// One `KernelResult`; times are in the file's unit.
struct KttResult {
  std::string status{};
  NamedValues configuration{};
  double duration = 0, overhead = 0, validation = 0;
  std::optional<double> compilation{};  ///< files before 2.2 have it within the overhead only
  std::vector<std::string> functions{};
  Features features{};
};

class KttFile {
 public:
  KttFile(const std::string& source, const ReadRecordingOptions& options) : source_(source) {
    if (!options.unit.empty()) unit_ = unit_of_time(options.unit);
  }

  void metadata(std::string_view key, std::string_view text) {
    if (key == "Device") raw_.device = text;
    if (key != "TimeUnit") return;
    const auto unit = in_a_second(text);
    if (!unit)
      detail::raise<ConfigError>("unknown unit of time", source_ + ": " + std::string(text),
                                 "TimeUnit is Nanoseconds, Microseconds, Milliseconds or Seconds");
    unit_ = *unit;
  }

  void kernel(std::string_view name) { raw_.kernel = name; }

  static void field(KttResult& result, std::string_view key, double value) {
    if (key == "TotalDuration") result.duration = value;
    if (key == "TotalOverhead") result.overhead = value;
    if (key == "ValidationOverhead") result.validation = value;
    if (key == "CompilationOverhead") result.compilation = value;
  }

  void add(KttResult result) { results_.push_back(std::move(result)); }

  RawRecording finish(bool cut) {
    if (!unit_)
      detail::raise<ConfigError>("the file names no unit of time", source_ + " has no TimeUnit",
                                 "give --unit us, or the unit that KTT was told");
    std::size_t several = 0;
    for (KttResult& result : results_) {
      RawTrial trial;
      if (result.functions.size() > 1) {
        result.features = {};
        ++several;
      }
      trial.evaluation = judge(result);
      trial.framework_seconds =
          std::max(0.0, result.overhead - result.validation - result.compilation.value_or(0)) / *unit_;
      if (!std::isfinite(trial.framework_seconds)) trial.framework_seconds = 0;
      if (const std::string wrong = add_named(raw_, result.configuration, std::move(trial)); !wrong.empty())
        detail::raise<ConfigError>("result " + std::to_string(raw_.trials.size() + 1) + " has other tunables",
                                   source_ + ": " + wrong, "give a file of one kernel's results");
    }
    if (several > 0)
      raw_.notes.push_back("counters of " + counted(several, "result") +
                           " with several kernel functions: left out");
    if (cut) raw_.notes.push_back("the file ends too early: read up to its last whole result");
    raw_.notes.push_back("KTT keeps no time of benchmarking: the duration of each result stands for it");
    return std::move(raw_);
  }

 private:
  Evaluation judge(KttResult& result) const {
    Evaluation evaluation;
    if (result.status == "Ok") {
      evaluation = measured(result.duration / *unit_, {});
      if (evaluation.verdict == Verdict::ok) evaluation.phases.measure = evaluation.measurement.seconds;
    } else {
      const Verdict verdict = verdict_of(result.status);
      evaluation = Evaluation::failed(verdict, reason_of(verdict, result.status));
    }
    const double build = result.compilation.value_or(0) / *unit_, check = result.validation / *unit_;
    evaluation.phases.build = std::isfinite(build) && build > 0 ? build : 0;
    evaluation.phases.check = std::isfinite(check) && check > 0 ? check : 0;
    evaluation.features = std::move(result.features);
    return evaluation;
  }

  static Verdict verdict_of(std::string_view status) {
    if (status == "ValidationFailed") return Verdict::wrong_result;
    if (status == "CompilationFailed") return Verdict::build_failed;
    if (status == "DeviceLimitsExceeded") return Verdict::rejected;
    return Verdict::crashed;
  }

  const std::string& source_;
  RawRecording raw_;
  std::optional<double> unit_;
  std::vector<KttResult> results_;
};

class KttJson {
 public:
  KttJson(std::string_view text, const std::string& source, const ReadRecordingOptions& options)
      : in_(text, source), file_(source, options) {}

  RawRecording read() {
    bool cut = false;
    try {
      in_.object([&](std::string_view key) {
        if (key == "Metadata" && in_.peek() == '{')
          in_.object([&](std::string_view what) {
            if (in_.peek() == '"')
              file_.metadata(what, in_.string());
            else
              in_.skip();
          });
        else if (key == "Results")
          in_.array([&] { result(); });
        else
          in_.skip();
      });
    } catch (const TextEnds&) {
      cut = true;
    }
    return file_.finish(cut);
  }

 private:
  void result() {
    KttResult result;
    in_.object([&](std::string_view key) {
      const char next = in_.peek();
      if (key == "KernelName" && next == '"') {
        file_.kernel(in_.string());
      } else if (key == "Status" && next == '"') {
        result.status = in_.string();
      } else if (key == "Configuration") {
        in_.array([&] { pair(result); });
      } else if (key == "ComputationResults" && next == '[') {
        in_.array([&] { computation(result); });
      } else if (next == '"' || next == '[' || next == '{' || next == 't' || next == 'f' || next == 'n') {
        in_.skip();
      } else {
        KttFile::field(result, key, in_.number());
      }
    });
    file_.add(std::move(result));
  }

  void pair(KttResult& result) {
    std::string name;
    std::optional<Value> value;
    in_.object([&](std::string_view key) {
      if (key == "Name")
        name = in_.string();
      else if (key == "Value")
        value = in_.value();
      else
        in_.skip();
    });
    if (!value) in_.fail("a tunable of the configuration before this place has no value");
    result.configuration.emplace_back(std::move(name), *std::move(value));
  }

  void computation(KttResult& result) {
    in_.object([&](std::string_view key) {
      const char next = in_.peek();
      if (key == "KernelFunction" && next == '"') {
        result.functions.emplace_back(in_.string());
      } else if (key == "CompilationData" && next == '{') {
        in_.object([&](std::string_view what) { number(result, what); });
      } else if (key == "ProfilingData" && next == '{') {
        in_.object([&](std::string_view what) {
          if (what == "Counters" && in_.peek() == '[')
            in_.array([&] { counter(result); });
          else
            in_.skip();
        });
      } else if (key == "PowerUsage" || key == "EnergyConsumption") {
        number(result, key);
      } else {
        in_.skip();
      }
    });
  }

  void number(KttResult& result, std::string_view name) {
    const std::string feature(name);
    if (const double value = csv_number(in_.value()); std::isfinite(value))
      result.features.set(feature, value);
  }

  void counter(KttResult& result) {
    std::string name;
    double value = std::nan("");
    in_.object([&](std::string_view key) {
      if (key == "Name" && in_.peek() == '"')
        name = in_.string();
      else if (key == "Value")
        value = csv_number(in_.value());
      else
        in_.skip();
    });
    if (std::isfinite(value)) result.features.set(name, value);
  }

  JsonReader in_;
  KttFile file_;
};

/// What KTT calls the value's type decides how its text is read.
Value ktt_value(std::string_view type, const std::string& text) {
  if (type == "String") return Value(text);
  return csv_value(text);
}

}  // namespace

RawRecording read_ktt_json(std::string_view text, const std::string& source,
                           const ReadRecordingOptions& options) {
  return KttJson(text, source, options).read();
}

RawRecording read_ktt_xml(std::string_view text, const std::string& source,
                          const ReadRecordingOptions& options) {
  KttFile file(source, options);
  XmlReader in(text, source);
  XmlTag tag;
  KttResult result;
  bool within = false, whole = false, cut = false;
  const auto feature = [&](const std::string& name, std::string_view text_of_it) {
    const double value = csv_number(std::string(text_of_it), std::nan(""));
    if (std::isfinite(value)) result.features.set(name, value);
  };
  try {
    while (in.next(tag)) {
      if (tag.name == "Metadata" && tag.opens)
        for (const auto& [key, value] : tag.attributes) file.metadata(key, value);
      if (tag.name == "KernelResult" && tag.opens) {
        result = {};
        within = true;
        file.kernel(tag.attribute("KernelName"));
        result.status = tag.attribute("Status");
        for (const auto& [key, value] : tag.attributes) KttFile::field(result, key, csv_number(value, 0));
      }
      if (within && tag.opens && tag.name == "Pair")
        result.configuration.emplace_back(
            tag.attribute("Name"),
            ktt_value(tag.attribute("ValueType"), std::string(tag.attribute("Value"))));
      if (within && tag.opens && tag.name == "ComputationResult") {
        result.functions.emplace_back(tag.attribute("KernelFunction"));
        for (const char* const name : {"PowerUsage", "EnergyConsumption"}) feature(name, tag.attribute(name));
      }
      if (within && tag.opens && tag.name == "CompilationData")
        for (const auto& [key, value] : tag.attributes) feature(key, value);
      if (within && tag.opens && tag.name == "Counter")
        feature(std::string(tag.attribute("Name")), tag.attribute("Value"));
      if (within && tag.closes && tag.name == "KernelResult") {
        file.add(std::move(result));
        result = {};
        within = false;
      }
      whole = whole || (tag.closes && tag.name == "TuningData");
    }
  } catch (const TextEnds&) {
    cut = true;
  }
  return file.finish(cut || !whole);
}

}  // namespace kernelsearch::recorded
