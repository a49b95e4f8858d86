// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "kernelsearch/store/run_info.hpp"

namespace kernelsearch {

/// What people say of a run.
struct RunNote {
  static constexpr std::size_t most_tags = 16, longest_tag = 64, longest_text = 4000;  ///< bytes

  std::vector<std::string> tags = {};  ///< in the order in which they were given, each once
  std::string text = {};
  friend bool operator==(const RunNote&, const RunNote&) = default;
};

/// The tags and notes of the runs of a store: a file of its owner alone (0600) for each run that has any, in
/// the folder `STORE.notes` by the store, replaced whole. They are not part of the store, so that who only
/// reads it may keep them, and a copy of it does not take them along. What is read may be a stranger's: it is
/// text, without control characters, and no longer than RunNote allows.
class RunNotes {
 public:
  explicit RunNotes(const std::filesystem::path& store) : folder_(store.string() + ".notes") {}

  /// Nothing of a run that began at another moment: numbers of removed runs may come again.
  [[nodiscard]] RunNote of(const RunRow& run) const;
  /// Keeps it in place of what there was, and returns it as kept: tags without blanks around them, each once.
  /// ConfigError, and nothing changed, where it is too long, a tag holds a comma, or it cannot be written.
  RunNote set(const RunRow& run, const RunNote& note) const;  // NOLINT(modernize-use-nodiscard)

  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }

 private:
  [[nodiscard]] std::filesystem::path file_of(const RunRow& run) const;

  std::filesystem::path folder_;
};

}  // namespace kernelsearch
