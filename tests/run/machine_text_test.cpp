// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/machine_text.hpp"

#include <doctest/doctest.h>

#include <string>

#include "kernelsearch/problem/read_problem.hpp"
#include "machines.hpp"

using namespace kernelsearch;

namespace {

bool machine_says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string example_folder = KERNELSEARCH_SOURCE_DIR "/examples/";

}  // namespace

TEST_CASE("machine_text: an H200's limits and what follows of them") {
  const Problem problem = read_problem(example_folder + "cuda/matmul_tiled");
  const std::string text = machine_text(problem, run_test::h200());
  CAPTURE(text);
  CHECK(machine_says(
      text, "- GPU: NVIDIA H200, sm_90, 132 multiprocessors at up to 1.98 GHz, warps of 32 threads\n"));
  CHECK(machine_says(text, "L2 cache 50 MiB"));
  CHECK(machine_says(text, "at 4.917 TB/s"));
  CHECK(machine_says(text, "f16 on the matrix units, dense 1.071 Pop/s, f32 66.91 Top/s, f64 33.45 Top/s"));
  CHECK(machine_says(
      text, "a block: at most 1024 threads, 48 KiB of shared memory as it stands, up to 227 KiB as dynamic"));
  CHECK(machine_says(text, "a multiprocessor holds 2048 threads (64 warps), 228 KiB of shared memory"));
  CHECK(machine_says(
      text, "so with all 2048 threads resident 32 a thread, with half of them 64, with a quarter 128"));
  CHECK(machine_says(text, "threads a block at the default: one block of it a multiprocessor leaves"));
  CHECK(machine_says(text, "wgmma"));
  CHECK(machine_says(text, "cannot be included"));
  CHECK(machine_says(text, "begin at multiples of 256 bytes"));
  CHECK(machine_text(problem, run_test::h200()) == text);

  MachineFacts none = run_test::h200();
  none.gpu.reset();
  CHECK(machine_says(machine_text(problem, none), "- GPU: none was found on this machine\n"));
}

TEST_CASE("machine_text: an OpenCL device in the words of OpenCL") {
  const Problem problem = read_problem(example_folder + "opencl/matmul");
  MachineFacts facts;
  facts.gpu = run_test::pocl();
  facts.toolchain = "OpenCL 3.0 PoCL 3.1";
  const std::string text = machine_text(problem, facts);
  CAPTURE(text);
  CHECK(machine_says(text,
                     "- OpenCL device: cpu (PoCL, 3.1), 2 compute units at up to 2.6 GHz; they are this "
                     "machine's processors"));
  CHECK(machine_says(text,
                     "- a work group: at most 4096 work items, 2 MiB of local memory; local sizes that are "
                     "multiples of 8"));
  CHECK(machine_says(text, "cache 32 MiB"));
  CHECK(machine_says(text, "- compiler: OpenCL 3.0 PoCL 3.1\n"));
  CHECK(machine_says(text, "there are no images and no samplers"));
  CHECK(!machine_says(text, "multiprocessor"));
  CHECK(!machine_says(text, "warps"));
  CHECK(!machine_says(text, "rounding is to nearest"));
  facts.gpu->on_host = false;
  CHECK(!machine_says(machine_text(problem, facts), "processors"));
  facts.gpu.reset();
  CHECK(machine_says(machine_text(problem, facts), "- OpenCL device: none was found on this machine\n"));
}

TEST_CASE("machine_text: a Vulkan device in the words of shaders") {
  const Problem problem = read_problem(example_folder + "vulkan/matmul_hlsl");
  MachineFacts facts;
  facts.gpu = GpuDevice{};
  facts.gpu->backend = GpuBackend::vulkan;
  facts.gpu->name = "llvmpipe";
  facts.gpu->multiprocessors = 2;
  facts.gpu->warp_size = 8;
  facts.gpu->threads_per_block = 1024;
  facts.gpu->shared_per_block = 32768;
  facts.gpu->on_host = true;
  facts.toolchain = "glslang 11:12.0.0";
  const std::string text = machine_text(problem, facts);
  CAPTURE(text);
  CHECK(machine_says(text, "- Vulkan device: llvmpipe, 2 compute units; they are this machine's processors"));
  CHECK(machine_says(text,
                     "- a work group: at most 1024 invocations, 32 KiB of shared memory; subgroups have 8"));
  CHECK(machine_says(text, "- compiler: glslang 11:12.0.0\n"));
  CHECK(machine_says(text, "scalars are members of one block of push constants"));
  CHECK(!machine_says(text, "warps"));
  facts.gpu.reset();
  CHECK(machine_says(machine_text(problem, facts), "- Vulkan device: none was found on this machine\n"));
}

TEST_CASE("machine_text: what functions, divisions and conversions cost, and what a shape's take at best") {
  Problem problem = read_problem(example_folder + "host/softmax");
  MachineFacts facts = run_test::zen4();
  CHECK(!machine_says(machine_text(problem, facts), "exp by a polynomial"));
  facts.prices = {512, 0.25e-9, 1e-9, 0.5e-9, 2e-9, 0.125e-9};
  facts.counted = {
      {"short rows", {.basic = 1181, .divisions = 3000, .exponentials = 2000, .conversions = 7}}};
  const std::string text = machine_text(problem, facts);
  CAPTURE(text);
  CHECK(
      machine_says(text,
                   "in vectors of 512 bits (measured; f32, f64): exp by a polynomial 0.25 ns, 1 ns; division "
                   "0.5 ns, 2 ns; conversion from i32 to f32 0.125 ns\n"));
  CHECK(machine_says(
      text,
      "- shape short rows: computing takes at best 1.5 us at these prices, with as many operations "
      "as the reference has: 1181 additions, multiplications and comparisons, 2000 exponentials, "
      "logarithms and the like, 3000 divisions, 7 conversions\n"));
}

TEST_CASE("machine_text: a host's vectors, caches and peaks") {
  Problem problem = read_problem(example_folder + "host/matmul");
  MachineFacts facts = run_test::zen4();
  std::string text = machine_text(problem, facts);
  CAPTURE(text);
  CHECK(machine_says(text, "- processor: AMD EPYC\n"));
  CHECK(machine_says(text, "the kernel may use 1 core (2 for this program)"));
  CHECK(machine_says(text, "AVX-512, 512 bits (16 f32 or 8 f64), 32 registers"));
  CHECK(machine_says(text, "L1 32 KiB, L2 1 MiB, L3 32 MiB (shared); lines of 64 bytes"));
  CHECK(machine_says(text, "f32 118.1 Gop/s, f64 59.1 Gop/s"));
  CHECK(machine_says(text, "L1 235.5 GB/s, memory 40 GB/s"));
  CHECK(machine_says(text, "- compiler: g++ 12.2\n"));
  CHECK(machine_says(text, "begin at multiples of 64 bytes"));
  CHECK(!machine_says(text, "): f16"));  // no such peak is known
  facts.device.features = {"sse2", "avx", "avx2", "fma"};
  text = machine_text(problem, facts);
  CHECK(machine_says(text, "AVX2, 256 bits (8 f32 or 4 f64), 16 registers; no AVX-512"));
}

TEST_CASE("machine_facts: this machine's own, the same from call to call") {
  const Problem problem = read_problem(example_folder + "host/matmul");
  const MachineFacts facts = machine_facts(problem, {}, "a compiler");
  CHECK(!facts.host.cores.empty());
  CHECK(facts.toolchain == "a compiler");
  CHECK(machine_text(problem, machine_facts(problem, {}, "a compiler")) == machine_text(problem, facts));
}
