// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "kernelsearch/agents/declared_tunables.hpp"
#include "kernelsearch/core/history.hpp"
#include "kernelsearch/problem/kernel.hpp"

namespace kernelsearch::detail {

/// Whether declaring `a` again changes nothing of the tunable `b`.
[[nodiscard]] bool adds_nothing(const Tunable& a, const Tunable& b);

/// Whether the spaces have the same tunables, in values, defaults and conditions, and the same valid
/// configurations, even if their constraints differ. Where the constraints of both together make a space that
/// is too large to be counted (see SpaceOptions::max_states), the spaces count as different.
[[nodiscard]] bool same_space(const Space& a, const Space& b,
                              std::size_t max_states = DeclaredTunablesLimits{}.max_states);

/// Whether the kernels have the same `code_key` and `same_space`: one of them would tell nothing new of the
/// other. The only rule of that, for systems, kernels that are handed in, and stored runs.
[[nodiscard]] bool same_kernel(const Kernel& a, const Kernel& b);

/// `kernel 3, 1.2 ms`: what is told of the kernel that another one equals.
[[nodiscard]] std::string twin_text(const Outcome& twin);

/// Looks for equal kernels among those that were tried. The key of each kernel's code is computed once.
/// Thread-safe.
class KnownKernels {
 public:
  /// The first trial told whose kernel is the same.
  [[nodiscard]] std::optional<Trial<Candidate>> twin(const History<Candidate>& history,
                                                     const Kernel& kernel) const;

 private:
  [[nodiscard]] const std::string& key_of(const std::shared_ptr<const Kernel>& kernel) const;

  mutable std::mutex mutex_;
  /// The kernels are kept, so that no other one gets the address.
  mutable std::unordered_map<const Kernel*, std::pair<std::shared_ptr<const Kernel>, std::string>> keys_;
};

}  // namespace kernelsearch::detail
