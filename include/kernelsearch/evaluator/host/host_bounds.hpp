// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <optional>
#include <stop_token>

#include "kernelsearch/core/outcome.hpp"
#include "kernelsearch/judge/host_options.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// Finds host kernels that read or write beyond their arrays by a few bytes or pages, where timed calls do
/// not show it: each call of a run of its own has arrays whose end, then whose beginning, lies at a page that
/// nobody may access. For kernels in good faith: one that handles SIGSEGV itself is refused the handler, but
/// one that maps memory over the pages is not noticed.
class HostBounds {
 public:
  /// A ConfigError where sandbox, worker or cache directory are not to be had.
  explicit HostBounds(Problem problem, HostOptions options = {});
  HostBounds(HostBounds&&) noexcept;
  HostBounds& operator=(HostBounds&&) noexcept;
  ~HostBounds();

  /// Runs the candidate once on every shape for each end of its arrays. What is wrong with it, with the
  /// argument, the distance and the shape; nothing where nothing is. Arrays begin where their elements may:
  /// only a kernel that needs arrays at multiples of 64, as it has in timed calls, gets them there, and then
  /// up to 63 bytes beyond the end that lie in the last line are not checked.
  /// Once a stop is asked for it ends after the call that is under way, and nothing then says nothing.
  [[nodiscard]] std::optional<Evaluation> validate(const Candidate& candidate,
                                                   const std::stop_token& stop = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernelsearch
