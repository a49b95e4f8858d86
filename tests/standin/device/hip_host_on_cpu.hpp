// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// HIP's host side for a C++ compiler of this machine, behind hip_on_cpu.hpp: what the stand-in of hipcc puts
// in front of a source with a launch function. Little of the runtime, and `kernel<<<...>>>(...)` as the
// script rewrites it.

namespace std {
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
}  // namespace std

typedef void* hipStream_t;
enum hipError_t : int { hipSuccess = 0, hipErrorInvalidValue = 1, hipErrorOutOfMemory = 2 };
enum hipMemcpyKind { hipMemcpyHostToDevice = 1, hipMemcpyDeviceToHost = 2, hipMemcpyDeviceToDevice = 3 };

extern "C" {
hipError_t hipGetLastError();
const char* hipGetErrorString(hipError_t);
hipError_t hipDeviceSynchronize();
hipError_t hipStreamSynchronize(hipStream_t);
hipError_t hipMemsetD8Async(void*, unsigned char, size_t, hipStream_t);
hipError_t hipMalloc(void**, size_t);
hipError_t hipFree(void*);
int kernelsearch_standin_launch(void (*call)(void**), const unsigned* grid, const unsigned* block,
                                unsigned shared_bytes, void* stream, void** parameters, void* dynamic,
                                kernelsearch_standin::State** state);
}

inline hipError_t hipMemsetAsync(void* to, int value, size_t bytes, hipStream_t stream = nullptr) {
  return hipMemsetD8Async(to, static_cast<unsigned char>(value), bytes, stream);
}

namespace kernelsearch_standin {

template <auto Kernel>
void unpack(void** parameters) {
  call(Kernel, parameters);
}

/// A launch that waits for its arguments: `name<<<grid, block, shared, stream>>>`.
template <auto Kernel>
struct Configured {
  dim3 grid, block;
  size_t shared = 0;
  hipStream_t stream = nullptr;

  template <class... A>
  void operator()(A... a) const {
    go(Kernel, a...);
  }

 private:
  template <class... P, class... A>
  void go(void (*)(P...), A... a) const {
    [&](typename Bare<P>::Type... p) {
      void* parameters[] = {const_cast<void*>(static_cast<const void*>(&p))..., nullptr};
      const unsigned g[] = {grid.x, grid.y, grid.z}, b[] = {block.x, block.y, block.z};
      (void)kernelsearch_standin_launch(&unpack<Kernel>, g, b, static_cast<unsigned>(shared), stream,
                                        parameters, kernelsearch_standin_dynamic_shared,
                                        &kernelsearch_standin_state);
    }(a...);
  }
};

}  // namespace kernelsearch_standin

#define KERNELSEARCH_STANDIN_LAUNCH(kernel, ...) (::kernelsearch_standin::Configured<&kernel>{__VA_ARGS__})
#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...) \
  KERNELSEARCH_STANDIN_LAUNCH(kernel, grid, block, shared, stream)(__VA_ARGS__)
