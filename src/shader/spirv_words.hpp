// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <span>

namespace kernelsearch::detail::spirv {

inline constexpr std::uint32_t magic_number = 0x07230203, swapped_magic = 0x03022307;
/// Ids of one module: what drivers take (SPIR-V's own limit), so that no file makes us reserve gigabytes.
inline constexpr std::uint32_t most_ids = 0x3fffff;

enum Op : std::uint32_t {
  op_name = 5,
  op_member_name = 6,
  op_entry_point = 15,
  op_execution_mode = 16,
  op_capability = 17,
  op_type_bool = 20,
  op_type_int = 21,
  op_type_float = 22,
  op_type_vector = 23,
  op_type_matrix = 24,
  op_type_array = 28,
  op_type_runtime_array = 29,
  op_type_struct = 30,
  op_type_pointer = 32,
  op_constant_true = 41,
  op_constant_false = 42,
  op_constant = 43,
  op_constant_composite = 44,
  op_spec_constant_true = 48,
  op_spec_constant_false = 49,
  op_spec_constant = 50,
  op_spec_constant_composite = 51,
  op_spec_constant_op = 52,
  op_function = 54,
  op_function_end = 56,
  op_function_call = 57,
  op_variable = 59,
  op_load = 61,
  op_store = 62,
  op_copy_memory = 63,
  op_copy_memory_sized = 64,
  op_access_chain = 65,
  op_in_bounds_access_chain = 66,
  op_array_length = 68,
  op_decorate = 71,
  op_member_decorate = 72,
  op_copy_object = 83,
  op_execution_mode_id = 331,
};

/// The execution model of compute shaders.
inline constexpr std::uint32_t model_compute = 5;

enum Decoration : std::uint32_t {
  decoration_spec_id = 1,
  decoration_buffer_block = 3,
  decoration_built_in = 11,
  decoration_binding = 33,
  decoration_set = 34,
  decoration_offset = 35,
};

enum Storage : std::uint32_t {
  storage_uniform_constant = 0,
  storage_uniform = 2,
  storage_workgroup = 4,
  storage_push_constant = 9,
  storage_buffer = 12,
};

/// Calls `visit` with each instruction's code and words, up to the first that is cut short.
template <class Word, class Visit>
void for_each_instruction(std::span<Word> words, Visit visit) {
  for (std::size_t at = 5; at < words.size();) {
    const std::uint32_t count = words[at] >> 16;
    if (count == 0 || count > words.size() - at) return;
    visit(words[at] & 0xffff, words.subspan(at, count));
    at += count;
  }
}

}  // namespace kernelsearch::detail::spirv
