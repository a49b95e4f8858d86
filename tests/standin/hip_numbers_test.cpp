// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The numbers and the signatures that the driver takes for granted, against AMD's own headers where they are.
#include "standin/support.hpp"

#if __has_include(<hip/hip_runtime_api.h>) && __has_include(<hip/hiprtc.h>)
#  define __HIP_PLATFORM_AMD__ 1
#  include <hip/hip_runtime_api.h>
#  include <hip/hiprtc.h>

#  include <type_traits>

using namespace standin_test;

namespace {

/// Whether a caller that takes a parameter for a `Here` passes what the library takes for a `There`: both are
/// whole numbers, enumerations or pointers of one size, or the same type.
template <class Here, class There>
constexpr bool same_register = std::is_same_v<Here, There> ||
                               (!std::is_floating_point_v<Here> && !std::is_floating_point_v<There> &&
                                sizeof(Here) == sizeof(There));
template <class Here, class There>
constexpr bool same_call = false;
template <class R, class... A, class S, class... B>
constexpr bool same_call<R (*)(A...), S (*)(B...)> = [] {
  if constexpr (sizeof...(A) != sizeof...(B))
    return false;
  else
    return same_register<R, S> && (same_register<A, B> && ...);
}();

#  define SAME_CALL(member, function) static_assert(same_call<decltype(Driver::member), decltype(&function)>)
SAME_CALL(init, hipInit);
SAME_CALL(driver_version, hipDriverGetVersion);
SAME_CALL(device_count, hipGetDeviceCount);
SAME_CALL(device_get, hipDeviceGet);
SAME_CALL(device_name, hipDeviceGetName);
SAME_CALL(device_attribute, hipDeviceGetAttribute);
SAME_CALL(device_pci, hipDeviceGetPCIBusId);
SAME_CALL(device_memory, hipDeviceTotalMem);
SAME_CALL(device_use, hipSetDevice);
SAME_CALL(synchronize, hipDeviceSynchronize);
SAME_CALL(memory_info, hipMemGetInfo);
// overloaded
using Malloc = decltype(static_cast<hipError_t (*)(void**, std::size_t)>(&hipMalloc));
static_assert(same_call<decltype(Driver::allocate), Malloc>);
SAME_CALL(release, hipFree);
SAME_CALL(copy_in, hipMemcpyHtoD);
SAME_CALL(copy_out, hipMemcpyDtoH);
SAME_CALL(copy_within, hipMemcpyDtoDAsync);
SAME_CALL(set_bytes, hipMemsetD8Async);
SAME_CALL(pin, hipHostRegister);
SAME_CALL(unpin, hipHostUnregister);
SAME_CALL(stream_create, hipStreamCreateWithFlags);
SAME_CALL(stream_synchronize, hipStreamSynchronize);
SAME_CALL(event_create, hipEventCreateWithFlags);
SAME_CALL(event_destroy, hipEventDestroy);
SAME_CALL(event_record, hipEventRecord);
SAME_CALL(event_elapsed, hipEventElapsedTime);
SAME_CALL(module_load, hipModuleLoadData);
SAME_CALL(module_unload, hipModuleUnload);
SAME_CALL(module_function, hipModuleGetFunction);
SAME_CALL(module_global, hipModuleGetGlobal);
SAME_CALL(function_attribute, hipFuncGetAttribute);
SAME_CALL(occupancy, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor);
SAME_CALL(launch, hipModuleLaunchKernel);

static_assert(int{hipSuccess} == success && int{hipErrorInvalidValue} == invalid_value &&
              int{hipErrorOutOfMemory} == out_of_memory && int{hipErrorNoDevice} == no_device &&
              int{hipErrorInvalidImage} == invalid_image && int{hipErrorNoBinaryForGpu} == no_binary &&
              int{hipErrorNotFound} == not_found && int{hipErrorNotReady} == not_ready &&
              int{hipErrorIllegalAddress} == illegal_address &&
              int{hipErrorLaunchOutOfResources} == launch_out_of_resources &&
              int{hipErrorLaunchTimeOut} == launch_timeout && int{hipErrorAssert} == device_assert &&
              int{hipErrorLaunchFailure} == launch_failed && int{hipErrorNotSupported} == unsupported &&
              int{hipErrorUnknown} == unknown_error);
static_assert(int{HIPRTC_SUCCESS} == 0);

}  // namespace

TEST_CASE("driver: HIP's attribute numbers are those of AMD's header") {
  StandIn standin;
  const AttributeNumbers& n = standin.driver->numbers;
  CHECK(n.multiprocessors == hipDeviceAttributeMultiprocessorCount);
  CHECK(n.warp_size == hipDeviceAttributeWarpSize);
  CHECK(n.clock_khz == hipDeviceAttributeClockRate);
  CHECK(n.memory_clock_khz == hipDeviceAttributeMemoryClockRate);
  CHECK(n.bus_bits == hipDeviceAttributeMemoryBusWidth);
  CHECK(n.l2_bytes == hipDeviceAttributeL2CacheSize);
  CHECK(n.shared_per_block == hipDeviceAttributeMaxSharedMemoryPerBlock);
  CHECK(n.shared_per_block_optin == hipDeviceAttributeMaxSharedMemoryPerBlock);
  CHECK(n.shared_per_multiprocessor == hipDeviceAttributeMaxSharedMemoryPerMultiprocessor);
  CHECK(n.registers_per_multiprocessor == hipDeviceAttributeMaxRegistersPerBlock);
  CHECK(n.threads_per_multiprocessor == hipDeviceAttributeMaxThreadsPerMultiProcessor);
  CHECK(n.threads_per_block == hipDeviceAttributeMaxThreadsPerBlock);
  CHECK(n.major == hipDeviceAttributeComputeCapabilityMajor);
  CHECK(n.minor == hipDeviceAttributeComputeCapabilityMinor);
  CHECK(n.cluster_launch == -1);
  CHECK(n.function_threads == HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  CHECK(n.function_shared == HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  CHECK(n.function_constant == HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
  CHECK(n.function_local == HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  CHECK(n.function_registers == HIP_FUNC_ATTRIBUTE_NUM_REGS);
  CHECK(n.function_max_dynamic == HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
}

#else

TEST_CASE("driver: HIP's attribute numbers are those of AMD's header") {
  MESSAGE("skipped: no HIP headers (Debian's package libamdhip64-dev, or ROCm)");
}

#endif
