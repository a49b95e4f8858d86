// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Taking one of the devices for the process: its queue, its features, and what commands need.
#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "evaluator/gpu/vulkan_context.hpp"

namespace kernelsearch::detail::gpu::vulkan_table {

Status Context::use(int number) {
  if (broken_ != success) return refused(broken_, broken_text_);
  if (number == device_number_) return success;
  if (device_ != nullptr) return refused(unsupported, "the process has another device already");
  if (properties(number) == nullptr) return refused(no_device, "there is no such device");
  // A device that was made and lacks something is as good as none.
  const Status status = make_device(number);
  return status == success || device_ == nullptr ? status : broken(status);
}

Status Context::make_device(int number) {
  const vk::PhysicalDevice physical = devices_[static_cast<std::size_t>(number)];
  std::uint32_t count = 0;
  api.GetPhysicalDeviceQueueFamilyProperties(physical, &count, nullptr);
  std::vector<vk::QueueFamilyProperties> families(count);
  api.GetPhysicalDeviceQueueFamilyProperties(physical, &count, families.data());
  std::optional<std::uint32_t> family;
  for (std::uint32_t f = 0; f < count; ++f) {
    if ((families[f].queueFlags & vk::queue_compute) == 0 || families[f].timestampValidBits == 0) continue;
    // One that only computes shares its queue with no display.
    const bool computes_alone = (families[f].queueFlags & vk::queue_graphics) == 0;
    if (!family || computes_alone) family = f;
    if (computes_alone) break;
  }
  if (!family) return refused(no_device, "the device has no queue for compute with timestamps");
  valid_bits_ = families[*family].timestampValidBits;

  vk::PhysicalDeviceShaderFloat16Int8Features narrow;
  vk::PhysicalDevice8BitStorageFeatures storage8;
  vk::PhysicalDevice16BitStorageFeatures storage16;
  vk::PhysicalDeviceFeatures2 features;
  // Structures of extensions that a device does not know stay as they are: without a feature.
  features.pNext = &storage16;
  storage16.pNext = &storage8;
  storage8.pNext = &narrow;
  api.GetPhysicalDeviceFeatures2(physical, &features);
  const vk::PhysicalDeviceFeatures& f = features.features;
  if (f.shaderInt64 == 0 || f.shaderFloat64 == 0)
    return refused(unsupported,
                   "shaders of this device have no 64-bit integers or no double precision, with which "
                   "candidates are judged");
  count = 0;
  std::vector<vk::ExtensionProperties> extensions;
  vk::Result listed = api.EnumerateDeviceExtensionProperties(physical, nullptr, &count, nullptr);
  if (listed >= 0) {
    extensions.resize(count);
    listed = api.EnumerateDeviceExtensionProperties(physical, nullptr, &count, extensions.data());
  }
  if (listed < 0) return failed(listed, "listing what the device can");
  std::vector<const char*> wanted;
  const auto has = [&](const char* name) {
    const bool there = std::any_of(extensions.begin(), extensions.end(), [&](const auto& extension) {
      return std::strcmp(extension.extensionName, name) == 0;
    });
    if (there) wanted.push_back(name);
    return there;
  };
  const bool has_storage8 = has("VK_KHR_8bit_storage") && storage8.storageBuffer8BitAccess != 0;
  const bool has_narrow = has("VK_KHR_shader_float16_int8");
  has_ = {
      f.shaderFloat64 != 0, has_narrow && narrow.shaderFloat16 != 0, f.shaderInt64 != 0,
      f.shaderInt16 != 0,   has_narrow && narrow.shaderInt8 != 0,    storage16.storageBuffer16BitAccess != 0,
      has_storage8};
  // What is asked for: the widths of numbers. Nothing else: without robustBufferAccess, as candidates are
  // used.
  vk::PhysicalDeviceShaderFloat16Int8Features ask_narrow;
  ask_narrow.shaderFloat16 = has_.float16 ? 1 : 0;
  ask_narrow.shaderInt8 = has_.int8 ? 1 : 0;
  vk::PhysicalDevice8BitStorageFeatures ask8;
  ask8.storageBuffer8BitAccess = has_storage8 ? 1 : 0;
  ask8.uniformAndStorageBuffer8BitAccess = has_storage8 ? storage8.uniformAndStorageBuffer8BitAccess : 0;
  vk::PhysicalDevice16BitStorageFeatures ask16;
  ask16.storageBuffer16BitAccess = has_.storage16 ? 1 : 0;
  ask16.uniformAndStorageBuffer16BitAccess =
      has_.storage16 ? storage16.uniformAndStorageBuffer16BitAccess : 0;
  vk::PhysicalDeviceFeatures2 ask;
  ask.features.shaderFloat64 = 1;
  ask.features.shaderInt64 = 1;
  ask.features.shaderInt16 = has_.int16 ? 1 : 0;
  ask.pNext = &ask16;
  void** last = &ask16.pNext;
  if (has_storage8) *last = &ask8, last = &ask8.pNext;
  if (has_narrow) *last = &ask_narrow;
  const float priority = 1;
  vk::DeviceQueueCreateInfo queue;
  queue.queueFamilyIndex = *family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  vk::DeviceCreateInfo info;
  info.pNext = &ask;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = static_cast<std::uint32_t>(wanted.size());
  info.ppEnabledExtensionNames = wanted.data();
  if (const auto result = api.CreateDevice(physical, &info, nullptr, &device_); result < 0) {
    device_ = nullptr;
    return failed(result, "making the device");
  }
  const char* missing = nullptr;
  const auto get = [&](const char* name, auto& function) {
    const vk::Function found = api.GetDeviceProcAddr(device_, name);
    std::memcpy(&function, &found, sizeof found);
    if (found == nullptr && missing == nullptr) missing = name;
  };
#define KERNELSEARCH_GET(result, name, parameters) get("vk" #name, api.name);
  KERNELSEARCH_VULKAN_DEVICE_FUNCTIONS(KERNELSEARCH_GET)
#undef KERNELSEARCH_GET
  if (missing != nullptr) return refused(no_device, std::string("the driver lacks ") + missing);
  device_number_ = number;
  api.GetPhysicalDeviceMemoryProperties(physical, &memory_);
  api.GetDeviceQueue(device_, *family, 0, &queue_);
  if (const Status status = make_tools(*family); status != success) return status;
  return calibrate();
}

/// What commands need: where they are recorded, a fence, timestamps, memory that copies go through.
Status Context::make_tools(std::uint32_t family) {
  vk::CommandPoolCreateInfo pool;
  pool.flags = vk::command_pool_resets;
  pool.queueFamilyIndex = family;
  if (const auto result = api.CreateCommandPool(device_, &pool, nullptr, &commands_pool_); result < 0)
    return failed(result, "making a pool of commands");
  vk::CommandBufferAllocateInfo commands;
  commands.commandPool = commands_pool_;
  commands.commandBufferCount = 1;
  if (const auto result = api.AllocateCommandBuffers(device_, &commands, &commands_); result < 0)
    return failed(result, "making a list of commands");
  vk::FenceCreateInfo fence;
  if (const auto result = api.CreateFence(device_, &fence, nullptr, &fence_); result < 0)
    return failed(result, "making a fence");
  vk::QueryPoolCreateInfo queries;
  queries.queryType = vk::query_timestamp;
  queries.queryCount = most_events;
  if (const auto result = api.CreateQueryPool(device_, &queries, nullptr, &queries_); result < 0)
    return failed(result, "making timestamps");
  vk::Handle memory = 0;
  if (const Status status = make_buffer(staging_bytes, vk::usage_transfer_from | vk::usage_transfer_to,
                                        vk::memory_host_visible | vk::memory_host_coherent, staging_, memory);
      status != success)
    return status;
  void* at = nullptr;
  if (const auto result = api.MapMemory(device_, memory, 0, staging_bytes, 0, &at); result < 0)
    return failed(result, "mapping the staging memory");
  staging_at_ = static_cast<std::byte*>(at);
  // Eight bytes of each value: what odd ends of arrays are set from, as Vulkan fills whole words only.
  if (const Status status = make_buffer(256 * 8, vk::usage_transfer_from | vk::usage_transfer_to,
                                        vk::memory_device_local, bytes_of_each_, memory);
      status != success)
    return status;
  for (int value = 0; value < 256; ++value) std::memset(staging_at_ + 8 * value, value, 8);
  if (const Status status = record(); status != success) return status;
  const vk::BufferCopy copy{0, 0, 256 * 8};
  api.CmdCopyBuffer(commands_, staging_, bytes_of_each_, 1, &copy);
  touched_ = true;
  return wait();
}

}  // namespace kernelsearch::detail::gpu::vulkan_table
