// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kernelsearch::detail::gpu {

/// The functions and numbers of OpenCL 1.2 (The OpenCL Specification, version 1.2, and its headers, whose
/// numbers never change) that are used here, so that nothing of OpenCL is needed to build.
namespace cl {

using Int = std::int32_t;
using Uint = std::uint32_t;
using Ulong = std::uint64_t;
using Platform = void*;
using Device = void*;
using Context = void*;
using Queue = void*;
using Memory = void*;
using Program = void*;
using Kernel = void*;
using Event = void*;

struct Region {  ///< cl_buffer_region
  std::size_t origin = 0, bytes = 0;
};

enum : Uint {
  platform_version = 0x0901,
  platform_name = 0x0902,
  device_type = 0x1000,
  device_compute_units = 0x1002,
  device_work_group = 0x1004,
  device_clock_mhz = 0x100c,
  device_base_alignment_bits = 0x1019,
  device_cache_bytes = 0x101e,
  device_memory_bytes = 0x101f,
  device_local_bytes = 0x1023,
  device_name = 0x102b,
  driver_version = 0x102d,
  device_extensions = 0x1030,
  device_preferred_multiple = 0x1067,  // from 3.0 on
  device_major_nv = 0x4000,
  device_minor_nv = 0x4001,
  device_warp_nv = 0x4003,
  device_pci_bus_nv = 0x4008,
  device_pci_slot_nv = 0x4009,
  device_pci_domain_nv = 0x400a,
  program_binary_sizes = 0x1165,
  program_binaries = 0x1166,
  build_log = 0x1183,
  kernel_parameters = 0x1191,
  parameter_type = 0x1198,
  kernel_work_group = 0x11b0,
  kernel_local_bytes = 0x11b2,
  kernel_preferred_multiple = 0x11b3,
  kernel_private_bytes = 0x11b4,
  event_status = 0x11d3,
  command_start = 0x1282,
  command_end = 0x1283,
  region = 0x1220,
};
inline constexpr Ulong type_cpu = 2, type_all = 0xffffffff, queue_profiling = 2, read_write = 1,
                       use_host_pointer = 8;

}  // namespace cl

struct OpenClApi {
  std::string library;  ///< its path as found
  cl::Int (*platforms)(cl::Uint, cl::Platform*, cl::Uint*) = nullptr;
  cl::Int (*platform_info)(cl::Platform, cl::Uint, std::size_t, void*, std::size_t*) = nullptr;
  cl::Int (*devices)(cl::Platform, cl::Ulong, cl::Uint, cl::Device*, cl::Uint*) = nullptr;
  cl::Int (*device_info)(cl::Device, cl::Uint, std::size_t, void*, std::size_t*) = nullptr;
  cl::Context (*create_context)(const std::intptr_t*, cl::Uint, const cl::Device*, void*, void*,
                                cl::Int*) = nullptr;
  cl::Queue (*create_queue)(cl::Context, cl::Device, cl::Ulong, cl::Int*) = nullptr;
  cl::Memory (*create_buffer)(cl::Context, cl::Ulong, std::size_t, void*, cl::Int*) = nullptr;
  cl::Memory (*create_part)(cl::Memory, cl::Ulong, cl::Uint, const void*, cl::Int*) = nullptr;
  cl::Int (*release_memory)(cl::Memory) = nullptr;
  cl::Program (*create_program)(cl::Context, cl::Uint, const char**, const std::size_t*, cl::Int*) = nullptr;
  cl::Program (*load_program)(cl::Context, cl::Uint, const cl::Device*, const std::size_t*,
                              const unsigned char**, cl::Int*, cl::Int*) = nullptr;
  cl::Int (*build)(cl::Program, cl::Uint, const cl::Device*, const char*, void*, void*) = nullptr;
  cl::Int (*program_info)(cl::Program, cl::Uint, std::size_t, void*, std::size_t*) = nullptr;
  cl::Int (*build_info)(cl::Program, cl::Device, cl::Uint, std::size_t, void*, std::size_t*) = nullptr;
  cl::Int (*release_program)(cl::Program) = nullptr;
  cl::Kernel (*create_kernel)(cl::Program, const char*, cl::Int*) = nullptr;
  cl::Int (*release_kernel)(cl::Kernel) = nullptr;
  cl::Int (*set_parameter)(cl::Kernel, cl::Uint, std::size_t, const void*) = nullptr;
  cl::Int (*kernel_info)(cl::Kernel, cl::Uint, std::size_t, void*, std::size_t*) = nullptr;
  cl::Int (*kernel_on_device)(cl::Kernel, cl::Device, cl::Uint, std::size_t, void*, std::size_t*) = nullptr;
  cl::Int (*parameter_info)(cl::Kernel, cl::Uint, cl::Uint, std::size_t, void*, std::size_t*) = nullptr;
  cl::Int (*launch)(cl::Queue, cl::Kernel, cl::Uint, const std::size_t*, const std::size_t*,
                    const std::size_t*, cl::Uint, const cl::Event*, cl::Event*) = nullptr;
  cl::Int (*read)(cl::Queue, cl::Memory, cl::Uint, std::size_t, std::size_t, void*, cl::Uint,
                  const cl::Event*, cl::Event*) = nullptr;
  cl::Int (*write)(cl::Queue, cl::Memory, cl::Uint, std::size_t, std::size_t, const void*, cl::Uint,
                   const cl::Event*, cl::Event*) = nullptr;
  cl::Int (*copy)(cl::Queue, cl::Memory, cl::Memory, std::size_t, std::size_t, std::size_t, cl::Uint,
                  const cl::Event*, cl::Event*) = nullptr;
  cl::Int (*fill)(cl::Queue, cl::Memory, const void*, std::size_t, std::size_t, std::size_t, cl::Uint,
                  const cl::Event*, cl::Event*) = nullptr;
  cl::Int (*finish)(cl::Queue) = nullptr;
  cl::Int (*event_info)(cl::Event, cl::Uint, std::size_t, void*, std::size_t*) = nullptr;
  cl::Int (*event_time)(cl::Event, cl::Uint, std::size_t, void*, std::size_t*) = nullptr;
  cl::Int (*release_event)(cl::Event) = nullptr;

  [[nodiscard]] std::string text(cl::Platform platform, cl::Uint what) const;
  [[nodiscard]] std::string device_text(cl::Device device, cl::Uint what) const;
  /// 0 where the device does not say.
  [[nodiscard]] std::uint64_t device_number(cl::Device device, cl::Uint what) const;
};

/// A device with its platform; devices are counted platform after platform.
struct OpenClDevice {
  cl::Platform platform = nullptr;
  cl::Device device = nullptr;
  int platform_number = 0, number = 0;  ///< of the platform; within it
};

/// Loads the loader of OpenCL (`KERNELSEARCH_OPENCL` names another file than libOpenCL.so.1); null with
/// `problem` set where it is missing or lacks a function.
[[nodiscard]] std::unique_ptr<OpenClApi> load_opencl(std::string& problem);

/// The devices of all platforms.
[[nodiscard]] std::vector<OpenClDevice> opencl_devices(const OpenClApi& api);

/// What to install where there is no platform.
[[nodiscard]] std::string opencl_advice();

/// E.g. `CL_INVALID_WORK_GROUP_SIZE (-54)`.
[[nodiscard]] std::string opencl_error(cl::Int error);

/// `name (platform version)`, by which results are compared.
[[nodiscard]] std::string opencl_device_name(const OpenClApi& api, const OpenClDevice& device);

}  // namespace kernelsearch::detail::gpu
