// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/host_prices.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>

#include "evaluator/host/price_kernels.hpp"
#include "judge/compile.hpp"
#include "kernelsearch/core/whole_file.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "problem/replace_file.hpp"
#include "process/process.hpp"

namespace kernelsearch {
namespace {

namespace fs = std::filesystem;

constexpr const char* header = "kernelsearch prices 1";

/// Seconds of one element: the fastest of short rounds, since all that disturbs makes them slower.
double price_of(const detail::PriceKernel& kernel) {
  constexpr double shortest = 4e-4;
  constexpr int rounds = 20;
  if (kernel.run == nullptr) return 0;
  std::size_t times = 64;
  const auto seconds = [&] {
    const double begin = detail::monotonic_seconds();
    kernel.run(times);
    return detail::monotonic_seconds() - begin;
  };
  while (std::min({seconds(), seconds(), seconds()}) < shortest) times *= 2;
  double best = seconds();
  for (int round = 1; round < rounds; ++round) best = std::min(best, seconds());
  return best / (static_cast<double>(times) * static_cast<double>(kernel.elements));
}

std::string prices_text(const std::vector<VectorPrices>& prices) {
  std::string text = std::string(header) + "\n";
  for (const VectorPrices& one : prices) {
    char line[192];
    std::snprintf(line, sizeof line, "%d %.17g %.17g %.17g %.17g %.17g\n", one.bits, one.exponential,
                  one.exponential_f64, one.division, one.division_f64, one.conversion);
    text += line;
  }
  return text + "end\n";
}

std::optional<std::vector<VectorPrices>> read_prices(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != header) return std::nullopt;
  std::vector<VectorPrices> prices;
  while (std::getline(lines, line)) {
    if (line == "end") return prices;
    std::istringstream words(line);
    VectorPrices one;
    if (!(words >> one.bits >> one.exponential >> one.exponential_f64 >> one.division >> one.division_f64 >>
          one.conversion) ||
        !(one.exponential > 0 && one.exponential_f64 > 0 && one.division > 0 && one.division_f64 > 0 &&
          one.conversion > 0))
      return std::nullopt;
    prices.push_back(one);
  }
  return std::nullopt;  // cut off
}

}  // namespace

std::vector<VectorPrices> measure_host_prices() {
  std::vector<VectorPrices> prices;
  for (const detail::PriceKernels& kernels : detail::price_kernels())
    prices.push_back({kernels.bits, price_of(kernels.exponential), price_of(kernels.exponential_f64),
                      price_of(kernels.division), price_of(kernels.division_f64),
                      price_of(kernels.conversion)});
  return prices;
}

std::vector<VectorPrices> host_prices(const fs::path& cache_directory) {
  const std::string key = std::string(header) + "\n" + host_machine().former_id() + "\n" +
                          std::to_string(detail::price_kernels().size());
  const fs::path folder =
      (cache_directory.empty() ? detail::default_cache_directory() : cache_directory) / "peaks";
  const fs::path file = folder / (sha256(key) + ".txt");
  if (auto kept = read_prices(try_whole_file(file).value_or(""))) return *std::move(kept);
  std::vector<VectorPrices> prices = measure_host_prices();
  // Prices that cannot be kept are measured again next time, and that is not an error.
  (void)detail::create_private_folders(folder);
  (void)detail::replace_file(file, prices_text(prices));
  return prices;
}

std::optional<double> priced_seconds(const CountedWork& work, const VectorPrices& prices,
                                     const DevicePeaks& peaks, bool f64, int threads) {
  const std::optional<double> peak = f64 ? peaks.f64 : peaks.f32;
  if (!peak || !(*peak > 0) || prices.bits == 0) return std::nullopt;
  const auto on_all = [&](std::uint64_t count, double price) {
    return static_cast<double>(count) * price / std::max(1, threads);
  };
  const double arithmetic = static_cast<double>(work.basic) / *peak +
                            on_all(work.exponentials, f64 ? prices.exponential_f64 : prices.exponential);
  // A root takes the divider about as long as a division.
  const double dividing = on_all(work.divisions + work.roots, f64 ? prices.division_f64 : prices.division);
  return std::max({arithmetic, dividing, on_all(work.conversions, prices.conversion)});
}

}  // namespace kernelsearch
