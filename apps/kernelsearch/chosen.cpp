// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "chosen.hpp"

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/core/whole_file.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/store/json.hpp"
#include "store_access.hpp"

namespace kernelsearch::app {
namespace {

using nlohmann::json;

Config config_from(const Space& space, const json& settings, const std::string& given) {
  if (!settings.is_object())
    detail::raise<ConfigError>("settings are a JSON object", given, R"(write {"NAME": value, ...})");
  std::vector<Value> values = space.values(space.default_config());
  for (const auto& [name, value] : settings.items()) {
    const auto at = space.find(name);
    if (!at) {
      std::vector<std::string> names;
      for (const Tunable& tunable : space.tunables()) names.push_back(tunable.name);
      const std::string nearest = nearest_name(name, names);
      detail::raise<ConfigError>(
          "there is no such tunable", name,
          nearest.empty() ? "see `kernelsearch space`" : "did you mean " + nearest + "?");
    }
    values[*at] = value_from_json(value);
  }
  const auto config = space.config_of(values);
  if (!config)
    detail::raise<ConfigError>("a value is not one of its tunable's", given,
                               "see `kernelsearch space` for them");
  if (!space.contains(*config))
    detail::raise<ConfigError>("these settings break a constraint", given,
                               "see `kernelsearch space` for them");
  return *config;
}

Candidate best_of_runs(const Problem& problem, const std::string& store_option) {
  const RunStore store = open_store_to_read(store_option);
  // `tune` keeps runs of cold and warm caches apart; the newest of both is meant.
  const std::string digest = problem_digest(problem);
  const std::string cold = sha256(digest + "\ncold"), warm = sha256(digest + "\nwarm");
  for (const RunRow& row : store.runs()) {
    if (row.info.problem_digest != cold && row.info.problem_digest != warm) continue;
    const auto best = store.best_trial(row.id);
    if (!best || !best->candidate) continue;
    const auto stored = store.kernel(best->candidate->kernel);
    if (!stored) continue;
    Kernel kernel = problem.kernel;
    kernel.regions = {stored->device, stored->host, stored->macros};
    const json values = parse_json(best->candidate->values, "stored values");
    Config config = config_from(kernel.space, values, best->candidate->values);
    return {std::make_shared<const Kernel>(std::move(kernel)), std::move(config)};
  }
  detail::raise<ConfigError>("no run of this problem has a winner", store.file().string(),
                             "tune it first, or name the settings with --config");
}

}  // namespace

Candidate chosen_candidate(const Problem& problem, const std::string& choice, const std::string& store) {
  if (choice == "best") return best_of_runs(problem, store);
  const auto kernel = std::make_shared<const Kernel>(problem.kernel);
  if (choice == "default") return {kernel, kernel->space.default_config()};
  std::string text = choice;
  if (choice.find('{') == std::string::npos) {
    const std::optional<std::string> read = try_whole_file(choice);
    if (!read)
      detail::raise<ConfigError>("no such settings", choice,
                                 "give best, default, a JSON object or a file of it");
    text = *read;
  }
  return {kernel, config_from(kernel->space, parse_json(text, "--config"), choice)};
}

std::string settings_text(const Candidate& candidate) {
  nlohmann::ordered_json settings = nlohmann::ordered_json::object();
  const Space& space = candidate.kernel->space;
  for (std::size_t i = 0; i < space.size(); ++i)
    settings[space.tunable(i).name] = value_to_json(space.value(candidate.config, i));
  return settings.dump();
}

}  // namespace kernelsearch::app
