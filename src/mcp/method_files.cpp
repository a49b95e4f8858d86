// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/mcp/method_files.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

namespace kernelsearch {

namespace fs = std::filesystem;

namespace {

/// What it is called: methods have an id, all else a name.
std::string name_in(const nlohmann::json& json) {
  for (const char* key : {"id", "name"})
    if (const auto name = json.find(key); name != json.end() && name->is_string()) return *name;
  return {};
}

bool describes(const nlohmann::json& json) {
  return json.is_object() && !name_in(json).empty();
}

void add(const nlohmann::json& json, const std::string& folder, const std::string& file,
         std::vector<MethodEntry>& entries) {
  // A set has a name and a description of its own, but its members are what is meant.
  for (const char* list : {"strategies", "methods"})
    if (json.is_object() && json.contains(list) && json[list].is_array())
      return add(json[list], folder, file, entries);
  if (describes(json)) {
    const auto text = json.find("description");
    entries.push_back({folder, name_in(json),
                       text != json.end() && text->is_string() ? text->get<std::string>() : "", file,
                       json.dump()});
  } else if (json.is_array()) {
    for (const nlohmann::json& one : json)
      if (describes(one)) add(one, folder, file, entries);
  } else if (json.is_object()) {
    for (const nlohmann::json& member : json)
      if (member.is_array()) add(member, folder, file, entries);
  }
}

}  // namespace

fs::path data_folder() {
  std::string places = KERNELSEARCH_DATA_PATHS;
  if (const char* given = std::getenv("KERNELSEARCH_DATA"); given != nullptr && *given != '\0')
    places = given;
  std::istringstream list(places);
  for (std::string place; std::getline(list, place, ':');)
    if (std::error_code error; fs::is_directory(place, error)) return place;
  return {};
}

std::vector<MethodEntry> read_method_files(const fs::path& data) {
  std::vector<MethodEntry> entries;
  std::error_code error;
  if (data.empty() || !fs::is_directory(data, error)) return entries;
  for (const auto& found : fs::recursive_directory_iterator(data, error)) {
    if (!found.is_regular_file() || found.path().extension() != ".json") continue;
    const fs::path below = fs::relative(found.path(), data, error);
    if (below.empty() || !below.has_parent_path()) continue;
    std::ifstream stream(found.path());
    const auto json = nlohmann::json::parse(stream, nullptr, false, true);
    if (!json.is_discarded()) add(json, below.begin()->string(), below.generic_string(), entries);
  }
  std::sort(entries.begin(), entries.end(), [](const MethodEntry& a, const MethodEntry& b) {
    return std::tie(a.folder, a.name, a.file) < std::tie(b.folder, b.name, b.file);
  });
  return entries;
}

}  // namespace kernelsearch
