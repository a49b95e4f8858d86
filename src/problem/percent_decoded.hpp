// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

namespace kernelsearch::detail {

/// With `%41` as the byte that it stands for (RFC 3986, 2.1); what is malformed stays as it is.
[[nodiscard]] std::string percent_decoded(std::string_view text);

}  // namespace kernelsearch::detail
