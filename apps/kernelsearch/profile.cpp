// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "chosen.hpp"
#include "commands.hpp"
#include "input.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/gpu/compute_sanitizer.hpp"
#include "kernelsearch/evaluator/gpu/gpu_evaluator.hpp"
#include "kernelsearch/evaluator/gpu/ncu_profiler.hpp"
#include "kernelsearch/evaluator/gpu/profiling_vector.hpp"
#include "kernelsearch/evaluator/gpu/sass.hpp"
#include "sandbox_option.hpp"
#include "store_access.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {
namespace {

using nlohmann::ordered_json;

struct ProfileCommand {
  std::string problem;
  std::string config = "default";
  std::string shape, store, cache = "cold";
  int device = 0;
  bool no_counters = false;
  bool sass = false;
  std::string sanitize;
  std::string sandbox = "auto";
  double seconds = 120;
  bool json = false;
};

/// All that was found out; parts that were not asked for are empty.
struct Profile {
  std::string device;
  std::optional<NcuObservation> counters;
  std::vector<SassFunction> functions;
  std::vector<SanitizerFinding> findings;

  [[nodiscard]] bool clean() const {
    return (!counters || counters->problem.empty()) &&
           std::all_of(findings.begin(), findings.end(),
                       [](const SanitizerFinding& finding) { return finding.verdict == Verdict::ok; });
  }
};

GpuOptions gpu_options(const ProfileCommand& command) {
  GpuOptions options;
  options.devices = {command.device};
  options.cache = command.cache == "warm" ? CacheMode::warm : CacheMode::cold;
  options.sandbox = resolved(sandbox_from(command.sandbox));
  return options;
}

/// The launched kernels' functions and those that they call.
std::vector<SassFunction> machine_code(const GpuArtifact& artifact) {
  return reached_functions(read_sass(*artifact.image), artifact.functions);
}

Profile examine(const ProfileCommand& command, const Problem& problem, const Candidate& candidate) {
  const GpuOptions options = gpu_options(command);
  Profile profile;
  // Missing tools are said before anything takes time.
  std::optional<NcuProfiler> profiler;
  if (!command.no_counters)
    profiler.emplace(problem, options, NcuOptions{.shape = command.shape, .seconds = command.seconds});
  std::optional<ComputeSanitizer> sanitizer;
  if (!command.sanitize.empty())
    sanitizer.emplace(
        problem, options,
        SanitizerOptions{
            .tools = sanitizer_tools(command.sanitize), .shape = command.shape, .seconds = command.seconds});
  GpuEvaluator evaluator(problem, options);
  profile.device = evaluator.device_name();
  const auto staged = evaluator.build(candidate, {});
  if (!staged.artifact)
    detail::raise<ConfigError>("this candidate does not build", staged.evaluation.reason,
                               "choose another one with --config");
  if (command.sass) profile.functions = machine_code(*staged.artifact);
  if (profiler) profile.counters = profiler->observe(candidate);
  if (sanitizer) profile.findings = sanitizer->examine(candidate);
  return profile;
}

std::string unit_of(std::string_view feature) {
  return feature == "registers" ? " per thread" : " %";
}

void print_counters(const NcuObservation& seen) {
  if (!seen.problem.empty()) {
    print_clean("counters   none: {}\n", seen.problem);
    return;
  }
  const NcuLaunch* dominant = dominant_launch(seen.launches);
  print_clean("counters   of {}, the longest of {} launches{}\n", dominant->kernel, seen.launches.size(),
              seen.features.find("ncu.seconds")
                  ? " that took " + seconds_text(*seen.features.find("ncu.seconds")) + " together"
                  : "");
  const auto line = [&](std::string_view name) {
    const auto value = seen.features.find(name);
    print_clean("  {:<20} {}\n", name, value ? fmt::format("{:.4g}{}", *value, unit_of(name)) : "unknown");
  };
  for (const std::string_view name : profiling_vector_names) line(name);
  print_clean("signature  (SM, DRAM, L2)");
  for (const auto& value : hardware_signature(seen.features))
    print_clean("  {}", value ? fmt::format("{:.1f} %", *value) : "unknown");
  print_clean("\nstalls    ");
  std::vector<std::pair<double, std::string>> stalls;
  for (const auto& [name, value] : seen.features)
    if (name.rfind("stall_", 0) == 0) stalls.emplace_back(value, name.substr(6));
  std::sort(stalls.rbegin(), stalls.rend());
  for (std::size_t i = 0; i < stalls.size() && i < 4; ++i)
    print_clean(" {} {:.0f} %", stalls[i].second, stalls[i].first);
  print_clean("{}\n", stalls.empty() ? " unknown" : "");
}

void print_counts(const char* what, const SassCounts& counts) {
  print_clean("    {:<10} {} instructions", what, counts.total());
  for (std::size_t s = 0; s < sass_signature_names.size(); ++s)
    if (const std::size_t count = counts.of(static_cast<SassSignature>(s)); count > 0)
      print_clean(", {} {}", sass_signature_names[s], count);
  print_clean("\n");
}

void print_machine_code(const std::vector<SassFunction>& functions) {
  for (const SassFunction& function : functions) {
    print_clean("code       {}: {} loops{}\n", function.name, function.loops.size(),
                function.complete ? "" : " at least (it has computed jumps)");
    print_counts("all", function.counts);
    if (const SassLoop* loop = function.hot_loop())
      print_counts(fmt::format("{:#x}-{:#x}", loop->begin, loop->end).c_str(), loop->counts);
    for (const char* root : {"LDG", "STG", "LDS", "STS"}) {
      const auto widths = function.counts.widths(root);
      if (widths.empty()) continue;
      print_clean("    {:<10}", root);
      for (const auto& [bits, count] : widths) print_clean(" {} of {} bits", count, bits);
      print_clean("\n");
    }
  }
}

ordered_json counts_json(const SassCounts& counts) {
  ordered_json json{{"instructions", counts.total()}};
  for (std::size_t s = 0; s < sass_signature_names.size(); ++s)
    json[std::string(sass_signature_names[s])] = counts.of(static_cast<SassSignature>(s));
  json["opcodes"] = counts.by_opcode();
  return json;
}

ordered_json value_json(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

void print_profile_json(const Problem& problem, const Candidate& candidate, const Profile& profile) {
  ordered_json out{{"problem", problem.name},
                   {"device", profile.device},
                   {"config", ordered_json::parse(settings_text(candidate))}};
  if (profile.counters) {
    const NcuObservation& seen = *profile.counters;
    ordered_json& counters = out["counters"] = ordered_json::object();
    if (!seen.problem.empty()) counters["problem"] = seen.problem;
    const auto vector = profiling_vector(seen.features);
    for (std::size_t i = 0; i < vector.size(); ++i)
      counters["profiling_vector"][std::string(profiling_vector_names[i])] = value_json(vector[i]);
    for (const auto& value : hardware_signature(seen.features))
      counters["signature"].push_back(value_json(value));
    for (const auto& [name, value] : seen.features) counters["features"][name] = value;
    for (const NcuLaunch& launch : seen.launches) {
      ordered_json one{{"kernel", launch.kernel}, {"metrics", ordered_json::object()}};
      for (const auto& [name, value] : launch.metrics) one["metrics"][name] = value;
      counters["launches"].push_back(std::move(one));
    }
  }
  for (const SassFunction& function : profile.functions) {
    ordered_json one{{"name", function.name},
                     {"complete", function.complete},
                     {"counts", counts_json(function.counts)},
                     {"loops", ordered_json::array()}};
    for (const SassLoop& loop : function.loops)
      one["loops"].push_back({{"begin", loop.begin},
                              {"end", loop.end},
                              {"depth", loop.depth},
                              {"hot", function.hot_loop() == &loop},
                              {"counts", counts_json(loop.counts)}});
    out["functions"].push_back(std::move(one));
  }
  for (const SanitizerFinding& finding : profile.findings)
    out["sanitizer"].push_back({{"tool", to_string(finding.tool)},
                                {"verdict", to_string(finding.verdict)},
                                {"reason", finding.reason},
                                {"errors", finding.report.errors},
                                {"kernel", finding.report.kernel},
                                {"address", finding.report.address}});
  print_json(out);
}

int run(const ProfileCommand& command) {
  const Problem problem = read_any_problem(command.problem);
  const Candidate candidate = chosen_candidate(problem, command.config, command.store);
  const Profile profile = examine(command, problem, candidate);
  if (command.json) {
    print_profile_json(problem, candidate, profile);
    return profile.clean() ? success : nothing_found;
  }
  print_clean("problem    {}\ndevice     {}\nconfig     {}\n", problem.name, profile.device,
              settings_text(candidate));
  if (profile.counters) print_counters(*profile.counters);
  print_machine_code(profile.functions);
  for (const SanitizerFinding& finding : profile.findings)
    print_clean("{:<10} {}\n", to_string(finding.tool),
                finding.verdict == Verdict::ok
                    ? "no errors"
                    : std::string(to_string(finding.verdict)) + ": " + finding.reason);
  return profile.clean() ? success : nothing_found;
}

}  // namespace

void add_profile(CLI::App& app, int& exit_code) {
  auto* sub =
      app.add_subcommand("profile", "Look into one candidate on a GPU: counters, machine code, sanitizers");
  auto command = std::make_shared<ProfileCommand>();
  sub->add_option("PROBLEM", command->problem, "A problem folder or problem.json for CUDA")->required();
  sub->add_option(
         "--config", command->config,
         "default, best (of the newest run of this problem), a JSON object of settings, or a file of it")
      ->capture_default_str();
  sub->add_option("--shape", command->shape,
                  "Name of the shape; default the one of most weight, for sanitizers the smallest");
  sub->add_option("--cache", command->cache, "cold: caches are emptied before the kernel, or warm")
      ->capture_default_str()
      ->check(CLI::IsMember({"cold", "warm"}));
  sub->add_option("--device", command->device, "Ordinal of the GPU")->capture_default_str();
  sub->add_flag("--no-counters", command->no_counters, "Leave Nsight Compute out");
  sub->add_flag("--sass", command->sass, "Count instructions in the machine code and its loops");
  sub->add_option("--sanitize", command->sanitize,
                  "Tools of Compute Sanitizer, e.g. memcheck,racecheck,initcheck");
  sub->add_option("--sandbox", command->sandbox,
                  "For compilers and launch functions; tools run launch functions only with none, where you "
                  "trust them")
      ->capture_default_str()
      ->check(CLI::IsMember(sandbox_names()));
  sub->add_option("--seconds", command->seconds, "Time limit of each tool")->capture_default_str();
  sub->add_option("--store", command->store, "SQLite file of runs");
  sub->add_flag("--json", command->json, "Print one JSON object");
  sub->footer("Example: kernelsearch profile examples/cuda/matmul_tiled --config best --sass");
  sub->callback([command, &exit_code] { exit_code = run(*command); });
}

}  // namespace kernelsearch::app
