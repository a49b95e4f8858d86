// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The functions of the HIP runtime that the library binds, with the signatures of hip_runtime_api.h. Streams
// run each operation when it is given to them, so that they are in order and always finished.
#include <cstdio>
#include <cstring>
#include <utility>

#include "runtime.hpp"

using namespace kernelsearch_standin;

#define EXPORTED extern "C" __attribute__((visibility("default"))) int
// The beginning of every function: one call at a time, errors first.
#define ENTER(function)                                              \
  const std::lock_guard<std::recursive_mutex> lock(one_at_a_time()); \
  Runtime& r = Runtime::instance();                                  \
  if (const int status = r.enter(#function); status != 0) return status

namespace {

thread_local int device_in_use = 0;
int last_error = success;  // of a launch by a launch function, until it is asked for

/// Numbers of hipDeviceAttribute_t (ROCm 5 to 7), and of them only what a runtime of ROCm 5 answers. Much
/// like an MI250X, but with few multiprocessors and little L2, as both make the evaluator work more.
int attribute_value(int attribute, int warp, int& value) {
  static constexpr int block = 1024, shared = static_cast<int>(shared_limit);
  static constexpr int known[][2] = {
      {5, 1700000},                                    // ClockRate, kHz
      {19, 1 << 20},                                   // L2CacheSize
      {23, 9},          {61, 0},                       // ComputeCapabilityMajor, Minor
      {26, block},      {27, block},     {28, block},  // MaxBlockDim
      {29, 2147483647}, {30, 65536},     {31, 65536},  // MaxGridDim
      {56, block},      {57, 2048},                    // MaxThreadsPerBlock, PerMultiProcessor
      {59, 4096},       {60, 1600000},                 // MemoryBusWidth, bits; MemoryClockRate, kHz
      {63, 4},                                         // MultiprocessorCount
      {71, 65536},                                     // MaxRegistersPerBlock
      {74, shared},     {10002, shared},               // MaxSharedMemoryPerBlock, PerMultiprocessor
  };
  if (attribute == 87) {  // WarpSize
    value = warp;
    return success;
  }
  for (const auto& [number, answer] : known) {
    if (number != attribute) continue;
    value = answer;
    return success;
  }
  return invalid_value;
}

const char* text_of(int status) {
  switch (status) {
    case success:
      return "no error";
    case invalid_value:
      return "invalid argument";
    case out_of_memory:
      return "out of memory";
    case no_device:
      return "no ROCm-capable device is detected";
    case invalid_device:
      return "invalid device ordinal";
    case invalid_image:
      return "device kernel image is invalid";
    case invalid_handle:
      return "invalid resource handle";
    case not_found:
      return "named symbol not found";
    case illegal_address:
      return "an illegal memory access was encountered";
    case 710:
      return "device-side assert triggered";
    case launch_failure:
      return "unspecified launch failure";
    default:
      return "unknown error";
  }
}

std::uint64_t address_of(void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

}  // namespace

/// How often a function was called in this process; for tests of the callers.
extern "C" __attribute__((visibility("default"))) long kernelsearch_standin_calls(const char* function) {
  const std::lock_guard<std::recursive_mutex> lock(one_at_a_time());
  return Runtime::instance().injection.calls(function);
}
/// As if the process began anew: also reads the environment again.
extern "C" __attribute__((visibility("default"))) void kernelsearch_standin_reset() {
  const std::lock_guard<std::recursive_mutex> lock(one_at_a_time());
  Runtime::reset();
}

EXPORTED hipInit(unsigned flags) {
  ENTER(hipInit);
  if (flags != 0) return invalid_value;
  return r.devices > 0 ? success : no_device;  // ROCm 5.2: invalid_device
}
EXPORTED hipDriverGetVersion(int* version) {
  ENTER(hipDriverGetVersion);
  if (version == nullptr) return invalid_value;
  *version = 60000000;
  return success;
}
EXPORTED hipGetDeviceCount(int* count) {
  ENTER(hipGetDeviceCount);
  if (count == nullptr) return invalid_value;
  *count = r.devices;
  return r.devices > 0 ? success : no_device;
}
EXPORTED hipDeviceGet(int* device, int ordinal) {
  ENTER(hipDeviceGet);
  if (device == nullptr || !r.is_device(ordinal)) return invalid_device;
  *device = ordinal;
  return success;
}
EXPORTED hipDeviceGetName(char* name, int length, int device) {
  ENTER(hipDeviceGetName);
  if (!r.is_device(device)) return invalid_device;
  if (name == nullptr || length <= 0) return invalid_value;
  std::snprintf(name, static_cast<std::size_t>(length), "Stand-in of a GPU");
  return success;
}
EXPORTED hipDeviceGetAttribute(int* value, int attribute, int device) {
  ENTER(hipDeviceGetAttribute);
  if (value == nullptr) return invalid_value;
  if (!r.is_device(device)) return invalid_device;
  return attribute_value(attribute, static_cast<int>(r.warp), *value);
}
EXPORTED hipDeviceGetPCIBusId(char* text, int length, int device) {
  ENTER(hipDeviceGetPCIBusId);
  if (!r.is_device(device)) return invalid_device;
  if (text == nullptr || length < 13) return invalid_value;
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02x:00.0", static_cast<unsigned>(device) + 1u);
  return success;
}
EXPORTED hipDeviceTotalMem(std::size_t* bytes, int device) {
  ENTER(hipDeviceTotalMem);
  if (!r.is_device(device)) return invalid_device;
  if (bytes == nullptr) return invalid_value;
  *bytes = r.memory->capacity();
  return success;
}
EXPORTED hipSetDevice(int device) {
  ENTER(hipSetDevice);
  if (!r.is_device(device)) return invalid_device;
  device_in_use = device;
  return success;
}
EXPORTED hipDeviceSynchronize() {
  ENTER(hipDeviceSynchronize);
  return success;
}
EXPORTED hipMemGetInfo(std::size_t* available, std::size_t* total) {
  ENTER(hipMemGetInfo);
  if (available == nullptr || total == nullptr) return invalid_value;
  *available = r.memory->available();
  *total = r.memory->capacity();
  return success;
}
EXPORTED hipMalloc(void** pointer, std::size_t bytes) {
  ENTER(hipMalloc);
  if (pointer == nullptr) return invalid_value;
  *pointer = nullptr;
  if (bytes == 0) return success;
  const std::uint64_t address = r.memory->allocate(bytes);
  *pointer = reinterpret_cast<void*>(address);
  return address != 0 ? success : out_of_memory;
}
EXPORTED hipFree(void* pointer) {
  ENTER(hipFree);
  return pointer == nullptr || r.memory->release(address_of(pointer)) ? success : invalid_value;
}
EXPORTED hipMemcpyHtoD(void* to, const void* from, std::size_t bytes) {
  ENTER(hipMemcpyHtoD);
  if (bytes == 0) return success;
  if (from == nullptr || !r.memory->contains(address_of(to), bytes)) return invalid_value;
  std::memcpy(to, from, bytes);
  return success;
}
EXPORTED hipMemcpyDtoH(void* to, void* from, std::size_t bytes) {
  ENTER(hipMemcpyDtoH);
  if (bytes == 0) return success;
  if (to == nullptr || !r.memory->contains(address_of(from), bytes)) return invalid_value;
  std::memcpy(to, from, bytes);
  return success;
}
EXPORTED hipMemcpyDtoDAsync(void* to, void* from, std::size_t bytes, void* stream) {
  ENTER(hipMemcpyDtoDAsync);
  if (stream != nullptr && r.streams.count(stream) == 0) return invalid_handle;
  if (bytes == 0) return success;
  if (!r.memory->contains(address_of(to), bytes) || !r.memory->contains(address_of(from), bytes))
    return invalid_value;
  std::memmove(to, from, bytes);
  return success;
}
EXPORTED hipMemsetD8Async(void* to, unsigned char value, std::size_t bytes, void* stream) {
  ENTER(hipMemsetD8Async);
  if (stream != nullptr && r.streams.count(stream) == 0) return invalid_handle;
  if (bytes == 0) return success;
  if (!r.memory->contains(address_of(to), bytes)) return invalid_value;
  std::memset(to, value, bytes);
  return success;
}
EXPORTED hipHostRegister(void* pointer, std::size_t bytes, unsigned) {
  ENTER(hipHostRegister);
  if (pointer == nullptr || bytes == 0) return invalid_value;
  return r.pinned.insert(pointer).second ? success : already_registered;
}
EXPORTED hipHostUnregister(void* pointer) {
  ENTER(hipHostUnregister);
  return r.pinned.erase(pointer) > 0 ? success : not_registered;
}
EXPORTED hipStreamCreateWithFlags(void** stream, unsigned flags) {
  ENTER(hipStreamCreateWithFlags);
  if (stream == nullptr || flags > 1) return invalid_value;
  *stream = reinterpret_cast<void*>(++r.next_stream);
  r.streams.insert(*stream);
  return success;
}
EXPORTED hipStreamSynchronize(void* stream) {
  ENTER(hipStreamSynchronize);
  return stream == nullptr || r.streams.count(stream) > 0 ? success : invalid_handle;
}
EXPORTED hipEventCreateWithFlags(void** event, unsigned) {
  ENTER(hipEventCreateWithFlags);
  if (event == nullptr) return invalid_value;
  auto made = std::make_unique<RecordedEvent>();
  *event = made.get();
  r.events[*event] = std::move(made);
  return success;
}
EXPORTED hipEventDestroy(void* event) {
  ENTER(hipEventDestroy);
  return r.events.erase(event) > 0 ? success : invalid_handle;
}
EXPORTED hipEventRecord(void* event, void* stream) {
  ENTER(hipEventRecord);
  const auto found = r.events.find(event);
  if (found == r.events.end()) return invalid_handle;
  if (stream != nullptr && r.streams.count(stream) == 0) return invalid_handle;
  *found->second = {true, std::chrono::steady_clock::now()};
  return success;
}
EXPORTED hipEventElapsedTime(float* milliseconds, void* from, void* to) {
  ENTER(hipEventElapsedTime);
  if (milliseconds == nullptr) return invalid_value;
  const auto first = r.events.find(from), last = r.events.find(to);
  if (first == r.events.end() || last == r.events.end()) return invalid_handle;
  if (!first->second->recorded || !last->second->recorded) return invalid_handle;
  *milliseconds = std::chrono::duration<float, std::milli>(last->second->time - first->second->time).count();
  return success;
}
EXPORTED hipModuleLoadData(void** module, const void* image) {
  ENTER(hipModuleLoadData);
  if (module == nullptr || image == nullptr) return invalid_value;
  auto loaded = LoadedModule::load(image, r.state);
  if (loaded == nullptr) return invalid_image;
  *module = loaded.get();
  r.modules[*module] = std::move(loaded);
  return success;
}
EXPORTED hipModuleUnload(void* module) {
  ENTER(hipModuleUnload);
  return r.modules.erase(module) > 0 ? success : invalid_handle;
}
EXPORTED hipModuleGetFunction(void** function, void* module, const char* name) {
  ENTER(hipModuleGetFunction);
  if (function == nullptr || name == nullptr) return invalid_value;
  const auto found = r.modules.find(module);
  if (found == r.modules.end()) return invalid_handle;
  const KernelEntry* const kernel = found->second->kernel(name);
  *function = const_cast<KernelEntry*>(kernel);
  return kernel != nullptr ? success : not_found;
}
EXPORTED hipModuleGetGlobal(void** address, std::size_t* bytes, void* module, const char* name) {
  ENTER(hipModuleGetGlobal);
  if (address == nullptr || bytes == nullptr || name == nullptr) return invalid_value;
  const auto found = r.modules.find(module);
  if (found == r.modules.end()) return invalid_handle;
  const ModuleGlobal global = found->second->global(name);
  if (global.address == 0) return not_found;
  r.memory->add(global.address, global.bytes);
  *address = reinterpret_cast<void*>(global.address);
  *bytes = global.bytes;
  return success;
}
EXPORTED hipFuncGetAttribute(int* value, int attribute, void* function) {
  ENTER(hipFuncGetAttribute);
  if (value == nullptr || function == nullptr) return invalid_value;
  const auto& kernel = *static_cast<const KernelEntry*>(function);
  switch (attribute) {
    case 0:
      *value = static_cast<int>(kernel.launch_bound);
      return success;
    case 1:
      *value = static_cast<int>(kernel.static_shared);
      return success;
    case 2:
    case 3:
      *value = 0;
      return success;
    case 4:
      *value = 32;
      return success;
    case 8:
      *value = static_cast<int>(shared_limit - kernel.static_shared);
      return success;
    default:
      return invalid_value;
  }
}
EXPORTED hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* function, int threads,
                                                            std::size_t dynamic_bytes) {
  ENTER(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor);
  if (blocks == nullptr || function == nullptr || threads <= 0) return invalid_value;
  const auto& kernel = *static_cast<const KernelEntry*>(function);
  const std::size_t shared = kernel.static_shared + dynamic_bytes;
  const int by_threads = threads > 1024 ? 0 : 2048 / threads;
  const int by_shared = shared == 0 ? by_threads : static_cast<int>(shared_limit / shared);
  *blocks = by_threads < by_shared ? by_threads : by_shared;
  return success;
}
EXPORTED hipModuleLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                               unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                               void* stream, void** parameters, void** extra) {
  ENTER(hipModuleLaunchKernel);
  if (function == nullptr) return invalid_handle;
  if (extra != nullptr) return invalid_value;
  if (stream != nullptr && r.streams.count(stream) == 0) return invalid_handle;
  return r.launch(*static_cast<const KernelEntry*>(function), {grid_x, grid_y, grid_z},
                  {block_x, block_y, block_z}, shared_bytes, parameters);
}
/// What `kernel<<<...>>>(...)` of a library becomes that the stand-in of hipcc made.
EXPORTED kernelsearch_standin_launch(void (*call)(void**), const unsigned* grid, const unsigned* block,
                                     unsigned shared_bytes, void* stream, void** parameters, void* dynamic,
                                     State** state) {
  const auto launched = [&] {
    ENTER(hipLaunchKernel);
    if (stream != nullptr && r.streams.count(stream) == 0) return static_cast<int>(invalid_handle);
    KernelEntry kernel;
    kernel.call = call;
    kernel.warp = r.warp;
    kernel.dynamic_shared = static_cast<unsigned char*>(dynamic);
    *state = &r.state;
    return r.launch(kernel, {grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, shared_bytes,
                    parameters);
  };
  const int status = launched();
  if (status != success) last_error = status;
  return status;
}
EXPORTED hipGetLastError() {
  const std::lock_guard<std::recursive_mutex> lock(one_at_a_time());
  return std::exchange(last_error, success);
}
extern "C" __attribute__((visibility("default"))) const char* hipGetErrorString(int status) {
  return text_of(status);
}
EXPORTED hipDrvGetErrorString(int status, const char** text) {
  if (text == nullptr) return invalid_value;
  *text = text_of(status);
  return success;
}
