// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transforms of 1024 complex numbers each, by Stockham's steps in shared memory: radix RADIX as long as
// that divides what is left, then what is left. A block takes BATCH transforms.

constexpr int size = 1024, padded = PAD ? size + size / 32 : size;

struct Complex {
  float re, im;
};

__device__ __forceinline__ Complex operator+(Complex a, Complex b) {
  return {a.re + b.re, a.im + b.im};
}
__device__ __forceinline__ Complex operator-(Complex a, Complex b) {
  return {a.re - b.re, a.im - b.im};
}
__device__ __forceinline__ Complex operator*(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

#if LAYOUT == 0
__shared__ Complex store[2][BATCH][padded];
#else
__shared__ float store_re[2][BATCH][padded], store_im[2][BATCH][padded];
#endif

__device__ __forceinline__ Complex get(int side, int batch, int i) {
  if (PAD) i += i / 32;
#if LAYOUT == 0
  return store[side][batch][i];
#else
  return {store_re[side][batch][i], store_im[side][batch][i]};
#endif
}

__device__ __forceinline__ void put(int side, int batch, int i, Complex z) {
  if (PAD) i += i / 32;
#if LAYOUT == 0
  store[side][batch][i] = z;
#else
  store_re[side][batch][i] = z.re;
  store_im[side][batch][i] = z.im;
#endif
}

/// exp(-2 pi i k / n)
__device__ __forceinline__ Complex twiddle(int k, int n) {
  Complex w;
#if defined(__CUDA_ARCH__) && FAST
  __sincosf(-6.283185307179586f * static_cast<float>(k) / static_cast<float>(n), &w.im, &w.re);
#elif defined(__CUDA_ARCH__)
  sincospif(-2.0f * static_cast<float>(k) / static_cast<float>(n), &w.im, &w.re);
#else
  const float angle = -6.283185307179586f * static_cast<float>(k) / static_cast<float>(n);
  w = {cosf(angle), sinf(angle)};
#endif
  return w;
}

/// The same for n up to 32, from a table that is gone once loops are unrolled.
__device__ __forceinline__ Complex small_twiddle(int k, int n) {
  const float cosines[17] = {1.000000000f,  0.980785280f,  0.923879533f,  0.831469612f,  0.707106781f,
                             0.555570233f,  0.382683432f,  0.195090322f,  0.000000000f,  -0.195090322f,
                             -0.382683432f, -0.555570233f, -0.707106781f, -0.831469612f, -0.923879533f,
                             -0.980785280f, -1.000000000f};
  const int at = k * (32 / n);
  return {cosines[at], at <= 8 ? -cosines[8 - at] : -cosines[at - 8]};
}

/// The transform of R numbers in place, in natural order.
template <int R>
struct Small {
  static __device__ __forceinline__ void run(Complex (&z)[R]) {
    Complex even[R / 2], odd[R / 2];
#pragma unroll
    for (int i = 0; i < R / 2; ++i) even[i] = z[2 * i], odd[i] = z[2 * i + 1];
    Small<R / 2>::run(even);
    Small<R / 2>::run(odd);
#pragma unroll
    for (int i = 0; i < R / 2; ++i) {
      const Complex turned = odd[i] * small_twiddle(i, R);
      z[i] = even[i] + turned;
      z[i + R / 2] = even[i] - turned;
    }
  }
};
template <>
struct Small<1> {
  static __device__ __forceinline__ void run(Complex (&)[1]) {}
};

/// A step of radix R where `done` numbers in a row are transformed already.
template <int R>
__device__ __forceinline__ void step(int side, int done) {
  for (int at = static_cast<int>(threadIdx.x); at < BATCH * size / R; at += THREADS) {
    const int batch = at / (size / R), j = at % (size / R);
    const int k = j % done;
    Complex z[R];
#pragma unroll
    for (int r = 0; r < R; ++r) z[r] = get(side, batch, j + r * (size / R)) * twiddle(r * k, done * R);
    Small<R>::run(z);
#pragma unroll
    for (int r = 0; r < R; ++r) put(1 - side, batch, (j / done) * done * R + k + r * done, z[r]);
  }
  __syncthreads();
}

template <int LEFT, int DONE>
struct Steps {
  static __device__ __forceinline__ int run(int side) {
    constexpr int radix = LEFT % RADIX == 0 ? RADIX : LEFT;
    step<radix>(side, DONE);
    return Steps<LEFT / radix, DONE * radix>::run(1 - side);
  }
};
template <int DONE>
struct Steps<1, DONE> {
  static __device__ __forceinline__ int run(int side) { return side; }
};

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    fft_1024(int32_t count, const float* __restrict__ in, float* __restrict__ out) {
  const int first = static_cast<int>(blockIdx.x) * BATCH;
  const Complex* const from = reinterpret_cast<const Complex*>(in);
  Complex* const to = reinterpret_cast<Complex*>(out);
  for (int i = static_cast<int>(threadIdx.x); i < BATCH * size; i += THREADS) {
    const int batch = i / size;
    if (first + batch < count) put(0, batch, i % size, from[static_cast<size_t>(first) * size + i]);
  }
  __syncthreads();
  const int side = Steps<size, 1>::run(0);
  for (int i = static_cast<int>(threadIdx.x); i < BATCH * size; i += THREADS) {
    const int batch = i / size;
    if (first + batch < count) to[static_cast<size_t>(first) * size + i] = get(side, batch, i % size);
  }
}
