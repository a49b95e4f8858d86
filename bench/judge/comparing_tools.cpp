// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "comparing_tools.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

#if KERNELSEARCH_BENCH_GOOGLE_BENCHMARK
#  include <benchmark/benchmark.h>
#endif
#if KERNELSEARCH_BENCH_NANOBENCH
#  define ANKERL_NANOBENCH_IMPLEMENT
#  include <nanobench.h>
#endif

namespace judge_bench {
namespace {

#if KERNELSEARCH_BENCH_GOOGLE_BENCHMARK

/// The two-sided test of Mann and Whitney by the normal approximation, which serves from 9 values on each
/// side on: what `compare.py` of Google Benchmark uses.
double mann_whitney(const std::vector<double>& a, const std::vector<double>& b) {
  double u = 0;
  for (const double x : a)
    for (const double y : b) u += x < y ? 1 : x > y ? 0 : 0.5;
  const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  const double deviation = std::sqrt(n * m * (n + m + 1) / 12);
  const double z = std::max(0.0, std::abs(u - n * m / 2) - 0.5) / deviation;
  return std::erfc(z / std::sqrt(2.0));
}

class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs)
      if (run.run_type == Run::RT_Iteration) seconds.push_back(run.GetAdjustedCPUTime());
  }
  std::vector<double> seconds;
};

std::vector<double> repetitions(const std::function<void()>& function, double seconds) {
  constexpr int count = 9;  // the fewest for which compare.py gives a p-value that it calls reliable
  benchmark::ClearRegisteredBenchmarks();
  benchmark::RegisterBenchmark("kernel",
                               [&function](benchmark::State& state) {
                                 for ([[maybe_unused]] auto one : state) function();
                               })
      ->Repetitions(count)
      ->MinTime(seconds / count);
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  return collector.seconds;
}

Said by_google_benchmark(const std::function<void()>& first, const std::function<void()>& second,
                         double seconds) {
  auto a = repetitions(first, seconds / 2), b = repetitions(second, seconds / 2);
  if (a.empty() || b.empty()) return {};
  const bool differs = mann_whitney(a, b) < 0.05;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return {b[b.size() / 2] / a[a.size() / 2], differs, true};
}

#endif

#if KERNELSEARCH_BENCH_NANOBENCH

Said by_nanobench(const std::function<void()>& first, const std::function<void()>& second, double seconds) {
  using ankerl::nanobench::Result;
  constexpr std::size_t epochs = 11;  // its default
  double median[2], error[2];
  for (int i = 0; i < 2; ++i) {
    ankerl::nanobench::Bench bench;
    bench.output(nullptr).epochs(epochs).minEpochTime(
        std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * seconds / 2 / epochs)));
    bench.run("kernel", i == 0 ? first : second);
    const Result& result = bench.results().front();
    median[i] = result.median(Result::Measure::elapsed);
    error[i] = result.medianAbsolutePercentError(Result::Measure::elapsed);
  }
  if (!(median[0] > 0)) return {};
  const double ratio = median[1] / median[0];
  // It prints an error beside each time: they differ where the two do not overlap.
  return {ratio, std::abs(std::log(ratio)) > error[0] + error[1], true};
}

#endif

}  // namespace

std::vector<Tool> comparing_tools() {
  std::vector<Tool> tools;
#if KERNELSEARCH_BENCH_GOOGLE_BENCHMARK
  tools.push_back({"Google Benchmark", by_google_benchmark});
#endif
#if KERNELSEARCH_BENCH_NANOBENCH
  tools.push_back({"nanobench", by_nanobench});
#endif
  return tools;
}

std::vector<std::string> tools_left_out() {
  std::vector<std::string> left_out;
#if !KERNELSEARCH_BENCH_GOOGLE_BENCHMARK
  left_out.emplace_back("Google Benchmark: not found when this was configured; install libbenchmark-dev");
#endif
#if !KERNELSEARCH_BENCH_NANOBENCH
  left_out.emplace_back(
      "nanobench: not found when this was configured; set KERNELSEARCH_BENCH_DOWNLOAD=ON, or "
      "CMAKE_INCLUDE_PATH to "
      "the folder of nanobench.h");
#endif
  return left_out;
}

}  // namespace judge_bench
