// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/result.hpp"
#include "kernelsearch/policy/policy_option.hpp"

namespace kernelsearch {

/// The text form of a policy with options: `genetic(population=40, crossover=0.2)`. Options are separated by
/// commas; blanks around names and values do not count. A value is `true` or `false`, a number, a word, a
/// string in single or double quotes (a backslash stands before a quote or a backslash in it), or a list of
/// words and strings in brackets. A name alone means no options.
struct PolicyText {
  std::string name;  ///< all that stands before the parenthesis; no registry is asked whether it is known
  PolicyOptionValues options = {};

  friend bool operator==(const PolicyText&, const PolicyText&) = default;
};

/// Reads that form; a fault names the character, counted from 1, at which the text is wrong.
[[nodiscard]] Result<PolicyText> try_parse_policy_text(std::string_view text);

/// The canonical text, which reads back as the same: `genetic(population=40, crossover=0.2)`. Strings are
/// quoted where they would not read as words; a policy without options is its name.
[[nodiscard]] std::string to_string(const PolicyText& policy);

/// The name of the policy of that text: what stands before the parenthesis, without blanks around it.
[[nodiscard]] std::string_view policy_name(std::string_view text) noexcept;

/// The policies of a list, split at the commas outside of parentheses, brackets and quotes, without blanks
/// around them: `a(x=1, y=2), b` is `a(x=1, y=2)` and `b`. For an empty text it is empty.
[[nodiscard]] std::vector<std::string> split_policies(std::string_view list);

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/policy_text_impl.hpp"
#endif
