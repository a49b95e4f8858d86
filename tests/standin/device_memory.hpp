// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace kernelsearch_standin {

/// Allocations of "the device" in this process's memory. Each ends at a page that cannot be touched, as near
/// as its alignment of 256 bytes lets it, and begins behind one: kernels that leave it by more fault.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t capacity) : capacity_(capacity) {}
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// 0 where it does not fit.
  [[nodiscard]] std::uint64_t allocate(std::size_t bytes);
  /// False where nothing begins at `address`.
  [[nodiscard]] bool release(std::uint64_t address);
  /// Whether [address, address + bytes) is inside one allocation or added range.
  [[nodiscard]] bool contains(std::uint64_t address, std::size_t bytes) const;
  /// Memory of a module that copies may name.
  void add(std::uint64_t address, std::size_t bytes) { blocks_[address] = {bytes, nullptr, 0}; }
  void remove(std::uint64_t address) { blocks_.erase(address); }

  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] std::size_t available() const { return capacity_ - used_; }

 private:
  struct Block {
    std::size_t bytes;
    void* mapping;  ///< null: not ours
    std::size_t mapped;
  };

  std::map<std::uint64_t, Block> blocks_;
  std::size_t capacity_, used_ = 0;
};

}  // namespace kernelsearch_standin
