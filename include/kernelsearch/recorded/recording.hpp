// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/space/config.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// One configuration of a recording and what was measured there.
struct RecordedTrial {
  Config config;
  Evaluation evaluation;   ///< `measurement.seconds` is the mean or median that the file gives, in seconds
  std::string time_stamp;  ///< as the file has it; empty: none
  double framework_seconds = 0;  ///< what the tuner that recorded it spent in addition to the three phases

  /// What the configuration cost when it was recorded, everything together.
  [[nodiscard]] double total_seconds() const noexcept {
    return evaluation.phases.total() + framework_seconds;
  }
};

/// Recorded hardware: a tuning space and what each configuration did on one device. What `replay` answers
/// from, what comparisons of policies run on, and what the file formats of this room are read into and
/// written from.
struct Recording {
  std::string name;  ///< of the file, without folder and extensions: `convolution_A100`
  std::string kernel;
  std::string device;
  std::string problem_size;  ///< as the file has it
  Space space;
  std::vector<RecordedTrial> trials;  ///< one for each configuration, in the file's order
  std::vector<std::string> notes{};   ///< what was put right or left out in reading, for people
  std::string format{};               ///< of the file, e.g. `Kernel Tuner cachefile`; empty: no file

  [[nodiscard]] double objective(std::size_t trial) const {
    const Evaluation& evaluation = trials[trial].evaluation;
    return evaluation.verdict == Verdict::ok ? evaluation.measurement.seconds
                                             : std::numeric_limits<double>::infinity();
  }
};

}  // namespace kernelsearch
