// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "evaluator/gpu/builder_pool.hpp"
#include "evaluator/gpu/device_worker.hpp"
#include "kernelsearch/evaluator/gpu/gpu_evaluator.hpp"
#include "kernelsearch/problem/hidden_shapes.hpp"

namespace kernelsearch::detail::gpu {

/// Checks candidates on shapes that are drawn for each of them, in processes of their own: the one that is
/// timed never sees these sizes, and these never the listed ones. Not thread-safe.
class HiddenShapeCheck {
 public:
  /// What is given must outlive it; the problem has hidden shapes.
  HiddenShapeCheck(const Problem& problem, const GpuOptions& options, const GpuDevice& device, int ordinal,
                   BuilderPool& builders);

  /// What is wrong with the candidate, with the sizes; `note` gets what was drawn, for the provenance.
  [[nodiscard]] std::optional<Fault> check(const GpuArtifact& artifact, std::string& note);

  void prepare() { worker_->prepare(); }
  void renew() { worker_->renew(); }
  /// Larger shapes are not drawn for the next candidate.
  [[nodiscard]] const HiddenShapeLimits& limits() const noexcept { return limits_; }

 private:
  const Problem& listed_;
  GpuOptions options_;
  HiddenShapeLimits limits_;
  Problem problem_;  ///< the same with the drawn shapes
  std::unique_ptr<DeviceWorker> worker_;
};

}  // namespace kernelsearch::detail::gpu
