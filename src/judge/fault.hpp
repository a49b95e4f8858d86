// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/outcome.hpp"

namespace kernelsearch::detail {

/// Why a candidate is not ok.
struct Fault {
  Verdict verdict = Verdict::crashed;
  std::string reason;
  double right_share = 0.0;  ///< of its outputs, for wrong results
  bool may_be_load = false;  ///< it is judged once more: others use the machine, and that may be all
  std::optional<Overrun> overrun = {};  ///< where it wrote outside of its arrays, if that is why
};

/// Makes the evaluation a failure by this fault; its features and phases stay. `built`: whether it came as
/// far as being built.
inline void fail(Evaluation& evaluation, const Fault& fault, bool built = true) {
  evaluation.verdict = fault.verdict;
  evaluation.reason = clean_text(fault.reason);  // it may name what the kernel calls itself
  evaluation.overrun = fault.overrun;
  evaluation.progress = built ? graded_progress(fault.verdict, fault.right_share) : 0.0;
  evaluation.measurement = {};
}

}  // namespace kernelsearch::detail
