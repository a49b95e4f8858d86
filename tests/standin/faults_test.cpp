// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sys/wait.h>
#include <unistd.h>

#include "standin/support.hpp"

using namespace standin_test;

namespace {

const char* const faulty = R"(
extern "C" __global__ void write(int* out, int at) { __syncthreads(); if (threadIdx.x == 5) out[at] = 1; }
extern "C" __global__ void check(int n) { __syncthreads(); assert(n > 0); }
extern "C" __global__ void stop(int n) { if (n == 0) __builtin_trap(); }
extern "C" __global__ void divide(int* out, int n) { out[0] = 7 / n; }
__device__ int deep(int n) { volatile int x[100]; x[n % 100] = n; return n <= 0 ? 0 : deep(n - 1) + x[n % 100]; }
extern "C" __global__ void recurse(int* out, int n) { out[0] = deep(n); }
)";

struct FaultCase {
  StandIn standin;
  std::vector<Function> f = standin.kernels(faulty, {"write", "check", "stop", "divide", "recurse"});
  Address out = standin.upload(std::vector<int>(64));
};

/// Every call now gives `status`, also those that came before would have succeeded.
void check_lost(FaultCase& fault, Status status) {
  Driver& d = *fault.standin.driver;
  CHECK(is_sticky(status));
  CHECK(d.synchronize() == status);
  Address a = 0;
  CHECK(d.allocate(&a, 4) == status);
  int host = 0;
  CHECK(d.copy_out(&host, fault.out, 4) == status);
  CHECK(fault.standin.launch(fault.f[1], 1, 1, 0, 1) == status);
}

}  // namespace

TEST_CASE("stand-in: memory that is not the kernel's is a sticky error 700") {
  for (const int at : {64, 64 + 1024, -1 - 1024, 1 << 30}) {
    CAPTURE(at);
    FaultCase fault;
    CHECK(fault.standin.launch(fault.f[0], 1, 64, 0, fault.out, 63) == success);
    CHECK(fault.standin.driver->synchronize() == success);
    // The launch itself succeeds, as it is over before the kernel runs.
    CHECK(fault.standin.launch(fault.f[0], 1, 64, 0, fault.out, at) == success);
    check_lost(fault, illegal_address);
  }
  FaultCase fault;
  CHECK(fault.standin.launch(fault.f[0], 1, 64, 0, Address{0}, 0) == success);
  check_lost(fault, illegal_address);
}

TEST_CASE("stand-in: asserts, traps and endless recursion") {
  {
    FaultCase fault;
    CHECK(fault.standin.launch(fault.f[1], 2, 64, 0, 1) == success);
    CHECK(fault.standin.driver->synchronize() == success);
    CHECK(fault.standin.launch(fault.f[1], 2, 64, 0, 0) == success);
    check_lost(fault, device_assert);
  }
  {
    FaultCase fault;
    CHECK(fault.standin.launch(fault.f[2], 1, 64, 0, 0) == success);
    check_lost(fault, launch_failed);
  }
  {
    FaultCase fault;
    CHECK(fault.standin.launch(fault.f[3], 1, 1, 0, fault.out, 0) == success);
    check_lost(fault, launch_failed);
  }
  FaultCase fault;
  CHECK(fault.standin.launch(fault.f[4], 1, 1, 0, fault.out, 10) == success);
  CHECK(fault.standin.download<int>(fault.out, 1)[0] == 55);
  CHECK(fault.standin.launch(fault.f[4], 1, 1, 0, fault.out, 1000000) == success);
  check_lost(fault, illegal_address);
}

TEST_CASE("stand-in: a fault ends the process where ROCm would") {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    (void)close(2);
    StandIn standin({{"FAULT", "abort"}});
    const auto f = standin.kernels(faulty, {"write"});
    (void)standin.launch(f[0], 1, 64, 0, Address{0}, 0);
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
}
