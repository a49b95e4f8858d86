// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A loader of Vulkan in front of the real one, for tests: what no driver does when it is asked to. Shaders
// carry the numbers that say so:
// 0x105edead in a shader's code: after it was made the device is lost at the next wait.
// 0x0c10cbad: after it was made timestamps run at a hundredth of their speed.
// KERNELSEARCH_VULKAN_FAULT=ticks: they always do. =memory: there is none.
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "evaluator/gpu/vulkan_api.hpp"

using namespace kernelsearch::detail::gpu::vulkan;

namespace {

Functions real;
bool lose = false, slow = false;

std::string_view fault() {
  const char* text = std::getenv("KERNELSEARCH_VULKAN_FAULT");
  return text != nullptr ? text : "";
}

Result create_shader(LogicalDevice device, const ShaderModuleCreateInfo* info, const void* allocator,
                     Handle* shader) {
  const std::uint32_t* const end = info->pCode + info->codeSize / 4;
  lose = lose || std::find(info->pCode, end, 0x105edeadu) != end;
  slow = slow || std::find(info->pCode, end, 0x0c10cbadu) != end;
  return real.CreateShaderModule(device, info, allocator, shader);
}

Result wait(LogicalDevice device, std::uint32_t count, const Handle* fences, std::uint32_t all,
            std::uint64_t limit) {
  const Result result = real.WaitForFences(device, count, fences, all, limit);
  return lose ? error_device_lost : result;
}

Result results(LogicalDevice device, Handle pool, std::uint32_t first, std::uint32_t count, std::size_t bytes,
               void* data, std::uint64_t stride, std::uint32_t flags) {
  const Result result = real.GetQueryPoolResults(device, pool, first, count, bytes, data, stride, flags);
  std::uint64_t ticks = 0;
  std::memcpy(&ticks, data, sizeof ticks);
  if (slow || fault() == "ticks") ticks /= 100;
  std::memcpy(data, &ticks, sizeof ticks);
  return result;
}

Result allocate(LogicalDevice device, const MemoryAllocateInfo* info, const void* allocator, Handle* memory) {
  if (fault() == "memory") return error_out_of_device_memory;
  return real.AllocateMemory(device, info, allocator, memory);
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

Function device_function(LogicalDevice device, const char* name) {
  const Function found = real.GetDeviceProcAddr(device, name);
  const std::string_view text = name;
  if (text == "vkCreateShaderModule") return keep(real.CreateShaderModule, found), as_function(create_shader);
  if (text == "vkWaitForFences") return keep(real.WaitForFences, found), as_function(wait);
  if (text == "vkGetQueryPoolResults") return keep(real.GetQueryPoolResults, found), as_function(results);
  if (text == "vkAllocateMemory") return keep(real.AllocateMemory, found), as_function(allocate);
  return found;
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
  if (std::string_view(name) != "vkGetDeviceProcAddr") return found;
  keep(real.GetDeviceProcAddr, found);
  return as_function(device_function);
}
