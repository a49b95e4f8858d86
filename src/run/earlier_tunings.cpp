// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "earlier_tunings.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "kernelsearch/agents/config_key.hpp"
#include "kernelsearch/store/kernel_codec.hpp"

namespace kernelsearch::detail {
namespace {

/// Whether keys of the stored tuning mean in `kernel` what they meant then: its tunables may have been put in
/// another order since.
bool reads_the_same(const StoredCandidate& stored, const std::shared_ptr<const Kernel>& kernel) {
  const std::optional<Config> config = config_of_key(kernel->space, stored.key);
  return config && CandidateCodec<Candidate>().encode({kernel, *config}).values == stored.values;
}

}  // namespace

KernelTuning tuning_of(const Candidate& candidate, const Evaluation& outcome,
                       std::span<const StoredInnerTrial> trials) {
  KernelTuning tuning{candidate.kernel, {}, outcome};
  for (const StoredInnerTrial& inner : trials) {
    const Evaluation& evaluation = inner.trial.evaluation;
    if (std::optional<Config> config = config_of_key(candidate.kernel->space, inner.trial.key))
      tuning.points.push_back({*std::move(config), evaluation.verdict, evaluation.measurement.seconds});
  }
  return tuning;
}

TuningLookup earlier_tunings(const RunStore& store, RunId run) {
  return [&store, run](const Kernel& kernel) {
    const Regions& regions = kernel.regions;
    const auto shared = std::make_shared<const Kernel>(kernel);
    std::vector<std::shared_ptr<const KernelTuning>> tunings;
    for (StoredTuning& stored :
         store.earlier_tunings(run, StoredKernel{{}, regions.device, regions.host, regions.macros})) {
      if (!reads_the_same(stored.candidate, shared)) continue;
      KernelTuning tuning{shared, {}, {}};
      for (const StoredTuning::Point& point : stored.points)
        if (std::optional<Config> config = config_of_key(kernel.space, point.key))
          tuning.points.push_back({*std::move(config), point.verdict, point.seconds});
      tunings.push_back(std::make_shared<const KernelTuning>(std::move(tuning)));
    }
    return tunings;
  };
}

}  // namespace kernelsearch::detail
