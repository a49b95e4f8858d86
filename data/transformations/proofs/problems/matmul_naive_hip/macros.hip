// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nothing yet: transformations put their definitions here. BLOCK_X and BLOCK_Y are the block's extents.
