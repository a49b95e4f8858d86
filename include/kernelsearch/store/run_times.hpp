// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

namespace kernelsearch {

/// Where the wall time of a run went: each moment counts for one cause alone, so that the sum is what passed.
/// While several things happen at once it is the first of them in the order finalists, measuring, building,
/// model: what is measured waits for nothing. In seconds.
struct RunTimes {
  double starting = 0.0;   ///< from the call that started or resumed the run to its first proposal
  double model = 0.0;      ///< a model was asked, and nothing was measured or built
  double building = 0.0;   ///< compilers ran, and nothing was measured: waiting for builds
  double reference = 0.0;  ///< of checking and measuring: the reference computed what is right
  double measuring = 0.0;  ///< the rest of checking and measuring
  double finalists = 0.0;  ///< finalists were measured again and in pairs
  double other = 0.0;      ///< proposing, storing, telling

  [[nodiscard]] double total() const noexcept {
    return starting + model + building + reference + measuring + finalists + other;
  }
  RunTimes& operator+=(const RunTimes& more) noexcept;
  friend bool operator==(const RunTimes&, const RunTimes&) = default;
};

/// For the store.
[[nodiscard]] std::string to_json_text(const RunTimes& times);
/// Causes that this version does not know are left out; a ConfigError for what is not JSON.
[[nodiscard]] RunTimes run_times_from(std::string_view json);

/// For people: the causes that took at least half a per cent, largest first, in per cent of the total.
[[nodiscard]] std::string to_string(const RunTimes& times);

}  // namespace kernelsearch
