// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/gpu_device.hpp"

#include "evaluator/gpu/support.hpp"

using namespace gpu_test;

namespace {

// An H200 SXM as its driver describes it.
GpuDevice h200() {
  GpuDevice device;
  device.name = "NVIDIA H200";
  device.major = 9;
  device.driver = 13000;
  device.multiprocessors = 132;
  device.clock = 1980000;
  device.memory_clock = 3201000;
  device.bus_bits = 6016;
  return device;
}

}  // namespace

TEST_CASE("GpuDevice: peaks are what data sheets say, or above, since they are limits") {
  const GpuDevice device = h200();
  CHECK(device.peak_bandwidth() >= 4.8e12);
  CHECK(device.peak_bandwidth() <= 4.9e12);
  CHECK(device.peak_operations() >= 989e12);
  CHECK(device.peak_operations() <= 1.3 * 989e12);
  CHECK(GpuDevice{}.peak_bandwidth() == 0.0);
  CHECK(GpuDevice{}.peak_operations() == 0.0);
}

TEST_CASE("GpuDevice: equal identities are equal devices") {
  const GpuDevice device = h200();
  CHECK(device.id() == "NVIDIA H200 sm_90, driver 13000");
  GpuDevice other = device;
  other.bus = "0000:41:00.0";  // where it is plugged in does not matter
  other.ordinal = 3;
  other.memory_free = 5;
  CHECK(other.id() == device.id());
  other.driver = 12080;
  CHECK(other.id() != device.id());
  other = device;
  other.name = "NVIDIA H100";
  CHECK(other.id() != device.id());
}

TEST_CASE("gpu_ordinal: devices by number, or by platform and number within it") {
  const auto device = [](int ordinal, int platform, int number, const char* name) {
    GpuDevice one;
    one.backend = GpuBackend::opencl;
    one.ordinal = ordinal;
    one.platform = platform;
    one.number_in_platform = number;
    one.name = name;
    return one;
  };
  GpuStatus status;
  status.devices = {device(0, 0, 0, "a processor"), device(2, 1, 1, "the second GPU")};
  status.unusable = {{1, "it lacks cl_khr_fp64"}};
  CHECK(gpu_ordinal("0", status) == 0);
  CHECK(gpu_ordinal("7", {}) == 7);  // not looked up
  CHECK(gpu_ordinal("0:0", status) == 0);
  CHECK(gpu_ordinal("1:1", status) == 2);
  CHECK(names_platform("1:0"));
  CHECK(!names_platform("1"));
  const auto refused = [](std::string_view text, const GpuStatus& there) {
    try {
      (void)gpu_ordinal(text, there);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("not refused");
  };
  CHECK(refused("1:0", status) ==
        "kernelsearch: there is no such device: 1:0; there is: 0:0 is a processor, 1:1 is the second GPU, "
        "device 1 cannot "
        "be used: it lacks cl_khr_fp64");
  for (const char* text : {"", ":", "1:", ":1", "-1", "1:-1", "a", "1:0:0", "1 ", "0x1", "99999999999"}) {
    CAPTURE(std::string(text));
    CHECK(contains(refused(text, status), "this names no device"));
  }
  // Devices of other backends have no platforms.
  GpuStatus cuda;
  cuda.devices = {GpuDevice{}};
  CHECK(contains(refused("0:0", cuda), "there is no such device"));
  GpuStatus none;
  none.problem = "not a loader";
  CHECK(contains(refused("0:0", none), "not a loader"));
}

TEST_CASE("gpu_status: says what is there, and why not") {
  use_stand_ins();
  setenv("KERNELSEARCH_GPU_WORKER", KERNELSEARCH_GPU_WORKER_PROGRAM, 1);
  {
    const Setting two("DEVICES", "2");
    const GpuStatus status = gpu_status(GpuBackend::hip);
    REQUIRE(status.devices.size() == 2);
    CHECK(status.devices[1].ordinal == 1);
    CHECK(status.devices[0].name == "Stand-in of a GPU");
    CHECK(status.devices[0].bus != status.devices[1].bus);
    CHECK(status.devices[0].warp_size == 64);
    CHECK(status.devices[0].multiprocessors == 4);
    CHECK(status.devices[0].threads_per_block == 1024);
    CHECK(status.devices[0].shared_per_block == 65536);
    CHECK(status.devices[0].memory == std::uint64_t{4} << 30);
    CHECK(contains(status.compiler, "hipRTC"));
    CHECK(status.problem.empty());
    CHECK(status.compiler_problem.empty());
  }
  {
    const Setting none("DEVICES", "0");
    const GpuStatus status = gpu_status(GpuBackend::hip);
    CHECK(status.devices.empty());
    CHECK(contains(status.problem, "hip error (100)"));
  }
  {
    // A driver that ends the process ends it for each number: that is no reason to count on.
    setenv("KERNELSEARCH_GPU_WORKER", "/bin/true", 1);
    const GpuStatus status = gpu_status(GpuBackend::hip);
    CHECK(status.devices.empty());
    CHECK(!status.problem.empty());
    CHECK(status.unusable.size() == 2);
    setenv("KERNELSEARCH_GPU_WORKER", KERNELSEARCH_GPU_WORKER_PROGRAM, 1);
  }
  setenv("KERNELSEARCH_HIP_RUNTIME", "/nowhere/libamdhip64.so", 1);
  setenv("KERNELSEARCH_HIPRTC", KERNELSEARCH_STANDIN_HIP, 1);  // a library, but not that one
  const GpuStatus status = gpu_status(GpuBackend::hip);
  CHECK(status.devices.empty());
  CHECK(!status.problem.empty());
  CHECK(status.compiler.empty());
  CHECK(contains(status.compiler_problem, "lacks hiprtc"));
  use_stand_ins();
  unsetenv("KERNELSEARCH_GPU_WORKER");
}
