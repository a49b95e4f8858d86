// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/trial_difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "agents/line_diff.hpp"

namespace kernelsearch {
namespace {

nlohmann::json values_of(const StoredTrial& trial) {
  nlohmann::json values = nlohmann::json::object();
  if (trial.candidate) values = nlohmann::json::parse(trial.candidate->values, nullptr, false);
  return values.is_object() ? values : nlohmann::json::object();
}

Regions regions_of(const RunStore& store, const StoredTrial& trial) {
  if (!trial.candidate) return {};
  std::optional<StoredKernel> kernel = store.kernel(trial.candidate->kernel);
  if (!kernel) return {};
  return {std::move(kernel->device), std::move(kernel->host), std::move(kernel->macros)};
}

std::string settings_text(const std::vector<ChangedSetting>& settings) {
  std::string text;
  for (const ChangedSetting& one : settings)
    text += fmt::format("{}{} = {} instead of {}", text.empty() ? "" : ", ", one.name, one.after, one.before);
  return text;
}

std::string regions_text(const std::vector<KernelRegion>& regions) {
  std::string text;
  for (const KernelRegion region : regions)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", to_string(region));
  return text;
}

}  // namespace

TrialDifference difference_between(const RunStore& store, const StoredTrial& before,
                                   const StoredTrial& after) {
  TrialDifference difference;
  const nlohmann::json old_values = values_of(before), new_values = values_of(after);
  constexpr const char* absent = "absent";
  for (const auto& [name, value] : new_values.items()) {
    const auto old = old_values.find(name);
    if (old == old_values.end())
      difference.settings.push_back({name, absent, value.dump()});
    else if (*old != value)
      difference.settings.push_back({name, old->dump(), value.dump()});
  }
  for (const auto& [name, value] : old_values.items())
    if (!new_values.contains(name)) difference.settings.push_back({name, value.dump(), absent});
  const Regions old_code = regions_of(store, before), new_code = regions_of(store, after);
  for (const KernelRegion region : regions_in_code) {
    const std::string &old = text_of(old_code, region), &now = text_of(new_code, region);
    if (old == now) continue;
    difference.regions.push_back(region);
    difference.diff += fmt::format("== {}\n{}", to_string(region), detail::line_diff(old, now));
  }
  return difference;
}

std::string likely_cause(const StoredTrial& parent, const StoredTrial& trial,
                         const TrialDifference& difference) {
  if (trial.outcome.ok() || !trial.candidate) return {};
  const std::uint64_t id = number(parent.outcome.id);
  if (!parent.outcome.ok()) {
    if (parent.outcome.evaluation.verdict != trial.outcome.evaluation.verdict) return {};
    return fmt::format("its parent, trial {}, failed in the same way: what was wrong there still is", id);
  }
  const std::string settings = settings_text(difference.settings);
  if (difference.settings_alone())
    return difference.settings.size() == 1
               ? fmt::format(
                     "it differs from trial {}, which is right, only in {}: that setting broke it, "
                     "not the code",
                     id, settings)
               : fmt::format(
                     "it differs from trial {}, which is right, only in settings ({}): one of them, "
                     "or two together, broke it, not the code; hand them in one at a time",
                     id, settings);
  if (difference.regions.empty()) return {};
  const std::string regions = regions_text(difference.regions);
  if (settings.empty())
    return fmt::format(
        "its settings are those of trial {}, which is right: the change of the code broke it "
        "(region {}); look at the lines that differ",
        id, regions);
  return fmt::format(
      "both code (region {}) and settings ({}) differ from trial {}, which is right; to tell "
      "which broke it, hand in the code with the settings of trial {}",
      regions, settings, id, id);
}

}  // namespace kernelsearch
