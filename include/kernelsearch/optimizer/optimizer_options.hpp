// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>

#include "kernelsearch/core/measurement.hpp"
#include "kernelsearch/core/objectives.hpp"
#include "kernelsearch/evaluator/evaluation_context.hpp"

namespace kernelsearch {

/// The order in which outcomes are told when several proposals are in flight.
enum class TellOrder : std::uint8_t {
  proposal,    ///< as proposed: the same seed and measurements give the same trials, whatever each one takes
  completion,  ///< as they finish: the policy learns sooner; the recorded order still replays exactly
};

/// How `Optimizer::run` works.
struct OptimizerOptions {
  std::size_t in_flight = 1;         ///< proposals being generated or evaluated at a time
  std::size_t generate_threads = 1;  ///< more than one only for generators that may be called concurrently
  std::size_t build_threads = 1;     ///< used by staged evaluators, while others are measured
  TellOrder order = TellOrder::proposal;
  std::shared_ptr<TrialBudget> budget = nullptr;  ///< unlimited when empty
  Objectives objectives = {};                     ///< what is minimized or maximized
  /// A function of one's own instead, for what no formula says: lower is better.
  std::function<double(const Measurement&)> objective = nullptr;
  std::stop_token stop = {};  ///< an outside wish to stop, e.g. Ctrl-C
  /// Outages draw no trial, so this many questions without an answer, one after another, end the run, which
  /// can be resumed; 0: none do. As many as LlmConfigSearchOptions::outages_again.
  std::uint32_t unanswered_in_a_row = 10;
};

}  // namespace kernelsearch
