// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelsearch::recorded {

/// A tag of XML.
struct XmlTag {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes;
  bool opens = false;
  bool closes = false;  ///< both where it is `<name/>`

  /// Empty where there is none.
  [[nodiscard]] std::string_view attribute(std::string_view name) const noexcept;
};

/// Reads the tags of XML front to back, for files that have all they say in attributes, as KTT's: text
/// between tags, comments and declarations are stepped over, and no entities are defined. No XML library is
/// among what the project needs; the reader nests nothing, so that no depth of a hostile file matters. What
/// is malformed is a ConfigError that names the source and the line; TextEnds (json_reader.hpp) where the
/// text ends in a tag.
class XmlReader {
 public:
  XmlReader(std::string_view text, std::string source) : text_(text), source_(std::move(source)) {}

  /// The next tag; false at the end.
  bool next(XmlTag& tag);
  /// Raises the ConfigError for what is malformed here.
  [[noreturn]] void fail(std::string_view what) const;

 private:
  void skip_space() noexcept;
  void skip_past(std::string_view end);
  std::string name();
  std::string attribute_value();

  std::string_view text_;
  std::string source_;
  std::size_t at_ = 0;
};

}  // namespace kernelsearch::recorded
