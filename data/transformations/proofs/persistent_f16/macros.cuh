// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//@tunables {"tunables": {"CONSUMERS": {"values": [1, 2], "default": 2}, "GROUP_TILE_N": {"values": [128, 256], "default": 256}, "NUM_STAGES": {"values": [2, 3, 4, 5, 6], "default": 4}, "SWIZZLE_SIZE": {"values": [1, 2, 4, 8, 16, 32], "default": 8}}, "constraints": ["NUM_STAGES * 128 * (64 * CONSUMERS + GROUP_TILE_N) + 16384 * CONSUMERS + 16 * NUM_STAGES <= 232448", "BLOCK_X == 16 and BLOCK_Y == 16"]}
#include <cuda.h>
#include <cuda_fp16.h>
// Barriers in shared memory (mbarrier); addresses are 32 bits wide: __cvta_generic_to_shared.
__device__ __forceinline__ void ks_barrier_init(unsigned barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
// Makes initialised barriers known to the copy engine; a barrier of the block must follow.
__device__ __forceinline__ void ks_barriers_ready() {
  asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;" ::: "memory");
}
// Arrives, and says how many bytes copies will bring before the phase is complete.
__device__ __forceinline__ void ks_barrier_expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ __forceinline__ void ks_barrier_arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// Waits for the end of the phase of this parity: 0 for the first, 1 for the second, and so on in turns. A fresh barrier counts as
// having ended one of parity 1.
__device__ __forceinline__ void ks_barrier_wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n}" ::"r"(barrier), "r"(parity) : "memory");
}
// One thread copies a box that the map describes, with its corner at column x and row y: in, reporting to the barrier, or out.
__device__ __forceinline__ void ks_copy_in(unsigned to, const CUtensorMap& map, int x, int y, unsigned barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
               "l"(&map), "r"(x), "r"(y), "r"(barrier) : "memory");
}
__device__ __forceinline__ void ks_copy_out(const CUtensorMap& map, int x, int y, unsigned from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(x), "r"(y), "r"(from)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
// Waits until at most LEFT copies out of this thread still read shared memory.
template <int LEFT>
__device__ __forceinline__ void ks_copies_out_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(LEFT) : "memory");
}
// Before a copy out: makes this thread's stores to shared memory visible to the copy engine. A barrier must follow.
__device__ __forceinline__ void ks_stores_before_copy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// Matrices of wgmma in shared memory, in panels whose rows are 128 bytes (64 halves), swizzled by 128 bytes, panels at multiples of
// 1024 bytes. A: rows along K, one panel 64 deep; 16 deeper is 32 bytes further. B: rows along its columns, a panel for each 64 columns,
// `panel` bytes apart; 16 deeper is 2048 bytes further.
__device__ __forceinline__ unsigned long long ks_matrix(unsigned address, unsigned leading) {
  return (unsigned long long)((address & 0x3ffffu) >> 4) | (unsigned long long)(leading >> 4) << 16 | (1024ull >> 4) << 32 | 1ull << 62;
}
__device__ __forceinline__ unsigned long long ks_matrix_a(unsigned address) { return ks_matrix(address, 16); }
__device__ __forceinline__ unsigned long long ks_matrix_b(unsigned address, unsigned panel) { return ks_matrix(address, panel); }
// Before the first and after the last of a group of products; waits until at most LEFT groups run.
__device__ __forceinline__ void ks_products_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void ks_products_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int LEFT>
__device__ __forceinline__ void ks_products_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
}
// Registers of the warpgroup's threads, which must agree; down for those that copy, up for those that multiply.
#define KS_REGISTERS_DOWN(count) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count))
#define KS_REGISTERS_UP(count) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count))
#define KS_FLOATS_4(d, i) "+f"(d[i]), "+f"(d[(i) + 1]), "+f"(d[(i) + 2]), "+f"(d[(i) + 3])
#define KS_FLOATS_16(d, i) KS_FLOATS_4(d, i), KS_FLOATS_4(d, (i) + 4), KS_FLOATS_4(d, (i) + 8), KS_FLOATS_4(d, (i) + 12)
#define KS_FLOATS_64(d, i) KS_FLOATS_16(d, i), KS_FLOATS_16(d, (i) + 16), KS_FLOATS_16(d, (i) + 32), KS_FLOATS_16(d, (i) + 48)
#define KS_NAMES_64                                                                                                              \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, "      \
  "%26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, "     \
  "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define KS_NAMES_128                                                                                                             \
  KS_NAMES_64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, " \
  "%86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, "      \
  "%108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
// d += A B (d = A B where `add` is 0) for 64 rows and 128 or 256 columns, 16 deep, by the four warps of a warpgroup together. Warp w of it
// holds rows 16 w + lane / 4 and 8 further; d[4 j], d[4 j + 1] are columns 8 j + lane % 4 * 2 and the next of the first row, the other two
// of the second.
__device__ __forceinline__ void ks_multiply(float (&d)[64], unsigned long long a, unsigned long long b, int add) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" KS_NAMES_64 "}, %64, %65, p, 1, 1, 0, 1;\n}"
               : KS_FLOATS_64(d, 0) : "l"(a), "l"(b), "r"(add));
}
__device__ __forceinline__ void ks_multiply(float (&d)[128], unsigned long long a, unsigned long long b, int add) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {" KS_NAMES_128 "}, %128, %129, p, 1, 1, 0, 1;\n}"
               : KS_FLOATS_64(d, 0), KS_FLOATS_64(d, 64) : "l"(a), "l"(b), "r"(add));
}
// Four 8 x 8 matrices of halves to shared memory, as ldmatrix reads them: lane i gives the address of row i % 8 of matrix i / 8.
__device__ __forceinline__ void ks_store_matrices(unsigned to, unsigned r0, unsigned r1, unsigned r2, unsigned r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(r0), "r"(r1), "r"(r2), "r"(r3)
               : "memory");
}

// A warpgroup multiplies 64 rows by GROUP_TILE_N columns; CONSUMERS of them lie one above the other, and one more
// warpgroup copies. BLOCK_X and BLOCK_Y are not used any more.
#define THREADS (128 * (CONSUMERS + 1))
#define TILE_M (64 * CONSUMERS)
#define TILE_N GROUP_TILE_N
#define TILE_K 64
// Row and column of the block's tile: groups of SWIZZLE_SIZE rows of tiles, column after column within a group; the
// last group may be smaller. `tile` is the linear index.
#define TILES_M ((n + TILE_M - 1) / TILE_M)
#define TILES_N ((m + TILE_N - 1) / TILE_N)
#define GROUP_FIRST(tile) ((tile) / (SWIZZLE_SIZE * TILES_N) * SWIZZLE_SIZE)
#define GROUP_ROWS(tile) min(SWIZZLE_SIZE, TILES_M - GROUP_FIRST(tile))
#define TILE_ROW(tile) (GROUP_FIRST(tile) + (tile) % (SWIZZLE_SIZE * TILES_N) % GROUP_ROWS(tile))
#define TILE_COL(tile) ((tile) % (SWIZZLE_SIZE * TILES_N) / GROUP_ROWS(tile))
// A stage: the tile of A, then that of B in panels of 64 columns; rows of both are 128 bytes. Behind the stages two
// buffers of 64 x 64 results for each multiplying warpgroup, and the barriers.
#define A_BYTES (TILE_M * TILE_K * 2)
#define PANEL_BYTES (TILE_K * 128)
#define STAGE_BYTES (A_BYTES + TILE_N / 64 * PANEL_BYTES)
#define STORE_BYTES (64 * 128)
#define STORES_AT (NUM_STAGES * STAGE_BYTES)
#define BARRIERS_AT (STORES_AT + CONSUMERS * 2 * STORE_BYTES)
#define SHARED_BYTES (BARRIERS_AT + 16 * NUM_STAGES)
#define FULL(stage) (base + BARRIERS_AT + 8 * (stage))
#define EMPTY(stage) (base + BARRIERS_AT + 8 * (NUM_STAGES + (stage)))
// Registers of a thread that copies, and of one that multiplies.
#define COPY_REGISTERS 24
#define MULTIPLY_REGISTERS (CONSUMERS == 2 ? 240 : 232)
#define GROUP_BARRIER(consumer) asm volatile("bar.sync %0, 128;" ::"r"((consumer) + 1) : "memory")
// Two results as halves in one register.
__device__ __forceinline__ unsigned PACK(float low, float high) {
  const __half2 pair = __floats2half2_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&pair);
}
