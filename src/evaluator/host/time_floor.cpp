// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/time_floor.hpp"

#include <algorithm>
#include <cstdio>

#include "kernelsearch/problem/evaluate.hpp"
#include "process/pinned_thread.hpp"

namespace kernelsearch::detail {
namespace {

constexpr double margin = 1.5;
// No core that runs this is slower in its first-level cache or in its units: below that no peaks are asked.
constexpr double any_bandwidth = 40e9, any_rate = 4e9;

double number(const Expression& expression, const Shape& shape, const char* what) {
  return to_number(evaluate(expression, shape, {}, what));
}

}  // namespace

LeastWork least_work(const Problem& problem, const ShapePlan& plan) {
  const Shape& shape = problem.shapes[plan.shape];
  LeastWork work;
  const bool floating =
      std::any_of(plan.arguments.begin(), plan.arguments.end(), [](const PlannedArgument& argument) {
        return argument.is_output() && is_floating(argument.type) && argument.structure == nullptr;
      });
  if (problem.operations && floating) work.operations = number(*problem.operations, shape, "the operations");
  if (problem.bytes) {
    work.bytes = number(*problem.bytes, shape, "the bytes");
  } else {
    for (const PlannedArgument& argument : plan.arguments)
      if (argument.is_array && argument.role == Role::out)
        work.bytes += static_cast<double>(argument.count * argument.element_bytes());
  }
  return work;
}

std::optional<std::string> impossible(const LeastWork& work, double seconds, const DevicePeaks& peaks) {
  const double rate = std::max({peaks.f16.value_or(0), peaks.f32.value_or(0), peaks.f64.value_or(0)});
  double bandwidth = 0;
  for (const MemoryLevel& level : peaks.levels) bandwidth = std::max(bandwidth, level.bandwidth.value_or(0));
  char text[200];
  if (rate > 0 && work.operations > margin * rate * seconds) {
    std::snprintf(text, sizeof text,
                  "its calls take %.3g us, which would be %.3g GFLOP/s, and this machine does %.3g at most",
                  1e6 * seconds, 1e-9 * work.operations / seconds, 1e-9 * rate);
    return text;
  }
  if (bandwidth > 0 && work.bytes > margin * bandwidth * seconds) {
    std::snprintf(text, sizeof text,
                  "its calls take %.3g us, which would be %.3g GB/s, and this machine moves %.3g at most",
                  1e6 * seconds, 1e-9 * work.bytes / seconds, 1e-9 * bandwidth);
    return text;
  }
  return std::nullopt;
}

std::optional<std::string> TimeFloor::below(const ShapePlan& plan, double seconds) {
  const LeastWork work = least_work(problem_, plan);
  if (work.operations <= any_rate * seconds && work.bytes <= any_bandwidth * seconds) return std::nullopt;
  const PinnedThread anywhere(cores_);
  if (!peaks_) peaks_ = host_peaks(options_);
  if (!impossible(work, seconds, *peaks_)) return std::nullopt;
  HostPeaksOptions again = options_;
  again.again = true;  // what disturbed them made them lower
  peaks_ = host_peaks(again);
  return impossible(work, seconds, *peaks_);
}

}  // namespace kernelsearch::detail
