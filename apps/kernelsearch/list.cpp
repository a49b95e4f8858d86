// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/core.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "kernelsearch/policy/registry.hpp"
#include "kernelsearch/systems/system_registry.hpp"

namespace kernelsearch::app {
namespace {

using Rows = std::vector<std::pair<std::string_view, std::string_view>>;

Rows rows_of(const std::string& what) {
  if (what == "policies") {
    Rows rows;
    for (const ConfigPolicyEntry& entry : config_policies()) rows.emplace_back(entry.name, entry.summary);
    return rows;
  }
  if (what == "systems") {
    Rows rows;
    for (const SystemEntry& entry : system_entries()) rows.emplace_back(entry.name, entry.summary);
    return rows;
  }
  if (what == "generators")
    return {{"template", "fills the problem's kernel in at the configuration proposed"},
            {"llm_rewriter", "a model applies one strategy to one kernel (KernelBand)"},
            {"agent_team", "a planner anchors the change, a coder makes it, a debugger mends (STARK)"},
            {"method_folder", "takes kernels from files that a person or an agent writes"},
            {"method_writer", "a model writes branches and ablations of methods (CUDA skill V2)"},
            {"reflection_team", "a model optimises; failures are reflected on and mended (GEAK)"},
            {"natural_transformations", "a model carries out transformations told in words (PEAK)"}};
  return {
      {"host", "C++ kernels built by g++ or clang++, judged and timed on this machine's CPU in a sandbox"},
      {"cuda", "CUDA kernels compiled by NVRTC, judged and timed on NVIDIA GPUs; see `kernelsearch doctor`"},
      {"hip", "HIP kernels compiled by hipRTC, judged and timed on AMD GPUs; see `kernelsearch doctor`"}};
}

}  // namespace

void add_list(CLI::App& app, int& exit_code) {
  struct Options {
    std::string what = "policies";
    bool json = false;
  };
  auto* sub = app.add_subcommand("list", "List the policies, systems, generators or evaluators there are");
  auto options = std::make_shared<Options>();
  sub->add_option("WHAT", options->what, "policies, systems, generators or evaluators")
      ->required()
      ->check(CLI::IsMember({"policies", "systems", "generators", "evaluators"}));
  sub->add_flag("--json", options->json, "Print a JSON array");
  sub->footer("Example: kernelsearch list policies");
  sub->callback([options, &exit_code] {
    nlohmann::ordered_json array = nlohmann::ordered_json::array();
    for (const auto& [name, summary] : rows_of(options->what)) {
      if (options->json)
        array.push_back({{"name", name}, {"summary", summary}});
      else
        fmt::print("{:<24} {}\n", name, summary);
    }
    if (options->json) fmt::print("{}\n", array.dump(2));
    exit_code = success;
  });
}

}  // namespace kernelsearch::app
