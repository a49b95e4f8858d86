// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transformations put their definitions here. BLOCK_X and BLOCK_Y are the block's extents.
#include <cuda_fp16.h>
