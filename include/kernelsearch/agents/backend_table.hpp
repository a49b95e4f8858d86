// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelsearch {

/// How one backend says what all backends have (PEAK, section 4.2): transformations are written once and
/// prompts carry the table.
struct BackendTable {
  std::string backend;                                    ///< `cuda`, `hip`, `host`
  std::string language;                                   ///< `CUDA C++`
  std::vector<std::pair<std::string, std::string>> rows;  ///< concept, how it is written
  std::vector<std::string> notes;

  /// How the concept is written; empty where the table does not say.
  [[nodiscard]] std::string_view find(std::string_view concept_name) const noexcept;
};

/// The table of data/backends for that backend, which `user`/backends/NAME.json replaces. ConfigError for a
/// backend without a table and for a file that does not read.
[[nodiscard]] BackendTable backend_table(std::string_view backend, const std::filesystem::path& user = {});

/// The table as a prompt has it: a line for each concept, then the notes.
[[nodiscard]] std::string backend_text(const BackendTable& table);

}  // namespace kernelsearch
