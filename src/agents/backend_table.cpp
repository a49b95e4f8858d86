// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/backend_table.hpp"

#include "kernelsearch/agents/data_files.hpp"
#include "kernelsearch/core/error.hpp"
#include "problem/json_cursor.hpp"

namespace kernelsearch {

std::string_view BackendTable::find(std::string_view concept_name) const noexcept {
  for (const auto& [name, spelling] : rows)
    if (name == concept_name) return spelling;
  return {};
}

BackendTable backend_table(std::string_view backend, const std::filesystem::path& user) {
  std::string known;
  for (const DataFile& file : data_files("backends", user)) {
    const std::string shown = file.path.empty() ? file.folder + '/' + file.name : file.path.string();
    const detail::JsonNode root = detail::parse_json(file.text, shown);
    const detail::JsonCursor document(root, shown);
    document.only({"schema", "backend", "language", "rows", "notes"});
    BackendTable table;
    table.backend = document.at("backend", "name the backend").string("write a string");
    (known += known.empty() ? "" : ", ") += table.backend;
    if (table.backend != backend) continue;
    table.language = document.at("language", "name its language").string("write a string");
    constexpr const char* form = "write {\"concept\": \"how it is written\", ...}";
    for (const auto& [name, spelling] : document.at("rows", form).members(form))
      table.rows.emplace_back(name, spelling.string(form));
    if (const auto notes = document.find("notes"))
      for (const detail::JsonCursor& note : notes->items("list sentences"))
        table.notes.push_back(note.string("write a string"));
    return table;
  }
  detail::raise<ConfigError>("there is no translation table for this backend", backend,
                             "known are " + known + "; put NAME.json into a folder backends");
}

std::string backend_text(const BackendTable& table) {
  std::string text = "The language is " + table.language + ". Instructions name concepts; write them so:\n";
  for (const auto& [name, spelling] : table.rows) text += "- " + name + ": " + spelling + '\n';
  for (const std::string& note : table.notes) text += note + '\n';
  return text;
}

}  // namespace kernelsearch
