// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "process/run_command.hpp"

namespace kernelsearch::detail::gpu {

/// A program of the CUDA toolkit: as `given`, else what the environment variable names, else on PATH, in the
/// toolkit (CUDA_HOME, CUDA_PATH, /usr/local/cuda) or in `more`; nothing where it is nowhere. Where `given`
/// or the variable does not name a program, there is none either: a wish is not replaced by something else.
[[nodiscard]] std::optional<std::filesystem::path> find_tool(const std::string& name, const char* variable,
                                                             const std::filesystem::path& given,
                                                             const std::vector<std::filesystem::path>& more);

/// nvdisasm or cuobjdump; nothing where neither is anywhere.
[[nodiscard]] std::optional<std::filesystem::path> find_disassembler(const std::filesystem::path& given);

/// Runs a tool to its end or its time limit, with the variables that drivers need; what does not fit into
/// 64 MiB of output counts as endless.
[[nodiscard]] Finished run_tool(const std::vector<std::string>& argv, double seconds);

/// The whole file; empty where it cannot be read. At most `limit` bytes.
[[nodiscard]] std::string read_text(const std::filesystem::path& file,
                                    std::size_t limit = std::size_t{64} << 20);

}  // namespace kernelsearch::detail::gpu
