// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/store/codec.hpp"

namespace kernelsearch {

/// The kernel of a digest; raises a ConfigError when it does not know it.
using KernelLookup = std::function<std::shared_ptr<const Kernel>(const std::string& digest)>;

/// Knows these kernels by their `kernel_digest`. Enough for searches over configurations: there is one.
[[nodiscard]] KernelLookup lookup_among(std::vector<std::shared_ptr<const Kernel>> kernels);

class RunStore;

/// Makes a kernel from stored text. Its space is not stored: the maker supplies it.
using KernelMaker = std::function<std::shared_ptr<const Kernel>(Regions regions)>;

/// Knows the kernels that are in the store, made of their text; ConfigError for one whose space has changed.
/// The store outlives it.
[[nodiscard]] KernelLookup lookup_in(const RunStore& store, KernelMaker make);

/// The candidate at the configuration of its kernel's space that has this key, as `Evaluation::tuned_key`
/// names it; as it is where the key is empty or of no configuration.
[[nodiscard]] Candidate tuned(const Candidate& candidate, const std::string& key);

/// Stores a kernel once under its digest, and of each candidate its configuration as indices, key and values.
/// Reading needs a `lookup`, since a stored kernel is text and its space belongs to the problem or generator.
template <>
struct CandidateCodec<Candidate> {
  CandidateCodec() = default;
  explicit CandidateCodec(KernelLookup lookup) : lookup_(std::move(lookup)) {}

  [[nodiscard]] StoredCandidate encode(const Candidate& candidate);
  [[nodiscard]] std::optional<StoredKernel> kernel(const Candidate& candidate);
  [[nodiscard]] Candidate decode(const StoredCandidate& stored) const;

 private:
  const std::string& digest_of(const std::shared_ptr<const Kernel>& kernel);

  KernelLookup lookup_;
  // Digests by address. Holding the kernels keeps the addresses from being used again.
  std::unordered_map<const Kernel*, std::pair<std::shared_ptr<const Kernel>, std::string>> digests_;
};

}  // namespace kernelsearch
