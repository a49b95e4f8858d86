// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string_view>

#include "kernelsearch/core/history.hpp"
#include "kernelsearch/evaluator/evaluation_context.hpp"

namespace kernelsearch {

/// Told before a policy is asked again: how many proposals one ask returned. Part of the record of a run.
struct AskEvent {
  std::size_t wanted = 0;
  std::size_t returned = 0;
};

template <class O, class Candidate, class Proposal>
concept HasOnTrial = requires(O& o, const Trial<Candidate>& t, const Proposal& p) {
  o.on_trial(t, p);
};
template <class O, class Candidate>
concept HasOnBest = requires(O& o, const Trial<Candidate>& t) {
  o.on_best(t);
};
template <class O, class Candidate>
concept HasOnStart = requires(O& o, TrialId id, const Candidate& c) {
  o.on_start(id, c);
};
template <class O>
concept HasOnAsk = requires(O& o, const AskEvent& e) {
  o.on_ask(e);
};
template <class O, class Candidate>
concept HasOnRevised = requires(O& o, const Trial<Candidate>& t) {
  o.on_revised(t);
};
template <class O>
concept HasOnInner = requires(O& o, TrialId parent, const InnerTrial& t) {
  o.on_inner(parent, t);
};
template <class O>
concept HasOnEnd = requires(O& o, std::string_view reason) {
  o.on_end(reason);
};

/// Watches a run through any of these hooks, each optional, all returning void, called from the thread that
/// runs the loop:
///
/// 1. `on_ask(AskEvent)`: the policy was asked.
/// 2. `on_start(TrialId, Candidate)`: a candidate was admitted.
/// 3. `on_trial(Trial, Proposal)`: a trial ended; called *before* the policy is told, so that a store can
///    make it durable first.
/// 4. `on_best(Trial)`: the best changed.
/// 5. `on_revised(Trial)`: a known trial has a new outcome.
/// 6. `on_inner(TrialId, InnerTrial)`: a trial of a search inside the evaluation of that candidate.
/// 7. `on_end(reason)`: the run ended.
///
/// At least one hook is required, so that a misspelt name does not compile.
template <class O, class Candidate, class Proposal>
concept Observer = HasOnTrial<O, Candidate, Proposal> || HasOnBest<O, Candidate> ||
    HasOnStart<O, Candidate> || HasOnAsk<O> || HasOnRevised<O, Candidate> || HasOnInner<O> || HasOnEnd<O>;

}  // namespace kernelsearch
