// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// problem: scale_dishonest
// expect: wrong_result: unwritten
// naive: fooled
// Moves nothing and says that it did much.
extern "C" __global__ void scale(int, const float*, float*) {}
