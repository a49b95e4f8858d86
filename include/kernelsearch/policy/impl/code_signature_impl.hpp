// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "kernelsearch/policy/code_signature.hpp"

namespace kernelsearch {
namespace detail {

inline Evidence evidence_of_change(const CodeChange& change, const Features& now, const Features& before) {
  const std::optional<double> ours = now.find(change.feature), theirs = before.find(change.feature);
  if (!ours || !theirs || !std::isfinite(*ours) || !std::isfinite(*theirs)) return Evidence::unknown;
  const double changed = change.less ? *theirs - *ours : *ours - *theirs;
  return changed > change.by ? Evidence::verified : Evidence::absent;
}

inline bool looks_for(const CodeSignature& signature, const CodeChange& change) {
  const auto same = [&change](const CodeChange& one) {
    return one.feature == change.feature && one.less == change.less;
  };
  return std::any_of(signature.any.begin(), signature.any.end(), same) ||
         std::any_of(signature.all.begin(), signature.all.end(), same);
}

}  // namespace detail

KERNELSEARCH_INLINE bool share_a_trace(const CodeSignature& one, const CodeSignature& other) {
  const auto shared = [&other](const CodeChange& change) { return detail::looks_for(other, change); };
  return std::any_of(one.any.begin(), one.any.end(), shared) ||
         std::any_of(one.all.begin(), one.all.end(), shared);
}

KERNELSEARCH_INLINE CodeSignature traces_beside(const CodeSignature& one, const CodeSignature& other) {
  CodeSignature own = one;
  const auto shared = [&other](const CodeChange& change) { return detail::looks_for(other, change); };
  std::erase_if(own.any, shared);
  std::erase_if(own.all, shared);
  return own;
}

KERNELSEARCH_INLINE Evidence evidence_of(const CodeSignature& signature, const Features& child,
                                         const Features& parent) {
  if (signature.empty()) return Evidence::unknown;
  bool unknown = false;
  for (const CodeChange& change : signature.all) {
    const Evidence one = detail::evidence_of_change(change, child, parent);
    if (one == Evidence::absent) return Evidence::absent;  // whatever the others are
    unknown = unknown || one == Evidence::unknown;
  }
  if (!signature.any.empty()) {
    bool verified = false, possible = false;
    for (const CodeChange& change : signature.any) {
      const Evidence one = detail::evidence_of_change(change, child, parent);
      verified = verified || one == Evidence::verified;
      possible = possible || one == Evidence::unknown;
    }
    if (!verified && !possible) return Evidence::absent;
    unknown = unknown || !verified;
  }
  return unknown ? Evidence::unknown : Evidence::verified;
}

KERNELSEARCH_INLINE Evidence evidence_by_ablation(const CodeSignature& signature, const Features& with,
                                                  const Features& without) {
  return evidence_of(signature, with, without);
}

}  // namespace kernelsearch
