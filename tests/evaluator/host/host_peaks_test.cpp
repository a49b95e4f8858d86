// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/host_peaks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "evaluator/host/peak_kernels.hpp"
#include "evaluator/host/peaks.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "support.hpp"

using namespace kernelsearch;

namespace {
const DevicePeaks some{"Model 1, 2 cores",
                       "measured on 1 core",
                       {},
                       1e11,
                       5.25e10,
                       {{"L1", 32768, 2e11},
                        {"L2", 1048576, std::nullopt},
                        {"memory", std::numeric_limits<double>::infinity(), 1.1e10}}};
}

TEST_CASE("host_peaks: figures that can be") {
  const DevicePeaks peaks = measure_host_peaks();
  CHECK(peaks.source.starts_with("measured on 1 core"));
  REQUIRE(!peaks.levels.empty());
  CHECK(peaks.levels.back().name == "memory");
  CHECK(std::isinf(peaks.levels.back().bytes));
  if (detail::peak_kernels().f32 == nullptr) {
    MESSAGE("skipped: no peak kernels for this processor");
    return;
  }
  REQUIRE((peaks.f32 && peaks.f64));
  CHECK(*peaks.f32 > 1e8);   // a core does more than one operation in ten nanoseconds
  CHECK(*peaks.f32 < 1e13);  // and no core does ten thousand in one
  CHECK_FALSE(peaks.f16);
  for (std::size_t i = 0; i < peaks.levels.size(); ++i) {
    CAPTURE(peaks.levels[i].name);
    REQUIRE(peaks.levels[i].bandwidth);
    CHECK(*peaks.levels[i].bandwidth > 1e7);
    if (i > 0) CHECK(peaks.levels[i].bytes > peaks.levels[i - 1].bytes);
  }
}

TEST_CASE("host_peaks: measured once, kept, and measured again if asked to") {
  const auto folder = support::scratch() / "peaks-cache";
  const DevicePeaks first = host_peaks({.cache_directory = folder});
  CHECK(host_peaks({.cache_directory = folder}) == first);  // a second measurement would differ
  REQUIRE(std::distance(support::fs::directory_iterator(folder / "peaks"),
                        support::fs::directory_iterator()) == 1);
  const auto file = support::fs::directory_iterator(folder / "peaks")->path();
  DevicePeaks marked = first;
  marked.f64 = 9e20;
  marked.f32 = 1.0;
  std::ofstream(file) << detail::peaks_text(marked);
  CHECK(host_peaks({.cache_directory = folder}) == marked);
  const DevicePeaks again = host_peaks({.cache_directory = folder, .again = true});
  CHECK(again.f64 == 9e20);  // the higher one of both
  if (first.f32) CHECK(*again.f32 > 1.0);
  std::ofstream(file) << "kernelsearch peaks 1\nf64 9e20\n";  // cut off
  CHECK(host_peaks({.cache_directory = folder}).f64 != 9e20);
}

TEST_CASE("host_peaks: cores that are not ours") {
  CHECK_THROWS_AS((void)host_peaks({.core = 100000}), ConfigError);
  CHECK_THROWS_AS((void)measure_host_peaks({.threads = 100000}), ConfigError);
  const HostMachine machine{"m", "", {1, 4, 7}};
  CHECK(detail::peak_cores(machine, {}) == std::vector<int>{7});
  CHECK(detail::peak_cores(machine, {.threads = 2, .core = 4}) == std::vector<int>{4, 7});
  CHECK(detail::peak_cores(machine, {.threads = 3}) == std::vector<int>{7, 4, 1});
}

TEST_CASE("peaks_text: comes back as it was") {
  CHECK(detail::read_peaks(detail::peaks_text(some)) == some);
  CHECK(detail::read_peaks(detail::peaks_text({})) == DevicePeaks{});
}

TEST_CASE("read_peaks: whatever is cut or changed is refused or still peaks, never a crash") {
  const std::string text = detail::peaks_text(some);
  for (std::size_t cut = 0; cut + 1 < text.size(); ++cut)
    CHECK_FALSE(detail::read_peaks(text.substr(0, cut)));
  CHECK_FALSE(detail::read_peaks("kernelsearch peaks 2\nend\n"));
  CHECK_FALSE(detail::read_peaks("kernelsearch peaks 1\nlevel x L1 3\nend\n"));
  CHECK_FALSE(detail::read_peaks("kernelsearch peaks 1\nspeed 3\nend\n"));
  Rng rng(5);
  for (int i = 0; i < 3000; ++i) {
    std::string changed = text;
    for (std::uint64_t k = 1 + rng.below(4); k > 0; --k)
      changed[rng.below(changed.size())] = static_cast<char>(rng.below(256));
    if (const auto peaks = detail::read_peaks(changed))
      for (const auto& value : {peaks->f16, peaks->f32, peaks->f64}) CHECK((!value || *value > 0));
  }
}

TEST_CASE("cache_sizes: data caches by level, from what the system lists") {
  const auto root = support::scratch() / "cpus";
  const auto put = [&](int index, const char* level, const char* type, const char* size) {
    const auto folder = root / "cpu3" / "cache" / ("index" + std::to_string(index));
    support::fs::create_directories(folder);
    std::ofstream(folder / "level") << level;
    std::ofstream(folder / "type") << type;
    std::ofstream(folder / "size") << size;
  };
  CHECK(detail::cache_sizes(3, root).bytes == std::array<std::size_t, 3>{0, 0, 0});
  put(0, "1", "Data", "48K");
  put(1, "1", "Instruction", "32K");
  put(2, "2", "Unified", "2M");
  put(3, "3", "Unified", "39424K");
  put(4, "4", "Unified", "1G");
  CHECK(detail::cache_sizes(3, root).bytes == std::array<std::size_t, 3>{48u << 10, 2u << 20, 39424u << 10});
  CHECK(detail::cache_sizes(4, root).bytes == std::array<std::size_t, 3>{0, 0, 0});
}

TEST_CASE("peak kernels: copies are copies") {
  const detail::PeakKernels kernels = detail::peak_kernels();
  if (kernels.copy == nullptr) return;
  alignas(64) static unsigned char from[4096], to[4096];
  for (const auto copy : {kernels.copy, kernels.copy_past_caches}) {
    for (std::size_t i = 0; i < sizeof from; ++i) {
      from[i] = static_cast<unsigned char>(i * 7 + 3);
      to[i] = 0xee;
    }
    copy(to, from, 3072);
    CHECK(std::equal(from, from + 3072, to));
    CHECK(to[3072] == 0xee);
  }
  kernels.read(from, 1024);
  kernels.f32(1);
  kernels.f64(3);
}
