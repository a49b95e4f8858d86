// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/lane_judge.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/judge/measuring_lock.hpp"
#include "kernelsearch/run/observing_evaluator.hpp"
#include "kernelsearch/store/json.hpp"

namespace kernelsearch {

AnyEvaluator judge_of(JudgeKind kind, Problem problem, const MeasurementOptions& options,
                      std::vector<std::string>& missing) {
  switch (kind) {
    case JudgeKind::observed: {
      ObservingEvaluator made = make_observing_evaluator(std::move(problem), options);
      missing = std::move(made.missing);
      return std::move(made.evaluator);
    }
    case JudgeKind::paired:
      return make_pairing_evaluator(std::move(problem), options);
    case JudgeKind::inspected:
      return make_inspecting_evaluator(std::move(problem), options);
    case JudgeKind::plain:
      break;
  }
  return make_evaluator(std::move(problem), options);
}

std::string lane_instructions(JudgeKind kind, const MeasurementOptions& options) {
  return json_text({{"judge", to_string(kind)},
                    {"sandbox", options.sandbox},
                    {"require_sandbox", options.require_sandbox},
                    {"cache", options.cache},
                    {"core", options.core},
                    {"devices", options.devices},
                    {"jobs", options.jobs},
                    {"samples", options.samples},
                    {"inspect", options.inspect},
                    {"readable", options.readable}});
}

LaneJudge make_lane_judge(Problem problem, const std::string& instructions, const MeasurementOptions& own,
                          const std::string& target) {
  MeasurementOptions options;
  JudgeKind kind = JudgeKind::plain;
  try {
    const nlohmann::json in = parse_json(instructions, "what a worker is told to judge with");
    const auto name = in.at("judge").get<std::string>();
    while (to_string(kind) != name) {
      if (kind == JudgeKind::observed)
        detail::raise<ConfigError>("there is no such judge", name,
                                   "use the same version of kernelsearch at both ends");
      kind = static_cast<JudgeKind>(static_cast<int>(kind) + 1);
    }
    options.sandbox = in.at("sandbox").get<std::string>();
    options.require_sandbox = in.at("require_sandbox").get<std::string>();
    options.cache = in.at("cache").get<std::string>();
    options.core = in.at("core").get<int>();
    options.devices = in.at("devices").get<std::vector<int>>();
    options.jobs = in.at("jobs").get<unsigned>();
    options.samples = in.at("samples").get<std::size_t>();
    options.inspect = in.at("inspect").get<bool>();
    options.readable = in.at("readable").get<std::vector<std::string>>();
  } catch (const nlohmann::json::exception& error) {
    detail::raise<ConfigError>("a worker is told to judge with what it does not know", error.what(),
                               "use the same version of kernelsearch at both ends");
  }
  if (!own.devices.empty()) options.devices = own.devices;
  if (own.core >= 0) options.core = own.core;
  if (own.jobs > 0) options.jobs = own.jobs;
  options.waits = [](std::string_view text) {
    if (!text.empty()) std::fprintf(stderr, "waits: %.*s\n", static_cast<int>(text.size()), text.data());
  };
  const bool host = !is_device(problem.backend);
  const std::vector<int> cores = host_machine().cores;
  if (host && options.core < 0) options.core = free_core(cores);
  if (options.jobs == 0)
    options.jobs = static_cast<unsigned>(std::max<std::size_t>(1, cores.size() - (host ? 1 : 0)));
  options.cache = cache_mode(options, problem.backend);
  if (!target.empty() && problem.backend == Backend::cuda && !problem.external) {
    // What is seen while it is built is seen here, the rest by those who measure.
    options.build_for = target;
    options.inspect = options.inspect || kind == JudgeKind::inspected || kind == JudgeKind::observed;
    kind = JudgeKind::plain;
  }
  std::vector<std::string> missing;
  LaneJudge judge{judge_of(kind, std::move(problem), options, missing), options.jobs,
                  description_of(chosen_sandbox(options))};
  if (host) leave_core_to_measuring(options.core);
  return judge;
}

}  // namespace kernelsearch
