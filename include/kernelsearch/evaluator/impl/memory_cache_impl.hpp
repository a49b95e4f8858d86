// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernelsearch/evaluator/memory_cache.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE std::optional<Evaluation> MemoryCache::find(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return std::nullopt;
  return found->second;
}

KERNELSEARCH_INLINE void MemoryCache::insert(const std::string& key, const Evaluation& evaluation) {
  const std::lock_guard lock(mutex_);
  entries_.insert_or_assign(key, evaluation);
}

}  // namespace kernelsearch
