// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "kernelsearch/problem/element_type.hpp"

namespace kernelsearch {

/// A member of a struct; its values are drawn from [low, high).
struct StructField {
  std::string name;
  ElementType type = ElementType::f32;
  double low = -1.0;
  double high = 1.0;
};

/// A plain struct, laid out as C++ and CUDA lay it out: members in their order, each aligned to its size.
struct StructType {
  std::string name;
  std::vector<StructField> fields;
};

[[nodiscard]] inline std::size_t alignment_of(const StructType& type) noexcept {
  std::size_t alignment = 1;
  for (const StructField& field : type.fields) alignment = std::max(alignment, size_in_bytes(field.type));
  return alignment;
}

/// The byte at which the field number `index` begins; with the number of fields, where the last one ends.
[[nodiscard]] inline std::size_t offset_of(const StructType& type, std::size_t index) noexcept {
  std::size_t end = 0;
  for (std::size_t i = 0; i < type.fields.size(); ++i) {
    const std::size_t size = size_in_bytes(type.fields[i].type);
    const std::size_t begin = (end + size - 1) / size * size;
    if (i == index) return begin;
    end = begin + size;
  }
  return end;
}

[[nodiscard]] inline std::size_t size_in_bytes(const StructType& type) noexcept {
  const std::size_t alignment = alignment_of(type), end = offset_of(type, type.fields.size());
  return (end + alignment - 1) / alignment * alignment;
}

}  // namespace kernelsearch
