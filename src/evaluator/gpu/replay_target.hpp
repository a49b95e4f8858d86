// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "evaluator/gpu/builder_pool.hpp"
#include "evaluator/gpu/replay_file.hpp"
#include "kernelsearch/evaluator/gpu/gpu_device.hpp"
#include "kernelsearch/evaluator/gpu/gpu_options.hpp"
#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch::detail::gpu {

/// Starts a worker that says what the device is; a DeviceError where it cannot be used.
[[nodiscard]] GpuDevice look_at(GpuBackend backend, int ordinal, const GpuOptions& options);

/// What outside tools need to run one candidate of a problem: its code, the file of commands, and the program
/// that carries them out. Compiled code comes from the cache on disk where the evaluator has been there
/// before.
class ReplayTarget {
 public:
  /// Uses the first of `options.devices`. Errors as GpuEvaluator's.
  ReplayTarget(Problem problem, GpuOptions options);

  [[nodiscard]] Built build(const Candidate& candidate);

  /// Writes the commands of one call; what is in the way in words, else empty.
  [[nodiscard]] std::string write(const Candidate& candidate, const Built& built, const ReplayCall& call,
                                  const std::filesystem::path& file, std::size_t& launches);

  /// The command line that carries out the file; `exact`: buffers without zones around them.
  [[nodiscard]] std::vector<std::string> command(const std::filesystem::path& file, bool exact) const;

  /// The shape of that name; with none the timed shape of most weight or, if `small`, the one with the fewest
  /// bytes, of those that the configuration is valid for. A ConfigError for an unknown name.
  [[nodiscard]] std::optional<std::size_t> shape(const Candidate& candidate, const std::string& name,
                                                 bool small) const;

  [[nodiscard]] const Problem& problem() const noexcept { return problem_; }
  [[nodiscard]] const GpuDevice& device() const noexcept { return device_; }

 private:
  Problem problem_;
  GpuOptions options_;
  GpuBackend backend_;
  BuilderPool builders_;
  GpuDevice device_;
};

}  // namespace kernelsearch::detail::gpu
