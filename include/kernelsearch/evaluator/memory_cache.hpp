// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "kernelsearch/core/config_macros.hpp"
#include "kernelsearch/core/outcome.hpp"

namespace kernelsearch {

/// Evaluations by key for the life of the object; thread-safe.
class MemoryCache {
 public:
  [[nodiscard]] std::optional<Evaluation> find(const std::string& key) const;

  void insert(const std::string& key, const Evaluation& evaluation);

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Evaluation> entries_;
};

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/evaluator/impl/memory_cache_impl.hpp"
#endif
