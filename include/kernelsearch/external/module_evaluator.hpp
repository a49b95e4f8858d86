// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernelsearch/core/device_peaks.hpp"
#include "kernelsearch/evaluator/evaluator.hpp"
#include "kernelsearch/evaluator/pairing_evaluator.hpp"
#include "kernelsearch/external/external_evaluator.hpp"
#include "kernelsearch/judge/host_options.hpp"
#include "kernelsearch/problem/module_problem.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// The peaks of the device that a module runs on: of a GPU, or of the processor. It is asked while the right
/// to measure is held.
using ModulePeaks = std::function<DevicePeaks(bool on_device)>;

/// Judges replacements of a PyTorch module, docs/torch.md. The problem's program runs twice in the sandbox:
/// as the reference, which holds the module, draws weights and inputs and says what is right, and as the
/// server that a process is forked from for each candidate. Both stand still but while they answer. Time is
/// that of our clock, by the slope of requests as for every external problem; the outputs of timed calls are
/// read from the stopped process and checked. Measured with it in interleaved pairs: the module itself, and
/// torch.compile of it where that works, and the problem's baseline (`add_baseline`). What must be trusted
/// is in `Evaluation::provenance`.
class ModuleEvaluator {
 public:
  using Artifact = ExternalArtifact;

  /// Starts the reference. A ConfigError where that fails, or it declines the module with a reason.
  /// Without `peaks` nothing gets a score S.
  explicit ModuleEvaluator(Problem problem, HostOptions options = {}, ModulePeaks peaks = nullptr);
  ModuleEvaluator(ModuleEvaluator&&) noexcept;
  ModuleEvaluator& operator=(ModuleEvaluator&&) noexcept;
  ~ModuleEvaluator();

  [[nodiscard]] Staged<ExternalArtifact> build(const Candidate& candidate, const EvaluationContext& context);
  /// A DeviceError where the reference fails.
  [[nodiscard]] Evaluation run(Staged<ExternalArtifact>&& staged, const EvaluationContext& context);
  [[nodiscard]] Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context);
  [[nodiscard]] std::size_t lanes() const noexcept { return 1; }

  /// The champion's time divided by the candidate's, in interleaved pairs of requests, in fresh processes for
  /// each round, which have weights of their own; a ConfigError if one of them is not ok.
  [[nodiscard]] Speedup compare(const Candidate& candidate, const Candidate& champion,
                                const PairOptions& pairs = {});

  [[nodiscard]] std::string device_id() const;
  [[nodiscard]] std::string device_name() const { return device_id(); }
  [[nodiscard]] std::string toolchain_id() const;
  [[nodiscard]] const Problem& problem() const noexcept;
  [[nodiscard]] const HostOptions& options() const noexcept;
  /// What the reference says of the module, a line each: versions, inputs and outputs, what was noticed; the
  /// operators of a call with what each moves and computes, their least times where the device's peaks are
  /// known, and which operators take eager PyTorch's time. Takes about a second at most.
  [[nodiscard]] std::vector<std::string> facts() const;
  /// What strategies may ask for: `torch`; `gpu` and `triton` where tensors are on a device.
  [[nodiscard]] std::vector<std::string> features() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

static_assert(StagedEvaluator<ModuleEvaluator, Candidate>);
static_assert(PairingEvaluator<ModuleEvaluator, Candidate>);

}  // namespace kernelsearch
