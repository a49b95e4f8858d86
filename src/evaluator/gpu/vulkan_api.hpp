// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

/// The part of Vulkan 1.1 that compute needs, as the specification has it (types without the prefix Vk,
/// enumerations and flags as numbers), so that the build needs no package of Vulkan. A test compares sizes
/// and offsets with the registry's own header where that is installed.
namespace kernelsearch::detail::gpu::vulkan {

using Result = std::int32_t;  ///< VkResult: 0 is success, errors are negative
using Handle = std::uint64_t;
using Instance = void*;
using PhysicalDevice = void*;
using LogicalDevice = void*;
using Queue = void*;
using CommandBuffer = void*;
using Function = void (*)();

enum : Result {
  result_success = 0,
  result_not_ready = 1,
  result_timeout = 2,
  error_out_of_host_memory = -1,
  error_out_of_device_memory = -2,
  error_initialization_failed = -3,
  error_device_lost = -4,
  error_incompatible_driver = -9,
};

constexpr std::uint32_t version_1_1 = (1u << 22) | (1u << 12);
constexpr std::uint32_t queue_graphics = 1, queue_compute = 2;
constexpr std::uint32_t device_type_cpu = 4;
constexpr std::uint32_t memory_device_local = 1, memory_host_visible = 2, memory_host_coherent = 4,
                        memory_host_cached = 8;
constexpr std::uint32_t usage_transfer_from = 1, usage_transfer_to = 2, usage_storage = 0x20;
constexpr std::uint32_t descriptor_storage_buffer = 7;
constexpr std::uint32_t stage_compute = 0x20;  ///< VK_SHADER_STAGE_COMPUTE_BIT
constexpr std::uint32_t pipeline_bottom = 0x2000, pipeline_all_commands = 0x10000;
constexpr std::uint32_t access_memory_read = 0x8000, access_memory_write = 0x10000;
constexpr std::uint32_t bind_point_compute = 1;
constexpr std::uint32_t query_timestamp = 2, query_result_64 = 1, query_result_wait = 2;
constexpr std::uint32_t command_pool_resets = 2;  ///< each buffer on its own
constexpr std::uint32_t one_time_submit = 1;

struct ApplicationInfo {
  std::uint32_t sType = 0;
  const void* pNext = nullptr;
  const char* pApplicationName = nullptr;
  std::uint32_t applicationVersion = 0;
  const char* pEngineName = nullptr;
  std::uint32_t engineVersion = 0, apiVersion = 0;
};
struct InstanceCreateInfo {
  std::uint32_t sType = 1;
  const void* pNext = nullptr;
  std::uint32_t flags = 0;
  const ApplicationInfo* pApplicationInfo = nullptr;
  std::uint32_t enabledLayerCount = 0;
  const char* const* ppEnabledLayerNames = nullptr;
  std::uint32_t enabledExtensionCount = 0;
  const char* const* ppEnabledExtensionNames = nullptr;
};
struct ExtensionProperties {
  char extensionName[256] = {};
  std::uint32_t specVersion = 0;
};
struct PhysicalDeviceLimits {
  std::uint32_t maxImageDimension1D = 0, maxImageDimension2D = 0, maxImageDimension3D = 0,
                maxImageDimensionCube = 0, maxImageArrayLayers = 0, maxTexelBufferElements = 0,
                maxUniformBufferRange = 0, maxStorageBufferRange = 0, maxPushConstantsSize = 0,
                maxMemoryAllocationCount = 0, maxSamplerAllocationCount = 0;
  std::uint64_t bufferImageGranularity = 0, sparseAddressSpaceSize = 0;
  std::uint32_t maxBoundDescriptorSets = 0, maxPerStageDescriptorSamplers = 0,
                maxPerStageDescriptorUniformBuffers = 0, maxPerStageDescriptorStorageBuffers = 0,
                maxPerStageDescriptorSampledImages = 0, maxPerStageDescriptorStorageImages = 0,
                maxPerStageDescriptorInputAttachments = 0, maxPerStageResources = 0,
                maxDescriptorSetSamplers = 0, maxDescriptorSetUniformBuffers = 0,
                maxDescriptorSetUniformBuffersDynamic = 0, maxDescriptorSetStorageBuffers = 0,
                maxDescriptorSetStorageBuffersDynamic = 0, maxDescriptorSetSampledImages = 0,
                maxDescriptorSetStorageImages = 0, maxDescriptorSetInputAttachments = 0,
                maxVertexInputAttributes = 0, maxVertexInputBindings = 0, maxVertexInputAttributeOffset = 0,
                maxVertexInputBindingStride = 0, maxVertexOutputComponents = 0,
                maxTessellationGenerationLevel = 0, maxTessellationPatchSize = 0,
                maxTessellationControlPerVertexInputComponents = 0,
                maxTessellationControlPerVertexOutputComponents = 0,
                maxTessellationControlPerPatchOutputComponents = 0,
                maxTessellationControlTotalOutputComponents = 0, maxTessellationEvaluationInputComponents = 0,
                maxTessellationEvaluationOutputComponents = 0, maxGeometryShaderInvocations = 0,
                maxGeometryInputComponents = 0, maxGeometryOutputComponents = 0,
                maxGeometryOutputVertices = 0, maxGeometryTotalOutputComponents = 0,
                maxFragmentInputComponents = 0, maxFragmentOutputAttachments = 0,
                maxFragmentDualSrcAttachments = 0, maxFragmentCombinedOutputResources = 0,
                maxComputeSharedMemorySize = 0, maxComputeWorkGroupCount[3] = {},
                maxComputeWorkGroupInvocations = 0, maxComputeWorkGroupSize[3] = {},
                subPixelPrecisionBits = 0, subTexelPrecisionBits = 0, mipmapPrecisionBits = 0,
                maxDrawIndexedIndexValue = 0, maxDrawIndirectCount = 0;
  float maxSamplerLodBias = 0, maxSamplerAnisotropy = 0;
  std::uint32_t maxViewports = 0, maxViewportDimensions[2] = {};
  float viewportBoundsRange[2] = {};
  std::uint32_t viewportSubPixelBits = 0;
  std::size_t minMemoryMapAlignment = 0;
  std::uint64_t minTexelBufferOffsetAlignment = 0, minUniformBufferOffsetAlignment = 0,
                minStorageBufferOffsetAlignment = 0;
  std::int32_t minTexelOffset = 0;
  std::uint32_t maxTexelOffset = 0;
  std::int32_t minTexelGatherOffset = 0;
  std::uint32_t maxTexelGatherOffset = 0;
  float minInterpolationOffset = 0, maxInterpolationOffset = 0;
  std::uint32_t subPixelInterpolationOffsetBits = 0, maxFramebufferWidth = 0, maxFramebufferHeight = 0,
                maxFramebufferLayers = 0, framebufferColorSampleCounts = 0, framebufferDepthSampleCounts = 0,
                framebufferStencilSampleCounts = 0, framebufferNoAttachmentsSampleCounts = 0,
                maxColorAttachments = 0, sampledImageColorSampleCounts = 0,
                sampledImageIntegerSampleCounts = 0, sampledImageDepthSampleCounts = 0,
                sampledImageStencilSampleCounts = 0, storageImageSampleCounts = 0, maxSampleMaskWords = 0,
                timestampComputeAndGraphics = 0;
  float timestampPeriod = 0;
  std::uint32_t maxClipDistances = 0, maxCullDistances = 0, maxCombinedClipAndCullDistances = 0,
                discreteQueuePriorities = 0;
  float pointSizeRange[2] = {}, lineWidthRange[2] = {}, pointSizeGranularity = 0, lineWidthGranularity = 0;
  std::uint32_t strictLines = 0, standardSampleLocations = 0;
  std::uint64_t optimalBufferCopyOffsetAlignment = 0, optimalBufferCopyRowPitchAlignment = 0,
                nonCoherentAtomSize = 0;
};
struct PhysicalDeviceSparseProperties {
  std::uint32_t residencyStandard2DBlockShape = 0, residencyStandard2DMultisampleBlockShape = 0,
                residencyStandard3DBlockShape = 0, residencyAlignedMipSize = 0,
                residencyNonResidentStrict = 0;
};
struct PhysicalDeviceProperties {
  std::uint32_t apiVersion = 0, driverVersion = 0, vendorID = 0, deviceID = 0, deviceType = 0;
  char deviceName[256] = {};
  std::uint8_t pipelineCacheUUID[16] = {};
  PhysicalDeviceLimits limits = {};
  PhysicalDeviceSparseProperties sparseProperties = {};
};
struct PhysicalDeviceProperties2 {
  std::uint32_t sType = 1000059001;
  void* pNext = nullptr;
  PhysicalDeviceProperties properties = {};
};
struct PhysicalDeviceSubgroupProperties {
  std::uint32_t sType = 1000094000;
  void* pNext = nullptr;
  std::uint32_t subgroupSize = 0, supportedStages = 0, supportedOperations = 0, quadOperationsInAllStages = 0;
};
struct PhysicalDevicePCIBusInfoPropertiesEXT {
  std::uint32_t sType = 1000212000;
  void* pNext = nullptr;
  std::uint32_t pciDomain = 0, pciBus = 0, pciDevice = 0, pciFunction = 0;
};
struct PhysicalDeviceShaderSMBuiltinsPropertiesNV {
  std::uint32_t sType = 1000154001;
  void* pNext = nullptr;
  std::uint32_t shaderSMCount = 0, shaderWarpsPerSM = 0;
};
struct PhysicalDeviceFeatures {
  std::uint32_t robustBufferAccess = 0, fullDrawIndexUint32 = 0, imageCubeArray = 0, independentBlend = 0,
                geometryShader = 0, tessellationShader = 0, sampleRateShading = 0, dualSrcBlend = 0,
                logicOp = 0, multiDrawIndirect = 0, drawIndirectFirstInstance = 0, depthClamp = 0,
                depthBiasClamp = 0, fillModeNonSolid = 0, depthBounds = 0, wideLines = 0, largePoints = 0,
                alphaToOne = 0, multiViewport = 0, samplerAnisotropy = 0, textureCompressionETC2 = 0,
                textureCompressionASTC_LDR = 0, textureCompressionBC = 0, occlusionQueryPrecise = 0,
                pipelineStatisticsQuery = 0, vertexPipelineStoresAndAtomics = 0, fragmentStoresAndAtomics = 0,
                shaderTessellationAndGeometryPointSize = 0, shaderImageGatherExtended = 0,
                shaderStorageImageExtendedFormats = 0, shaderStorageImageMultisample = 0,
                shaderStorageImageReadWithoutFormat = 0, shaderStorageImageWriteWithoutFormat = 0,
                shaderUniformBufferArrayDynamicIndexing = 0, shaderSampledImageArrayDynamicIndexing = 0,
                shaderStorageBufferArrayDynamicIndexing = 0, shaderStorageImageArrayDynamicIndexing = 0,
                shaderClipDistance = 0, shaderCullDistance = 0, shaderFloat64 = 0, shaderInt64 = 0,
                shaderInt16 = 0, shaderResourceResidency = 0, shaderResourceMinLod = 0, sparseBinding = 0,
                sparseResidencyBuffer = 0, sparseResidencyImage2D = 0, sparseResidencyImage3D = 0,
                sparseResidency2Samples = 0, sparseResidency4Samples = 0, sparseResidency8Samples = 0,
                sparseResidency16Samples = 0, sparseResidencyAliased = 0, variableMultisampleRate = 0,
                inheritedQueries = 0;
};
struct PhysicalDeviceFeatures2 {
  std::uint32_t sType = 1000059000;
  void* pNext = nullptr;
  PhysicalDeviceFeatures features = {};
};
struct PhysicalDevice16BitStorageFeatures {
  std::uint32_t sType = 1000083000;
  void* pNext = nullptr;
  std::uint32_t storageBuffer16BitAccess = 0, uniformAndStorageBuffer16BitAccess = 0,
                storagePushConstant16 = 0, storageInputOutput16 = 0;
};
struct PhysicalDevice8BitStorageFeatures {
  std::uint32_t sType = 1000177000;
  void* pNext = nullptr;
  std::uint32_t storageBuffer8BitAccess = 0, uniformAndStorageBuffer8BitAccess = 0, storagePushConstant8 = 0;
};
struct PhysicalDeviceShaderFloat16Int8Features {
  std::uint32_t sType = 1000082000;
  void* pNext = nullptr;
  std::uint32_t shaderFloat16 = 0, shaderInt8 = 0;
};
struct Extent3D {
  std::uint32_t width = 0, height = 0, depth = 0;
};
struct QueueFamilyProperties {
  std::uint32_t queueFlags = 0, queueCount = 0, timestampValidBits = 0;
  Extent3D minImageTransferGranularity = {};
};
struct MemoryType {
  std::uint32_t propertyFlags = 0, heapIndex = 0;
};
struct MemoryHeap {
  std::uint64_t size = 0;
  std::uint32_t flags = 0;
};
struct PhysicalDeviceMemoryProperties {
  std::uint32_t memoryTypeCount = 0;
  MemoryType memoryTypes[32] = {};
  std::uint32_t memoryHeapCount = 0;
  MemoryHeap memoryHeaps[16] = {};
};
struct DeviceQueueCreateInfo {
  std::uint32_t sType = 2;
  const void* pNext = nullptr;
  std::uint32_t flags = 0, queueFamilyIndex = 0, queueCount = 0;
  const float* pQueuePriorities = nullptr;
};
struct DeviceCreateInfo {
  std::uint32_t sType = 3;
  const void* pNext = nullptr;
  std::uint32_t flags = 0, queueCreateInfoCount = 0;
  const DeviceQueueCreateInfo* pQueueCreateInfos = nullptr;
  std::uint32_t enabledLayerCount = 0;
  const char* const* ppEnabledLayerNames = nullptr;
  std::uint32_t enabledExtensionCount = 0;
  const char* const* ppEnabledExtensionNames = nullptr;
  const PhysicalDeviceFeatures* pEnabledFeatures = nullptr;
};
struct BufferCreateInfo {
  std::uint32_t sType = 12;
  const void* pNext = nullptr;
  std::uint32_t flags = 0;
  std::uint64_t size = 0;
  std::uint32_t usage = 0, sharingMode = 0, queueFamilyIndexCount = 0;
  const std::uint32_t* pQueueFamilyIndices = nullptr;
};
struct MemoryRequirements {
  std::uint64_t size = 0, alignment = 0;
  std::uint32_t memoryTypeBits = 0;
};
struct MemoryAllocateInfo {
  std::uint32_t sType = 5;
  const void* pNext = nullptr;
  std::uint64_t allocationSize = 0;
  std::uint32_t memoryTypeIndex = 0;
};
struct ShaderModuleCreateInfo {
  std::uint32_t sType = 16;
  const void* pNext = nullptr;
  std::uint32_t flags = 0;
  std::size_t codeSize = 0;
  const std::uint32_t* pCode = nullptr;
};
struct DescriptorSetLayoutBinding {
  std::uint32_t binding = 0, descriptorType = 0, descriptorCount = 0, stageFlags = 0;
  const Handle* pImmutableSamplers = nullptr;
};
struct DescriptorSetLayoutCreateInfo {
  std::uint32_t sType = 32;
  const void* pNext = nullptr;
  std::uint32_t flags = 0, bindingCount = 0;
  const DescriptorSetLayoutBinding* pBindings = nullptr;
};
struct PushConstantRange {
  std::uint32_t stageFlags = 0, offset = 0, size = 0;
};
struct PipelineLayoutCreateInfo {
  std::uint32_t sType = 30;
  const void* pNext = nullptr;
  std::uint32_t flags = 0, setLayoutCount = 0;
  const Handle* pSetLayouts = nullptr;
  std::uint32_t pushConstantRangeCount = 0;
  const PushConstantRange* pPushConstantRanges = nullptr;
};
struct SpecializationMapEntry {
  std::uint32_t constantID = 0, offset = 0;
  std::size_t size = 0;
};
struct SpecializationInfo {
  std::uint32_t mapEntryCount = 0;
  const SpecializationMapEntry* pMapEntries = nullptr;
  std::size_t dataSize = 0;
  const void* pData = nullptr;
};
struct PipelineShaderStageCreateInfo {
  std::uint32_t sType = 18;
  const void* pNext = nullptr;
  std::uint32_t flags = 0, stage = 0;
  Handle module = 0;
  const char* pName = nullptr;
  const SpecializationInfo* pSpecializationInfo = nullptr;
};
struct ComputePipelineCreateInfo {
  std::uint32_t sType = 29;
  const void* pNext = nullptr;
  std::uint32_t flags = 0;
  PipelineShaderStageCreateInfo stage = {};
  Handle layout = 0, basePipelineHandle = 0;
  std::int32_t basePipelineIndex = 0;
};
struct DescriptorPoolSize {
  std::uint32_t type = 0, descriptorCount = 0;
};
struct DescriptorPoolCreateInfo {
  std::uint32_t sType = 33;
  const void* pNext = nullptr;
  std::uint32_t flags = 0, maxSets = 0, poolSizeCount = 0;
  const DescriptorPoolSize* pPoolSizes = nullptr;
};
struct DescriptorSetAllocateInfo {
  std::uint32_t sType = 34;
  const void* pNext = nullptr;
  Handle descriptorPool = 0;
  std::uint32_t descriptorSetCount = 0;
  const Handle* pSetLayouts = nullptr;
};
struct DescriptorBufferInfo {
  Handle buffer = 0;
  std::uint64_t offset = 0, range = 0;
};
struct WriteDescriptorSet {
  std::uint32_t sType = 35;
  const void* pNext = nullptr;
  Handle dstSet = 0;
  std::uint32_t dstBinding = 0, dstArrayElement = 0, descriptorCount = 0, descriptorType = 0;
  const void* pImageInfo = nullptr;
  const DescriptorBufferInfo* pBufferInfo = nullptr;
  const Handle* pTexelBufferView = nullptr;
};
struct CommandPoolCreateInfo {
  std::uint32_t sType = 39;
  const void* pNext = nullptr;
  std::uint32_t flags = 0, queueFamilyIndex = 0;
};
struct CommandBufferAllocateInfo {
  std::uint32_t sType = 40;
  const void* pNext = nullptr;
  Handle commandPool = 0;
  std::uint32_t level = 0, commandBufferCount = 0;
};
struct CommandBufferBeginInfo {
  std::uint32_t sType = 42;
  const void* pNext = nullptr;
  std::uint32_t flags = 0;
  const void* pInheritanceInfo = nullptr;
};
struct MemoryBarrier {
  std::uint32_t sType = 46;
  const void* pNext = nullptr;
  std::uint32_t srcAccessMask = 0, dstAccessMask = 0;
};
struct BufferCopy {
  std::uint64_t srcOffset = 0, dstOffset = 0, size = 0;
};
struct SubmitInfo {
  std::uint32_t sType = 4;
  const void* pNext = nullptr;
  std::uint32_t waitSemaphoreCount = 0;
  const Handle* pWaitSemaphores = nullptr;
  const std::uint32_t* pWaitDstStageMask = nullptr;
  std::uint32_t commandBufferCount = 0;
  const CommandBuffer* pCommandBuffers = nullptr;
  std::uint32_t signalSemaphoreCount = 0;
  const Handle* pSignalSemaphores = nullptr;
};
struct FenceCreateInfo {
  std::uint32_t sType = 8;
  const void* pNext = nullptr;
  std::uint32_t flags = 0;
};
struct QueryPoolCreateInfo {
  std::uint32_t sType = 11;
  const void* pNext = nullptr;
  std::uint32_t flags = 0, queryType = 0, queryCount = 0, pipelineStatistics = 0;
};

/// The functions that are used, by name: `X(result, name, parameters)`.
#define KERNELSEARCH_VULKAN_INSTANCE_FUNCTIONS(X)                                                           \
  X(void, DestroyInstance, (Instance, const void*))                                                         \
  X(Result, EnumeratePhysicalDevices, (Instance, std::uint32_t*, PhysicalDevice*))                          \
  X(void, GetPhysicalDeviceProperties2, (PhysicalDevice, PhysicalDeviceProperties2*))                       \
  X(void, GetPhysicalDeviceFeatures2, (PhysicalDevice, PhysicalDeviceFeatures2*))                           \
  X(void, GetPhysicalDeviceMemoryProperties, (PhysicalDevice, PhysicalDeviceMemoryProperties*))             \
  X(void, GetPhysicalDeviceQueueFamilyProperties, (PhysicalDevice, std::uint32_t*, QueueFamilyProperties*)) \
  X(Result, EnumerateDeviceExtensionProperties,                                                             \
    (PhysicalDevice, const char*, std::uint32_t*, ExtensionProperties*))                                    \
  X(Result, CreateDevice, (PhysicalDevice, const DeviceCreateInfo*, const void*, LogicalDevice*))           \
  X(Function, GetDeviceProcAddr, (LogicalDevice, const char*))

#define KERNELSEARCH_VULKAN_DEVICE_FUNCTIONS(X)                                                           \
  X(void, GetDeviceQueue, (LogicalDevice, std::uint32_t, std::uint32_t, Queue*))                          \
  X(Result, DeviceWaitIdle, (LogicalDevice))                                                              \
  X(Result, QueueSubmit, (Queue, std::uint32_t, const SubmitInfo*, Handle))                               \
  X(Result, CreateFence, (LogicalDevice, const FenceCreateInfo*, const void*, Handle*))                   \
  X(Result, WaitForFences, (LogicalDevice, std::uint32_t, const Handle*, std::uint32_t, std::uint64_t))   \
  X(Result, ResetFences, (LogicalDevice, std::uint32_t, const Handle*))                                   \
  X(Result, AllocateMemory, (LogicalDevice, const MemoryAllocateInfo*, const void*, Handle*))             \
  X(void, FreeMemory, (LogicalDevice, Handle, const void*))                                               \
  X(Result, MapMemory, (LogicalDevice, Handle, std::uint64_t, std::uint64_t, std::uint32_t, void**))      \
  X(Result, CreateBuffer, (LogicalDevice, const BufferCreateInfo*, const void*, Handle*))                 \
  X(void, DestroyBuffer, (LogicalDevice, Handle, const void*))                                            \
  X(void, GetBufferMemoryRequirements, (LogicalDevice, Handle, MemoryRequirements*))                      \
  X(Result, BindBufferMemory, (LogicalDevice, Handle, Handle, std::uint64_t))                             \
  X(Result, CreateShaderModule, (LogicalDevice, const ShaderModuleCreateInfo*, const void*, Handle*))     \
  X(void, DestroyShaderModule, (LogicalDevice, Handle, const void*))                                      \
  X(Result, CreateDescriptorSetLayout,                                                                    \
    (LogicalDevice, const DescriptorSetLayoutCreateInfo*, const void*, Handle*))                          \
  X(void, DestroyDescriptorSetLayout, (LogicalDevice, Handle, const void*))                               \
  X(Result, CreatePipelineLayout, (LogicalDevice, const PipelineLayoutCreateInfo*, const void*, Handle*)) \
  X(void, DestroyPipelineLayout, (LogicalDevice, Handle, const void*))                                    \
  X(Result, CreateComputePipelines,                                                                       \
    (LogicalDevice, Handle, std::uint32_t, const ComputePipelineCreateInfo*, const void*, Handle*))       \
  X(void, DestroyPipeline, (LogicalDevice, Handle, const void*))                                          \
  X(Result, CreateDescriptorPool, (LogicalDevice, const DescriptorPoolCreateInfo*, const void*, Handle*)) \
  X(Result, ResetDescriptorPool, (LogicalDevice, Handle, std::uint32_t))                                  \
  X(Result, AllocateDescriptorSets, (LogicalDevice, const DescriptorSetAllocateInfo*, Handle*))           \
  X(void, UpdateDescriptorSets,                                                                           \
    (LogicalDevice, std::uint32_t, const WriteDescriptorSet*, std::uint32_t, const void*))                \
  X(Result, CreateCommandPool, (LogicalDevice, const CommandPoolCreateInfo*, const void*, Handle*))       \
  X(Result, AllocateCommandBuffers, (LogicalDevice, const CommandBufferAllocateInfo*, CommandBuffer*))    \
  X(Result, BeginCommandBuffer, (CommandBuffer, const CommandBufferBeginInfo*))                           \
  X(Result, EndCommandBuffer, (CommandBuffer))                                                            \
  X(Result, ResetCommandBuffer, (CommandBuffer, std::uint32_t))                                           \
  X(void, CmdBindPipeline, (CommandBuffer, std::uint32_t, Handle))                                        \
  X(void, CmdBindDescriptorSets,                                                                          \
    (CommandBuffer, std::uint32_t, Handle, std::uint32_t, std::uint32_t, const Handle*, std::uint32_t,    \
     const std::uint32_t*))                                                                               \
  X(void, CmdPushConstants,                                                                               \
    (CommandBuffer, Handle, std::uint32_t, std::uint32_t, std::uint32_t, const void*))                    \
  X(void, CmdDispatch, (CommandBuffer, std::uint32_t, std::uint32_t, std::uint32_t))                      \
  X(void, CmdPipelineBarrier,                                                                             \
    (CommandBuffer, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, const MemoryBarrier*,     \
     std::uint32_t, const void*, std::uint32_t, const void*))                                             \
  X(void, CmdCopyBuffer, (CommandBuffer, Handle, Handle, std::uint32_t, const BufferCopy*))               \
  X(void, CmdFillBuffer, (CommandBuffer, Handle, std::uint64_t, std::uint64_t, std::uint32_t))            \
  X(void, CmdWriteTimestamp, (CommandBuffer, std::uint32_t, Handle, std::uint32_t))                       \
  X(void, CmdResetQueryPool, (CommandBuffer, Handle, std::uint32_t, std::uint32_t))                       \
  X(Result, CreateQueryPool, (LogicalDevice, const QueryPoolCreateInfo*, const void*, Handle*))           \
  X(Result, GetQueryPoolResults,                                                                          \
    (LogicalDevice, Handle, std::uint32_t, std::uint32_t, std::size_t, void*, std::uint64_t, std::uint32_t))

/// The functions as an instance and a device give them.
struct Functions {
#define KERNELSEARCH_DECLARE(result, name, parameters) result(*name) parameters = nullptr;
  KERNELSEARCH_VULKAN_INSTANCE_FUNCTIONS(KERNELSEARCH_DECLARE)
  KERNELSEARCH_VULKAN_DEVICE_FUNCTIONS(KERNELSEARCH_DECLARE)
#undef KERNELSEARCH_DECLARE
  Function (*GetInstanceProcAddr)(Instance, const char*) = nullptr;
};

}  // namespace kernelsearch::detail::gpu::vulkan
