// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>

#include "kernelsearch/optimizer/observer.hpp"

/// Calls of the optional hooks; each does nothing for an observer without it.
namespace kernelsearch::detail {

template <class Candidate, class Proposal, class O>
void notify_trial(O& observer, const Trial<Candidate>& trial, const Proposal& proposal) {
  if constexpr (HasOnTrial<O, Candidate, Proposal>) observer.on_trial(trial, proposal);
}
template <class Candidate, class O>
void notify_best(O& observer, const Trial<Candidate>& trial) {
  if constexpr (HasOnBest<O, Candidate>) observer.on_best(trial);
}
template <class Candidate, class O>
void notify_start(O& observer, TrialId id, const Candidate& candidate) {
  if constexpr (HasOnStart<O, Candidate>) observer.on_start(id, candidate);
}
template <class O>
void notify_ask(O& observer, const AskEvent& event) {
  if constexpr (HasOnAsk<O>) observer.on_ask(event);
}
template <class Candidate, class O>
void notify_revised(O& observer, const Trial<Candidate>& trial) {
  if constexpr (HasOnRevised<O, Candidate>) observer.on_revised(trial);
}
template <class O>
void notify_inner(O& observer, TrialId parent, const InnerTrial& trial) {
  if constexpr (HasOnInner<O>) observer.on_inner(parent, trial);
}
template <class O>
void notify_end(O& observer, std::string_view reason) {
  if constexpr (HasOnEnd<O>) observer.on_end(reason);
}

}  // namespace kernelsearch::detail
