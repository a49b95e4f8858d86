// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string_view>

namespace kernelsearch::detail {

/// Where a program of carry_programs() is, unpacked by then; empty where this one has none of that name.
/// DeviceError where it cannot be unpacked.
[[nodiscard]] std::filesystem::path carried_program(std::string_view name);

}  // namespace kernelsearch::detail
