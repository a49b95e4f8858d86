// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <numeric>

#include "standin/support.hpp"

using namespace standin_test;

TEST_CASE("stand-in: barriers, shared memory, shuffles and atomics, in any order of threads") {
  for (const char* order : {"forward", "reverse", "shuffle"})
    for (const char* warp : {"64", "32"}) {
      CAPTURE(order);
      CAPTURE(warp);
      StandIn standin({{"ORDER", order}, {"WARP", warp}});
      const auto f = standin.kernels(R"(
extern "C" __global__ void __launch_bounds__(256) sums(int n, const float* x, float* y) {
  extern __shared__ float tile[];
  __shared__ float partial[8];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  float v = tile[blockDim.x - 1 - threadIdx.x];
  for (int d = warpSize / 2; d > 0; d /= 2) v += __shfl_down(v, d);
  if (threadIdx.x % warpSize == 0) partial[threadIdx.x / warpSize] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    float total = 0;
    for (unsigned w = 0; w < blockDim.x / warpSize; ++w) total += partial[w];
    atomicAdd(y, total);
  }
})",
                                     {"sums"});
      std::vector<float> x(1000);
      std::iota(x.begin(), x.end(), 1.0f);
      const Address xs = standin.upload(x), y = standin.upload(std::vector<float>{0});
      REQUIRE(standin.launch(f[0], 4, 256, 1024, 1000, xs, y) == success);
      CHECK(standin.download<float>(y, 1)[0] == 500500.0f);
    }
}

TEST_CASE("stand-in: indices of grids and blocks of three dimensions") {
  StandIn standin;
  const auto f = standin.kernels(R"(
extern "C" __global__ void where(int* out) {
  const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] += 1 + thread;
  __syncthreads();
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] -= thread;
})",
                                 {"where"});
  const Address out = standin.upload(std::vector<int>(24 * 30, 0));
  LaunchShape shape;
  for (int i = 0; i < 3; ++i)
    shape.grid[i] = static_cast<unsigned>(i) + 2, shape.block[i] = static_cast<unsigned>(5 - i);
  shape.block[2] = 1;
  shape.block[0] = 6;
  shape.block[1] = 5;
  Address argument = out;
  const LaunchParameter parameters[] = {{LaunchParameter::Kind::array, &argument, 24 * 30 * sizeof(int)}};
  REQUIRE(standin.driver->launch_kernel(f[0], shape, nullptr, parameters) == success);
  CHECK(standin.download<int>(out, 24 * 30) == std::vector<int>(24 * 30, 1));
}

TEST_CASE("stand-in: templates by name expression, scalars of several types") {
  StandIn standin;
  const auto f = standin.kernels(R"(
template <class T, int K> __global__ void fill(T* out, T by, bool twice, long long far) {
  out[threadIdx.x] = static_cast<T>(K + by * (twice ? 2 : 1) + far);
})",
                                 {"fill<int, 3>", "fill<double,4>"});
  const Address ints = standin.upload(std::vector<int>(2)), doubles = standin.upload(std::vector<double>(2));
  REQUIRE(standin.launch(f[0], 1, 2, 0, ints, 10, true, 1000LL) == success);
  REQUIRE(standin.launch(f[1], 1, 2, 0, doubles, 0.5, false, -4LL) == success);
  CHECK(standin.download<int>(ints, 2) == std::vector<int>{1023, 1023});
  CHECK(standin.download<double>(doubles, 2) == std::vector<double>{0.5, 0.5});
}

TEST_CASE("stand-in: operations of a warp, complete and divergent") {
  StandIn standin;
  const auto f = standin.kernels(R"(
extern "C" __global__ void warps(int* out) {
  const int t = threadIdx.x, lane = t % warpSize;
  int* o = out + t * 12;
  o[0] = __shfl(t, 5);
  o[1] = __shfl_up(t, 1);
  o[2] = __shfl_xor(t, 3, 8);
  o[3] = __shfl_down(t, 2, 4);
  o[4] = static_cast<int>(__ballot(lane % 3 == 0) & 0xffff);
  o[5] = __any(lane == 40) + 2 * __all(lane < 63) + 4 * __all(lane < 64);
  if (lane < 8) o[6] = static_cast<int>(__ballot(1));      // only these take part
  else o[6] = __popcll(__ballot(1));
  o[7] = __popcll(__activemask());                          // together again
  o[8] = 0;
  if (lane >= 16 && lane < 32) o[8] = __shfl_down_sync(0xffff0000ull, t, 1, 16);
  o[9] = __syncthreads_count(t < 70);
  o[10] = __syncthreads_or(t == 3) + 2 * __syncthreads_and(t >= 0) + 4 * __syncthreads_and(t != 7);
  if (t >= 100) return;                                     // others go on without these
  __syncthreads();
  o[11] = __popcll(__ballot(1));
})",
                                 {"warps"});
  const Address out = standin.upload(std::vector<int>(128 * 12, -1));
  REQUIRE(standin.launch(f[0], 1, 128, 0, out) == success);
  const auto got = standin.download<int>(out, 128 * 12);
  for (int t = 0; t < 128; ++t) {
    CAPTURE(t);
    const int lane = t % 64;
    const int* o = got.data() + t * 12;
    CHECK(o[0] == t - lane + 5);
    CHECK(o[1] == (lane == 0 ? t : t - 1));
    CHECK(o[2] == (t ^ 3));
    CHECK(o[3] == (t % 4 < 2 ? t + 2 : t));
    CHECK(o[4] == 0b1001001001001001);
    CHECK(o[5] == 1 + 4);
    CHECK(o[6] == (lane < 8 ? 0xff : 56));
    CHECK(o[7] == 64);
    CHECK(o[8] == (lane >= 16 && lane < 31 ? t + 1 : lane == 31 ? t : 0));
    CHECK(o[9] == 70);
    CHECK(o[10] == 1 + 2);
    CHECK(o[11] == (t < 64 ? 64 : t < 100 ? 36 : -1));
  }
}

TEST_CASE("stand-in: atomics of every kind") {
  StandIn standin;
  const auto f = standin.kernels(R"(
extern "C" __global__ void atomics(int* i, float* f, double* d, unsigned long long* u) {
  const int t = threadIdx.x;
  atomicAdd(&i[0], t); atomicMax(&i[1], t); atomicMin(&i[2], -t); atomicOr(&i[3], 1 << t % 8);
  atomicAnd(&i[4], ~(1 << t % 4)); atomicXor(&i[5], t); atomicSub(&i[6], 1);
  if (atomicCAS(&i[7], 0, t + 1) == 0) atomicExch(&i[8], t + 100);
  atomicAdd(f, 0.5f); atomicAdd(d, 0.25); atomicAdd(u, 1);
})",
                                 {"atomics"});
  std::vector<int> start(9, 0);
  start[4] = 255;
  const Address i = standin.upload(start), s = standin.upload(std::vector<float>{0}),
                d = standin.upload(std::vector<double>{0}),
                u = standin.upload(std::vector<unsigned long long>{0});
  REQUIRE(standin.launch(f[0], 1, 32, 0, i, s, d, u) == success);
  CHECK(standin.download<int>(i, 9) == std::vector<int>{496, 31, -31, 255, 240, 0, -32, 1, 100});
  CHECK(standin.download<float>(s, 1)[0] == 16.0f);
  CHECK(standin.download<double>(d, 1)[0] == 8.0);
  CHECK(standin.download<unsigned long long>(u, 1)[0] == 32);
}

TEST_CASE("stand-in: constants, vectors, halves and mathematics") {
  StandIn standin;
  const auto f = standin.kernels(R"(
#include <hip/hip_fp16.h>
__constant__ float c_filter[4];
extern "C" __global__ void all(const float4* v, __half* h, float* out) {
  const float4 x = v[0];
  out[0] = x.x * c_filter[0] + x.y * c_filter[1] + x.z * c_filter[2] + x.w * c_filter[3];
  h[1] = __float2half(__half2float(h[0]) + 1.0f);
  h[2] = __float2half(70000.0f);
  h[3] = __float2half(1.0e-7f);
  h[4] = __float2half(2049.0f);
  out[1] = expf(0.0f) + fmaxf(1.0f, 2.0f) + min(3, 4) + max(1.5f, 1.0f) + sqrtf(4.0f) + rsqrtf(4.0f);
  out[2] = fmaf(2.0f, 3.0f, 4.0f) + __expf(0.0f) + abs(-2) + fabsf(-0.5f) + __int_as_float(__float_as_int(8.0f));
  out[3] = __ldg(&v[0].w) + __popc(255u) + __clz(1) + __ffs(8u) + exp(0.0f) + float(__mulhi(1 << 30, 8));
})",
                                 {"all"});
  Address constant = 0;
  std::size_t bytes = 0;
  Driver& d = *standin.driver;
  REQUIRE(d.module_global(&constant, &bytes, standin.module, "c_filter") == success);
  CHECK(bytes == 16);
  const float filter[4] = {1, 10, 100, 1000};
  CHECK(d.copy_in(constant, filter, 16) == success);
  CHECK(d.copy_in(constant, filter, 17) == invalid_value);
  CHECK(d.module_global(&constant, &bytes, standin.module, "nothing") == not_found);
  CHECK(d.module_global(&constant, &bytes, standin.module, "environ") == not_found);  // of another library
  const Address v = standin.upload(std::vector<float>{1, 2, 3, 4}),
                h = standin.upload(std::vector<std::uint16_t>{0x3c00, 0, 0, 0, 0}),
                out = standin.upload(std::vector<float>(4));
  REQUIRE(standin.launch(f[0], 1, 1, 0, v, h, out) == success);
  const auto got = standin.download<float>(out, 4);
  CHECK(got[0] == 4321);
  CHECK(got[1] == 10);
  CHECK(got[2] == 21.5f);
  CHECK(got[3] == 50);
  CHECK(standin.download<std::uint16_t>(h, 5) ==
        std::vector<std::uint16_t>{0x3c00, 0x4000, 0x7c00, 0x0002, 0x6800});
}

TEST_CASE("stand-in: shared memory holds no zeros, and counts") {
  StandIn standin;
  const auto f = standin.kernels(R"(
template <int N> __device__ float* scratch() { __shared__ float s[N]; return s; }
extern "C" __global__ void fresh(float* out, int write) {
  extern __shared__ __attribute__((aligned(16))) float dynamic[];
  __shared__ float mine[100];
  if (write) mine[write] = scratch<50>()[write] = 1;
  out[0] = mine[3]; out[1] = dynamic[3]; out[2] = scratch<50>()[3];
}
extern "C" __global__ void other(double* out) { __shared__ double own[1000]; own[threadIdx.x] = 0; out[0] = own[1]; })",
                                 {"fresh", "other"});
  const Address out = standin.upload(std::vector<float>(3, 0));
  REQUIRE(standin.launch(f[0], 1, 1, 64, out, 0) == success);
  for (const float value : standin.download<float>(out, 3)) CHECK(value != value);
  int bytes = 0;
  Driver& d = *standin.driver;
  CHECK(d.function_attribute(&bytes, d.numbers.function_shared, f[0]) == success);
  CHECK(bytes == 600);
  CHECK(d.function_attribute(&bytes, d.numbers.function_shared, f[1]) == success);
  CHECK(bytes == 8200);
  CHECK(d.occupancy(&bytes, f[1], 256, 0) == success);
  CHECK(bytes == 7);
  CHECK(standin.launch(f[0], 1, 1, 65536 - 600, out, 0) == success);
  CHECK(standin.launch(f[0], 1, 1, 65536 - 599, out, 0) == invalid_value);
  CHECK(d.synchronize() == success);  // a launch refused is no lost device
}

TEST_CASE("stand-in: dynamic shared memory by any declaration") {
  for (const char* compiler : {"g++", "clang++"}) {
    if (std::system((std::string(compiler) + " --version > /dev/null 2>&1").c_str()) != 0) continue;
    CAPTURE(compiler);
    StandIn standin({{"CXX", compiler}});
    const auto f = standin.kernels(R"(
extern __shared__ int global_name[];
namespace inner {
template <class T> __global__ void one(int* out) {
  extern __shared__ __align__(16) unsigned char raw[];
  T* typed = reinterpret_cast<T*>(raw);
  typed[0] = 3;
  extern __shared__ T rows[][2];
  rows[1][1] = 4;
  HIP_DYNAMIC_SHARED(T, macro)
  out[0] = global_name[0] + global_name[3] + macro[3];
}
})",
                                   {"inner::one<int>"});
    const Address out = standin.upload(std::vector<int>(1));
    REQUIRE(standin.launch(f[0], 1, 1, 16, out) == success);
    CHECK(standin.download<int>(out, 1)[0] == 11);
  }
}

TEST_CASE("stand-in: launches that the hardware would refuse") {
  StandIn standin;
  const auto f = standin.kernels(
      "#define BLOCK 128\n// __launch_bounds__(1) nothing()\n"
      "extern \"C\" __global__ void __launch_bounds__(2 * BLOCK, 4) __attribute__((amdgpu_waves_per_eu(2, "
      "4)))\n"
      "bounded(int) {}\nextern \"C\" __global__ void nothing() {}",
      {"bounded", "nothing"});
  Driver& d = *standin.driver;
  CHECK(standin.launch(f[0], 1, 256, 0, 1) == success);
  CHECK(standin.launch(f[0], 1, 257, 0, 1) == launch_failed);
  CHECK(standin.launch(f[1], 1, 1024, 0) == success);
  CHECK(standin.launch(f[1], 1, 1025, 0) == invalid_value);
  CHECK(standin.launch(f[1], 0, 32, 0) == invalid_value);
  CHECK(standin.launch(f[1], 1, 0, 0) == invalid_value);
  CHECK(standin.launch(nullptr, 1, 1, 0) == 400);
  CHECK(d.synchronize() == success);
  int threads = 0;
  CHECK(d.function_attribute(&threads, d.numbers.function_threads, f[0]) == success);
  CHECK(threads == 256);
}

TEST_CASE("stand-in: modules of the same names live beside each other") {
  StandIn standin;
  const char* source =
      "template <int K> __device__ int* kept() { __shared__ int x; return &x; }\n"
      "__constant__ int c_value; extern \"C\" __global__ void get(int* out) { *kept<1>() = VALUE; out[0] = "
      "*kept<1>() + c_value; }";
  std::vector<Function> f;
  std::vector<Module> modules;
  for (const char* value : {"-DVALUE=1", "-DVALUE=2"}) {
    f.push_back(standin.kernels(source, {"get"}, {value})[0]);
    modules.push_back(standin.module);
  }
  const Address out = standin.upload(std::vector<int>{0});
  for (int i = 0; i < 2; ++i) {
    REQUIRE(standin.launch(f[static_cast<std::size_t>(i)], 1, 1, 0, out) == success);
    CHECK(standin.download<int>(out, 1)[0] == i + 1);
  }
  Driver& d = *standin.driver;
  CHECK(d.module_unload(modules[0]) == success);
  CHECK(d.module_unload(modules[0]) == 400);
  // The third takes the first one's place: nothing of it may be left.
  const Function third = standin.kernels(source, {"get"}, {"-DVALUE=3"})[0];
  REQUIRE(standin.launch(third, 1, 1, 0, out) == success);
  CHECK(standin.download<int>(out, 1)[0] == 3);
  REQUIRE(standin.launch(f[1], 1, 1, 0, out) == success);
  CHECK(standin.download<int>(out, 1)[0] == 2);
  const char junk[64] = "not an image";
  Module module = nullptr;
  CHECK(d.module_load(&module, junk) == invalid_image);
  Function missing = nullptr;
  CHECK(d.module_function(&missing, standin.module, "absent") == not_found);
}
