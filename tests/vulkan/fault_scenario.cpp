// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a worker does with the driver, from finding a device to giving everything back, once, in a process of
// its own: fault_scenario IMAGE, where IMAGE has the shader `twice` (x[i] = 2 x[i] of 64 words). Goes on
// where a call fails, as far as what was made allows it. Ends with 0: the result was right; 10: some call
// failed, with its text on the first line; 11: all calls went well and the result is wrong, or what failed
// and was asked for again is there without what it is for. The last line of the output says how many calls
// the loader had fail.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "evaluator/gpu/driver.hpp"

using namespace kernelsearch;
using namespace kernelsearch::detail::gpu;

namespace {

bool any_failed = false, is_wrong = false;

bool went_well(Driver& driver, Status status, const char* doing) {
  if (status == success) return true;
  if (!any_failed) std::printf("%s: %s\n", doing, driver.describe(status).c_str());
  any_failed = true;
  return false;
}

int fired() {
  const char* const path = std::getenv("KERNELSEARCH_VULKAN_LOADER");
  void* const library = path != nullptr ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : nullptr;
  void* const symbol = library != nullptr ? dlsym(library, "kernelsearch_faults_fired") : nullptr;
  return symbol != nullptr ? reinterpret_cast<int (*)()>(symbol)() : 0;
}

constexpr std::size_t count = 64, bytes = count * sizeof(std::uint32_t);
constexpr std::size_t large = std::size_t{70} << 20;  // more than the first buffer of the arena has

/// The part behind taking the device; true where the result is right.
bool run(Driver& d, const std::vector<char>& image) {
  const auto well = [&](Status status, const char* doing) { return went_well(d, status, doing); };
  Address x = 0, y = 0;
  const bool has_x = well(d.allocate(&x, bytes), "allocate"), has_y = well(d.allocate(&y, large), "allocate");
  std::vector<std::uint32_t> in(count), out(count);
  for (std::size_t i = 0; i < count; ++i) in[i] = static_cast<std::uint32_t>(3 * i + 1);
  if (has_x) (void)well(d.copy_in(x, in.data(), bytes), "copy_in");
  if (has_y) (void)well(d.set_bytes(y, 7, large, nullptr), "set_bytes");
  Module module = nullptr;
  Function function = nullptr;
  const bool has_module = well(d.module_load(&module, image.data()), "module_load");
  const bool has_function =
      has_module && well(d.module_function(&function, module, "twice"), "module_function");
  Event begin = nullptr, end = nullptr;
  const bool has_events =
      well(d.event_create(&begin, 0), "event_create") && well(d.event_create(&end, 0), "event_create");
  if (has_events) (void)well(d.event_record(begin, nullptr), "event_record");
  if (has_x && has_function) {
    LaunchShape shape;
    shape.grid[0] = 1;
    shape.block[0] = static_cast<unsigned>(count);
    const LaunchParameter parameters[] = {{LaunchParameter::Kind::array, &x, bytes}};
    (void)well(d.launch_kernel(function, shape, nullptr, parameters), "launch");
  }
  if (has_events) {
    (void)well(d.event_record(end, nullptr), "event_record");
    float milliseconds = -1;
    if (well(d.event_elapsed(&milliseconds, begin, end), "event_elapsed") && milliseconds < 0) return false;
  }
  if (has_x && has_y) (void)well(d.copy_within(y + 4096, x, bytes, nullptr), "copy_within");
  (void)well(d.synchronize(), "synchronize");
  if (has_y) (void)well(d.copy_out(out.data(), y + 4096, bytes), "copy_out");
  std::uint32_t around = 0;
  if (has_y) (void)well(d.copy_out(&around, y, sizeof around), "copy_out");
  if (has_module) (void)well(d.module_unload(module), "module_unload");
  if (has_x) (void)well(d.release(x), "release");
  if (has_y) (void)well(d.release(y), "release");
  for (std::size_t i = 0; i < count; ++i)
    if (out[i] != 2 * in[i]) return false;
  return around == 0x07070707;
}

bool all(const std::vector<char>& image) {
  std::string problem;
  const auto driver = load_driver(GpuBackend::vulkan, problem);
  if (!driver) {
    std::printf("load: %s\n", problem.c_str());
    any_failed = true;
    return false;
  }
  Driver& d = *driver;
  // As long as a call fails once only, asking again must give what the first call could not, or fail too.
  const bool again = !went_well(d, d.init(0), "init");
  if (again && d.init(0) != success) return false;
  int devices = 0;
  if (!went_well(d, d.device_count(&devices), "device_count")) return false;
  if (devices == 0 && again) {
    std::printf("asked again it has no device\n");
    is_wrong = true;
    return false;
  }
  if (devices == 0) {
    std::printf("there is no device\n");
    any_failed = true;
    return false;
  }
  int units = 0;
  (void)d.device_attribute(&units, d.numbers.multiprocessors, 0);
  char bus[64] = {};
  (void)d.device_pci(bus, sizeof bus - 1, 0);
  if (!went_well(d, d.device_use(0), "device_use") && d.device_use(0) != success) return false;
  return run(d, image);
}

}  // namespace

int main(int arguments, char** argument) {
  if (arguments != 2) return 2;
  std::ifstream file(argument[1], std::ios::binary);
  const std::vector<char> image((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (image.empty()) return 2;
  const bool right = all(image);
  std::printf("%d calls failed on demand\n", fired());
  std::fflush(stdout);
  std::_Exit(is_wrong ? 11 : any_failed ? 10 : right ? 0 : 11);
}
