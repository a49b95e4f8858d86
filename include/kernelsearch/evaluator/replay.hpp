// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "kernelsearch/evaluator/evaluator.hpp"

namespace kernelsearch {

/// Recorded evaluations by key, such as `Space::key` of a configuration.
using EvaluationTable = std::unordered_map<std::string, Evaluation>;

/// Answers from a table instead of hardware. Keys that are not in it are rejected. The recorded seconds
/// advance a virtual clock, so that time budgets can be studied without spending the time.
template <class Key>
class Replay {
 public:
  Replay(std::shared_ptr<const EvaluationTable> table, Key key)
      : table_(std::move(table)), key_(std::move(key)) {}

  template <class Candidate>
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext&) {
    const std::string key = key_(candidate);
    const auto found = table_->find(key);
    if (found == table_->end())
      return Evaluation::failed(Verdict::rejected, "not in the recorded table: " + key);
    seconds_ += found->second.phases.total();
    return found->second;
  }

  /// Recorded build, check and measuring time of everything evaluated so far, one after another.
  [[nodiscard]] double virtual_seconds() const noexcept { return seconds_; }

 private:
  std::shared_ptr<const EvaluationTable> table_;
  Key key_;
  double seconds_ = 0.0;
};

}  // namespace kernelsearch
