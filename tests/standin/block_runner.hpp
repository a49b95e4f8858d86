// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/abi.hpp"
#include "fiber.hpp"

namespace kernelsearch_standin {

/// The order in which threads that could all go on take their turns: results must not depend on it.
enum class Order { forward, reverse, shuffled };

/// A launch: `entry(parameters)` is called once for every thread.
struct Launch {
  void (*entry)(void** parameters) = nullptr;
  void** parameters = nullptr;
  Index grid{1, 1, 1}, block{1, 1, 1};
  unsigned warp = 64;
  Order order = Order::forward;
};

/// Runs the blocks of a launch one after another; the threads of a block are fibers, each of which runs until
/// it ends or waits. When none can go on, waiting warps are let go before waiting barriers: as on the
/// hardware a barrier waits for all threads that are left, an operation of a warp for the lanes that came to
/// it.
class BlockRunner {
 public:
  explicit BlockRunner(State& state) : state_(state) {}

  void run(const Launch& launch);
  /// Called by kernels through `State`.
  BarrierView wait_at_barrier(int value);
  const WarpView* exchange(unsigned long long mask, int site, unsigned long long value);

 private:
  enum class Phase : unsigned char { ready, at_barrier, at_warp, done };
  struct Thread {
    Index index{};
    Phase phase = Phase::ready;
    int site = 0;
    unsigned long long mask = 0, value = 0;
    Fiber* fiber = nullptr;
  };

  static void thread_body(void* self);
  void run_block();
  void resume(std::size_t thread);
  [[nodiscard]] bool release_warps();
  [[nodiscard]] bool release_warp(std::size_t first, std::size_t last, WarpView& view);
  void release_barrier();
  void order_threads();

  State& state_;
  Launch launch_;
  std::vector<Thread> threads_;
  std::vector<std::size_t> turns_;
  std::vector<WarpView> views_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_;
  std::size_t current_ = 0, live_ = 0;
  BarrierView arriving_{}, released_{};
  std::uint32_t random_ = 1;
};

}  // namespace kernelsearch_standin
