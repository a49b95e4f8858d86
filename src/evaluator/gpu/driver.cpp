// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/driver.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "evaluator/gpu/library.hpp"
#include "evaluator/gpu/vulkan_driver.hpp"

namespace kernelsearch::detail::gpu {
namespace {

// CUdevice_attribute and CUfunction_attribute of CUDA 12 and 13; their numbers never change.
constexpr AttributeNumbers cuda_numbers{16, 10, 13, 36,  37, 38, 8, 97, 81, 82, 39,
                                        1,  75, 76, 120, 0,  1,  2, 3,  4,  8};
// hipDeviceAttribute_t (ROCm 5 to 7: names went, places stayed) and hipFunction_attribute. For what a runtime
// of ROCm 5 does not answer, such as shared memory per multiprocessor under CUDA's name, AMD's own attribute
// (10000 and up) or the one of a block, which is the same on its devices.
constexpr AttributeNumbers hip_numbers{63, 87, 5,  60, 59, 19, 74, 74, 10002, 71, 57,
                                       56, 23, 61, -1, 0,  1,  2,  3,  4,     8};

struct Symbol {
  const char* cuda;
  const char* hip;  ///< null: not there
  bool needed;
};

template <class F>
bool bind_symbol(const Library& library, GpuBackend backend, const Symbol& symbol, F& function,
                 std::string& problem) {
  const char* name = backend == GpuBackend::cuda ? symbol.cuda : symbol.hip;
  if (name == nullptr) return true;
  if (library.find(name, function) || !symbol.needed) return true;
  problem = library.path() + " lacks " + name + ": it is too old";
  return false;
}

// CUlaunchConfig and CUlaunchAttribute as the driver reads them.
struct LaunchAttribute {
  std::uint32_t id = 4;  // CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
  std::uint32_t pad = 0;
  std::uint32_t cluster[3] = {1, 1, 1};
  char rest[52] = {};
};
struct LaunchConfig {
  unsigned grid[3], block[3], shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

}  // namespace

std::unique_ptr<Driver> load_driver(GpuBackend backend, std::string& problem) {
  if (backend == GpuBackend::opencl) return load_opencl_driver(problem);
  if (backend == GpuBackend::vulkan) return load_vulkan_driver(problem);
  const bool cuda = backend == GpuBackend::cuda;
  Library library = cuda ? Library::open({std::getenv("KERNELSEARCH_CUDA_DRIVER"), "libcuda.so.1"}, problem)
                         : Library::open({std::getenv("KERNELSEARCH_HIP_RUNTIME"), "libamdhip64.so.7",
                                          "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"},
                                         problem);
  if (!library) return nullptr;
  auto driver = std::make_unique<Driver>();
  Driver& d = *driver;
  d.backend = backend;
  d.library = library.path();
  d.numbers = cuda ? cuda_numbers : hip_numbers;
  const auto get = [&](Symbol symbol, auto& function) {
    return bind_symbol(library, backend, symbol, function, problem);
  };
  const bool all = get({"cuInit", "hipInit", true}, d.init) &&
                   get({"cuDriverGetVersion", "hipDriverGetVersion", true}, d.driver_version) &&
                   get({"cuDeviceGetCount", "hipGetDeviceCount", true}, d.device_count) &&
                   get({"cuDeviceGet", "hipDeviceGet", true}, d.device_get) &&
                   get({"cuDeviceGetName", "hipDeviceGetName", true}, d.device_name) &&
                   get({"cuDeviceGetAttribute", "hipDeviceGetAttribute", true}, d.device_attribute) &&
                   get({"cuDeviceGetPCIBusId", "hipDeviceGetPCIBusId", false}, d.device_pci) &&
                   get({"cuDeviceTotalMem_v2", "hipDeviceTotalMem", true}, d.device_memory) &&
                   get({"cuDevicePrimaryCtxRetain", nullptr, true}, d.context_retain) &&
                   get({"cuCtxSetCurrent", nullptr, true}, d.context_use) &&
                   get({nullptr, "hipSetDevice", true}, d.device_use) &&
                   get({"cuCtxSynchronize", "hipDeviceSynchronize", true}, d.synchronize) &&
                   get({"cuMemGetInfo_v2", "hipMemGetInfo", true}, d.memory_info) &&
                   get({"cuMemAlloc_v2", "hipMalloc", true}, d.allocate) &&
                   get({"cuMemFree_v2", "hipFree", true}, d.release) &&
                   get({"cuMemcpyHtoD_v2", "hipMemcpyHtoD", true}, d.copy_in) &&
                   get({"cuMemcpyDtoH_v2", "hipMemcpyDtoH", true}, d.copy_out) &&
                   get({"cuMemcpyDtoDAsync_v2", "hipMemcpyDtoDAsync", true}, d.copy_within) &&
                   get({"cuMemsetD8Async", "hipMemsetD8Async", true}, d.set_bytes) &&
                   get({"cuMemHostRegister_v2", "hipHostRegister", true}, d.pin) &&
                   get({"cuMemHostUnregister", "hipHostUnregister", true}, d.unpin) &&
                   get({"cuIpcGetMemHandle", "hipIpcGetMemHandle", false}, d.share_memory) &&
                   get({"cuIpcOpenMemHandle_v2", "hipIpcOpenMemHandle", false}, d.open_memory) &&
                   get({"cuIpcCloseMemHandle", "hipIpcCloseMemHandle", false}, d.close_memory) &&
                   get({"cuStreamCreate", "hipStreamCreateWithFlags", true}, d.stream_create) &&
                   get({"cuStreamSynchronize", "hipStreamSynchronize", true}, d.stream_synchronize) &&
                   get({"cuEventCreate", "hipEventCreateWithFlags", true}, d.event_create) &&
                   get({"cuEventDestroy_v2", "hipEventDestroy", true}, d.event_destroy) &&
                   get({"cuEventRecord", "hipEventRecord", true}, d.event_record) &&
                   get({"cuEventElapsedTime", "hipEventElapsedTime", true}, d.event_elapsed) &&
                   get({"cuModuleLoadData", "hipModuleLoadData", true}, d.module_load) &&
                   get({"cuModuleUnload", "hipModuleUnload", true}, d.module_unload) &&
                   get({"cuModuleGetFunction", "hipModuleGetFunction", true}, d.module_function) &&
                   get({"cuModuleGetGlobal_v2", "hipModuleGetGlobal", true}, d.module_global) &&
                   get({"cuFuncGetAttribute", "hipFuncGetAttribute", true}, d.function_attribute) &&
                   get({"cuFuncSetAttribute", nullptr, true}, d.function_set) &&
                   get({"cuOccupancyMaxActiveBlocksPerMultiprocessor",
                        "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", true},
                       d.occupancy) &&
                   get({"cuLaunchKernel", "hipModuleLaunchKernel", true}, d.launch) &&
                   get({"cuLaunchKernelEx", nullptr, false}, d.launch_extended) &&
                   get({"cuCtxResetPersistingL2Cache", nullptr, false}, d.reset_persisting) &&
                   get({"cuGetErrorName", nullptr, false}, d.error_name) &&
                   get({"cuGetErrorString", "hipDrvGetErrorString", false}, d.error_text) &&
                   get({"cuTensorMapEncodeTiled", nullptr, false}, d.encode_map);
  if (!all) return nullptr;
  library.keep();
  return driver;
}

std::string Driver::describe(Status status) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (error_name != nullptr) (void)error_name(status, &name);
  if (error_text != nullptr) (void)error_text(status, &text);
  std::string out = name != nullptr ? name : std::string(to_string(backend)) + " error";
  out += " (" + std::to_string(status) + ")";
  if (text != nullptr) out += std::string(": ") + text;
  return out;
}

Status Driver::launch_kernel(Function function, const LaunchShape& s, Stream stream,
                             std::span<const LaunchParameter> parameters) const {
  if (launch_parameters != nullptr) return launch_parameters(function, s, parameters, stream);
  std::vector<void*> places;
  for (const LaunchParameter& parameter : parameters) {
    if (parameter.kind == LaunchParameter::Kind::local) return unsupported;
    places.push_back(parameter.at);
  }
  if (s.cluster[0] == 0)
    return launch(function, s.grid[0], s.grid[1], s.grid[2], s.block[0], s.block[1], s.block[2],
                  s.shared_bytes, stream, places.data(), nullptr);
  if (launch_extended == nullptr) return unsupported;
  LaunchAttribute cluster;
  for (int i = 0; i < 3; ++i) cluster.cluster[i] = s.cluster[i];
  const LaunchConfig config{{s.grid[0], s.grid[1], s.grid[2]},
                            {s.block[0], s.block[1], s.block[2]},
                            s.shared_bytes,
                            stream,
                            &cluster,
                            1};
  return launch_extended(&config, function, places.data(), nullptr);
}

bool is_sticky(Status status) noexcept {
  return (status >= illegal_address && status != launch_out_of_resources && status < 720) ||
         status == unknown_error || status == 214 || status == 220 || status == 226;
}

}  // namespace kernelsearch::detail::gpu
