// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "kernelsearch/evaluator/evaluator.hpp"
#include "kernelsearch/evaluator/pairing_evaluator.hpp"
#include "kernelsearch/evaluator/portable_artifact.hpp"
#include "kernelsearch/judge/host_options.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// A built candidate that waits for its turn.
struct HostArtifact {
  Candidate candidate;
  std::filesystem::path library;
  /// The function where its calls begin: our entry, or the kernel in a shared library of the build command's.
  std::string entry = "kernelsearch_entry";
};

/// Builds C++ kernels with the system's compilers and judges them on one core of this machine (see
/// docs/architecture.md). Compiler, reference and candidate each run in a process of their own inside a
/// sandbox; seeds, expected results and the verdict stay in this one. Several threads may build while one
/// runs.
class HostEvaluator {
 public:
  using Artifact = HostArtifact;

  /// A ConfigError where sandbox, worker, cache directory or core are not to be had, or the problem is not
  /// for hosts.
  explicit HostEvaluator(Problem problem, HostOptions options = {});
  HostEvaluator(HostEvaluator&&) noexcept;
  HostEvaluator& operator=(HostEvaluator&&) noexcept;
  ~HostEvaluator();

  [[nodiscard]] Staged<HostArtifact> build(const Candidate& candidate, const EvaluationContext& context);
  [[nodiscard]] Evaluation run(Staged<HostArtifact>&& staged, const EvaluationContext& context);
  [[nodiscard]] Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context);
  [[nodiscard]] std::size_t lanes() const noexcept { return 1; }

  /// The code that was built, to be run by an equal evaluator elsewhere. A DeviceError if it is gone.
  [[nodiscard]] PortableArtifact carry(const HostArtifact& artifact) const;
  [[nodiscard]] HostArtifact carried(const Candidate& candidate, const PortableArtifact& artifact) const;

  /// The champion's time divided by the candidate's, in interleaved pairs, spread over at least six pairs of
  /// fresh processes; a ConfigError if one of them is not ok.
  [[nodiscard]] Speedup compare(const Candidate& candidate, const Candidate& champion);
  /// The same with other limits than `options().pairs`; `when` says nothing here. After three rounds there
  /// are no more where starting and checking has taken four times as long as all pairs may.
  [[nodiscard]] Speedup compare(const Candidate& candidate, const Candidate& champion,
                                const PairOptions& pairs);
  /// The reference's time divided by the candidate's, in interleaved pairs.
  [[nodiscard]] Speedup compare_with_reference(const Candidate& candidate);

  /// The machine, for keys of stored results and for people: see HostMachine::id.
  [[nodiscard]] std::string device_id() const;
  [[nodiscard]] std::string device_name() const { return device_id(); }
  /// Path and version of the compiler at the default configuration.
  [[nodiscard]] std::string toolchain_id() const;
  [[nodiscard]] const Problem& problem() const noexcept;
  [[nodiscard]] const HostOptions& options() const noexcept;

 private:
  struct Impl;
  Evaluation run_once(Staged<HostArtifact>&& staged, const EvaluationContext& context, bool& unsettled);

  std::unique_ptr<Impl> impl_;
};

static_assert(StagedEvaluator<HostEvaluator, Candidate>);
static_assert(CarriesArtifacts<HostEvaluator, Candidate>);
static_assert(PairingEvaluator<HostEvaluator, Candidate>);

}  // namespace kernelsearch
