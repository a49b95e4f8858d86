// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelsearch::detail {

/// A JSON value that knows its line. Objects keep the order of their keys: tunables are ordered.
struct JsonNode {
  enum class Kind : std::uint8_t { null, boolean, integer, real, string, array, object };

  Kind kind = Kind::null;
  bool boolean = false;
  std::int64_t integer = 0;
  double real = 0.0;
  std::string string;
  std::vector<std::string> keys;  ///< of an object, one for each of `items`
  std::vector<JsonNode> items;
  int line = 0;
};

/// Parses JSON with comments; `file` is named in errors. A ConfigError for text that is not JSON, a key given
/// twice, a number that no 64-bit integer or double holds, or nesting deeper than 64.
[[nodiscard]] JsonNode parse_json(std::string_view text, const std::string& file);

}  // namespace kernelsearch::detail
