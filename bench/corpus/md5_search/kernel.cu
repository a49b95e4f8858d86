// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The candidate of n whose MD5 digest begins with the largest word. A candidate is a message of 20 bytes:
// four words of salt and its number. What is kept is the digest's first word above the complement of the
// number.

__constant__ const uint32_t sines[64] = {
    0xd76aa478u, 0xe8c7b756u, 0x242070dbu, 0xc1bdceeeu, 0xf57c0fafu, 0x4787c62au, 0xa8304613u, 0xfd469501u,
    0x698098d8u, 0x8b44f7afu, 0xffff5bb1u, 0x895cd7beu, 0x6b901122u, 0xfd987193u, 0xa679438eu, 0x49b40821u,
    0xf61e2562u, 0xc040b340u, 0x265e5a51u, 0xe9b6c7aau, 0xd62f105du, 0x02441453u, 0xd8a1e681u, 0xe7d3fbc8u,
    0x21e1cde6u, 0xc33707d6u, 0xf4d50d87u, 0x455a14edu, 0xa9e3e905u, 0xfcefa3f8u, 0x676f02d9u, 0x8d2a4c8au,
    0xfffa3942u, 0x8771f681u, 0x6d9d6122u, 0xfde5380cu, 0xa4beea44u, 0x4bdecfa9u, 0xf6bb4b60u, 0xbebfbc70u,
    0x289b7ec6u, 0xeaa127fau, 0xd4ef3085u, 0x04881d05u, 0xd9d4d039u, 0xe6db99e5u, 0x1fa27cf8u, 0xc4ac5665u,
    0xf4292244u, 0x432aff97u, 0xab9423a7u, 0xfc93a039u, 0x655b59c3u, 0x8f0ccc92u, 0xffeff47du, 0x85845dd1u,
    0x6fa87e4fu, 0xfe2ce6e0u, 0xa3014314u, 0x4e0811a1u, 0xf7537e82u, 0xbd3af235u, 0x2ad7d2bbu, 0xeb86d391u};
__constant__ const int shifts[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};

__device__ __forceinline__ uint32_t rotated(uint32_t x, int by) {
#if defined(__CUDA_ARCH__) && FUNNEL
  return __funnelshift_l(x, x, static_cast<unsigned>(by));
#else
  return (x << by) | (x >> (32 - by));
#endif
}

__device__ __forceinline__ uint32_t word_of(const uint32_t* salt, uint32_t number, int i) {
  if (i < 4) return salt[i];
  if (i == 4) return number;
  if (i == 5) return 0x80u;
  return i == 14 ? 160u : 0u;
}

template <int ROUND>
__device__ __forceinline__ void round_of(uint32_t& a, uint32_t& b, uint32_t& c, uint32_t& d,
                                         const uint32_t* salt, uint32_t number) {
  constexpr int turns = UNROLL;
#pragma unroll turns
  for (int i = 0; i < 16; ++i) {
    uint32_t mixed;
    int word;
    if (ROUND == 0) {
      mixed = (b & c) | (~b & d);
      word = i;
    } else if (ROUND == 1) {
      mixed = (d & b) | (~d & c);
      word = (5 * i + 1) % 16;
    } else if (ROUND == 2) {
      mixed = b ^ c ^ d;
      word = (3 * i + 5) % 16;
    } else {
      mixed = c ^ (b | ~d);
      word = (7 * i) % 16;
    }
    const uint32_t sum = a + mixed + sines[ROUND * 16 + i] + word_of(salt, number, word);
    a = d, d = c, c = b;
    b += rotated(sum, shifts[ROUND * 4 + i % 4]);
  }
}

__device__ __forceinline__ unsigned long long tried(const uint32_t* salt, uint32_t number) {
  uint32_t a = 0x67452301u, b = 0xefcdab89u, c = 0x98badcfeu, d = 0x10325476u;
  round_of<0>(a, b, c, d, salt, number);
  round_of<1>(a, b, c, d, salt, number);
  round_of<2>(a, b, c, d, salt, number);
  round_of<3>(a, b, c, d, salt, number);
  return (static_cast<unsigned long long>(a + 0x67452301u) << 32) | static_cast<uint32_t>(~number);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    md5_search(int32_t n, const uint32_t* __restrict__ salt, uint64_t* best) {
  const int t = static_cast<int>(threadIdx.x), first = static_cast<int>(blockIdx.x) * THREADS * WORK;
  uint32_t words[4] = {salt[0], salt[1], salt[2], salt[3]};
  unsigned long long mine = 0;
#pragma unroll 1
  for (int w = 0; w < WORK; ++w) {
    const int number = ORDER == 0 ? first + w * THREADS + t : first + t * WORK + w;
    if (number < n) mine = max(mine, tried(words, static_cast<uint32_t>(number)));
  }
#if REDUCE == 0
  __shared__ unsigned long long kept[THREADS];
  kept[t] = mine;
  __syncthreads();
#  pragma unroll
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (t < half) kept[t] = max(kept[t], kept[t + half]);
    __syncthreads();
  }
  if (t == 0) atomicMax(reinterpret_cast<unsigned long long*>(best), kept[0]);
#else
#  pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) mine = max(mine, __shfl_xor_sync(0xffffffffu, mine, mask));
  if (t % 32 == 0) atomicMax(reinterpret_cast<unsigned long long*>(best), mine);
#endif
}
