// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

#include "kernelsearch/core/config_macros.hpp"

namespace kernelsearch {

/// The text as valid UTF-8 without control characters but tabs and newlines, and without those that turn the
/// direction of writing: what is neither becomes U+FFFD. So any kernel or message can be sent as JSON, and
/// none can move the cursor, clear the screen or set the title of the terminal that shows it.
[[nodiscard]] std::string clean_text(std::string_view text);

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/core/impl/clean_text_impl.hpp"
#endif
