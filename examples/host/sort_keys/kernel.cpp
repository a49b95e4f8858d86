// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts keys by std::sort or by a radix sort from the lowest digit (Knuth 5.2.5), which needs as much
// memory again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

constexpr int digits = (32 + DIGIT_BITS - 1) / DIGIT_BITS;
constexpr std::uint32_t mask = (std::uint32_t{1} << DIGIT_BITS) - 1;

inline std::uint32_t digit_of(std::uint32_t key, int digit) {
  return key >> (digit * DIGIT_BITS) & mask;
}

void radix_sort(std::uint32_t* keys, std::size_t n) {
  std::vector<std::uint32_t> copy(n);
  std::vector<std::uint32_t> counts(COUNT_AT_ONCE ? digits * (mask + std::size_t{1}) : mask + std::size_t{1});
  if (COUNT_AT_ONCE)
    for (std::size_t i = 0; i < n; ++i)
      for (int d = 0; d < digits; ++d)
        ++counts[static_cast<std::size_t>(d) * (mask + 1) + digit_of(keys[i], d)];
  std::uint32_t *from = keys, *to = copy.data();
  for (int d = 0; d < digits; ++d) {
    std::uint32_t* const count =
        COUNT_AT_ONCE ? &counts[static_cast<std::size_t>(d) * (mask + 1)] : counts.data();
    if (!COUNT_AT_ONCE) {
      std::fill(counts.begin(), counts.end(), 0);
      for (std::size_t i = 0; i < n; ++i) ++count[digit_of(from[i], d)];
    }
    std::uint32_t before = 0;
    for (std::size_t bucket = 0; bucket <= mask; ++bucket) before += std::exchange(count[bucket], before);
    for (std::size_t i = 0; i < n; ++i) to[count[digit_of(from[i], d)]++] = from[i];
    std::swap(from, to);
  }
  if (from != keys) std::copy(from, from + n, keys);
}

}  // namespace

extern "C" void sort_keys(std::int32_t n, std::uint32_t* keys) {
  if (METHOD == 0 || n < CUTOFF)
    std::sort(keys, keys + n);
  else
    radix_sort(keys, static_cast<std::size_t>(n));
}
