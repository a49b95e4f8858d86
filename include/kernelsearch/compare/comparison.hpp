// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "kernelsearch/compare/landscape.hpp"
#include "kernelsearch/compare/trace.hpp"
#include "kernelsearch/policy/any_policy.hpp"
#include "kernelsearch/policy/policy_setup.hpp"
#include "kernelsearch/recorded/recording.hpp"

namespace kernelsearch {

/// A policy that takes part in a comparison. `make` is called once for each run, from several threads.
struct Contestant {
  std::string name;
  std::function<AnyPolicy<Config>(const PolicySetup&)> make;
  /// It works in a process of its own, so its time is how long its calls take, not processor time of ours.
  bool own_process = false;
};

/// The policy of that text from the registry, a name or `genetic(population=40)`; the contestant is called as
/// the text. ConfigError with the nearest name for an unknown policy or option, and for a value that does not
/// fit.
[[nodiscard]] Contestant registered_contestant(const std::string& text);

/// How far a comparison is.
struct ComparisonProgress {
  std::size_t runs = 0;          ///< all there are
  std::size_t finished = 0;      ///< found in the folder ones included
  double elapsed_seconds = 0.0;  ///< of wall time
  double left_seconds = 0.0;     ///< estimated from what such runs took; infinity: unknown
};

struct ComparisonOptions {
  std::uint64_t repeats = 20;
  std::uint64_t seed = 0;
  /// Evaluations of each run. Empty: what is scored of a space (its budget, at most 1100), but at least 200;
  /// policies are then not told of a budget, because that one says how hard the space is.
  std::optional<std::uint64_t> budget = {};
  std::optional<double> recorded_seconds = {};  ///< ends each run after that much recorded time as well
  /// Whether policies see the default configuration that the space declares. Else each repeat has a valid one
  /// drawn at random, the same for all policies: the declared one is often the result of tuning and may be
  /// the optimum.
  bool declared_default = false;
  std::size_t in_flight = 1;  ///< evaluations that a run has outstanding
  /// A policy that proposes a configuration again, leaves the space or ends early ends the comparison; else
  /// that is counted in its traces.
  bool strict = false;
  std::size_t threads = 0;                            ///< 0: one for each core that may be used
  std::vector<std::vector<EarlierRun>> earlier = {};  ///< for each recording what policies may learn from
  std::filesystem::path folder = {};  ///< where traces.jsonl keeps finished runs; empty: nowhere
  std::function<void(const ComparisonProgress&)> progress = nullptr;  ///< called by one thread at a time
  std::stop_token stop = {};  ///< runs that are under way are given up
};

/// Runs every policy on every recording `repeats` times, on all cores. The runs are a function of the seed,
/// whatever the number of threads; the k-th repeat on a space has the same seed for all policies, so that
/// they can be compared in pairs. Traces come by recording, policy, repeat.
///
/// With a folder each finished run is appended to `traces.jsonl` there at once, and what is already there
/// is not run again. A comparison may be repeated there with more repeats, policies or recordings, else
/// ConfigError says which option differs from `options.json`. An exception of a policy ends the comparison,
/// as a ConfigError that names policy, space, repeat and evaluation.
///
/// In a run with one evaluation at a time recorded seconds add up. With more in flight each one is built
/// while others are, and they are measured one after another on the one device, whichever is built first;
/// outcomes are told as they come.
[[nodiscard]] std::vector<Trace> compare(std::span<const Recording> recordings,
                                         std::span<const Landscape> landscapes,
                                         std::span<const Contestant> contestants,
                                         const ComparisonOptions& options = {});

/// The landscapes of recordings, in their order.
[[nodiscard]] std::vector<Landscape> landscapes_of(std::span<const Recording> recordings);

}  // namespace kernelsearch
