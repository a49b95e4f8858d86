// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/tunable_text.hpp"

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <variant>

namespace kernelsearch {
namespace {

std::string order_text(const Permutation& order, std::string_view between) {
  std::string text;
  for (const std::int64_t place : order)
    text.append(text.empty() ? "" : between).append(std::to_string(place));
  return "{" + text + "}";
}

std::string flag_text(const Value& value) {
  const auto* const order = std::get_if<Permutation>(&value);
  return order != nullptr ? order_text(*order, ",") : tunable_text(value);
}

std::string expand(std::string_view text, std::span<const NamedValue> values, const OtherText& other,
                   std::string (*text_of)(const Value&)) {
  std::string expanded;
  while (true) {
    const std::size_t begin = std::min(text.find("${"), text.size());
    expanded += text.substr(0, begin);
    text.remove_prefix(begin);
    if (text.empty()) return expanded;
    const std::size_t end = text.find('}');
    const std::string_view whole = text.substr(0, end == std::string_view::npos ? end : end + 1);
    const auto found = std::find_if(values.begin(), values.end(), [&](const NamedValue& one) {
      return whole.substr(2) == one.first + "}";
    });
    expanded += found != values.end() ? text_of(found->second) : other ? other(whole) : std::string(whole);
    text.remove_prefix(whole.size());
  }
}

}  // namespace

std::string tunable_text(const Value& value) {
  if (const auto* const flag = std::get_if<bool>(&value)) return *flag ? "1" : "0";
  const auto* const order = std::get_if<Permutation>(&value);
  return order != nullptr ? order_text(*order, ", ") : to_string(value);
}

std::vector<std::pair<std::string, std::string>> tunable_macros(std::span<const NamedValue> values) {
  std::vector<std::pair<std::string, std::string>> macros;
  for (const auto& [name, value] : values) {
    macros.emplace_back(name, tunable_text(value));
    if (const auto* const order = std::get_if<Permutation>(&value))
      for (std::size_t i = 0; i < order->size(); ++i)
        macros.emplace_back(name + "_" + std::to_string(i), std::to_string((*order)[i]));
  }
  return macros;
}

std::string tunable_definitions(std::span<const NamedValue> values) {
  std::string text;
  for (const auto& [name, value] : tunable_macros(values))
    text += "#define " + name + (value.empty() ? "" : " ") + value + "\n";
  return text;
}

std::string expand_tunables(std::string_view text, std::span<const NamedValue> values,
                            const OtherText& other) {
  return expand(text, values, other, tunable_text);
}

std::vector<std::string> expand_flags(std::span<const std::string> flags, std::span<const NamedValue> values,
                                      const OtherText& other) {
  std::vector<std::string> words;
  for (const std::string& flag : flags) {
    std::istringstream stream(expand(flag, values, other, flag_text));
    for (std::string word; stream >> word;) words.push_back(word);
  }
  return words;
}

}  // namespace kernelsearch
