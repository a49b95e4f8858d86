// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/value.hpp"

/// Pieces of JSON as text. The writers put tens of megabytes together; a tree of them would be needless.
namespace kernelsearch::recorded {

/// In quotes and escaped; bytes that are not UTF-8 (compilers print them) become U+FFFD.
[[nodiscard]] std::string json_string(std::string_view text);

/// A number that reads back the same; NaN and infinities as Python writes them.
[[nodiscard]] std::string number_text(double number);

/// A value of a tunable. An order becomes a text, since Kernel Tuner takes only what Python can hash.
[[nodiscard]] std::string value_text(const Value& value);

/// A value as Python's `str` has it.
[[nodiscard]] std::string python_text(const Value& value);

/// Seconds as a list of milliseconds.
[[nodiscard]] std::string milliseconds_text(const std::vector<double>& seconds);

}  // namespace kernelsearch::recorded
