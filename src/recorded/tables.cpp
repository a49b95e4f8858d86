// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "csv_text.hpp"
#include "evaluations.hpp"
#include "json_reader.hpp"
#include "kernelsearch/core/error.hpp"
#include "raw_recording.hpp"
#include "units.hpp"

/// Tables of other tools: BAT's results as JSON and as CSV, Optuna's `trials_dataframe().to_csv()`.
namespace kernelsearch::recorded {
namespace {

/// A result of BAT, in seconds.
struct BatResult {
  std::string validity{}, error{}, time_stamp{};
  double objective = std::numeric_limits<double>::quiet_NaN(), compile = 0, total = 0;
  std::vector<double> runtimes{};
  NamedValues config{};
};

class BatFile {
 public:
  explicit BatFile(const std::string& source) : source_(source) {}

  void add(BatResult result, std::size_t number) {
    RawTrial trial;
    trial.time_stamp = std::move(result.time_stamp);
    trial.evaluation = result.validity == "Correct" ? right(result) : wrong(result);
    trial.evaluation.phases.build = duration(result.compile);
    trial.framework_seconds =
        std::max(0.0, duration(result.total) - trial.evaluation.phases.build - sum(result.runtimes));
    if (const std::string unlike = add_named(raw_, result.config, std::move(trial)); !unlike.empty())
      detail::raise<ConfigError>("result " + std::to_string(number) + " has other tunables",
                                 source_ + ": " + unlike, "give a file of one benchmark's results");
  }

  RawRecording finish(bool cut) {
    if (other_ > 0)
      raw_.notes.push_back("the objective of " + counted(other_, "result") +
                           " is not its time: the mean of its runtimes is read, the objective is a feature");
    raw_.notes.push_back("BAT's files name no unit: seconds, as BAT writes them");
    if (cut) raw_.notes.push_back("the file ends too early: read up to its last whole result");
    return std::move(raw_);
  }

 private:
  static double duration(double seconds) { return std::isfinite(seconds) && seconds > 0 ? seconds : 0; }
  static double sum(const std::vector<double>& times) {
    double all = 0;
    for (const double time : times) all += duration(time);
    return all;
  }

  Evaluation right(BatResult& result) {
    std::vector<double> samples;
    for (const double time : result.runtimes)
      if (duration(time) > 0) samples.push_back(time);
    const double objective = result.objective;
    if (samples.empty()) return measured(objective, {});
    const double mean = sum(samples) / static_cast<double>(samples.size());
    const bool time = std::abs(objective - mean) <= 1e-3 * mean;
    std::vector<ShapeMeasurement> shapes(1);
    shapes[0].samples = std::move(samples);
    Evaluation evaluation = measured(time ? objective : mean, std::move(shapes));
    evaluation.phases.measure = sum(result.runtimes);
    if (!time && std::isfinite(objective)) evaluation.features.set("objective", objective);
    other_ += time ? 0 : 1;
    return evaluation;
  }

  static Evaluation wrong(const BatResult& result) {
    Verdict verdict = Verdict::crashed;
    if (result.validity.find("ompil") != std::string::npos) verdict = Verdict::build_failed;
    if (result.validity.find("orrect") != std::string::npos) verdict = Verdict::wrong_result;
    std::string reason = result.validity.empty() ? "no validity" : result.validity;
    if (!result.error.empty() && result.error != "no error") reason += ": " + result.error;
    return Evaluation::failed(verdict, reason);
  }

  const std::string& source_;
  RawRecording raw_;
  std::size_t other_ = 0;
};

/// A list of numbers in the text of a field, as pandas writes it.
std::vector<double> listed_numbers(const std::string& text) {
  std::vector<double> numbers;
  std::string one;
  for (const char c : text + ",") {
    if (c != ',' && c != ']') {
      if (c != '[' && c != ' ') one += c;
      continue;
    }
    if (!one.empty()) numbers.push_back(csv_number(one, std::numeric_limits<double>::quiet_NaN()));
    one.clear();
  }
  return numbers;
}

/// A text or number of JSON as the text of a field.
std::string field_text(JsonReader& in) {
  if (in.peek() == '{' || in.peek() == '[') return std::string(in.skip());
  return to_string(in.value());
}

BatResult bat_result(JsonReader& in) {
  BatResult result;
  const auto number = [&] { return csv_number(field_text(in), std::numeric_limits<double>::quiet_NaN()); };
  in.object([&](std::string_view name) {
    const std::string key(name);
    if (key == "config" && in.peek() == '{') {
      in.object([&](std::string_view tunable) {
        std::string given(tunable);
        result.config.emplace_back(std::move(given), in.value());
      });
    } else if (key == "objective") {
      result.objective = number();
    } else if (key == "validity") {
      result.validity = field_text(in);
    } else if (key == "error" && in.peek() == '"') {
      result.error = in.string();
    } else if (key == "timestamp") {
      result.time_stamp = field_text(in);
    } else if (key == "times" && in.peek() == '{') {
      in.object([&](std::string_view what) {
        if (what == "runtimes")
          result.runtimes = listed_numbers(field_text(in));
        else if (what == "compile_time")
          result.compile = number();
        else if (what == "total_time")
          result.total = number();
        else
          in.skip();
      });
    } else {
      in.skip();
    }
  });
  return result;
}

/// `0 days 00:00:01.250000` in seconds; 0 where it is nothing of the kind.
double days_and_time(const std::string& text) {
  int days = 0, hours = 0, minutes = 0, used = 0;
  if (std::sscanf(text.c_str(), "%d days %d:%d:%n", &days, &hours, &minutes, &used) != 3 || used == 0)
    return 0;
  const double seconds = csv_number(text.substr(static_cast<std::size_t>(used)), -1);
  return seconds < 0 || days < 0 ? 0 : days * 86400.0 + hours * 3600.0 + minutes * 60.0 + seconds;
}

[[noreturn]] void bad_table(const std::string& source, std::size_t line, const std::string& what) {
  detail::raise<ConfigError>(source + ":" + std::to_string(line) + ": not a line of such a table", what,
                             "take the line out, or write the table again");
}

/// Refuses a line of the table from `source`.
auto refusing(const std::string& source) {
  return [&source](std::size_t line, const std::string& what) { bad_table(source, line, what); };
}

}  // namespace

RawRecording read_bat_json(std::string_view text, const std::string& source) {
  BatFile file(source);
  JsonReader in(text, source);
  std::size_t number = 0;
  try {
    in.array([&] { file.add(bat_result(in), ++number); });
  } catch (const TextEnds&) {
    return file.finish(true);
  }
  return file.finish(false);
}

RawRecording read_bat_csv(std::string_view text, const std::string& source) {
  BatFile file(source);
  std::size_t number = 0;
  const bool cut = each_csv_row(text, refusing(source),
                                [&](const CsvRow& row, const std::vector<std::string>& header,
                                    const std::vector<std::string>& fields, std::size_t) {
                                  BatResult result;
                                  result.validity = row.text("validity");
                                  result.error = row.text("error");
                                  result.time_stamp = row.text("timestamp");
                                  result.objective =
                                      row.number("objective", std::numeric_limits<double>::quiet_NaN());
                                  result.compile = row.number("times.compile_time");
                                  result.total = row.number("times.total_time");
                                  result.runtimes = listed_numbers(row.text("times.runtimes"));
                                  for (std::size_t i = 0; i < header.size(); ++i)
                                    if (header[i].starts_with("config."))
                                      result.config.emplace_back(header[i].substr(7), csv_value(fields[i]));
                                  file.add(std::move(result), ++number);
                                });
  return file.finish(cut);
}

RawRecording read_optuna(std::string_view text, const std::string& source,
                         const ReadRecordingOptions& options) {
  if (options.unit.empty())
    detail::raise<ConfigError>(
        "a unit is missing", source + ": Optuna's trials, which do not say what their `value` is",
        "give --unit ms (or s, us, ns) if it is a time; only recordings of times are read");
  const double unit = unit_of_time(options.unit);
  RawRecording raw;
  std::size_t open = 0;
  const bool cut =
      each_csv_row(text, refusing(source),
                   [&](const CsvRow& row, const std::vector<std::string>& header,
                       const std::vector<std::string>& fields, std::size_t line) {
                     const std::string state = row.text("state");
                     if (state == "RUNNING" || state == "WAITING") {
                       ++open;
                       return;
                     }
                     RawTrial trial;
                     if (state == "COMPLETE")
                       trial.evaluation =
                           measured(row.number("value", std::numeric_limits<double>::quiet_NaN()) / unit, {});
                     else if (state == "PRUNED")
                       trial.evaluation = Evaluation::failed(Verdict::timed_out, "Optuna's pruner ended it");
                     else if (state == "FAIL")
                       trial.evaluation = Evaluation::failed(Verdict::crashed, "the trial failed");
                     else
                       bad_table(source, line, "the state " + state);
                     trial.evaluation.phases.measure = days_and_time(row.text("duration"));
                     trial.time_stamp = row.text("datetime_complete");
                     NamedValues values;
                     for (std::size_t i = 0; i < header.size(); ++i) {
                       if (header[i].starts_with("params_"))
                         values.emplace_back(header[i].substr(7), csv_value(fields[i]));
                       if (header[i].starts_with("user_attrs_"))
                         if (const double value = csv_number(fields[i], std::nan("")); std::isfinite(value))
                           trial.evaluation.features.set(header[i].substr(11), value);
                     }
                     if (const std::string wrong = add_named(raw, values, std::move(trial)); !wrong.empty())
                       bad_table(source, line, wrong);
                   });
  if (open > 0) raw.notes.push_back(counted(open, "trial") + " that had not ended: left out");
  if (cut) raw.notes.push_back("the last line was cut in the middle: left out");
  raw.notes.push_back("`value` is a time in " + options.unit + ", as was said");
  return raw;
}

}  // namespace kernelsearch::recorded
