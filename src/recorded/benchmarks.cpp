// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "csv_text.hpp"
#include "evaluations.hpp"
#include "json_reader.hpp"
#include "kernelsearch/core/error.hpp"
#include "raw_recording.hpp"
#include "units.hpp"

/// Results of benchmark libraries: what a benchmark is given as arguments or axes are the tunables.
namespace kernelsearch::recorded {
namespace {

/// A benchmark with one choice of its arguments.
struct BenchmarkEntry {
  std::string benchmark{}, label{};  ///< the benchmark, and it with its arguments
  NamedValues arguments{};
  Evaluation evaluation{};
};

/// One benchmark is a space of its arguments. Several are variants of one thing, as far as a file says: then
/// `benchmark` is the only tunable.
RawRecording as_recording(std::vector<BenchmarkEntry> entries, RawRecording raw, const std::string& source) {
  std::set<std::string> names, shapes;
  for (const BenchmarkEntry& entry : entries) {
    names.insert(entry.benchmark);
    std::string shape;
    for (const auto& [name, value] : entry.arguments) shape += name + '\n';
    shapes.insert(shape);
  }
  const bool one = names.size() == 1 && shapes.size() == 1 && !shapes.begin()->empty();
  if (names.size() == 1) raw.kernel = *names.begin();
  if (!one && names.size() > 1)
    raw.notes.push_back("the file has " + counted(names.size(), "benchmark") +
                        ": `benchmark` is the only tunable, as if they were variants of one kernel");
  for (BenchmarkEntry& entry : entries) {
    RawTrial trial;
    trial.evaluation = std::move(entry.evaluation);
    const std::string wrong = add_named(
        raw, one ? entry.arguments : NamedValues{{"benchmark", Value(entry.label)}}, std::move(trial));
    if (!wrong.empty())
      detail::raise<ConfigError>("a benchmark has an argument twice",
                                 source + ": " + entry.label + ": " + wrong, "rename the argument");
  }
  return raw;
}

bool is_number_next(JsonReader& in) {
  const char next = in.peek();
  return (next >= '0' && next <= '9') || next == '-' || next == 'N' || next == 'I';
}

/// What one run of Google Benchmark says.
struct GoogleRun {
  std::string name{}, run_name{}, type{}, aggregate{}, unit{}, error{};
  double time = std::numeric_limits<double>::quiet_NaN();
  bool failed = false;
  Features features{};
};

GoogleRun google_run(JsonReader& in) {
  GoogleRun run;
  in.object([&](std::string_view name) {
    const std::string key(name);
    if (in.peek() == '"') {
      const std::string text(in.string());
      if (key == "name") run.name = text;
      if (key == "run_name") run.run_name = text;
      if (key == "run_type") run.type = text;
      if (key == "aggregate_name") run.aggregate = text;
      if (key == "time_unit") run.unit = text;
      if (key == "error_message" || key == "skip_message") run.error = text;
    } else if (key == "error_occurred" || key == "skipped") {
      run.failed = in.skip() == "true";
    } else if (is_number_next(in)) {
      const double value = in.number();
      if (key == "real_time")
        run.time = value;
      else if (key != "iterations" && key != "repetitions" && !key.ends_with("_index") &&
               std::isfinite(value))
        run.features.set(key, value);
    } else {
      in.skip();
    }
  });
  return run;
}

/// `FAMILY/8/threads:4`: arguments are `arg1`, `arg2` or have names; how it was run is left out.
BenchmarkEntry google_entry(const std::string& name) {
  BenchmarkEntry entry;
  entry.label = name;
  std::size_t at = std::min(name.find('/'), name.size());
  entry.benchmark = name.substr(0, at);
  std::size_t unnamed = 0;
  while (at < name.size()) {
    const std::size_t end = std::min(name.find('/', at + 1), name.size());
    const std::string part = name.substr(at + 1, end - at - 1);
    at = end;
    if (part == "real_time" || part == "manual_time" || part == "process_time") continue;
    const std::size_t colon = part.find(':');
    const std::string key = colon == part.npos ? "" : part.substr(0, colon);
    if (key == "iterations" || key == "repeats" || key == "min_time" || key == "min_warmup_time") continue;
    std::string tunable = key;
    if (key.empty()) tunable = "arg" + std::to_string(++unnamed);
    entry.arguments.emplace_back(std::move(tunable),
                                 csv_value(colon == part.npos ? part : part.substr(colon + 1)));
  }
  return entry;
}

Evaluation google_evaluation(const std::vector<GoogleRun>& runs) {
  const auto failed = std::find_if(runs.begin(), runs.end(), [](const GoogleRun& run) { return run.failed; });
  if (failed != runs.end())
    return Evaluation::failed(Verdict::crashed, failed->error.empty() ? "it was skipped" : failed->error);
  ShapeMeasurement shape;
  double sum = 0;
  for (const GoogleRun& run : runs) {
    const double seconds = run.time / in_a_second(run.unit.empty() ? "ns" : run.unit).value_or(1e9);
    sum += seconds;
    if (std::isfinite(seconds) && seconds > 0) shape.samples.push_back(seconds);
  }
  std::vector<ShapeMeasurement> shapes;
  if (!shape.samples.empty()) shapes.push_back(std::move(shape));
  Evaluation evaluation = measured(sum / static_cast<double>(runs.size()), std::move(shapes));
  evaluation.features = runs.front().features;
  return evaluation;
}

/// One state of nvbench: a benchmark with values for its axes on a device.
struct NvbenchState {
  std::string name{}, skip_reason{};
  double device = 0;
  bool skipped = false;
  NamedValues axes{};
  std::map<std::string, double> summaries{};
};

/// `{"name", "type", "value"}`, of which the value is mostly a text, whatever the type.
std::pair<std::string, Value> nvbench_value(JsonReader& in) {
  std::string name, type;
  Value value;
  in.object([&](std::string_view key) {
    if (key == "name")
      name = in.string();
    else if (key == "type")
      type = in.string();
    else if (key == "value" && in.peek() != '{')
      value = in.value();
    else
      in.skip();
  });
  if (const auto* const text = std::get_if<std::string>(&value); text != nullptr && type != "string")
    value = csv_value(*text);
  return {std::move(name), std::move(value)};
}

NvbenchState nvbench_state(JsonReader& in) {
  NvbenchState state;
  in.object([&](std::string_view key) {
    const char next = in.peek();
    if (key == "name" && next == '"') {
      state.name = in.string();
    } else if (key == "skip_reason" && next == '"') {
      state.skip_reason = in.string();
    } else if (key == "device" && is_number_next(in)) {
      state.device = in.number();
    } else if (key == "is_skipped") {
      state.skipped = in.skip() == "true";
    } else if (key == "axis_values" && next == '[') {
      in.array([&] { state.axes.push_back(nvbench_value(in)); });
    } else if (key == "summaries" && next == '[') {
      in.array([&] {
        std::string tag;
        std::optional<double> value;
        in.object([&](std::string_view what) {
          if (what == "tag" && in.peek() == '"') {
            tag = in.string();
          } else if (what == "data" && in.peek() == '[') {
            in.array([&] {
              const auto [name, given] = nvbench_value(in);
              if (name == "value") value = csv_number(given);
            });
          } else {
            in.skip();
          }
        });
        if (value) state.summaries[tag] = *value;
      });
    } else {
      in.skip();
    }
  });
  return state;
}

Evaluation nvbench_evaluation(const NvbenchState& state) {
  if (state.skipped)
    return Evaluation::failed(Verdict::rejected,
                              state.skip_reason.empty() ? "it was skipped" : state.skip_reason);
  double seconds = std::numeric_limits<double>::quiet_NaN();
  // As nvbench's own comparison has it; benchmarks of the host have the last.
  for (const char* const tag :
       {"nv/cold/time/gpu/mean", "nv/batch/time/gpu/mean", "nv/cpu_only/time/cpu/mean"})
    if (const auto found = state.summaries.find(tag); std::isnan(seconds) && found != state.summaries.end())
      seconds = found->second;
  Evaluation evaluation = measured(seconds, {});
  if (evaluation.verdict == Verdict::ok)
    if (const auto noise = state.summaries.find("nv/cold/time/gpu/stdev/relative");
        noise != state.summaries.end() && std::isfinite(noise->second))
      evaluation.measurement.spread = noise->second;
  if (const auto wall = state.summaries.find("nv/cold/walltime");
      wall != state.summaries.end() && std::isfinite(wall->second) && wall->second > 0)
    evaluation.phases.measure = wall->second;
  for (const auto& [tag, value] : state.summaries)
    if (std::isfinite(value)) evaluation.features.set(tag, value);
  return evaluation;
}

/// The device of a file, which must have one only.
std::string only_device(std::size_t count, const std::set<std::string>& names, const std::string& source) {
  if (count <= 1) return names.empty() ? std::string() : *names.begin();
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  detail::raise<ConfigError>("results of several devices in one file",
                             source + ": " + counted(count, "device") + " (" + list + ")",
                             "a recording is of one device: run nvbench with --devices ID");
}

}  // namespace

RawRecording read_google_benchmark(std::string_view text, const std::string& source) {
  RawRecording raw;
  std::vector<GoogleRun> runs;
  bool cut = false;
  JsonReader in(text, source);
  try {
    in.object([&](std::string_view key) {
      if (key == "context" && in.peek() == '{')
        in.object([&](std::string_view what) {
          if (what == "host_name" && in.peek() == '"')
            raw.device = in.string();
          else
            in.skip();
        });
      else if (key == "benchmarks")
        in.array([&] { runs.push_back(google_run(in)); });
      else
        in.skip();
    });
  } catch (const TextEnds&) {
    cut = true;
  }
  // Repetitions are samples. Means stand for them where nothing else was reported; files before 1.5 tell
  // aggregates by the end of their name only.
  std::vector<std::string> order;
  std::map<std::string, std::vector<GoogleRun>> by_name, means;
  std::size_t aggregates = 0;
  for (GoogleRun& run : runs) {
    if (!run.unit.empty() && !in_a_second(run.unit))
      detail::raise<ConfigError>("unknown unit of time", source + ": " + run.unit,
                                 "time_unit is ns, us, ms or s");
    for (const char* const ending : {"_mean", "_median", "_stddev", "_cv", "_BigO", "_RMS"})
      if (run.type.empty() && run.name.ends_with(ending)) run.aggregate = std::string(ending).substr(1);
    const std::string name = run.run_name.empty() ? run.name : run.run_name;
    if (run.type == "aggregate" || !run.aggregate.empty()) {
      ++aggregates;
      if (run.aggregate == "mean" && !run.run_name.empty()) means[name].push_back(std::move(run));
      continue;
    }
    if (by_name.find(name) == by_name.end()) order.push_back(name);
    by_name[name].push_back(std::move(run));
  }
  if (by_name.empty()) {
    by_name = std::move(means);
    for (const auto& [name, all] : by_name) order.push_back(name);
  }
  std::vector<BenchmarkEntry> entries;
  for (const std::string& name : order) {
    entries.push_back(google_entry(name));
    entries.back().evaluation = google_evaluation(by_name[name]);
  }
  if (aggregates > 0)
    raw.notes.push_back(counted(aggregates, "aggregate") + ": left out where the repetitions are there");
  raw.notes.push_back("real_time is read; cpu_time and counters are features");
  if (cut) raw.notes.push_back("the file ends too early: read up to its last whole result");
  return as_recording(std::move(entries), std::move(raw), source);
}

RawRecording read_nvbench(std::string_view text, const std::string& source) {
  RawRecording raw;
  std::map<double, std::string> devices;
  std::set<double> used;
  std::vector<BenchmarkEntry> entries;
  bool cut = false;
  JsonReader in(text, source);
  const auto device = [&] {
    double id = 0;
    std::string name;
    in.object([&](std::string_view key) {
      if (key == "id" && is_number_next(in))
        id = in.number();
      else if (key == "name" && in.peek() == '"')
        name = in.string();
      else
        in.skip();
    });
    devices[id] = name;
  };
  const auto benchmark = [&] {
    std::string name;
    in.object([&](std::string_view key) {
      if (key == "name" && in.peek() == '"') {
        name = in.string();
      } else if (key == "states" && in.peek() == '[') {
        in.array([&] {
          NvbenchState state = nvbench_state(in);
          used.insert(state.device);
          BenchmarkEntry& entry = entries.emplace_back();
          entry.benchmark = name;
          entry.label = name + " [" + state.name + "]";
          entry.evaluation = nvbench_evaluation(state);
          entry.arguments = std::move(state.axes);
        });
      } else {
        in.skip();
      }
    });
  };
  try {
    in.object([&](std::string_view key) {
      if (key == "devices" && in.peek() == '[')
        in.array(device);
      else if (key == "benchmarks")
        in.array(benchmark);
      else
        in.skip();
    });
  } catch (const TextEnds&) {
    cut = true;
  }
  std::set<std::string> names;
  for (const double id : used) names.insert(devices[id]);
  raw.device = only_device(used.size(), names, source);
  raw.notes.push_back("the time is nvbench's mean; its other summaries are features");
  if (cut) raw.notes.push_back("the file ends too early: read up to its last whole state");
  return as_recording(std::move(entries), std::move(raw), source);
}

RawRecording read_nvbench_csv(std::string_view text, const std::string& source) {
  RawRecording raw;
  std::set<std::string> used, names;
  std::vector<BenchmarkEntry> entries;
  const auto refuse = [&source](std::size_t line, const std::string& what) {
    detail::raise<ConfigError>(source + ":" + std::to_string(line) + ": not a line of nvbench's table", what,
                               "take the line out, or write the table again");
  };
  const auto use = [&](const CsvRow& row, const std::vector<std::string>& header,
                       const std::vector<std::string>& fields, std::size_t) {
    used.insert(row.text("Device"));
    names.insert(row.text("Device Name"));
    BenchmarkEntry& entry = entries.emplace_back();
    entry.benchmark = entry.label = row.text("Benchmark");
    // The axes of all benchmarks stand between these two; a power of two stands a second time as a number.
    bool axis = false;
    for (std::size_t i = 0; i < header.size() && header[i] != "Skipped"; ++i) {
      if (axis && !fields[i].empty() && !header[i].ends_with(" (pow2)")) {
        entry.arguments.emplace_back(header[i], csv_value(fields[i]));
        entry.label += " " + header[i] + "=" + fields[i];
      }
      axis = axis || header[i] == "Device Name";
    }
    double seconds = std::numeric_limits<double>::quiet_NaN();
    for (const char* const column : {"GPU Time (sec)", "Batch GPU (sec)", "CPU Time (sec)"})
      if (std::isnan(seconds)) seconds = row.number(column, seconds);
    entry.evaluation = row.text("Skipped") == "Yes" ? Evaluation::failed(Verdict::rejected, "it was skipped")
                                                    : measured(seconds, {});
    for (std::size_t i = 0; i < header.size(); ++i)
      if (const double value = csv_number(fields[i], std::nan(""));
          !header[i].empty() && std::isfinite(value))
        if (std::find(header.begin(), header.begin() + static_cast<std::ptrdiff_t>(i), "Skipped") !=
            header.begin() + static_cast<std::ptrdiff_t>(i))
          entry.evaluation.features.set(header[i], value);
  };
  const bool cut = each_csv_row(text, refuse, use);
  raw.device = only_device(used.size(), names, source);
  if (cut) raw.notes.push_back("the last line was cut in the middle: left out");
  raw.notes.push_back("the time is nvbench's mean; its other summaries are features");
  return as_recording(std::move(entries), std::move(raw), source);
}

}  // namespace kernelsearch::recorded
