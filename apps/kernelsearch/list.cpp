// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "kernelsearch/policy/policy_choice.hpp"
#include "kernelsearch/policy/policy_text.hpp"
#include "kernelsearch/policy/registry.hpp"
#include "kernelsearch/problem/backend.hpp"
#include "kernelsearch/run/run_option.hpp"
#include "kernelsearch/systems/policy_options_schema.hpp"
#include "kernelsearch/systems/system_registry.hpp"
#include "list_methods.hpp"
#include "list_transformations.hpp"
#include "terminal.hpp"

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
  if (what == "options") {
    Rows rows;
    for (const RunOption& option : run_options()) rows.emplace_back(option.name, option.summary);
    return rows;
  }
  if (what == "generators")
    return {{"template", "fills the problem's kernel in at the configuration proposed"},
            {"llm_rewriter", "a model applies one strategy to one kernel (KernelBand)"},
            {"agent_team", "a planner anchors the change, a coder makes it, a debugger repairs it (STARK)"},
            {"method_folder", "takes kernels from files that a person or an agent writes"},
            {"method_writer", "a model writes branches and ablations of methods (CUDA skill V2)"},
            {"reflection_team", "a model optimises; failures are reflected on and repaired (GEAK)"},
            {"natural_transformations", "a model carries out transformations told in words (PEAK)"}};
  return {
      {"host", "C++ kernels built by g++ or clang++, judged and timed on this machine's CPU in a sandbox"},
      {"cuda", "CUDA kernels compiled by NVRTC, judged and timed on NVIDIA GPUs; see `kernelsearch doctor`"},
      {"hip", "HIP kernels compiled by hipRTC, judged and timed on AMD GPUs; see `kernelsearch doctor`"},
      {"opencl",
       "OpenCL C kernels built by the device's driver, judged and timed there; see `kernelsearch doctor`"},
      {"vulkan",
       "compute shaders in GLSL or HLSL compiled by glslang, judged and timed on devices of Vulkan; see "
       "`kernelsearch doctor`"}};
}

/// The policies, each with the schema of its options.
nlohmann::ordered_json policies_json(std::span<const ConfigPolicyEntry> policies) {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (const ConfigPolicyEntry& entry : policies)
    array.push_back({{"name", entry.name},
                     {"summary", entry.summary},
                     {"options", nlohmann::ordered_json::parse(policy_options_schema(entry))}});
  return array;
}

void print_policy(const ConfigPolicyEntry& entry) {
  print_clean("{}: {}\n", entry.name, entry.summary);
  for (const PolicyOption& option : entry.options) {
    const std::optional<PolicyOptionValue> standard = entry.standard(option);
    print_clean("\n  {} = {}  ({})\n      {}\n", option.name,
                standard ? field_text(*standard) : "as the space says", option.values_text(), option.summary);
  }
  if (entry.options.empty()) print_clean("\n  It has no options.\n");
}

/// The systems with what they are made of and the schema of their options.
nlohmann::ordered_json systems_json() {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (const SystemEntry& entry : system_entries()) {
    nlohmann::ordered_json variants = nlohmann::ordered_json::array();
    for (const SystemVariant& variant : entry.variants)
      variants.push_back({{"name", variant.name},
                          {"standard", &variant == &entry.variants.front()},
                          {"summary", variant.summary},
                          {"source", variant.source}});
    array.push_back(
        {{"name", entry.name},
         {"summary", entry.summary},
         {"source", entry.source},
         {"composition", entry.composition},
         {"budget", entry.budget},
         {"rewrites", entry.rewrites},
         {"asks", entry.asks},
         {"variants", std::move(variants)},
         {"options", nlohmann::ordered_json::parse(system_options_schema(entry.name, entry.options))}});
  }
  return array;
}

}  // namespace

void add_list(CLI::App& app, int& exit_code) {
  struct Options {
    std::string what = "policies", name;
    bool json = false;
    ListMethods methods{};
    std::string short_of = "memory";
  };
  auto* sub =
      app.add_subcommand("list",
                         "List the policies, systems, options of runs, generators, evaluators, methods, "
                         "transformations or workflows there are");
  auto options = std::make_shared<Options>();
  sub->add_option("WHAT", options->what,
                  "policies, systems, options, generators, evaluators, methods, transformations "
                  "or workflows")
      ->required()
      ->check(CLI::IsMember({"policies", "systems", "options", "generators", "evaluators", "methods",
                             "transformations", "workflows"}));
  const CLI::Option* const named =
      sub->add_option("NAME", options->name, "For policies: one, with its options and their values");
  sub->add_flag("--json", options->json, "Print a JSON array; of options a JSON Schema");
  ListMethods& methods = options->methods;
  std::vector<std::string> backends;
  for (const BackendTraits& traits : backend_traits) backends.emplace_back(traits.name);
  CLI::Option* const backend =
      sub->add_option("--backend", methods.backend, "Methods or transformations of this backend")
          ->capture_default_str()
          ->check(CLI::IsMember(backends));
  CLI::Option* const folder = sub->add_option(
      "--methods", methods.folder,
      "Folder with methods/, transformations/ or workflows/ of your own, which replace or join ours");
  CLI::Option* const problem = sub->add_option(
      "--problem", methods.problem,
      "Folder of a problem: its traits join the features of methods, and only the transformations "
      "that fit it are listed");
  CLI::Option* const short_of =
      sub->add_option("--short-of", options->short_of,
                      "Transformations in the order of kernels that are short of this")
          ->capture_default_str()
          ->check(CLI::IsMember({"memory", "compute", "latency"}));
  const std::vector<CLI::Option*> of_methods{
      sub->add_option(
          "--features", methods.features,
          "JSON file of features, e.g. of `profile --json`: which methods would be chosen, and why"),
      sub->add_option("--architecture", methods.architecture, "Compute capability to choose for, e.g. 90"),
      sub->add_option("--slots", methods.slots, "Methods to choose on each axis")
          ->capture_default_str()
          ->check(CLI::Range(1, 100))};
  sub->footer(
      "Examples: kernelsearch list policies\n"
      "          kernelsearch list policies genetic\n"
      "          kernelsearch list methods --backend cuda --features profile.json --architecture 90\n"
      "          kernelsearch list transformations --problem examples/cuda/matmul_f32 --short-of compute");
  sub->callback([=, &exit_code] {
    exit_code = success;
    const auto refuse = [](const CLI::Option* option, const char* what) {
      if (option->count() > 0)
        throw CLI::ValidationError(option->get_name(), std::string("is an option of `list ") + what + "`");
    };
    if (options->what != "policies") refuse(named, "policies");
    const bool transformations = options->what == "transformations";
    if (!transformations) refuse(short_of, "transformations");
    if (options->what == "methods") {
      options->methods.json = options->json;
      return list_methods(options->methods);
    }
    for (const CLI::Option* option : of_methods) refuse(option, "methods");
    if (transformations)
      return list_transformations({backend->count() > 0 ? options->methods.backend : "",
                                   options->methods.folder, options->methods.problem, options->short_of,
                                   options->json});
    for (const CLI::Option* option : {backend, problem}) refuse(option, "methods` and `list transformations");
    if (options->what == "workflows") return list_workflows(options->methods.folder, options->json);
    refuse(folder, "methods`, `list transformations` and `list workflows");
    if (options->what == "systems" && options->json) return print_json(systems_json());
    if (options->what == "options" && options->json)
      return print_json(nlohmann::ordered_json::parse(run_options_schema()));
    if (!options->name.empty()) {
      const ConfigPolicyEntry& policy = choose_policy(options->name).entry();
      return options->json ? print_json(policies_json({&policy, 1})) : print_policy(policy);
    }
    if (options->what == "policies" && options->json) return print_json(policies_json(config_policies()));
    nlohmann::ordered_json array = nlohmann::ordered_json::array();
    for (const auto& [name, summary] : rows_of(options->what)) {
      if (options->json)
        array.push_back({{"name", name}, {"summary", summary}});
      else
        print_clean("{:<24} {}\n", name, summary);
    }
    if (options->json) print_json(array);
  });
}

}  // namespace kernelsearch::app
