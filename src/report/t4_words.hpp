// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <string_view>

#include "kernelsearch/core/outcome.hpp"

/// The words of T4 (docs/formats) for the outcome of a configuration, for exports of runs and of recordings.
namespace kernelsearch::detail {

/// T4's `invalidity`.
[[nodiscard]] constexpr std::string_view t4_invalidity(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::ok:
      return "correct";
    case Verdict::not_generated:
    case Verdict::not_applicable:
    case Verdict::rejected:
      return "constraints";
    case Verdict::build_failed:
      return "compile";
    case Verdict::timed_out:
      return "timeout";
    case Verdict::wrong_result:
    case Verdict::cheated:
      return "correctness";
    case Verdict::launch_failed:
    case Verdict::crashed:
      break;
  }
  return "runtime";
}

/// T4's `correctness`: the share of right outputs, which `graded_progress` has put into the progress of a
/// wrong result.
[[nodiscard]] inline double t4_correctness(const Evaluation& evaluation) noexcept {
  if (evaluation.verdict == Verdict::ok) return 1.0;
  if (evaluation.verdict != Verdict::wrong_result) return 0.0;
  return std::clamp((evaluation.progress - 0.5) / 0.25, 0.0, 1.0);
}

}  // namespace kernelsearch::detail
