// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A loader of Vulkan in front of the real one, for tests: what no driver does when it is asked to. Shaders
// carry the numbers that say so:
// 0x105edead in a shader's code: after it was made the device is lost at the next wait.
// 0x0c10cbad: after it was made timestamps run at a hundredth of their speed.
// KERNELSEARCH_VULKAN_FAULT=ticks: they always do. =memory: there is none. =missing:vkX: that function is not
// there. =vkX:ERROR:N: the N-th call of that function gives the error, a number, or never returns: `hang`;
// with a + behind N, later ones too. =marked:vkX:ERROR:N: those calls count that follow the making of a
// shader with 0x00fa17ed in its code.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "evaluator/gpu/vulkan_api.hpp"

using namespace kernelsearch::detail::gpu::vulkan;

namespace {

Functions real;
bool lose = false, slow = false, marked = false;
int fired = 0;

std::string_view fault() {
  const char* text = std::getenv("KERNELSEARCH_VULKAN_FAULT");
  return text != nullptr ? text : "";
}

/// The error that a function is to give now; 0: none.
Result injected(std::string_view name) {
  static long calls = 0;
  std::string_view text = fault();
  if (text.starts_with("marked:")) {
    if (!marked) return 0;
    text.remove_prefix(7);
  }
  if (!text.starts_with(name) || text.substr(name.size(), 1) != ":") return 0;
  const std::string rest(text.substr(name.size() + 1));
  const long which = std::atol(rest.c_str() + rest.find(':') + 1);
  ++calls;
  if (calls != which && !(calls > which && rest.ends_with('+'))) return 0;
  ++fired;
  while (rest.starts_with("hang")) pause();
  return std::atoi(rest.c_str());
}

template <class F>
Function as_function(F* function) {
  Function out = nullptr;
  std::memcpy(&out, &function, sizeof out);
  return out;
}

template <class F>
void keep(F*& place, Function function) {
  std::memcpy(&place, &function, sizeof function);
}

/// A function of the real loader behind one that may fail first.
template <class Name, class F>
struct Failing;
template <class Name, class R, class... Parameters>
struct Failing<Name, R(Parameters...)> {
  static inline R (*real)(Parameters...) = nullptr;
  static R call(Parameters... parameters) {
    if constexpr (std::is_same_v<R, Result>)
      if (const Result error = injected(Name::text); error != 0) return error;
    return real(parameters...);
  }
  static Function in_front_of(Function found) {
    if (found == nullptr) return nullptr;
    keep(real, found);
    return as_function(call);
  }
};
#define KERNELSEARCH_NAME(result, name, parameters)                       \
  struct name##Name {                                                     \
    [[maybe_unused]] static constexpr std::string_view text = "vk" #name; \
  };                                                                      \
  using Failing##name = Failing<name##Name, result parameters>;
KERNELSEARCH_VULKAN_INSTANCE_FUNCTIONS(KERNELSEARCH_NAME)
KERNELSEARCH_VULKAN_DEVICE_FUNCTIONS(KERNELSEARCH_NAME)
KERNELSEARCH_NAME(Result, CreateInstance, (const InstanceCreateInfo*, const void*, Instance*))
#undef KERNELSEARCH_NAME

Result create_shader(LogicalDevice device, const ShaderModuleCreateInfo* info, const void* allocator,
                     Handle* shader) {
  const std::uint32_t* const end = info->pCode + info->codeSize / 4;
  const auto has = [&](std::uint32_t mark) { return std::find(info->pCode, end, mark) != end; };
  lose = lose || has(0x105edeadu);
  slow = slow || has(0x0c10cbadu);
  const Result result = FailingCreateShaderModule::call(device, info, allocator, shader);
  marked = marked || has(0x00fa17edu);
  return result;
}

Result wait(LogicalDevice device, std::uint32_t count, const Handle* fences, std::uint32_t all,
            std::uint64_t limit) {
  const Result result = FailingWaitForFences::call(device, count, fences, all, limit);
  return lose ? error_device_lost : result;
}

Result results(LogicalDevice device, Handle pool, std::uint32_t first, std::uint32_t count, std::size_t bytes,
               void* data, std::uint64_t stride, std::uint32_t flags) {
  const Result result =
      FailingGetQueryPoolResults::call(device, pool, first, count, bytes, data, stride, flags);
  std::uint64_t ticks = 0;
  std::memcpy(&ticks, data, sizeof ticks);
  if (slow || fault() == "ticks") ticks /= 100;
  std::memcpy(data, &ticks, sizeof ticks);
  return result;
}

Result allocate(LogicalDevice device, const MemoryAllocateInfo* info, const void* allocator, Handle* memory) {
  if (fault() == "memory") return error_out_of_device_memory;
  return FailingAllocateMemory::call(device, info, allocator, memory);
}

/// What is given for a function that the real loader has.
Function in_front_of(std::string_view name, Function found) {
  if (fault() == "missing:" + std::string(name)) {
    ++fired;
    return nullptr;
  }
#define KERNELSEARCH_WRAP(result, function, parameters) \
  if (name == "vk" #function) found = Failing##function::in_front_of(found);
  KERNELSEARCH_VULKAN_DEVICE_FUNCTIONS(KERNELSEARCH_WRAP)
  KERNELSEARCH_WRAP(Result, EnumeratePhysicalDevices, )
  KERNELSEARCH_WRAP(Result, EnumerateDeviceExtensionProperties, )
  KERNELSEARCH_WRAP(Result, CreateDevice, )
  KERNELSEARCH_WRAP(Result, CreateInstance, )
#undef KERNELSEARCH_WRAP
  if (name == "vkCreateShaderModule") return as_function(create_shader);
  if (name == "vkWaitForFences") return as_function(wait);
  if (name == "vkGetQueryPoolResults") return as_function(results);
  if (name == "vkAllocateMemory") return as_function(allocate);
  return found;
}

Function device_function(LogicalDevice device, const char* name) {
  return in_front_of(name, real.GetDeviceProcAddr(device, name));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) Function vkGetInstanceProcAddr(Instance instance,
                                                                                 const char* name) {
  if (real.GetInstanceProcAddr == nullptr) {
    void* const library = dlopen("libvulkan.so.1", RTLD_NOW);
    void* const symbol = library != nullptr ? dlsym(library, "vkGetInstanceProcAddr") : nullptr;
    if (symbol == nullptr) return nullptr;
    std::memcpy(&real.GetInstanceProcAddr, &symbol, sizeof symbol);
  }
  const Function found = real.GetInstanceProcAddr(instance, name);
  if (std::string_view(name) != "vkGetDeviceProcAddr") return in_front_of(name, found);
  if (in_front_of(name, found) == nullptr) return nullptr;
  keep(real.GetDeviceProcAddr, found);
  return as_function(device_function);
}

/// How many calls failed on demand in this process.
extern "C" __attribute__((visibility("default"))) int kernelsearch_faults_fired() {
  return fired;
}
