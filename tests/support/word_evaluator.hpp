// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "kernelsearch/evaluator/evaluator.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "support/scripted_success.hpp"

/// A problem whose kernels are judged by the words in them.
namespace support {

using namespace kernelsearch;

inline const char* const problem_text = R"json({
  "schema": 1, "name": "twice", "function": "twice",
  "kernel": {"device": {"text": "extern \"C\" void twice(int n, const float* x, float* y) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }"}},
  "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"},
                {"name": "y", "type": "f32", "size": "n", "role": "out"}],
  "shapes": [{"name": "large", "n": 5000}, {"name": "odd", "n": 37, "weight": 0}],
  "tunables": {"UNROLL": [1, 2, 4, 8], "BLOCK": [16, 32, 64], "FAST": [false, true]},
  "constraints": ["UNROLL * BLOCK <= 256"],
  "reference": {"function": "twice_reference",
                "source": {"text": "void twice_reference(int n, const real* x, real* y) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }"}}})json";

/// Judges by words: `fast` halves the time, `bug` is a wrong result and so is `fragile` where the tunable
/// FAST is on, `overrun` writes outside of its arrays, `broken` is refused by the compiler, `wait` takes
/// until it is told to stop or `open` is called. A tunable TILE of the kernel's own is best at 16.
struct Words {
  struct Artifact {
    Candidate candidate;
  };
  struct Gate {
    std::mutex mutex;
    std::condition_variable_any changed;
    bool open = false;
    std::atomic<int> waiting{0};
    std::atomic<int> judged{0};
    std::atomic<int> at_once{0}, most_at_once{0};
    void let_go() {
      const std::lock_guard lock(mutex);
      open = true;
      changed.notify_all();
    }
  };

  Problem about;
  std::shared_ptr<Gate> gate = std::make_shared<Gate>();
  std::string device = "a scripted device";

  Staged<Artifact> build(const Candidate& candidate, const EvaluationContext&) const {
    if (candidate.kernel->regions.device.find("broken") != std::string::npos)
      return {Evaluation::failed(Verdict::build_failed, "kernel.cpp:1: error: broken\xff"), std::nullopt};
    return {{}, Artifact{candidate}};
  }
  Evaluation run(Staged<Artifact>&& staged, const EvaluationContext& context) const {
    const int now = ++gate->at_once;
    gate->most_at_once = std::max(gate->most_at_once.load(), now);
    Evaluation evaluation = judged(staged.artifact->candidate, context);
    --gate->at_once;
    return evaluation;
  }
  [[nodiscard]] Evaluation judged(const Candidate& c, const EvaluationContext& context) const {
    ++gate->judged;
    const std::string& code = c.kernel->regions.device;
    const auto has = [&code](const char* word) { return code.find(word) != std::string::npos; };
    if (has("wait")) {
      std::unique_lock lock(gate->mutex);
      ++gate->waiting;
      gate->changed.wait(lock, context.stop, [this] { return gate->open; });
      --gate->waiting;
      if (context.stop.stop_requested()) return Evaluation::failed(Verdict::timed_out, "stopped");
    }
    const Space& space = c.kernel->space;
    const auto fast_at = space.find("FAST");
    if (has("fragile") && fast_at && to_number(space.value(c.config, *fast_at)) != 0)
      return Evaluation::failed(Verdict::wrong_result, "y[0] is 5 instead of 6", 0.5);
    if (has("overrun")) {
      Evaluation outside = Evaluation::failed(Verdict::cheated, "it wrote outside of its arrays: y[37]");
      outside.overrun = Overrun{"y", 37, 37};
      return outside;
    }
    if (has("bug")) return Evaluation::failed(Verdict::wrong_result, "y[3] is 7 instead of 6", 0.5);
    double seconds = has("fast") ? 0.5 : 1.0;
    if (const auto tile = space.find("TILE"))
      seconds *= 1.0 + std::abs(to_number(space.value(c.config, *tile)) - 16) / 20;
    seconds *= 1.0 + std::abs(to_number(space.value(c.config, 0)) - 4) / 10 +
               to_number(space.value(c.config, 1)) / 1000;
    return scripted_success(seconds, code);
  }
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) const {
    return evaluate_in_stages(*this, candidate, context);
  }
  [[nodiscard]] std::size_t lanes() const { return 1; }
  [[nodiscard]] const Problem& problem() const { return about; }
  [[nodiscard]] std::string device_id() const { return device; }
  [[nodiscard]] std::string toolchain_id() const { return "a scripted compiler 1.0"; }
};

inline Problem small_problem() {
  return parse_problem(problem_text, ".");
}

/// The problem's space with another device region, at the default configuration.
inline Candidate candidate_with(const std::string& device) {
  const Problem problem = small_problem();
  return {std::make_shared<const Kernel>(Kernel{{device, "", ""}, problem.kernel.space}),
          problem.kernel.space.default_config()};
}

}  // namespace support
