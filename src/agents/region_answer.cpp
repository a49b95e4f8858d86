// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/region_answer.hpp"

#include <utility>
#include <vector>

#include "kernelsearch/agents/reply_blocks.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/text.hpp"

namespace kernelsearch {
namespace {

RegionAnswer faulty(ReplyFault fault, std::string detail) {
  RegionAnswer answer;
  answer.fault = fault;
  answer.detail = std::move(detail);
  return answer;
}

bool declares(const CodeBlock& block) {
  return block.language == "json" && (block.text.find("\"tunables\"") != std::string::npos ||
                                      block.text.find("\"constraints\"") != std::string::npos);
}

}  // namespace

RegionAnswer read_region_answer(const ChatReply& reply, std::size_t longest, DeclaredTunablesLimits limits) {
  if (reply.finish == FinishReason::refusal || reply.finish == FinishReason::filter)
    return faulty(ReplyFault::declined,
                  "the request was declined (" + std::string(to_string(reply.finish)) + ")");
  const std::string_view text = detail::trimmed(reply.text);
  if (text.empty()) return faulty(ReplyFault::empty, "the reply was empty");

  RegionAnswer answer;
  std::vector<CodeBlock> code;
  for (CodeBlock& block : code_blocks(text)) {
    if (!block.closed)
      return faulty(
          ReplyFault::truncated,
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
      return faulty(ReplyFault::bad_tunables, error.what());
    }
  }
  if (code.size() > 1)
    return faulty(ReplyFault::wrong_region, "there are " + std::to_string(code.size()) +
                                                " blocks of code; give one, with the whole region");
  if (code.empty()) {
    if (text.substr(0, 9) == "UNCHANGED" ||
        (text.size() >= 9 && text.substr(text.size() - 9) == "UNCHANGED")) {
      answer.unchanged = true;
      return answer;
    }
    if (reply.finish == FinishReason::length)
      return faulty(ReplyFault::truncated, "the reply was cut before any code; be shorter");
    return faulty(ReplyFault::no_code, "there is no block of code; put the whole region between ``` fences");
  }
  if (code.front().text.size() > longest)
    return faulty(ReplyFault::too_long, std::to_string(code.front().text.size()) + " characters; at most " +
                                            std::to_string(longest));
  answer.text = std::move(code.front().text);
  return answer;
}

}  // namespace kernelsearch
