// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "shader/spirv_module.hpp"

#include <cstring>
#include <map>
#include <set>

#include "shader/spirv_reader.hpp"
#include "shader/spirv_words.hpp"

namespace kernelsearch::detail {

std::vector<std::string> spirv_entries(std::span<const std::uint32_t> words) {
  std::vector<std::string> names;
  spirv::for_each_instruction(words, [&](std::uint32_t op, std::span<const std::uint32_t> w) {
    if (op != spirv::op_entry_point || w.size() < 4 || w[1] != spirv::model_compute) return;
    if (auto text = spirv::text_at(w, 3)) names.push_back(std::move(text->first));
  });
  return names;
}

void make_bindings_distinct(std::vector<std::uint32_t>& words) {
  if (words.size() < 5) return;
  std::map<std::uint32_t, std::uint32_t*> bindings;  // of a variable
  std::vector<std::uint32_t> variables;
  spirv::for_each_instruction(std::span(words), [&](std::uint32_t op, std::span<std::uint32_t> w) {
    if (op == spirv::op_decorate && w.size() == 4 && w[2] == spirv::decoration_binding)
      bindings[w[1]] = &w[3];
    if (op == spirv::op_variable && w.size() >= 4 && bindings.contains(w[2])) variables.push_back(w[2]);
  });
  std::set<std::uint32_t> taken;
  bool twice = false;
  for (const std::uint32_t variable : variables) twice = !taken.insert(*bindings[variable]).second || twice;
  if (!twice) return;
  for (std::size_t v = 0; v < variables.size(); ++v) *bindings[variables[v]] = static_cast<std::uint32_t>(v);
}

Result<SpirvKernel> read_spirv(std::span<const std::uint32_t> words, const std::string& entry,
                               std::span<const std::pair<std::string, Value>> values) {
  return spirv::ModuleReader(entry, values).read(words);
}

Result<std::vector<std::uint32_t>> spirv_words(std::span<const std::byte> bytes) {
  if (bytes.size() < 20 || bytes.size() % 4 != 0)
    return spirv::bad("it has " + std::to_string(bytes.size()) + " bytes, which is not a number of words");
  std::vector<std::uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  if (words[0] == spirv::swapped_magic)
    for (std::uint32_t& word : words)
      word = word >> 24 | (word >> 8 & 0xff00) | (word << 8 & 0xff0000) | word << 24;
  if (words[0] != spirv::magic_number) return spirv::bad("it does not begin as SPIR-V does");
  return words;
}

}  // namespace kernelsearch::detail
