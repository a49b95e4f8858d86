// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first of the sorted keys that is not below each wanted number; the keys are of a generator.
#include <algorithm>
#include <cstdint>
[[gnu::noipa, gnu::aligned(64)]] static void honest(int n, int m, const std::int32_t* keys,
                                                    const std::int32_t* wanted, std::int32_t* at) {
  for (int i = 0; i < m; ++i)
    at[i] = static_cast<std::int32_t>(std::lower_bound(keys, keys + n, wanted[i]) - keys);
}
