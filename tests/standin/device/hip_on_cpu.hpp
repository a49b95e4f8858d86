// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// HIP's device language for a C++ compiler of this machine: included in front of every kernel that the
// stand-in of hipRTC compiles. Blocks run one after another, the threads of a block take turns between
// barriers, so that nothing here needs atomic instructions. No standard header is included, as with hipRTC.

#include "abi.hpp"

#define __HIP__ 1
#define __HIPCC__ 1
#define __HIPCC_RTC__ 1
#define __HIP_PLATFORM_AMD__ 1
#define __HIP_DEVICE_COMPILE__ 1
#define __AMDGCN_WAVEFRONT_SIZE KERNELSEARCH_STANDIN_WARP

#define __global__ __attribute__((noinline, used, visibility("default")))
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __constant__ __attribute__((used, visibility("default")))
#define __grid_constant__
// Blocks run one after another, so that one object serves all. `extern __shared__` is rewritten by the
// stand-in.
#define __shared__ static
#define HIP_DYNAMIC_SHARED(type, name) type(&name)[] = ::kernelsearch_standin::DynamicShared();

__asm__(
    ".pushsection .bss\n.balign 1024\n.hidden kernelsearch_standin_dynamic_shared\n"
    ".globl kernelsearch_standin_dynamic_shared\nkernelsearch_standin_dynamic_shared:\n.zero "
    "65536\n.popsection\n");

/// Set by the runtime when it loads the module.
extern "C" __attribute__((visibility("default"), used))
kernelsearch_standin::State* kernelsearch_standin_state;
kernelsearch_standin::State* kernelsearch_standin_state = nullptr;
extern "C" __attribute__((visibility("hidden"))) unsigned char kernelsearch_standin_dynamic_shared[];
/// For the runtime, which fills the memory before a launch.
extern "C" __attribute__((visibility("default"), used)) void* const kernelsearch_standin_dynamic;
void* const kernelsearch_standin_dynamic = kernelsearch_standin_dynamic_shared;

namespace kernelsearch_standin {
/// What `extern __shared__ T name[]` refers to. Not a declaration with the symbol's name, which g++ forgets
/// in templates.
struct DynamicShared {
  template <class T>
  operator T&() const {
    return *reinterpret_cast<T*>(kernelsearch_standin_dynamic_shared);
  }
};
}  // namespace kernelsearch_standin

#define threadIdx (kernelsearch_standin_state->thread)
#define blockIdx (kernelsearch_standin_state->block)
#define blockDim (kernelsearch_standin_state->block_size)
#define gridDim (kernelsearch_standin_state->grid_size)

constexpr int warpSize = KERNELSEARCH_STANDIN_WARP;

#include "hip_on_cpu_entry.hpp"
#include "hip_on_cpu_math.hpp"
#include "hip_on_cpu_types.hpp"
#include "hip_on_cpu_warp.hpp"
