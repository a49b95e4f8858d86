// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/problem/shape.hpp"

namespace kernelsearch {

/// A tunable's value as compilers get it: bool as 1 or 0, strings as they are, an order as `{1, 0, 2}`.
[[nodiscard]] std::string tunable_text(const Value& value);

/// The macros that a kernel has for its tunables, with their texts: of an order also NAME_0, NAME_1, ...
[[nodiscard]] std::vector<std::pair<std::string, std::string>> tunable_macros(
    std::span<const NamedValue> values);

/// The same as lines of `#define`.
[[nodiscard]] std::string tunable_definitions(std::span<const NamedValue> values);

/// What stands for a `${...}` that is not a tunable; null: it stays as it is.
using OtherText = std::function<std::string(std::string_view whole)>;

/// `text` with each `${NAME}` replaced by the tunable's value.
[[nodiscard]] std::string expand_tunables(std::string_view text, std::span<const NamedValue> values,
                                          const OtherText& other = nullptr);

/// The words that flags are for a compiler: expanded, then split at blanks, those of an order left out.
[[nodiscard]] std::vector<std::string> expand_flags(std::span<const std::string> flags,
                                                    std::span<const NamedValue> values,
                                                    const OtherText& other = nullptr);

}  // namespace kernelsearch
