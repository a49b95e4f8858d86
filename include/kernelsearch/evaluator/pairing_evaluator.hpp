// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <optional>

#include "kernelsearch/core/measurement.hpp"
#include "kernelsearch/evaluator/judging_options.hpp"

namespace kernelsearch {

/// An evaluator that times two candidates in interleaved pairs: `evaluator.compare(candidate, champion,
/// pairs)` is the champion's time divided by the candidate's, or nothing where it cannot say (0 pairs where
/// it was stopped before the first); a ConfigError if one of them is not ok. Called from any thread.
template <class E, class Candidate>
concept PairingEvaluator = requires(E& evaluator, const Candidate& candidate, const PairOptions& pairs) {
  { evaluator.compare(candidate, candidate, pairs) } -> std::convertible_to<std::optional<Speedup>>;
};

}  // namespace kernelsearch
