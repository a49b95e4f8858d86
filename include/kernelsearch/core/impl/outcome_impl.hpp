// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <string>
#include <utility>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/outcome.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE Evaluation Evaluation::failed(Verdict verdict, std::string reason,
                                                  double correct_fraction) {
  Evaluation evaluation;
  evaluation.verdict = verdict;
  evaluation.progress = graded_progress(verdict, correct_fraction);
  // It may quote what a kernel or its compiler wrote, and is shown in terminals.
  evaluation.reason = clean_text(reason);
  return evaluation;
}

KERNELSEARCH_INLINE Evaluation Evaluation::unanswered(std::string reason) {
  Evaluation evaluation = failed(Verdict::not_generated, std::move(reason));
  evaluation.features.set("unanswered", 1);
  return evaluation;
}

KERNELSEARCH_INLINE bool Evaluation::is_unanswered() const {
  return verdict == Verdict::not_generated && features.find("unanswered").has_value();
}

KERNELSEARCH_INLINE Evaluation Evaluation::succeeded(double seconds) {
  if (std::isnan(seconds)) return failed(Verdict::wrong_result, "the time is not a number (NaN)");
  Evaluation evaluation;
  evaluation.measurement.seconds = seconds;
  evaluation.measurement.interval = {seconds, seconds};
  return evaluation;
}

}  // namespace kernelsearch
