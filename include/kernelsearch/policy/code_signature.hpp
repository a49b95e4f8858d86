// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/evidence.hpp"
#include "kernelsearch/core/features.hpp"

namespace kernelsearch {

/// One thing that must have changed in the machine code: a count among an outcome's features, e.g.
/// `sass.loops.tensor_core` or `code.loop.fma` (docs/evidence.md lists them), or, where machine code does not
/// tell, what a profiler counted, e.g. `bank_conflicts`.
struct CodeChange {
  std::string feature;
  bool less = false;  ///< fewer than the parent has are wanted, as of spills; else more
  double by = 0;      ///< by more than that; 0 for counts, which do not vary by themselves
};

/// The trace that a method leaves in machine code; none where it leaves none that could be told from others.
struct CodeSignature {
  std::vector<CodeChange> any;  ///< one of them is enough
  std::vector<CodeChange> all;  ///< every one of them

  [[nodiscard]] bool empty() const noexcept { return any.empty() && all.empty(); }
};

/// Whether both look for the same change of the same feature, so that such a change may be of either.
[[nodiscard]] bool share_a_trace(const CodeSignature& one, const CodeSignature& other);

/// What `one` looks for and `other` does not.
[[nodiscard]] CodeSignature traces_beside(const CodeSignature& one, const CodeSignature& other);

/// Whether the child's features show the signature against its parent's: each of `all` changed, and one of
/// `any`. Unknown where the signature is empty or a feature that decides is missing on either side; absent
/// only where one of `all`, or every one of `any`, is known not to have changed.
[[nodiscard]] Evidence evidence_of(const CodeSignature& signature, const Features& child,
                                   const Features& parent);

/// The same for a kernel and its ablation, which is what it would be without the method. It also finds what
/// the comparison with a parent cannot: where another method took away as much as this one brought.
[[nodiscard]] Evidence evidence_by_ablation(const CodeSignature& signature, const Features& with,
                                            const Features& without);

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/code_signature_impl.hpp"
#endif
