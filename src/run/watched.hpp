// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <stop_token>
#include <utility>

#include "kernelsearch/evaluator/any_evaluator.hpp"
#include "kernelsearch/evaluator/evaluator_decorator.hpp"
#include "kernelsearch/generator/any_generator.hpp"
#include "kernelsearch/llm/chat_model.hpp"
#include "message_sink.hpp"
#include "pause_gate.hpp"

namespace kernelsearch::detail {

/// An evaluator that says what it is doing: compiling or measuring.
class WatchedEvaluator : public EvaluatorDecorator<AnyEvaluator> {
 public:
  WatchedEvaluator(AnyEvaluator inner, std::shared_ptr<MessageSink> sink)
      : EvaluatorDecorator(SingleInner<AnyEvaluator>(std::move(inner))), sink_(std::move(sink)) {}

  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) {
    return evaluate_in_stages(*this, candidate, context);
  }
  Staged<Artifact> build(const Candidate& candidate, const EvaluationContext& context) {
    const MessageSink::Doing doing(*sink_, &RunActivity::compiling);
    return inner().build(candidate, context);
  }
  Evaluation run(Staged<Artifact>&& staged, const EvaluationContext& context) {
    const MessageSink::Doing doing(*sink_, &RunActivity::measuring);
    Evaluation evaluation = inner().run(std::move(staged), context);
    sink_->judged(evaluation.phases);
    return evaluation;
  }
  [[nodiscard]] std::optional<Speedup> compare(const Candidate& candidate, const Candidate& champion,
                                               const PairOptions& pairs) {
    const MessageSink::Doing doing(*sink_, &RunActivity::measuring);
    return inner().compare(candidate, champion, pairs);
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
    return model.chat(request, std::move(stop));
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
