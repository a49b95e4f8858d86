// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace kernelsearch::detail {

/// A page of HTML in the style of reports that needs nothing from elsewhere and may run no script; `title` is
/// text, `body` is HTML.
[[nodiscard]] std::string page_without_script(const std::string& title, const std::string& body);

}  // namespace kernelsearch::detail
