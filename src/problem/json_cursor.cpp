// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "json_cursor.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/utf8.hpp"
#include "kernelsearch/core/nearest.hpp"

namespace kernelsearch::detail {
namespace {

nlohmann::ordered_json to_json(const JsonNode& node) {
  switch (node.kind) {
    case JsonNode::Kind::null:
      return nullptr;
    case JsonNode::Kind::boolean:
      return node.boolean;
    case JsonNode::Kind::integer:
      return node.integer;
    case JsonNode::Kind::real:
      return node.real;
    case JsonNode::Kind::string:
      return node.string;
    case JsonNode::Kind::array: {
      auto array = nlohmann::ordered_json::array();
      for (const JsonNode& item : node.items) array.push_back(to_json(item));
      return array;
    }
    case JsonNode::Kind::object:
      break;
  }
  auto object = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < node.items.size(); ++i) object[node.keys[i]] = to_json(node.items[i]);
  return object;
}

/// RFC 6901: `~` and `/` inside a key are escaped.
std::string escaped(std::string_view key) {
  std::string result;
  for (const char c : key) {
    if (c == '~')
      result += "~0";
    else if (c == '/')
      result += "~1";
    else
      result += c;
  }
  return result;
}

const char* name_of(JsonNode::Kind kind) noexcept {
  constexpr const char* names[] = {"null",     "a bool", "an integer", "a number",
                                   "a string", "a list", "an object"};
  return names[static_cast<int>(kind)];
}

}  // namespace

void JsonCursor::refuse(std::string_view problem, std::string_view given, std::string_view todo) const {
  std::string what = *file_ + ':' + std::to_string(node_->line) + ": ";
  what += pointer_.empty() ? std::string("the document") : pointer_;
  what += ' ';
  what += problem;
  raise<ConfigError>(what, given, todo);
}

void JsonCursor::refuse(std::string_view problem, std::string_view todo) const {
  refuse(problem, show(), todo);
}

std::string JsonCursor::text() const {
  return to_json(*node_).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string JsonCursor::show() const {
  constexpr std::size_t longest = 80;
  std::string shown = text();
  if (shown.size() > longest) {
    shown.resize(detail::utf8_cut(shown, longest - 3));
    shown += "...";
  }
  return shown;
}

const std::string& JsonCursor::string(std::string_view todo) const {
  if (kind() != JsonNode::Kind::string) refuse(std::string("is ") + name_of(kind()) + ", not a string", todo);
  return node_->string;
}

std::int64_t JsonCursor::integer(std::string_view todo) const {
  if (kind() != JsonNode::Kind::integer)
    refuse(std::string("is ") + name_of(kind()) + ", not an integer", todo);
  return node_->integer;
}

double JsonCursor::number(std::string_view todo) const {
  if (kind() == JsonNode::Kind::integer) return static_cast<double>(node_->integer);
  if (kind() != JsonNode::Kind::real) refuse(std::string("is ") + name_of(kind()) + ", not a number", todo);
  return node_->real;
}

bool JsonCursor::boolean(std::string_view todo) const {
  if (kind() != JsonNode::Kind::boolean) refuse("is not a bool", todo);
  return node_->boolean;
}

std::vector<JsonCursor> JsonCursor::items(std::string_view todo) const {
  if (kind() != JsonNode::Kind::array) refuse(std::string("is ") + name_of(kind()) + ", not a list", todo);
  std::vector<JsonCursor> result;
  for (std::size_t i = 0; i < node_->items.size(); ++i) result.push_back(child(i, std::to_string(i)));
  return result;
}

std::vector<std::pair<std::string, JsonCursor>> JsonCursor::members(std::string_view todo) const {
  if (kind() != JsonNode::Kind::object)
    refuse(std::string("is ") + name_of(kind()) + ", not an object", todo);
  std::vector<std::pair<std::string, JsonCursor>> result;
  for (std::size_t i = 0; i < node_->items.size(); ++i)
    result.emplace_back(node_->keys[i], child(i, node_->keys[i]));
  return result;
}

Value JsonCursor::value(std::string_view todo) const {
  switch (kind()) {
    case JsonNode::Kind::boolean:
      return Value{node_->boolean};
    case JsonNode::Kind::integer:
      return Value{node_->integer};
    case JsonNode::Kind::real:
      return Value{node_->real};
    case JsonNode::Kind::string:
      return Value{node_->string};
    default:
      refuse(std::string("is ") + name_of(kind()) + ", not a value", todo);
  }
}

std::size_t JsonCursor::choice(std::string_view what, std::span<const std::string_view> names) const {
  std::vector<std::string> known(names.begin(), names.end());
  std::string todo = "write one of ";
  for (const std::string& name : known) todo += (name == known.front() ? "" : ", ") + name;
  const std::string& text = string(todo);
  for (std::size_t i = 0; i < known.size(); ++i)
    if (known[i] == text) return i;
  const std::string nearest = nearest_name(text, known);
  refuse("is not a known " + std::string(what),
         nearest.empty() ? todo : "did you mean " + nearest + "? " + todo);
}

std::optional<JsonCursor> JsonCursor::find(std::string_view key) const {
  for (std::size_t i = 0; i < node_->keys.size(); ++i)
    if (node_->keys[i] == key && node_->items[i].kind != JsonNode::Kind::null) return child(i, key);
  return std::nullopt;
}

JsonCursor JsonCursor::at(std::string_view key, std::string_view todo) const {
  if (kind() != JsonNode::Kind::object)
    refuse(std::string("is ") + name_of(kind()) + ", not an object", todo);
  if (auto found = find(key)) return *found;
  refuse("lacks the key \"" + std::string(key) + '"', "", todo);
}

void JsonCursor::only(std::span<const std::string_view> known) const {
  const std::vector<std::string> names(known.begin(), known.end());
  std::string all = "known here: ";
  for (const std::string& name : names) all += (name == names.front() ? "" : ", ") + name;
  for (const auto& [key, place] : members(all)) {
    if (std::find(names.begin(), names.end(), key) != names.end()) continue;
    const std::string nearest = nearest_name(key, names);
    place.refuse("is an unknown key", '"' + key + '"',
                 nearest.empty() ? all : "did you mean \"" + nearest + "\"? " + all);
  }
}

JsonCursor JsonCursor::child(std::size_t i, std::string_view step) const {
  return {node_->items[i], *file_, pointer_ + '/' + escaped(step)};
}

}  // namespace kernelsearch::detail
