// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>

#include "kernelsearch/judge/host_options.hpp"
#include "kernelsearch/problem/lint.hpp"

namespace kernelsearch {

/// Runs reference and default of a host problem in the processes and the sandbox that HostEvaluator judges
/// candidates in; what either does wrong, a build that fails included, is the call's failure in words.
/// Elements that the reference left unwritten in its last run on a shape count as 0 in the default's outputs
/// too; others that the default leaves are NaN. Not thread-safe.
class HostLintRunner final : public LintRunner {
 public:
  /// A ConfigError where HostEvaluator gives one: no sandbox, worker, cache directory or core, or not for
  /// hosts.
  explicit HostLintRunner(Problem problem, HostOptions options = {});
  HostLintRunner(HostLintRunner&&) noexcept;
  HostLintRunner& operator=(HostLintRunner&&) noexcept;
  ~HostLintRunner() override;

  [[nodiscard]] CallInputs draw(const Problem& problem, const Shape& shape, std::uint64_t seed) override;
  /// In double precision, or long double for a problem of f64.
  [[nodiscard]] CallOutputs run_reference(const Shape& shape, const CallInputs& inputs) override;
  [[nodiscard]] CallOutputs run_default(const Shape& shape, const CallInputs& inputs) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernelsearch
