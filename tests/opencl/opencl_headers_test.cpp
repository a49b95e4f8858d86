// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The declarations of OpenCL against Khronos's own headers, where those are installed (scripts/test.sh does).
#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <type_traits>

#include "evaluator/gpu/opencl_api.hpp"

#if __has_include(<CL/cl_ext.h>)
#  define CL_TARGET_OPENCL_VERSION 300
#  include <CL/cl.h>
#  include <CL/cl_ext.h>

namespace {

namespace cl = kernelsearch::detail::gpu::cl;

static_assert(std::is_same_v<cl::Int, cl_int> && std::is_same_v<cl::Uint, cl_uint>);
static_assert(sizeof(cl::Ulong) == sizeof(cl_ulong) && sizeof(cl::Ulong) == sizeof(cl_bitfield));
static_assert(sizeof(cl::Device) == sizeof(cl_device_id));
static_assert(sizeof(cl::Region) == sizeof(cl_buffer_region));
static_assert(offsetof(cl::Region, origin) == offsetof(cl_buffer_region, origin));
static_assert(offsetof(cl::Region, bytes) == offsetof(cl_buffer_region, size));
static_assert(cl::platform_version == CL_PLATFORM_VERSION && cl::platform_name == CL_PLATFORM_NAME);
static_assert(cl::device_type == CL_DEVICE_TYPE && cl::device_name == CL_DEVICE_NAME);
static_assert(cl::device_compute_units == CL_DEVICE_MAX_COMPUTE_UNITS);
static_assert(cl::device_work_group == CL_DEVICE_MAX_WORK_GROUP_SIZE);
static_assert(cl::device_clock_mhz == CL_DEVICE_MAX_CLOCK_FREQUENCY);
static_assert(cl::device_base_alignment_bits == CL_DEVICE_MEM_BASE_ADDR_ALIGN);
static_assert(cl::device_cache_bytes == CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
static_assert(cl::device_memory_bytes == CL_DEVICE_GLOBAL_MEM_SIZE);
static_assert(cl::device_local_bytes == CL_DEVICE_LOCAL_MEM_SIZE);
static_assert(cl::driver_version == CL_DRIVER_VERSION && cl::device_extensions == CL_DEVICE_EXTENSIONS);
static_assert(cl::device_preferred_multiple == CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE);
static_assert(cl::device_major_nv == CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV);
static_assert(cl::device_minor_nv == CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV);
static_assert(cl::device_warp_nv == CL_DEVICE_WARP_SIZE_NV);
// The headers lack NVIDIA's numbers of PCI places (0x4008 to 0x400a), which its driver answers.
static_assert(cl::program_binary_sizes == CL_PROGRAM_BINARY_SIZES);
static_assert(cl::program_binaries == CL_PROGRAM_BINARIES && cl::build_log == CL_PROGRAM_BUILD_LOG);
static_assert(cl::kernel_parameters == CL_KERNEL_NUM_ARGS);
static_assert(cl::parameter_type == CL_KERNEL_ARG_TYPE_NAME);
static_assert(cl::kernel_work_group == CL_KERNEL_WORK_GROUP_SIZE);
static_assert(cl::kernel_local_bytes == CL_KERNEL_LOCAL_MEM_SIZE);
static_assert(cl::kernel_preferred_multiple == CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE);
static_assert(cl::kernel_private_bytes == CL_KERNEL_PRIVATE_MEM_SIZE);
static_assert(cl::event_status == CL_EVENT_COMMAND_EXECUTION_STATUS);
static_assert(cl::command_start == CL_PROFILING_COMMAND_START);
static_assert(cl::command_end == CL_PROFILING_COMMAND_END && cl::region == CL_BUFFER_CREATE_TYPE_REGION);
static_assert(cl::type_cpu == CL_DEVICE_TYPE_CPU && cl::type_all == CL_DEVICE_TYPE_ALL);
static_assert(cl::queue_profiling == CL_QUEUE_PROFILING_ENABLE && cl::read_write == CL_MEM_READ_WRITE);
static_assert(cl::use_host_pointer == CL_MEM_USE_HOST_PTR);

}  // namespace

#  define KERNELSEARCH_SAME(error) \
    CHECK(kernelsearch::detail::gpu::opencl_error(error) == #error " (" + std::to_string(error) + ")")

TEST_CASE("OpenCL: errors have the names of the headers") {
  KERNELSEARCH_SAME(CL_DEVICE_NOT_FOUND);
  KERNELSEARCH_SAME(CL_OUT_OF_RESOURCES);
  KERNELSEARCH_SAME(CL_BUILD_PROGRAM_FAILURE);
  KERNELSEARCH_SAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  KERNELSEARCH_SAME(CL_INVALID_VALUE);
  KERNELSEARCH_SAME(CL_INVALID_KERNEL_NAME);
  KERNELSEARCH_SAME(CL_INVALID_ARG_SIZE);
  KERNELSEARCH_SAME(CL_INVALID_WORK_GROUP_SIZE);
}
#endif
