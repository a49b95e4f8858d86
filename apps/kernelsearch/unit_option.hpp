// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace kernelsearch::app {

/// `--unit`, of commands that read recordings (ReadRecordingOptions::unit).
inline void add_unit_option(CLI::App& sub, std::string& unit) {
  sub.add_option("--unit", unit, "Unit of the times of a file that names none: s, ms, us or ns");
}

}  // namespace kernelsearch::app
