// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "kernelsearch/evaluator/evaluator.hpp"
#include "kernelsearch/evaluator/gpu/gpu_device.hpp"
#include "kernelsearch/evaluator/gpu/gpu_options.hpp"
#include "kernelsearch/evaluator/pairing_evaluator.hpp"
#include "kernelsearch/evaluator/portable_artifact.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// A compiled candidate that waits for its turn on a device.
struct GpuArtifact {
  Candidate candidate;
  std::shared_ptr<const std::vector<std::byte>> image;
  std::vector<std::string> functions;  ///< names in the image of the kernels that the problem's steps launch
  bool library = false;                ///< the image is a shared object whose launch function does it instead
  std::vector<BuiltLaunch> launches{};  ///< one for each of `functions` where a build command made them
};

/// Compiles device kernels at run time and judges them on the GPUs of this machine (docs/measuring.md).
/// Compilers, candidates and references live in processes of their own; seeds, expected results and the
/// verdict never exist where a candidate runs. Several threads may build while one for each device runs.
///
/// With `GpuOptions::build_for` it builds for a device elsewhere, says that it is that one, and has no lanes:
/// what it has built is carried there; `run` and `compare` are a ConfigError.
class GpuEvaluator {
 public:
  using Artifact = GpuArtifact;

  /// A ConfigError where the problem is for another backend or cannot be compiled for, also where the
  /// compilers here have no code for `build_for`; a DeviceError where there is no such device.
  explicit GpuEvaluator(Problem problem, GpuOptions options = {});
  GpuEvaluator(GpuEvaluator&&) noexcept;
  GpuEvaluator& operator=(GpuEvaluator&&) noexcept;
  ~GpuEvaluator();

  [[nodiscard]] Staged<GpuArtifact> build(const Candidate& candidate, const EvaluationContext& context);
  [[nodiscard]] Evaluation run(Staged<GpuArtifact>&& staged, const EvaluationContext& context);
  [[nodiscard]] Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context);
  [[nodiscard]] std::size_t lanes() const noexcept;

  /// The code that was built, to be run by an equal evaluator elsewhere. A DeviceError if it is gone.
  [[nodiscard]] PortableArtifact carry(const GpuArtifact& artifact) const;
  [[nodiscard]] GpuArtifact carried(const Candidate& candidate, const PortableArtifact& artifact) const;

  /// The champion's time divided by the candidate's, in interleaved pairs in one process; a ConfigError if
  /// one of them is not ok.
  [[nodiscard]] Speedup compare(const Candidate& candidate, const Candidate& champion);
  /// The same with other limits than `options().pairs`; `when` says nothing here.
  [[nodiscard]] Speedup compare(const Candidate& candidate, const Candidate& champion,
                                const PairOptions& pairs);

  /// Gives every lane a fresh process with inputs that were never used, as finalists are judged in.
  void renew();

  [[nodiscard]] const GpuDevice& device() const noexcept;
  [[nodiscard]] std::string device_id() const { return device().id(); }
  [[nodiscard]] std::string device_name() const { return device().name; }
  [[nodiscard]] std::string toolchain_id() const;
  [[nodiscard]] const Problem& problem() const noexcept;
  [[nodiscard]] const GpuOptions& options() const noexcept;
  /// Seconds that the devices spent in candidates' timed and checked calls so far, all lanes together.
  [[nodiscard]] double busy_seconds() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

static_assert(StagedEvaluator<GpuEvaluator, Candidate>);
static_assert(CarriesArtifacts<GpuEvaluator, Candidate>);
static_assert(PairingEvaluator<GpuEvaluator, Candidate>);

}  // namespace kernelsearch
