// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json_document.hpp"
#include "kernelsearch/core/impl/enum_names.hpp"
#include "kernelsearch/core/value.hpp"

namespace kernelsearch::detail {

/// A place in a JSON document. Every refusal names the file, the line and the JSON pointer of that place.
class JsonCursor {
 public:
  JsonCursor(const JsonNode& node, const std::string& file, std::string pointer = {})
      : node_(&node), file_(&file), pointer_(std::move(pointer)) {}

  [[nodiscard]] const JsonNode& node() const noexcept { return *node_; }
  [[nodiscard]] JsonNode::Kind kind() const noexcept { return node_->kind; }

  /// `FILE:LINE: POINTER <problem>: <given>; <todo>`
  [[noreturn]] void refuse(std::string_view problem, std::string_view given, std::string_view todo) const;
  /// The same, with what stands at this place as what was given.
  [[noreturn]] void refuse(std::string_view problem, std::string_view todo) const;

  [[nodiscard]] const std::string& string(std::string_view todo) const;
  [[nodiscard]] std::int64_t integer(std::string_view todo) const;
  [[nodiscard]] double number(std::string_view todo) const;  ///< finite
  [[nodiscard]] bool boolean(std::string_view todo = "write true or false") const;
  [[nodiscard]] std::vector<JsonCursor> items(std::string_view todo) const;
  [[nodiscard]] std::vector<std::pair<std::string, JsonCursor>> members(std::string_view todo) const;
  /// A bool, a number or a string.
  [[nodiscard]] Value value(std::string_view todo) const;
  /// The position in `names` of the string that stands here.
  [[nodiscard]] std::size_t choice(std::string_view what, std::span<const std::string_view> names) const;
  [[nodiscard]] std::size_t choice(std::string_view what,
                                   std::initializer_list<std::string_view> names) const {
    return choice(what, std::span(names.begin(), names.size()));
  }
  /// The enumerator whose name, by `to_string`, stands here.
  template <class Enum>
  [[nodiscard]] Enum choice(std::string_view what) const {
    return static_cast<Enum>(choice(what, enum_names<Enum>));
  }

  /// The member of that key; empty where it is absent or null.
  [[nodiscard]] std::optional<JsonCursor> find(std::string_view key) const;
  [[nodiscard]] JsonCursor at(std::string_view key, std::string_view todo) const;
  /// Refuses every key but these, naming the nearest.
  void only(std::span<const std::string_view> known) const;
  void only(std::initializer_list<std::string_view> known) const {
    only(std::span(known.begin(), known.size()));
  }

  /// What stands here as JSON, on one line.
  [[nodiscard]] std::string text() const;
  /// The same, cut after some characters.
  [[nodiscard]] std::string show() const;

 private:
  [[nodiscard]] JsonCursor child(std::size_t i, std::string_view step) const;

  const JsonNode* node_;
  const std::string* file_;
  std::string pointer_;
};

}  // namespace kernelsearch::detail
