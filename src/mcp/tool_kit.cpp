// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tool_kit.hpp"

#include <fmt/format.h>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/store/json.hpp"
#include "run_json.hpp"

namespace kernelsearch::detail {

using nlohmann::json;

ToolReply replied(std::string text, const json& structured) {
  return {std::move(text), json_text(structured), false};
}

RunId run_of(const RunManager& manager, const json& arguments) {
  const auto wanted = arguments.at("run").get<std::int64_t>();
  const auto row = manager.store().find_run(std::to_string(wanted));
  if (!row || number(row->id) != wanted)
    raise<ConfigError>("no such run", std::to_string(wanted), "call status for what there is, or start_run");
  return row->id;
}

StoredTrial trial_of(const RunManager& manager, RunId run, TrialId id) {
  if (std::optional<StoredTrial> trial = manager.store().trial(run, id)) return *std::move(trial);
  raise<ConfigError>(
      "no such trial in this run", std::to_string(number(id)),
      fmt::format("run {} has {} trials, counted from 0", number(run), manager.store().run(run).trials));
}

StoredTrial trial_or_best(const RunManager& manager, RunId run, const json& arguments, const char* name) {
  if (const auto given = arguments.find(name); given != arguments.end())
    return trial_of(manager, run, TrialId{given->get<std::uint64_t>()});
  if (std::optional<StoredTrial> best = manager.store().best_trial(run)) return *std::move(best);
  std::optional<StoredTrial> first;
  for (StoredTrial& trial : manager.store().trials(run))
    if (!first && trial.candidate) first = std::move(trial);
  if (first) return *std::move(first);
  raise<ConfigError>("the run has no trials yet", std::to_string(number(run)),
                     "let it work with step, or hand in a kernel with submit_kernel");
}

std::string next_text(const RunManager& manager, RunId run) {
  const std::optional<Move> move = manager.suggestion(run);
  if (!move) return {};
  return "\nsuggested next: " + move_text(*move) +
         "; hand it in by submit_kernel with answers: true, or decline it by step";
}

json regions_json(const StoredKernel& kernel) {
  return {{"device", kernel.device}, {"host", kernel.host}, {"macros", kernel.macros}};
}

std::string trial_name(TrialId id) {
  return "trial " + std::to_string(number(id));
}

}  // namespace kernelsearch::detail
