// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace kernelsearch::app {

/// The options of a system as the command line names them: `--variant NAME` and `--options FILE.json`.
struct OptionFile {
  std::string variant;
  std::string options;  ///< the file's name
};

void add_option_file(CLI::App& sub, OptionFile& file);

/// The file's JSON object with the variant, and `more`, an object or nothing, over both. ConfigError for a
/// file that cannot be read, is not a JSON object, or names another variant.
[[nodiscard]] std::string with_option_file(const OptionFile& file, const std::string& more);

}  // namespace kernelsearch::app
