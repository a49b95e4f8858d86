// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/value.hpp"

namespace kernelsearch {

/// One option of a system, by the name that its JSON object has.
struct SystemOption {
  std::string name;
  Value standard;       ///< the value where none is given; its type is the option's
  std::string summary;  ///< what it does
  std::string source;   ///< where the value comes from: a paper's section, or `ours`
  double least = -std::numeric_limits<double>::infinity();  ///< of integers and numbers
  double most = std::numeric_limits<double>::infinity();
};

/// The options that a system is made with: the values given, and the standard ones for the rest.
class SystemOptions {
 public:
  SystemOptions() = default;

  /// Reads a JSON object of options over their standard values; an empty text gives nothing. ConfigError for
  /// an unknown name, with the nearest one, and for a value of another type or beyond the option's bounds.
  SystemOptions(std::string_view system, std::span<const SystemOption> options, std::string_view json);

  /// The option of that name, as its type; a ConfigError for a name or type that the system does not declare.
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] std::size_t count(std::string_view name) const;
  [[nodiscard]] double number(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] std::string text(std::string_view name) const;

  /// Whether there is a text option of that name that is not empty.
  [[nodiscard]] bool given(std::string_view name) const;

  /// All of them as a JSON object, in alphabetical order.
  [[nodiscard]] std::string json() const;

 private:
  [[nodiscard]] const Value& value(std::string_view name) const;

  std::map<std::string, Value, std::less<>> values_;
};

/// The JSON Schema (2020-12) of an object of these options, with their standard values and sources.
[[nodiscard]] std::string system_options_schema(std::string_view system,
                                                std::span<const SystemOption> options);

}  // namespace kernelsearch
