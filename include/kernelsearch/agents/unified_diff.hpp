// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "kernelsearch/agents/reply_fault.hpp"

namespace kernelsearch {

/// A patched text, or why the diff does not fit (`bad_patch`).
struct PatchResult {
  ReplyJudgement judgement;
  std::string text;
};

/// Applies the hunks of a unified diff. Models count lines badly, so a hunk goes where its context and
/// removed lines stand, nearest to the line that its head names; where the head names none they must stand
/// once. Blanks are compared too, first exactly, then apart from those at the ends of a line, then apart from
/// the depth of indentation. Lines that head files are skipped.
[[nodiscard]] PatchResult apply_unified_diff(std::string_view source, std::string_view diff);

/// The unified diff from one text to another, with `context` unchanged lines around each change and the name
/// in its heads; empty where the texts are equal but for the end of the last line. `apply_unified_diff` makes
/// the second text of the first with it.
[[nodiscard]] std::string unified_diff(std::string_view before, std::string_view after, std::string_view name,
                                       std::size_t context = 3);

/// The file that the diff names after `+++` (or `---`), without `a/` and `b/`; empty where it names none.
[[nodiscard]] std::string patched_file(std::string_view diff);

}  // namespace kernelsearch
