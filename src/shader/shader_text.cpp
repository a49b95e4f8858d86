// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "shader/shader_text.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <variant>

#include "kernelsearch/core/impl/text.hpp"

namespace kernelsearch::detail {
namespace {

std::size_t after_spaces(std::string_view text, std::size_t at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
  return at;
}

std::string_view word_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && in_word(text[end])) ++end;
  return text.substr(at, end - at);
}

/// The first declaration of a specialisation constant after `from`: where its name stands.
struct DeclaredConstant {
  std::size_t at = 0;
  std::string name;
};

std::optional<DeclaredConstant> next_constant(std::string_view text, std::size_t from) {
  constexpr std::string_view word = "constant_id";
  for (std::size_t at = text.find(word, from); at != std::string_view::npos; at = text.find(word, at + 1)) {
    if (at != 0 && in_word(text[at - 1])) continue;
    // `constant_id = N) const TYPE NAME` or `constant_id(N)]] const TYPE NAME`; local_size_x_id has no name.
    std::size_t next = text.find_first_of(")\n", at + word.size());
    if (next == std::string_view::npos || text[next] != ')') continue;
    next = after_spaces(text, next + 1);
    while (next < text.size() && text[next] == ']') next = after_spaces(text, next + 1);
    if (word_at(text, next) == "static") next = after_spaces(text, next + 6);
    if (word_at(text, next) != "const") continue;
    next = after_spaces(text, next + 5);
    next = after_spaces(text, next + word_at(text, next).size());
    std::string name(word_at(text, next));
    if (!name.empty()) return DeclaredConstant{next, std::move(name)};
  }
  return std::nullopt;
}

}  // namespace

ShaderLanguage shader_language(std::string_view file, std::string_view text) {
  if (file.ends_with(".hlsl")) return ShaderLanguage::hlsl;
  if (file.ends_with(".comp") || file.ends_with(".glsl")) return ShaderLanguage::glsl;
  return text.find("numthreads") != std::string_view::npos ? ShaderLanguage::hlsl : ShaderLanguage::glsl;
}

std::vector<std::string> declared_constants(std::string_view text) {
  std::vector<std::string> names;
  for (auto found = next_constant(text, 0); found; found = next_constant(text, found->at))
    if (std::find(names.begin(), names.end(), found->name) == names.end()) names.push_back(found->name);
  return names;
}

std::string with_constants(std::string text, const std::vector<std::pair<std::string, Value>>& values) {
  for (auto found = next_constant(text, 0); found; found = next_constant(text, found->at)) {
    const auto value =
        std::find_if(values.begin(), values.end(), [&](const auto& one) { return one.first == found->name; });
    const std::size_t equals = after_spaces(text, found->at + found->name.size());
    if (value == values.end() || equals >= text.size() || text[equals] != '=') continue;
    const std::size_t begin = after_spaces(text, equals + 1), end = text.find(';', begin);
    if (end == std::string::npos) continue;
    text.replace(begin, end - begin, to_string(value->second));
  }
  return text;
}

std::string with_version(ShaderLanguage language, const std::string& head, const std::string& regions) {
  if (language == ShaderLanguage::hlsl) return head + regions;
  std::string version = "#version 450", rest = regions;
  for (std::size_t at = 0; at < rest.size();) {
    const std::size_t end = std::min(rest.find('\n', at), rest.size());
    const std::size_t begin = rest.find_first_not_of(" \t", at);
    if (begin < end && rest.compare(begin, 8, "#version") == 0) {
      version = rest.substr(begin, end - begin);
      rest.erase(at, end - at);  // the line stays, so that messages name the right ones
      break;
    }
    at = end + 1;
  }
  return version + "\n" + head + rest;
}

}  // namespace kernelsearch::detail
