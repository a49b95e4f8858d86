// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

namespace kernelsearch {

/// Text for elements and attributes of XML: characters that mean something there are escaped, those that may
/// not stand there and bytes that are not UTF-8 become question marks, line ends and tabs blanks.
[[nodiscard]] std::string xml_text(std::string_view text);

/// Text for elements and attributes of HTML: the five characters that mean something there are escaped, all
/// else stands as it is.
[[nodiscard]] std::string html_text(std::string_view text);

}  // namespace kernelsearch
