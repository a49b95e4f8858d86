// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/root_folder.hpp"

#include <algorithm>
#include <string>
#include <system_error>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/nearest.hpp"

namespace kernelsearch {

namespace fs = std::filesystem;

namespace {

/// What may have been meant.
std::string likely(const std::string& given, const std::vector<std::string>& problems) {
  constexpr std::size_t shown = 8;
  if (const std::string nearest = nearest_name(given, problems); !nearest.empty())
    return "; did you mean " + nearest + "?";
  if (problems.empty()) return {};
  std::string names;
  for (std::size_t i = 0; i < std::min(shown, problems.size()); ++i)
    names += (i == 0 ? "" : ", ") + problems[i];
  return "; problems there: " + names + (problems.size() > shown ? ", ..." : "");
}

}  // namespace

RootFolder::RootFolder(const fs::path& folder) {
  std::error_code error;
  root_ = fs::canonical(folder, error);
  if (error || !fs::is_directory(root_))
    detail::raise<ConfigError>("the root is not a folder", folder.string(), "name a folder that is there");
}

bool RootFolder::holds(const fs::path& path) const {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return false;
  const auto [end, unused] = std::mismatch(root_.begin(), root_.end(), real.begin(), real.end());
  return end == root_.end();
}

fs::path RootFolder::find(std::string_view name) const {
  const std::string given(name.substr(0, 4096));
  if (given.find('\0') != std::string::npos)
    detail::raise<ConfigError>("a path holds a zero byte", "", "give a path below the root");
  const fs::path path = root_ / fs::path(given);
  // One message for what is not there and what must not be looked at: nothing outside can be told from
  // nothing.
  if (!holds(path))
    detail::raise<ConfigError>("there is no such file or folder below the root", given,
                               "give a path relative to " + root_.string() + likely(given, problems()));
  return fs::canonical(path);
}

fs::path RootFolder::find_problem(std::string_view name) const {
  fs::path path = find(name);
  std::error_code error;
  const fs::path file = path / "problem.json";
  // One that is a link to a file elsewhere does not count, either.
  if (fs::is_directory(path, error) && (!fs::is_regular_file(file, error) || !holds(file)))
    detail::raise<ConfigError>("no problem is there", std::string(name),
                               "name a folder with a problem.json" + likely(std::string(name), problems()));
  return path;
}

std::vector<std::string> RootFolder::problems() const {
  constexpr int deepest = 3;  // counted from 0
  constexpr std::size_t most = 100, most_looked_at = 10'000;
  std::vector<std::string> found;
  std::size_t looked_at = 0;
  std::error_code error;
  fs::recursive_directory_iterator at(root_, fs::directory_options::skip_permission_denied, error), end;
  for (; !error && at != end && looked_at++ < most_looked_at; at.increment(error)) {
    if (!at->is_directory(error) || at->is_symlink(error)) continue;
    if (at.depth() >= deepest) at.disable_recursion_pending();
    if (fs::is_regular_file(at->path() / "problem.json", error))
      found.push_back(at->path().lexically_relative(root_).generic_string());
  }
  std::sort(found.begin(), found.end());
  if (found.size() > most) found.resize(most);
  return found;
}

}  // namespace kernelsearch
