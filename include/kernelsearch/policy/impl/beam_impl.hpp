// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <tuple>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/policy/beam.hpp"

namespace kernelsearch {

KERNELSEARCH_INLINE Beam::Beam(BeamOptions options)
    : options_(std::move(options)),
      rng_(Rng::stream(options_.seed, "beam")),
      ledger_(options_.strategies, options_.limits) {
  if (options_.width == 0 || options_.branch == 0)
    detail::raise<ConfigError>("BeamOptions has a count of 0", "width or branch", "give at least 1 of each");
}

KERNELSEARCH_INLINE std::vector<Move> Beam::ask(std::size_t n) {
  return ledger_.ask(n, [this] { return choose(); });
}

KERNELSEARCH_INLINE void Beam::next_generation() {
  std::vector<std::size_t> pool;
  if (options_.keep_parents) pool = beam_;
  for (; born_ < ledger_.tree().size(); ++born_) pool.push_back(born_);
  std::erase_if(pool, [this](std::size_t i) { return !ledger_.open(i); });
  const auto better = [this](std::size_t a, std::size_t b) {
    const TreeNode &x = ledger_.node(a), &y = ledger_.node(b);
    return std::tuple(x.objective, -x.progress, a) < std::tuple(y.objective, -y.progress, b);
  };
  std::sort(pool.begin(), pool.end(), better);
  if (pool.size() > options_.width) pool.resize(options_.width);
  for (auto next = ledger_.expandable().begin();
       pool.size() < options_.width && next != ledger_.expandable().end(); ++next)
    if (std::find(pool.begin(), pool.end(), std::get<2>(*next)) == pool.end())
      pool.push_back(std::get<2>(*next));
  beam_ = std::move(pool);
  planned_ = beam_.size() * options_.branch;
}

KERNELSEARCH_INLINE std::optional<Move> Beam::move_on(std::size_t index) {
  if (ledger_.can_debug(index)) return ledger_.propose_debug(index);
  if (options_.recombine > 0.0 && beam_.size() > 1 && rng_.chance(options_.recombine))
    if (std::optional<Move> joined = ledger_.propose_recombination(index, beam_[rng_.below(beam_.size())]))
      return joined;
  if (!ledger_.open(index)) return std::nullopt;
  return ledger_.propose(index, ledger_.least_tried(index, rng_));
}

KERNELSEARCH_INLINE std::optional<Move> Beam::choose() {
  for (int generations = 0; generations < 2; ++generations) {
    while (planned_ > 0)
      if (std::optional<Move> move = move_on(beam_[--planned_ % beam_.size()])) return move;
    if (ledger_.outstanding() > 0) return std::nullopt;  // a generation is chosen from all of the last
    next_generation();
  }
  return std::nullopt;
}

KERNELSEARCH_INLINE void Beam::tell(std::span<const Observation<Move>> batch) {
  for (const Observation<Move>& observation : batch) {
    const std::size_t known = ledger_.tree().size();
    ledger_.tell(observation);
    if (ledger_.tree().size() == known || !observation.outcome.origin) continue;
    // What does not apply, and what nobody answered, uses up none of the generation's proposals. A generation
    // is chosen when nothing is outstanding, so what was told belongs to this one.
    if (ledger_.node(known).is_no_try() && !beam_.empty()) ++planned_;
  }
}

}  // namespace kernelsearch
