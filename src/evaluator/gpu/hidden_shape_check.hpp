// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "evaluator/gpu/builder_pool.hpp"
#include "evaluator/gpu/device_judge.hpp"
#include "kernelsearch/evaluator/gpu/gpu_evaluator.hpp"
#include "kernelsearch/problem/hidden_shapes.hpp"

namespace kernelsearch::detail::gpu {

/// Checks candidates on shapes that are drawn for each of them, in processes of their own: the one that is
/// timed never sees these sizes, and these never the listed ones. Not thread-safe.
class HiddenShapeCheck {
 public:
  /// What is given must outlive it; the problem has hidden shapes, its own or derived ones.
  HiddenShapeCheck(const Problem& problem, const GpuOptions& options, const GpuDevice& device, int ordinal,
                   BuilderPool& builders);

  /// What is wrong with the candidate, with the sizes; `note` gets what was drawn, for the provenance.
  [[nodiscard]] std::optional<Fault> check(const GpuArtifact& artifact, std::string& note);

  /// Why derived sizes are not tried any more; empty: they are.
  [[nodiscard]] const std::string& why_not() const noexcept { return why_not_; }

  void prepare() { worker_->prepare(); }
  void renew() { worker_->renew(); }
  /// Larger shapes are not drawn for the next candidate.
  [[nodiscard]] const HiddenShapeLimits& limits() const noexcept { return limits_; }

 private:
  /// Whether the default configuration, whose word counts where sizes are derived, is right on these shapes.
  [[nodiscard]] bool default_is_right();
  void leave_out(const std::string& why);

  Problem listed_;  ///< the problem, with hidden shapes
  GpuOptions options_;
  GpuDevice device_;
  BuilderPool& builders_;
  std::string why_not_;
  HiddenShapeLimits limits_;
  Problem problem_;  ///< the same with the drawn shapes
  std::unique_ptr<DeviceJudge> worker_;
};

}  // namespace kernelsearch::detail::gpu
