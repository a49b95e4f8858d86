// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/region_answer.hpp"

#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"

namespace kernelsearch {
namespace {

struct Block {
  std::string language, text;
  bool closed = false;
};

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Length of the fence that the line opens or closes: three or more of ` or ~ after up to three blanks.
std::size_t fence_of(std::string_view line, char& mark) {
  std::size_t indent = 0;
  while (indent < line.size() && indent < 4 && line[indent] == ' ') ++indent;
  if (indent > 3 || indent == line.size() || (line[indent] != '`' && line[indent] != '~')) return 0;
  mark = line[indent];
  std::size_t length = 0;
  while (indent + length < line.size() && line[indent + length] == mark) ++length;
  return length >= 3 ? length : 0;
}

std::vector<Block> blocks_of(std::string_view text) {
  std::vector<Block> blocks;
  std::size_t open = 0;
  char open_mark = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    char mark = 0;
    const std::size_t length = fence_of(line, mark);
    if (open == 0 && length > 0) {
      const std::string_view info = trimmed(line.substr(line.find(mark) + length));
      if (info.find('`') != std::string_view::npos) continue;  // code within a line of prose
      blocks.push_back({std::string(info.substr(0, info.find(' '))), {}, false});
      open = length;
      open_mark = mark;
    } else if (open > 0 && length >= open && mark == open_mark &&
               trimmed(line.substr(line.find(mark) + length)).empty()) {
      blocks.back().closed = true;
      open = 0;
    } else if (open > 0) {
      (blocks.back().text += line) += '\n';
    }
  }
  return blocks;
}

RegionAnswer faulty(RegionFault fault, std::string detail) {
  RegionAnswer answer;
  answer.fault = fault;
  answer.detail = std::move(detail);
  return answer;
}

bool declares(const Block& block) {
  return (block.language == "json" || block.language == "JSON") &&
         block.text.find("\"tunables\"") != std::string::npos;
}

}  // namespace

RegionAnswer read_region_answer(const ChatReply& reply, std::size_t longest, DeclaredTunablesLimits limits) {
  if (reply.finish == FinishReason::refusal || reply.finish == FinishReason::filter)
    return faulty(RegionFault::empty,
                  "the request was declined (" + std::string(to_string(reply.finish)) + ")");
  const std::string_view text = trimmed(reply.text);
  if (text.empty()) return faulty(RegionFault::empty, "the reply was empty");

  RegionAnswer answer;
  std::vector<Block> code;
  for (Block& block : blocks_of(text)) {
    if (!block.closed)
      return faulty(
          RegionFault::cut,
          "the block of code does not end; give the whole region, shorter if need be, and close it");
    if (!declares(block)) {
      code.push_back(std::move(block));
      continue;
    }
    try {
      DeclaredTunables declared = read_declared_tunables(block.text, "the declaration of tunables", limits);
      for (Tunable& tunable : declared.tunables) answer.declared.tunables.push_back(std::move(tunable));
      for (std::string& constraint : declared.constraints)
        answer.declared.constraints.push_back(std::move(constraint));
    } catch (const ConfigError& error) {
      return faulty(RegionFault::bad_tunables, error.what());
    }
  }
  if (code.size() > 1)
    return faulty(RegionFault::several, "there are " + std::to_string(code.size()) +
                                            " blocks of code; give one, with the whole region");
  if (code.empty()) {
    if (text.substr(0, 9) == "UNCHANGED" ||
        (text.size() >= 9 && text.substr(text.size() - 9) == "UNCHANGED")) {
      answer.unchanged = true;
      return answer;
    }
    if (reply.finish == FinishReason::length)
      return faulty(RegionFault::cut, "the reply was cut before any code; be shorter");
    return faulty(RegionFault::no_code, "there is no block of code; put the whole region between ``` fences");
  }
  if (code.front().text.size() > longest)
    return faulty(RegionFault::too_long, std::to_string(code.front().text.size()) + " characters; at most " +
                                             std::to_string(longest));
  answer.text = std::move(code.front().text);
  return answer;
}

}  // namespace kernelsearch
