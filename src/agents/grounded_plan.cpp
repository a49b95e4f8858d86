// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/grounded_plan.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "kernelsearch/agents/quoted_text.hpp"
#include "kernelsearch/agents/reply_blocks.hpp"
#include "lines.hpp"

namespace kernelsearch {
namespace {

constexpr std::size_t most_instructions = 12'000;  // bytes

/// The number that a line begins with, as in `1. `, `2) `, `**3.**`, `Place 4: `, `#5`; 0 where there is
/// none.
std::size_t item_number(std::string_view line) {
  std::size_t at = 0;
  const auto skip = [&](std::string_view set) {
    while (at < line.size() && set.find(line[at]) != std::string_view::npos) ++at;
  };
  skip(" \t*-#_");
  const std::size_t word = at;
  while (at < line.size() && std::isalpha(static_cast<unsigned char>(line[at])) != 0) ++at;
  if (at > word) {
    std::string name;
    for (const char c : line.substr(word, at - word))
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (name != "place" && name != "span" && name != "anchor" && name != "step" && name != "instruction")
      return 0;
    skip(" \t#");
  }
  std::size_t value = 0, digits = 0;
  while (at < line.size() && std::isdigit(static_cast<unsigned char>(line[at])) != 0 && ++digits < 4)
    value = 10 * value + static_cast<std::size_t>(line[at++] - '0');
  if (digits == 0 || at == line.size() ||
      std::string_view(".):*- \t").find(line[at]) == std::string_view::npos)
    return 0;
  // A number alone is no instruction; its text may begin on the next line, though.
  return value;
}

GroundedPlan fault(ReplyFault which, std::string detail) {
  GroundedPlan plan;
  plan.judgement = {which, std::move(detail)};
  return plan;
}

/// The region that a block's first line names.
std::optional<KernelRegion> named_region(const CodeBlock& block, const ReplyExpectation& expectation) {
  for (const KernelRegion region : expectation.regions) {
    const std::string name(to_string(region));
    if (block.info == name || block.info.ends_with('=' + name)) return region;
  }
  return std::nullopt;
}

bool is_code(const CodeBlock& block) {
  return block.language != "json" && block.language != "bash" && block.language != "sh" &&
         block.language != "text";
}

}  // namespace

GroundedPlan read_plan(std::string_view reply, bool cut, const ReplyExpectation& expectation) {
  const std::vector<CodeBlock> blocks = code_blocks(reply);
  const CodeBlock* region = nullptr;
  for (const CodeBlock& block : blocks)
    if (has_anchors(block.text)) region = &block;
  if (region == nullptr) {
    if (cut)
      return fault(ReplyFault::truncated,
                   "The reply breaks off before the region with its anchors was whole.");
    if (blocks.empty())
      return fault(ReplyFault::no_code, "There is no block with the region and its anchors in the reply.");
    return fault(ReplyFault::no_anchors,
                 "No block holds <<<IMPROVE BEGINS>>> and <<<IMPROVE ENDS>>>: mark at least one place.");
  }
  if (!region->closed && cut)
    return fault(ReplyFault::truncated,
                 "The region breaks off before its end. Give it whole, then the instructions.");
  GroundedPlan plan;
  const std::optional<KernelRegion> named = named_region(*region, expectation);
  ReplyJudgement first;
  bool found = false;
  for (const KernelRegion candidate : expectation.regions) {
    const std::string& original = text_of(expectation.parent->regions, candidate);
    if (original.empty() || (named && candidate != *named)) continue;
    AnchoredText read = read_anchors(original, region->text);
    if (read.judgement.ok()) {
      found = true;
      plan.region = candidate;
      plan.spans = std::move(read.spans);
      break;
    }
    if (first.ok()) first = std::move(read.judgement);
  }
  if (!found) {
    if (first.ok())
      return fault(ReplyFault::wrong_region, "The kernel has no text in the region " +
                                                 std::string(named ? to_string(*named) : "") +
                                                 " that could be marked.");
    return fault(first.fault, std::move(first.detail));
  }
  const std::string prose = prose_of(reply, blocks);
  plan.instructions = shortened(clean_text(detail::trimmed(prose)), most_instructions);
  if (plan.instructions.empty())
    return fault(ReplyFault::missing_instruction, "Say after the block what belongs at each place.");
  if (plan.spans.size() > 1) {
    std::set<std::size_t> numbers;
    for (const std::string_view line : detail::lines_of(prose)) numbers.insert(item_number(line));
    for (std::size_t i = 1; i <= plan.spans.size(); ++i)
      if (!numbers.contains(i))
        return fault(ReplyFault::missing_instruction, "There are " + std::to_string(plan.spans.size()) +
                                                          " places, but no instruction begins with " +
                                                          std::to_string(i) +
                                                          ". Number them, one for each place in order.");
  }
  return plan;
}

ReplyCode read_filled_plan(std::string_view reply, bool cut, const GroundedPlan& plan,
                           const ReplyExpectation& expectation) {
  const auto refuse = [](ReplyFault which, std::string detail) {
    return ReplyCode{{which, std::move(detail)}, {}, {}};
  };
  const std::vector<CodeBlock> blocks = code_blocks(reply);
  // The region is the last block with anchors, else the longest block of code.
  const CodeBlock* region = nullptr;
  for (const CodeBlock& block : blocks) {
    if (!is_code(block)) continue;
    const bool anchored = has_anchors(block.text);
    const bool known = region != nullptr && has_anchors(region->text);
    if (region == nullptr || (anchored ? true : !known && block.text.size() >= region->text.size()))
      region = &block;
  }
  if (region == nullptr)
    return refuse(cut ? ReplyFault::truncated : ReplyFault::no_code,
                  "There is no block with the filled region in the reply.");
  if (!region->closed && cut)
    return refuse(ReplyFault::truncated, "The region breaks off before its end. Give it whole.");
  if (const auto named = named_region(*region, expectation); named && *named != plan.region)
    return refuse(ReplyFault::wrong_region,
                  "The plan changes the region " + std::string(to_string(plan.region)) +
                      ", the block is named " + std::string(to_string(*named)) + '.');
  FilledText filled =
      fill_anchors(text_of(expectation.parent->regions, plan.region), plan.spans, region->text);
  if (!filled.judgement.ok()) return {std::move(filled.judgement), {}, {}};
  Regions regions = expectation.parent->regions;
  text_of(regions, plan.region) = std::move(filled.text);
  ReplyCode code = checked_kernel(std::move(regions), declared_tunables(reply), expectation);
  code.changed = {plan.region};
  return code;
}

}  // namespace kernelsearch
