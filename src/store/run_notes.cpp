// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/store/run_notes.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "problem/replace_file.hpp"

namespace kernelsearch {
namespace {

using nlohmann::json;

std::string trimmed(const std::string& text) {
  constexpr std::string_view blank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blank);
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(blank) + 1 - first);
}

/// Each tag once; those that are empty or were not written by us are left out.
std::vector<std::string> usable(const std::vector<std::string>& tags) {
  std::vector<std::string> kept;
  for (const std::string& tag : tags) {
    std::string one = trimmed(clean_text(tag));
    std::replace(one.begin(), one.end(), '\n', ' ');
    if (!one.empty() && one.size() <= RunNote::longest_tag && kept.size() < RunNote::most_tags &&
        std::find(kept.begin(), kept.end(), one) == kept.end())
      kept.push_back(std::move(one));
  }
  return kept;
}

void check(const RunNote& note) {
  for (const std::string& tag : note.tags)
    if (trimmed(tag).size() > RunNote::longest_tag || tag.find(',') != std::string::npos)
      detail::raise<ConfigError>("this is not a tag", tag.substr(0, 80),
                                 "a tag has no comma and at most 64 bytes: write a note");
  if (note.tags.size() > RunNote::most_tags)
    detail::raise<ConfigError>("a run has too many tags", std::to_string(note.tags.size()),
                               "give 16 or fewer");
  if (note.text.size() > RunNote::longest_text)
    detail::raise<ConfigError>("the note is too long", std::to_string(note.text.size()) + " bytes",
                               "give at most 4000");
}

}  // namespace

std::filesystem::path RunNotes::file_of(const RunRow& run) const {
  return folder_ / (std::to_string(number(run.id)) + ".json");
}

RunNote RunNotes::of(const RunRow& run) const {
  std::ifstream file(file_of(run), std::ios::binary);
  if (!file) return {};
  std::string text(1 << 16, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  const json kept = json::parse(text, nullptr, false);
  if (!kept.is_object() || kept.value("started", json()) != json(run.started)) return {};
  RunNote note;
  std::vector<std::string> tags;
  for (const json& tag : kept.value("tags", json::array()))
    if (tag.is_string()) tags.push_back(tag.get<std::string>());
  note.tags = usable(tags);
  if (const auto said = kept.find("note"); said != kept.end() && said->is_string())
    note.text = clean_text(said->get<std::string>().substr(0, RunNote::longest_text));
  return note;
}

RunNote RunNotes::set(const RunRow& run, const RunNote& note) const {
  check(note);
  const RunNote kept{usable(note.tags), trimmed(clean_text(note.text))};
  std::error_code error;
  if (kept == RunNote{}) {
    std::filesystem::remove(file_of(run), error);
  } else {
    error = detail::create_private_folders(folder_);
    const json text{{"started", run.started}, {"tags", kept.tags}, {"note", kept.text}};
    if (!error)
      error = detail::replace_private_file(file_of(run),
                                           text.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
  }
  if (error)
    detail::raise<ConfigError>("the note cannot be kept", file_of(run).string() + ": " + error.message(),
                               "check the permissions and the space of the store's folder");
  return kept;
}

}  // namespace kernelsearch
