// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/evaluator/any_evaluator.hpp"
#include "kernelsearch/evaluator/evaluator_decorator.hpp"
#include "kernelsearch/generator/any_generator.hpp"
#include "kernelsearch/llm/chat_model.hpp"
#include "message_sink.hpp"
#include "pause_gate.hpp"

namespace kernelsearch::detail {

/// When a candidate was judged, as bars of a timeline: it may have waited until `since` for its `place`, and
/// its phases fill the time until `ended`. `building`: seconds of that in which it was built.
inline std::vector<RunSpan> judged_spans(TrialId trial, const std::string& place, double began, double since,
                                         double ended, double building, double measuring) {
  if (building + measuring > ended - since + 1e-3) return {};  // of a recording, whose times did not pass
  const double built = since + building, checked = ended - measuring;
  return {{"wait", place, trial, began, since},
          {"build", place, trial, since, built},
          {"check", place, trial, built, checked},
          {"measure", place, trial, checked, ended}};
}

/// An evaluator that says what it is doing, compiling or measuring, and afterwards when and where it did it.
class WatchedEvaluator : public EvaluatorDecorator<AnyEvaluator> {
 public:
  WatchedEvaluator(AnyEvaluator inner, std::shared_ptr<MessageSink> sink)
      : EvaluatorDecorator(SingleInner<AnyEvaluator>(std::move(inner))), sink_(std::move(sink)) {}

  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) {
    return evaluate_in_stages(*this, candidate, context);
  }
  Staged<Artifact> build(const Candidate& candidate, const EvaluationContext& context) {
    const MessageSink::Doing doing(*sink_, &RunActivity::compiling);
    const double began = steady_seconds();
    auto staged = inner().build(candidate, context);
    sink_->did({"build", {}, context.trial, began, steady_seconds()});
    return staged;
  }
  Evaluation run(Staged<Artifact>&& staged, const EvaluationContext& context) {
    const MessageSink::Doing doing(*sink_, &RunActivity::measuring);
    const double began = steady_seconds(), built = staged.evaluation.phases.build;
    double since = began;
    std::string place;
    EvaluationContext watched = context;
    watched.on_place = [&](std::string_view name) {
      if (place.empty()) since = steady_seconds();  // once more on the same: all of it counts
      place = name;
      context.measured_on(name);
    };
    Evaluation evaluation = inner().run(std::move(staged), watched);
    sink_->judged(evaluation.phases);
    const PhaseSeconds& phases = evaluation.phases;
    for (RunSpan& span : judged_spans(context.trial, place, began, since, steady_seconds(),
                                      std::max(0.0, phases.build - built), phases.measure))
      sink_->did(std::move(span));
    return evaluation;
  }
  [[nodiscard]] std::optional<Speedup> compare(const Candidate& candidate, const Candidate& champion,
                                               const PairOptions& pairs) {
    const MessageSink::Doing doing(*sink_, &RunActivity::measuring);
    const double began = steady_seconds();
    std::optional<Speedup> speedup = inner().compare(candidate, champion, pairs);
    sink_->did({"compare", {}, {}, began, steady_seconds()});
    return speedup;
  }

 private:
  std::shared_ptr<MessageSink> sink_;
};

/// A model that says when it is asked, and is not asked while the run is paused.
struct WatchedModel {
  AnyChatModel model;
  std::shared_ptr<MessageSink> sink;
  std::shared_ptr<PauseGate> gate;
  ChatResult chat(const ChatRequest& request, std::stop_token stop) const {
    gate->pass(stop, [this](std::string_view text) { sink->waits(text); });
    const MessageSink::Doing doing(*sink, &RunActivity::asking);
    const double began = steady_seconds();
    ChatResult result = model.chat(request, std::move(stop));
    sink->did({"model", {}, {}, began, steady_seconds()});
    return result;
  }
};

/// A generator that makes nothing while the run is paused. Only the thread that would make a candidate waits:
/// what was measured meanwhile is told and stored.
template <class P>
struct PausedGenerator {
  using Candidate = kernelsearch::Candidate;
  AnyGenerator<P> generator;
  std::shared_ptr<MessageSink> sink;
  std::shared_ptr<PauseGate> gate;
  std::stop_token stop;
  Generation<Candidate> generate(const P& proposal, const History<Candidate>& history) {
    gate->pass(stop, [this](std::string_view text) { sink->waits(text); });
    return generator.generate(proposal, history);
  }
};

}  // namespace kernelsearch::detail
