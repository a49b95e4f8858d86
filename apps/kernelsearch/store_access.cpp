// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "store_access.hpp"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/definition_problem.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/report/format.hpp"

namespace kernelsearch::app {

namespace {

RunStore open_store(const std::string& option, bool only_read) {
  const std::filesystem::path path =
      option.empty() ? RunStore::default_path() : std::filesystem::path(option);
  if (!std::filesystem::exists(path))
    detail::raise<ConfigError>("there is no store of runs yet", path.string(),
                               "tune something first, or name another file with --store");
  return RunStore(path, {.only_read = only_read});
}

}  // namespace

RunStore open_existing_store(const std::string& option) {
  return open_store(option, false);
}
RunStore open_store_to_read(const std::string& option) {
  return open_store(option, true);
}

RunRow require_run(const RunStore& store, const std::string& number_or_name) {
  if (std::optional<RunRow> row = store.find_run(number_or_name)) return *std::move(row);
  detail::raise<ConfigError>("no such run", number_or_name, "see `kernelsearch runs` for what there is");
}

std::string seconds_text(double seconds) {
  return std::isfinite(seconds) ? format_seconds(seconds, 3) : "-";
}

std::string joined_tags(const RunNote& note) {
  std::string text;
  for (const std::string& tag : note.tags) text += (text.empty() ? "" : ", ") + tag;
  return text;
}

Problem problem_of_run(const RunRow& run, const std::string& named) {
  const nlohmann::json options = nlohmann::json::parse(run.info.options);
  Problem problem = read_problem(named.empty() ? options.value("problem", "") : named);
  if (const std::string baseline = options.value("baseline", ""); !baseline.empty())
    add_baseline(problem, baseline);
  return problem;
}

}  // namespace kernelsearch::app
