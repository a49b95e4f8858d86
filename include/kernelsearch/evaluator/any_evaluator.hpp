// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/evaluator/evaluator.hpp"
#include "kernelsearch/evaluator/pairing_evaluator.hpp"
#include "kernelsearch/evaluator/portable_artifact.hpp"
#include "kernelsearch/problem/kernel.hpp"

namespace kernelsearch {

struct Problem;

/// An evaluator that knows its measurement context, as those of this library do. Only times that were taken
/// in the same context can be compared, so results are kept under it.
///
/// 1. `evaluator.problem()` is what candidates are judged by.
/// 2. `evaluator.device_id()` is what they are measured on.
/// 3. `evaluator.toolchain_id()` is what they are compiled with.
template <class E>
concept DeviceEvaluator = StagedEvaluator<E, Candidate> && requires(const E& evaluator) {
  { evaluator.problem() } -> std::convertible_to<const Problem&>;
  { evaluator.device_id() } -> std::convertible_to<std::string>;
  { evaluator.toolchain_id() } -> std::convertible_to<std::string>;
};

/// Any of them, chosen when the program runs. What the one inside can do beyond that it passes on.
class AnyEvaluator {
 public:
  using Artifact = std::shared_ptr<void>;

  template <DeviceEvaluator E>
  requires(!std::same_as<E, AnyEvaluator>) AnyEvaluator(E evaluator)  // NOLINT(google-explicit-constructor)
      : model_(std::make_unique<Model<E>>(std::move(evaluator))) {}

  [[nodiscard]] Staged<Artifact> build(const Candidate& candidate, const EvaluationContext& context) {
    return model_->build(candidate, context);
  }
  [[nodiscard]] Evaluation run(Staged<Artifact>&& staged, const EvaluationContext& context) {
    return model_->run(std::move(staged), context);
  }
  [[nodiscard]] Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) {
    return evaluate_in_stages(*this, candidate, context);
  }
  [[nodiscard]] std::size_t lanes() const { return model_->lanes(); }

  [[nodiscard]] const Problem& problem() const { return model_->problem(); }
  [[nodiscard]] std::string device_id() const { return model_->device_id(); }
  [[nodiscard]] std::string toolchain_id() const { return model_->toolchain_id(); }
  /// The device for people; its id where the evaluator has no name for it.
  [[nodiscard]] std::string device_name() const { return model_->device_name(); }
  /// What models are told of the problem that only the evaluator knows, a line each.
  [[nodiscard]] std::vector<std::string> facts() const { return model_->facts(); }
  /// What strategies may ask for that only the evaluator knows (MethodDevice::features).
  [[nodiscard]] std::vector<std::string> features() const { return model_->features(); }
  /// The champion's time divided by the candidate's, in interleaved pairs; nothing where the evaluator cannot
  /// compare. A ConfigError if one of them is not ok.
  [[nodiscard]] std::optional<Speedup> compare(const Candidate& candidate, const Candidate& champion,
                                               const PairOptions& pairs = {}) {
    return model_->compare(candidate, champion, pairs);
  }
  /// A fresh process with inputs that were never used, where the evaluator keeps one over candidates.
  void renew() { model_->renew(); }
  /// What was built, for an equal evaluator in another process; nothing where it cannot be carried there.
  [[nodiscard]] std::optional<PortableArtifact> carry(const Artifact& artifact) {
    return model_->carry(artifact);
  }
  /// What an equal evaluator built, to be run by this one; nothing where it takes none from others.
  [[nodiscard]] std::optional<Artifact> carried(const Candidate& candidate,
                                                const PortableArtifact& artifact) {
    return model_->carried(candidate, artifact);
  }

 private:
  struct Interface {
    virtual ~Interface() = default;
    virtual Staged<Artifact> build(const Candidate& candidate, const EvaluationContext& context) = 0;
    virtual Evaluation run(Staged<Artifact>&& staged, const EvaluationContext& context) = 0;
    [[nodiscard]] virtual std::size_t lanes() const = 0;
    [[nodiscard]] virtual const Problem& problem() const = 0;
    [[nodiscard]] virtual std::string device_id() const = 0;
    [[nodiscard]] virtual std::string device_name() const = 0;
    [[nodiscard]] virtual std::string toolchain_id() const = 0;
    [[nodiscard]] virtual std::vector<std::string> facts() const = 0;
    [[nodiscard]] virtual std::vector<std::string> features() const = 0;
    [[nodiscard]] virtual std::optional<Speedup> compare(const Candidate& candidate,
                                                         const Candidate& champion,
                                                         const PairOptions& pairs) = 0;
    virtual void renew() = 0;
    [[nodiscard]] virtual std::optional<PortableArtifact> carry(const Artifact& artifact) = 0;
    [[nodiscard]] virtual std::optional<Artifact> carried(const Candidate& candidate,
                                                          const PortableArtifact& artifact) = 0;
  };
  template <class E>
  struct Model final : Interface {
    explicit Model(E e) : evaluator(std::move(e)) {}
    Staged<Artifact> build(const Candidate& candidate, const EvaluationContext& context) override {
      auto staged = evaluator.build(candidate, context);
      if (!staged.artifact) return {std::move(staged.evaluation), std::nullopt};
      return {std::move(staged.evaluation),
              std::make_shared<typename E::Artifact>(*std::move(staged.artifact))};
    }
    Evaluation run(Staged<Artifact>&& staged, const EvaluationContext& context) override {
      auto& artifact = *static_cast<typename E::Artifact*>(staged.artifact->get());
      return evaluator.run(Staged<typename E::Artifact>{std::move(staged.evaluation), std::move(artifact)},
                           context);
    }
    [[nodiscard]] std::size_t lanes() const override { return static_cast<std::size_t>(evaluator.lanes()); }
    [[nodiscard]] const Problem& problem() const override { return evaluator.problem(); }
    [[nodiscard]] std::string device_id() const override { return evaluator.device_id(); }
    [[nodiscard]] std::string device_name() const override {
      if constexpr (requires(const E& e) { e.device_name(); })
        return evaluator.device_name();
      else
        return evaluator.device_id();
    }
    [[nodiscard]] std::string toolchain_id() const override { return evaluator.toolchain_id(); }
    [[nodiscard]] std::vector<std::string> facts() const override {
      if constexpr (requires(const E& e) { e.facts(); })
        return evaluator.facts();
      else
        return {};
    }
    [[nodiscard]] std::vector<std::string> features() const override {
      if constexpr (requires(const E& e) { e.features(); })
        return evaluator.features();
      else
        return {};
    }
    [[nodiscard]] std::optional<Speedup> compare(const Candidate& candidate, const Candidate& champion,
                                                 const PairOptions& pairs) override {
      if constexpr (PairingEvaluator<E, Candidate>)
        return evaluator.compare(candidate, champion, pairs);
      else
        return std::nullopt;
    }
    void renew() override {
      if constexpr (requires { evaluator.renew(); }) evaluator.renew();
    }
    [[nodiscard]] std::optional<PortableArtifact> carry(const Artifact& artifact) override {
      if constexpr (CarriesArtifacts<E, Candidate>)
        return evaluator.carry(*static_cast<const typename E::Artifact*>(artifact.get()));
      else
        return std::nullopt;
    }
    [[nodiscard]] std::optional<Artifact> carried(const Candidate& candidate,
                                                  const PortableArtifact& artifact) override {
      if constexpr (CarriesArtifacts<E, Candidate>)
        return std::make_shared<typename E::Artifact>(evaluator.carried(candidate, artifact));
      else
        return std::nullopt;
    }
    E evaluator;
  };

  std::unique_ptr<Interface> model_;
};

static_assert(DeviceEvaluator<AnyEvaluator>);
static_assert(PairingEvaluator<AnyEvaluator, Candidate>);

}  // namespace kernelsearch
