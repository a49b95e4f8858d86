// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "shader/ready_module.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>

#include "shader/spirv_reader.hpp"
#include "shader/spirv_words.hpp"

namespace kernelsearch::detail {
namespace {

kernelsearch::Fault no_module(std::string given) {
  return kernelsearch::Fault{
      "this is not a module of SPIR-V", std::move(given),
      "write the binary that glslangValidator -V -o kernel.spv makes, or its words as -x lists them"};
}

constexpr std::string_view first_word = "0x07230203";

/// Where the text goes on behind spaces and comments.
std::size_t after_comments(std::string_view text, std::size_t at) {
  for (;;) {
    at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
    if (text.substr(at, 2) != "//") return at;
    at = std::min(text.find('\n', at), text.size());
  }
}

/// Whether the function of the entry point is there, and each that begins ends.
bool has_functions(std::span<const std::uint32_t> words, const std::string& entry) {
  std::uint32_t id = 0;
  std::size_t begun = 0, ended = 0;
  bool found = false;
  spirv::for_each_instruction(words, [&](std::uint32_t op, std::span<const std::uint32_t> w) {
    if (op == spirv::op_entry_point && w.size() > 3 && w[1] == spirv::model_compute)
      if (const auto name = spirv::text_at(w, 3); name && name->first == entry) id = w[2];
    if (op == spirv::op_function && w.size() > 2) ++begun, found = found || w[2] == id;
    if (op == spirv::op_function_end) ++ended;
  });
  return found && begun == ended;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

}  // namespace

bool is_ready_file(std::string_view name) noexcept {
  return name.ends_with(".spv");
}

bool is_ready_text(std::string_view text) noexcept {
  return text.substr(after_comments(text, 0), first_word.size()) == first_word;
}

std::string ready_text(std::span<const std::uint32_t> words) {
  constexpr std::size_t in_line = 8;
  std::string text;
  text.reserve(words.size() * 11);
  for (std::size_t i = 0; i < words.size(); ++i) {
    char digits[8];
    const auto end = std::to_chars(digits, digits + sizeof digits, words[i], 16).ptr;
    text += "0x" + std::string(static_cast<std::size_t>(digits + sizeof digits - end), '0');
    text.append(digits, end);
    text += (i + 1) % in_line == 0 || i + 1 == words.size() ? ",\n" : ",";
  }
  return text;
}

Result<std::vector<std::uint32_t>> ready_words(std::string_view content) {
  if (!is_ready_text(content)) {
    auto words = spirv_words({reinterpret_cast<const std::byte*>(content.data()), content.size()});
    if (words) return words;
    return no_module(words.error().given);
  }
  std::vector<std::uint32_t> words;
  words.reserve(content.size() / 11);
  for (std::size_t at = after_comments(content, 0); at < content.size(); at = after_comments(content, at)) {
    const std::string place = "behind word " + std::to_string(words.size());
    if (content.substr(at, 2) != "0x") return no_module("a text that is not a number " + place);
    at += 2;
    std::uint32_t word = 0;
    const auto read = std::from_chars(content.data() + at, content.data() + content.size(), word, 16);
    if (read.ec != std::errc()) return no_module("a number that is not a word " + place);
    words.push_back(word);
    at = after_comments(content, static_cast<std::size_t>(read.ptr - content.data()));
    if (at < content.size() && content[at] == ',') ++at;
  }
  return words;
}

std::string ready_bytes(std::span<const std::uint32_t> words) {
  std::string bytes(words.size() * 4, '\0');
  if (!words.empty()) std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

Result<SpirvKernel> read_ready(std::span<const std::uint32_t> words, const std::string& function, bool alone,
                               std::span<const std::pair<std::string, Value>> values) {
  constexpr std::uint32_t most_version = 0x00010300;
  if (words.size() > 1 && words[1] > most_version)
    return kernelsearch::Fault{
        "this module is for a newer Vulkan than devices are asked for",
        "SPIR-V " + std::to_string(words[1] >> 16) + "." + std::to_string(words[1] >> 8 & 0xff),
        "compile it for Vulkan 1.1, which takes SPIR-V up to 1.3: glslangValidator -V --target-env "
        "vulkan1.1"};
  const std::vector<std::string> entries = spirv_entries(words);
  const bool named = std::find(entries.begin(), entries.end(), function) != entries.end();
  if (!entries.empty() && !named && (!alone || entries.size() > 1))
    return kernelsearch::Fault{"the module has no entry point of the kernel's name", function,
                               "its entry points are " + list_of(entries)};
  auto kernel = read_spirv(words, named ? function : std::string(), values);
  if (kernel && !has_functions(words, kernel->entry))
    return kernelsearch::Fault{"this module is cut short",
                               "the functions of its entry point " + kernel->entry, "write the whole of it"};
  return kernel;
}

std::string no_constant(const SpirvKernel& kernel, const std::string& tunable) {
  std::vector<std::string> names;
  for (const SpirvConstant& constant : kernel.constants) names.push_back(constant.name);
  if (std::find(names.begin(), names.end(), tunable) != names.end()) return {};
  return "its specialisation constants are " + list_of(names) +
         ": a ready module has no other place for a tunable. Name the tunable after one of them, or compile "
         "the module with such a constant (layout(constant_id = N) const ...)";
}

std::vector<std::uint32_t> specialised(std::vector<std::uint32_t> words,
                                       std::span<const SpirvConstant> constants) {
  std::map<std::uint32_t, const SpirvConstant*> known;  // by the result's id
  spirv::for_each_instruction(std::span(words), [&](std::uint32_t op, std::span<std::uint32_t> w) {
    if (op == spirv::op_decorate && w.size() == 4 && w[2] == spirv::decoration_spec_id) {
      const auto constant = std::find_if(constants.begin(), constants.end(), [&](const SpirvConstant& one) {
        return one.id == w[3] && !one.differ;
      });
      if (constant != constants.end()) known[w[1]] = &*constant;
    }
    if (w.size() < 3) return;
    const auto found = known.find(w[2]);
    if (found == known.end()) return;
    const SpirvConstant& constant = *found->second;
    if (op == spirv::op_spec_constant && w.size() > 3) {
      // Narrow numbers are extended to the word that holds them, signed ones by their sign.
      const unsigned unused =
          constant.bytes < 4 && constant.kind == SpirvConstant::signed_integer ? 32 - 8 * constant.bytes : 0;
      w[3] = static_cast<std::uint32_t>(static_cast<std::int32_t>(constant.bits << unused) >> unused);
      if (w.size() > 4) w[4] = static_cast<std::uint32_t>(constant.bits >> 32);
    } else if (op == spirv::op_spec_constant_true || op == spirv::op_spec_constant_false) {
      const std::uint32_t code =
          constant.bits != 0 ? spirv::op_spec_constant_true : spirv::op_spec_constant_false;
      w[0] = (w[0] & 0xffff0000) | code;
    }
  });
  return words;
}

}  // namespace kernelsearch::detail
