// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>

namespace kernelsearch::detail {

/// The text of python/kernelsearch/modules.py, which is compiled in.
[[nodiscard]] std::string_view modules_program() noexcept;

}  // namespace kernelsearch::detail
