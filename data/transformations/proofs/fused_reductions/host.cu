// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
void launch_softmax(int rows, int cols, const float* x, float* y, cudaStream_t stream) {
  softmax<<<rows, BLOCK, 0, stream>>>(rows, cols, x, y);
}
