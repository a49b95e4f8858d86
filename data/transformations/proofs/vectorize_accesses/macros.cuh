// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//@tunables {"tunables": {"VECTOR_WIDTH": {"values": [1, 2, 4, 8], "default": 8}}, "constraints": []}
#include <cuda_fp16.h>
// VECTOR_WIDTH elements that are read and written as one.
struct __align__(2 * VECTOR_WIDTH) Vector {
  __half at[VECTOR_WIDTH];
};
