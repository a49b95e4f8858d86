// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kernelsearch {

/// A fenced block of a reply.
struct CodeBlock {
  std::string language;   ///< first word after the fence, lower case; empty where there is none
  std::string info;       ///< what follows it on that line
  std::string text;       ///< with a newline at its end unless empty
  bool closed = true;     ///< false where the reply ends, or another block begins, before the closing fence
  std::size_t begin = 0;  ///< of the opening fence's line, in the reply
  std::size_t end = 0;    ///< one past the closing fence's line
};

/// The fenced blocks of a reply, in order. Fences are three or more backticks or tildes; a longer fence may
/// hold shorter ones; a block of Markdown that holds blocks counts as these; a fence that names a language
/// inside an open block begins the next one. Any text is taken.
[[nodiscard]] std::vector<CodeBlock> code_blocks(std::string_view reply);

/// What stands outside of the blocks.
[[nodiscard]] std::string prose_of(std::string_view reply, const std::vector<CodeBlock>& blocks);

}  // namespace kernelsearch
