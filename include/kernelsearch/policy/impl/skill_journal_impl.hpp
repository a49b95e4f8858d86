// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/policy/skill_journal.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE void SkillJournal::write(const std::vector<SkillIteration>& iterations) {
  const std::scoped_lock lock(mutex_);
  iterations_ = iterations;
}

KERNELSEARCH_INLINE std::vector<SkillIteration> SkillJournal::iterations() const {
  const std::scoped_lock lock(mutex_);
  return iterations_;
}

KERNELSEARCH_INLINE std::optional<SkillIteration> SkillJournal::last() const {
  const std::scoped_lock lock(mutex_);
  if (iterations_.empty()) return std::nullopt;
  return iterations_.back();
}

}  // namespace kernelsearch
