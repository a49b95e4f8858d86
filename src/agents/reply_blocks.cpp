// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/reply_blocks.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "lines.hpp"

namespace kernelsearch {
namespace {

struct Fence {
  char mark = '`';
  std::size_t length = 0;
  std::string_view info;
};

/// The fence that the line is; up to three blanks may stand before it, and more inside lists.
std::optional<Fence> fence_of(std::string_view line) {
  line = detail::trimmed(line);
  if (line.empty() || (line[0] != '`' && line[0] != '~')) return std::nullopt;
  const std::size_t length = std::min(line.find_first_not_of(line[0]), line.size());
  if (length < 3) return std::nullopt;
  const std::string_view info = detail::trimmed(line.substr(length));
  if (line[0] == '`' && info.find('`') != std::string_view::npos) return std::nullopt;  // code in a sentence
  return Fence{line[0], length, info};
}

bool is_markdown(std::string_view language) {
  return language == "markdown" || language == "md";
}

CodeBlock opened(const Fence& fence, std::size_t begin) {
  CodeBlock block;
  const std::size_t space = std::min(fence.info.find_first_of(" \t"), fence.info.size());
  for (const char c : fence.info.substr(0, space))
    block.language += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  block.info = detail::trimmed(fence.info.substr(space));
  block.begin = begin;
  return block;
}

void read(std::string_view reply, std::size_t offset, int depth, std::vector<CodeBlock>& blocks) {
  std::optional<CodeBlock> open;
  Fence fence;
  std::size_t inner = 0;  // blocks open inside a block of Markdown with fences of the same length
  const auto close = [&](bool closed, std::size_t end) {
    open->closed = closed;
    open->end = end;
    const std::size_t content = reply.find('\n', open->begin - offset) + 1 + offset;
    std::vector<CodeBlock> nested;
    if (is_markdown(open->language) && depth < 4) read(open->text, content, depth + 1, nested);
    for (CodeBlock& block : nested) {  // the text may have a newline more than the reply
      block.begin = std::min(block.begin, end);
      block.end = std::min(block.end, end);
    }
    if (nested.empty())
      blocks.push_back(*std::move(open));
    else
      std::move(nested.begin(), nested.end(), std::back_inserter(blocks));
    open.reset();
  };
  std::size_t at = 0;
  while (at < reply.size()) {
    const std::size_t newline = reply.find('\n', at);
    const std::size_t next = newline == std::string_view::npos ? reply.size() : newline + 1;
    const std::string_view line = reply.substr(at, next - at);
    const auto here = fence_of(line);
    if (!open) {
      if (here) {
        fence = *here;
        open = opened(fence, offset + at);
        inner = 0;
      }
    } else if (here && here->mark == fence.mark && here->length >= fence.length && here->info.empty() &&
               inner == 0) {
      close(true, offset + next);
    } else if (here && here->mark == fence.mark && here->length == fence.length && !here->info.empty() &&
               !is_markdown(open->language)) {
      close(false, offset + at);  // its own fence was forgotten
      fence = *here;
      open = opened(fence, offset + at);
    } else {
      if (here && is_markdown(open->language) && here->length == fence.length)
        here->info.empty() ? --inner : ++inner;
      open->text += line;
      if (newline == std::string_view::npos) open->text += '\n';
    }
    at = next;
  }
  if (open) close(false, offset + reply.size());
}

}  // namespace

std::vector<CodeBlock> code_blocks(std::string_view reply) {
  std::vector<CodeBlock> blocks;
  read(reply, 0, 0, blocks);
  return blocks;
}

std::string prose_of(std::string_view reply, const std::vector<CodeBlock>& blocks) {
  std::string prose;
  std::size_t at = 0;
  for (const CodeBlock& block : blocks) {
    prose += reply.substr(at, block.begin - at);
    at = block.end;
  }
  prose += reply.substr(std::min(at, reply.size()));
  return prose;
}

}  // namespace kernelsearch
