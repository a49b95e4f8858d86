// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <optional>

#include "kernelsearch/recorded/recording.hpp"

namespace kernelsearch {

struct ReadRecordingOptions {
  /// T1 file or problem folder that declares the space. Empty: a T1 file beside the recording whose name, up
  /// to `.t1.json`, is what the recording's name begins with; else the space is just what was recorded.
  std::filesystem::path space = {};
};

/// Reads a recording, plain or gzip: a Kernel Tuner cachefile (old or 1.4, also cut off after a kill), a T4
/// results file, or an export of a run (JSON Lines, CSV). The format is told from the content. ConfigError
/// names the file, the place and what is wrong.
///
/// The configurations of the space are those that meet the declared constraints; those that were not
/// recorded are left out of it.
[[nodiscard]] Recording read_recording(const std::filesystem::path& file,
                                       const ReadRecordingOptions& options = {});

}  // namespace kernelsearch
