// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Which devices the machine has, and what Vulkan says of them.
#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include "evaluator/gpu/vulkan_context.hpp"

namespace kernelsearch::detail::gpu::vulkan_table {

namespace {

const char* name_of(vk::Result result) {
  switch (result) {
    case vk::error_out_of_host_memory:
      return "VK_ERROR_OUT_OF_HOST_MEMORY";
    case vk::error_out_of_device_memory:
      return "VK_ERROR_OUT_OF_DEVICE_MEMORY";
    case vk::error_initialization_failed:
      return "VK_ERROR_INITIALIZATION_FAILED";
    case vk::error_device_lost:
      return "VK_ERROR_DEVICE_LOST";
    case vk::error_incompatible_driver:
      return "VK_ERROR_INCOMPATIBLE_DRIVER";
    default:
      return "an error of Vulkan";
  }
}

}  // namespace

Status Context::failed(vk::Result result, const char* doing) {
  text = std::string(name_of(result)) + " (" + std::to_string(result) + ") at " + doing;
  switch (result) {
    case vk::error_out_of_host_memory:
    case vk::error_out_of_device_memory:
      return out_of_memory;
    case vk::error_initialization_failed:
    case vk::error_incompatible_driver:
      return no_device;
    case vk::error_device_lost:
      text += ": a shader hung, or accessed memory that is not there";
      return launch_failed;  // the device of this process is lost: it must be replaced
    default:
      return unknown_error;
  }
}

Status Context::refused(Status status, std::string why) {
  text = std::move(why);
  return status;
}

Status Context::broken(Status status) {
  broken_ = status;
  broken_text_ = text;
  recorded_.clear();
  return status;
}

Status Context::start() {
  if (instance_ != nullptr) return success;
  const Status status = find_devices();
  if (status != success && instance_ != nullptr) {
    if (api.DestroyInstance != nullptr) api.DestroyInstance(instance_, nullptr);
    instance_ = nullptr;
    devices_.clear();
    properties_.clear();
  }
  return status;
}

Status Context::find_devices() {
  const auto global = [this](const char* name, auto& function) {
    const vk::Function found = api.GetInstanceProcAddr(nullptr, name);
    std::memcpy(&function, &found, sizeof found);
    return found != nullptr;
  };
  vk::Result (*create)(const vk::InstanceCreateInfo*, const void*, vk::Instance*) = nullptr;
  vk::Result (*version)(std::uint32_t*) = nullptr;
  if (!global("vkCreateInstance", create)) return refused(no_device, "the loader has no vkCreateInstance");
  std::uint32_t api_version = 1u << 22;
  if (global("vkEnumerateInstanceVersion", version)) (void)version(&api_version);
  if (api_version < vk::version_1_1) return refused(no_device, "the loader is older than Vulkan 1.1");
  vk::ApplicationInfo application;
  application.pApplicationName = "kernelsearch";
  application.apiVersion = vk::version_1_1;
  vk::InstanceCreateInfo info;
  info.pApplicationInfo = &application;
  if (const auto result = create(&info, nullptr, &instance_); result < 0) {
    instance_ = nullptr;
    return failed(result, "making an instance: is there a driver, such as Debian's mesa-vulkan-drivers?");
  }
  const char* missing = nullptr;
  const auto get = [&](const char* name, auto& function) {
    const vk::Function found = api.GetInstanceProcAddr(instance_, name);
    std::memcpy(&function, &found, sizeof found);
    if (found == nullptr && missing == nullptr) missing = name;
  };
#define KERNELSEARCH_GET(result, name, parameters) get("vk" #name, api.name);
  KERNELSEARCH_VULKAN_INSTANCE_FUNCTIONS(KERNELSEARCH_GET)
#undef KERNELSEARCH_GET
  if (missing != nullptr) return refused(no_device, std::string("the loader lacks ") + missing);
  std::uint32_t count = 0;
  if (const auto result = api.EnumeratePhysicalDevices(instance_, &count, nullptr); result < 0)
    return failed(result, "counting devices");
  devices_.resize(count);
  if (const auto result = api.EnumeratePhysicalDevices(instance_, &count, devices_.data()); result < 0)
    return failed(result, "finding devices");
  // Those of Vulkan 1.0 do not say what they can in the way that is asked below.
  for (const vk::PhysicalDevice device : std::exchange(devices_, {})) {
    vk::PhysicalDeviceProperties2 properties;
    api.GetPhysicalDeviceProperties2(device, &properties);
    if (properties.properties.apiVersion < vk::version_1_1) continue;
    devices_.push_back(device);
    properties_.push_back(properties.properties);
  }
  return success;
}

const vk::PhysicalDeviceProperties* Context::properties(int device) {
  return device >= 0 && device < devices() ? &properties_[static_cast<std::size_t>(device)] : nullptr;
}

Status Context::attribute(int* value, int number, int device) {
  const vk::PhysicalDeviceProperties* const p = properties(device);
  if (p == nullptr) return refused(no_device, "there is no such device");
  const auto whole = [](std::uint64_t v) { return static_cast<int>(std::min<std::uint64_t>(v, 2147483647)); };
  const bool is_cpu = p->deviceType == vk::device_type_cpu;
  switch (number) {
    case vulkan_multiprocessors: {
      if (is_cpu) {
        *value = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
        return success;
      }
      // Vulkan has no word for it; some vendors have.
      *value = 0;
      std::uint32_t count = 0;
      const vk::PhysicalDevice physical = devices_[static_cast<std::size_t>(device)];
      if (api.EnumerateDeviceExtensionProperties(physical, nullptr, &count, nullptr) < 0) return success;
      std::vector<vk::ExtensionProperties> extensions(count);
      if (api.EnumerateDeviceExtensionProperties(physical, nullptr, &count, extensions.data()) < 0)
        return success;
      const bool counted = std::any_of(extensions.begin(), extensions.end(), [](const auto& extension) {
        return std::string_view(extension.extensionName) == "VK_NV_shader_sm_builtins";
      });
      if (!counted) return success;
      vk::PhysicalDeviceShaderSMBuiltinsPropertiesNV builtins;
      vk::PhysicalDeviceProperties2 properties;
      properties.pNext = &builtins;
      api.GetPhysicalDeviceProperties2(physical, &properties);
      *value = whole(builtins.shaderSMCount);
      return success;
    }
    case vulkan_subgroup_size: {
      vk::PhysicalDeviceSubgroupProperties subgroups;
      vk::PhysicalDeviceProperties2 properties;
      properties.pNext = &subgroups;
      api.GetPhysicalDeviceProperties2(devices_[static_cast<std::size_t>(device)], &properties);
      *value = whole(subgroups.subgroupSize);
      return success;
    }
    case vulkan_cache_bytes: {
      const long level3 = is_cpu ? sysconf(_SC_LEVEL3_CACHE_SIZE) : 0;
      // The last cache of a server's processor may be larger than what a shader can bind.
      *value = is_cpu ? whole(static_cast<std::uint64_t>(std::clamp<long>(level3, 1 << 20, 32 << 20)))
                      : unknown_cache_bytes;
      return success;
    }
    case vulkan_on_host:
      *value = is_cpu ? 1 : 0;
      return success;
    case vulkan_shared_bytes:
      *value = whole(p->limits.maxComputeSharedMemorySize);
      return success;
    case vulkan_group_invocations:
      *value = whole(p->limits.maxComputeWorkGroupInvocations);
      return success;
    case vulkan_major:
      *value = whole(p->apiVersion >> 22 & 0x7f);
      return success;
    case vulkan_minor:
      *value = whole(p->apiVersion >> 12 & 0x3ff);
      return success;
    default:
      return unsupported;
  }
}

Status Context::pci(char* out, int size, int device) {
  const vk::PhysicalDeviceProperties* const p = properties(device);
  if (p == nullptr || size < 1) return no_device;
  // A processor has no address; its devices are told apart by name and number.
  if (p->deviceType == vk::device_type_cpu) {
    std::snprintf(out, static_cast<std::size_t>(size), "cpu");
    return success;
  }
  const vk::PhysicalDevice physical = devices_[static_cast<std::size_t>(device)];
  std::uint32_t count = 0;
  if (api.EnumerateDeviceExtensionProperties(physical, nullptr, &count, nullptr) < 0) return unsupported;
  std::vector<vk::ExtensionProperties> extensions(count);
  if (api.EnumerateDeviceExtensionProperties(physical, nullptr, &count, extensions.data()) < 0)
    return unsupported;
  const bool known = std::any_of(extensions.begin(), extensions.end(), [](const auto& extension) {
    return std::string_view(extension.extensionName) == "VK_EXT_pci_bus_info";
  });
  if (!known) return unsupported;
  vk::PhysicalDevicePCIBusInfoPropertiesEXT bus;
  vk::PhysicalDeviceProperties2 properties;
  properties.pNext = &bus;
  api.GetPhysicalDeviceProperties2(physical, &properties);
  std::snprintf(out, static_cast<std::size_t>(size), "%04X:%02X:%02X.%X", bus.pciDomain, bus.pciBus,
                bus.pciDevice, bus.pciFunction);
  return success;
}

std::uint64_t Context::memory_of(int device) {
  if (properties(device) == nullptr) return 0;
  vk::PhysicalDeviceMemoryProperties memory;
  api.GetPhysicalDeviceMemoryProperties(devices_[static_cast<std::size_t>(device)], &memory);
  std::uint64_t most = 0;
  for (std::uint32_t t = 0; t < std::min<std::uint32_t>(memory.memoryTypeCount, 32); ++t)
    if ((memory.memoryTypes[t].propertyFlags & vk::memory_device_local) != 0 &&
        memory.memoryTypes[t].heapIndex < 16)
      most = std::max(most, memory.memoryHeaps[memory.memoryTypes[t].heapIndex].size);
  return most;
}

Status Context::memory_info(std::size_t* free, std::size_t* total) {
  *total = memory_of(device_number_);
  *free = *total - std::min<std::uint64_t>(memory_used_, *total);
  return success;
}

}  // namespace kernelsearch::detail::gpu::vulkan_table
