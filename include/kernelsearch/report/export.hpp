// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <iosfwd>
#include <optional>
#include <span>
#include <string_view>

#include "kernelsearch/core/impl/enum_names.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch {

/// The formats that a run can be exported to; see docs/formats/exports.md for every field.
enum class ExportFormat : std::uint8_t {
  json_lines,   ///< one trial a line with all that is known of it
  csv,          ///< RFC 4180, fixed columns first, then a column for each tunable and feature
  t4,           ///< autotuning results 1.0.0 (T4, Kernel Tuner's output format)
  t4_metadata,  ///< its companion: hardware and environment
  dot,          ///< the tree of moves, for Graphviz
  trace,        ///< when each trial was built, checked and measured, for Perfetto and chrome://tracing
};

/// The name used on command lines: jsonl, csv, t4, t4-metadata, dot, trace.
[[nodiscard]] constexpr std::string_view to_string(ExportFormat format) noexcept {
  constexpr std::string_view names[] = {"jsonl", "csv", "t4", "t4-metadata", "dot", "trace"};
  return names[static_cast<int>(format)];
}

[[nodiscard]] constexpr std::optional<ExportFormat> export_format_from(std::string_view name) noexcept {
  return detail::enum_from<ExportFormat>(name);
}

/// Writes a run, in the order told. Numbers are written with the fewest digits that read back the same.
/// A stream that fails is a StoreError.
void export_run(const RunStore& store, RunId run, ExportFormat format, std::ostream& out);

/// The same for trials that are in no store, such as those of a recording.
void export_trials(const RunRow& run, std::span<const StoredTrial> trials, ExportFormat format,
                   std::ostream& out);

}  // namespace kernelsearch
