// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/agents/reply_fault.hpp"

namespace kernelsearch {

/// STARK's grounded instruction: a planner brackets the places of a text that are to change between
/// `<<<IMPROVE BEGINS>>>` and `<<<IMPROVE ENDS>>>`, and a coder may fill only these. Both are checked here.
/// A marker alone on its line, also in a comment, takes the line with it; one within a line only itself.

/// A place that may change: [begin, end) of the original text.
struct AnchorSpan {
  std::size_t begin = 0, end = 0;
  friend bool operator==(const AnchorSpan&, const AnchorSpan&) = default;
};

/// The outermost spans of a planner's text, in order.
struct AnchoredText {
  ReplyJudgement judgement;
  std::vector<AnchorSpan> spans;
};

/// Reads the anchors of `annotated`, which apart from them must be `original`; comments and layout may
/// differ, because the places are carried over to the original by its tokens. Faults: no_anchors,
/// bad_anchors (nesting, or anchors in the original), outside_anchors.
[[nodiscard]] AnchoredText read_anchors(std::string_view original, std::string_view annotated);

/// The original with markers around the spans: what the coder is given.
[[nodiscard]] std::string with_anchors(std::string_view original, const std::vector<AnchorSpan>& spans);

struct FilledText {
  ReplyJudgement judgement;
  std::string text;
};

/// The original with the spans' contents replaced by those of `reply`: the whole text with the markers
/// where they were, or without any. What stands outside of the spans is taken from the original, and must
/// be the same code there: with markers comments and layout may differ, without them blanks at the ends of
/// lines. Faults: bad_anchors, outside_anchors.
[[nodiscard]] FilledText fill_anchors(std::string_view original, const std::vector<AnchorSpan>& spans,
                                      std::string_view reply);

/// Whether a marker is in the text.
[[nodiscard]] bool has_anchors(std::string_view text);

}  // namespace kernelsearch
