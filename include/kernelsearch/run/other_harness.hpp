// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

namespace kernelsearch {

/// What a benchmark's own harness says of an answer.
struct HarnessSays {
  std::optional<bool> right = {};      ///< nothing: it said neither
  std::optional<double> speedup = {};  ///< over its own reference
  std::string text = {};               ///< what it says; without a verdict, the reason
};

/// Asks it: `/bin/sh -c 'COMMAND TASK ANSWER'`, with the user's rights and no sandbox. The last line of its
/// output is a JSON object `{"right": true, "speedup": 1.2, "text": "..."}`, of which only `right` must be
/// there. What is said is kept in `kept`, and believed while command, task and answer have the same text.
[[nodiscard]] HarnessSays ask_harness(const std::string& command, const std::filesystem::path& task,
                                      const std::filesystem::path& answer, const std::filesystem::path& kept,
                                      double seconds, const std::stop_token& stop = {});

}  // namespace kernelsearch
