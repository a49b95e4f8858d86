// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "evaluator/gpu/driver.hpp"
#include "evaluator/gpu/runtime_compiler.hpp"

using namespace kernelsearch;
using namespace kernelsearch::detail::gpu;

namespace {

struct StandIn {
  StandIn() {
    setenv("KERNELSEARCH_HIP_RUNTIME", KERNELSEARCH_STANDIN_HIP, 1);
    setenv("KERNELSEARCH_HIPRTC", KERNELSEARCH_STANDIN_HIPRTC, 1);
    std::string problem;
    driver = load_driver(GpuBackend::hip, problem);
    REQUIRE_MESSAGE(driver != nullptr, problem);
    compiler = RuntimeCompiler::load(GpuBackend::hip, problem);
    REQUIRE_MESSAGE(compiler != nullptr, problem);
    REQUIRE(driver->init(0) == success);
    REQUIRE(driver->device_use(0) == success);
  }
  std::unique_ptr<Driver> driver;
  std::unique_ptr<RuntimeCompiler> compiler;
};

}  // namespace

TEST_CASE("stand-in: first light") {
  StandIn standin;
  Driver& d = *standin.driver;
  const DeviceCode code = standin.compiler->compile(R"(
extern "C" __global__ void __launch_bounds__(256) reverse_sum(int n, const float* x, float* y) {
  extern __shared__ float tile[];
  __shared__ float sums[8];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  float v = tile[blockDim.x - 1 - threadIdx.x];
  for (int d = warpSize / 2; d > 0; d /= 2) v += __shfl_down(v, d);
  if (threadIdx.x % warpSize == 0) sums[threadIdx.x / warpSize] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    float total = 0;
    for (unsigned w = 0; w < blockDim.x / warpSize; ++w) total += sums[w];
    atomicAdd(y, total);
  }
}
template <int K> __global__ void fill(float* y) { y[threadIdx.x] = K; }
)",
                                                    {"--offload-arch=gfx90a"}, {"reverse_sum", "fill<3>"});
  REQUIRE_MESSAGE(code.ok, code.log);
  REQUIRE(code.lowered.size() == 2);
  Module module = nullptr;
  REQUIRE(d.module_load(&module, code.image.data()) == success);
  Function f = nullptr;
  REQUIRE(d.module_function(&f, module, code.lowered[0].c_str()) == success);
  std::vector<float> x(1000);
  std::iota(x.begin(), x.end(), 1.0f);
  Address xd = 0, yd = 0;
  REQUIRE(d.allocate(&xd, 4000) == success);
  REQUIRE(d.allocate(&yd, 4) == success);
  REQUIRE(d.copy_in(xd, x.data(), 4000) == success);
  REQUIRE(d.set_bytes(yd, 0, 4, nullptr) == success);
  int n = 1000;
  void* parameters[] = {&n, &xd, &yd};
  LaunchShape shape;
  shape.grid[0] = 4;
  shape.block[0] = 256;
  shape.shared_bytes = 1024;
  REQUIRE(d.launch_kernel(f, shape, nullptr, parameters) == success);
  REQUIRE(d.synchronize() == success);
  float y = 0;
  REQUIRE(d.copy_out(&y, yd, 4) == success);
  CHECK(y == 500500.0f);
}
