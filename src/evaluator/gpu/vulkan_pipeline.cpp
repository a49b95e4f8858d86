// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// From an image of shaders to pipelines, within the limits of the device.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "evaluator/gpu/vulkan_context.hpp"

namespace kernelsearch::detail::gpu::vulkan_table {

Status Context::load(Module* module, const void* image) {
  const std::uint64_t bytes = image_bytes(image);
  auto shaders = bytes == 0
                     ? std::nullopt
                     : shaders_of({static_cast<const std::byte*>(image), static_cast<std::size_t>(bytes)});
  if (!shaders) return refused(invalid_image, "this is not an image of shaders");
  auto loaded = std::make_unique<ShaderModule>();
  loaded->shaders = *std::move(shaders);
  *module = loaded.release();
  return success;
}

void Context::unload(ShaderModule* module) {
  // What may still be running keeps what it uses: the process ends soon.
  const bool idle = wait() == success;
  for (const auto& pipeline : module->pipelines) {
    if (!idle) break;
    api.DestroyPipeline(device_, pipeline->pipeline, nullptr);
    api.DestroyPipelineLayout(device_, pipeline->layout, nullptr);
    api.DestroyDescriptorSetLayout(device_, pipeline->sets, nullptr);
    api.DestroyShaderModule(device_, pipeline->module, nullptr);
  }
  delete module;
}

/// Which limit of the device a shader is beyond, in words.
std::string Context::beyond_limits(const Shader& shader) const {
  const vk::PhysicalDeviceLimits& limits = properties_[static_cast<std::size_t>(device_number_)].limits;
  const auto more = [](const char* what, std::uint64_t has, std::uint64_t most, const char* limit) {
    return std::string(what) + " " + std::to_string(has) + ", this device takes " + std::to_string(most) +
           " (" + limit + ")";
  };
  std::uint64_t invocations = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    if (shader.local_size[i] > limits.maxComputeWorkGroupSize[i])
      return more("an extent of its work groups is", shader.local_size[i], limits.maxComputeWorkGroupSize[i],
                  "maxComputeWorkGroupSize");
    invocations *= shader.local_size[i];
  }
  if (invocations > limits.maxComputeWorkGroupInvocations)
    return more("invocations of a work group:", invocations, limits.maxComputeWorkGroupInvocations,
                "maxComputeWorkGroupInvocations");
  if (shader.shared_bytes > limits.maxComputeSharedMemorySize)
    return more("bytes of shared memory:", shader.shared_bytes, limits.maxComputeSharedMemorySize,
                "maxComputeSharedMemorySize");
  if (shader.push_bytes > limits.maxPushConstantsSize)
    return more("bytes of push constants:", shader.push_bytes, limits.maxPushConstantsSize,
                "maxPushConstantsSize");
  const std::uint32_t most_arrays =
      std::min(limits.maxPerStageDescriptorStorageBuffers, limits.maxDescriptorSetStorageBuffers);
  if (shader.arrays.size() > most_arrays)
    return more("storage buffers:", shader.arrays.size(), most_arrays, "maxPerStageDescriptorStorageBuffers");
  const SpirvNeeds &n = shader.needs, &h = has_;
  const struct {
    bool lacks;
    const char* feature;
  } features[] = {{n.float64 && !h.float64, "shaderFloat64"},
                  {n.float16 && !h.float16, "shaderFloat16"},
                  {n.int64 && !h.int64, "shaderInt64"},
                  {n.int16 && !h.int16, "shaderInt16"},
                  {n.int8 && !h.int8, "shaderInt8"},
                  {n.storage16 && !h.storage16, "storageBuffer16BitAccess"},
                  {n.storage8 && !h.storage8, "storageBuffer8BitAccess"}};
  for (const auto& [lacks, feature] : features)
    if (lacks) return std::string("this device has no ") + feature + ", which the shader needs";
  return {};
}

Status Context::function(Function* function, ShaderModule& module, const char* name) {
  const auto shader = std::find_if(module.shaders.begin(), module.shaders.end(),
                                   [&](const Shader& one) { return one.function == name; });
  if (shader == module.shaders.end())
    return refused(not_found, "the module has no shader " + std::string(name));
  if (std::string limit = beyond_limits(*shader); !limit.empty())
    return refused(launch_out_of_resources, std::move(limit));
  auto made = std::make_unique<Pipeline>();
  Pipeline& p = *made;
  p.shader = *shader;
  vk::ShaderModuleCreateInfo code;
  code.codeSize = p.shader.words.size() * 4;
  code.pCode = p.shader.words.data();
  vk::Result result = api.CreateShaderModule(device_, &code, nullptr, &p.module);
  if (result < 0) return failed(result, "making the shader");
  std::vector<vk::DescriptorSetLayoutBinding> bindings;
  for (const Shader::Array& array : p.shader.arrays) {
    vk::DescriptorSetLayoutBinding binding;
    binding.binding = array.binding;
    binding.descriptorType = vk::descriptor_storage_buffer;
    binding.descriptorCount = 1;
    binding.stageFlags = vk::stage_compute;
    bindings.push_back(binding);
  }
  vk::DescriptorSetLayoutCreateInfo sets;
  sets.bindingCount = static_cast<std::uint32_t>(bindings.size());
  sets.pBindings = bindings.data();
  result = api.CreateDescriptorSetLayout(device_, &sets, nullptr, &p.sets);
  vk::PushConstantRange push{vk::stage_compute, 0, p.shader.push_bytes};
  vk::PipelineLayoutCreateInfo layout;
  layout.setLayoutCount = 1;
  layout.pSetLayouts = &p.sets;
  layout.pushConstantRangeCount = p.shader.push_bytes != 0 ? 1 : 0;
  layout.pPushConstantRanges = &push;
  if (result >= 0) result = api.CreatePipelineLayout(device_, &layout, nullptr, &p.layout);
  std::vector<vk::SpecializationMapEntry> entries;
  std::vector<std::byte> values;
  for (const Shader::Constant& constant : p.shader.constants) {
    const std::size_t size = std::min<std::size_t>(constant.bytes, 8);
    entries.push_back({constant.id, static_cast<std::uint32_t>(values.size()), size});
    const auto* bits = reinterpret_cast<const std::byte*>(&constant.bits);
    values.insert(values.end(), bits, bits + size);
  }
  vk::SpecializationInfo specialisation;
  specialisation.mapEntryCount = static_cast<std::uint32_t>(entries.size());
  specialisation.pMapEntries = entries.data();
  specialisation.dataSize = values.size();
  specialisation.pData = values.data();
  vk::ComputePipelineCreateInfo info;
  info.stage.stage = vk::stage_compute;
  info.stage.module = p.module;
  info.stage.pName = p.shader.entry.c_str();
  if (!entries.empty()) info.stage.pSpecializationInfo = &specialisation;
  info.layout = p.layout;
  info.basePipelineIndex = -1;
  if (result >= 0) result = api.CreateComputePipelines(device_, 0, 1, &info, nullptr, &p.pipeline);
  if (result < 0) {
    if (p.layout != 0) api.DestroyPipelineLayout(device_, p.layout, nullptr);
    if (p.sets != 0) api.DestroyDescriptorSetLayout(device_, p.sets, nullptr);
    api.DestroyShaderModule(device_, p.module, nullptr);
    const Status status = failed(result, "making a pipeline of the shader");
    return status == unknown_error ? invalid_image : status;
  }
  *function = &p;
  module.pipelines.push_back(std::move(made));
  return success;
}

}  // namespace kernelsearch::detail::gpu::vulkan_table
