// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>

namespace kernelsearch {

/// The state of the caches when a timed call begins.
enum class CacheMode : std::uint8_t {
  warm,  ///< the call's buffers were just read, as far as they fit
  cold,  ///< no line of the call's buffers is in any cache
};

/// When a candidate is timed against the reference in interleaved pairs.
enum class Pairing : std::uint8_t {
  never,
  improved,  ///< only a candidate that would be the best so far, and not each where the reference takes long
  always,
};

/// How thoroughly a candidate's outputs are checked, for each shape.
struct CheckOptions {
  std::size_t seeds = 2;        ///< sets of inputs drawn as the arguments declare
  bool edge = true;             ///< and one of edge values
  bool ill_conditioned = true;  ///< and one ill-conditioned, judged relative to what the sums cancel
  /// Sets of the cheapest shape are always drawn after the candidate is loaded, those of the others while the
  /// reference needs no longer than this for one candidate, in seconds. Beyond it sets drawn for earlier
  /// candidates are taken again: still secret, since no process lives on that has seen them.
  double fresh_seconds = 0.25;
  /// A shape on which one run of the reference takes longer has no edge and no ill-conditioned set, unless it
  /// is the cheapest. In seconds.
  double special_seconds = 0.3;
  bool hidden_shapes = true;  ///< those of the problem, or derived ones where it gives none
  /// Where the reference needs longer for the hidden shapes of one candidate, later ones are drawn smaller.
  double hidden_seconds = 0.25;
  /// Before the first candidate, each timed shape is tried with answers that no computation is needed for
  /// (see trivial_answer in the documents), until the reference took that long for it, in seconds; 0: not at
  /// all.
  double trivial_seconds = 2.0;
};

/// How pairs of reference (or champion) and candidate are timed.
struct PairOptions {
  Pairing when = Pairing::improved;
  std::size_t min_pairs = 6;
  std::size_t max_pairs = 40;
  double precision = 0.02;      ///< half width of the ratio's interval, relative
  double budget_seconds = 0.5;  ///< for one shape
  /// Fresh pairs of processes that `HostEvaluator::compare` spreads the pairs over: where code and buffers
  /// lie in memory is drawn anew for each and may be worth a per cent, which no number of pairs in one
  /// process shows.
  std::size_t rounds = 1;
  std::stop_token stop = {};  ///< asked to stop: pairs taken so far count, and none at all make no speedup
};

}  // namespace kernelsearch
