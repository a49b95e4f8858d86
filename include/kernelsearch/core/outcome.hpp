// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/features.hpp"
#include "kernelsearch/core/ids.hpp"
#include "kernelsearch/core/measurement.hpp"
#include "kernelsearch/core/move.hpp"
#include "kernelsearch/core/overrun.hpp"
#include "kernelsearch/core/verdict.hpp"

namespace kernelsearch {

/// Seconds that each phase of one evaluation took; recorded so that time budgets can be replayed.
struct PhaseSeconds {
  double build = 0.0;
  double check = 0.0;
  double measure = 0.0;
  double reference = 0.0;  ///< of check and measure: the reference computed what is right
  [[nodiscard]] double total() const noexcept { return build + check + measure; }
};

/// What an evaluator says of one candidate.
struct Evaluation {
  Verdict verdict = Verdict::ok;
  double progress = 1.0;  ///< see graded_progress; set it with `failed()` for anything but ok
  std::string reason;     ///< why it failed, in words a person or a model can act on; empty when ok
  std::optional<Overrun> overrun = {};  ///< where it wrote outside of its arrays, if that is why it failed
  Measurement measurement;              ///< meaningful when ok
  Features features;
  PhaseSeconds phases;
  std::string
      tuned_key;  ///< `Space::key` of the best configuration, when the evaluation was a search of its own
  std::string provenance;  ///< how it came about: compiler, flags, cache hit, recording; free text or JSON

  /// A failure with its graded progress.
  [[nodiscard]] static Evaluation failed(Verdict verdict, std::string reason, double correct_fraction = 0.0);

  /// No candidate, because their maker could not be reached (Generation::unanswered). It is kept as
  /// the feature `unanswered`, so that a stored run is told the same.
  [[nodiscard]] static Evaluation unanswered(std::string reason);
  [[nodiscard]] bool is_unanswered() const;

  /// A success that took `seconds` per call. NaN is not a time: it is a failure, `wrong_result`.
  [[nodiscard]] static Evaluation succeeded(double seconds);
};

/// Which proposal a trial came from: the `index`-th of the `count` candidates that the generator made of it.
/// A proposal of which nothing came is told once with `count` 0 and verdict `not_generated`, or
/// `not_applicable` where the generator judged that it does not apply.
struct Origin {
  ProposalId proposal{};
  std::uint32_t index = 0;
  std::uint32_t count = 1;
  friend bool operator==(const Origin&, const Origin&) = default;
};

/// An evaluation with its place in the run: all that a policy ever learns of a candidate.
struct Outcome {
  TrialId id{};
  std::optional<Origin> origin;  ///< empty for trials from outside, which the policy never proposed
  std::vector<TrialId> parents;
  double objective = std::numeric_limits<double>::infinity();  ///< lower is better; infinity unless ok
  Evaluation evaluation;
  /// What made it of its parents, for those who read the history; empty for points of a space. A store keeps
  /// it as the trial's point.
  std::optional<Move> move = {};
  /// The words that the generator went by, for those who read the history: STARK's plan, GEAK's analysis of
  /// the parent; empty where it has none.
  std::string rationale = {};

  [[nodiscard]] bool ok() const noexcept { return evaluation.verdict == Verdict::ok; }
};

/// What a policy is told: the point or move that a trial realised, and what became of it.
/// Telling an id again replaces what was known of it (finalists are measured again, frauds found late).
template <class Proposal>
struct Observation {
  Proposal proposal;
  Outcome outcome;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/core/impl/outcome_impl.hpp"
#endif
