// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "counted_evaluator.hpp"

#include <memory>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/gpu/ncu_profiler.hpp"
#include "kernelsearch/evaluator/profiled.hpp"

namespace kernelsearch::detail {
namespace {

void say_none(const MessageTeller& say, const std::string& why) {
  say("no counters of Nsight Compute: " + why +
      "\nkernels are told apart by their times and what the evaluator reports");
}

/// Counters where they can be had. A kernel is measured before, so a profile that fails takes nothing away.
struct Counters {
  MessageTeller say;
  std::shared_ptr<NcuProfiler> ncu;  // one at a time inside; empty once it is known to fail

  Features profile(const Candidate& candidate) {
    if (!ncu) return {};
    try {
      NcuObservation seen = ncu->observe(candidate);
      if (!seen.problem.empty()) say("no counters of one kernel: " + seen.problem);
      return std::move(seen.features);
    } catch (const ConfigError& error) {
      say_none(say, error.what());
      ncu.reset();
      return {};
    }
  }
};

}  // namespace

AnyEvaluator with_counters(AnyEvaluator evaluator, const GpuOptions& gpu, bool& counted, MessageTeller say) {
  counted = false;
  if (evaluator.lanes() > 1) {
    say_none(say, "several devices measure at a time, and a profile would disturb the others");
    return evaluator;
  }
  try {
    Counters counters{say, std::make_shared<NcuProfiler>(evaluator.problem(), gpu)};
    counted = true;
    return Profiled<AnyEvaluator, Candidate, Counters>(std::move(evaluator), std::move(counters));
  } catch (const ConfigError& error) {
    say_none(say, error.what());
    return evaluator;
  }
}

}  // namespace kernelsearch::detail
