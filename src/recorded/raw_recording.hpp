// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/recorded/read_recording.hpp"
#include "kernelsearch/recorded/recording.hpp"

namespace kernelsearch::recorded {

/// A trial as a file has it: values by tunable, the evaluation already in our terms.
struct RawTrial {
  std::vector<Value> values;
  Evaluation evaluation;
  std::string time_stamp;
  double framework_seconds = 0;
};

/// What the readers of the formats make of a file; `assemble` gives it a space.
struct RawRecording {
  std::string kernel{}, device{}, problem_size{};
  std::vector<std::string> names{};  ///< tunables
  std::vector<std::vector<Value>>
      values{};  ///< by tunable, as the file lists them; empty: what its trials have
  std::vector<std::pair<std::string, TunableRole>> roles{};  ///< of tunables, where the file has them
  std::vector<RawTrial> trials{};
  std::vector<std::string> notes{};
  std::string_view format{};  ///< of the table in formats.cpp
  bool unordered = false;     ///< the file has the tunables by name, not in the order of their declaration
  bool alone = false;         ///< no file that a declared space could lie next to
};

[[nodiscard]] RawRecording read_cachefile(std::string_view text, const std::string& source);
[[nodiscard]] RawRecording read_result_list(std::string_view text, const std::string& source);
[[nodiscard]] RawRecording read_t4(std::string_view text, const std::string& source,
                                   const ReadRecordingOptions& options);
[[nodiscard]] RawRecording read_json_lines(std::string_view text, const std::string& source);
[[nodiscard]] RawRecording read_csv(std::string_view text, const std::string& source);
[[nodiscard]] RawRecording read_ktt_json(std::string_view text, const std::string& source,
                                         const ReadRecordingOptions& options);
[[nodiscard]] RawRecording read_ktt_xml(std::string_view text, const std::string& source,
                                        const ReadRecordingOptions& options);
[[nodiscard]] RawRecording read_cltune(std::string_view text, const std::string& source);
[[nodiscard]] RawRecording read_triton(std::string_view text, const std::string& source);
[[nodiscard]] RawRecording read_bat_json(std::string_view text, const std::string& source);
[[nodiscard]] RawRecording read_bat_csv(std::string_view text, const std::string& source);
[[nodiscard]] RawRecording read_nvbench(std::string_view text, const std::string& source);
[[nodiscard]] RawRecording read_nvbench_csv(std::string_view text, const std::string& source);
[[nodiscard]] RawRecording read_google_benchmark(std::string_view text, const std::string& source);
[[nodiscard]] RawRecording read_optuna(std::string_view text, const std::string& source,
                                       const ReadRecordingOptions& options);

/// Values of a trial by name, in the file's order.
using NamedValues = std::vector<std::pair<std::string, Value>>;

/// Appends a trial whose values come by name: the first one decides the tunables and their order. What is
/// wrong with the names otherwise; empty when it was appended.
[[nodiscard]] std::string add_named(RawRecording& raw, const NamedValues& values, RawTrial trial);

/// Whether an entry of that name says something of a trial in a cachefile, so that no tunable can have it.
[[nodiscard]] bool cachefile_entry(std::string_view name);

/// The space that was declared for the recording `file` (see ReadRecordingOptions), and the recording in it.
[[nodiscard]] Recording assemble(RawRecording raw, const std::filesystem::path& file, std::string name,
                                 const ReadRecordingOptions& options);

/// `3 records`, `1 record`.
[[nodiscard]] std::string counted(std::size_t count, const std::string& noun);

}  // namespace kernelsearch::recorded
