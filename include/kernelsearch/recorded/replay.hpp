// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "kernelsearch/evaluator/evaluation_context.hpp"
#include "kernelsearch/recorded/recording.hpp"

namespace kernelsearch {

struct RecordedReplayOptions {
  bool samples = false;  ///< answers carry the recorded samples too; without them they cost a third
};

/// Recorded hardware as an evaluator: a configuration (or a candidate, by its `config`) gets what was
/// recorded for it. The time that the recorder spent outside the phases is counted to measuring. What was not
/// recorded is rejected at no cost.
///
/// Copies share the table and have a clock each; one object is used by one thread at a time.
class RecordedReplay {
 public:
  explicit RecordedReplay(const Recording& recording, RecordedReplayOptions options = {});

  template <class Candidate>
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext&) {
    if constexpr (std::same_as<Candidate, Config>)
      return answer(candidate);
    else
      return answer(candidate.config);
  }

  /// The position of the configuration among `Recording::trials`.
  [[nodiscard]] std::optional<std::size_t> find(const Config& config) const;
  /// The answer for the trial at a position, without a copy and without the clock.
  [[nodiscard]] const Evaluation& at(std::size_t trial) const { return table_->answers[trial]; }

  /// Recorded seconds of all that was answered so far, one after another; see VirtualClock for overlap.
  [[nodiscard]] double virtual_seconds() const noexcept { return seconds_; }

 private:
  struct Table {
    std::vector<Evaluation> answers;
    std::unordered_map<Config, std::size_t> positions;
  };
  Evaluation answer(const Config& config);

  std::shared_ptr<const Table> table_;
  double seconds_ = 0.0;
};

/// The evaluator that answers from `recording`, which need not outlive it.
[[nodiscard]] RecordedReplay replay(const Recording& recording, RecordedReplayOptions options = {});

}  // namespace kernelsearch
