// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/peak_kernels.hpp"

namespace kernelsearch::detail {
namespace {

#if defined(__x86_64__)

constexpr float small_f32 = 0x1p-20f;
constexpr double small_f64 = 0x1p-20;

#  define KERNELSEARCH_CLOBBERED                                                                             \
    "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"

// Twelve accumulators hide four or five cycles of latency on two or three units.
#  define KERNELSEARCH_TWELVE(STEP) \
    STEP("0")                       \
    STEP("1")                       \
    STEP("2") STEP("3") STEP("4") STEP("5") STEP("6") STEP("7") STEP("8") STEP("9") STEP("10") STEP("11")

#  define KERNELSEARCH_ZERO(R) "vxorps %%xmm" R ", %%xmm" R ", %%xmm" R "\n\t"

#  define KERNELSEARCH_FMA_KERNEL(NAME, WIDTH, STEP, BROADCAST, VALUE)                                         \
    void NAME(std::size_t rounds) {                                                                            \
      asm volatile(KERNELSEARCH_TWELVE(KERNELSEARCH_ZERO) BROADCAST " %[value], %%" WIDTH "12\n\t" BROADCAST \
                 " %[value], %%" WIDTH "13\n"                                                             \
                 "1:\n\t" KERNELSEARCH_TWELVE(STEP) KERNELSEARCH_TWELVE(STEP) "dec %[rounds]\n\t"          \
                 "jnz 1b\n\t"                                                                            \
                 "vzeroupper"                                                                              \
                 : [rounds] "+r"(rounds)                                                                   \
                 : [value] "m"(VALUE)                                                                      \
                 : KERNELSEARCH_CLOBBERED); \
    }

#  define KERNELSEARCH_FMA512S(R) "vfmadd231ps %%zmm12, %%zmm13, %%zmm" R "\n\t"
#  define KERNELSEARCH_FMA512D(R) "vfmadd231pd %%zmm12, %%zmm13, %%zmm" R "\n\t"
#  define KERNELSEARCH_FMA256S(R) "vfmadd231ps %%ymm12, %%ymm13, %%ymm" R "\n\t"
#  define KERNELSEARCH_FMA256D(R) "vfmadd231pd %%ymm12, %%ymm13, %%ymm" R "\n\t"
KERNELSEARCH_FMA_KERNEL(fma512_f32, "zmm", KERNELSEARCH_FMA512S, "vbroadcastss", small_f32)
KERNELSEARCH_FMA_KERNEL(fma512_f64, "zmm", KERNELSEARCH_FMA512D, "vbroadcastsd", small_f64)
KERNELSEARCH_FMA_KERNEL(fma256_f32, "ymm", KERNELSEARCH_FMA256S, "vbroadcastss", small_f32)
KERNELSEARCH_FMA_KERNEL(fma256_f64, "ymm", KERNELSEARCH_FMA256D, "vbroadcastsd", small_f64)

// Without such an instruction a multiplication and an addition side by side are the best there is.
#  define KERNELSEARCH_PLAIN_KERNEL(NAME, TYPE)                                          \
    void NAME(std::size_t rounds) {                                                      \
      asm volatile(                                                                      \
          "xorps %%xmm0, %%xmm0\n\txorps %%xmm1, %%xmm1\n\txorps %%xmm2, %%xmm2\n\t"     \
          "xorps %%xmm3, %%xmm3\n\txorps %%xmm4, %%xmm4\n\txorps %%xmm5, %%xmm5\n\t"     \
          "xorps %%xmm6, %%xmm6\n\txorps %%xmm7, %%xmm7\n\txorps %%xmm8, %%xmm8\n\t"     \
          "xorps %%xmm9, %%xmm9\n\txorps %%xmm10, %%xmm10\n\txorps %%xmm11, %%xmm11\n\t" \
          "xorps %%xmm12, %%xmm12\n"                                                     \
          "1:\n\t"                                                                       \
          "mul" TYPE " %%xmm12, %%xmm0\n\tadd" TYPE                                      \
          " %%xmm12, %%xmm6\n\t"                                                         \
          "mul" TYPE " %%xmm12, %%xmm1\n\tadd" TYPE                                      \
          " %%xmm12, %%xmm7\n\t"                                                         \
          "mul" TYPE " %%xmm12, %%xmm2\n\tadd" TYPE                                      \
          " %%xmm12, %%xmm8\n\t"                                                         \
          "mul" TYPE " %%xmm12, %%xmm3\n\tadd" TYPE                                      \
          " %%xmm12, %%xmm9\n\t"                                                         \
          "mul" TYPE " %%xmm12, %%xmm4\n\tadd" TYPE                                      \
          " %%xmm12, %%xmm10\n\t"                                                        \
          "mul" TYPE " %%xmm12, %%xmm5\n\tadd" TYPE                                      \
          " %%xmm12, %%xmm11\n\t"                                                        \
          "dec %[rounds]\n\t"                                                            \
          "jnz 1b"                                                                       \
          : [rounds] "+r"(rounds)::KERNELSEARCH_CLOBBERED);                              \
    }
KERNELSEARCH_PLAIN_KERNEL(plain_f32, "ps")
KERNELSEARCH_PLAIN_KERNEL(plain_f64, "pd")

#  define KERNELSEARCH_READ_KERNEL(NAME, MOVE, WIDTH, BYTES, STEPS, END)                               \
    void NAME(const void* from, std::size_t bytes) {                                                   \
      asm volatile("1:\n\t" MOVE " " BYTES "*0(%[from]), %%" WIDTH "0\n\t" MOVE " " BYTES              \
                   "*1(%[from]), %%" WIDTH "1\n\t" MOVE " " BYTES "*2(%[from]), %%" WIDTH "2\n\t" MOVE \
                   " " BYTES "*3(%[from]), %%" WIDTH                                                   \
                   "3\n\t"                                                                             \
                   "add $" BYTES                                                                       \
                   "*4, %[from]\n\t"                                                                   \
                   "sub $" BYTES                                                                       \
                   "*4, %[bytes]\n\t"                                                                  \
                   "jnz 1b\n\t" END                                                                    \
                   : [from] "+r"(from), [bytes] "+r"(bytes)::KERNELSEARCH_CLOBBERED);                  \
    }
#  define KERNELSEARCH_COPY_KERNEL(NAME, MOVE, STORE, WIDTH, BYTES, END)                               \
    void NAME(void* to, const void* from, std::size_t bytes) {                                         \
      asm volatile("1:\n\t" MOVE " " BYTES "*0(%[from]), %%" WIDTH "0\n\t" MOVE " " BYTES              \
                   "*1(%[from]), %%" WIDTH "1\n\t" MOVE " " BYTES "*2(%[from]), %%" WIDTH "2\n\t" MOVE \
                   " " BYTES "*3(%[from]), %%" WIDTH "3\n\t" STORE " %%" WIDTH "0, " BYTES             \
                   "*0(%[to])\n\t" STORE " %%" WIDTH "1, " BYTES "*1(%[to])\n\t" STORE " %%" WIDTH     \
                   "2, " BYTES "*2(%[to])\n\t" STORE " %%" WIDTH "3, " BYTES                           \
                   "*3(%[to])\n\t"                                                                     \
                   "add $" BYTES                                                                       \
                   "*4, %[from]\n\t"                                                                   \
                   "add $" BYTES                                                                       \
                   "*4, %[to]\n\t"                                                                     \
                   "sub $" BYTES                                                                       \
                   "*4, %[bytes]\n\t"                                                                  \
                   "jnz 1b\n\t" END                                                                    \
                   : [to] "+r"(to), [from] "+r"(from), [bytes] "+r"(bytes)::KERNELSEARCH_CLOBBERED);   \
    }
KERNELSEARCH_READ_KERNEL(read512, "vmovaps", "zmm", "64", "", "vzeroupper")
KERNELSEARCH_READ_KERNEL(read256, "vmovaps", "ymm", "32", "", "vzeroupper")
KERNELSEARCH_READ_KERNEL(read128, "movaps", "xmm", "16", "", "")
KERNELSEARCH_COPY_KERNEL(copy512, "vmovaps", "vmovaps", "zmm", "64", "vzeroupper")
KERNELSEARCH_COPY_KERNEL(copy256, "vmovaps", "vmovaps", "ymm", "32", "vzeroupper")
KERNELSEARCH_COPY_KERNEL(copy128, "movaps", "movaps", "xmm", "16", "")
KERNELSEARCH_COPY_KERNEL(past512, "vmovaps", "vmovntps", "zmm", "64", "sfence\n\tvzeroupper")
KERNELSEARCH_COPY_KERNEL(past256, "vmovaps", "vmovntps", "ymm", "32", "sfence\n\tvzeroupper")
KERNELSEARCH_COPY_KERNEL(past128, "movaps", "movntps", "xmm", "16", "sfence")

#elif defined(__aarch64__)

#  define KERNELSEARCH_TWELVE(STEP) \
    STEP("0")                       \
    STEP("1")                       \
    STEP("2") STEP("3") STEP("4") STEP("5") STEP("6") STEP("7") STEP("8") STEP("9") STEP("10") STEP("11")
#  define KERNELSEARCH_ZERO(R) "movi v" R ".16b, #0\n\t"
#  define KERNELSEARCH_FMLAS(R) "fmla v" R ".4s, v12.4s, v13.4s\n\t"
#  define KERNELSEARCH_FMLAD(R) "fmla v" R ".2d, v12.2d, v13.2d\n\t"
#  define KERNELSEARCH_FMLA_KERNEL(NAME, STEP)                                                                   \
    void NAME(std::size_t rounds) {                                                                              \
      asm volatile(KERNELSEARCH_TWELVE(KERNELSEARCH_ZERO) KERNELSEARCH_ZERO("12") KERNELSEARCH_ZERO("13")      \
                 "1:\n\t" KERNELSEARCH_TWELVE(STEP) KERNELSEARCH_TWELVE(STEP)                                \
                 "subs %[rounds], %[rounds], #1\n\t"                                                        \
                 "b.ne 1b"                                                                                  \
                 : [rounds] "+r"(rounds)::"cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", \
                   "v10", "v11", "v12", "v13"); \
    }
KERNELSEARCH_FMLA_KERNEL(fmla_f32, KERNELSEARCH_FMLAS)
KERNELSEARCH_FMLA_KERNEL(fmla_f64, KERNELSEARCH_FMLAD)

void read128(const void* from, std::size_t bytes) {
  asm volatile(
      "1:\n\t"
      "ldp q0, q1, [%[from]], #32\n\t"
      "ldp q2, q3, [%[from]], #32\n\t"
      "subs %[bytes], %[bytes], #64\n\t"
      "b.ne 1b"
      : [from] "+r"(from), [bytes] "+r"(bytes)::"cc", "memory", "v0", "v1", "v2", "v3");
}
#  define KERNELSEARCH_COPY_KERNEL(NAME, STORE)                                                             \
    void NAME(void* to, const void* from, std::size_t bytes) {                                              \
      asm volatile(                                                                                         \
          "1:\n\t"                                                                                          \
          "ldp q0, q1, [%[from]]\n\t"                                                                       \
          "ldp q2, q3, [%[from], #32]\n\t" STORE " q0, q1, [%[to]]\n\t" STORE                               \
          " q2, q3, [%[to], #32]\n\t"                                                                       \
          "add %[from], %[from], #64\n\t"                                                                   \
          "add %[to], %[to], #64\n\t"                                                                       \
          "subs %[bytes], %[bytes], #64\n\t"                                                                \
          "b.ne 1b"                                                                                         \
          : [to] "+r"(to), [from] "+r"(from), [bytes] "+r"(bytes)::"cc", "memory", "v0", "v1", "v2", "v3"); \
    }
KERNELSEARCH_COPY_KERNEL(copy128, "stp")
KERNELSEARCH_COPY_KERNEL(past128, "stnp")

#endif

}  // namespace

PeakKernels peak_kernels() {
  constexpr std::size_t each = 2 * 24;  // operations of a lane in one round
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    return {"AVX-512", 16 * each, 8 * each, fma512_f32, fma512_f64, read512, copy512, past512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {"AVX2", 8 * each, 4 * each, fma256_f32, fma256_f64, read256, copy256, past256};
  return {"SSE2", 4 * 12, 2 * 12, plain_f32, plain_f64, read128, copy128, past128};
#elif defined(__aarch64__)
  return {"NEON", 4 * each, 2 * each, fmla_f32, fmla_f64, read128, copy128, past128};
#else
  (void)each;
  return {};
#endif
}

void drop_from_caches(const void* from, std::size_t bytes) {
  const char* begin = static_cast<const char*>(from);
  for (std::size_t i = 0; i < bytes; i += 64) {
#if defined(__x86_64__)
    __builtin_ia32_clflush(begin + i);
#elif defined(__aarch64__)
    asm volatile("dc civac, %0" ::"r"(begin + i) : "memory");
#endif
  }
#if defined(__x86_64__)
  __builtin_ia32_mfence();
#elif defined(__aarch64__)
  asm volatile("dsb ish" ::: "memory");
#else
  (void)begin;
#endif
}

}  // namespace kernelsearch::detail
