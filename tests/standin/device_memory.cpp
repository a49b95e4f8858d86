// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device_memory.hpp"

#include <sys/mman.h>

#include <cstring>

namespace kernelsearch_standin {
namespace {

constexpr std::size_t page = 4096, alignment = 256;
/// On both sides: an index that is wrong by some rows should fault, not find the next allocation.
constexpr std::size_t guard = std::size_t{16} << 20;
/// Fresh memory holds this, as nothing promises zeros; large blocks stay untouched so that they cost nothing.
constexpr int stale = 0xA5;
constexpr std::size_t staled_bytes = std::size_t{16} << 20;

std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

DeviceMemory::~DeviceMemory() {
  for (const auto& [address, block] : blocks_)
    if (block.mapping != nullptr) (void)munmap(block.mapping, block.mapped);
}

std::uint64_t DeviceMemory::allocate(std::size_t bytes) {
  if (bytes > available()) return 0;
  const std::size_t room = round_up(bytes, page);
  void* const mapping =
      mmap(nullptr, room + 2 * guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return 0;
  auto* const first = static_cast<unsigned char*>(mapping) + guard;
  if (mprotect(first, room, PROT_READ | PROT_WRITE) != 0) {
    (void)munmap(mapping, room + 2 * guard);
    return 0;
  }
  unsigned char* const begin = first + room - round_up(bytes, alignment);
  if (bytes <= staled_bytes) std::memset(begin, stale, round_up(bytes, alignment));
  const auto address = reinterpret_cast<std::uint64_t>(begin);
  blocks_[address] = {bytes, mapping, room + 2 * guard};
  used_ += bytes;
  return address;
}

bool DeviceMemory::release(std::uint64_t address) {
  const auto found = blocks_.find(address);
  if (found == blocks_.end() || found->second.mapping == nullptr) return false;
  (void)munmap(found->second.mapping, found->second.mapped);
  used_ -= found->second.bytes;
  blocks_.erase(found);
  return true;
}

bool DeviceMemory::contains(std::uint64_t address, std::size_t bytes) const {
  auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return false;
  const auto& [begin, block] = *--after;
  return address - begin <= block.bytes && bytes <= block.bytes - (address - begin);
}

}  // namespace kernelsearch_standin
