// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/gpu_device.hpp"

#include <charconv>

#include "evaluator/gpu/builder_pool.hpp"
#include "evaluator/gpu/gpu_worker.hpp"
#include "kernelsearch/core/error.hpp"

namespace kernelsearch {

double GpuDevice::peak_bandwidth() const noexcept {
  return 2.0 * 1e3 * memory_clock * bus_bits / 8;  // double data rate
}

double GpuDevice::peak_operations() const noexcept {
  // Dense half precision on the matrix units for each multiprocessor and cycle: 4096 on Hopper (989 TFLOP/s
  // on 132 at 1.83 GHz), 8192 on datacentre Blackwell, 2048 on Ampere; AMD's CDNA 3 has 2048 in each of its
  // units.
  // OpenCL and Vulkan say of few devices what they are.
  if (backend == GpuBackend::opencl && major == 0) return 1e3 * clock * multiprocessors * 16384;
  const double each = backend == GpuBackend::hip ? 4096 : major >= 10 ? 8192 : major >= 9 ? 4096 : 2048;
  return 1e3 * clock * multiprocessors * each;
}

std::string GpuDevice::id() const {
  std::string text = name;
  if (backend == GpuBackend::cuda && major > 0)
    text += " sm_" + std::to_string(major) + std::to_string(minor);
  return text + ", driver " + std::to_string(driver);
}

std::optional<GpuDevice> cuda_device_of(std::string_view id) {
  // From the end, as a name may have anything in it.
  constexpr std::string_view architecture = " sm_", driver = ", driver ";
  const std::size_t comma = id.rfind(driver);
  if (comma == std::string_view::npos) return std::nullopt;
  const std::size_t number = id.substr(0, comma).rfind(architecture);
  if (number == std::string_view::npos) return std::nullopt;
  const auto whole = [](std::string_view text, int& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
  };
  const std::string_view capability =
      id.substr(number + architecture.size(), comma - number - architecture.size());
  GpuDevice device;
  device.backend = GpuBackend::cuda;
  device.name = id.substr(0, number);
  if (capability.size() < 2 || !whole(capability.substr(0, capability.size() - 1), device.major) ||
      !whole(capability.substr(capability.size() - 1), device.minor) ||
      !whole(id.substr(comma + driver.size()), device.driver))
    return std::nullopt;
  // What is written otherwise, such as with a zero in front, is no identity.
  if (device.id() != id) return std::nullopt;
  return device;
}

GpuStatus gpu_status(GpuBackend backend) {
  using namespace detail::gpu;
  GpuStatus status;
  try {
    const auto program = find_gpu_worker({});
    for (int ordinal = 0;; ++ordinal) {
      GpuWorker worker(program, backend, GpuWorker::Role::device, ordinal, nullptr);
      GpuDevice device;
      if (const auto error = worker.hello(60, device)) {
        if (ordinal == 0) status.problem = error->text;
        break;
      }
      status.devices.push_back(std::move(device));
    }
  } catch (const Error& error) {
    status.problem = error.what();
  }
  try {
    GpuOptions options;
    options.builders = 1;
    options.sandbox = Sandbox::none;  // nothing of anyone's is compiled
    status.compiler = BuilderPool(backend, options).identity();
  } catch (const Error& error) {
    status.compiler_problem = error.what();
  }
  return status;
}

}  // namespace kernelsearch
