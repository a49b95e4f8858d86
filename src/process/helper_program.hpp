// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string_view>

namespace kernelsearch::detail {

/// A program of ours that others start: its name, the variable that names another place, and the places that
/// were known when this was compiled, separated by colons.
struct HelperProgram {
  const char* name;
  const char* variable;
  const char* places;
};

/// As given, else by its variable, inside this program (carry_programs), next to it, in the libexec folder of
/// its installation, or where it was built; a ConfigError when it is nowhere.
[[nodiscard]] std::filesystem::path find_helper(const HelperProgram& program,
                                                const std::filesystem::path& given);

/// Where a program of carry_programs() is, unpacked by then; empty where this one has none of that name.
/// DeviceError where it cannot be unpacked.
[[nodiscard]] std::filesystem::path carried_program(std::string_view name);

}  // namespace kernelsearch::detail
