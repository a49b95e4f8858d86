// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kernelsearch {

/// How the judgement of a candidate ended; everything but `ok` is a failure of the candidate, never of the
/// run.
enum class Verdict : std::uint8_t {
  ok,             ///< built, ran, right on every check, measured
  not_generated,  ///< the generator gave no candidate for the proposal
  rejected,       ///< invalid before building: constraints, static checks, a combination the kernel declines
  build_failed,   ///< the compiler or linker refused it
  launch_failed,  ///< built, but could not be started
  crashed,        ///< died while running
  timed_out,      ///< exceeded a limit while building or running
  wrong_result,   ///< ran, but an output is outside its tolerance
  cheated,  ///< broke a rule of the measurement: wrote outside its buffers, changed inputs, faked outputs
  not_applicable,  ///< an answer, no trial: what was proposed does not apply to its parent, so costs nothing
};

inline constexpr int verdict_count = 10;

/// The verdict's name as stores and reports write it, e.g. `build_failed`.
[[nodiscard]] constexpr std::string_view to_string(Verdict verdict) noexcept {
  constexpr std::string_view names[verdict_count] = {
      "ok",      "not_generated", "rejected",     "build_failed", "launch_failed",
      "crashed", "timed_out",     "wrong_result", "cheated",      "not_applicable"};
  return names[static_cast<int>(verdict)];
}

/// The verdict of that name, or nothing.
[[nodiscard]] constexpr std::optional<Verdict> verdict_from(std::string_view name) noexcept {
  for (int i = 0; i < verdict_count; ++i)
    if (to_string(static_cast<Verdict>(i)) == name) return static_cast<Verdict>(i);
  return std::nullopt;
}

/// Whether there was a candidate to judge, so that there is code to start from.
[[nodiscard]] constexpr bool has_candidate(Verdict verdict) noexcept {
  return verdict != Verdict::not_generated && verdict != Verdict::not_applicable;
}

/// Whether it is one of the trials that a budget counts.
[[nodiscard]] constexpr bool is_trial(Verdict verdict) noexcept {
  return verdict != Verdict::not_applicable;
}

/// How far a candidate came, in [0, 1]: not built 0, built 0.25, ran 0.5, partly right up to 0.75, right 1.
/// `correct_fraction` in [0, 1] is the share of outputs that were right. Near misses thus rank above failures
/// (STARK gives every failure the same score and never exploits one).
[[nodiscard]] constexpr double graded_progress(Verdict verdict, double correct_fraction = 0.0) noexcept {
  switch (verdict) {
    case Verdict::ok:
      return 1.0;
    case Verdict::wrong_result:
      return 0.5 + 0.25 * correct_fraction;
    case Verdict::launch_failed:
    case Verdict::crashed:
    case Verdict::timed_out:
      return 0.25;
    default:
      return 0.0;
  }
}

}  // namespace kernelsearch
