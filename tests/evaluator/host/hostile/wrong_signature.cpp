// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: build_failed: error
extern "C" void scale(float* x, int n) {
  x[n] = 0;
}
