// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/gpu_roofline.hpp"

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/host/host_peaks.hpp"

namespace kernelsearch {
namespace {

/// Operations of one multiprocessor in a cycle; 0 where not known. A multiplication with addition is two.
struct Rates {
  double f16 = 0, f32 = 0, f64 = 0;
};

Rates rates_of(const GpuDevice& device) {
  if (device.backend == GpuBackend::hip)  // CDNA 3: 163 and 82 TFLOP/s of 304 units at 2.1 GHz, 1307 in f16
    return device.major == 9 && device.minor == 4 ? Rates{2048, 256, 128} : Rates{};
  switch (10 * device.major + device.minor) {  // NVIDIA's architecture papers and programming guide
    case 70:
      return {1024, 128, 64};
    case 75:
      return {1024, 128, 4};
    case 80:
      return {2048, 128, 64};
    case 86:
    case 89:
    case 120:
      return {1024, 256, 4};
    case 90:
      return {4096, 256, 128};
    case 100:
      return {8192, 256, 128};
    default:
      return {};
  }
}

}  // namespace

DevicePeaks gpu_peaks(const GpuDevice& device) {
  if (device.on_host) {  // what the processors do is measured, not said by a driver
    try {
      DevicePeaks peaks = host_peaks({.threads = device.multiprocessors});
      peaks.device = device.name;
      return peaks;
    } catch (const ConfigError&) {  // fewer cores than units: nothing is known of so many
      return {};
    }
  }
  const Rates rates = rates_of(device);
  const auto peak = [&](double each) {
    const double all = 1e3 * device.clock * device.multiprocessors * each;
    return all > 0 ? std::optional(all) : std::nullopt;
  };
  DevicePeaks peaks;
  peaks.device = device.name;
  peaks.source = "of its clocks and units";
  peaks.f16 = peak(rates.f16);
  peaks.f32 = peak(rates.f32);
  peaks.f64 = peak(rates.f64);
  if (device.l2 > 0) peaks.levels.push_back({"L2", static_cast<double>(device.l2), std::nullopt});
  const double bandwidth = device.peak_bandwidth();
  peaks.levels.push_back(
      {.name = "memory", .bandwidth = bandwidth > 0 ? std::optional(bandwidth) : std::nullopt});
  return peaks;
}

CountedRoofline gpu_roofline(const GpuEvaluator& evaluator) {
  CountedOptions counted;
  counted.cold = evaluator.options().cache == CacheMode::cold;
  return {evaluator.problem(), gpu_peaks(evaluator.device()), counted};
}

}  // namespace kernelsearch
