// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/transformation_library.hpp"

#include <algorithm>
#include <utility>

#include "agents/read_declared.hpp"
#include "agents/read_signs.hpp"
#include "kernelsearch/agents/data_files.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/problem/backend.hpp"
#include "kernelsearch/problem/traits.hpp"
#include "problem/json_cursor.hpp"
#include "problem/problem_parts.hpp"

namespace kernelsearch {
namespace {

using detail::JsonCursor;

constexpr std::size_t most_passes = 16;
constexpr const char* text_form = "write a string or a list of lines";

/// A string, or a list of strings that are its lines.
std::string read_text(const JsonCursor& place) {
  if (place.kind() == detail::JsonNode::Kind::string) return place.node().string;
  std::string text;
  for (const JsonCursor& line : place.items(text_form)) (text += line.string(text_form)) += '\n';
  return text;
}

std::vector<std::string> read_strings(const std::optional<JsonCursor>& place) {
  std::vector<std::string> strings;
  if (!place) return strings;
  for (const JsonCursor& item : place->items("write a list of strings"))
    strings.push_back(item.string("write a string"));
  return strings;
}

std::string read_name(const JsonCursor& document) {
  const JsonCursor place = document.at("name", "name it, e.g. \"tb_tiling\"");
  const std::string& name = place.string("write a string");
  if (!detail::is_name(name)) place.refuse("is not a name", "use letters, digits and _");
  return name;
}

void check_schema(const JsonCursor& document) {
  const JsonCursor place = document.at("schema", "write \"schema\": 1");
  if (place.integer("write 1") != 1) place.refuse("is a version that is not known", "write 1");
}

KernelRegion read_region(const JsonCursor& place) {
  return place.choice<KernelRegion>("region");
}

SnippetUse parse_snippet(std::string_view json, const std::string& file) {
  const detail::JsonNode root = detail::parse_json(json, file);
  const JsonCursor document(root, file);
  document.only({"schema", "name", "region", "source", "text", "text_for"});
  check_schema(document);
  SnippetUse snippet{read_region(document.at("region", "say where it goes: \"macros\"")), read_name(document),
                     read_text(document.at("text", text_form))};
  if (const auto others = document.find("text_for"))
    for (const auto& [backend, text] : others->members("write {\"vulkan\": TEXT}")) {
      if (!backend_from(backend))
        text.refuse("is for a backend that does not exist", backend, "name one, e.g. vulkan");
      snippet.other_texts.emplace_back(backend, read_text(text));
    }
  return snippet;
}

TransformationPass read_pass(const JsonCursor& place, std::span<const SnippetUse> snippets) {
  place.only({"name", "insert", "edits"});
  TransformationPass pass;
  if (const auto name = place.find("name")) pass.name = name->string("write a string");
  if (const auto insert = place.find("insert"))
    for (const JsonCursor& item : insert->items("list names of snippets")) {
      const std::string& name = item.string("write the name of a snippet");
      const auto found = std::find_if(snippets.begin(), snippets.end(),
                                      [&](const SnippetUse& snippet) { return snippet.name == name; });
      if (found == snippets.end()) item.refuse("names no snippet", "put NAME.json into the folder snippets");
      pass.snippets.push_back(*found);
    }
  bool used[3] = {};
  for (const JsonCursor& item : place.at("edits", "list up to three edits").items("list up to three edits")) {
    item.only({"region", "instruction"});
    RegionEdit edit{read_region(item.at("region", "say which region it edits")),
                    read_text(item.at("instruction", "say what to do"))};
    bool& twice = used[static_cast<int>(edit.region)];
    if (twice) item.refuse("edits a region twice", "one edit of a region in a pass: add a pass");
    twice = true;
    if (edit.instruction.empty()) item.refuse("has no instruction", "say what to do");
    pass.edits.push_back(std::move(edit));
  }
  if (pass.edits.empty() && pass.snippets.empty()) place.refuse("does nothing", "give it edits");
  return pass;
}

std::shared_ptr<const std::vector<Transformation>> sorted(std::vector<Transformation> transformations) {
  std::sort(transformations.begin(), transformations.end(),
            [](const Transformation& a, const Transformation& b) { return a.name < b.name; });
  for (std::size_t i = 1; i < transformations.size(); ++i)
    if (transformations[i - 1].name == transformations[i].name)
      detail::raise<ConfigError>("two transformations have one name", transformations[i].name,
                                 "rename one; a file of the same name replaces ours");
  return std::make_shared<const std::vector<Transformation>>(std::move(transformations));
}

std::vector<Transformation> read_all(const std::filesystem::path& user) {
  const auto shown = [](const DataFile& file) {
    return file.path.empty() ? file.folder + '/' + file.name : file.path.string();
  };
  std::vector<SnippetUse> snippets;
  for (const DataFile& file : data_files("snippets", user))
    snippets.push_back(parse_snippet(file.text, shown(file)));
  std::vector<Transformation> transformations;
  for (const DataFile& file : data_files("transformations", user))
    transformations.push_back(parse_transformation(file.text, shown(file), snippets));
  return transformations;
}

}  // namespace

Transformation parse_transformation(std::string_view json, const std::string& file,
                                    std::span<const SnippetUse> snippets) {
  const detail::JsonNode root = detail::parse_json(json, file);
  const JsonCursor document(root, file);
  (void)document.members("write an object");
  document.only({"schema", "name", "title", "description", "source", "tags", "backends", "after", "tunables",
                 "constraints", "passes", "signs"});
  check_schema(document);
  Transformation found;
  found.name = read_name(document);
  const auto title = document.find("title");
  found.title = title ? title->string("write a string") : found.name;
  found.description = read_text(document.at("description", "say what it does"));
  if (const auto source = document.find("source")) found.source = source->string("write a string");
  found.tags = read_strings(document.find("tags"));
  found.signs = detail::read_signs(document.find("signs"));
  found.backends = read_strings(document.find("backends"));
  found.after = read_strings(document.find("after"));
  found.tunables = detail::read_declared(document, {});
  const JsonCursor passes = document.at("passes", "list its passes");
  for (const JsonCursor& item : passes.items("list its passes"))
    found.passes.push_back(read_pass(item, snippets));
  if (found.passes.empty() || found.passes.size() > most_passes)
    passes.refuse("has a number of passes that cannot be", "give 1 to 16");
  return found;
}

std::vector<std::string> traits_of(const Transformation& transformation) {
  std::vector<std::string> traits;
  for (const std::string& tag : transformation.tags)
    if (std::find(known_traits.begin(), known_traits.end(), tag) != known_traits.end()) traits.push_back(tag);
  return traits;
}

TransformationLibrary::TransformationLibrary(const std::filesystem::path& user)
    : transformations_(sorted(read_all(user))) {}

TransformationLibrary::TransformationLibrary(std::vector<Transformation> transformations)
    : transformations_(sorted(std::move(transformations))) {}

const Transformation* TransformationLibrary::find(std::string_view name) const noexcept {
  for (const Transformation& transformation : *transformations_)
    if (transformation.name == name) return &transformation;
  return nullptr;
}

const Transformation& TransformationLibrary::at(std::string_view name) const {
  if (const Transformation* found = find(name)) return *found;
  std::vector<std::string> known;
  for (const Transformation& transformation : *transformations_) known.push_back(transformation.name);
  const std::string nearest = nearest_name(name, known);
  detail::raise<ConfigError>("there is no such transformation", name,
                             nearest.empty() ? "list them with: kernelsearch list transformations"
                                             : "did you mean " + nearest + "?");
}

std::vector<std::string> TransformationLibrary::names(std::string_view backend, std::string_view tag) const {
  std::vector<const Transformation*> left;
  for (const Transformation& t : *transformations_)
    if (t.applies_to(backend) &&
        (tag.empty() || std::find(t.tags.begin(), t.tags.end(), tag) != t.tags.end()))
      left.push_back(&t);
  std::vector<std::string> ordered;
  while (!left.empty()) {
    // The first by name of which all that it builds on is placed; of a cycle simply the first.
    auto next = std::find_if(left.begin(), left.end(), [&](const Transformation* t) {
      return std::none_of(t->after.begin(), t->after.end(), [&](const std::string& before) {
        return std::any_of(left.begin(), left.end(),
                           [&](const Transformation* o) { return o->name == before; });
      });
    });
    if (next == left.end()) next = left.begin();
    ordered.push_back((*next)->name);
    left.erase(next);
  }
  return ordered;
}

}  // namespace kernelsearch
