// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/compare/paired_test.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "kernelsearch/compare/comparison.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/policy/random_search.hpp"
#include "support/approx.hpp"
#include "support/made_up_recording.hpp"

using namespace kernelsearch;
using kernelsearch::test::approx;

namespace {

/// Traces of uniform draws that have the best configuration put in at `best_at`, where given.
std::vector<Trace> draws(const Landscape& landscape, const std::string& strategy, std::uint64_t repeats,
                         std::uint64_t seed, std::optional<std::size_t> best_at) {
  std::vector<Trace> traces;
  Rng rng(seed);
  for (std::uint64_t r = 0; r < repeats; ++r) {
    Trace trace{landscape.name(), strategy, r};
    std::uint32_t best = 0;
    for (std::uint32_t i = 0; i < landscape.size(); ++i) {
      trace.evaluations.push_back(i);
      if (landscape.objective(i) == landscape.best()) best = i;
    }
    rng.shuffle(trace.evaluations);
    if (best_at) {
      std::erase(trace.evaluations, best);
      trace.evaluations.insert(trace.evaluations.begin() + static_cast<std::ptrdiff_t>(*best_at), best);
    }
    traces.push_back(std::move(trace));
  }
  return traces;
}

std::vector<Trace> joined(std::vector<std::vector<Trace>> parts) {
  std::vector<Trace> all;
  for (auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

TEST_CASE("paired_differences: a clear difference is found, none between equals") {
  const std::vector<Recording> recordings{made_up_recording("s")};
  const auto landscapes = landscapes_of(recordings);
  const auto traces =
      joined({draws(landscapes[0], "base", 20, 1, std::nullopt),
              draws(landscapes[0], "same", 20, 2, std::nullopt), draws(landscapes[0], "better", 20, 3, 2)});
  const auto differences = paired_differences(landscapes, traces, "base");
  REQUIRE(differences.size() == 2);
  CHECK(differences[0].strategy == "same");
  CHECK(differences[0].pairs == 20);
  CHECK(differences[0].areas[0].p > 0.05);
  CHECK(differences[0].areas[0].interval.low < 0);
  CHECK(differences[0].areas[0].interval.high > 0);
  const AreaDifference& better = differences[1].areas[0];
  CHECK(better.mean > 0.3);
  CHECK(better.p < 0.001);
  CHECK(better.adjusted_p == approx(2 * better.p));  // the smaller of two, after Holm
  CHECK(better.interval.low > 0);
  CHECK(better.interval.low < better.mean);
  CHECK(better.interval.high > better.mean);
  // The mean is that of the areas of single repeats.
  double mean = 0;
  for (std::size_t r = 0; r < 20; ++r)
    mean += (area_scores(landscapes[0], traces[40 + r])[0] - area_scores(landscapes[0], traces[r])[0]) / 20;
  CHECK(better.mean == approx(mean));
}

TEST_CASE("paired_differences: from the other side the sign turns and the p stays") {
  const std::vector<Recording> recordings{made_up_recording("s")};
  const auto landscapes = landscapes_of(recordings);
  const auto traces =
      joined({draws(landscapes[0], "a", 8, 1, std::nullopt), draws(landscapes[0], "b", 8, 2, 30)});
  const auto one = paired_differences(landscapes, traces, "a").front();
  const auto other = paired_differences(landscapes, traces, "b").front();
  for (std::size_t h = 0; h < area_names.size(); ++h) {
    CHECK(one.areas[h].mean == approx(-other.areas[h].mean));
    CHECK(one.areas[h].p == approx(other.areas[h].p).epsilon(0.2));
  }
}

TEST_CASE("paired_differences: p is near the exact one where all signs can be counted") {
  const std::vector<Recording> recordings{made_up_recording("s")};
  const auto landscapes = landscapes_of(recordings);
  const auto traces =
      joined({draws(landscapes[0], "a", 6, 5, std::nullopt), draws(landscapes[0], "b", 6, 6, std::nullopt)});
  std::vector<double> d;
  for (std::size_t r = 0; r < 6; ++r)
    d.push_back(area_scores(landscapes[0], traces[6 + r])[1] - area_scores(landscapes[0], traces[r])[1]);
  double observed = 0;
  for (const double x : d) observed += x;
  int as_far = 0;
  for (int signs = 0; signs < 64; ++signs) {
    double sum = 0;
    for (int r = 0; r < 6; ++r)
      sum += (signs >> r & 1) != 0 ? d[static_cast<std::size_t>(r)] : -d[static_cast<std::size_t>(r)];
    as_far += std::abs(sum) >= std::abs(observed) * (1 - 1e-12) ? 1 : 0;
  }
  const double p = paired_differences(landscapes, traces, "a").front().areas[1].p;
  CHECK(std::abs(p - as_far / 64.0) < 0.02);
}

TEST_CASE("paired_differences: only repeats that both have are paired, equal runs have p 1") {
  const std::vector<Recording> recordings{made_up_recording("s"), made_up_recording("t", 1.0)};
  const auto landscapes = landscapes_of(recordings);
  auto a = draws(landscapes[0], "a", 5, 1, std::nullopt);
  auto b = draws(landscapes[0], "b", 3, 1, std::nullopt);
  auto elsewhere = draws(landscapes[1], "c", 3, 1, std::nullopt);
  const auto differences = paired_differences(landscapes, joined({a, b, elsewhere}), "a");
  REQUIRE(differences.size() == 2);
  CHECK(differences[0].pairs == 3);
  CHECK(differences[0].areas[0].mean == 0);
  CHECK(differences[0].areas[0].p == 1);
  CHECK(differences[1].pairs == 0);
  CHECK(differences[1].areas[0].adjusted_p == 1);
  CHECK_THROWS_WITH_AS(static_cast<void>(paired_differences(landscapes, a, "none")),
                       doctest::Contains("none"), ConfigError);
}
