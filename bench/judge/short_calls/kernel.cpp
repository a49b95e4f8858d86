// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every step waits for the one before; UNUSED_WORD changes nothing.
extern "C" const int chain_variant = UNUSED_WORD;
extern "C" void chain(int n, const float* x, float* y) {
  float last = 0;
  for (int i = 0; i < n; ++i) y[i] = last = ((last * 0.5f + x[i]) * 0.5f + x[i]) * 0.5f + x[i];
}
