// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/evaluator/gpu/gpu_backend.hpp"

namespace kernelsearch {

/// What a GPU says of itself. Bytes, kHz; 0 where it does not say.
struct GpuDevice {
  GpuBackend backend = GpuBackend::cuda;
  std::string name;
  std::string bus;  ///< its address, as management libraries name it
  int ordinal = 0;
  /// OpenCL: the number of its platform, and its own within that; -1 where devices have no platforms.
  int platform = -1, number_in_platform = -1;
  int major = 0, minor = 0;  ///< compute capability
  int driver = 0;            ///< version as the driver numbers it, e.g. 13000
  int multiprocessors = 0;
  int warp_size = 0;  ///< 32, or 64 with AMD's CDNA
  int clock = 0, memory_clock = 0;
  int bus_bits = 0;
  std::int64_t l2 = 0;
  std::int64_t shared_per_block = 0;  ///< at most, asked for
  std::int64_t shared_per_multiprocessor = 0;
  int registers_per_multiprocessor = 0, threads_per_multiprocessor = 0, threads_per_block = 0;
  std::uint64_t memory = 0, memory_free = 0;
  bool on_host = false;  ///< kernels run on the host's processors, in the process that launches them

  /// Bytes per second between memory and device that its clock and width allow; 0 if unknown.
  [[nodiscard]] double peak_bandwidth() const noexcept;
  /// More floating-point operations per second than it can do in any type but f8; 0 if unknown.
  [[nodiscard]] double peak_operations() const noexcept;
  /// Equal on devices whose measurements may stand for each other.
  [[nodiscard]] std::string id() const;
};

/// The CUDA device of which this is the `id`: its name, compute capability and driver, and nothing else. That
/// is what a compiler has to know of it. Nothing for any other text.
[[nodiscard]] std::optional<GpuDevice> cuda_device_of(std::string_view id);

/// A device that is there and cannot be used.
struct UnusableGpu {
  int ordinal = 0;
  std::string problem;
};

/// What can be used for GPUs on this machine, or why it cannot.
struct GpuStatus {
  std::vector<GpuDevice> devices;
  std::vector<UnusableGpu> unusable;
  std::string compiler;  ///< NVRTC or hipRTC with its version; empty where it is missing
  std::string problem;   ///< of the driver: why there are no devices
  std::string compiler_problem;
};

/// Starts a worker that looks; a missing driver, library or worker is said in words, never an error.
[[nodiscard]] GpuStatus gpu_status(GpuBackend backend);

/// Whether the text names a device by platform and number within it, as `1:0`.
[[nodiscard]] bool names_platform(std::string_view text) noexcept;

/// The ordinal of the device that the text names: itself a number, as `2`, which is not looked up, or
/// platform and number within it, as `1:0`, of a device in `status`. Raises ConfigError for any other text,
/// and where there is no such device, with a list of those that there are.
[[nodiscard]] int gpu_ordinal(std::string_view text, const GpuStatus& status);

}  // namespace kernelsearch
