// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/service_source.hpp"

#include <iterator>
#include <string_view>

#include "evaluator/gpu/vulkan_source.hpp"

namespace kernelsearch::detail::gpu {

/// The texts of device/service.cu, device/service.cl and device/service.comp, which the build compiles in.
std::string_view service_text() noexcept;
std::string_view opencl_service_text() noexcept;
std::string_view vulkan_service_text() noexcept;

namespace {

constexpr const char* names[] = {"ks_fill",  "ks_pattern",     "ks_pattern_bytes", "ks_pattern_check",
                                 "ks_hash",  "ks_equal_count", "ks_widen",         "ks_compare",
                                 "ks_slack", "ks_element",     "ks_flush"};
static_assert(std::size(names) == service_count);

}  // namespace

const std::string& service_source(GpuBackend backend) {
  static const std::string source(service_text()), opencl(opencl_service_text()),
      vulkan(vulkan_service_source(vulkan_service_text()));
  if (backend == GpuBackend::vulkan) return vulkan;
  return backend == GpuBackend::opencl ? opencl : source;
}

const char* const* service_names() noexcept {
  return names;
}

}  // namespace kernelsearch::detail::gpu
