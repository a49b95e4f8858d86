// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "kernelsearch/evaluator/gpu/gpu_roofline.hpp"
#include "kernelsearch/run/machine_text.hpp"

/// Machines as they described themselves, so that what is told of them is tested anywhere.
namespace run_test {

inline kernelsearch::MachineFacts h200() {
  kernelsearch::GpuDevice gpu;
  gpu.name = "NVIDIA H200";
  gpu.major = 9;
  gpu.driver = 13000;
  gpu.multiprocessors = 132;
  gpu.warp_size = 32;
  gpu.clock = 1980000;
  gpu.memory_clock = 3201000;
  gpu.bus_bits = 6144;
  gpu.l2 = std::int64_t{50} << 20;
  gpu.shared_per_block = 227 * 1024;
  gpu.shared_per_multiprocessor = 228 * 1024;
  gpu.registers_per_multiprocessor = 65536;
  gpu.threads_per_multiprocessor = 2048;
  gpu.threads_per_block = 1024;
  gpu.memory = std::uint64_t{140} << 30;
  kernelsearch::MachineFacts facts;
  facts.device.architecture = 90;
  facts.device.features = kernelsearch::features_of_architecture(90);
  facts.peaks = kernelsearch::gpu_peaks(gpu);
  facts.gpu = gpu;
  facts.toolchain = "NVRTC 13.0";
  return facts;
}

inline kernelsearch::GpuDevice pocl() {
  kernelsearch::GpuDevice gpu;
  gpu.backend = kernelsearch::GpuBackend::opencl;
  gpu.name = "cpu (PoCL, 3.1)";
  gpu.driver = 3001;
  gpu.multiprocessors = 2;
  gpu.warp_size = 8;
  gpu.clock = 2600000;
  gpu.l2 = std::int64_t{32} << 20;
  gpu.shared_per_block = std::int64_t{2} << 20;
  gpu.threads_per_block = 4096;
  gpu.memory = std::uint64_t{16} << 30;
  gpu.on_host = true;
  return gpu;
}

inline kernelsearch::MachineFacts zen4() {
  kernelsearch::MachineFacts facts;
  facts.host.model = "AMD EPYC";
  facts.host.cores = {0, 1};
  facts.caches = {32 << 10, 1 << 20, 32 << 20};
  facts.device.features = {"sse2", "avx", "avx2", "avx512", "fma", "f16c"};
  facts.peaks = {.device = "AMD EPYC",
                 .source = "measured",
                 .f16 = {},
                 .f32 = 118.1e9,
                 .f64 = 59.1e9,
                 .levels = {{.name = "L1", .bytes = 32 << 10, .bandwidth = 235.5e9},
                            {.name = "memory", .bandwidth = 40e9}}};
  facts.toolchain = "g++ 12.2";
  return facts;
}

}  // namespace run_test
