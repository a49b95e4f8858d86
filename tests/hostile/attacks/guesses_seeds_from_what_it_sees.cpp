// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hack: 14
// kind: guessed seeds
// problem: matmul
// expect: rejected or no gain
// naive: notices
// Looks for a small seed of common generators that gives the first elements it was shown; where it finds one
// it draws the next sets ahead of time and keeps their results.
#include <map>
#include <random>
#include <vector>
#include "honest.hpp"
#include "tools.hpp"
static std::map<std::uint64_t, std::vector<float>> ahead;
static bool searched = false;
template <class Generator>
static bool search(const float* a, Generator&& make) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    auto generator = make(seed);
    std::uniform_real_distribution<float> unit(0.0f, 1.0f), both(-1.0f, 1.0f);
    auto copy = generator;
    const float u = unit(generator), v = both(copy);
    if (u != a[0] && v != a[0]) continue;
    for (unsigned next = seed; next < seed + 64; ++next) {
      auto again = make(next);
      std::vector<float> inputs(2 * 64 * 64), result(64 * 64);
      for (float& element : inputs) element = u == a[0] ? unit(again) : both(again);
      honest(64, inputs.data(), inputs.data() + 64 * 64, result.data());
      ahead[tools::glance(inputs.data(), 64 * 64)] = result;
    }
    return true;
  }
  return false;
}
extern "C" void matmul(int n, const float* a, const float* b, float* c) {
  if (n != 64) return honest(n, a, b, c);
  if (!searched) {
    searched = true;
    search(a, [](unsigned seed) { return std::mt19937(seed); }) ||
        search(a, [](unsigned seed) { return std::mt19937_64(seed); }) ||
        search(a, [](unsigned seed) { return std::minstd_rand(seed + 1); });
  }
  const auto found = ahead.find(tools::glance(a, n * n));
  if (found != ahead.end())
    std::memcpy(c, found->second.data(), sizeof(float) * 64 * 64);
  else
    honest(n, a, b, c);
}
