// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//@tunables {"tunables": {"TILE_K_SIZE": {"values": [16, 32, 64], "default": 32}, "WARP_X_DIM": {"values": [1, 2, 4, 8], "default": 2}, "TENSOR_X_DIM": {"values": [1, 2, 4], "default": 4}, "TENSOR_Y_DIM": {"values": [1, 2, 4], "default": 4}, "NUM_STAGES": {"values": [1, 2, 3, 4], "default": 4}, "SWIZZLE_SIZE": {"values": [1, 2, 4, 8, 16, 32], "default": 8}}, "constraints": ["NUM_STAGES * 2 * TILE_K_SIZE * (16 * TENSOR_Y_DIM * (BLOCK_X * BLOCK_Y // 32 // WARP_X_DIM) + 16 * TENSOR_X_DIM * WARP_X_DIM) <= 232448", "BLOCK_X * BLOCK_Y // 32 % WARP_X_DIM == 0", "BLOCK_X * BLOCK_Y % 32 == 0", "NUM_STAGES * 2 * TILE_K_SIZE * (16 * TENSOR_Y_DIM * (BLOCK_X * BLOCK_Y // 32 // WARP_X_DIM) + 16 * TENSOR_X_DIM * WARP_X_DIM) >= 2 * (16 * TENSOR_Y_DIM * (BLOCK_X * BLOCK_Y // 32 // WARP_X_DIM)) * (16 * TENSOR_X_DIM * WARP_X_DIM + 8)", "TILE_K_SIZE >= 32", "TENSOR_X_DIM * WARP_X_DIM >= 4"]}
#include <cuda_fp16.h>
#define TX threadIdx.x
#define TY threadIdx.y
#define BDX BLOCK_X
#define BDY BLOCK_Y
#define A_AT(row, col) a[(size_t)(row) * k + (col)]
#define B_AT(row, col) b[(size_t)(row) * m + (col)]
#define C_AT(row, col) c[(size_t)(row) * m + (col)]
// Where unit `unit` (8 halves, 16 bytes) of row `row` lies in a tile with UNITS units a row, in units: permuted within groups
// of 8, so that the same unit of 8 neighbouring rows touches all banks. UNITS is 4 or a multiple of 8.
template <unsigned UNITS>
__device__ __forceinline__ unsigned ks_swizzled(unsigned row, unsigned unit) {
  constexpr unsigned wide = UNITS < 8 ? UNITS : 8;
  return row * UNITS + (unit ^ (row / (8 / wide) % wide));
}
// Four 8 x 8 matrices of halves; lane i gives the address of row i % 8 of matrix i / 8. Of a 16 x 16 block of A, rows along K:
// lane gives row lane % 16, unit lane / 16. The other is for B, rows along its columns: row (of K) lane % 16, unit lane / 16;
// registers 0 and 1 are then the operand of its first 8 columns, 2 and 3 of the second 8.
__device__ __forceinline__ void ks_load_a(unsigned (&r)[4], unsigned shared_address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address));
}
__device__ __forceinline__ void ks_load_b(unsigned (&r)[4], unsigned shared_address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address));
}
// d += A B for 16 rows and 8 columns, 16 deep. Lane l holds rows l / 4 (d[0], d[1]) and l / 4 + 8 (d[2], d[3]), columns
// l % 4 * 2 and the next.
__device__ __forceinline__ void ks_mma(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

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
// `buffer` says which of NUM_STAGES.
// A row's units of 8 elements lie permuted by its number (ks_swizzled).
#define As_AT(r, c) tile_a[(buffer) * (TILE_M * TILE_K) + ks_swizzled<TILE_K / 8>(r, (c) / 8) * 8 + (c) % 8]
#define Bs_AT(r, c) tile_b[(buffer) * (TILE_K * TILE_N) + ks_swizzled<TILE_N / 8>(r, (c) / 8) * 8 + (c) % 8]
// Elements of the tiles in global memory; `start` is where the tile begins along K.
#define A_TILE(r, c) A_AT(block_row * TILE_M + (r), start + (c))
#define B_TILE(r, c) B_AT(start + (r), block_col * TILE_N + (c))

// All tiles lie in dynamic shared memory: those of A, then those of B. The tile of C passes through the same memory,
// its rows padded by 16 bytes.
#define A_HALVES (NUM_STAGES * TILE_M * TILE_K)
#define B_HALVES (NUM_STAGES * TILE_K * TILE_N)
#define SHARED_BYTES (2 * (A_HALVES + B_HALVES))
#define C_PITCH (TILE_N + 8)
#define Cs_AT(r, c) tile_c[(r) * C_PITCH + (c)]
// Row and column of the block's tile: groups of SWIZZLE_SIZE rows of tiles, column after column within a group; the
// last group may be smaller. `tile` is the linear index.
#define TILES_M ((n + TILE_M - 1) / TILE_M)
#define TILES_N ((m + TILE_N - 1) / TILE_N)
#define GROUP_FIRST(tile) ((tile) / (SWIZZLE_SIZE * TILES_N) * SWIZZLE_SIZE)
#define GROUP_ROWS(tile) min(SWIZZLE_SIZE, TILES_M - GROUP_FIRST(tile))
#define TILE_ROW(tile) (GROUP_FIRST(tile) + (tile) % (SWIZZLE_SIZE * TILES_N) % GROUP_ROWS(tile))
#define TILE_COL(tile) ((tile) % (SWIZZLE_SIZE * TILES_N) / GROUP_ROWS(tile))
// Whether the block's tiles lie inside of the matrices along their other axis, and rows begin at multiples of
// 16 bytes.
#define WHOLE_TILES \
  (n - block_row * TILE_M >= TILE_M && m - block_col * TILE_N >= TILE_N && k % 8 == 0 && m % 8 == 0)
// Groups of copies that may still run when the present tile must be there.
#define STAGES_PENDING (NUM_STAGES > 2 ? NUM_STAGES - 2 : 0)
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
