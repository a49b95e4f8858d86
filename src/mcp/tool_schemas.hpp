// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

namespace kernelsearch::detail {

/// The JSON Schema of a tool's arguments (`step`) or of its result (`step_result`).
[[nodiscard]] std::string tool_schema(std::string_view name);

}  // namespace kernelsearch::detail
