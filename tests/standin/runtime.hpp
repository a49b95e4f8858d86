// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "block_runner.hpp"
#include "device_memory.hpp"
#include "injection.hpp"
#include "loaded_module.hpp"

namespace kernelsearch_standin {

/// hipError_t, as far as the stand-in gives them.
enum Error : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  no_device = 100,
  invalid_device = 101,
  invalid_image = 200,
  invalid_handle = 400,
  not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  already_registered = 712,
  not_registered = 713,
  launch_failure = 719,
};

struct RecordedEvent {
  bool recorded = false;
  std::chrono::steady_clock::time_point time{};
};

/// Held during every call.
std::recursive_mutex& one_at_a_time();

/// Everything that the stand-in of the HIP runtime knows; one per process. Used with `one_at_a_time` held.
///
/// Environment: `KERNELSEARCH_STANDIN_DEVICES` (1), `_WARP` (64; 32), `_MEMORY` (bytes of a device, 4 GiB),
/// `_ORDER` (forward; reverse or shuffle: in which order threads take turns), `_FAIL` (see Injection),
/// `_FAULT` (error; `abort`: a memory fault ends the process, as ROCm does unless told otherwise).
class Runtime {
 public:
  static Runtime& instance();
  /// Forgets everything, so that the next call reads the environment again; not while a call is under way.
  static void reset();

  /// Begins a call: the sticky error or a planned one, else 0.
  [[nodiscard]] int enter(const char* function);
  [[nodiscard]] int launch(const KernelEntry& kernel, Index grid, Index block, unsigned dynamic_bytes,
                           void** parameters);
  [[nodiscard]] bool is_device(int device) const { return device >= 0 && device < devices; }

  int devices = 1;
  unsigned warp = 64;
  Order order = Order::forward;
  bool fault_aborts = false;
  int sticky = 0;
  State state{};
  Injection injection;
  std::unique_ptr<DeviceMemory> memory;
  BlockRunner runner{state};
  std::map<void*, std::unique_ptr<LoadedModule>> modules;
  std::map<void*, std::unique_ptr<RecordedEvent>> events;
  std::set<void*> streams;
  std::set<void*> pinned;
  std::uintptr_t next_stream = 0;

 private:
  Runtime();
};

}  // namespace kernelsearch_standin
