// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kernelsearch/evaluator/gpu/gpu_device.hpp"
#include "support/test_data.hpp"

/// For tests that run on a GPU, and with KERNELSEARCH_TEST_BACKEND=standin on the stand-in of HIP, whose
/// libraries KERNELSEARCH_HIP_RUNTIME and KERNELSEARCH_HIPRTC name.
namespace support {

[[nodiscard]] inline kernelsearch::GpuBackend test_backend() {
  const char* chosen = std::getenv("KERNELSEARCH_TEST_BACKEND");
  return chosen != nullptr && std::string_view(chosen) == "standin" ? kernelsearch::GpuBackend::hip
                                                                    : kernelsearch::GpuBackend::cuda;
}

/// Says why the tests cannot run here; false where they can.
[[nodiscard]] inline bool nothing_to_test_on() {
  const kernelsearch::GpuStatus status = kernelsearch::gpu_status(test_backend());
  if (!status.devices.empty() && !status.compiler.empty()) return false;
  std::printf("skipped: no %s device can be used here: %s %s\n",
              std::string(to_string(test_backend())).c_str(), status.problem.c_str(),
              status.compiler_problem.c_str());
  return true;
}

/// The exit code that means skipped.
inline constexpr int skipped = 77;

}  // namespace support
