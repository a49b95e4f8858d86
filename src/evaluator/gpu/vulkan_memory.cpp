// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Memory: an arena of large buffers, in which addresses are numbers of ours.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "evaluator/gpu/vulkan_context.hpp"

namespace kernelsearch::detail::gpu::vulkan_table {

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

}  // namespace kernelsearch::detail::gpu::vulkan_table
