// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: wrong_result: y[0]
extern "C" void scale(int n, const float* x, float* y) {}
