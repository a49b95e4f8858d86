// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>

void sort_keys_reference(std::int32_t n, std::uint32_t* keys) {
  std::sort(keys, keys + n);
}
