// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernelsearch/mcp/tool.hpp"
#include "kernelsearch/run/run_manager.hpp"

namespace kernelsearch {

/// Where the tools of a manager look and write besides its store.
struct RunToolsOptions {
  std::filesystem::path reports;  ///< folder of HTML reports, made when the first is written
  std::filesystem::path data;     ///< strategies, transformations, ...; see read_method_files()
};

/// The tools by which someone outside drives searches, writes kernels and looks into them; docs/mcp.md shows
/// each. The manager outlives them.
[[nodiscard]] std::vector<Tool> run_tools(RunManager& manager, RunToolsOptions options);

/// What a client's model should know before it uses them.
[[nodiscard]] std::string run_tools_instructions();

}  // namespace kernelsearch
