// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>

#include "kernelsearch/evaluator/gpu/gpu_evaluator.hpp"
#include "kernelsearch/evaluator/gpu/sass.hpp"

namespace kernelsearch {

/// The features of the kernels that a candidate launches and of what they call (docs/evidence.md), read with
/// nvdisasm or cuobjdump and kept for images that were seen before. A launch function's library is read with
/// cuobjdump: the features are those of all kernels in it, with the most registers and local_bytes.
/// None where no such program is there, the image is not NVIDIA's or it cannot be read. Thread-safe.
class GpuCodeInspector {
 public:
  explicit GpuCodeInspector(SassOptions options = {});
  GpuCodeInspector(GpuCodeInspector&&) noexcept;
  GpuCodeInspector& operator=(GpuCodeInspector&&) noexcept;
  ~GpuCodeInspector();

  [[nodiscard]] Features inspect(const GpuArtifact& artifact);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernelsearch
