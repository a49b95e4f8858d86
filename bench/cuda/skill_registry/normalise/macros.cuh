// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// merit.json says which method each is; the writer sets them.
#define FUSE 0        // one launch: a block keeps its row
#define PDL 0         // the second launch begins before the first has ended
#define SHUFFLE 0     // the sum by shuffles, one barrier
#define VECTOR 0      // four values an access
#define MIN_BLOCKS 1  // for which registers are to suffice
