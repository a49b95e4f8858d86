// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "block_runner.hpp"

#include <algorithm>
#include <numeric>

namespace kernelsearch_standin {

void BlockRunner::thread_body(void* self) {
  auto& runner = *static_cast<BlockRunner*>(self);
  runner.launch_.entry(runner.launch_.parameters);
  Thread& thread = runner.threads_[runner.current_];
  thread.phase = Phase::done;
  runner.idle_.push_back(thread.fiber);
  --runner.live_;
}

void BlockRunner::run(const Launch& launch) {
  launch_ = launch;
  const Index block = launch.block;
  threads_.assign(std::size_t{block.x} * block.y * block.z, {});
  std::size_t at = 0;
  for (unsigned z = 0; z < block.z; ++z)
    for (unsigned y = 0; y < block.y; ++y)
      for (unsigned x = 0; x < block.x; ++x) threads_[at++].index = {x, y, z};
  turns_.resize(threads_.size());
  std::iota(turns_.begin(), turns_.end(), std::size_t{0});
  if (launch.order == Order::reverse) std::reverse(turns_.begin(), turns_.end());
  views_.assign((threads_.size() + launch.warp - 1) / launch.warp, {});
  state_.block_size = block;
  state_.grid_size = launch.grid;
  for (unsigned z = 0; z < launch.grid.z; ++z)
    for (unsigned y = 0; y < launch.grid.y; ++y)
      for (unsigned x = 0; x < launch.grid.x; ++x) {
        state_.block = {x, y, z};
        run_block();
      }
}

void BlockRunner::run_block() {
  for (Thread& thread : threads_) thread.phase = Phase::ready, thread.fiber = nullptr;
  live_ = threads_.size();
  arriving_ = {};
  while (live_ > 0) {
    if (launch_.order == Order::shuffled) order_threads();
    for (const std::size_t thread : turns_)
      if (threads_[thread].phase == Phase::ready) resume(thread);
    if (live_ > 0 && !release_warps()) release_barrier();
  }
}

void BlockRunner::order_threads() {
  for (std::size_t i = turns_.size(); i > 1; --i) {
    random_ = random_ * 1664525u + 1013904223u;
    std::swap(turns_[i - 1], turns_[(std::uint64_t{random_} * i) >> 32]);
  }
}

void BlockRunner::resume(std::size_t index) {
  Thread& thread = threads_[index];
  current_ = index;
  state_.thread = thread.index;
  state_.lane = static_cast<unsigned>(index % launch_.warp);
  if (thread.fiber == nullptr) {
    if (idle_.empty()) {
      fibers_.push_back(std::make_unique<Fiber>(&BlockRunner::thread_body, this));
      idle_.push_back(fibers_.back().get());
    }
    thread.fiber = idle_.back();
    idle_.pop_back();
  }
  thread.fiber->enter();
}

BarrierView BlockRunner::wait_at_barrier(int value) {
  Thread& thread = threads_[current_];
  thread.phase = Phase::at_barrier;
  arriving_.nonzero += value != 0;
  ++arriving_.arrived;
  thread.fiber->leave();
  return released_;
}

const WarpView* BlockRunner::exchange(unsigned long long mask, int site, unsigned long long value) {
  Thread& thread = threads_[current_];
  thread.phase = Phase::at_warp;
  thread.mask = mask;
  thread.site = site;
  thread.value = value;
  const std::size_t warp = current_ / launch_.warp;
  thread.fiber->leave();
  return &views_[warp];
}

bool BlockRunner::release_warps() {
  bool any = false;
  for (std::size_t warp = 0; warp < views_.size(); ++warp) {
    const std::size_t first = warp * launch_.warp;
    any = release_warp(first, std::min(first + launch_.warp, threads_.size()), views_[warp]) || any;
  }
  return any;
}

bool BlockRunner::release_warp(std::size_t first, std::size_t last, WarpView& view) {
  // Lanes that wait at one place for the same lanes go together: first a group that is complete, else the one
  // that is earliest in the source, since what comes after a branch waits for the branch.
  const Thread* best = nullptr;
  bool best_complete = false;
  for (std::size_t i = first; i < last && !best_complete; ++i) {
    const Thread& thread = threads_[i];
    if (thread.phase != Phase::at_warp) continue;
    if (best != nullptr && thread.site == best->site && thread.mask == best->mask) continue;
    bool complete = true;
    for (std::size_t j = first; j < last; ++j) {
      const Thread& other = threads_[j];
      const bool named = (thread.mask >> (j - first) & 1u) != 0;
      if (named && other.phase != Phase::done)
        complete = complete && other.phase == Phase::at_warp && other.site == thread.site &&
                   other.mask == thread.mask;
    }
    if (best == nullptr || complete || thread.site < best->site) best = &thread, best_complete = complete;
  }
  if (best == nullptr) return false;
  const int site = best->site;
  const unsigned long long mask = best->mask;
  view = {};
  for (std::size_t i = first; i < last; ++i) {
    Thread& thread = threads_[i];
    if (thread.phase != Phase::at_warp || thread.site != site || thread.mask != mask) continue;
    view.values[i - first] = thread.value;
    view.active |= 1ull << (i - first);
    thread.phase = Phase::ready;
  }
  return true;
}

void BlockRunner::release_barrier() {
  released_ = arriving_;
  arriving_ = {};
  for (Thread& thread : threads_)
    if (thread.phase == Phase::at_barrier) thread.phase = Phase::ready;
}

}  // namespace kernelsearch_standin
