// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/mcp/method_files.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>
#include <utility>

#include "kernelsearch/problem/traits.hpp"

namespace kernelsearch {

namespace fs = std::filesystem;

namespace {

/// What it is called: methods have an id, all else a name.
std::string name_in(const nlohmann::json& json) {
  for (const char* key : {"id", "name"})
    if (const auto name = json.find(key); name != json.end() && name->is_string()) return *name;
  return {};
}

std::vector<std::string> words_in(const nlohmann::json& json, const char* key) {
  std::vector<std::string> words;
  if (const auto list = json.find(key); list != json.end() && list->is_array())
    for (const nlohmann::json& one : *list)
      if (one.is_string()) words.push_back(one);
  return words;
}

/// The traits that it asks for, in tags or as `trait.NAME` in conditions.
std::vector<std::string> traits_in(const nlohmann::json& json) {
  std::vector<std::string> traits;
  const auto add = [&traits](std::string name) {
    if (std::find(traits.begin(), traits.end(), name) == traits.end()) traits.push_back(std::move(name));
  };
  for (std::string& tag : words_in(json, "tags"))
    if (std::find(known_traits.begin(), known_traits.end(), tag) != known_traits.end()) add(std::move(tag));
  for (const char* key : {"when", "trigger"}) {
    const auto condition = json.find(key);
    if (condition == json.end() || !condition->is_string()) continue;
    const auto text = condition->get<std::string>();
    constexpr std::string_view prefix = "trait.";
    for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at)) {
      at += prefix.size();
      const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_", at);
      add(text.substr(at, end - at));
    }
  }
  return traits;
}

bool describes(const nlohmann::json& json) {
  return json.is_object() && !name_in(json).empty();
}

void add(const nlohmann::json& json, const std::string& folder, const std::string& file,
         const std::vector<std::string>& backends, std::vector<MethodEntry>& entries) {
  // A set has a name and a description of its own, but its members are what is meant.
  for (const char* list : {"strategies", "methods"})
    if (json.is_object() && json.contains(list) && json[list].is_array())
      return add(json[list], folder, file, words_in(json, "backends"), entries);
  if (describes(json)) {
    const auto text = json.find("description");
    std::vector<std::string> own = words_in(json, "backends");
    entries.push_back({folder, name_in(json),
                       text != json.end() && text->is_string() ? text->get<std::string>() : "", file,
                       json.dump(), own.empty() ? backends : std::move(own), traits_in(json)});
  } else if (json.is_array()) {
    for (const nlohmann::json& one : json)
      if (describes(one)) add(one, folder, file, backends, entries);
  } else if (json.is_object()) {
    for (const nlohmann::json& member : json)
      if (member.is_array()) add(member, folder, file, backends, entries);
  }
}

}  // namespace

bool MethodEntry::is_for_backend(std::string_view backend) const {
  return backends.empty() || std::find(backends.begin(), backends.end(), backend) != backends.end();
}

bool MethodEntry::is_for_traits(const std::vector<std::string>& wanted) const {
  if (traits.empty() || wanted.empty()) return true;
  return std::any_of(traits.begin(), traits.end(), [&wanted](const std::string& trait) {
    return std::find(wanted.begin(), wanted.end(), trait) != wanted.end();
  });
}

std::string MethodEntry::summary() const {
  constexpr std::size_t longest = 160;
  std::string text = description.substr(0, description.find(". "));
  if (text.size() <= longest) return text;
  text.resize(text.find_last_of(' ', longest) == std::string::npos ? longest
                                                                   : text.find_last_of(' ', longest));
  return text + " ...";
}

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
    // Nothing proves a transformation.
    if (below.generic_string().starts_with("transformations/proofs/")) continue;
    std::ifstream stream(found.path());
    const auto json = nlohmann::json::parse(stream, nullptr, false, true);
    if (!json.is_discarded()) add(json, below.begin()->string(), below.generic_string(), {}, entries);
  }
  std::sort(entries.begin(), entries.end(), [](const MethodEntry& a, const MethodEntry& b) {
    return std::tie(a.folder, a.name, a.file) < std::tie(b.folder, b.name, b.file);
  });
  return entries;
}

}  // namespace kernelsearch
