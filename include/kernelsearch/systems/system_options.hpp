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

/// A system as it was published, or as our figures say that it is best: a set of standard values.
struct SystemVariant {
  std::string name;     ///< `paper`, `ours`, or a version of the paper
  std::string summary;  ///< what it is
  std::string source;   ///< the paper, or the page with our figures
  /// As in the paper, a run tunes no kernel, begins at the problem's default and shows models nothing of
  /// earlier runs, unless it is told to.
  bool published = false;
};

/// The standard value of an option in a variant, where it is not the option's own.
struct VariantValue {
  std::string variant;
  Value value;
  std::string source;
};

/// What a text option of a system names.
enum class SystemPath : std::uint8_t {
  none,    ///< no path
  file,    ///< a name of ours, or a file: a text that ends in .json or has a slash
  folder,  ///< a folder
};

/// One option of a system, by the name that its JSON object has.
struct SystemOption {
  std::string name;
  Value standard;       ///< the value where none is given; its type is the option's
  std::string summary;  ///< what it does
  std::string source;   ///< where the value comes from: a paper's section, or `ours`
  double least = -std::numeric_limits<double>::infinity();  ///< of integers and numbers
  double most = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices = {};    ///< of a text: all that it may be; none: any text
  std::vector<VariantValue> variants = {};  ///< the variants whose standard value or source is another
  SystemPath path = SystemPath::none;       ///< paths become absolute before a run is stored
};

/// The option `variant` of a system with these variants, of which the first is the standard one.
[[nodiscard]] SystemOption variant_option(std::span<const SystemVariant> variants);

/// The options that a system is made with: the values given, and the standard ones for the rest.
class SystemOptions {
 public:
  SystemOptions() = default;

  /// Reads a JSON object of options over their standard values, which are those of the variant that it names
  /// as `variant`, where the system has variants; an empty text gives nothing. ConfigError for an unknown
  /// name, with the nearest one, for a value of another type or beyond the option's bounds, and for a text
  /// that is not one of its choices.
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

/// A JSON object of options with those of another one over it; both may be empty texts. ConfigError for a
/// text that is not a JSON object, which is named by `what`.
[[nodiscard]] std::string merged_system_options(std::string_view below, std::string_view above,
                                                std::string_view what);

/// The JSON Schema (2020-12) of an object of these options, with their standard values and sources; those of
/// other variants stand under `x-variants`.
[[nodiscard]] std::string system_options_schema(std::string_view system,
                                                std::span<const SystemOption> options);

}  // namespace kernelsearch
