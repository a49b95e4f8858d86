// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "standin/support.hpp"

using namespace standin_test;

namespace {
const std::string good = "extern \"C\" __global__ void f(int* out) { out[0] = 1; }\n";

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}
}  // namespace

TEST_CASE("stand-in: what does not compile says where") {
  StandIn standin;
  const DeviceCode code = standin.compiler->compile(good + "\nint x = undeclared;\n", {}, {"f"});
  CHECK_FALSE(code.ok);
  CHECK(code.image.empty());
  CHECK_MESSAGE(contains(code.log, "kernel:3:9: error: 'undeclared'"), code.log);
  const DeviceCode missing = standin.compiler->compile(good, {}, {"g"});
  CHECK_FALSE(missing.ok);
  CHECK_MESSAGE(contains(missing.log, "'g'"), missing.log);
}

TEST_CASE("stand-in: options") {
  StandIn standin;
  RuntimeCompiler& compiler = *standin.compiler;
  CHECK(compiler.identity() == "hipRTC 0.64");
  CHECK(compiler
            .compile(good,
                     {"--offload-arch=gfx942", "-std=c++17", "-O3", "-ffast-math", "-mllvm", "-x",
                      "-munsafe-fp-atomics", "-DA=1", "-I/tmp", "-Wno-unused"},
                     {"f"})
            .ok);
  const DeviceCode unknown = compiler.compile(good, {"--unheard-of"}, {"f"});
  CHECK_FALSE(unknown.ok);
  CHECK_MESSAGE(contains(unknown.log, "unknown argument: '--unheard-of'"), unknown.log);
  CHECK(compiler.compile("#if A != 3\n#error\n#endif\n" + good, {"-DA=3"}, {"f"}).ok);
  CHECK_FALSE(compiler.compile("#if A != 3\n#error\n#endif\n" + good, {"-D", "A=4"}, {"f"}).ok);
}

TEST_CASE("stand-in: fast mathematics does not change how this process rounds") {
  StandIn standin;
  (void)standin.kernels(good, {"f"}, {"-ffast-math"});
  volatile float smallest = 1e-45f;
  CHECK(smallest * 1.0f > 0.0f);
}

TEST_CASE("stand-in: too much shared memory is an error of the compiler") {
  StandIn standin;
  const auto source = [](const char* size) {
    return std::string("extern \"C\" __global__ void f(float* out) { __shared__ float tile[") + size +
           "]; tile[threadIdx.x] = out[0]; __syncthreads(); out[1] = tile[0]; }";
  };
  CHECK(standin.compiler->compile(source("16384"), {}, {"f"}).ok);
  const DeviceCode code = standin.compiler->compile(source("16385"), {}, {"f"});
  CHECK_FALSE(code.ok);
  CHECK_MESSAGE(contains(code.log, "local memory (65540) exceeds limit (65536)"), code.log);
}

TEST_CASE("stand-in: a compiler that is not there") {
  StandIn standin({{"CXX", "no-such-compiler"}});
  const DeviceCode code = standin.compiler->compile(good, {}, {"f"});
  CHECK_FALSE(code.ok);
  CHECK_MESSAGE(contains(code.log, "no-such-compiler: No such file"), code.log);
}

TEST_CASE("stand-in: clang compiles kernels too") {
  if (std::system("clang++ --version > /dev/null 2>&1") != 0) {
    MESSAGE("skipped: no clang++");
    return;
  }
  StandIn standin({{"CXX", "clang++"}});
  const auto f = standin.kernels(
      "extern \"C\" __global__ void __launch_bounds__(64) f(int* out) { extern __shared__ int s[]; "
      "s[threadIdx.x] = __shfl_xor(int(threadIdx.x), 1); __syncthreads(); out[threadIdx.x] = s[threadIdx.x]; "
      "}",
      {"f"});
  const Address out = standin.upload(std::vector<int>(2));
  REQUIRE(standin.launch(f[0], 1, 2, 8, out) == success);
  CHECK(standin.download<int>(out, 2) == std::vector<int>{1, 0});
}
