// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "kernelsearch/recorded/recording.hpp"

namespace kernelsearch {

struct ReadRecordingOptions {
  /// T1 file or problem folder that declares the space. Empty: a T1 file next to the recording whose name, up
  /// to `.t1.json`, is what the recording's name begins with; else the space is just what was recorded.
  std::filesystem::path space = {};
  /// Unit of the times of a file that names none (Optuna's tables, some T4 files): s, ms, us, ns.
  std::string unit = {};
};

/// Reads a recording, plain or gzip: a Kernel Tuner cachefile (of any version, also cut off after a kill),
/// T4 results, results of KTT, CLTune, BAT, Triton, nvbench, Google Benchmark or Optuna, an export of a run
/// (JSON Lines, CSV), or a run in a store (`STORE:RUN`, by number, name or `latest`). The format is told
/// from the content. ConfigError names the file, the line and what is wrong, or what the file is where it
/// is known and no recording; what could be put right is in `notes`.
///
/// The configurations of the space are those that were recorded and, where `options.space` says so, meet its
/// constraints; what is declared next to the file is used as far as it holds for the records.
[[nodiscard]] Recording read_recording(const std::filesystem::path& file,
                                       const ReadRecordingOptions& options = {});

/// The same from text; `name` stands for the file, in whose folder nothing is looked for.
[[nodiscard]] Recording parse_recording(std::string_view text, const std::string& name,
                                        const ReadRecordingOptions& options = {});

}  // namespace kernelsearch
