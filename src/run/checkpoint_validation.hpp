// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kernelsearch/core/ids.hpp"
#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/problem/kernel.hpp"

namespace kernelsearch::detail {

/// What each new kernel of a workflow must pass before it is a checkpoint.
struct CheckpointValidation {
  /// The objection to a candidate, or nothing; given up where a stop is asked for. Empty: nothing is asked.
  std::function<std::optional<Evaluation>(const Candidate&, const std::stop_token&)> validate = nullptr;
  std::string feature = {};                               ///< 1 of kernels that it has no objection to
  std::size_t samples = 0;                                ///< configurations that it sees besides the best
  std::function<void(const std::string&)> say = nullptr;  ///< is told what it came to, and how long it took
};

/// At most that many of the keys, in their order, spread over all of them: the first and the last among them.
[[nodiscard]] std::vector<std::string> spread_over(const std::vector<std::string>& keys, std::size_t most);

/// The evaluation of a tuned kernel that is right, or what is to replace it because of an objection: to its
/// best configuration, or to one of those among `right`, keys of other configurations that were judged right.
/// A stop leaves it without a verdict (`rejected`).
[[nodiscard]] Evaluation validated_checkpoint(const CheckpointValidation& how, const Candidate& kernel,
                                              Evaluation evaluation, std::vector<std::string> right,
                                              TrialId trial, const std::stop_token& stop);

}  // namespace kernelsearch::detail
