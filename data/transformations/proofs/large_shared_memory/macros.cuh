// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//@tunables {"tunables": {"TILE_K_SIZE": {"values": [16, 32, 64], "default": 32}, "WARP_X_DIM": {"values": [1, 2, 4, 8], "default": 2}, "TENSOR_X_DIM": {"values": [1, 2, 4], "default": 4}, "TENSOR_Y_DIM": {"values": [1, 2, 4], "default": 4}, "OFFSET_AMOUNT": {"values": [0, 8, 16], "default": 8}, "NUM_STAGES": {"values": [1, 2, 3, 4], "default": 4}}, "constraints": ["NUM_STAGES * 2 * ((16 * TENSOR_Y_DIM * (BLOCK_X * BLOCK_Y // 32 // WARP_X_DIM)) * (TILE_K_SIZE + OFFSET_AMOUNT) + TILE_K_SIZE * (16 * TENSOR_X_DIM * WARP_X_DIM + OFFSET_AMOUNT)) <= 232448", "BLOCK_X * BLOCK_Y // 32 % WARP_X_DIM == 0", "BLOCK_X * BLOCK_Y % 32 == 0", "NUM_STAGES * 2 * ((16 * TENSOR_Y_DIM * (BLOCK_X * BLOCK_Y // 32 // WARP_X_DIM)) * (TILE_K_SIZE + OFFSET_AMOUNT) + TILE_K_SIZE * (16 * TENSOR_X_DIM * WARP_X_DIM + OFFSET_AMOUNT)) >= 32 * BLOCK_X * BLOCK_Y"]}
#include <cuda_fp16.h>
#include <mma.h>
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
// Warps of the block, WARP_X_DIM side by side; each has a part of the block's tile to itself.
#define WARPS (THREADS / 32)
#define WARP (THREAD / 32)
#define LANE (THREAD % 32)
#define WARP_TILE_M (16 * TENSOR_Y_DIM)
#define WARP_TILE_N (16 * TENSOR_X_DIM)
#define WARP_ROW (WARP / WARP_X_DIM * WARP_TILE_M)
#define WARP_COL (WARP % WARP_X_DIM * WARP_TILE_N)
#define TILE_M (WARPS / WARP_X_DIM * WARP_TILE_M)
#define TILE_N (WARP_X_DIM * WARP_TILE_N)
#define TILE_K TILE_K_SIZE
// Row lengths of the tiles in shared memory: multiples of 8, as the matrix units' loads and 16 byte vectors need.
#define A_PITCH (TILE_K + OFFSET_AMOUNT)
#define B_PITCH (TILE_N + OFFSET_AMOUNT)
// `buffer` says which of NUM_STAGES.
#define As_AT(r, c) tile_a[((buffer) * TILE_M + (r)) * A_PITCH + (c)]
#define Bs_AT(r, c) tile_b[((buffer) * TILE_K + (r)) * B_PITCH + (c)]
// Elements of the tiles in global memory; `start` is where the tile begins along K.
#define A_TILE(r, c) A_AT(BY * TILE_M + (r), start + (c))
#define B_TILE(r, c) B_AT(start + (r), BX * TILE_N + (c))

// All tiles lie in dynamic shared memory: those of A, then those of B. Results pass through the same memory.
#define A_HALVES (NUM_STAGES * TILE_M * A_PITCH)
#define B_HALVES (NUM_STAGES * TILE_K * B_PITCH)
#define SHARED_BYTES (2 * (A_HALVES + B_HALVES))
#define SCRATCH_AT(r, c) scratch[(WARP * 16 + (r)) * 16 + (c)]
// Whether the block's tiles lie inside of the matrices along their other axis, and rows begin at multiples of
// 16 bytes.
#define WHOLE_TILES \
  (n - BY * TILE_M >= TILE_M && m - BX * TILE_N >= TILE_N && k % 8 == 0 && m % 8 == 0)
// Groups of copies that may still run when the present tile must be there.
#define STAGES_PENDING (NUM_STAGES > 2 ? NUM_STAGES - 2 : 0)
// Fragments of the matrix units: 16 x 16 x 16, sums in single precision.
using FragmentA = nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, __half, nvcuda::wmma::row_major>;
using FragmentB = nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, __half, nvcuda::wmma::row_major>;
using Sums = nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float>;
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
