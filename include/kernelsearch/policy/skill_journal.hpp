// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/policy/skill_iteration.hpp"

namespace kernelsearch {

/// How far a search of RooflineBudget is, for generators that tell people or models what is asked and why.
/// One writes, any number of threads read; moves that are outstanding are of the last iteration.
class SkillJournal {
 public:
  void write(const std::vector<SkillIteration>& iterations);

  [[nodiscard]] std::vector<SkillIteration> iterations() const;

  /// The iteration that moves which are outstanding belong to; none before the first.
  [[nodiscard]] std::optional<SkillIteration> last() const;

 private:
  mutable std::mutex mutex_;
  std::vector<SkillIteration> iterations_;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/policy/impl/skill_journal_impl.hpp"
#endif
