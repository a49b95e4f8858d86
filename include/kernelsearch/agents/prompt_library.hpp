// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/agents/prompt_template.hpp"

namespace kernelsearch {

/// The templates of data/prompts, which files of the same name in a user's folder replace. Copies share them.
class PromptLibrary {
 public:
  /// Those that are compiled in, replaced and joined by `user`/prompts/*.md. ConfigError for a template that
  /// does not parse, and for a replacement with a name that the replaced one does not have, or without one
  /// that it requires.
  explicit PromptLibrary(const std::filesystem::path& user = {});

  /// The template `name`, which is the file's name without .md; ConfigError with the nearest for another
  /// name.
  [[nodiscard]] const PromptTemplate& find(std::string_view name) const;
  /// Whether there is such a template.
  [[nodiscard]] bool contains(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> names() const;

  /// SHA-256 over all names and hashes: one version for the whole library, as a run's description keeps it.
  [[nodiscard]] std::string hash() const;

 private:
  std::shared_ptr<const std::vector<PromptTemplate>> templates_;  // by name
};

}  // namespace kernelsearch
