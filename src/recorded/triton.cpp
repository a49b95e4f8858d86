// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>

#include "evaluations.hpp"
#include "json_reader.hpp"
#include "raw_recording.hpp"

/// `NAME.autotune.json` in Triton's cache: a `key` and `configs_timings`, pairs of a configuration and its
/// time in milliseconds, which is a number or median, 20 % and 80 % quantile; Infinity where it did not run.
namespace kernelsearch::recorded {
namespace {

struct TritonTiming {
  NamedValues values;
  double time = std::numeric_limits<double>::quiet_NaN();
  std::optional<Interval> quantiles{};
};

/// `kwargs` are the tunables of the kernel; what stands next to them and is not null those of its launch.
NamedValues triton_values(JsonReader& in) {
  NamedValues values;
  in.object([&](std::string_view key) {
    if (key == "kwargs" && in.peek() == '{') {
      in.object([&](std::string_view name) {
        std::string tunable(name);
        values.emplace_back(std::move(tunable), in.value());
      });
    } else if (in.peek() == 'n' || in.peek() == '{') {
      in.skip();
    } else {
      std::string tunable(key);
      values.emplace_back(std::move(tunable), in.value());
    }
  });
  return values;
}

TritonTiming triton_timing(JsonReader& in) {
  TritonTiming timing;
  int at = 0;
  in.array([&] {
    if (at == 0) {
      timing.values = triton_values(in);
    } else if (at == 1 && in.peek() == '[') {
      std::vector<double> times;
      in.array([&] { times.push_back(in.number()); });
      if (!times.empty()) timing.time = times[0];
      if (times.size() == 3) timing.quantiles = Interval{times[1], times[2]};
    } else if (at == 1) {
      timing.time = in.number();
    } else {
      in.skip();
    }
    ++at;
  });
  if (at != 2) in.fail("a configuration before this place has no time, or something in addition to it");
  return timing;
}

}  // namespace

RawRecording read_triton(std::string_view text, const std::string& source) {
  RawRecording raw;
  raw.kernel = std::filesystem::path(source).filename().string();
  for (const std::string_view ending : {".gz", ".json", ".autotune"})
    if (raw.kernel.ends_with(ending)) raw.kernel.resize(raw.kernel.size() - ending.size());
  std::vector<TritonTiming> timings;
  bool cut = false;
  JsonReader in(text, source);
  try {
    in.object([&](std::string_view key) {
      if (key == "configs_timings")
        in.array([&] { timings.push_back(triton_timing(in)); });
      else if (key == "key")
        raw.problem_size = in.skip();
      else
        in.skip();
    });
  } catch (const TextEnds&) {
    cut = true;
  }
  // A configuration may lack what others have: it is as if it had None there.
  NamedValues all;
  for (const TritonTiming& timing : timings)
    for (const auto& [name, value] : timing.values)
      if (std::none_of(all.begin(), all.end(),
                       [&, &name = name](const auto& one) { return one.first == name; }))
        all.emplace_back(name, Value(std::string("None")));
  for (const TritonTiming& timing : timings) {
    NamedValues values = all;
    for (auto& [name, value] : values)
      for (const auto& [given, as] : timing.values)
        if (given == name) value = as;
    RawTrial trial;
    trial.evaluation =
        std::isinf(timing.time) && timing.time > 0
            ? Evaluation::failed(Verdict::launch_failed, "Infinity: Triton could not compile or launch it")
            : measured(from_milliseconds(timing.time), {});
    if (trial.evaluation.verdict == Verdict::ok && timing.quantiles && std::isfinite(timing.quantiles->low) &&
        std::isfinite(timing.quantiles->high)) {
      trial.evaluation.features.set("quantile_20_seconds", from_milliseconds(timing.quantiles->low));
      trial.evaluation.features.set("quantile_80_seconds", from_milliseconds(timing.quantiles->high));
    }
    if (const std::string wrong = add_named(raw, values, std::move(trial)); !wrong.empty())
      in.fail("a configuration cannot be read: " + wrong);
  }
  if (cut) raw.notes.push_back("the file ends too early: read up to its last whole configuration");
  return raw;
}

}  // namespace kernelsearch::recorded
