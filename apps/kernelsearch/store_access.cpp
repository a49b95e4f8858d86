// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "store_access.hpp"

#include <fmt/core.h>

#include <cmath>
#include <filesystem>

#include "kernelsearch/core/error.hpp"

namespace kernelsearch::app {

RunStore open_existing_store(const std::string& option) {
  const std::filesystem::path path =
      option.empty() ? RunStore::default_path() : std::filesystem::path(option);
  if (!std::filesystem::exists(path))
    detail::raise<ConfigError>("there is no store of runs yet", path.string(),
                               "tune something first, or name another file with --store");
  return RunStore(path);
}

RunRow require_run(const RunStore& store, const std::string& number_or_name) {
  if (std::optional<RunRow> row = store.find_run(number_or_name)) return *std::move(row);
  detail::raise<ConfigError>("no such run", number_or_name, "see `kernelsearch runs` for what there is");
}

std::string seconds_text(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  if (seconds >= 1e-6) return fmt::format("{:.3g} us", seconds * 1e6);
  return fmt::format("{:.3g} ns", seconds * 1e9);
}

}  // namespace kernelsearch::app
