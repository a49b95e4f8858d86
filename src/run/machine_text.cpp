// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/machine_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "device_facts.hpp"
#include "evaluator/host/peaks.hpp"
#include "kernelsearch/agents/feedback.hpp"
#include "kernelsearch/agents/problem_text.hpp"
#include "kernelsearch/agents/quoted_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/gpu/gpu_roofline.hpp"
#include "kernelsearch/evaluator/host/host_peaks.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "process/process.hpp"

namespace kernelsearch {
namespace {

std::string bytes_text(double bytes) {
  constexpr double kib = 1024;
  if (bytes >= kib * kib * kib) return fmt::format("{:.4g} GiB", bytes / (kib * kib * kib));
  if (bytes >= kib * kib) return fmt::format("{:.4g} MiB", bytes / (kib * kib));
  if (bytes >= kib) return fmt::format("{:.4g} KiB", bytes / kib);
  return fmt::format("{:.0f} bytes", bytes);
}

bool has(const MethodDevice& device, std::string_view feature) {
  return std::find(device.features.begin(), device.features.end(), feature) != device.features.end();
}

void add_peaks(std::string& text, const DevicePeaks& peaks, const char* f16) {
  std::string list;
  const auto add = [&list](const std::optional<double>& peak, const char* type) {
    if (peak) (list += list.empty() ? "" : ", ") += fmt::format("{} {}op/s", type, scaled_text(*peak));
  };
  add(peaks.f16, f16);
  add(peaks.f32, "f32");
  add(peaks.f64, "f64");
  if (!list.empty())
    text += fmt::format("- peak arithmetic rates ({}; a multiplication with addition is two): {}\n",
                        clean_text(peaks.source), list);
}

/// What functions, divisions and conversions cost, and what the reference's take at best.
std::string prices_text(const Problem& problem, const MachineFacts& facts) {
  const VectorPrices& prices = facts.prices;
  if (prices.bits == 0) return {};
  std::string text = fmt::format(
      "- an element costs a core at least, in vectors of {} bits (measured; f32, f64): exp by a polynomial "
      "{}, "
      "{}; division {}, {}; conversion from i32 to f32 {}\n",
      prices.bits, time_text(prices.exponential), time_text(prices.exponential_f64),
      time_text(prices.division), time_text(prices.division_f64), time_text(prices.conversion));
  for (const auto& [shape, work] : facts.counted) {
    const auto seconds = priced_seconds(work, prices, facts.peaks, false, problem.threads);
    if (!seconds) continue;
    text += fmt::format(
        "- shape {}: computing takes at best {} at these prices, with as many operations as the "
        "reference has: {} additions, multiplications and comparisons",
        clean_text(shape), time_text(*seconds), work.basic);
    const auto add = [&text](std::uint64_t count, const char* what) {
      if (count > 0) text += fmt::format(", {} {}", count, what);
    };
    add(work.exponentials, "exponentials, logarithms and the like");
    add(work.divisions, "divisions");
    add(work.roots, "square roots");
    add(work.conversions, "conversions");
    text += '\n';
  }
  return text;
}

std::string host_text(const Problem& problem, const MachineFacts& facts) {
  std::string text = "- processor: " + clean_text(facts.host.id()) + '\n';
  text += fmt::format("- the kernel may use {} {} ({} for this program); it is timed on {}\n",
                      problem.threads, problem.threads == 1 ? "core" : "cores", facts.host.cores.size(),
                      problem.threads == 1 ? "one that nothing else of this program uses" : "them");
  const bool wide = has(facts.device, "avx512"), middle = has(facts.device, "avx2");
  if (wide)
    text += "- vectors: AVX-512, 512 bits (16 f32 or 8 f64), 32 registers; AVX2 and SSE too\n";
  else if (middle)
    text += "- vectors: AVX2, 256 bits (8 f32 or 4 f64), 16 registers; no AVX-512\n";
  else if (has(facts.device, "avx"))
    text += "- vectors: AVX, 256 bits for floating point (8 f32 or 4 f64), 16 registers; no AVX2\n";
  else if (has(facts.device, "sse2"))
    text += "- vectors: SSE, 128 bits (4 f32 or 2 f64), 16 registers; no AVX\n";
  if (has(facts.device, "fma")) text += "- fused multiplication with addition: yes\n";
  if (has(facts.device, "f16c")) text += "- conversion between f16 and f32: in hardware (F16C)\n";
  std::string caches;
  for (std::size_t i = 0; i < facts.caches.size(); ++i)
    if (facts.caches[i] > 0)
      (caches += caches.empty() ? "" : ", ") += fmt::format(
          "L{} {}{}", i + 1, bytes_text(static_cast<double>(facts.caches[i])), i == 2 ? " (shared)" : "");
  if (!caches.empty()) text += "- data caches of a core: " + caches + "; lines of 64 bytes\n";
  add_peaks(text, facts.peaks, "f16");
  std::string levels;
  for (const MemoryLevel& level : facts.peaks.levels)
    if (level.bandwidth)
      (levels += levels.empty() ? "" : ", ") +=
          fmt::format("{} {}B/s", clean_text(level.name), scaled_text(*level.bandwidth));
  if (!levels.empty()) text += "- peak transfer rates (read and written together): " + levels + '\n';
  text += prices_text(problem, facts);
  if (!facts.toolchain.empty()) text += "- compiler: " + clean_text(facts.toolchain) + '\n';
  text +=
      "- arrays of the problem begin at multiples of 64 bytes; rounding is to nearest, subnormal numbers "
      "count\n";
  return text;
}

/// Threads of a block as the problem launches its first kernel at the default, on its first timed shape.
std::optional<std::int64_t> launched_threads(const Problem& problem) {
  const auto shape = std::find_if(problem.shapes.begin(), problem.shapes.end(),
                                  [](const Shape& one) { return one.weight > 0; });
  const auto step = std::find_if(problem.launch.begin(), problem.launch.end(),
                                 [](const LaunchStep& one) { return !one.function.empty(); });
  if (shape == problem.shapes.end() || step == problem.launch.end()) return std::nullopt;
  try {
    const auto tunables = named_values(problem.kernel.space, problem.kernel.space.default_config());
    double threads = 1;
    for (const Expression& extent : step->geometry.block)
      threads *= to_number(evaluate(extent, *shape, tunables, "the block"));
    if (threads >= 1 && threads <= 1024) return static_cast<std::int64_t>(threads);
  } catch (const ConfigError&) {  // a size that only the problem's generator knows
  }
  return std::nullopt;
}

std::string registers_text(const Problem& problem, const GpuDevice& gpu) {
  constexpr int granularity = 8, most = 255;  // registers of a thread are allotted in eights
  const auto at = [&](int threads) {
    return std::min(most, gpu.registers_per_multiprocessor / threads / granularity * granularity);
  };
  const int all = gpu.threads_per_multiprocessor;
  std::string text = fmt::format(
      "- registers: {} a multiprocessor, at most {} a thread; so with all {} threads "
      "resident {} a thread, with half of them {}, with a quarter {}",
      gpu.registers_per_multiprocessor, most, all, at(all), at(all / 2), at(all / 4));
  if (const auto threads = launched_threads(problem))
    text += fmt::format(
        "; the problem's launch has {} threads a block at the default: one block of it a "
        "multiprocessor leaves {} a thread, two leave {}",
        *threads, at(static_cast<int>(*threads)), at(static_cast<int>(2 * *threads)));
  return text + '\n';
}

std::string opencl_text(const MachineFacts& facts) {
  std::string text;
  if (facts.gpu) {
    const GpuDevice& gpu = *facts.gpu;
    text +=
        "- OpenCL device: " + clean_text(gpu.name) + fmt::format(", {} compute units", gpu.multiprocessors);
    if (gpu.clock > 0) text += fmt::format(" at up to {:.4g} GHz", gpu.clock / 1e6);
    if (gpu.on_host)
      text +=
          "; they are this machine's processors: a work group is a loop on one core, local memory is "
          "ordinary memory, and vectors of a kernel become the processor's";
    text += fmt::format("\n- memory: {}", bytes_text(static_cast<double>(gpu.memory)));
    if (gpu.l2 > 0) text += "; cache " + bytes_text(static_cast<double>(gpu.l2));
    text += '\n';
    add_peaks(text, facts.peaks, "f16 on the matrix units, dense");
    text += fmt::format("- a work group: at most {} work items, {} of local memory", gpu.threads_per_block,
                        bytes_text(static_cast<double>(gpu.shared_per_block)));
    if (gpu.warp_size > 0)
      text += fmt::format("; local sizes that are multiples of {} (its subgroups) suit it", gpu.warp_size);
    text += '\n';
  } else {
    text += "- OpenCL device: none was found on this machine\n";
  }
  if (!facts.toolchain.empty()) text += "- compiler: " + clean_text(facts.toolchain) + '\n';
  return text +
         "- kernels are OpenCL C 1.2 unless build.flags has another -cl-std; their parameters are __global "
         "buffers and numbers in the order of the arguments, then a __local pointer for each entry of "
         "\"local\" that the launch's arguments do not name, and with \"shared_bytes\" one as the last; "
         "there are no images and no samplers\n"
         "- arrays of the problem begin at multiples of 128 bytes\n";
}

std::string vulkan_text(const MachineFacts& facts) {
  std::string text;
  if (facts.gpu) {
    const GpuDevice& gpu = *facts.gpu;
    text += "- Vulkan device: " + clean_text(gpu.name);
    if (gpu.multiprocessors > 0) text += fmt::format(", {} compute units", gpu.multiprocessors);
    if (gpu.on_host)
      text +=
          "; they are this machine's processors: a work group is a loop on one core, shared memory is "
          "ordinary "
          "memory, and a subgroup is what one vector of the processor holds";
    text += fmt::format("\n- memory: {}\n", bytes_text(static_cast<double>(gpu.memory)));
    add_peaks(text, facts.peaks, "f16 on the matrix units, dense");
    text += fmt::format("- a work group: at most {} invocations, {} of shared memory", gpu.threads_per_block,
                        bytes_text(static_cast<double>(gpu.shared_per_block)));
    if (gpu.warp_size > 0) text += fmt::format("; subgroups have {} invocations", gpu.warp_size);
    text += '\n';
  } else {
    text += "- Vulkan device: none was found on this machine\n";
  }
  if (!facts.toolchain.empty()) text += "- compiler: " + clean_text(facts.toolchain) + '\n';
  return text +
         "- shaders are GLSL or HLSL for SPIR-V 1.3 and Vulkan 1.1; arrays are storage buffers of descriptor "
         "set "
         "0, by name or in the order of the arguments, scalars are members of one block of push constants, "
         "by "
         "name or in their order; there are no images, no samplers and no uniform buffers\n"
         "- tunables are macros, and where the source declares a specialisation constant of that name "
         "(constant_id), the value of it\n";
}

std::string gpu_text(const Problem& problem, const MachineFacts& facts) {
  if (problem.backend == Backend::opencl) return opencl_text(facts);
  if (problem.backend == Backend::vulkan) return vulkan_text(facts);
  const bool hip = problem.backend == Backend::hip;
  std::string text;
  if (facts.gpu) {
    const GpuDevice& gpu = *facts.gpu;
    text += "- GPU: " + clean_text(gpu.name);
    if (gpu.backend == GpuBackend::cuda && gpu.major > 0)
      text += fmt::format(", sm_{}{}", gpu.major, gpu.minor);
    text += fmt::format(", {} multiprocessors", gpu.multiprocessors);
    if (gpu.clock > 0) text += fmt::format(" at up to {:.4g} GHz", gpu.clock / 1e6);
    text += fmt::format(", {} of {} threads\n", hip ? "wavefronts" : "warps", gpu.warp_size);
    text += fmt::format("- memory: {}", bytes_text(static_cast<double>(gpu.memory)));
    if (gpu.peak_bandwidth() > 0) text += fmt::format(" at {}B/s", scaled_text(gpu.peak_bandwidth()));
    if (gpu.l2 > 0) text += "; L2 cache " + bytes_text(static_cast<double>(gpu.l2));
    text += '\n';
    add_peaks(text, facts.peaks, "f16 on the matrix units, dense");
    text += fmt::format("- a block: at most {} threads", gpu.threads_per_block);
    if (gpu.shared_per_block > 0) {
      constexpr std::int64_t plain = 48 * 1024;  // of CUDA, for every architecture; more must be asked for
      text +=
          hip || gpu.shared_per_block <= plain
              ? fmt::format(", {} of shared memory", bytes_text(static_cast<double>(gpu.shared_per_block)))
              : fmt::format(
                    ", {} of shared memory as it stands, up to {} as dynamic shared memory (the launch's "
                    "shared bytes; a launch function must opt in by "
                    "cudaFuncAttributeMaxDynamicSharedMemorySize)",
                    bytes_text(static_cast<double>(plain)),
                    bytes_text(static_cast<double>(gpu.shared_per_block)));
    }
    text += '\n';
    if (gpu.threads_per_multiprocessor > 0) {
      text += fmt::format("- a multiprocessor holds {} threads ({} {})", gpu.threads_per_multiprocessor,
                          gpu.threads_per_multiprocessor / std::max(1, gpu.warp_size),
                          hip ? "wavefronts" : "warps");
      if (gpu.shared_per_multiprocessor > 0)
        text += ", " + bytes_text(static_cast<double>(gpu.shared_per_multiprocessor)) + " of shared memory";
      text += '\n';
      if (gpu.registers_per_multiprocessor > 0 && !hip) text += registers_text(problem, gpu);
    }
    std::vector<std::string> features = features_of_architecture(facts.device.architecture);
    features.insert(features.end(), facts.device.features.begin(), facts.device.features.end());
    std::sort(features.begin(), features.end());
    features.erase(std::unique(features.begin(), features.end()), features.end());
    std::string list;
    for (const std::string& feature : features) (list += list.empty() ? "" : ", ") += clean_text(feature);
    if (!list.empty()) text += "- it has: " + list + '\n';
  } else {
    text += "- GPU: none was found on this machine\n";
  }
  if (!facts.toolchain.empty()) text += "- compiler: " + clean_text(facts.toolchain) + '\n';
  if (problem.build.compiler == "nvrtc")
    text +=
        "- the device region is compiled by NVRTC: headers of the host's C++ standard library (<vector>, "
        "<algorithm>, <cstdio>, ...) cannot be included; those of the CUDA toolkit for devices can "
        "(<cuda_fp16.h>, <cuda_bf16.h>, <mma.h>, <cooperative_groups.h>, <cuda_pipeline.h>), where the "
        "toolkit is "
        "installed\n";
  if (problem.build.compiler == "hiprtc")
    text +=
        "- the device region is compiled by hipRTC: headers of the host's C++ standard library cannot be "
        "included\n";
  text +=
      "- arrays of the problem begin at multiples of 256 bytes; rounding is to nearest, and a multiplication "
      "and an addition may be contracted to one fused operation\n";
  return text;
}

/// Whether the reference's text has what is priced.
bool is_costly(const Problem& problem) {
  constexpr std::string_view signs[] = {"exp",  "log", "tanh", "sqrt", "pow", "sin",
                                        "cos",  "erf", "cbrt", " / ",  "/=",  "static_cast<real>",
                                        "real("};
  const std::string& text = problem.reference.source;
  return std::any_of(std::begin(signs), std::end(signs),
                     [&](std::string_view sign) { return text.find(sign) != std::string::npos; });
}

std::vector<std::pair<std::string, CountedWork>> counted_shapes(const Problem& problem,
                                                                const HostOptions& host) {
  constexpr double limit = 2.0;
  const double begin = detail::monotonic_seconds();
  std::vector<std::pair<std::string, CountedWork>> counted;
  for (const Shape& shape : problem.shapes) {
    const double left = limit - (detail::monotonic_seconds() - begin);
    if (!(shape.weight > 0) || left <= 0) continue;
    const std::optional<CountedWork> work = count_reference(problem, shape, host, left);
    if (!work) break;  // what does not compile or takes too long does so for the others too
    if (work->exponentials + work->divisions + work->roots + work->conversions > 0)
      counted.emplace_back(shape.name, *work);
  }
  return counted;
}

}  // namespace

MachineFacts machine_facts(const Problem& problem, const MeasurementOptions& options, std::string toolchain) {
  MachineFacts facts;
  facts.toolchain = std::move(toolchain);
  facts.device = detail::method_device(problem.backend, options.devices);
  if (problem.backend == Backend::host) {
    facts.host = host_machine();
    const HostPeaksOptions peaks{.threads = problem.threads};
    try {
      const std::vector<int> cores = detail::peak_cores(facts.host, peaks);
      facts.caches = detail::cache_sizes(cores.front()).bytes;
      facts.peaks = host_peaks(peaks);
      if (const std::vector<VectorPrices> prices = host_prices(); !prices.empty() && is_costly(problem))
        facts.prices = prices.back();
    } catch (const ConfigError&) {  // fewer cores than threads: nothing is known of so many
    }
    if (facts.prices.bits > 0) facts.counted = counted_shapes(problem, host_options(options));
    return facts;
  }
  if (!is_gpu(problem.backend)) return facts;
  const GpuBackend backend = *gpu_backend_of(problem.backend);
  const int ordinal = options.devices.empty() ? 0 : options.devices.front();
  for (GpuDevice& gpu : gpu_status(backend).devices)
    if (gpu.ordinal == ordinal) {
      gpu.memory_free = 0;  // it changes from call to call
      facts.peaks = gpu_peaks(gpu);
      facts.gpu = std::move(gpu);
      break;
    }
  return facts;
}

std::string machine_text(const Problem& problem, const MachineFacts& facts) {
  return problem.backend == Backend::host ? host_text(problem, facts) : gpu_text(problem, facts);
}

std::string machine_text(const AnyEvaluator& evaluator) {
  std::string text = "- device: " + evaluator.device_id() + '\n';
  const std::vector<std::string> facts = evaluator.facts();
  if (facts.empty()) text += "- compiler: " + evaluator.toolchain_id() + '\n';
  for (const std::string& fact : facts) text += "- " + fact + '\n';
  return text;
}

}  // namespace kernelsearch
