// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/vulkan_driver.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "evaluator/gpu/library.hpp"
#include "evaluator/gpu/service_source.hpp"
#include "evaluator/gpu/vulkan_api.hpp"
#include "evaluator/gpu/vulkan_image.hpp"

namespace kernelsearch::detail::gpu {
namespace vulkan_table {
namespace {

namespace vk = vulkan;

constexpr std::uint64_t alignment = 4096;  ///< of allocations; no device wants more of a storage buffer
constexpr std::uint64_t chunk_bytes = std::uint64_t{64} << 20;
constexpr std::uint64_t staging_bytes = std::uint64_t{16} << 20;
constexpr std::uint32_t most_events = 8192;
constexpr std::uint32_t sets_of_pool = 512, arrays_of_pool = 16;
/// Vulkan does not say how large a cache is: what no GPU's of today is larger than.
constexpr int unknown_cache_bytes = 64 << 20;

enum FunctionAttribute : int { function_invocations = 1, function_shared_bytes };

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A buffer of Vulkan in which allocations lie.
struct Chunk {
  vk::Handle buffer = 0, memory = 0;
  std::uint64_t bytes = 0;
  std::map<std::uint64_t, std::uint64_t> free;  ///< offsets and bytes of what is free, never two in a row
};

struct Pipeline {
  Shader shader;
  vk::Handle module = 0, sets = 0, layout = 0, pipeline = 0;
};

struct ShaderModule {
  std::vector<Shader> shaders;
  std::vector<std::unique_ptr<Pipeline>> pipelines;
};

struct Stamp {
  std::uint64_t value = 0;
  bool known = false, recorded = false;
};

/// Everything of the process's device. Methods return a Status, and leave in `text` what there is to say.
class Context {
 public:
  Status start();
  [[nodiscard]] int devices() const noexcept { return static_cast<int>(devices_.size()); }
  [[nodiscard]] const vk::PhysicalDeviceProperties* properties(int device);
  Status attribute(int* value, int number, int device);
  Status pci(char* text, int size, int device);
  std::uint64_t memory_of(int device);
  Status use(int device);
  Status memory_info(std::size_t* free, std::size_t* total);

  Status allocate(Address* address, std::uint64_t bytes);
  Status release(Address address);
  Status copy_in(Address to, const void* from, std::uint64_t bytes);
  Status copy_out(void* to, Address from, std::uint64_t bytes);
  Status copy_within(Address to, Address from, std::uint64_t bytes);
  Status set_bytes(Address to, unsigned char value, std::uint64_t bytes);
  Status wait();

  Status event_create(Event* event);
  Status event_record(Event event);
  Status event_elapsed(float* milliseconds, Event begin, Event end);

  Status load(Module* module, const void* image);
  void unload(ShaderModule* module);
  Status function(Function* function, ShaderModule& module, const char* name);
  Status launch(const Pipeline& pipeline, const LaunchShape& shape,
                std::span<const LaunchParameter> parameters);

  vk::Functions api;
  std::string text;  ///< of the last failure

 private:
  struct Place {
    Chunk* chunk = nullptr;
    std::uint64_t offset = 0;
  };
  /// Something of Vulkan that failed.
  Status failed(vk::Result result, const char* doing);
  Status refused(Status status, std::string why);
  [[nodiscard]] std::optional<Place> place(Address address, std::uint64_t bytes);
  [[nodiscard]] Address end_of_allocation(Address address) const;
  Status make_buffer(std::uint64_t bytes, std::uint32_t usage, std::uint32_t wanted, vk::Handle& buffer,
                     vk::Handle& memory);
  Status record();
  void barrier();
  Status descriptor_set(vk::Handle layout, vk::Handle& set);
  Status calibrate();
  [[nodiscard]] std::string beyond_limits(const Shader& shader) const;

  vk::Instance instance_ = nullptr;
  std::vector<vk::PhysicalDevice> devices_;
  std::vector<vk::PhysicalDeviceProperties> properties_;
  int device_number_ = -1;
  vk::LogicalDevice device_ = nullptr;
  vk::Queue queue_ = nullptr;
  std::uint32_t valid_bits_ = 0;
  SpirvNeeds has_;
  vk::PhysicalDeviceMemoryProperties memory_;
  std::uint64_t memory_used_ = 0;
  std::map<Address, Chunk> chunks_;
  std::map<Address, std::uint64_t> allocations_;  ///< bytes of each
  Address next_ = Address{1} << 40;
  vk::Handle staging_ = 0, bytes_of_each_ = 0;
  std::byte* staging_at_ = nullptr;
  vk::Handle commands_pool_ = 0, fence_ = 0, queries_ = 0;
  vk::CommandBuffer commands_ = nullptr;
  bool recording_ = false, touched_ = false;
  std::vector<vk::Handle> pools_;
  std::size_t pool_ = 0;
  std::uint32_t sets_left_ = 0;
  std::vector<Stamp> stamps_;
  std::vector<std::uint32_t> recorded_;
  bool impossible_ = false;
  unsigned char flushes_ = 0;
  std::string clock_text_;
};

/// The process has one: the functions of the table have no place for it.
Context* context = nullptr;

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

Status Context::start() {
  if (instance_ != nullptr) return success;
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

Status Context::use(int number) {
  if (number == device_number_) return success;
  if (device_ != nullptr) return refused(unsupported, "the process has another device already");
  if (properties(number) == nullptr) return refused(no_device, "there is no such device");
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
  if (api.EnumerateDeviceExtensionProperties(physical, nullptr, &count, nullptr) >= 0) {
    extensions.resize(count);
    if (api.EnumerateDeviceExtensionProperties(physical, nullptr, &count, extensions.data()) < 0)
      extensions.clear();
  }
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
  vk::CommandPoolCreateInfo pool;
  pool.flags = vk::command_pool_resets;
  pool.queueFamilyIndex = *family;
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
  if (const Status status = wait(); status != success) return status;
  return calibrate();
}

Status Context::make_buffer(std::uint64_t bytes, std::uint32_t usage, std::uint32_t wanted,
                            vk::Handle& buffer, vk::Handle& memory) {
  vk::BufferCreateInfo info;
  info.size = bytes;
  info.usage = usage;
  if (const auto result = api.CreateBuffer(device_, &info, nullptr, &buffer); result < 0)
    return failed(result, "making a buffer");
  vk::MemoryRequirements needs;
  api.GetBufferMemoryRequirements(device_, buffer, &needs);
  std::optional<std::uint32_t> type;
  for (std::uint32_t t = 0; t < std::min<std::uint32_t>(memory_.memoryTypeCount, 32) && !type; ++t)
    if ((needs.memoryTypeBits >> t & 1) != 0 && (memory_.memoryTypes[t].propertyFlags & wanted) == wanted)
      type = t;
  vk::Result result = vk::error_out_of_device_memory;
  if (type) {
    vk::MemoryAllocateInfo allocation;
    allocation.allocationSize = needs.size;
    allocation.memoryTypeIndex = *type;
    result = api.AllocateMemory(device_, &allocation, nullptr, &memory);
  }
  if (result >= 0) {
    result = api.BindBufferMemory(device_, buffer, memory, 0);
    if (result < 0) api.FreeMemory(device_, memory, nullptr);
  }
  if (result < 0) {
    api.DestroyBuffer(device_, buffer, nullptr);
    buffer = memory = 0;
    return failed(result, "allocating memory of the device");
  }
  return success;
}

Status Context::allocate(Address* address, std::uint64_t bytes) {
  const std::uint64_t limit = properties(device_number_)->limits.maxStorageBufferRange;
  const std::uint64_t rounded = (std::max<std::uint64_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  if (bytes > limit)
    return refused(out_of_memory, "a buffer of " + std::to_string(bytes) +
                                      " bytes is larger than a shader of this device can bind (" +
                                      std::to_string(limit) + ", maxStorageBufferRange)");
  const auto take = [&](Address base, Chunk& chunk) {
    for (auto it = chunk.free.begin(); it != chunk.free.end(); ++it) {
      const auto [offset, size] = *it;
      if (size < rounded) continue;
      chunk.free.erase(it);
      if (size > rounded) chunk.free.emplace(offset + rounded, size - rounded);
      *address = base + offset;
      allocations_[*address] = rounded;
      return true;
    }
    return false;
  };
  for (auto& [base, chunk] : chunks_)
    if (take(base, chunk)) return success;
  Chunk chunk;
  chunk.bytes = std::max(rounded, chunk_bytes);
  const auto make = [&] {
    return make_buffer(chunk.bytes, vk::usage_storage | vk::usage_transfer_from | vk::usage_transfer_to,
                       vk::memory_device_local, chunk.buffer, chunk.memory);
  };
  Status status = make();
  if (status == out_of_memory && chunk.bytes > rounded) {
    chunk.bytes = rounded;
    status = make();
  }
  if (status != success) return status;
  memory_used_ += chunk.bytes;
  chunk.free.emplace(0, chunk.bytes);
  const Address base = next_;
  next_ += (chunk.bytes / chunk_bytes + 2) * chunk_bytes;
  Chunk& held = chunks_.emplace(base, std::move(chunk)).first->second;
  (void)take(base, held);
  return success;
}

Status Context::release(Address address) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return refused(invalid_value, "what is released was not allocated");
  if (const Status status = wait(); status != success) return status;
  const auto owner = std::prev(chunks_.upper_bound(address));
  Chunk& chunk = owner->second;
  std::uint64_t offset = address - owner->first, bytes = found->second;
  allocations_.erase(found);
  auto next = chunk.free.lower_bound(offset);
  if (next != chunk.free.end() && next->first == offset + bytes) {
    bytes += next->second;
    next = chunk.free.erase(next);
  }
  if (next != chunk.free.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      offset = before->first;
      bytes += before->second;
      chunk.free.erase(before);
    }
  }
  chunk.free.emplace(offset, bytes);
  if (bytes != chunk.bytes) return success;
  api.DestroyBuffer(device_, chunk.buffer, nullptr);
  api.FreeMemory(device_, chunk.memory, nullptr);
  memory_used_ -= chunk.bytes;
  chunks_.erase(owner);
  return success;
}

std::optional<Context::Place> Context::place(Address address, std::uint64_t bytes) {
  auto after = chunks_.upper_bound(address);
  if (after == chunks_.begin()) return std::nullopt;
  --after;
  const std::uint64_t offset = address - after->first;
  if (offset > after->second.bytes || bytes > after->second.bytes - offset) return std::nullopt;
  return Place{&after->second, offset};
}

/// Where the allocation ends that the address is in; 0 where it is in none.
Address Context::end_of_allocation(Address address) const {
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return 0;
  --after;
  const Address end = after->first + after->second;
  return address < end ? end : 0;
}

Status Context::record() {
  if (recording_) return success;
  vk::CommandBufferBeginInfo begin;
  begin.flags = vk::one_time_submit;
  if (const auto result = api.BeginCommandBuffer(commands_, &begin); result < 0)
    return failed(result, "recording commands");
  recording_ = true;
  touched_ = false;
  if (!stamps_.empty())
    api.CmdResetQueryPool(commands_, queries_, 0, static_cast<std::uint32_t>(stamps_.size()));
  return success;
}

/// What follows sees all that was done before, as on a stream.
void Context::barrier() {
  if (!touched_) return;
  vk::MemoryBarrier all;
  all.srcAccessMask = vk::access_memory_write | vk::access_memory_read;
  all.dstAccessMask = vk::access_memory_write | vk::access_memory_read;
  api.CmdPipelineBarrier(commands_, vk::pipeline_all_commands, vk::pipeline_all_commands, 0, 1, &all, 0,
                         nullptr, 0, nullptr);
  touched_ = false;
}

Status Context::wait() {
  if (device_ == nullptr || !recording_) return success;
  barrier();
  recording_ = false;
  if (const auto result = api.EndCommandBuffer(commands_); result < 0)
    return failed(result, "recording commands");
  vk::SubmitInfo submission;
  submission.commandBufferCount = 1;
  submission.pCommandBuffers = &commands_;
  const double begin = clock_seconds();
  vk::Result result = api.QueueSubmit(queue_, 1, &submission, fence_);
  if (result >= 0) result = api.WaitForFences(device_, 1, &fence_, 1, ~std::uint64_t{0});
  const double outside = clock_seconds() - begin;
  if (result != vk::result_success) return failed(result, "running the commands");
  result = api.ResetFences(device_, 1, &fence_);
  if (result >= 0) result = api.ResetCommandBuffer(commands_, 0);
  for (const vk::Handle pool : pools_)
    if (result >= 0) result = api.ResetDescriptorPool(device_, pool, 0);
  if (result < 0) return failed(result, "clearing the commands");
  pool_ = 0;
  sets_left_ = pools_.empty() ? 0 : sets_of_pool;

  std::optional<std::uint64_t> first, last;
  for (const std::uint32_t index : recorded_) {
    std::uint64_t ticks = 0;
    result = api.GetQueryPoolResults(device_, queries_, index, 1, sizeof ticks, &ticks, sizeof ticks,
                                     vk::query_result_64 | vk::query_result_wait);
    if (result != vk::result_success) return failed(result, "reading a timestamp");
    stamps_[index].value = ticks;
    stamps_[index].known = true;
    if (!first) first = ticks;
    last = ticks;
  }
  recorded_.clear();
  if (first) {
    const std::uint64_t mask = valid_bits_ >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << valid_bits_) - 1;
    const double stamped = 1e-9 * static_cast<double>((*last - *first) & mask) *
                           static_cast<double>(properties(device_number_)->limits.timestampPeriod);
    if (!timestamps_possible(stamped, outside)) {
      impossible_ = true;
      char line[160];
      std::snprintf(line, sizeof line,
                    "the timestamps of this device say that %.6g s passed in %.6g s of the clock outside",
                    stamped, outside);
      clock_text_ = line;
    }
  }
  return success;
}

Status Context::copy_in(Address to, const void* from, std::uint64_t bytes) {
  const auto at = place(to, bytes);
  if (!at) return refused(invalid_value, "a copy leaves its buffer");
  if (const Status status = wait(); status != success) return status;
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t part = std::min(staging_bytes, bytes - done);
    std::memcpy(staging_at_, static_cast<const std::byte*>(from) + done, part);
    if (const Status status = record(); status != success) return status;
    const vk::BufferCopy copy{0, at->offset + done, part};
    api.CmdCopyBuffer(commands_, staging_, at->chunk->buffer, 1, &copy);
    touched_ = true;
    if (const Status status = wait(); status != success) return status;
    done += part;
  }
  return success;
}

Status Context::copy_out(void* to, Address from, std::uint64_t bytes) {
  const auto at = place(from, bytes);
  if (!at) return refused(invalid_value, "a copy leaves its buffer");
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t part = std::min(staging_bytes, bytes - done);
    if (const Status status = record(); status != success) return status;
    barrier();
    const vk::BufferCopy copy{at->offset + done, 0, part};
    api.CmdCopyBuffer(commands_, at->chunk->buffer, staging_, 1, &copy);
    touched_ = true;
    if (const Status status = wait(); status != success) return status;
    std::memcpy(static_cast<std::byte*>(to) + done, staging_at_, part);
    done += part;
  }
  return success;
}

Status Context::copy_within(Address to, Address from, std::uint64_t bytes) {
  const auto target = place(to, bytes), source = place(from, bytes);
  if (!target || !source) return refused(invalid_value, "a copy leaves its buffer");
  if (bytes == 0) return success;
  if (const Status status = record(); status != success) return status;
  barrier();
  const vk::BufferCopy copy{source->offset, target->offset, bytes};
  api.CmdCopyBuffer(commands_, source->chunk->buffer, target->chunk->buffer, 1, &copy);
  touched_ = true;
  return success;
}

Status Context::set_bytes(Address to, unsigned char value, std::uint64_t bytes) {
  const auto at = place(to, bytes);
  if (!at) return refused(invalid_value, "what is set leaves its buffer");
  if (bytes == 0) return success;
  if (const Status status = record(); status != success) return status;
  barrier();
  const std::uint64_t head = std::min<std::uint64_t>(bytes, (4 - at->offset % 4) % 4);
  const std::uint64_t words = (bytes - head) / 4 * 4, tail = bytes - head - words;
  const std::uint64_t from = std::uint64_t{8} * value;
  const vk::BufferCopy ends[2] = {{from, at->offset, head}, {from, at->offset + head + words, tail}};
  for (const vk::BufferCopy& end : ends)
    if (end.size != 0) api.CmdCopyBuffer(commands_, bytes_of_each_, at->chunk->buffer, 1, &end);
  if (words != 0)
    api.CmdFillBuffer(commands_, at->chunk->buffer, at->offset + head, words, 0x01010101u * value);
  touched_ = true;
  return success;
}

/// Timestamps are compared with the clock outside over work of some ten milliseconds, once for a process.
Status Context::calibrate() {
  constexpr std::uint64_t bytes = std::uint64_t{4} << 20;
  Address scratch = 0;
  if (const Status status = allocate(&scratch, bytes); status != success) return status;
  const double period = static_cast<double>(properties(device_number_)->limits.timestampPeriod);
  const std::uint64_t mask = valid_bits_ >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << valid_bits_) - 1;
  stamps_.resize(2);
  bool agreed = false;
  double stamped = 0, outside = 0;
  std::uint64_t fills = 8;
  // Others may hold the device or the processor for a while: the best of a few tries counts.
  for (int tries = 0; tries < 12; ++tries) {
    if (Status status = wait(); status != success) return status;
    if (const Status status = record(); status != success) return status;
    const auto at = place(scratch, bytes);
    api.CmdWriteTimestamp(commands_, vk::pipeline_bottom, queries_, 0);
    for (std::uint64_t i = 0; i < fills; ++i) {
      api.CmdFillBuffer(commands_, at->chunk->buffer, at->offset, bytes, static_cast<std::uint32_t>(i));
      touched_ = true;
      barrier();
    }
    api.CmdWriteTimestamp(commands_, vk::pipeline_bottom, queries_, 1);
    recorded_ = {0, 1};
    const double begin = clock_seconds();
    if (const Status status = wait(); status != success) return status;
    outside = clock_seconds() - begin;
    stamped = 1e-9 * period * static_cast<double>((stamps_[1].value - stamps_[0].value) & mask);
    if (impossible_) break;
    if (outside < 0.01) {
      fills = std::min<std::uint64_t>(fills * 4, 1 << 14);
      continue;
    }
    if (timestamps_agree(stamped, outside)) {
      agreed = true;
      break;
    }
  }
  stamps_[0].known = stamps_[1].known = false;
  (void)release(scratch);
  if (agreed) return success;
  char line[200];
  std::snprintf(
      line, sizeof line,
      "the timestamps of this device disagree with the clock outside: %.6g s of theirs in %.6g s, so "
      "nothing can be timed by them",
      stamped, outside);
  return refused(no_device, line);
}

Status Context::event_create(Event* event) {
  if (stamps_.size() >= most_events) return refused(out_of_memory, "there are too many events");
  if (const Status status = wait(); status != success) return status;  // recording resets those that it knows
  *event = reinterpret_cast<Event>(stamps_.size());
  stamps_.emplace_back();
  return success;
}

Status Context::event_record(Event event) {
  const auto index = reinterpret_cast<std::uintptr_t>(event);
  if (index >= stamps_.size()) return refused(invalid_value, "there is no such event");
  if (std::find(recorded_.begin(), recorded_.end(), index) != recorded_.end())
    if (const Status status = wait(); status != success) return status;
  if (const Status status = record(); status != success) return status;
  barrier();
  api.CmdWriteTimestamp(commands_, vk::pipeline_bottom, queries_, static_cast<std::uint32_t>(index));
  recorded_.push_back(static_cast<std::uint32_t>(index));
  stamps_[index].known = false;
  return success;
}

Status Context::event_elapsed(float* milliseconds, Event begin, Event end) {
  const auto from = reinterpret_cast<std::uintptr_t>(begin), to = reinterpret_cast<std::uintptr_t>(end);
  if (from >= stamps_.size() || to >= stamps_.size()) return refused(invalid_value, "there is no such event");
  if (const Status status = wait(); status != success) return status;
  if (impossible_) return refused(unsupported, clock_text_);
  if (!stamps_[from].known || !stamps_[to].known) return refused(not_ready, "the events were not recorded");
  const std::uint64_t mask = valid_bits_ >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << valid_bits_) - 1;
  const double ticks = static_cast<double>((stamps_[to].value - stamps_[from].value) & mask);
  *milliseconds = static_cast<float>(1e-6 * ticks *
                                     static_cast<double>(properties(device_number_)->limits.timestampPeriod));
  return success;
}

Status Context::load(Module* module, const void* image) {
  const std::uint64_t bytes = image_bytes(image);
  auto shaders = bytes == 0
                     ? std::nullopt
                     : shaders_of({static_cast<const std::byte*>(image), static_cast<std::size_t>(bytes)});
  if (!shaders) return refused(invalid_image, "this is no image of shaders");
  auto loaded = std::make_unique<ShaderModule>();
  loaded->shaders = *std::move(shaders);
  *module = loaded.release();
  return success;
}

void Context::unload(ShaderModule* module) {
  (void)wait();
  for (const auto& pipeline : module->pipelines) {
    api.DestroyPipeline(device_, pipeline->pipeline, nullptr);
    api.DestroyPipelineLayout(device_, pipeline->layout, nullptr);
    api.DestroyDescriptorSetLayout(device_, pipeline->sets, nullptr);
    api.DestroyShaderModule(device_, pipeline->module, nullptr);
  }
  delete module;
}

/// Which limit of the device a shader is beyond, in words.
std::string Context::beyond_limits(const Shader& shader) const {
  const vk::PhysicalDeviceLimits& limits = properties_[static_cast<std::size_t>(device_number_)].limits;
  const auto more = [](const char* what, std::uint64_t has, std::uint64_t most, const char* limit) {
    return std::string(what) + " " + std::to_string(has) + ", this device takes " + std::to_string(most) +
           " (" + limit + ")";
  };
  std::uint64_t invocations = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    if (shader.local_size[i] > limits.maxComputeWorkGroupSize[i])
      return more("an extent of its work groups is", shader.local_size[i], limits.maxComputeWorkGroupSize[i],
                  "maxComputeWorkGroupSize");
    invocations *= shader.local_size[i];
  }
  if (invocations > limits.maxComputeWorkGroupInvocations)
    return more("invocations of a work group:", invocations, limits.maxComputeWorkGroupInvocations,
                "maxComputeWorkGroupInvocations");
  if (shader.shared_bytes > limits.maxComputeSharedMemorySize)
    return more("bytes of shared memory:", shader.shared_bytes, limits.maxComputeSharedMemorySize,
                "maxComputeSharedMemorySize");
  if (shader.push_bytes > limits.maxPushConstantsSize)
    return more("bytes of push constants:", shader.push_bytes, limits.maxPushConstantsSize,
                "maxPushConstantsSize");
  const std::uint32_t most_arrays =
      std::min(limits.maxPerStageDescriptorStorageBuffers, limits.maxDescriptorSetStorageBuffers);
  if (shader.arrays.size() > most_arrays)
    return more("storage buffers:", shader.arrays.size(), most_arrays, "maxPerStageDescriptorStorageBuffers");
  const SpirvNeeds &n = shader.needs, &h = has_;
  const struct {
    bool lacks;
    const char* feature;
  } features[] = {{n.float64 && !h.float64, "shaderFloat64"},
                  {n.float16 && !h.float16, "shaderFloat16"},
                  {n.int64 && !h.int64, "shaderInt64"},
                  {n.int16 && !h.int16, "shaderInt16"},
                  {n.int8 && !h.int8, "shaderInt8"},
                  {n.storage16 && !h.storage16, "storageBuffer16BitAccess"},
                  {n.storage8 && !h.storage8, "storageBuffer8BitAccess"}};
  for (const auto& [lacks, feature] : features)
    if (lacks) return std::string("this device has no ") + feature + ", which the shader needs";
  return {};
}

Status Context::function(Function* function, ShaderModule& module, const char* name) {
  const auto shader = std::find_if(module.shaders.begin(), module.shaders.end(),
                                   [&](const Shader& one) { return one.function == name; });
  if (shader == module.shaders.end())
    return refused(not_found, "the module has no shader " + std::string(name));
  if (std::string limit = beyond_limits(*shader); !limit.empty())
    return refused(launch_out_of_resources, std::move(limit));
  auto made = std::make_unique<Pipeline>();
  Pipeline& p = *made;
  p.shader = *shader;
  vk::ShaderModuleCreateInfo code;
  code.codeSize = p.shader.words.size() * 4;
  code.pCode = p.shader.words.data();
  vk::Result result = api.CreateShaderModule(device_, &code, nullptr, &p.module);
  if (result < 0) return failed(result, "making the shader");
  std::vector<vk::DescriptorSetLayoutBinding> bindings;
  for (const Shader::Array& array : p.shader.arrays) {
    vk::DescriptorSetLayoutBinding binding;
    binding.binding = array.binding;
    binding.descriptorType = vk::descriptor_storage_buffer;
    binding.descriptorCount = 1;
    binding.stageFlags = vk::stage_compute;
    bindings.push_back(binding);
  }
  vk::DescriptorSetLayoutCreateInfo sets;
  sets.bindingCount = static_cast<std::uint32_t>(bindings.size());
  sets.pBindings = bindings.data();
  result = api.CreateDescriptorSetLayout(device_, &sets, nullptr, &p.sets);
  vk::PushConstantRange push{vk::stage_compute, 0, p.shader.push_bytes};
  vk::PipelineLayoutCreateInfo layout;
  layout.setLayoutCount = 1;
  layout.pSetLayouts = &p.sets;
  layout.pushConstantRangeCount = p.shader.push_bytes != 0 ? 1 : 0;
  layout.pPushConstantRanges = &push;
  if (result >= 0) result = api.CreatePipelineLayout(device_, &layout, nullptr, &p.layout);
  std::vector<vk::SpecializationMapEntry> entries;
  std::vector<std::byte> values;
  for (const Shader::Constant& constant : p.shader.constants) {
    const std::size_t size = std::min<std::size_t>(constant.bytes, 8);
    entries.push_back({constant.id, static_cast<std::uint32_t>(values.size()), size});
    const auto* bits = reinterpret_cast<const std::byte*>(&constant.bits);
    values.insert(values.end(), bits, bits + size);
  }
  vk::SpecializationInfo specialisation;
  specialisation.mapEntryCount = static_cast<std::uint32_t>(entries.size());
  specialisation.pMapEntries = entries.data();
  specialisation.dataSize = values.size();
  specialisation.pData = values.data();
  vk::ComputePipelineCreateInfo info;
  info.stage.stage = vk::stage_compute;
  info.stage.module = p.module;
  info.stage.pName = p.shader.entry.c_str();
  if (!entries.empty()) info.stage.pSpecializationInfo = &specialisation;
  info.layout = p.layout;
  info.basePipelineIndex = -1;
  if (result >= 0) result = api.CreateComputePipelines(device_, 0, 1, &info, nullptr, &p.pipeline);
  if (result < 0) {
    if (p.layout != 0) api.DestroyPipelineLayout(device_, p.layout, nullptr);
    if (p.sets != 0) api.DestroyDescriptorSetLayout(device_, p.sets, nullptr);
    api.DestroyShaderModule(device_, p.module, nullptr);
    const Status status = failed(result, "making a pipeline of the shader");
    return status == unknown_error ? invalid_image : status;
  }
  *function = &p;
  module.pipelines.push_back(std::move(made));
  return success;
}

Status Context::descriptor_set(vk::Handle layout, vk::Handle& set) {
  for (;;) {
    if (pool_ < pools_.size() && sets_left_ > 0) {
      vk::DescriptorSetAllocateInfo info;
      info.descriptorPool = pools_[pool_];
      info.descriptorSetCount = 1;
      info.pSetLayouts = &layout;
      --sets_left_;
      if (api.AllocateDescriptorSets(device_, &info, &set) >= 0) return success;
    }
    if (pool_ + 1 < pools_.size()) {  // this one is used up
      ++pool_;
      sets_left_ = sets_of_pool;
      continue;
    }
    const vk::DescriptorPoolSize size{vk::descriptor_storage_buffer, sets_of_pool * arrays_of_pool};
    vk::DescriptorPoolCreateInfo info;
    info.maxSets = sets_of_pool;
    info.poolSizeCount = 1;
    info.pPoolSizes = &size;
    vk::Handle pool = 0;
    if (const auto result = api.CreateDescriptorPool(device_, &info, nullptr, &pool); result < 0)
      return failed(result, "making a pool of bindings");
    pools_.push_back(pool);
    pool_ = pools_.size() - 1;
    sets_left_ = sets_of_pool;
  }
}

Status Context::launch(const Pipeline& p, const LaunchShape& shape,
                       std::span<const LaunchParameter> parameters) {
  using Kind = LaunchParameter::Kind;
  const Shader& shader = p.shader;
  const vk::PhysicalDeviceLimits& limits = properties(device_number_)->limits;
  const auto extents = [](const auto& e) {
    return std::to_string(e[0]) + " x " + std::to_string(e[1]) + " x " + std::to_string(e[2]);
  };
  if (!std::equal(std::begin(shape.block), std::end(shape.block), shader.local_size.begin()))
    return refused(invalid_value, "the shader's work groups are " + extents(shader.local_size) +
                                      ", the launch's block says " + extents(shape.block));
  for (std::size_t i = 0; i < 3; ++i)
    if (shape.grid[i] > limits.maxComputeWorkGroupCount[i])
      return refused(launch_out_of_resources,
                     std::to_string(shape.grid[i]) + " work groups along an axis; this device takes " +
                         std::to_string(limits.maxComputeWorkGroupCount[i]) + " (maxComputeWorkGroupCount)");
  if (shape.shared_bytes != 0)
    return refused(unsupported, "a shader's shared memory has a size of its own: leave shared_bytes out");
  if (parameters.size() != shader.parameters)
    return refused(invalid_value, "the shader takes " + std::to_string(shader.parameters) +
                                      " parameters, the launch has " + std::to_string(parameters.size()));

  // Rewriting memory is the driver's own business, and on a processor ten times as fast as by a shader.
  if (shader.function == service_names()[service_flush] && parameters[0].kind == Kind::place) {
    Address address = 0;
    std::uint64_t words = 0;
    std::memcpy(&address, parameters[0].at, sizeof address);
    std::memcpy(&words, parameters[1].at, sizeof words);
    return set_bytes(address, ++flushes_, 8 * words);
  }
  if (const Status status = record(); status != success) return status;
  std::vector<std::byte> push(shader.push_bytes);
  std::vector<vk::DescriptorBufferInfo> buffers(shader.arrays.size());
  std::vector<vk::WriteDescriptorSet> writes(shader.arrays.size());
  vk::Handle set = 0;
  if (!shader.arrays.empty())
    if (const Status status = descriptor_set(p.sets, set); status != success) return status;
  for (std::size_t a = 0; a < shader.arrays.size(); ++a) {
    const Shader::Array& array = shader.arrays[a];
    const LaunchParameter& given = parameters[array.parameter];
    if (given.kind != Kind::array && given.kind != Kind::place)
      return refused(invalid_value, "a number is given where the shader has an array");
    Address address = 0;
    std::memcpy(&address, given.at, sizeof address);
    // Our own shaders are told where an array begins in what is bound; no_array: there is none.
    constexpr std::uint32_t no_array = 0xffffffff;
    std::uint32_t at = no_array;
    if (given.kind == Kind::place && address == 0) {
      buffers[a] = {bytes_of_each_, 0, 256 * 8};
    } else {
      const std::uint64_t step = std::max<std::uint64_t>(limits.minStorageBufferOffsetAlignment, 16);
      const Address bound = address / step * step;
      at = static_cast<std::uint32_t>(address - bound);
      if (at != 0 && given.kind == Kind::array)
        return refused(misaligned_address, "an array is not aligned for a binding");
      const Address end = end_of_allocation(address);
      const auto found = end == 0 ? std::nullopt : place(bound, end - bound);
      if (!found) return refused(illegal_address, "an array is bound that was not allocated");
      // A device that checks accesses would keep those behind an array from the zone where they are seen: it
      // is bound as well, unless the shader asks how long the array is.
      const Address last = array.exact != 0 && given.kind == Kind::array ? address + given.bytes : end;
      buffers[a] = {found->chunk->buffer, found->offset,
                    std::min<std::uint64_t>(std::min(last, end) - bound, limits.maxStorageBufferRange)};
    }
    for (const Shader::Push& one : shader.push)
      if (one.is_begin != 0 && one.parameter == array.parameter)
        std::memcpy(push.data() + one.offset, &at, sizeof at);
    vk::WriteDescriptorSet& write = writes[a];
    write.dstSet = set;
    write.dstBinding = array.binding;
    write.descriptorCount = 1;
    write.descriptorType = vk::descriptor_storage_buffer;
    write.pBufferInfo = &buffers[a];
  }
  for (const Shader::Push& one : shader.push) {
    if (one.is_begin != 0) continue;
    const LaunchParameter& given = parameters[one.parameter];
    if (given.kind != Kind::value || given.bytes < one.bytes)
      return refused(invalid_value, "a push constant is given something else than its number");
    std::memcpy(push.data() + one.offset, given.at, one.bytes);
  }
  barrier();
  if (!writes.empty())
    api.UpdateDescriptorSets(device_, static_cast<std::uint32_t>(writes.size()), writes.data(), 0, nullptr);
  api.CmdBindPipeline(commands_, vk::bind_point_compute, p.pipeline);
  if (set != 0)
    api.CmdBindDescriptorSets(commands_, vk::bind_point_compute, p.layout, 0, 1, &set, 0, nullptr);
  if (!push.empty())
    api.CmdPushConstants(commands_, p.layout, vk::stage_compute, 0, static_cast<std::uint32_t>(push.size()),
                         push.data());
  api.CmdDispatch(commands_, shape.grid[0], shape.grid[1], shape.grid[2]);
  touched_ = true;
  return success;
}

// The table.

Status init(unsigned) {
  return context->start();
}
Status driver_version(int* version) {
  const auto* properties = context->properties(0);
  *version = properties == nullptr ? 0 : static_cast<int>(properties->driverVersion);
  return success;
}
Status device_count(int* count) {
  *count = context->devices();
  return success;
}
Status device_get(int* device, int ordinal) {
  *device = ordinal;
  return context->properties(ordinal) != nullptr ? success : no_device;
}
Status device_name(char* text, int size, int device) {
  const auto* properties = context->properties(device);
  if (properties == nullptr || size < 1) return no_device;
  std::snprintf(text, static_cast<std::size_t>(size), "%.*s", 255, properties->deviceName);
  return success;
}
Status device_attribute(int* value, int number, int device) {
  return context->attribute(value, number, device);
}
Status device_pci(char* text, int size, int device) {
  return context->pci(text, size, device);
}
Status device_memory(std::size_t* bytes, int device) {
  *bytes = context->memory_of(device);
  return success;
}
Status device_use(int device) {
  return context->use(device);
}
Status synchronize() {
  return context->wait();
}
Status memory_info(std::size_t* free, std::size_t* total) {
  return context->memory_info(free, total);
}
Status allocate(Address* address, std::size_t bytes) {
  return context->allocate(address, bytes);
}
Status release(Address address) {
  return context->release(address);
}
Status copy_in(Address to, const void* from, std::size_t bytes) {
  return context->copy_in(to, from, bytes);
}
Status copy_out(void* to, Address from, std::size_t bytes) {
  return context->copy_out(to, from, bytes);
}
Status copy_within(Address to, Address from, std::size_t bytes, Stream) {
  return context->copy_within(to, from, bytes);
}
Status set_bytes(Address to, unsigned char value, std::size_t bytes, Stream) {
  return context->set_bytes(to, value, bytes);
}
// Copies go through staging memory, so that nothing of the caller's is pinned.
Status pin(void*, std::size_t, unsigned) {
  return success;
}
Status unpin(void*) {
  return success;
}
Status stream_create(Stream* stream, unsigned) {
  *stream = context;
  return success;
}
Status stream_synchronize(Stream) {
  return context->wait();
}
Status event_create(Event* event, unsigned) {
  return context->event_create(event);
}
Status event_destroy(Event) {
  return success;
}
Status event_record(Event event, Stream) {
  return context->event_record(event);
}
Status event_elapsed(float* milliseconds, Event begin, Event end) {
  return context->event_elapsed(milliseconds, begin, end);
}
Status module_load(Module* module, const void* image) {
  return context->load(module, image);
}
Status module_unload(Module module) {
  context->unload(static_cast<ShaderModule*>(module));
  return success;
}
Status module_function(Function* function, Module module, const char* name) {
  return context->function(function, *static_cast<ShaderModule*>(module), name);
}
Status module_global(Address*, std::size_t*, Module, const char*) {
  context->text = "shaders have no symbols";
  return unsupported;
}
Status function_attribute(int* value, int number, Function function) {
  const Shader& shader = static_cast<Pipeline*>(function)->shader;
  if (number == function_invocations) {
    *value = static_cast<int>(shader.local_size[0] * shader.local_size[1] * shader.local_size[2]);
    return success;
  }
  if (number != function_shared_bytes) return unsupported;
  *value = static_cast<int>(shader.shared_bytes);
  return success;
}
Status launch(Function function, const LaunchShape& shape, std::span<const LaunchParameter> parameters,
              Stream) {
  return context->launch(*static_cast<Pipeline*>(function), shape, parameters);
}
Status error_text(Status, const char** text) {
  *text = context->text.empty() ? nullptr : context->text.c_str();
  return success;
}

std::unique_ptr<Driver> load_table(std::string& problem) {
  Library library = Library::open({std::getenv("KERNELSEARCH_VULKAN_LOADER"), "libvulkan.so.1"}, problem);
  if (!library) return nullptr;
  // It stays for good, as what it holds may be in use until the process ends.
  static Context* const held = new Context;
  context = held;
  if (!library.find("vkGetInstanceProcAddr", context->api.GetInstanceProcAddr)) {
    problem = library.path() + " lacks vkGetInstanceProcAddr: it is no loader of Vulkan";
    return nullptr;
  }
  auto driver = std::make_unique<Driver>();
  Driver& d = *driver;
  d.backend = GpuBackend::vulkan;
  d.library = library.path();
  d.init = init;
  d.driver_version = driver_version;
  d.device_count = device_count;
  d.device_get = device_get;
  d.device_name = device_name;
  d.device_attribute = device_attribute;
  d.device_pci = device_pci;
  d.device_memory = device_memory;
  d.device_use = device_use;
  d.synchronize = synchronize;
  d.memory_info = memory_info;
  d.allocate = allocate;
  d.release = release;
  d.copy_in = copy_in;
  d.copy_out = copy_out;
  d.copy_within = copy_within;
  d.set_bytes = set_bytes;
  d.pin = pin;
  d.unpin = unpin;
  d.stream_create = stream_create;
  d.stream_synchronize = stream_synchronize;
  d.event_create = event_create;
  d.event_destroy = event_destroy;
  d.event_record = event_record;
  d.event_elapsed = event_elapsed;
  d.module_load = module_load;
  d.module_unload = module_unload;
  d.module_function = module_function;
  d.module_global = module_global;
  d.function_attribute = function_attribute;
  d.launch_parameters = launch;
  d.checks_clock = true;
  d.error_text = error_text;
  AttributeNumbers& n = d.numbers;
  n = {vulkan_multiprocessors,
       vulkan_subgroup_size,
       -1,
       -1,
       -1,
       vulkan_cache_bytes,
       vulkan_shared_bytes,
       vulkan_shared_bytes,
       -1,
       -1,
       -1,
       vulkan_group_invocations,
       vulkan_major,
       vulkan_minor,
       -1,
       function_invocations,
       function_shared_bytes,
       -1,
       -1,
       -1,
       -1};
  library.keep();
  return driver;
}

}  // namespace
}  // namespace vulkan_table

std::unique_ptr<Driver> load_vulkan_driver(std::string& problem) {
  return vulkan_table::load_table(problem);
}

}  // namespace kernelsearch::detail::gpu
