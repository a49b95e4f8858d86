// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/evaluator/any_evaluator.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/remote/lane_server.hpp"
#include "kernelsearch/run/measurement.hpp"

namespace kernelsearch {

/// What a run wants to know of its candidates besides times.
enum class JudgeKind : std::uint8_t {
  plain,      ///< make_evaluator
  paired,     ///< make_pairing_evaluator
  inspected,  ///< make_inspecting_evaluator
  observed,   ///< make_observing_evaluator
};

[[nodiscard]] constexpr std::string_view to_string(JudgeKind kind) noexcept {
  constexpr std::string_view names[] = {"plain", "paired", "inspected", "observed"};
  return names[static_cast<int>(kind)];
}

/// The judge of that kind on this machine; `missing` gets what cannot be observed.
[[nodiscard]] AnyEvaluator judge_of(JudgeKind kind, Problem problem, const MeasurementOptions& options,
                                    std::vector<std::string>& missing);

/// What a worker is told to judge with, as JSON. What depends on the machine and was not chosen is left to
/// it.
[[nodiscard]] std::string lane_instructions(JudgeKind kind, const MeasurementOptions& options);

/// The judge of such a text on this machine; `own` has what the worker's own command line says: devices and
/// core where they are given. ConfigError for another text, else as `judge_of`. The calling thread then keeps
/// off the core that host kernels are measured on.
///
/// With a `target`, the identity of a device elsewhere, it only builds: for CUDA it compiles for that device
/// and needs none here, with the features of machine code where the judge wants them; for other backends it
/// is the judge of this machine, whose device has to be the same.
[[nodiscard]] LaneJudge make_lane_judge(Problem problem, const std::string& instructions,
                                        const MeasurementOptions& own, const std::string& target = {});

}  // namespace kernelsearch
