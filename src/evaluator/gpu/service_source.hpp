// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "kernelsearch/evaluator/gpu/gpu_backend.hpp"

namespace kernelsearch::detail::gpu {

/// The kernels that make contents, poison, hash and compare; the same text for CUDA and HIP. In OpenCL C each
/// place in memory is two parameters, a buffer and the byte in it.
[[nodiscard]] const std::string& service_source(GpuBackend backend);

/// Their names, in the order of `Service`.
[[nodiscard]] const char* const* service_names() noexcept;

enum Service : unsigned {
  service_fill,
  service_pattern,
  service_pattern_bytes,  ///< for places that are not aligned
  service_pattern_check,
  service_hash,
  service_equal_count,
  service_widen,
  service_compare,
  service_slack,
  service_element,
  service_flush,
  service_count
};

}  // namespace kernelsearch::detail::gpu
