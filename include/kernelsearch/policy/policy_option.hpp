// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/result.hpp"

namespace kernelsearch {

/// What an option of a policy can be.
using PolicyOptionValue = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>>;

/// Options by name, each named once.
using PolicyOptionValues = std::vector<std::pair<std::string, PolicyOptionValue>>;

/// A value as the text form of a policy has it (PolicyText): strings are quoted where they would not read as
/// words.
[[nodiscard]] std::string policy_option_text(const PolicyOptionValue& value);

/// The type of an option; it numbers the alternatives of PolicyOptionValue.
enum class PolicyOptionType : std::uint8_t {
  flag,    ///< true or false
  count,   ///< a whole number
  number,  ///< a finite number
  text,    ///< a string
  texts,   ///< a list of strings
};

/// The type's name as listings have it: bool, int, float, string, list of strings.
[[nodiscard]] const char* type_name(PolicyOptionType type) noexcept;

/// One option of a policy: a row of the one table that the command, the library for C, Python, the MCP server
/// and the documentation take the policy's options from. It describes one member of the policy's options.
struct PolicyOption {
  std::string_view name;     ///< of the member
  std::string_view summary;  ///< one line: what it does, in which unit
  PolicyOptionType type = PolicyOptionType::flag;
  double least = -std::numeric_limits<double>::infinity();  ///< of counts and numbers, itself included
  double most = std::numeric_limits<double>::infinity();    ///< likewise
  std::span<const std::string_view> choices = {};           ///< of a text: all that it can be; none: any text
  /// Where it is left out, the space decides: it is true if the space declares a default configuration.
  bool from_space = false;
  PolicyOptionValue (*read)(const void* options) = nullptr;                ///< the member's value
  void (*write)(void* options, const PolicyOptionValue& value) = nullptr;  ///< a value that it can have

  /// The value as this option has it: a whole number becomes a number where the option is one. A fault, with
  /// `policy` in its text, for another type, a number out of bounds and a text that is not among the choices.
  [[nodiscard]] Result<PolicyOptionValue> try_value(std::string_view policy, PolicyOptionValue given) const;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/policy_option_impl.hpp"
#endif
