// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/quoted_text.hpp"

#include <algorithm>

#include "kernelsearch/core/impl/utf8.hpp"

namespace kernelsearch {
namespace {

/// The last place in [from, to] where a line, else a sentence, ends; `to` where none does.
std::size_t end_before(std::string_view text, std::size_t from, std::size_t to) {
  for (std::size_t at = to; at > from; --at)
    if (text[at] == '\n') return at;
  for (std::size_t at = to; at > from; --at)
    if (text[at] == ' ' && text[at - 1] == '.') return at;
  return to;
}

/// The first place in [from, to] where a line, else a sentence, begins; `from` where none does.
std::size_t begin_behind(std::string_view text, std::size_t from, std::size_t to) {
  for (std::size_t at = from; at < to; ++at)
    if (text[at - 1] == '\n') return at;
  for (std::size_t at = from; at < to; ++at)
    if (text[at - 1] == ' ' && text[at - 2] == '.') return at;
  return from;
}

}  // namespace

std::string shortened(std::string_view text, std::size_t limit) {
  limit = std::max<std::size_t>(limit, 100);
  if (text.size() <= limit) return std::string(text);
  const std::size_t kept = limit - 60;  // what the line between may take
  std::size_t head = kept * 2 / 3, tail = text.size() - kept / 3;
  head = end_before(text, head / 2, head);
  tail = begin_behind(text, tail, text.size() - kept / 6);
  head = detail::utf8_cut(text, head);
  while (tail < text.size() && detail::continues_utf8(text[tail])) ++tail;
  std::string result(text.substr(0, head));
  result += "\n[... " + std::to_string(tail - head) + " bytes left out ...]\n";
  result += text.substr(tail);
  return result;
}

std::string quoted(std::string_view text, std::string_view label, std::size_t limit) {
  const std::string content = shortened(clean_text(text), limit);
  std::size_t longest = 2, run = 0;
  for (const char c : content) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  std::string result = fence;
  result += label;
  result += '\n';
  result += content;
  if (content.empty() || content.back() != '\n') result += '\n';
  return result + fence;
}

}  // namespace kernelsearch
