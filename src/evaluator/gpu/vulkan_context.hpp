// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "evaluator/gpu/driver.hpp"
#include "evaluator/gpu/vulkan_api.hpp"
#include "evaluator/gpu/vulkan_driver.hpp"
#include "evaluator/gpu/vulkan_image.hpp"

namespace kernelsearch::detail::gpu::vulkan_table {

namespace vk = vulkan;

constexpr std::uint64_t alignment = 4096;  ///< of allocations; no device wants more of a storage buffer
constexpr std::uint64_t chunk_bytes = std::uint64_t{64} << 20;
constexpr std::uint64_t staging_bytes = std::uint64_t{16} << 20;
constexpr std::uint32_t most_events = 8192;
constexpr std::uint32_t sets_of_pool = 512, arrays_of_pool = 16;
/// Vulkan does not say how large a cache is: what no GPU's of today is larger than.
constexpr int unknown_cache_bytes = 64 << 20;

/// The clock outside, which timestamps are held against.
inline double clock_seconds() {
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
  // vulkan_devices.cpp
  Status start();
  [[nodiscard]] int devices() const noexcept { return static_cast<int>(devices_.size()); }
  [[nodiscard]] const vk::PhysicalDeviceProperties* properties(int device);
  Status attribute(int* value, int number, int device);
  Status pci(char* text, int size, int device);
  std::uint64_t memory_of(int device);
  Status memory_info(std::size_t* free, std::size_t* total);

  // vulkan_device.cpp
  Status use(int device);

  // vulkan_memory.cpp
  Status allocate(Address* address, std::uint64_t bytes);
  Status release(Address address);
  Status copy_in(Address to, const void* from, std::uint64_t bytes);
  Status copy_out(void* to, Address from, std::uint64_t bytes);
  Status copy_within(Address to, Address from, std::uint64_t bytes);
  Status set_bytes(Address to, unsigned char value, std::uint64_t bytes);

  // vulkan_commands.cpp
  Status wait();

  // vulkan_timestamps.cpp
  Status event_create(Event* event);
  Status event_record(Event event);
  Status event_elapsed(float* milliseconds, Event begin, Event end);

  // vulkan_pipeline.cpp
  Status load(Module* module, const void* image);
  void unload(ShaderModule* module);
  Status function(Function* function, ShaderModule& module, const char* name);

  // vulkan_launch.cpp
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
  /// A failure behind which nothing can be run: everything later fails likewise.
  Status broken(Status status);
  [[nodiscard]] std::optional<Place> place(Address address, std::uint64_t bytes);
  [[nodiscard]] Address end_of_allocation(Address address) const;
  Status find_devices();
  Status make_device(int number);
  Status make_tools(std::uint32_t family);
  Status make_buffer(std::uint64_t bytes, std::uint32_t usage, std::uint32_t wanted, vk::Handle& buffer,
                     vk::Handle& memory);
  Status record();
  Status submit();
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
  Status broken_ = success;
  std::string broken_text_;
};

}  // namespace kernelsearch::detail::gpu::vulkan_table
