// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "kernelsearch/core/verdict.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch {

/// What a run came to, counted from its trials.
struct RunTotals {
  std::array<std::uint64_t, verdict_count> verdicts{};
  std::uint64_t inner_trials = 0;
  std::uint64_t loaded = 0;  ///< trials that were measured while others used the core or device
  double most_load = 0.0;    ///< the largest share of it that others had, see load_of
  PhaseSeconds phases;  ///< of all trials together; with several at a time their sum may exceed the wall time

  void add(const Evaluation& evaluation);
};
[[nodiscard]] RunTotals run_totals(const RunStore& store, RunId run);

/// `180 ok, 12 build_failed`: the verdicts that occurred, ok first.
[[nodiscard]] std::string format_verdicts(const std::array<std::uint64_t, verdict_count>& verdicts);

/// The run in a few lines of text: the best with its interval, the speedup with its interval, the settings,
/// how many trials had which verdict, the commonest reasons of failure, where the time went, why it ended.
[[nodiscard]] std::string run_summary(const RunStore& store, RunId run);

}  // namespace kernelsearch
