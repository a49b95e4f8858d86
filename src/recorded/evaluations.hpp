// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>

#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/core/outcome.hpp"

/// Translates other tools' words for the outcome of a configuration to ours and back.
namespace kernelsearch::recorded {

/// Milliseconds, the unit of Kernel Tuner's files, that read back to the same seconds where any do.
[[nodiscard]] double to_milliseconds(double seconds) noexcept;
[[nodiscard]] inline double from_milliseconds(double time) noexcept {
  return time / 1e3;
}

/// What Kernel Tuner wrote as the time of a configuration that failed, until 0.4.0.
inline constexpr double failed_time = 1e20;
[[nodiscard]] Evaluation failed_by_time();

/// Kernel Tuner's name for a failure; empty for ok.
[[nodiscard]] std::string_view error_name(Verdict verdict) noexcept;
/// What a failure of that name is; nothing for another name.
[[nodiscard]] std::optional<Verdict> verdict_of_error(std::string_view name) noexcept;

/// What T4's `invalidity` means (report/t4_words.hpp has the way back). An unknown one counts as a crash.
[[nodiscard]] Verdict verdict_of_invalidity(std::string_view invalidity) noexcept;

/// Why the failure happened, as far as its name says.
[[nodiscard]] std::string reason_of(Verdict verdict, std::string_view name);

/// A success from the time that the recording gives and the shapes' samples, all in seconds. A time that is
/// no positive number is a failure: nothing was measured.
[[nodiscard]] Evaluation measured(double seconds, std::vector<ShapeMeasurement> shapes);

}  // namespace kernelsearch::recorded
