// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The loader of OpenCL with faults, for tests: every function goes to libOpenCL.so.1, but for what
// KERNELSEARCH_FAULTY_OPENCL says: `times` (events say that every command took a nanosecond),
// `clEnqueueNDRangeKernel:-5:40` (that function fails with that error the 40th time and from then on),
// `platform` (before the others there is one more platform, with a device that has no extensions).
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "evaluator/gpu/opencl_api.hpp"

namespace cl = kernelsearch::detail::gpu::cl;

namespace {

void* real(const char* name) {
  static void* const library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  return library != nullptr ? dlsym(library, name) : nullptr;
}

template <class F>
F* real_function(const char* name) {
  void* const symbol = real(name);
  F* function = nullptr;
  std::memcpy(&function, &symbol, sizeof symbol);
  return function;
}

std::string fault() {
  const char* given = std::getenv("KERNELSEARCH_FAULTY_OPENCL");
  return given != nullptr ? given : "";
}

/// The error that a function is to give now; 0: none.
cl::Int injected(const char* name) {
  static long calls = 0;
  const std::string text = fault(), head = std::string(name) + ":";
  if (!text.starts_with(head)) return 0;
  const std::size_t colon = text.find(':', head.size());
  return ++calls >= std::atol(text.c_str() + colon + 1) ? std::atoi(text.c_str() + head.size()) : 0;
}

// Handles of the platform that is one more, and of its device.
char another_platform, another_device;

void* first_platform() {
  void* platform = nullptr;
  (void)real_function<cl::Int(cl::Uint, void**, cl::Uint*)>("clGetPlatformIDs")(1, &platform, nullptr);
  return platform;
}

void* first_device() {
  void* device = nullptr;
  (void)real_function<cl::Int(void*, cl::Ulong, cl::Uint, void**, cl::Uint*)>("clGetDeviceIDs")(
      first_platform(), cl::type_all, 1, &device, nullptr);
  return device;
}

}  // namespace

// A function that gives an error itself, and one that gives it in its last parameter.
#define FORWARD(name, parameters, arguments)                                  \
  extern "C" __attribute__((visibility("default"))) cl::Int name parameters { \
    if (const cl::Int error = injected(#name); error != 0) return error;      \
    return real_function<cl::Int parameters>(#name) arguments;                \
  }
#define FORWARD_MAKING(name, parameters, arguments)                         \
  extern "C" __attribute__((visibility("default"))) void* name parameters { \
    if (const cl::Int error = injected(#name); error != 0) {                \
      if (e != nullptr) *e = error;                                         \
      return nullptr;                                                       \
    }                                                                       \
    return real_function<void * parameters>(#name) arguments;               \
  }

extern "C" __attribute__((visibility("default"))) cl::Int clGetPlatformIDs(cl::Uint a, void** b,
                                                                           cl::Uint* c) {
  if (const cl::Int error = injected("clGetPlatformIDs"); error != 0) return error;
  // As Khronos' loader takes the names in the list apart.
  char* const list = fault() == "lists" ? std::getenv("OCL_ICD_FILENAMES") : nullptr;
  if (char* const colon = list != nullptr ? std::strchr(list, ':') : nullptr; colon != nullptr) *colon = '\0';
  const auto get = real_function<cl::Int(cl::Uint, void**, cl::Uint*)>("clGetPlatformIDs");
  if (fault() != "platform") return get(a, b, c);
  if (b != nullptr && a > 0) {
    b[0] = &another_platform;
    if (a > 1)
      if (const cl::Int error = get(a - 1, b + 1, nullptr); error != 0) return error;
  }
  const cl::Int error = c != nullptr ? get(0, nullptr, c) : 0;
  if (c != nullptr) ++*c;
  return error;
}
extern "C" __attribute__((visibility("default"))) cl::Int clGetPlatformInfo(void* a, cl::Uint b,
                                                                            std::size_t c, void* d,
                                                                            std::size_t* f) {
  return real_function<cl::Int(void*, cl::Uint, std::size_t, void*, std::size_t*)>("clGetPlatformInfo")(
      a == &another_platform ? first_platform() : a, b, c, d, f);
}
extern "C" __attribute__((visibility("default"))) cl::Int clGetDeviceIDs(void* a, cl::Ulong b, cl::Uint c,
                                                                         void** d, cl::Uint* f) {
  if (a == &another_platform) {
    if (d != nullptr && c > 0) d[0] = &another_device;
    if (f != nullptr) *f = 1;
    return 0;
  }
  return real_function<cl::Int(void*, cl::Ulong, cl::Uint, void**, cl::Uint*)>("clGetDeviceIDs")(a, b, c, d,
                                                                                                 f);
}
extern "C" __attribute__((visibility("default"))) cl::Int clGetDeviceInfo(void* a, cl::Uint b, std::size_t c,
                                                                          void* d, std::size_t* f) {
  if (a == &another_device && b == cl::device_extensions) {
    if (d != nullptr && c > 0) *static_cast<char*>(d) = '\0';
    if (f != nullptr) *f = 1;
    return 0;
  }
  return real_function<cl::Int(void*, cl::Uint, std::size_t, void*, std::size_t*)>("clGetDeviceInfo")(
      a == &another_device ? first_device() : a, b, c, d, f);
}
FORWARD_MAKING(clCreateContext,
               (const std::intptr_t* a, cl::Uint b, void* const* c, void* d, void* f, cl::Int* e),
               (a, b, c, d, f, e))
FORWARD_MAKING(clCreateCommandQueue, (void* a, void* b, cl::Ulong c, cl::Int* e), (a, b, c, e))
FORWARD_MAKING(clCreateBuffer, (void* a, cl::Ulong b, std::size_t c, void* d, cl::Int* e), (a, b, c, d, e))
FORWARD_MAKING(clCreateSubBuffer, (void* a, cl::Ulong b, cl::Uint c, const void* d, cl::Int* e),
               (a, b, c, d, e))
FORWARD(clReleaseMemObject, (void* a), (a))
FORWARD_MAKING(clCreateProgramWithSource,
               (void* a, cl::Uint b, const char** c, const std::size_t* d, cl::Int* e), (a, b, c, d, e))
FORWARD_MAKING(clCreateProgramWithBinary,
               (void* a, cl::Uint b, void* const* c, const std::size_t* d, const unsigned char** f,
                cl::Int* g, cl::Int* e),
               (a, b, c, d, f, g, e))
FORWARD(clBuildProgram, (void* a, cl::Uint b, void* const* c, const char* d, void* f, void* g),
        (a, b, c, d, f, g))
FORWARD(clGetProgramInfo, (void* a, cl::Uint b, std::size_t c, void* d, std::size_t* f), (a, b, c, d, f))
FORWARD(clGetProgramBuildInfo, (void* a, void* b, cl::Uint c, std::size_t d, void* f, std::size_t* g),
        (a, b, c, d, f, g))
FORWARD(clReleaseProgram, (void* a), (a))
FORWARD_MAKING(clCreateKernel, (void* a, const char* b, cl::Int* e), (a, b, e))
FORWARD(clReleaseKernel, (void* a), (a))
FORWARD(clSetKernelArg, (void* a, cl::Uint b, std::size_t c, const void* d), (a, b, c, d))
FORWARD(clGetKernelInfo, (void* a, cl::Uint b, std::size_t c, void* d, std::size_t* f), (a, b, c, d, f))
FORWARD(clGetKernelArgInfo, (void* a, cl::Uint b, cl::Uint c, std::size_t d, void* f, std::size_t* g),
        (a, b, c, d, f, g))
FORWARD(clGetKernelWorkGroupInfo, (void* a, void* b, cl::Uint c, std::size_t d, void* f, std::size_t* g),
        (a, b, c, d, f, g))
FORWARD(clEnqueueNDRangeKernel,
        (void* a, void* b, cl::Uint c, const std::size_t* d, const std::size_t* f, const std::size_t* g,
         cl::Uint h, void* const* i, void** j),
        (a, b, c, d, f, g, h, i, j))
FORWARD(clEnqueueReadBuffer,
        (void* a, void* b, cl::Uint c, std::size_t d, std::size_t f, void* g, cl::Uint h, void* const* i,
         void** j),
        (a, b, c, d, f, g, h, i, j))
FORWARD(clEnqueueWriteBuffer,
        (void* a, void* b, cl::Uint c, std::size_t d, std::size_t f, const void* g, cl::Uint h,
         void* const* i, void** j),
        (a, b, c, d, f, g, h, i, j))
FORWARD(clEnqueueCopyBuffer,
        (void* a, void* b, void* c, std::size_t d, std::size_t f, std::size_t g, cl::Uint h, void* const* i,
         void** j),
        (a, b, c, d, f, g, h, i, j))
FORWARD(clEnqueueFillBuffer,
        (void* a, void* b, const void* c, std::size_t d, std::size_t f, std::size_t g, cl::Uint h,
         void* const* i, void** j),
        (a, b, c, d, f, g, h, i, j))
FORWARD(clFinish, (void* a), (a))
FORWARD(clGetEventInfo, (void* a, cl::Uint b, std::size_t c, void* d, std::size_t* f), (a, b, c, d, f))
FORWARD(clReleaseEvent, (void* a), (a))

extern "C" __attribute__((visibility("default"))) cl::Int clGetEventProfilingInfo(void* a, cl::Uint b,
                                                                                  std::size_t c, void* d,
                                                                                  std::size_t* f) {
  if (fault() == "times") {
    const std::uint64_t at = b == cl::command_end ? 1001 : 1000;
    std::memcpy(d, &at, sizeof at);
    return 0;
  }
  return real_function<cl::Int(void*, cl::Uint, std::size_t, void*, std::size_t*)>("clGetEventProfilingInfo")(
      a, b, c, d, f);
}
