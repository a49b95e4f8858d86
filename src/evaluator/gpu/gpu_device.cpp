// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/gpu_device.hpp"

#include <charconv>

#include "evaluator/gpu/builder_pool.hpp"
#include "evaluator/gpu/gpu_worker_client.hpp"
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
  // What is written otherwise, such as with a zero in front, is not an identity.
  if (device.id() != id) return std::nullopt;
  return device;
}

GpuStatus gpu_status(GpuBackend backend) {
  using namespace detail::gpu;
  GpuStatus status;
  try {
    const auto program = find_gpu_worker({});
    int silent = 0;  // one after another: a driver that ends its process ends it for each number
    for (int ordinal = 0; silent < 2; ++ordinal) {
      GpuWorkerClient worker(program, backend, GpuWorkerClient::Role::device, ordinal, nullptr);
      GpuDevice device;
      const auto error = worker.hello(60, device);
      if (!error) {
        silent = 0;
        status.devices.push_back(std::move(device));
        continue;
      }
      const bool refused = error->kind == WorkerError::refused;
      if (refused && error->status == invalid_device) break;
      if (status.problem.empty()) status.problem = error->text;
      if (refused && error->status == no_device) break;
      silent = refused ? 0 : silent + 1;
      status.unusable.push_back({ordinal, error->text});
    }
    if (!status.devices.empty()) status.problem.clear();
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

bool names_platform(std::string_view text) noexcept {
  return text.find(':') != std::string_view::npos;
}

int gpu_ordinal(std::string_view text, const GpuStatus& status) {
  const auto whole = [](std::string_view digits) {
    int value = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size() ? value : -1;
  };
  const std::size_t colon = text.find(':');
  const int first = whole(text.substr(0, colon));
  const int second = colon == std::string_view::npos ? 0 : whole(text.substr(colon + 1));
  if (first < 0 || second < 0)
    detail::raise<ConfigError>(
        "this names no device", std::string(text),
        "give its number, or platform and number within it as 1:0; `kernelsearch doctor` "
        "lists both");
  if (colon == std::string_view::npos) return first;
  std::string list;
  for (const GpuDevice& device : status.devices) {
    if (device.platform == first && device.number_in_platform == second) return device.ordinal;
    (list += list.empty() ? "" : ", ") += std::to_string(device.platform) + ":" +
                                          std::to_string(device.number_in_platform) + " is " + device.name;
  }
  for (const UnusableGpu& device : status.unusable)
    (list += list.empty() ? "" : ", ") +=
        "device " + std::to_string(device.ordinal) + " cannot be used: " + device.problem;
  if (list.empty()) list = status.problem.empty() ? "no device" : status.problem;
  detail::raise<ConfigError>("there is no such device", std::string(text), "there is: " + list);
}

}  // namespace kernelsearch
