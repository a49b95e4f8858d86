// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "judge/input_sets.hpp"
#include "judge/runner.hpp"

namespace kernelsearch::detail {

/// Timed calls of a trial, or of one side of a pair of finalists, that are compared with what is right before
/// it can win, for each shape that counts. A kernel that leaves out one call in five and passes this many
/// calls, chosen at random, does so once in a hundred times: 0.8^20 = 0.012.
inline constexpr std::size_t least_verified = 20;

/// The problem's default configuration in a process of its own, which says what is right where the reference
/// is too expensive to be asked for every call; or a faster configuration of the problem's own kernel, once
/// that was found right often enough to win. Neither is ever asked about itself, where another can be, and no
/// kernel that somebody else wrote is asked: it would pass its own children. Who is asked is believed on
/// a shape once it was right there on a set that the reference knows. Not thread-safe.
class Verifier {
 public:
  enum class Opinion : std::uint8_t {
    none,       ///< nobody can tell: it does not build, was wrong itself, or has arrays of other sizes
    same,       ///< what it computes lies within the tolerance of the output's type
    different,  ///< which the reference has to decide: two right kernels may be twice the tolerance apart
  };

  /// Nothing is compiled or started before it is needed; what is given must outlive it.
  Verifier(const Problem& problem, CompileCache& compiler, const WorkerSettings& settings);

  /// Compares `got`, outputs of the code in `library`, with its own outputs for `contents`; `known`: a set of
  /// the same sizes with a known result.
  [[nodiscard]] Opinion compare(const ShapePlan& plan, const InputSet& known, const Contents& contents,
                                const std::vector<std::vector<std::byte>>& got,
                                const std::filesystem::path& library);

  /// Tells of a candidate of which `least_verified` calls of each timed shape were found right, and of its
  /// time in seconds: it may be asked from now on where it is much faster than the default configuration.
  void learn(const Candidate& candidate, const std::filesystem::path& library, double seconds);

  /// Seconds that one comparison on the shape took last; 0 before the first.
  [[nodiscard]] double seconds(std::size_t shape) const { return seconds_[shape]; }

  /// Ends its processes, which the next comparison starts anew: outside of a measuring turn none of our
  /// kernels is there.
  void rest() noexcept;

 private:
  struct Place {
    std::optional<ShapePlan> plan;
    bool fit = true, checked = false;
  };
  /// A configuration that can be asked.
  struct Witness {
    Candidate candidate;
    double seconds;                                ///< its time in its trial
    std::optional<std::filesystem::path> library;  ///< unknown before it is needed
    std::vector<Place> places;                     ///< of each shape
    std::unique_ptr<Runner> runner;
  };

  [[nodiscard]] Witness witness(const Candidate& candidate, double seconds) const;
  [[nodiscard]] Opinion ask(Witness& witness, const ShapePlan& plan, const InputSet& known,
                            const Contents& contents, const std::vector<std::vector<std::byte>>& got);
  [[nodiscard]] Place* place(Witness& witness, const ShapePlan& plan);
  /// What it computes; nothing where it fails.
  [[nodiscard]] std::optional<InputSet> outputs(Witness& witness, const Place& place,
                                                const Contents& contents);
  [[nodiscard]] bool is_right(Witness& witness, const Place& place, const InputSet& known);
  [[nodiscard]] const std::filesystem::path& library_of(Witness& witness);
  [[nodiscard]] Runner* ready(Witness& witness, const ShapePlan& plan);

  const Problem& problem_;
  CompileCache& compiler_;
  WorkerSettings settings_;
  std::vector<Witness> faster_;  ///< the fastest first, two at most: one for the other
  Witness default_;
  std::vector<double> seconds_;  ///< of each shape
};

/// Has the verifier rest at the end of a scope, which is that of a measuring turn.
class VerifiesUntilHere {
 public:
  explicit VerifiesUntilHere(Verifier& verifier) noexcept : verifier_(verifier) {}
  VerifiesUntilHere(const VerifiesUntilHere&) = delete;
  VerifiesUntilHere& operator=(const VerifiesUntilHere&) = delete;
  ~VerifiesUntilHere() { verifier_.rest(); }

 private:
  Verifier& verifier_;
};

}  // namespace kernelsearch::detail
