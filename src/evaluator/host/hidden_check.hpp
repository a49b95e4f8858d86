// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "evaluator/host/time_floor.hpp"
#include "judge/compile.hpp"
#include "judge/input_generator.hpp"
#include "judge/reference.hpp"
#include "judge/runner.hpp"
#include "judge/worker_client.hpp"
#include "kernelsearch/judge/host_options.hpp"
#include "kernelsearch/problem/hidden_shapes.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::detail {

/// Checks candidates on shapes that are drawn for each of them, in a process of their own: the one that is
/// timed never sees these sizes, and this one never the listed ones. Not thread-safe.
class HiddenCheck {
 public:
  /// What is given must outlive it. For problems without hidden shapes it does nothing.
  HiddenCheck(const Problem& problem, const HostOptions& options, const WorkerSettings& settings,
              CompileCache& compiler, ClockOverhead& clock, TimeFloor& floor);

  /// What is wrong with it, with the sizes; `note` gets what was drawn, for the provenance.
  [[nodiscard]] std::optional<Fault> check(const Candidate& candidate, const std::filesystem::path& library,
                                           std::string& note);

  /// Larger shapes are not drawn for the next candidate.
  [[nodiscard]] const HiddenShapeLimits& limits() const noexcept { return limits_; }

 private:
  const Problem& listed_;
  const HostOptions& options_;
  const WorkerSettings& settings_;
  ClockOverhead& clock_;
  TimeFloor& floor_;
  bool active_;
  Problem problem_;  ///< the same with the drawn shapes
  References references_;
  InputGenerator generator_;
  HiddenShapeLimits limits_;
};

}  // namespace kernelsearch::detail
