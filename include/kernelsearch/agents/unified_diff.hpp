// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

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

/// The file that the diff names after `+++` (or `---`), without `a/` and `b/`; empty where it names none.
[[nodiscard]] std::string patched_file(std::string_view diff);

}  // namespace kernelsearch
