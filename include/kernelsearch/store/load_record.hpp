// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "kernelsearch/optimizer/run_record.hpp"
#include "kernelsearch/store/codec.hpp"
#include "kernelsearch/store/kernel_codec.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch {

/// What a stored run went through, for `Optimizer::resume`. `codec` turns stored candidates into candidates;
/// for kernels, `CandidateCodec<Candidate>` is given a function from digest to kernel.
template <class Proposal, class CandidateType = Candidate>
[[nodiscard]] RunRecord<CandidateType, Proposal> load_record(const RunStore& store, RunId run,
                                                             CandidateCodec<CandidateType> codec = {}) {
  RunRecord<CandidateType, Proposal> record;
  record.seconds = store.run(run).seconds;
  std::map<std::uint64_t, StoredTrial> trials;
  store.each_trial(run, [&](const StoredTrial& trial) { trials.emplace(number(trial.outcome.id), trial); });
  // An evaluation that was never told is repeated, and its inner trials are counted then.
  for (const StoredInnerTrial& inner : store.inner_trials(run)) {
    const auto parent = trials.find(number(inner.parent));
    record.inner_trials += parent != trials.end() && parent->second.outcome.origin ? 1 : 0;
  }
  for (StoredEvent& event : store.events(run)) {
    if (const auto* ask = std::get_if<AskEvent>(&event)) {
      record.events.emplace_back(*ask);
    } else if (auto* told = std::get_if<StoredTold>(&event)) {
      const auto found = trials.find(number(told->trial));
      if (found == trials.end())
        detail::raise<StoreError>("the store tells a trial that it does not hold",
                                  "trial " + std::to_string(number(told->trial)),
                                  "the file is damaged: start a new run");
      const StoredTrial& stored = found->second;
      Trial<CandidateType> trial;
      if (stored.candidate) trial.candidate = codec.decode(*stored.candidate);
      trial.outcome = told->first ? std::move(*told->first) : stored.outcome;
      record.events.emplace_back(
          ToldEvent<CandidateType, Proposal>{std::move(trial), PointCodec<Proposal>::decode(stored.point)});
    } else if (auto* revision = std::get_if<StoredRevision>(&event)) {
      record.events.emplace_back(RevisedEvent{std::move(revision->outcome)});
    }  // changes of checkpoints: the one who makes the policy tells it of them
  }
  return record;
}

}  // namespace kernelsearch
