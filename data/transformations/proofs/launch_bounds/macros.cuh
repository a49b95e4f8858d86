// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//@tunables {"tunables": {"TILE_K_SIZE": {"values": [8, 16, 32, 64], "default": 16}, "TRD_X_DIM": {"values": [1, 2, 4, 8, 16], "default": 16}, "TRD_Y_DIM": {"values": [1, 2, 4, 8], "default": 8}, "OFFSET_AMOUNT": {"values": [0, 8, 16], "default": 8}, "CHUNK_SIZE": {"values": [1, 2, 4], "default": 4}, "NUM_STAGES": {"values": [1, 2, 3, 4], "default": 2}, "MIN_BLOCKS": {"values": [1, 2, 3, 4], "default": 2}}, "constraints": ["4 * NUM_STAGES * TILE_K_SIZE * (BLOCK_X * TRD_X_DIM + BLOCK_Y * TRD_Y_DIM + OFFSET_AMOUNT) <= 49152", "TRD_X_DIM * TRD_Y_DIM <= 128", "TRD_X_DIM % CHUNK_SIZE == 0", "TRD_Y_DIM % CHUNK_SIZE == 0", "MIN_BLOCKS * BLOCK_X * BLOCK_Y <= 1024"]}
#define TX threadIdx.x
#define TY threadIdx.y
#define BX blockIdx.x
#define BY blockIdx.y
#define BDX BLOCK_X
#define BDY BLOCK_Y
#define A_AT(row, col) a[(size_t)(row) * k + (col)]
#define B_AT(row, col) b[(size_t)(row) * m + (col)]
#define C_AT(row, col) c[(size_t)(row) * m + (col)]

#define THREADS (BDX * BDY)
#define THREAD (TY * BDX + TX)
#define TILE_M (BDY * TRD_Y_DIM)
#define TILE_N (BDX * TRD_X_DIM)
#define TILE_K TILE_K_SIZE
// Row length of the transposed tile of A in shared memory.
#define A_PITCH (TILE_M + OFFSET_AMOUNT)
// The tile of A lies transposed: its row is the place along K.
// `buffer` says which of NUM_STAGES.
#define As_AT(r, c) tile_a[buffer][c][r]
#define Bs_AT(r, c) tile_b[buffer][r][c]
// Row and column in the block's tile of the thread's output (i, j).
// CHUNK_SIZE neighbours, then a stride over the chunks of all threads along the axis.
#define ROW_OF(i) ((i) / CHUNK_SIZE * (CHUNK_SIZE * BDY) + TY * CHUNK_SIZE + (i) % CHUNK_SIZE)
#define COL_OF(j) ((j) / CHUNK_SIZE * (CHUNK_SIZE * BDX) + TX * CHUNK_SIZE + (j) % CHUNK_SIZE)
// Elements of the tiles in global memory; `start` is where the tile begins along K.
#define A_TILE(r, c) A_AT(BY * TILE_M + (r), start + (c))
#define B_TILE(r, c) B_AT(start + (r), BX * TILE_N + (c))

// Whether the block's tiles lie inside of the matrices along their other axis, and rows begin at multiples of
// 16 bytes.
#define WHOLE_TILES \
  (n - BY * TILE_M >= TILE_M && m - BX * TILE_N >= TILE_N && k % 4 == 0 && m % 4 == 0)
// Groups of copies that may still run when the present tile must be there.
#define STAGES_PENDING (NUM_STAGES > 2 ? NUM_STAGES - 2 : 0)
// Vectors of the tile of A that a thread moves.
#define A_VECTORS ((TILE_M * TILE_K / 4 + THREADS - 1) / THREADS)
// Copies a tile of ROWS x COLS elements from global to shared memory with all threads of a block.
// dst(r, c) and src(r, c) name the elements, THREAD and THREADS are the linear index in the block and its size;
// elements outside of 0 <= r < ROW_LIMIT, 0 <= c < COL_LIMIT become 0. It has no barrier. It is one loop: a line
// '#pragma unroll 1' before it keeps its code small where it is only the way for edges.
#define KS_COPY_TILE(dst, src, ROWS, COLS, ROW_LIMIT, COL_LIMIT, THREAD, THREADS) \
  for (unsigned ks_i = (THREAD); ks_i < (ROWS) * (COLS); ks_i += (THREADS)) {     \
    const int ks_r = ks_i / unsigned(COLS), ks_c = ks_i % unsigned(COLS);         \
    if (ks_r < int(ROW_LIMIT) && ks_c < int(COL_LIMIT))                           \
      dst(ks_r, ks_c) = src(ks_r, ks_c);                                          \
    else                                                                          \
      dst(ks_r, ks_c) = 0;                                                        \
  }
// Begins a copy of 4, 8 or 16 bytes from global to shared memory; both addresses are multiples of the size.
#if defined(__CUDACC__) && !defined(__HIP__)
template <int BYTES>
__device__ __forceinline__ void ks_copy_async(void* to, const void* from) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(to);
  if constexpr (BYTES == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from));
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at), "l"(from), "n"(BYTES));
}
// Ends a group of copies; waits until at most LEFT groups of this thread are under way. A barrier of the block must follow
// before threads read what was copied.
__device__ __forceinline__ void ks_copies_commit() { asm volatile("cp.async.commit_group;"); }
template <int LEFT>
__device__ __forceinline__ void ks_copies_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}
#else  // no asynchronous copies: the same by plain ones, which the barrier waits for
template <int BYTES>
__device__ __forceinline__ void ks_copy_async(void* to, const void* from) {
  __builtin_memcpy(to, from, BYTES);
}
__device__ __forceinline__ void ks_copies_commit() {}
template <int LEFT>
__device__ __forceinline__ void ks_copies_wait() {}
#endif
// Begins the copy of a whole tile by all threads of a block, WIDTH elements of together BYTES at a time.
#define KS_COPY_TILE_ASYNC(dst, src, ROWS, COLS, WIDTH, BYTES, THREAD, THREADS)                    \
  _Pragma("unroll") for (unsigned ks_j = 0; ks_j < (ROWS) * (COLS) / (WIDTH); ks_j += (THREADS)) { \
    const unsigned ks_i = ks_j + (THREAD);                                                         \
    if ((ROWS) * (COLS) / (WIDTH) % (THREADS) == 0 || ks_i < (ROWS) * (COLS) / (WIDTH)) {          \
      const unsigned ks_r = ks_i / ((COLS) / (WIDTH)), ks_c = ks_i % ((COLS) / (WIDTH)) * (WIDTH); \
      ks_copy_async<BYTES>(&dst(ks_r, ks_c), &src(ks_r, ks_c));                                    \
    }                                                                                              \
  }

// CHUNK_SIZE floats that are read and written as one.
struct __align__(4 * CHUNK_SIZE) Chunk {
  float at[CHUNK_SIZE];
};
