// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "kernelsearch/recorded/recording.hpp"

namespace kernelsearch {

/// The files that recordings are written as; docs/formats/recordings.md has every field.
enum class RecordingFormat : std::uint8_t {
  cachefile,   ///< Kernel Tuner 1.4, which opens it in simulation mode
  t4,          ///< autotuning results 1.0.0
  json_lines,  ///< as `export_run`
  csv,         ///< as `export_run`; without samples
};

/// The name used on command lines: cachefile, t4, jsonl, csv.
[[nodiscard]] std::string_view to_string(RecordingFormat format) noexcept;
[[nodiscard]] std::optional<RecordingFormat> recording_format_from(std::string_view name) noexcept;

/// What a file of that name should hold: `.jsonl`, `.csv`, `.t4.json` and `_T4.json`, else a cachefile for
/// `.json`, each also with `.gz`; nothing for other names.
[[nodiscard]] std::optional<RecordingFormat> recording_format_of(const std::filesystem::path& file);

/// The configuration's key in Kernel Tuner's cachefiles: its values as Python writes them, joined by commas.
/// It differs from `Space::key` for booleans (`True`) and some floating values only.
[[nodiscard]] std::string cachefile_key(const Space& space, const Config& config);

/// The whole text of a file.
[[nodiscard]] std::string cachefile_text(const Recording& recording);
[[nodiscard]] std::string t4_text(const Recording& recording);
/// JSON Lines or CSV.
[[nodiscard]] std::string export_text(const Recording& recording, RecordingFormat format);

/// Writes the file, packed where its name ends in `.gz`; it appears whole or not at all. ConfigError where it
/// cannot be written, or without a format where its name says none.
void write_recording(const Recording& recording, const std::filesystem::path& file,
                     std::optional<RecordingFormat> format = {});

}  // namespace kernelsearch
