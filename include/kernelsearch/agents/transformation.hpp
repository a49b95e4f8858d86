// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/agents/declared_tunables.hpp"
#include "kernelsearch/policy/move_sign.hpp"

namespace kernelsearch {

/// One call of a model, which edits exactly one region.
struct RegionEdit {
  KernelRegion region = KernelRegion::device;
  std::string instruction;
};

/// Hand-written code that a pass adds to the end of a region, without a model.
struct SnippetUse {
  KernelRegion region = KernelRegion::macros;
  std::string name;
  std::string text;
  std::vector<std::pair<std::string, std::string>>
      other_texts{};  ///< of backends in whose language it differs

  [[nodiscard]] const std::string& text_for(std::string_view backend) const noexcept {
    for (const auto& [name_of_backend, other] : other_texts)
      if (name_of_backend == backend) return other;
    return text;
  }
};

/// A step of a transformation: up to three edits, one for each region. The kernel that it leaves may be
/// incomplete, unless it is the last.
struct TransformationPass {
  std::string name;
  std::vector<SnippetUse> snippets;  ///< added first
  std::vector<RegionEdit> edits;     ///< in order
};

/// A change of a kernel, described in words (PEAK, section 3.2).
struct Transformation {
  std::string name;                   ///< as moves call it: `tb_tiling`
  std::string title;                  ///< as the paper calls it
  std::string description;            ///< what it does and when it pays, in a sentence or two
  std::string source;                 ///< where it comes from
  std::vector<std::string> tags;      ///< `matmul`, `general`, ...
  std::vector<std::string> backends;  ///< that it is written for; empty: all
  std::vector<std::string> after;     ///< transformations that it builds on
  DeclaredTunables tunables;          ///< that it introduces
  std::vector<TransformationPass> passes;
  std::vector<MoveSign> signs = {};  ///< what kernels show for it and against it

  /// Calls of a model that one use makes when no reply has to be asked for again.
  [[nodiscard]] std::size_t calls() const noexcept {
    std::size_t count = 0;
    for (const TransformationPass& pass : passes) count += pass.edits.size();
    return count;
  }
  [[nodiscard]] bool applies_to(std::string_view backend) const noexcept {
    for (const std::string& known : backends)
      if (known == backend) return true;
    return backends.empty();
  }
};

}  // namespace kernelsearch
