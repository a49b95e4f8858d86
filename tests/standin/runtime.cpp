// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fault_guard.hpp"

namespace kernelsearch_standin {
namespace {

std::string setting(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// Errors after which HIP's context is lost.
bool is_sticky(int status) {
  return status >= 700 && status < 720 && status != 701 && status != 712 && status != 713;
}

Runtime* the_runtime = nullptr;

struct Call {
  Runtime* runtime;
  Launch launch;
};

}  // namespace

std::recursive_mutex& one_at_a_time() {
  static auto* const mutex = new std::recursive_mutex;
  return *mutex;
}

Runtime& Runtime::instance() {
  if (the_runtime == nullptr)
    the_runtime = new Runtime;  // never destroyed: threads may call until the very end
  return *the_runtime;
}

void Runtime::reset() {
  delete the_runtime;
  the_runtime = nullptr;
}

Runtime::Runtime() {
  if (const std::string text = setting("KERNELSEARCH_STANDIN_DEVICES"); !text.empty())
    devices = std::atoi(text.c_str());
  if (setting("KERNELSEARCH_STANDIN_WARP") == "32") warp = 32;
  const std::string threads = setting("KERNELSEARCH_STANDIN_ORDER");
  if (threads == "reverse") order = Order::reverse;
  if (threads == "shuffle") order = Order::shuffled;
  fault_aborts = setting("KERNELSEARCH_STANDIN_FAULT") == "abort";
  const std::string bytes = setting("KERNELSEARCH_STANDIN_MEMORY");
  memory = std::make_unique<DeviceMemory>(
      bytes.empty() ? std::size_t{4} << 30
                    : static_cast<std::size_t>(std::strtoull(bytes.c_str(), nullptr, 10)));
  state.barrier = [](int value) { return Runtime::instance().runner.wait_at_barrier(value); };
  state.exchange = [](unsigned long long mask, int site, unsigned long long value) {
    return Runtime::instance().runner.exchange(mask, site, value);
  };
  state.fail = [](int status) { FaultGuard::fail(status); };
}

int Runtime::enter(const char* function) {
  const int planned = injection.count(function);
  if (sticky != 0) return sticky;
  if (is_sticky(planned)) sticky = planned;
  return planned;
}

int Runtime::launch(const KernelEntry& kernel, Index grid, Index block, unsigned dynamic_bytes,
                    void** parameters) {
  const auto threads = std::uint64_t{block.x} * block.y * block.z;
  // The order and the errors of ROCm 5 to 7.
  if (std::uint64_t{grid.x} * grid.y * grid.z == 0 || threads == 0) return invalid_value;
  if (kernel.static_shared + dynamic_bytes > shared_limit || threads > 1024) return invalid_value;
  if (threads > kernel.launch_bound) return launch_failure;
  // Nothing promises that shared memory begins as zeros.
  for (const KernelEntry::Range& range : kernel.shared) std::memset(range.begin, 0xFF, range.bytes);
  if (kernel.dynamic_shared != nullptr) std::memset(kernel.dynamic_shared, 0xFF, shared_limit);
  Call call{this, {kernel.call, parameters, grid, block, kernel.warp, order}};
  FaultGuard guard;
  const int status = guard.run(
      [](void* of) {
        const Call& c = *static_cast<const Call*>(of);
        c.runtime->runner.run(c.launch);
      },
      &call);
  if (status == illegal_address && fault_aborts) {
    std::fputs("Memory access fault by the stand-in of a GPU\n", stderr);
    std::abort();
  }
  // As on the device, where the launch is over before the kernel runs: the next call hears of it.
  if (status != 0) sticky = status;
  return success;
}

}  // namespace kernelsearch_standin
