// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "kernelsearch/core/outcome.hpp"

namespace kernelsearch {

/// Evaluations by key for the life of the object; thread-safe.
class MemoryCache {
 public:
  [[nodiscard]] std::optional<Evaluation> find(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return std::nullopt;
    return found->second;
  }

  void insert(const std::string& key, const Evaluation& evaluation) {
    const std::lock_guard lock(mutex_);
    entries_.insert_or_assign(key, evaluation);
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Evaluation> entries_;
};

}  // namespace kernelsearch
