// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/function_signature.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "code_tokens.hpp"
#include "kernelsearch/agents/declared_tunables.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/generator/marked_loops.hpp"
#include "lines.hpp"

namespace kernelsearch {
namespace {

/// The code with comments as blanks, and directives too where they would stand between declarations.
std::string plain(std::string_view code, bool drop_directives) {
  std::string text(code);
  for (std::size_t i = 0; i < text.size();) {
    if (drop_directives && text[i] == '#' &&
        detail::trimmed(std::string_view(text).substr(text.rfind('\n', i) + 1, i - text.rfind('\n', i) - 1))
            .empty()) {
      // A directive ends what stands before it, so it becomes a semicolon.
      text[i++] = ';';
      while (i < text.size() && text[i] != '\n') {
        if (text[i] == '\\' && i + 1 < text.size()) text[i++] = ' ';
        text[i++] = ' ';
      }
      continue;
    }
    const std::size_t next = detail::skip_opaque(text, i);
    if (next == i) {
      ++i;
      continue;
    }
    if (text[i] == '/')
      for (std::size_t k = i; k < next; ++k)
        if (text[k] != '\n') text[k] = ' ';
    i = next;
  }
  return text;
}

std::vector<std::string> tokens_of(std::string_view code) {
  std::vector<std::string> tokens;
  for (const detail::CodeToken& token : detail::code_tokens(code)) tokens.emplace_back(token.text);
  return tokens;
}

bool is_free(const std::string& token) {
  constexpr std::array names{"__restrict", "__restrict__",    "restrict",     "inline",   "static",
                             "__inline__", "__forceinline__", "__noinline__", "register", "constexpr"};
  return std::find(names.begin(), names.end(), token) != names.end();
}

/// Attributes with their arguments: what makes code faster or silences warnings, and concerns no caller.
std::vector<std::string> without_attributes(const std::vector<std::string>& tokens) {
  constexpr std::array with_arguments{"__attribute__",    "__launch_bounds__", "alignas",
                                      "__cluster_dims__", "__maxnreg__",       "__declspec"};
  std::vector<std::string> result;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] == "[[") {
      while (i < tokens.size() && tokens[i] != "]]") ++i;
      continue;
    }
    if (std::find(with_arguments.begin(), with_arguments.end(), tokens[i]) != with_arguments.end()) {
      if (i + 1 < tokens.size() && tokens[i + 1] == "(") {
        int depth = 0;
        for (++i; i < tokens.size(); ++i) {
          depth += tokens[i] == "(" ? 1 : tokens[i] == ")" ? -1 : 0;
          if (depth == 0) break;
        }
      }
      continue;
    }
    if (!is_free(tokens[i])) result.push_back(tokens[i]);
  }
  return result;
}

bool is_type_word(const std::string& token) {
  constexpr std::array words{"void",   "bool",   "char",     "short", "int",      "long", "float",
                             "double", "signed", "unsigned", "const", "volatile", "auto"};
  return std::find(words.begin(), words.end(), token) != words.end();
}

std::string type_of(std::vector<std::string> tokens) {
  const auto value = std::find(tokens.begin(), tokens.end(), "=");
  tokens.erase(value, tokens.end());
  bool array = false;
  if (const auto bracket = std::find(tokens.begin(), tokens.end(), "["); bracket != tokens.end()) {
    tokens.erase(bracket, tokens.end());
    array = true;
  }
  if (tokens.size() > 1 && detail::in_word(tokens.back()[0]) && !is_type_word(tokens.back()) &&
      tokens[tokens.size() - 2] != "::" &&
      !(tokens.size() == 2 && is_type_word(tokens[0]) && (tokens[0] == "const" || tokens[0] == "volatile")))
    tokens.pop_back();
  if (array) tokens.emplace_back("*");
  while (!tokens.empty() && tokens.back() == "const") tokens.pop_back();  // of the copy that is passed
  if (tokens.size() == 2 && tokens[0] == "const") tokens.erase(tokens.begin());
  return detail::joined(tokens, " ");
}

std::vector<std::string> parameters_of(std::string_view list) {
  std::vector<std::string> parameters;
  std::vector<std::string> one;
  int depth = 0;
  for (std::string& token : tokens_of(list)) {
    depth += token == "(" || token == "<" || token == "[" || token == "{" ? 1 : 0;
    depth -= token == ")" || token == ">" || token == "]" || token == "}" ? 1 : 0;
    if (token == "," && depth == 0) {
      parameters.push_back(type_of(without_attributes(one)));
      one.clear();
      continue;
    }
    one.push_back(std::move(token));
  }
  if (!one.empty()) parameters.push_back(type_of(without_attributes(one)));
  if (parameters == std::vector<std::string>{"void"}) parameters.clear();
  return parameters;
}

/// Tokens with blanks between them as a person writes them: `std::int32_t`, `const float*`.
std::string as_written(std::string_view tokens) {
  constexpr std::string_view before = ":*&,<>)[]", after = ":<([";
  std::string text;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i] != ' ' || text.empty() || i + 1 == tokens.size() ||
        (before.find(tokens[i + 1]) == std::string_view::npos &&
         after.find(text.back()) == std::string_view::npos))
      text += tokens[i];
  return text;
}

/// Whether the place stands inside `extern "C" {`.
bool in_linkage_block(std::string_view code, std::size_t place) {
  for (std::size_t at = code.find("extern"); at < place; at = code.find("extern", at + 1)) {
    const std::size_t open = code.find('{', at);
    if (open == std::string_view::npos || open > place) return false;
    if (detail::joined(tokens_of(code.substr(at, open - at)), " ") != "extern \"C\"") continue;
    const std::size_t close = detail::closing(code, open);
    if (close == std::string_view::npos || close > place) return true;
  }
  return false;
}

}  // namespace

std::string FunctionSignature::text(std::string_view name) const {
  std::string text = as_written(before) + (before.empty() ? "" : " ") + std::string(name) + '(';
  for (std::size_t i = 0; i < parameters.size(); ++i)
    (text += i == 0 ? "" : ", ") += as_written(parameters[i]);
  return text + ')';
}

std::optional<FunctionSignature> function_signature(std::string_view code, std::string_view name) {
  if (name.empty()) return std::nullopt;
  const std::string text = plain(code, true);
  const std::string_view view = text;
  for (std::size_t i = 0; i < view.size();) {
    if (const std::size_t next = detail::skip_opaque(view, i); next != i) {
      i = next;
      continue;
    }
    if (!detail::in_word(view[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < view.size() && detail::in_word(view[end])) ++end;
    const std::size_t begin = std::exchange(i, end);
    if (view.substr(begin, end - begin) != name) continue;
    const std::size_t open = view.find_first_not_of(detail::blanks, end);
    if (open == std::string_view::npos || view[open] != '(') continue;
    const std::size_t close = detail::closing(view, open);
    if (close == std::string_view::npos) continue;
    std::size_t body = close + 1;
    while (body < view.size() && view[body] != '{' && view[body] != ';' && view[body] != ')' &&
           view[body] != '}' && view[body] != '=')
      ++body;
    if (body >= view.size() || view[body] != '{') continue;
    // Back to where the declaration begins.
    std::size_t start = begin;
    while (start > 0 && view[start - 1] != ';' && view[start - 1] != '}' && view[start - 1] != '{') --start;
    FunctionSignature signature;
    std::vector<std::string> tokens = without_attributes(tokens_of(view.substr(start, begin - start)));
    bool linkage = in_linkage_block(view, begin);
    for (std::size_t k = 0; k + 1 < tokens.size(); ++k)
      if (tokens[k] == "extern" && tokens[k + 1] == "\"C\"") {
        tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(k),
                     tokens.begin() + static_cast<std::ptrdiff_t>(k) + 2);
        linkage = true;
        break;
      }
    if (linkage) tokens.insert(tokens.begin(), "extern \"C\"");
    signature.before = detail::joined(tokens, " ");
    signature.parameters = parameters_of(view.substr(open + 1, close - open - 1));
    return signature;
  }
  return std::nullopt;
}

std::string code_key(const Regions& regions) {
  std::string key;
  const std::string& device = regions.device;
  if (device.starts_with("def ") || device.find("\ndef ") != std::string::npos ||
      device.find("class ModelNew") != std::string::npos) {  // Python: blanks before a line count
    for (std::size_t begin = 0; begin < regions.device.size();) {
      const std::size_t end = std::min(regions.device.find('\n', begin), regions.device.size());
      const std::string line(detail::trimmed_right(regions.device.substr(begin, end - begin)));
      if (!line.empty()) key += line + '\n';
      begin = end + 1;
    }
    return key;
  }
  for (const std::string* region : {&regions.macros, &regions.device, &regions.host}) {
    const std::string text = plain(*region, false);
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t next = detail::skip_opaque(text, i);
      if (next != i) {
        key.append(text, i, next - i);
        i = next;
        continue;
      }
      if (detail::blanks.find(text[i]) == std::string_view::npos) {
        key += text[i++];
        continue;
      }
      bool newline = false;  // it counts, because directives end there
      for (; i < text.size() && detail::blanks.find(text[i]) != std::string_view::npos; ++i)
        newline = newline || text[i] == '\n';
      if (!key.empty() && key.back() != '\0') key += newline ? '\n' : ' ';
    }
    key = detail::trimmed_right(key);
    key += '\0';
  }
  // A launch is a comment to the compiler, but not to the kernel.
  return key + declaring_lines(without_declarations(regions.macros));
}

}  // namespace kernelsearch
