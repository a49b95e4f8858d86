// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The table of driver functions for Vulkan. What they do is in vulkan_context.hpp, and its bodies by subject:
// vulkan_devices.cpp, vulkan_device.cpp, vulkan_memory.cpp, vulkan_commands.cpp, vulkan_timestamps.cpp,
// vulkan_pipeline.cpp, vulkan_launch.cpp.
#include "evaluator/gpu/vulkan_driver.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>

#include "evaluator/gpu/library.hpp"
#include "evaluator/gpu/vulkan_context.hpp"

namespace kernelsearch::detail::gpu {
namespace vulkan_table {
namespace {

enum FunctionAttribute : int { function_invocations = 1, function_shared_bytes };

/// The process has one: the functions of the table have no place for it.
Context* context = nullptr;

// The table.

Status init(unsigned) {
  return context->start();
}
Status driver_version(int* version) {
  const auto* properties = context->properties(0);
  *version = properties == nullptr ? 0 : static_cast<int>(properties->driverVersion);
  return success;
}
Status device_count(int* count) {
  *count = context->devices();
  return success;
}
Status device_get(int* device, int ordinal) {
  *device = ordinal;
  return context->properties(ordinal) != nullptr ? success : no_device;
}
Status device_name(char* text, int size, int device) {
  const auto* properties = context->properties(device);
  if (properties == nullptr || size < 1) return no_device;
  std::snprintf(text, static_cast<std::size_t>(size), "%.*s", 255, properties->deviceName);
  return success;
}
Status device_attribute(int* value, int number, int device) {
  return context->attribute(value, number, device);
}
Status device_pci(char* text, int size, int device) {
  return context->pci(text, size, device);
}
Status device_memory(std::size_t* bytes, int device) {
  *bytes = context->memory_of(device);
  return success;
}
Status device_use(int device) {
  return context->use(device);
}
Status synchronize() {
  return context->wait();
}
Status memory_info(std::size_t* free, std::size_t* total) {
  return context->memory_info(free, total);
}
Status allocate(Address* address, std::size_t bytes) {
  return context->allocate(address, bytes);
}
Status release(Address address) {
  return context->release(address);
}
Status copy_in(Address to, const void* from, std::size_t bytes) {
  return context->copy_in(to, from, bytes);
}
Status copy_out(void* to, Address from, std::size_t bytes) {
  return context->copy_out(to, from, bytes);
}
Status copy_within(Address to, Address from, std::size_t bytes, Stream) {
  return context->copy_within(to, from, bytes);
}
Status set_bytes(Address to, unsigned char value, std::size_t bytes, Stream) {
  return context->set_bytes(to, value, bytes);
}
// Copies go through staging memory, so that nothing of the caller's is pinned.
Status pin(void*, std::size_t, unsigned) {
  return success;
}
Status unpin(void*) {
  return success;
}
Status stream_create(Stream* stream, unsigned) {
  *stream = context;
  return success;
}
Status stream_synchronize(Stream) {
  return context->wait();
}
Status event_create(Event* event, unsigned) {
  return context->event_create(event);
}
Status event_destroy(Event) {
  return success;
}
Status event_record(Event event, Stream) {
  return context->event_record(event);
}
Status event_elapsed(float* milliseconds, Event begin, Event end) {
  return context->event_elapsed(milliseconds, begin, end);
}
Status module_load(Module* module, const void* image) {
  return context->load(module, image);
}
Status module_unload(Module module) {
  context->unload(static_cast<ShaderModule*>(module));
  return success;
}
Status module_function(Function* function, Module module, const char* name) {
  return context->function(function, *static_cast<ShaderModule*>(module), name);
}
Status module_global(Address*, std::size_t*, Module, const char*) {
  context->text = "shaders have no symbols";
  return unsupported;
}
Status function_attribute(int* value, int number, Function function) {
  const Shader& shader = static_cast<Pipeline*>(function)->shader;
  if (number == function_invocations) {
    *value = static_cast<int>(shader.local_size[0] * shader.local_size[1] * shader.local_size[2]);
    return success;
  }
  if (number != function_shared_bytes) return unsupported;
  *value = static_cast<int>(shader.shared_bytes);
  return success;
}
Status launch(Function function, const LaunchShape& shape, std::span<const LaunchParameter> parameters,
              Stream) {
  return context->launch(*static_cast<Pipeline*>(function), shape, parameters);
}
Status error_text(Status, const char** text) {
  *text = context->text.empty() ? nullptr : context->text.c_str();
  return success;
}

std::unique_ptr<Driver> load_table(std::string& problem) {
  Library library = Library::open({std::getenv("KERNELSEARCH_VULKAN_LOADER"), "libvulkan.so.1"}, problem);
  if (!library) return nullptr;
  // It stays for good, as what it holds may be in use until the process ends.
  static Context* const held = new Context;
  context = held;
  if (!library.find("vkGetInstanceProcAddr", context->api.GetInstanceProcAddr)) {
    problem = library.path() + " lacks vkGetInstanceProcAddr: it is not a loader of Vulkan";
    return nullptr;
  }
  auto driver = std::make_unique<Driver>();
  Driver& d = *driver;
  d.backend = GpuBackend::vulkan;
  d.library = library.path();
  d.init = init;
  d.driver_version = driver_version;
  d.device_count = device_count;
  d.device_get = device_get;
  d.device_name = device_name;
  d.device_attribute = device_attribute;
  d.device_pci = device_pci;
  d.device_memory = device_memory;
  d.device_use = device_use;
  d.synchronize = synchronize;
  d.memory_info = memory_info;
  d.allocate = allocate;
  d.release = release;
  d.copy_in = copy_in;
  d.copy_out = copy_out;
  d.copy_within = copy_within;
  d.set_bytes = set_bytes;
  d.pin = pin;
  d.unpin = unpin;
  d.stream_create = stream_create;
  d.stream_synchronize = stream_synchronize;
  d.event_create = event_create;
  d.event_destroy = event_destroy;
  d.event_record = event_record;
  d.event_elapsed = event_elapsed;
  d.module_load = module_load;
  d.module_unload = module_unload;
  d.module_function = module_function;
  d.module_global = module_global;
  d.function_attribute = function_attribute;
  d.launch_parameters = launch;
  d.checks_clock = true;
  d.error_text = error_text;
  AttributeNumbers& n = d.numbers;
  n = {vulkan_multiprocessors,
       vulkan_subgroup_size,
       -1,
       -1,
       -1,
       vulkan_cache_bytes,
       vulkan_shared_bytes,
       vulkan_shared_bytes,
       -1,
       -1,
       -1,
       vulkan_group_invocations,
       vulkan_major,
       vulkan_minor,
       -1,
       function_invocations,
       function_shared_bytes,
       -1,
       -1,
       -1,
       -1};
  library.keep();
  return driver;
}

}  // namespace
}  // namespace vulkan_table

std::unique_ptr<Driver> load_vulkan_driver(std::string& problem) {
  return vulkan_table::load_table(problem);
}

}  // namespace kernelsearch::detail::gpu
