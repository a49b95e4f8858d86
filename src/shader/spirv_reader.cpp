// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "shader/spirv_reader.hpp"

namespace kernelsearch::detail::spirv {

std::optional<std::pair<std::string, std::size_t>> text_at(std::span<const std::uint32_t> words,
                                                           std::size_t at) {
  std::string text;
  for (std::size_t i = at; i < words.size(); ++i) {
    for (int byte = 0; byte < 4; ++byte) {
      const char c = static_cast<char>(words[i] >> (8 * byte) & 0xff);
      if (c == '\0') return std::pair{std::move(text), i + 1 - at};
      text += c;
    }
  }
  return std::nullopt;
}

kernelsearch::Fault bad(std::string given) {
  return kernelsearch::Fault{"this is not a compute shader that can be launched", std::move(given),
                             "compile it by glslangValidator -V, or check it by spirv-val"};
}

Result<SpirvKernel> ModuleReader::read(std::span<const std::uint32_t> words) {
  if (words.size() < 5 || words[0] != magic_number) return bad("it does not begin as SPIR-V does");
  if (words[3] == 0 || words[3] > most_ids) return bad("its bound of ids is " + std::to_string(words[3]));
  find_named_defaults(words);
  for (std::size_t at = 5; at < words.size();) {
    const std::uint32_t count = words[at] >> 16;
    if (count == 0 || count > words.size() - at) return bad("it is cut short at word " + std::to_string(at));
    if (auto fault = take(words[at] & 0xffff, words.subspan(at, count)))
      return bad(*fault + " at word " + std::to_string(at));
    at += count;
  }
  return finish();
}

std::optional<std::string> ModuleReader::take(std::uint32_t op, Words w) {
  const auto shorter = [&](std::size_t least) { return w.size() < least; };
  const std::string cut = "an instruction (" + std::to_string(op) + ") is too short";
  switch (op) {
    case op_name: {
      if (shorter(3)) return cut;
      if (auto text = text_at(w, 2)) names_[w[1]] = std::move(text->first);
      return std::nullopt;
    }
    case op_member_name: {
      if (shorter(4)) return cut;
      if (auto text = text_at(w, 3)) member_names_[{w[1], w[2]}] = std::move(text->first);
      return std::nullopt;
    }
    case op_capability:
      if (shorter(2)) return cut;
      capabilities_.insert(w[1]);
      return std::nullopt;
    case op_entry_point: {
      if (shorter(4)) return cut;
      auto text = text_at(w, 3);
      if (!text) return "the name of an entry point does not end";
      if (w[1] == model_compute) entries_.emplace_back(w[2], std::move(text->first));
      return std::nullopt;
    }
    case op_execution_mode:
    case op_execution_mode_id: {
      if (shorter(3)) return cut;
      const std::uint32_t local_size = op == op_execution_mode ? 17 : 38;
      if (w[2] != local_size) return std::nullopt;
      if (shorter(6)) return cut;
      sizes_[w[1]] = {op == op_execution_mode_id, {w[3], w[4], w[5]}};
      return std::nullopt;
    }
    case op_decorate: {
      if (shorter(3)) return cut;
      Decorations& d = decorations_[w[1]];
      if (w[2] == decoration_buffer_block) d.buffer_block = true;
      if (shorter(4)) return std::nullopt;
      if (w[2] == decoration_spec_id) d.spec_id = w[3];
      if (w[2] == decoration_built_in) d.built_in = w[3];
      if (w[2] == decoration_binding) d.binding = w[3];
      if (w[2] == decoration_set) d.set = w[3];
      return std::nullopt;
    }
    case op_member_decorate:
      if (shorter(4)) return cut;
      if (w[3] != decoration_offset) return std::nullopt;
      if (shorter(5)) return cut;
      decorations_[w[1]].offsets[w[2]] = w[4];
      return std::nullopt;
    case op_type_bool:
      if (shorter(2)) return cut;
      types_[w[1]] = {Type::boolean, 32};
      return std::nullopt;
    case op_type_int:
      if (shorter(4)) return cut;
      types_[w[1]] = {Type::integer, w[2], w[3] != 0};
      return std::nullopt;
    case op_type_float:
      if (shorter(3)) return cut;
      types_[w[1]] = {Type::floating, w[2], true};
      return std::nullopt;
    case op_type_vector:
    case op_type_matrix:
      if (shorter(4)) return cut;
      types_[w[1]] = {op == op_type_vector ? Type::vector : Type::matrix, w[3], false, w[2]};
      return std::nullopt;
    case op_type_array:
      if (shorter(4)) return cut;
      types_[w[1]] = {Type::array, 0, false, w[2], w[3]};
      return std::nullopt;
    case op_type_runtime_array:
      if (shorter(3)) return cut;
      types_[w[1]] = {Type::runtime_array, 0, false, w[2]};
      return std::nullopt;
    case op_type_struct: {
      if (shorter(2)) return cut;
      Type type{Type::structure};
      type.members.assign(w.begin() + 2, w.end());
      types_[w[1]] = std::move(type);
      return std::nullopt;
    }
    case op_type_pointer:
      if (shorter(4)) return cut;
      types_[w[1]] = {Type::pointer, 0, false, w[3], 0, w[2]};
      return std::nullopt;
    case op_constant:
    case op_spec_constant: {
      if (shorter(4)) return cut;
      Constant c{w[1], w[3], false};
      if (w.size() > 4) c.bits |= static_cast<std::uint64_t>(w[4]) << 32;
      return constant(w[2], c, op == op_spec_constant);
    }
    case op_constant_true:
    case op_constant_false:
    case op_spec_constant_true:
    case op_spec_constant_false: {
      if (shorter(3)) return cut;
      const bool holds = op == op_constant_true || op == op_spec_constant_true;
      return constant(w[2], {w[1], holds ? 1u : 0u, true},
                      op == op_spec_constant_true || op == op_spec_constant_false);
    }
    case op_constant_composite:
    case op_spec_constant_composite:
      if (shorter(3)) return cut;
      composites_[w[2]].assign(w.begin() + 3, w.end());
      return std::nullopt;
    case op_spec_constant_op:
      if (shorter(4)) return cut;
      operate(w);
      return std::nullopt;
    case op_variable:
      if (shorter(4)) return cut;
      variables_.push_back({w[2], w[1], w[3]});
      return std::nullopt;
    case op_array_length:
      if (shorter(5)) return cut;
      measured_.insert(w[3]);
      use(op, w);
      return std::nullopt;
    case op_function:
      if (shorter(5)) return cut;
      function_ = w[2];
      return std::nullopt;
    case op_function_end:
      function_ = 0;
      return std::nullopt;
    default:
      use(op, w);
      return std::nullopt;
  }
}

/// Notes what an instruction of a function may point to, and which functions it calls. Pointers are nowhere
/// else than here without the capabilities of variable pointers, which no device is asked for.
void ModuleReader::use(std::uint32_t op, Words w) {
  if (function_ == 0) return;
  std::set<std::uint32_t>& ids = used_[function_];
  const auto operands = [&](std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < w.size() && i < first + count; ++i) ids.insert(w[i]);
  };
  constexpr std::uint32_t atomic_first = 227, atomic_store = 228, atomic_last = 242;
  switch (op) {
    case op_function_call:  // the function, and pointers that it is given
      return operands(3, w.size());
    case op_load:
    case op_access_chain:
    case op_in_bounds_access_chain:
    case op_array_length:
    case op_copy_object:
      return operands(3, 1);
    case op_store:
    case op_copy_memory:
    case op_copy_memory_sized:
      return operands(1, 2);
    default:
      if (op >= atomic_first && op <= atomic_last) operands(op == atomic_store ? 1 : 3, 1);
  }
}

/// What the functions use that are called from one.
std::set<std::uint32_t> ModuleReader::used_from(std::uint32_t function) const {
  std::set<std::uint32_t> all{function};
  std::vector<std::uint32_t> next{function};
  while (!next.empty()) {
    const auto found = used_.find(next.back());
    next.pop_back();
    if (found == used_.end()) continue;
    for (const std::uint32_t id : found->second)
      if (all.insert(id).second) next.push_back(id);
  }
  return all;
}

std::string ModuleReader::name(std::uint32_t id) const {
  const auto found = names_.find(id);
  return found == names_.end() ? std::string() : found->second;
}

}  // namespace kernelsearch::detail::spirv
