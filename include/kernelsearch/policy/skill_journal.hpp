// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "kernelsearch/policy/skill_iteration.hpp"

namespace kernelsearch {

/// How far a search of RooflineBudget is, for generators that tell people or models what is asked and why.
/// One writes, any number of threads read; moves that are outstanding are of the last iteration.
class SkillJournal {
 public:
  void write(const std::vector<SkillIteration>& iterations) {
    const std::scoped_lock lock(mutex_);
    iterations_ = iterations;
  }

  [[nodiscard]] std::vector<SkillIteration> iterations() const {
    const std::scoped_lock lock(mutex_);
    return iterations_;
  }

  /// The iteration that moves which are outstanding belong to; none before the first.
  [[nodiscard]] std::optional<SkillIteration> last() const {
    const std::scoped_lock lock(mutex_);
    if (iterations_.empty()) return std::nullopt;
    return iterations_.back();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<SkillIteration> iterations_;
};

}  // namespace kernelsearch
