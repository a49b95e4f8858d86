// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include "kernelsearch/core/evidence.hpp"
#include "kernelsearch/evaluator/gpu/sass.hpp"

namespace kernelsearch {

/// What to look for.
struct SassQuestion {
  SassSignature signature = SassSignature::tensor_core;
  bool in_hot_loop = false;  ///< for methods that concern the loop where the time goes
  bool less = false;         ///< fewer are wanted than the parent has, as of spills
};

/// Looks into the function `name` of child and parent: verified where the child has more instructions of the
/// signature (or fewer) than the parent. A root has no parent: then none is what it is compared with. Names
/// of functions prove nothing, nor does what other functions contain (CUDA optimisation skill V2 searched the
/// whole dump, so that a kernel called reduce_shfl passed for one that shuffles).
[[nodiscard]] Evidence sass_evidence(const SassQuestion& question, const std::string& name,
                                     const std::vector<SassFunction>& child,
                                     const std::vector<SassFunction>* parent = nullptr);

}  // namespace kernelsearch
