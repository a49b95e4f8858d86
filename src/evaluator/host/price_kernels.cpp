// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/price_kernels.hpp"

namespace kernelsearch::detail {
namespace {

#if defined(__x86_64__)

// Values of ordinary size: neither exceptional nor subnormal numbers enter what is timed.
alignas(64) constexpr float half_f32[16] = {.5f, .5f, .5f, .5f, .5f, .5f, .5f, .5f,
                                            .5f, .5f, .5f, .5f, .5f, .5f, .5f, .5f};
alignas(64) constexpr double half_f64[8] = {.5, .5, .5, .5, .5, .5, .5, .5};

#  define KERNELSEARCH_PRICE_CLOBBERED                                                                       \
    "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
        "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"

#  define KERNELSEARCH_PRICE_KERNEL(NAME, LOAD, WIDTH, VALUES, BODY)                            \
    void NAME(std::size_t rounds) {                                                             \
      asm volatile(LOAD " %[value], %%" WIDTH "12\n\t" LOAD " %[value], %%" WIDTH "13\n\t" LOAD \
                        " %[value], %%" WIDTH                                                   \
                        "14\n"                                                                  \
                        "1:\n\t" BODY "dec %[rounds]\n\tjnz 1b\n\tvzeroupper"                   \
                   : [rounds] "+r"(rounds)                                                      \
                   : [value] "m"(VALUES)                                                        \
                   : KERNELSEARCH_PRICE_CLOBBERED);                                             \
    }

// Twelve independent results a round.
#  define KERNELSEARCH_DIVIDE(OPERATION, W, R) OPERATION " %%" W "13, %%" W "12, %%" W R "\n\t"
#  define KERNELSEARCH_CONVERT(OPERATION, W, R) OPERATION " %%" W "12, %%" W R "\n\t"
#  define KERNELSEARCH_TWELVE_OF(STEP, OPERATION, W) \
    STEP(OPERATION, W, "0")                          \
    STEP(OPERATION, W, "1")                          \
    STEP(OPERATION, W, "2")                          \
    STEP(OPERATION, W, "3")                          \
    STEP(OPERATION, W, "4")                          \
    STEP(OPERATION, W, "5")                          \
    STEP(OPERATION, W, "6")                          \
    STEP(OPERATION, W, "7")                          \
    STEP(OPERATION, W, "8") STEP(OPERATION, W, "9") STEP(OPERATION, W, "10") STEP(OPERATION, W, "11")

// exp(x) = 2^n p(r): n = round(x log2 e) by a large number that is added and taken away, r = x - n ln 2, a
// polynomial by Horner's rule, and n added to the exponent. The constants' values do not change the time.
#  define KERNELSEARCH_TERM(T, W, P, R) "vfmadd213" T " %%" W "13, %%" W R ", %%" W P "\n\t"
#  define KERNELSEARCH_FIVE_TERMS(T, W, P, R) \
    KERNELSEARCH_TERM(T, W, P, R)             \
    KERNELSEARCH_TERM(T, W, P, R)             \
    KERNELSEARCH_TERM(T, W, P, R) KERNELSEARCH_TERM(T, W, P, R) KERNELSEARCH_TERM(T, W, P, R)
#  define KERNELSEARCH_REDUCED(T, MOVE, W, P, R)       \
    MOVE " %%" W "12, %%" W P                          \
         "\n\t"                                        \
         "vfmadd213" T " %%" W "14, %%" W "13, %%" W P \
         "\n\t"                                        \
         "vsub" T " %%" W "14, %%" W P ", %%" W R      \
         "\n\t"                                        \
         "vfnmadd213" T " %%" W "12, %%" W "13, %%" W R "\n\t"
#  define KERNELSEARCH_EXP_F32(W, P, R)            \
    KERNELSEARCH_REDUCED("ps", "vmovaps", W, P, R) \
    KERNELSEARCH_FIVE_TERMS("ps", W, P, R)         \
    "vpslld $23, %%" W R ", %%" W R                \
    "\n\t"                                         \
    "vpaddd %%" W R ", %%" W P ", %%" W P "\n\t"
#  define KERNELSEARCH_EXP_F64(W, P, R)            \
    KERNELSEARCH_REDUCED("pd", "vmovapd", W, P, R) \
    KERNELSEARCH_FIVE_TERMS("pd", W, P, R)         \
    KERNELSEARCH_FIVE_TERMS("pd", W, P, R)         \
    KERNELSEARCH_TERM("pd", W, P, R)               \
    "vpsllq $52, %%" W R ", %%" W R                \
    "\n\t"                                         \
    "vpaddq %%" W R ", %%" W P ", %%" W P "\n\t"
// Six at a time, one after the other: an out-of-order core overlaps them.
#  define KERNELSEARCH_SIX(STEP, W) \
    STEP(W, "0", "6")               \
    STEP(W, "1", "7") STEP(W, "2", "8") STEP(W, "3", "9") STEP(W, "4", "10") STEP(W, "5", "11")

#  define KERNELSEARCH_PRICE_WIDTH(NAME, W)                                             \
    KERNELSEARCH_PRICE_KERNEL(exponential_f32_##NAME, "vmovups", W, half_f32,           \
                              KERNELSEARCH_SIX(KERNELSEARCH_EXP_F32, W))                \
    KERNELSEARCH_PRICE_KERNEL(exponential_f64_##NAME, "vmovupd", W, half_f64,           \
                              KERNELSEARCH_SIX(KERNELSEARCH_EXP_F64, W))                \
    KERNELSEARCH_PRICE_KERNEL(division_f32_##NAME, "vmovups", W, half_f32,              \
                              KERNELSEARCH_TWELVE_OF(KERNELSEARCH_DIVIDE, "vdivps", W)) \
    KERNELSEARCH_PRICE_KERNEL(division_f64_##NAME, "vmovupd", W, half_f64,              \
                              KERNELSEARCH_TWELVE_OF(KERNELSEARCH_DIVIDE, "vdivpd", W)) \
    KERNELSEARCH_PRICE_KERNEL(conversion_##NAME, "vmovups", W, half_f32,                \
                              KERNELSEARCH_TWELVE_OF(KERNELSEARCH_CONVERT, "vcvtdq2ps", W))
KERNELSEARCH_PRICE_WIDTH(128, "xmm")
KERNELSEARCH_PRICE_WIDTH(256, "ymm")
KERNELSEARCH_PRICE_WIDTH(512, "zmm")

#endif

}  // namespace

std::vector<PriceKernels> price_kernels() {
  std::vector<PriceKernels> found;
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return found;
#  define KERNELSEARCH_PRICES(BITS)                           \
    found.push_back({BITS,                                    \
                     {6 * BITS / 32, exponential_f32_##BITS}, \
                     {6 * BITS / 64, exponential_f64_##BITS}, \
                     {12 * BITS / 32, division_f32_##BITS},   \
                     {12 * BITS / 64, division_f64_##BITS},   \
                     {12 * BITS / 32, conversion_##BITS}})
  KERNELSEARCH_PRICES(128);
  KERNELSEARCH_PRICES(256);
  if (__builtin_cpu_supports("avx512f")) KERNELSEARCH_PRICES(512);
#endif
  return found;
}

}  // namespace kernelsearch::detail
