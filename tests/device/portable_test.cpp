// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/device/portable.hpp"

#include <numeric>

#include "standin/support.hpp"

#if defined(KERNELSEARCH_DEVICE_CUDA) || defined(KERNELSEARCH_DEVICE_HIP) || defined(KERNELSEARCH_UNROLL)
#  error "a compiler of C++ alone sees nothing of the header"
#endif

using namespace standin_test;

namespace {

const std::string source = R"(
#include "kernelsearch/device/portable.hpp"
namespace ks = kernelsearch::device;

extern "C" __global__ void __launch_bounds__(256) KERNELSEARCH_WAVES_PER_EU(2) lanes(int* out) {
  const int t = ks::thread_rank();
  int* o = out + t * 6;
  o[0] = ks::lane();
  o[1] = ks::shuffle(t, 3, 16);
  o[2] = ks::shuffle_down(t, 1, 8);
  o[3] = ks::shuffle_up(t, 1, 8);
  o[4] = ks::shuffle_xor(t, 5);
  o[5] = static_cast<int>(ks::ballot(t % 2 == 0) & 0xff);
}

template <int Threads> __global__ void reductions(const double* x, double* out) {
  KERNELSEARCH_DYNAMIC_SHARED(double, scratch);
  const int t = ks::thread_rank();
  double sum = ks::reduce_block<Threads>(x[t], ks::Sum(), scratch);
  __syncthreads();
  double largest = ks::reduce_block<Threads>(x[t], ks::Largest(), scratch);
  out[2 * t] = sum;
  out[2 * t + 1] = largest;
}

extern "C" __global__ void packs(const float* x, float* y) {
  ks::Pack<float, 4> p = ks::load_pack<4>(x + 4 * threadIdx.x);
  KERNELSEARCH_UNROLL(4)
  for (int i = 0; i < 4; ++i) p[i] = ks::fast_divide(1.0f, p[i]) + ks::fast_exp(0.0f) - ks::fast_log(1.0f) - ks::fast_rsqrt(1.0f);
  ks::store_pack<4>(y + 4 * threadIdx.x, p);
}

extern "C" __global__ void through_shared(int* out) {
  __shared__ int kept[256];
  const int t = ks::thread_rank();
  kept[t] = t;
  ks::sync_warp();
  out[t] = kept[t ^ 1];
}
)";

const std::vector<std::string> kernels{"lanes", "reductions<16>", "reductions<256>", "packs",
                                       "through_shared"};
const std::vector<std::string> options{"-I" KERNELSEARCH_SOURCE_DIR "/include", "-std=c++17"};

}  // namespace

TEST_CASE("portable: exchanges, reductions and packs, for both widths of a warp") {
  for (const char* warp : {"64", "32"}) {
    CAPTURE(warp);
    const int width = std::atoi(warp);
    StandIn standin({{"WARP", warp}, {"ORDER", "shuffle"}});
    const auto f = standin.kernels(source, kernels, options);
    const Address out = standin.upload(std::vector<int>(256 * 6));
    REQUIRE(standin.launch(f[0], 1, 256, 0, out) == success);
    const auto lanes = standin.download<int>(out, 256 * 6);
    for (int t = 0; t < 256; ++t) {
      const int* o = lanes.data() + t * 6;
      CHECK(o[0] == t % width);
      CHECK(o[1] == t / 16 * 16 + 3);
      CHECK(o[2] == (t % 8 == 7 ? t : t + 1));
      CHECK(o[3] == (t % 8 == 0 ? t : t - 1));
      CHECK(o[4] == (t ^ 5));
      CHECK(o[5] == 0x55);
    }
    std::vector<double> x(256);
    std::iota(x.begin(), x.end(), 1.0);
    const Address xs = standin.upload(x), sums = standin.upload(std::vector<double>(512));
    for (const int threads : {16, 256}) {
      REQUIRE(standin.launch(f[threads == 16 ? 1 : 2], 1, static_cast<unsigned>(threads), 64, xs, sums) ==
              success);
      const auto got = standin.download<double>(sums, 2 * static_cast<std::size_t>(threads));
      for (int t = 0; t < threads; ++t) {
        CHECK(got[static_cast<std::size_t>(2 * t)] == threads * (threads + 1) / 2);
        CHECK(got[static_cast<std::size_t>(2 * t + 1)] == threads);
      }
    }
    const Address in = standin.upload(std::vector<float>{1, 2, 4, 8}),
                  inverse = standin.upload(std::vector<float>(4));
    REQUIRE(standin.launch(f[3], 1, 1, 0, in, inverse) == success);
    CHECK(standin.download<float>(inverse, 4) == std::vector<float>{1, 0.5f, 0.25f, 0.125f});
    REQUIRE(standin.launch(f[4], 1, 256, 0, out) == success);
    CHECK(standin.download<int>(out, 2) == std::vector<int>{1, 0});
  }
}

TEST_CASE("portable: AMD's and NVIDIA's own run-time compilers take it") {
  struct Case {
    GpuBackend backend;
    const char* variable;
    const char* architecture;
  };
  for (const Case& c : {Case{GpuBackend::hip, "KERNELSEARCH_HIPRTC", "--offload-arch=gfx90a"},
                        Case{GpuBackend::cuda, "KERNELSEARCH_NVRTC", "--gpu-architecture=sm_90"}}) {
    unsetenv(c.variable);
    std::string problem;
    const auto compiler = RuntimeCompiler::load(c.backend, problem);
    if (compiler == nullptr) {
      MESSAGE("skipped: ", problem);
      continue;
    }
    std::vector<std::string> all = options;
    all.push_back(c.architecture);
    const DeviceCode code = compiler->compile(source, all, kernels);
    CHECK_MESSAGE(code.ok, compiler->identity(), ": ", code.log);
  }
}
