// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/systems/cuda_skill_v2/skill_settings.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "kernelsearch/core/error.hpp"

namespace kernelsearch {

using nlohmann::ordered_json;

std::string skill_settings_json(const RooflineBudgetOptions& options) {
  ordered_json methods = ordered_json::array();
  for (const Method& method : options.methods) methods.push_back(method.id);
  return ordered_json{{"iterations", options.iterations},
                      {"branches", options.branches},
                      {"rewrites", options.rewrites},
                      {"noise", options.noise},
                      {"near", options.near},
                      {"pairs", options.pairs},
                      {"total", options.budget.total},
                      {"cap", options.budget.cap},
                      {"smallest", options.budget.smallest},
                      {"attempts", options.limits.attempts},
                      {"from_frontier", options.from_frontier},
                      {"published_gaps", options.as_published.gaps},
                      {"published_budget", options.as_published.budget},
                      {"published_rewrites", options.as_published.rewrites},
                      {"published_filing", options.as_published.filing},
                      {"architecture", options.device.architecture},
                      {"features", options.device.features},
                      {"methods", std::move(methods)}}
      .dump();
}

namespace {

/// Raises an exception of the JSON library for a member of another type.
RooflineBudgetOptions read_members(const ordered_json& json, std::vector<Method> methods) {
  RooflineBudgetOptions options;
  options.iterations = json.value("iterations", options.iterations);
  options.branches = json.value("branches", options.branches);
  options.rewrites = json.value("rewrites", options.rewrites);
  options.noise = json.value("noise", options.noise);
  options.near = json.value("near", options.near);
  options.pairs = json.value("pairs", options.pairs);
  options.budget.total = json.value("total", options.budget.total);
  options.budget.cap = json.value("cap", options.budget.cap);
  options.budget.smallest = json.value("smallest", options.budget.smallest);
  options.limits.attempts = json.value("attempts", options.limits.attempts);
  options.from_frontier = json.value("from_frontier", options.from_frontier);
  options.as_published = {json.value("published_gaps", false), json.value("published_budget", false),
                          json.value("published_rewrites", false), json.value("published_filing", false)};
  options.device.architecture = json.value("architecture", options.device.architecture);
  options.device.features = json.value("features", options.device.features);
  for (const std::string& id : json.value("methods", std::vector<std::string>{})) {
    const auto found =
        std::find_if(methods.begin(), methods.end(), [&id](const Method& one) { return one.id == id; });
    if (found == methods.end())
      detail::raise<ConfigError>("a method of this run is not in the registry any more", id,
                                 "use the version, and the folder of methods, that the run was made with");
    options.methods.push_back(std::move(*found));
  }
  return options;
}

}  // namespace

RooflineBudgetOptions read_skill_settings(std::string_view text, std::vector<Method> methods) {
  const ordered_json json = ordered_json::parse(text, nullptr, false);
  try {
    if (json.is_object()) return read_members(json, std::move(methods));
  } catch (const ordered_json::exception&) {
  }
  detail::raise<ConfigError>("the settings of a run of cuda_skill_v2 cannot be read", text.substr(0, 80),
                             "name a run that `tune --system cuda_skill_v2` made");
}

}  // namespace kernelsearch
