// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "kernelsearch/evaluator/gpu/gpu_backend.hpp"

/// The thin interface to a GPU: the functions of the CUDA driver or of the HIP runtime that the worker needs,
/// loaded when the program runs. Both libraries agree in parameters and, for what is used here, in error
/// numbers, so that everything above this header is written once.
namespace kernelsearch::detail::gpu {

using Status = int;  ///< 0 is success
using Address = std::uint64_t;
using Stream = void*;
using Event = void*;
using Module = void*;
using Function = void*;

/// Error numbers shared by both libraries.
enum : Status {
  not_launched = -1,  ///< ours, not theirs: a launch function says that it cannot launch this
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  no_device = 100,
  invalid_image = 200,
  no_binary = 209,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_out_of_resources = 701,
  launch_timeout = 702,
  device_assert = 710,
  hardware_stack = 714,
  illegal_instruction = 715,
  misaligned_address = 716,
  invalid_address_space = 717,
  invalid_program_counter = 718,
  launch_failed = 719,
  unsupported = 801,
  unknown_error = 999,
};

/// Names an allocation to other processes.
struct MemoryHandle {
  char reserved[64];
};

/// Attributes of devices and functions by their number in the library at hand; -1: not there.
struct AttributeNumbers {
  int multiprocessors, warp_size, clock_khz, memory_clock_khz, bus_bits, l2_bytes, shared_per_block,
      shared_per_block_optin, shared_per_multiprocessor, registers_per_multiprocessor,
      threads_per_multiprocessor, threads_per_block, major, minor, cluster_launch;
  int function_threads, function_shared, function_constant, function_local, function_registers,
      function_max_dynamic;
};

/// A launch with everything that one may have.
struct LaunchShape {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned cluster[3] = {0, 0, 0};  ///< 0: none
  unsigned shared_bytes = 0;
};

/// The loaded library; pointers that may be null say so.
struct Driver {
  GpuBackend backend = GpuBackend::cuda;
  std::string library;  ///< its path as found

  Status (*init)(unsigned) = nullptr;
  Status (*driver_version)(int*) = nullptr;
  Status (*device_count)(int*) = nullptr;
  Status (*device_get)(int*, int) = nullptr;
  Status (*device_name)(char*, int, int) = nullptr;
  Status (*device_attribute)(int*, int, int) = nullptr;
  Status (*device_pci)(char*, int, int) = nullptr;
  Status (*device_memory)(std::size_t*, int) = nullptr;
  Status (*context_retain)(void**, int) = nullptr;  ///< null with HIP
  Status (*context_use)(void*) = nullptr;           ///< null with HIP
  Status (*device_use)(int) = nullptr;              ///< null with CUDA
  Status (*synchronize)() = nullptr;
  Status (*memory_info)(std::size_t*, std::size_t*) = nullptr;
  Status (*allocate)(Address*, std::size_t) = nullptr;
  Status (*release)(Address) = nullptr;
  Status (*copy_in)(Address, const void*, std::size_t) = nullptr;
  Status (*copy_out)(void*, Address, std::size_t) = nullptr;
  Status (*copy_within)(Address, Address, std::size_t, Stream) = nullptr;
  Status (*set_bytes)(Address, unsigned char, std::size_t, Stream) = nullptr;
  Status (*pin)(void*, std::size_t, unsigned) = nullptr;
  Status (*unpin)(void*) = nullptr;
  /// Handles of device memory for other processes, by value 64 bytes; null where they are not to be had.
  Status (*share_memory)(MemoryHandle*, Address) = nullptr;
  Status (*open_memory)(Address*, MemoryHandle, unsigned) = nullptr;
  Status (*close_memory)(Address) = nullptr;
  Status (*stream_create)(Stream*, unsigned) = nullptr;
  Status (*stream_synchronize)(Stream) = nullptr;
  Status (*event_create)(Event*, unsigned) = nullptr;
  Status (*event_destroy)(Event) = nullptr;
  Status (*event_record)(Event, Stream) = nullptr;
  Status (*event_elapsed)(float*, Event, Event) = nullptr;
  Status (*module_load)(Module*, const void*) = nullptr;
  Status (*module_unload)(Module) = nullptr;
  Status (*module_function)(Function*, Module, const char*) = nullptr;
  Status (*module_global)(Address*, std::size_t*, Module, const char*) = nullptr;
  Status (*function_attribute)(int*, int, Function) = nullptr;
  Status (*function_set)(Function, int, int) = nullptr;  ///< null with HIP
  Status (*occupancy)(int*, Function, int, std::size_t) = nullptr;
  Status (*launch)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream,
                   void**, void**) = nullptr;
  Status (*launch_extended)(const void*, Function, void**, void**) = nullptr;  ///< null with HIP and old CUDA
  Status (*reset_persisting)() = nullptr;                                      ///< null with HIP
  Status (*error_name)(Status, const char**) = nullptr;                        ///< may be null
  Status (*error_text)(Status, const char**) = nullptr;                        ///< may be null
  Status (*encode_map)(void*, int, unsigned, Address, const std::uint64_t*, const std::uint64_t*,
                       const std::uint32_t*, const std::uint32_t*, int, int, int,
                       int) = nullptr;  ///< may be null
  AttributeNumbers numbers{};

  /// E.g. `CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered`.
  [[nodiscard]] std::string describe(Status status) const;
  /// Launches with clusters where asked.
  [[nodiscard]] Status launch_kernel(Function function, const LaunchShape& shape, Stream stream,
                                     void** parameters) const;
};

/// Loads the library (`KERNELSEARCH_CUDA_DRIVER`, `KERNELSEARCH_HIP_RUNTIME` name another file); null with
/// `problem` set where it is missing or lacks a function.
[[nodiscard]] std::unique_ptr<Driver> load_driver(GpuBackend backend, std::string& problem);

/// Whether after this error the context is lost and the process must be replaced.
[[nodiscard]] bool is_sticky(Status status) noexcept;

}  // namespace kernelsearch::detail::gpu
