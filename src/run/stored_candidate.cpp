// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/stored_candidate.hpp"

#include <utility>

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

}  // namespace kernelsearch
