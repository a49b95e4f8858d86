// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A launch: what is bound, what is pushed, and how many work groups.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "evaluator/gpu/service_source.hpp"
#include "evaluator/gpu/vulkan_context.hpp"

namespace kernelsearch::detail::gpu::vulkan_table {

Status Context::descriptor_set(vk::Handle layout, vk::Handle& set) {
  for (;;) {
    if (pool_ < pools_.size() && sets_left_ > 0) {
      vk::DescriptorSetAllocateInfo info;
      info.descriptorPool = pools_[pool_];
      info.descriptorSetCount = 1;
      info.pSetLayouts = &layout;
      const bool fresh = sets_left_ == sets_of_pool;
      --sets_left_;
      const auto result = api.AllocateDescriptorSets(device_, &info, &set);
      if (result >= 0) return success;
      // A pool may hold fewer sets than it was made for, but not none.
      if (fresh || result == vk::error_device_lost) return failed(result, "binding arrays");
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

}  // namespace kernelsearch::detail::gpu::vulkan_table
