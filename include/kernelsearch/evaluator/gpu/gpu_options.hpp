// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "kernelsearch/evaluator/gpu/gpu_backend.hpp"
#include "kernelsearch/evaluator/judging_options.hpp"
#include "kernelsearch/evaluator/sampling.hpp"
#include "kernelsearch/judge/measuring_lock.hpp"
#include "kernelsearch/process/sandbox.hpp"

namespace kernelsearch {

/// Beyond these a candidate or its compiler is stopped; in seconds.
struct GpuLimits {
  double start = 60.0;   ///< of a worker, its context included
  double build = 120.0;  ///< of one compilation
  double call = 5.0;     ///< of one call
};

/// How many timed calls, whose inputs nobody has seen before, the reference solves afterwards: at random, one
/// of each batch at least (of a slow reference, over 0.02 s a run, one of a finalist), more while they cost
/// no more seconds of the reference than this. The feature `verified_calls` says how many were right.
/// Finalists are what is evaluated outside of a search, and both sides of `compare`.
struct GpuVerification {
  double search_seconds = 0.004;  ///< of each batch in a search, some 20 ms; at most a quarter of its calls
  double finalist_seconds = 2.0;  ///< of a shape of a finalist, again in its pairs; at most half of its calls
};

/// How the GPU evaluator works.
struct GpuOptions {
  std::vector<int> devices{0};  ///< ordinals of equal devices; each is a lane of its own
  WaitTeller waits = nullptr;   ///< hears when another process measures on one of them; from any thread
  WaitTeller notes = nullptr;   ///< hears once what about the problem cannot be checked
  CacheMode cache = CacheMode::cold;
  std::string architecture{};  ///< to compile for; empty: the first device's
  /// The identity (GpuDevice::id) of a device that is not here: the evaluator compiles for it and measures
  /// nothing, so `devices` are not looked at. For CUDA only; empty: it measures.
  std::string build_for{};
  std::filesystem::path cache_directory{};  ///< of compiled kernels; empty: `$XDG_CACHE_HOME/kernelsearch`
  std::filesystem::path worker{};           ///< the kernelsearch-gpu-worker program; empty: looked for
  std::vector<std::filesystem::path> include{};   ///< further folders for the compiler
  std::vector<std::filesystem::path> readable{};  ///< that build commands may read besides the system's
  /// Processes that the candidates of a search take turns in, at most; 1: a single one. They are shown the
  /// same contents, each of them once, so that the reference solves these once for all. There are as many as
  /// the time of the reference is worth, and one where launch functions or made inputs are judged.
  std::size_t processes = 6;
  std::uint64_t buffer_memory = 0;  ///< for the sets of buffers of one shape; 0: a quarter of the free memory
  std::size_t builders = 0;         ///< compiler processes at a time; 0: one for each core, six of OpenCL
  GpuLimits limits{};
  /// For processes in which a candidate's launch function runs; kernels that the evaluator launches on a
  /// device need none. Kernels that run on the host's processors run in it too.
  Sandbox sandbox = Sandbox::automatic;
  /// Whether a driver that compiles in no sandbox may compile outside of one.
  bool sandbox_required = false;
  CheckOptions check{};
  GpuVerification verification{};
  SamplingOptions sampling{.precision = 0.01, .min_samples = 10, .max_samples = 200, .budget_seconds = 0.5};
  PairOptions pairs{};
  /// Samples taken while the device says that it slows down for heat or power supply are taken again.
  bool discard_throttled = true;
};

}  // namespace kernelsearch
