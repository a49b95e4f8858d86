// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel_search.hpp"

#include "earlier_tunings.hpp"
#include "typed_search.hpp"

namespace kernelsearch::detail {

void KernelSearch::decline(const std::string&, RunObserver&) {
  raise<ConfigError>("this run suggests no moves", context.problem.name,
                     "only runs with the policy submit do");
}

TuneReport KernelSearch::tune(const TuneRequest&, RunObserver&) {
  raise<ConfigError>("this run searches by itself", context.problem.name,
                     "let it work with step; only runs with the policy submit tune a kernel when asked");
}

void KernelSearch::raise_no_trial(TrialId trial) {
  raise<ConfigError>("no such trial with code in this run", std::to_string(number(trial)),
                     "name a trial by its number, as status and submit_kernel give it");
}

void KernelSearch::raise_spent() {
  raise<ConfigError>("the run's budget of trials is spent", "0 left",
                     "start a new run; what was measured is reused by itself");
}

namespace {

template <class P, class Judge>
std::unique_ptr<KernelSearch> typed(SearchContext context, SearchParts<P> parts, Judge judge,
                                    OptimizerOptions loop, KernelLookup lookup) {
  return std::make_unique<TypedSearch<P, Judge>>(std::move(context), std::move(parts), std::move(judge),
                                                 std::move(loop), std::move(lookup));
}

/// The judge with each child timed next to its parent, of whichever part of the run that was handed in.
RunPaired beside_parents(RunJudge judge, const SearchContext& context, const KernelLookup& lookup) {
  auto codec = std::make_shared<CandidateCodec<Candidate>>(lookup);
  auto mutex = std::make_shared<std::mutex>();
  // What earlier parts of a resumed run judged is in the store alone.
  return RunPaired(
      std::move(judge), {},
      [&store = context.store, id = context.run, codec, mutex](TrialId trial) -> std::optional<Candidate> {
        const std::scoped_lock lock(*mutex);
        const auto stored = store.trial(id, trial);
        if (!stored || !stored->candidate) return std::nullopt;
        return codec->decode(*stored->candidate);
      });
}

}  // namespace

std::unique_ptr<KernelSearch> make_search(SearchContext context, SystemSearch made, RunJudge judge,
                                          OptimizerOptions loop) {
  KernelLookup lookup = made.kernel_of
                            ? lookup_in(context.store, std::move(made.kernel_of))
                            : lookup_among({std::make_shared<const Kernel>(context.problem.kernel)});
  if (auto* configs = std::get_if<SearchParts<Config>>(&made.parts))
    return typed(std::move(context), std::move(*configs), std::move(judge), std::move(loop),
                 std::move(lookup));
  auto& moves = std::get<SearchParts<Move>>(made.parts);
  if (made.inner) {
    made.inner->options.builders = loop.build_threads;
    made.inner->options.objectives = loop.objectives;
    // Models are told what a kernel is worth next to its parent, by as many pairs as finalists are.
    made.inner->options.pairs = context.pairs;
    TuningLookup known = context.reuse ? earlier_tunings(context.store, context.run) : nullptr;
    RunTuned tuned(std::move(made.inner->policy), std::move(judge), made.inner->options, std::move(known));
    if (made.inner->validated_samples && context.checkpoints.validate) {
      context.checkpoints.samples = *made.inner->validated_samples;
      CheckpointsTuned checked(std::move(tuned), context.checkpoints);
      return typed(std::move(context), std::move(moves), std::move(checked), std::move(loop),
                   std::move(lookup));
    }
    if (made.inner->counted)
      return typed(std::move(context), std::move(moves), std::move(tuned), std::move(loop),
                   std::move(lookup));
    KernelsTuned kernels(std::move(tuned), context.problem);
    return typed(std::move(context), std::move(moves), std::move(kernels), std::move(loop),
                 std::move(lookup));
  }
  if (made.pair_with_parent) {
    RunPaired paired = beside_parents(std::move(judge), context, lookup);
    return typed(std::move(context), std::move(moves), std::move(paired), std::move(loop), std::move(lookup));
  }
  return typed(std::move(context), std::move(moves), std::move(judge), std::move(loop), std::move(lookup));
}

}  // namespace kernelsearch::detail
