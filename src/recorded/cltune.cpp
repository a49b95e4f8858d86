// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <limits>
#include <optional>

#include "evaluations.hpp"
#include "json_reader.hpp"
#include "kernelsearch/core/error.hpp"
#include "raw_recording.hpp"

/// What CLTune's `Tuner::PrintJSON` and CLBlast's tuners write: times in milliseconds, failures left out.
namespace kernelsearch::recorded {
namespace {

struct CltuneResult {
  std::string kernel{};
  double time = std::numeric_limits<double>::quiet_NaN();
  NamedValues parameters{};
};

CltuneResult cltune_result(JsonReader& in) {
  CltuneResult result;
  in.object([&](std::string_view key) {
    const char next = in.peek();
    if (key == "kernel" && next == '"') {
      result.kernel = in.string();
    } else if (key == "time" && next != '"' && next != 'n' && next != '{' && next != '[') {
      result.time = in.number();
    } else if (key == "parameters" && next == '{') {
      in.object([&](std::string_view name) {
        std::string tunable(name);
        result.parameters.emplace_back(std::move(tunable), in.value());
      });
    } else {
      in.skip();
    }
  });
  return result;
}

}  // namespace

RawRecording read_cltune(std::string_view text, const std::string& source) {
  RawRecording raw;
  std::vector<CltuneResult> results;
  bool cut = false;
  std::string device;
  JsonReader in(text, source);
  try {
    in.object([&](std::string_view key) {
      if (key == "results")
        in.array([&] { results.push_back(cltune_result(in)); });
      else if ((key == "device" || key == "clblast_device_name") && in.peek() == '"')
        raw.device = in.string();
      else
        in.skip();
    });
  } catch (const TextEnds&) {
    cut = true;
  }
  // Kernels of one file do the same work and are compared, so which one it is becomes a tunable.
  const bool several = std::any_of(results.begin(), results.end(), [&](const CltuneResult& result) {
    return result.kernel != results.front().kernel;
  });
  if (!results.empty() && !several) raw.kernel = results.front().kernel;
  for (CltuneResult& result : results) {
    if (several) result.parameters.emplace_back("kernel", Value(result.kernel));
    RawTrial trial;
    trial.evaluation = measured(from_milliseconds(result.time), {});
    if (const std::string wrong = add_named(raw, result.parameters, std::move(trial)); !wrong.empty())
      detail::raise<ConfigError>(
          "result " + std::to_string(raw.trials.size() + 1) + " has other tunables", source + ": " + wrong,
          several ? "the kernels of the file have different tunables: give the results of one kernel"
                  : "give a file of one kernel's results");
  }
  if (several) raw.notes.push_back("the file has results of several kernels: `kernel` is a tunable");
  if (cut) raw.notes.push_back("the file ends too early: read up to its last whole result");
  raw.notes.push_back("CLTune leaves out what failed: all of this file's configurations ran");
  return raw;
}

}  // namespace kernelsearch::recorded
