// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/agents/reply_fault.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// What the code of a reply is checked against.
struct ReplyExpectation {
  const Kernel* parent = nullptr;  ///< the kernel that was to be changed
  /// Whose kernel it is; null: its launch stays as it is, and its space is the problem's.
  const Problem* problem = nullptr;
  std::vector<std::string> functions = {};  ///< whose signatures must stay
  std::vector<KernelRegion> regions = {kernel_regions.begin(), kernel_regions.end()};  ///< that may change
  /// Which known kernel is the same, in words such as `kernel 12, 2.7 ms`; empty: none. Without the function
  /// only the parent is known.
  std::function<std::string(const Kernel&)> tried = nullptr;
  bool tunables = true;              ///< whether tunables may be declared: something searches them
  std::size_t most_bytes = 1 << 19;  ///< of all regions together
};

/// The kernel that a reply stands for, or what is wrong with it.
struct ReplyCode {
  ReplyJudgement judgement;
  std::optional<Kernel> kernel;
  std::vector<KernelRegion> changed;
};

/// Reads code from a reply: whole regions in blocks, or unified diffs of them, and in a JSON block what it
/// declares of the kernel, its tunables and its launch (see declared_kernel). `cut` says that the reply ended
/// at its limit of length.
///
/// A block is of the region that its first line names, else of the one whose function it defines. Of several
/// blocks for one region the last one counts: drafts come first. Blocks in other languages are passed over.
/// Only what is read here ever gets further: nothing that is in prose, kernels or compilers' messages can
/// choose files, tools or budgets.
[[nodiscard]] ReplyCode read_reply_code(std::string_view reply, bool cut,
                                        const ReplyExpectation& expectation);

/// The functions whose signatures others rely on: the entry point, or the kernels that the steps launch.
[[nodiscard]] std::vector<std::string> entry_functions(const Problem& problem);

/// The kernel of these regions, with what `json` declares, or with the parent's declarations where the macros
/// region has none. Checks what holds for every new kernel, however it was read: size, anchors left in it,
/// declarations, signatures, whether it is new.
[[nodiscard]] ReplyCode checked_kernel(Regions regions, std::string_view json,
                                       const ReplyExpectation& expectation);

/// The JSON of the reply that declares tunables or a launch; empty where there is none.
[[nodiscard]] std::string declared_tunables(std::string_view reply);

}  // namespace kernelsearch
