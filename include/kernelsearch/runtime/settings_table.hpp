// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/runtime/settings.hpp"

namespace kernelsearch {

/// What a program knows of good settings: loaded once, asked for each device and shape at run time.
///
/// The file (docs/formats/store.md#settings-table) has one JSON object a line, so that tables are joined with
/// `cat`. This header and its library need neither the store nor the JSON library in the program.
class SettingsTable {
 public:
  SettingsTable() = default;
  explicit SettingsTable(std::vector<Settings> entries) : entries_(std::move(entries)) {}

  /// Reads a table. A file that is not there is an empty table, for which every question has the caller's
  /// fallback as its answer; one that cannot be read or parsed is a ConfigError with its line.
  [[nodiscard]] static SettingsTable load(const std::filesystem::path& file);

  /// Appends lines to the file, creating it. Entries that say more of the same problem, device and shape come
  /// later in the file and win.
  static void append(const std::filesystem::path& file, std::span<const Settings> entries);

  /// The settings to use for a problem on a device for a shape, or nothing, in which case the caller uses
  /// settings that are right everywhere.
  ///
  /// Only entries of exactly that problem and device count: good settings of one device may not even run on
  /// another. The entry with exactly that shape wins; else the one whose shape is nearest. The distance of
  /// two shapes is the root of the sum of squares, over their variables, of log2 of the ratio of the values,
  /// so 1 means one size is twice the other. Shapes whose variables have other names, or differ in a variable
  /// that is not a positive number, are never near. Beyond `max_distance` nothing is near enough.
  [[nodiscard]] std::optional<Settings> best_for(std::string_view problem, std::string_view device,
                                                 std::span<const std::pair<std::string, Value>> shape,
                                                 double max_distance = 2.0) const;

  [[nodiscard]] const std::vector<Settings>& entries() const noexcept { return entries_; }

 private:
  std::vector<Settings> entries_;
};

}  // namespace kernelsearch
