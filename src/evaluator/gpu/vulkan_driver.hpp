// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "evaluator/gpu/driver.hpp"

namespace kernelsearch::detail::gpu {

/// Vulkan behind the table of driver functions. What differs from a driver with pointers:
///
/// * An `Address` is a place in a range of numbers of ours; buffers of Vulkan lie in it one after another
///   with gaps, and the allocations in them as in an arena, at multiples of 4096. `launch` binds what follows
///   an address as a storage buffer.
/// * A module is an image of shaders (vulkan_image.hpp), with what each parameter is bound to.
/// * One queue and one stream: commands are recorded, in order and with a barrier between those that touch
///   memory, and submitted when someone waits.
/// * An event is a timestamp. A submission that its timestamps say took longer than the clock outside has
///   `event_elapsed` fail, and a device whose timestamps run slower than the clock outside cannot be used.
/// * One device a process; not for several threads.
///
/// Null with `problem` set where the loader (`libvulkan.so.1`, or what `KERNELSEARCH_VULKAN_LOADER` names) is
/// missing or has no Vulkan 1.1.
[[nodiscard]] std::unique_ptr<Driver> load_vulkan_driver(std::string& problem);

/// Device attributes by the numbers that the table's `numbers` has.
enum VulkanAttribute : int {
  vulkan_multiprocessors = 1,
  vulkan_subgroup_size,
  vulkan_cache_bytes,
  vulkan_shared_bytes,
  vulkan_group_invocations,
  vulkan_major,
  vulkan_minor,
  vulkan_on_host,
};

/// Whether timestamps fit the clock outside: what they say took so long, for something that took `outside`
/// seconds by the processor's clock, submitting and waiting included.
[[nodiscard]] constexpr bool timestamps_possible(double stamped, double outside) noexcept {
  return stamped >= 0 && stamped <= 1.02 * outside + 50e-6;
}
/// The same for work without pauses that takes some ten milliseconds: they must not run slower either.
[[nodiscard]] constexpr bool timestamps_agree(double stamped, double outside) noexcept {
  return timestamps_possible(stamped, outside) && stamped >= 0.5 * outside;
}

}  // namespace kernelsearch::detail::gpu
