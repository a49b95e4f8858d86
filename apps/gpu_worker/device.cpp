// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "evaluator/gpu/service_source.hpp"

namespace kernelsearch::worker {
namespace {

constexpr std::uint64_t shareable = std::uint64_t{2}
                                    << 20;  // smaller allocations share their page with others

[[noreturn]] void fail(Status status, std::string text) {
  throw Failure{status, std::move(text)};
}

}  // namespace

Device::Device(GpuBackend backend, int ordinal) : ordinal_(ordinal) {
  std::string problem;
  driver_ = gpu::load_driver(backend, problem);
  if (!driver_) fail(gpu::no_device, problem);
  // What goes wrong before a device is looked at goes wrong for all of them.
  const auto check_driver = [&](Status status, const std::string& doing) {
    if (status != gpu::success) fail(gpu::no_device, doing + ": " + driver_->describe(status));
  };
  check_driver(driver_->init(0), "starting the driver");
  int count = 0;
  check_driver(driver_->device_count(&count), "counting devices");
  if (ordinal >= count)
    fail(count == 0 ? gpu::no_device : gpu::invalid_device,
         "device " + std::to_string(ordinal) + " of " + std::to_string(count) + " devices");
  try {
    hold(ordinal);
  } catch (const Failure& failure) {
    if (failure.status != gpu::no_device) throw;
    fail(gpu::device_unavailable, failure.text);
  }
}

void Device::hold(int ordinal) {
  check(driver_->device_get(&device_, ordinal), "finding the device");
  if (driver_->context_retain != nullptr) {
    void* context = nullptr;
    check(driver_->context_retain(&context, device_), "making a context");
    check(driver_->context_use(context), "using the context");
  } else if (driver_->device_use != nullptr) {
    check(driver_->device_use(device_), "using the device");
  }
  check(driver_->stream_create(&stream_, 0), "making a stream");
  const int processors = attribute(driver_->numbers.multiprocessors);
  grid_ = static_cast<unsigned>(std::max(1, processors)) * 8;
  check(driver_->allocate(&values_, most_values * sizeof(std::uint64_t)), "allocating results");
}

void Device::check(Status status, const char* doing) const {
  if (status != gpu::success) fail(status, std::string(doing) + ": " + driver_->describe(status));
}

int Device::attribute(int number) const {
  int value = 0;
  if (number >= 0 && driver_->device_attribute(&value, number, device_) != gpu::success) value = 0;
  return value;
}

gpu::DeviceFacts Device::facts() const {
  const gpu::AttributeNumbers& n = driver_->numbers;
  gpu::DeviceFacts f;
  f.multiprocessors = attribute(n.multiprocessors);
  f.warp_size = attribute(n.warp_size);
  f.clock = attribute(n.clock_khz);
  f.memory_clock = attribute(n.memory_clock_khz);
  f.bus_bits = attribute(n.bus_bits);
  f.l2 = attribute(n.l2_bytes);
  f.shared_per_block = attribute(n.shared_per_block);
  f.shared_per_block_optin = std::max(f.shared_per_block, attribute(n.shared_per_block_optin));
  f.shared_per_multiprocessor = attribute(n.shared_per_multiprocessor);
  f.registers_per_multiprocessor = attribute(n.registers_per_multiprocessor);
  f.threads_per_multiprocessor = attribute(n.threads_per_multiprocessor);
  f.threads_per_block = attribute(n.threads_per_block);
  f.major = attribute(n.major);
  f.minor = attribute(n.minor);
  f.ordinal = ordinal_;
  f.on_host = attribute(n.on_host);
  if (n.platform >= 0) {
    f.platform = attribute(n.platform);
    f.number_in_platform = attribute(n.number_in_platform);
  }
  (void)driver_->driver_version(&f.driver);
  std::size_t free = 0, total = 0;
  if (driver_->memory_info(&free, &total) == gpu::success) {
    f.memory = total;
    f.memory_free = free;
  }
  return f;
}

std::string Device::name() const {
  char text[256] = {};
  (void)driver_->device_name(text, sizeof text - 1, device_);
  return text;
}

std::string Device::bus() const {
  char text[64] = {};
  if (driver_->device_pci != nullptr) (void)driver_->device_pci(text, sizeof text - 1, device_);
  return text;
}

void Device::share(int descriptor) {
  struct stat info {};
  if (fstat(descriptor, &info) != 0 || info.st_size <= 0) return;
  shared_bytes_ = static_cast<std::uint64_t>(info.st_size);
  void* at = mmap(nullptr, shared_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (at == MAP_FAILED) fail(gpu::out_of_memory, "the shared memory cannot be mapped");
  shared_ = static_cast<std::byte*>(at);
  // Pinned where the system allows: copies then run at the bus's speed.
  (void)driver_->pin(shared_, shared_bytes_, 0);
}

const Device::Buffer& Device::buffer(gpu::BufferId id) const {
  const auto found = buffers_.find(id);
  if (found == buffers_.end())
    fail(gpu::invalid_value, "there is no buffer " + std::to_string(gpu::number(id)));
  return found->second;
}

const Device::Loaded& Device::module(gpu::ModuleId id) const {
  const auto found = modules_.find(id);
  if (found == modules_.end())
    fail(gpu::invalid_value, "there is no module " + std::to_string(gpu::number(id)));
  return found->second;
}

std::vector<gpu::FunctionFacts> Device::load(gpu::ModuleId id, const std::vector<std::byte>& image,
                                             const std::vector<std::string>& functions) {
  unload(id);
  Loaded loaded;
  check(driver_->module_load(&loaded.module, image.data()), "loading the module");
  std::vector<gpu::FunctionFacts> facts;
  const gpu::AttributeNumbers& n = driver_->numbers;
  for (const std::string& name : functions) {
    gpu::Function function = nullptr;
    if (const Status status = driver_->module_function(&function, loaded.module, name.c_str()); status != 0) {
      (void)driver_->module_unload(loaded.module);
      fail(status, "the module has no kernel " + name + ": " + driver_->describe(status));
    }
    loaded.functions.push_back(function);
    gpu::FunctionFacts f;
    for (const auto& [number, fact] :
         {std::pair(n.function_threads, &f.threads), std::pair(n.function_shared, &f.shared),
          std::pair(n.function_constant, &f.constant), std::pair(n.function_local, &f.local),
          std::pair(n.function_registers, &f.registers), std::pair(n.function_multiple, &f.multiple)})
      if (number >= 0) (void)driver_->function_attribute(fact, number, function);
    facts.push_back(f);
  }
  modules_[id] = std::move(loaded);
  return facts;
}

void Device::load_library(gpu::ModuleId id, const std::vector<std::byte>& object) {
  const int file = memfd_create("kernelsearch_candidate", MFD_CLOEXEC);
  for (std::size_t done = 0; done < object.size();) {
    const ssize_t written = file < 0 ? -1 : write(file, object.data() + done, object.size() - done);
    if (written <= 0) fail(gpu::out_of_memory, "there is no room for the library");
    done += static_cast<std::size_t>(written);
  }
  // The file stays open as the library stays loaded: another one never gets its name.
  void* library = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fail(gpu::invalid_image, std::string("loading the library: ") + dlerror());
  Loaded loaded;
  void* symbol = dlsym(library, "kernelsearch_entry");
  if (symbol == nullptr) fail(gpu::not_found, "the library has no kernelsearch_entry");
  std::memcpy(&loaded.entry, &symbol, sizeof symbol);
  symbol = dlsym(library, "kernelsearch_status_text");
  std::memcpy(&loaded.status_text, &symbol, sizeof symbol);
  modules_[id] = std::move(loaded);
}

void Device::enter(const Loaded& library, void* const* parameters) const {
  if (library.entry == nullptr) fail(gpu::invalid_value, "the module has no launch function");
  const int status = library.entry(parameters, stream_);
  if (status == gpu::success) return;
  if (status == gpu::not_launched) fail(status, "its launch function says that it cannot launch this");
  const char* text = library.status_text != nullptr ? library.status_text(status) : nullptr;
  fail(status, "its launch function: error " + std::to_string(status) + (text != nullptr ? ", " : "") +
                   (text != nullptr ? text : ""));
}

void Device::unload(gpu::ModuleId id) {
  const auto found = modules_.find(id);
  if (found == modules_.end()) return;
  if (found->second.module != nullptr) (void)driver_->module_unload(found->second.module);
  // Lines that it had persist would take room from what runs next, which may be in another process.
  if (driver_->reset_persisting != nullptr) (void)driver_->reset_persisting();
  modules_.erase(found);
}

std::vector<std::int32_t> Device::define(gpu::ProgramId id, gpu::ProgramPlan plan) {
  std::vector<std::int32_t> blocks;
  for (const gpu::Step& step : plan.steps) {
    const auto* launch = std::get_if<gpu::LaunchKernel>(&step);
    if (launch == nullptr) continue;
    const gpu::LaunchShape& shape = launch->shape;
    const Loaded& loaded = module(launch->module);
    if (launch->function >= loaded.functions.size()) fail(gpu::invalid_value, "there is no such function");
    const gpu::Function function = loaded.functions[launch->function];
    int fixed = 0;  // more than 48 KiB in all must be asked for
    (void)driver_->function_attribute(&fixed, driver_->numbers.function_shared, function);
    if (static_cast<std::uint64_t>(fixed) + shape.shared_bytes > 48 * 1024 &&
        driver_->function_set != nullptr)
      check(driver_->function_set(function, driver_->numbers.function_max_dynamic,
                                  static_cast<int>(shape.shared_bytes)),
            "asking for its dynamic shared memory");
    if (shape.cluster[0] * shape.cluster[1] * shape.cluster[2] > 8 && driver_->function_set != nullptr)
      (void)driver_->function_set(function, 14, 1);  // CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
    const unsigned* b = shape.block;
    int fit = 0;
    if (driver_->occupancy != nullptr)
      (void)driver_->occupancy(&fit, function, static_cast<int>(b[0] * b[1] * b[2]), shape.shared_bytes);
    blocks.push_back(fit);
  }
  programs_[id] = std::move(plan);
  return blocks;
}

void Device::allocate(const std::vector<gpu::AllocateBuffers::Buffer>& buffers) {
  std::vector<gpu::BufferId> replaced;
  for (const auto& [id, bytes] : buffers) replaced.push_back(id);
  release(replaced);
  for (const auto& [id, bytes] : buffers) {
    Buffer b;
    b.bytes = bytes;
    std::uint64_t padded = (bytes + 511) / 512 * 512 + 2 * guard_;
    if (padded >= shareable) padded = (padded + shareable - 1) / shareable * shareable;
    if (guard_ == 0) padded = std::max<std::uint64_t>(bytes, 1);
    check(driver_->allocate(&b.base, padded), "allocating a buffer");
    b.data = b.base + guard_;
    buffers_[id] = b;
  }
}

void Device::release(const std::vector<gpu::BufferId>& buffers) {
  for (const gpu::BufferId id : buffers) {
    const auto found = buffers_.find(id);
    if (found == buffers_.end()) continue;
    (void)(found->second.borrowed ? driver_->close_memory(found->second.base)
                                  : driver_->release(found->second.base));
    buffers_.erase(found);
  }
}

gpu::MemoryHandle Device::lend(gpu::BufferId id) const {
  const Buffer& b = buffer(id);
  if (driver_->share_memory == nullptr || driver_->open_memory == nullptr || b.bytes < shareable)
    fail(gpu::unsupported, "this buffer cannot be shared with another process");
  gpu::MemoryHandle handle{};
  check(driver_->share_memory(&handle, b.base), "sharing a buffer");
  return handle;
}

void Device::borrow(gpu::BufferId id, std::uint64_t bytes, const gpu::MemoryHandle& handle) {
  release({id});
  if (driver_->open_memory == nullptr) fail(gpu::unsupported, "memory of other processes cannot be opened");
  Buffer b;
  b.bytes = bytes;
  b.borrowed = true;
  check(driver_->open_memory(&b.base, handle, 1), "opening a buffer of another process");
  b.data = b.base + guard_;
  buffers_[id] = b;
}

}  // namespace kernelsearch::worker
