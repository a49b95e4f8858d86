// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "kernelsearch/evaluator/gpu/gpu_backend.hpp"

/// The thin interface to a GPU: one table of functions. Those of the CUDA driver and of the HIP runtime stand
/// in it as they are, loaded when the program runs: both libraries agree in parameters and, for what is used
/// here, in error numbers. A library of another kind (OpenCL) fills the table with functions of ours, which
/// translate: its objects into addresses, its errors into `Status`. So everything above this header is
/// written once.
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
  device_unavailable = 46,  ///< it is there and cannot be used
  no_device = 100,
  invalid_device = 101,  ///< a number beyond the last device's
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
  int on_host = -1;            ///< 1: kernels run on the host's processors
  int function_multiple = -1;  ///< of which groups should be as large
  int platform = -1, number_in_platform = -1;
};

/// A launch with everything that one may have.
struct LaunchShape {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned cluster[3] = {0, 0, 0};  ///< 0: none
  unsigned shared_bytes = 0;
};

/// One parameter of a launch. Libraries with pointers take where its value lies, whatever it is; those with
/// buffers need to know which one an address belongs to.
struct LaunchParameter {
  enum class Kind : std::uint8_t {
    value,  ///< `bytes` bytes, which lie at `at`
    array,  ///< at `at` an Address: the beginning of an array of `bytes` bytes, a multiple of 512 past that of
            ///< its allocation
    place,  ///< at `at` an Address anywhere in an allocation, or 0; of kernels of our own (service_source) alone
    local,  ///< `bytes` bytes of a group's local memory; `at` is null. Not of libraries with pointers
  };
  Kind kind = Kind::value;
  void* at = nullptr;
  std::uint64_t bytes = 0;
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
  Status (*function_set)(Function, int, int) = nullptr;             ///< null with HIP
  Status (*occupancy)(int*, Function, int, std::size_t) = nullptr;  ///< may be null
  Status (*launch)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream,
                   void**, void**) = nullptr;
  /// In place of `launch`, of libraries with buffers; null with CUDA and HIP.
  Status (*launch_parameters)(Function, const LaunchShape&, std::span<const LaunchParameter>,
                              Stream) = nullptr;
  Status (*launch_extended)(const void*, Function, void**, void**) = nullptr;  ///< null with HIP and old CUDA
  Status (*reset_persisting)() = nullptr;                                      ///< null with HIP
  Status (*error_name)(Status, const char**) = nullptr;                        ///< may be null
  Status (*error_text)(Status, const char**) = nullptr;                        ///< may be null
  Status (*encode_map)(void*, int, unsigned, Address, const std::uint64_t*, const std::uint64_t*,
                       const std::uint32_t*, const std::uint32_t*, int, int, int,
                       int) = nullptr;  ///< may be null
  AttributeNumbers numbers{};
  /// Times of events are compared with those of the clock around each timed call, and charged where they do
  /// not agree: of libraries in whose process kernels run, or whose events nobody vouches for.
  bool checks_clock = false;

  /// E.g. `CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered`.
  [[nodiscard]] std::string describe(Status status) const;
  /// Launches with clusters where asked.
  [[nodiscard]] Status launch_kernel(Function function, const LaunchShape& shape, Stream stream,
                                     std::span<const LaunchParameter> parameters) const;
};

/// Loads the library (`KERNELSEARCH_CUDA_DRIVER`, `KERNELSEARCH_HIP_RUNTIME`, `KERNELSEARCH_OPENCL` name
/// another file); null with `problem` set where it is missing or lacks a function.
[[nodiscard]] std::unique_ptr<Driver> load_driver(GpuBackend backend, std::string& problem);

/// Whether after this error the context is lost and the process must be replaced.
[[nodiscard]] bool is_sticky(Status status) noexcept;

/// The table of functions over OpenCL. A process holds one device by it, the one last taken into use. What
/// the table calls addresses are numbers of ours, of which each range is a buffer: an array is passed to a
/// kernel as a part of that buffer, so that the guard zones around it are next to it. An event stands for the
/// commands between it and the next one, and the time between the two is that from the start of the first of
/// these commands to the end of the last. Null with `problem` set where the loader is missing.
[[nodiscard]] std::unique_ptr<Driver> load_opencl_driver(std::string& problem);

}  // namespace kernelsearch::detail::gpu
