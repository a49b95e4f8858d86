// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "plan.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/systems/system_registry.hpp"

namespace kernelsearch::app {
namespace {

std::string absolute(const std::string& path) {
  return path.empty() ? "" : std::filesystem::absolute(path).string();
}

}  // namespace

Plan make_plan(TuneOptions options, const RunStore& store) {
  Plan plan{std::move(options), std::nullopt};
  TuneOptions& o = plan.options;
  if (!o.resume.empty()) {
    plan.resumed = store.find_run(o.resume);
    if (!plan.resumed)
      detail::raise<ConfigError>("no run to resume", o.resume, "see `kernelsearch runs` for what there is");
    const auto first = nlohmann::json::parse(plan.resumed->info.options);
    if (o.problem.empty()) o.problem = first.value("problem", "");
    o.policy = plan.resumed->info.policy;
    o.seed = plan.resumed->info.seed;
    o.jobs = first.value("jobs", o.jobs);
    o.cache = first.value("cache", o.cache);
    o.devices = first.value("devices", o.devices);
    if (o.samples == 0) o.samples = first.value("samples", o.samples);
    o.where = first.value("where", o.where);
    o.configs = first.value("configs", o.configs);
    // The same proposals come again only from the same knowledge.
    o.learn_from = first.value("learned_from", std::vector<std::string>{});
    o.no_learning = true;
    o.system = first.value("system", "");
    if (!o.system.empty()) {
      if (o.models.empty()) o.models = first.value("models", "");
      if (o.model.empty()) o.model = first.value("model", "");
      if (o.budget.empty()) o.budget = first.value("budget", "");
      o.methods = first.value("methods", o.methods);
      o.proposals = first.value("proposals", o.proposals);
      o.no_counters = first.value("no_counters", o.no_counters);
      // A run that goes on spends no more than it was allowed, unless it is now allowed more.
      if (o.max_tokens == 0) o.max_tokens = first.value("max_tokens", o.max_tokens);
      if (o.max_cost == 0) o.max_cost = first.value("max_cost", o.max_cost);
      o.record_exchanges = first.value("record_exchanges", o.record_exchanges);
      if (o.replay_exchanges.empty()) o.replay_exchanges = first.value("replay_exchanges", "");
      if (o.from_files.empty()) o.from_files = first.value("from_files", "");
      if (o.wait == 0) o.wait = first.value("wait", 0.0);
      if (first.contains("skill")) o.skill = first["skill"].dump();
    }
  }
  if (o.budget.empty()) o.budget = o.system.empty() ? "200" : std::string(find_system(o.system).budget);
  return plan;
}

MeasurementOptions measuring(const TuneOptions& o) {
  MeasurementOptions options;
  options.sandbox = o.sandbox;
  options.cache = o.cache;
  options.core = o.core;
  options.devices = o.devices;
  options.jobs = o.jobs;
  options.samples = o.samples;
  return options;
}

RunInfo run_info(const TuneOptions& o, const Problem& problem, const Ground& ground,
                 const std::string& digest) {
  RunInfo info;
  info.name = o.name.empty() ? problem.name : o.name;
  info.problem = problem.name;
  info.problem_digest = digest;
  info.policy = o.system.empty() ? o.policy : o.system;
  info.generator = o.system.empty() ? "template" : std::string(find_system(o.system).composition);
  info.evaluator = to_string(problem.backend);
  info.seed = o.seed;
  info.device = ground.device;
  info.toolchain = ground.toolchain;
  nlohmann::json options{{"problem", std::filesystem::absolute(o.problem).string()},
                         {"budget", o.budget},
                         {"jobs", o.jobs},
                         {"cache", o.cache},
                         {"learned_from", o.learn_from},
                         {"devices", o.devices},
                         {"samples", o.samples},
                         {"where", o.where},
                         {"configs", absolute(o.configs)},
                         {"sandbox", o.sandbox}};
  if (!o.system.empty())
    options.update({{"system", o.system},
                    {"models", absolute(o.models)},
                    {"model", o.model},
                    {"methods", absolute(o.methods)},
                    {"proposals", o.proposals},
                    {"no_counters", o.no_counters},
                    {"record_exchanges", absolute(o.record_exchanges)},
                    {"replay_exchanges", absolute(o.replay_exchanges)},
                    {"max_tokens", o.max_tokens},
                    {"max_cost", o.max_cost}});
  if (!o.skill.empty())
    options.update({{"skill", nlohmann::json::parse(o.skill)},
                    {"from_files", absolute(o.from_files)},
                    {"wait", o.wait}});
  info.options = options.dump();
  return info;
}

}  // namespace kernelsearch::app
