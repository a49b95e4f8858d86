// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/result.hpp"

namespace kernelsearch {

/// What an option of a policy, a run or a measurement can be.
using FieldValue = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>,
                                std::vector<std::int64_t>, std::uint64_t>;

/// Options by name, each named once.
using FieldValues = std::vector<std::pair<std::string, FieldValue>>;

/// A value as texts of options have it (PolicyText): strings are quoted where they would not read as words.
[[nodiscard]] std::string field_text(const FieldValue& value);

/// The type of an option; it numbers the alternatives of FieldValue.
enum class FieldType : std::uint8_t {
  flag,     ///< true or false
  count,    ///< a whole number
  number,   ///< a finite number
  text,     ///< a string
  texts,    ///< a list of strings
  counts,   ///< a list of whole numbers
  natural,  ///< a whole number from 0 up to 2^64 - 1
};

/// The type's name as listings have it: bool, int, float, string, list of strings, list of ints, uint64.
[[nodiscard]] const char* type_name(FieldType type) noexcept;

/// One option, which is a member of a struct: a row of a table that the command, the library for C, Python,
/// the MCP server, the store of runs and the documentation take the options from. A row is the only place
/// where an option is described.
struct Field {
  std::string_view name;     ///< of the option in every interface
  std::string_view summary;  ///< one line: what it does, in which unit
  FieldType type = FieldType::flag;
  double least = -std::numeric_limits<double>::infinity();  ///< of counts and numbers, itself included
  double most = std::numeric_limits<double>::infinity();    ///< likewise
  std::span<const std::string_view> choices = {};           ///< of a text: all that it can be; none: any text
  /// The member's value; nothing where the member is empty, so that something else decides.
  std::optional<FieldValue> (*read)(const void* options) = nullptr;
  void (*write)(void* options, const FieldValue& value) = nullptr;  ///< a value that try_value() gave

  /// The value as this option has it: a whole number becomes a number where the option is one. A fault, with
  /// `owner` in its text, for another type, a number out of bounds and a text that is not among the choices.
  [[nodiscard]] Result<FieldValue> try_value(std::string_view owner, FieldValue given) const;

  /// What it can be, for people: `int, 1 to 1000`, `warm or cold`.
  [[nodiscard]] std::string values_text() const;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/core/impl/field_impl.hpp"
#endif
