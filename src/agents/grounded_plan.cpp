// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/grounded_plan.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>
#include <vector>

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
  // A number alone is not an instruction; its text may begin on the next line, though.
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

struct MarkedRegion {
  ReplyJudgement judgement;
  GroundedPlan::Part part;
};

/// The region that a block with anchors is.
MarkedRegion marked_region(const CodeBlock& block, const ReplyExpectation& expectation) {
  const std::optional<KernelRegion> named = named_region(block, expectation);
  MarkedRegion result;
  for (const KernelRegion candidate : expectation.regions) {
    const std::string& original = text_of(expectation.parent->regions, candidate);
    if (original.empty() || (named && candidate != *named)) continue;
    AnchoredText read = read_anchors(original, block.text);
    if (read.judgement.ok()) return {{}, {candidate, std::move(read.spans)}};
    if (result.judgement.ok()) result.judgement = std::move(read.judgement);
  }
  if (result.judgement.ok())
    result.judgement = {ReplyFault::wrong_region, "The kernel has no text in the region " +
                                                      std::string(named ? to_string(*named) : "") +
                                                      " that could be marked."};
  return result;
}

/// The block of a coder's reply that fills a part of the plan; `several`: the plan has more than one. The
/// last one that is named so and holds anchors, else the longest; without names, what fits.
const CodeBlock* filled_block(const std::vector<CodeBlock>& blocks, const GroundedPlan::Part& part,
                              bool several, const ReplyExpectation& expectation) {
  const CodeBlock* found = nullptr;
  for (const CodeBlock& block : blocks) {
    if (!is_code(block)) continue;
    if (several) {
      const std::optional<KernelRegion> named = named_region(block, expectation);
      if (named ? *named != part.region
                : !fill_anchors(text_of(expectation.parent->regions, part.region), part.spans, block.text)
                       .judgement.ok())
        continue;
    }
    const bool anchored = has_anchors(block.text);
    const bool known = found != nullptr && has_anchors(found->text);
    if (found == nullptr || (anchored ? true : !known && block.text.size() >= found->text.size()))
      found = &block;
  }
  return found;
}

}  // namespace

GroundedPlan read_plan(std::string_view reply, bool cut, const ReplyExpectation& expectation) {
  const std::vector<CodeBlock> blocks = code_blocks(reply);
  std::vector<const CodeBlock*> marked;
  for (const CodeBlock& block : blocks)
    if (has_anchors(block.text)) marked.push_back(&block);
  if (marked.empty()) {
    if (cut)
      return fault(ReplyFault::truncated,
                   "The reply breaks off before the region with its anchors was whole.");
    if (blocks.empty())
      return fault(ReplyFault::no_code, "There is no block with the region and its anchors in the reply.");
    return fault(ReplyFault::no_anchors,
                 "No block holds <<<IMPROVE BEGINS>>> and <<<IMPROVE ENDS>>>: mark at least one place.");
  }
  if (!marked.back()->closed && cut)
    return fault(ReplyFault::truncated,
                 "The region breaks off before its end. Give it whole, then the instructions.");
  GroundedPlan plan;
  // What is wrong with a block is forgotten where a later one has that region right: it was a draft.
  std::vector<std::pair<std::optional<KernelRegion>, ReplyJudgement>> faults;
  for (const CodeBlock* block : marked) {
    MarkedRegion read = marked_region(*block, expectation);
    if (!read.judgement.ok()) {
      faults.emplace_back(named_region(*block, expectation), std::move(read.judgement));
      continue;
    }
    std::erase_if(faults, [&](const auto& one) { return !one.first || *one.first == read.part.region; });
    std::erase_if(plan.parts,
                  [&](const GroundedPlan::Part& part) { return part.region == read.part.region; });
    plan.parts.push_back(std::move(read.part));
  }
  if (!faults.empty()) return fault(faults.front().second.fault, faults.front().second.detail);
  const std::string prose = prose_of(reply, blocks);
  plan.instructions = shortened(clean_text(detail::trimmed(prose)), most_instructions);
  if (plan.instructions.empty())
    return fault(ReplyFault::missing_instruction, "Say after the block what belongs at each place.");
  if (const std::size_t places = plan.places(); places > 1) {
    std::set<std::size_t> numbers;
    for (const std::string_view line : detail::lines_of(prose)) numbers.insert(item_number(line));
    for (std::size_t i = 1; i <= places; ++i)
      if (!numbers.contains(i))
        return fault(ReplyFault::missing_instruction,
                     "There are " + std::to_string(places) + " places, but no instruction begins with " +
                         std::to_string(i) + ". Number them, one for each place in order.");
  }
  return plan;
}

ReplyCode read_filled_plan(std::string_view reply, bool cut, const GroundedPlan& plan,
                           const ReplyExpectation& expectation) {
  const auto refuse = [](ReplyFault which, std::string detail) {
    return ReplyCode{{which, std::move(detail)}, {}, {}};
  };
  const std::vector<CodeBlock> blocks = code_blocks(reply);
  Regions regions = expectation.parent->regions;
  std::vector<KernelRegion> changed;
  for (const GroundedPlan::Part& part : plan.parts) {
    const std::string name(to_string(part.region));
    const bool several = plan.parts.size() > 1;
    const CodeBlock* block = filled_block(blocks, part, several, expectation);
    if (block == nullptr)
      return refuse(cut ? ReplyFault::truncated : ReplyFault::no_code,
                    several
                        ? "There is no block with the filled region " + name +
                              " in the reply: give every region of the plan, each in a block named after it."
                        : "There is no block with the filled region in the reply.");
    if (!block->closed && cut)
      return refuse(ReplyFault::truncated, "The region breaks off before its end. Give it whole.");
    if (const auto named = named_region(*block, expectation); named && *named != part.region)
      return refuse(ReplyFault::wrong_region, "The plan changes the region " + name +
                                                  ", the block is named " + std::string(to_string(*named)) +
                                                  '.');
    FilledText filled =
        fill_anchors(text_of(expectation.parent->regions, part.region), part.spans, block->text);
    if (!filled.judgement.ok()) {
      if (several) filled.judgement.detail = "In the region " + name + ": " + filled.judgement.detail;
      return {std::move(filled.judgement), {}, {}};
    }
    text_of(regions, part.region) = std::move(filled.text);
    changed.push_back(part.region);
  }
  ReplyCode code = checked_kernel(std::move(regions), declared_tunables(reply), expectation);
  code.changed = std::move(changed);
  return code;
}

}  // namespace kernelsearch
