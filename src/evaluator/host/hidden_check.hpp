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
  /// What is given must outlive it. Where a problem gives no hidden shapes they are derived; where that
  /// cannot be, or it says that there are none, this does nothing.
  HiddenCheck(const Problem& problem, const HostOptions& options, const WorkerSettings& settings,
              CompileCache& compiler, ClockOverhead& clock, TimeFloor& floor);

  /// What is wrong with it, with the sizes; `note` gets what was drawn, for the provenance.
  [[nodiscard]] std::optional<Fault> check(const Candidate& candidate, const std::filesystem::path& library,
                                           std::string& note);

  /// Why sizes do not vary although the problem does not ask for that; empty: they do.
  [[nodiscard]] const std::string& why_not() const noexcept { return why_not_; }

  /// Larger shapes are not drawn for the next candidate.
  [[nodiscard]] const HiddenShapeLimits& limits() const noexcept { return limits_; }

 private:
  [[nodiscard]] std::optional<Fault> run(const Candidate& candidate, const std::filesystem::path& library);
  /// Whether the default configuration, whose word counts where sizes are derived, is right on these shapes.
  [[nodiscard]] bool default_is_right();
  void leave_out(const std::string& why);

  std::string why_not_;
  Problem listed_;  ///< the problem, with hidden shapes
  const HostOptions& options_;
  const WorkerSettings& settings_;
  CompileCache& compiler_;
  ClockOverhead& clock_;
  TimeFloor& floor_;
  bool active_;
  Problem problem_;  ///< the same with the drawn shapes
  References references_;
  InputGenerator generator_;
  HiddenShapeLimits limits_;
};

}  // namespace kernelsearch::detail
