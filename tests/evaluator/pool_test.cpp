// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/pool.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "kernelsearch/optimizer/optimizer.hpp"
#include "support/scripted.hpp"

using namespace kernelsearch;

namespace {

/// A device that notices when two candidates are on it at once.
struct Device {
  struct Artifact {
    int x;
  };
  std::atomic<int>* busy;
  std::atomic<int>* used;
  std::atomic<bool>* shared_use;
  Evaluation evaluate(int x, const EvaluationContext& c) { return evaluate_in_stages(*this, x, c); }
  Staged<Artifact> build(int x, const EvaluationContext&) { return {{}, Artifact{x}}; }
  Evaluation run(Staged<Artifact>&& staged, const EvaluationContext&) {
    if (++*busy > 1) *shared_use = true;
    ++*used;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --*busy;
    return Evaluation::succeeded(1.0 + staged.artifact->x);
  }
  [[nodiscard]] std::size_t lanes() const { return 1; }
};

}  // namespace

TEST_CASE("Pool: every device is used, each by one candidate at a time") {
  static_assert(StagedEvaluator<Pool<Device>, int>);
  std::atomic<int> busy[3]{}, used[3]{};
  std::atomic<bool> shared_use{false};
  std::vector<Device> devices;
  for (int i = 0; i < 3; ++i) devices.push_back({&busy[i], &used[i], &shared_use});
  Optimizer search{scripted::Counting{.last = 60},
                   scripted::Copying{},
                   Pool<Device>(std::move(devices)),
                   {.in_flight = 9, .build_threads = 2}};
  CHECK(search.evaluator().lanes() == 3);
  CHECK(search.run().trials == 60);
  CHECK_FALSE(shared_use);
  for (const auto& count : used) CHECK(count > 5);
}

TEST_CASE("Pool: without devices it is refused") {
  CHECK_THROWS_AS(Pool<Device>({}), ConfigError);
}
