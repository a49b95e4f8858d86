// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A machine of labels that jumps to computed addresses.
// problem: bits
#include <cstdint>
extern "C" void bits(int n, const std::uint32_t* x, std::uint32_t* y) {
  void* const states[] = {&&zero, &&one, &&done};
  int i = 0;
  std::uint32_t v = 0, count = 0;
  if (n == 0) return;
next:
  v = x[i];
  count = 0;
  goto* states[v == 0 ? 2 : v & 1];
zero:
  v >>= 1;
  goto* states[v == 0 ? 2 : v & 1];
one:
  ++count;
  v >>= 1;
  goto* states[v == 0 ? 2 : v & 1];
done:
  y[i] = count;
  if (++i < n) goto next;
}
