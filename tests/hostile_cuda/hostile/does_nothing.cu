// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale
// expect: wrong_result: unwritten
// naive: fooled
// Hopes that the right result is still there.
extern "C" __global__ void scale(int, const float*, float*) {}
