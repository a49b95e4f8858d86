// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/stored_candidate.hpp"

#include <map>
#include <string>
#include <utility>

#include "agents/same_kernel.hpp"
#include "kernelsearch/agents/declared_tunables.hpp"
#include "kernelsearch/core/error.hpp"

namespace kernelsearch {

KernelMaker submitted_kernels(const Problem& problem) {
  return [root = std::make_shared<const Kernel>(problem.kernel)](Regions regions) {
    if (regions == root->regions) return root;
    return std::make_shared<const Kernel>(kernel_with_declared(root->space, std::move(regions)));
  };
}

Candidate stored_candidate(const RunStore& store, const Problem& problem, const StoredTrial& trial) {
  if (!trial.candidate)
    detail::raise<ConfigError>("this trial has no code", std::to_string(number(trial.outcome.id)),
                               "name another trial");
  const CandidateCodec<Candidate> codec(lookup_in(store, submitted_kernels(problem)));
  return tuned(codec.decode(*trial.candidate), trial.outcome.evaluation.tuned_key);
}

std::optional<TrialId> stored_twin(const RunStore& store, const Problem& problem, RunId run,
                                   const StoredTrial& trial) {
  std::optional<TrialId> twin;
  if (!trial.candidate) return twin;
  const CandidateCodec<Candidate> codec(lookup_in(store, submitted_kernels(problem)));
  const Candidate wanted = codec.decode(*trial.candidate);
  std::map<std::string, bool> same{{trial.candidate->kernel, true}};  // by digest
  store.each_trial(run, [&](const StoredTrial& other) {
    if (twin || !other.candidate || other.outcome.id == trial.outcome.id ||
        other.candidate->values != trial.candidate->values)
      return;
    const auto [known, fresh] = same.try_emplace(other.candidate->kernel, false);
    if (fresh) known->second = detail::same_kernel(*codec.decode(*other.candidate).kernel, *wanted.kernel);
    if (known->second) twin = other.outcome.id;
  });
  return twin;
}

}  // namespace kernelsearch
