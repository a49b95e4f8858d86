// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>

#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/store/run_store.hpp"

namespace kernelsearch {

/// What an evaluation depends on besides the candidate.
struct ResultScope {
  std::string problem_digest;
  std::string device;              ///< required: a result of one device says nothing of another
  std::string toolchain;           ///< compiler or driver, with version and flags
  std::string former_device = {};  ///< what an earlier version called the device; its results count, too
};

/// Evaluations of all runs of a store, by content: SHA-256 of problem, kernel text, configuration, device and
/// toolchain. Thread-safe; models the cache that `Cached` takes, with `key` as its key.
///
/// Not kept, because another run may see it otherwise: crashes, timeouts and failed launches, which can be
/// the machine's doing, proposals without a candidate, and measurements that were stopped early against the
/// incumbent of their own run.
class ResultCache {
 public:
  /// A scope without device or problem is a ConfigError.
  ResultCache(RunStore& store, ResultScope scope);

  /// The digest; where the device had another name formerly, a blank and the digest under that follow.
  [[nodiscard]] std::string key(const Candidate& candidate) const;
  /// The same for candidates that are not kernels: `content` identifies one completely.
  [[nodiscard]] std::string key(const std::string& content) const;

  /// The evaluation, whose provenance then says that it was reused and from when.
  [[nodiscard]] std::optional<Evaluation> find(const std::string& key) const;
  void insert(const std::string& key, const Evaluation& evaluation);

  /// Whether `insert` would keep it.
  [[nodiscard]] static bool worth_keeping(const Evaluation& evaluation);

 private:
  [[nodiscard]] std::string digest(const std::string& device, const std::string& content) const;

  RunStore* store_;
  ResultScope scope_;
};

}  // namespace kernelsearch
