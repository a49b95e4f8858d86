// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/refusal.hpp"

#include <algorithm>
#include <vector>

#include "kernelsearch/agents/quoted_text.hpp"
#include "kernelsearch/agents/reply_blocks.hpp"
#include "lines.hpp"

namespace kernelsearch {
namespace {

constexpr std::size_t most_of_reason = 400;  // characters: a sentence or two, which other prompts repeat

/// The line without what Markdown puts around it.
std::string_view unmarked(std::string_view line) {
  constexpr std::string_view marks = " \t\r*_`>#-";
  const std::size_t begin = line.find_first_not_of(marks);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r*_`") + 1 - begin);
}

/// What follows the form, if the line begins with it.
std::optional<std::string_view> after_form(std::string_view line) {
  line = unmarked(line);
  if (!line.starts_with(refusal_form)) return std::nullopt;
  line.remove_prefix(refusal_form.size());
  if (!line.empty() && line.front() != ':' && line.front() != '*' && line.front() != '`') return std::nullopt;
  return unmarked(line.substr(std::min(line.size(), line.find_first_not_of(":*` "))));
}

Refusal faulty_refusal(std::string detail) {
  return {{ReplyFault::bad_refusal, std::move(detail)}, {}};
}

}  // namespace

std::optional<Refusal> read_refusal(std::string_view reply, std::span<const std::string> names) {
  std::optional<std::string> reason;
  bool code = false;
  const std::vector<CodeBlock> blocks = code_blocks(reply);
  const auto look = [&reason](std::string_view line) {
    const auto found = after_form(line);
    if (found && !reason) reason = std::string(*found);
    return found.has_value();
  };
  const std::string prose = prose_of(reply, blocks);
  for (const std::string_view line : detail::lines_of(prose)) look(line);
  for (const CodeBlock& block : blocks)
    if (!look(std::string_view(block.text).substr(0, block.text.find('\n')))) code = true;
  if (!reason) return std::nullopt;
  const std::string form(refusal_form);
  if (names.empty())
    return faulty_refusal(
        "Nothing was asked for by name, so there is nothing that could not apply: give the code.");
  if (code) return faulty_refusal("The reply says " + form + " and gives code: give one of them.");
  if (reason->empty())
    return faulty_refusal("The reply does not say why: " + form + ": the reason, in a sentence.");
  const bool named = std::any_of(names.begin(), names.end(), [&reason](const std::string& name) {
    return reason->starts_with(name + ": ");
  });
  if (!named && names.size() > 1)
    return faulty_refusal("Several things were asked for; name the one that does not apply: " + form + ": " +
                          names.front() + ": the reason.");
  if (!named) reason = names.front() + ": " + *reason;
  return Refusal{{}, shortened(clean_text(*reason), most_of_reason)};
}

}  // namespace kernelsearch
