// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The driver alone, in this process: memory, shaders, timestamps, refusals. And its declarations against the
// registry's, where those are installed.
#if __has_include(<vulkan/vulkan_core.h>)
#  include <vulkan/vulkan_core.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <vector>

#include "evaluator/gpu/vulkan_api.hpp"
#include "evaluator/gpu/vulkan_image.hpp"
#include "vulkan/support.hpp"

using namespace vulkan_test;

namespace {

namespace vk = kernelsearch::detail::gpu::vulkan;

#if __has_include(<vulkan/vulkan_core.h>)
#  define KERNELSEARCH_SAME(name) static_assert(sizeof(vk::name) == sizeof(Vk##name))
KERNELSEARCH_SAME(ApplicationInfo);
KERNELSEARCH_SAME(InstanceCreateInfo);
KERNELSEARCH_SAME(ExtensionProperties);
KERNELSEARCH_SAME(PhysicalDeviceProperties2);
KERNELSEARCH_SAME(PhysicalDeviceSubgroupProperties);
KERNELSEARCH_SAME(PhysicalDevicePCIBusInfoPropertiesEXT);
KERNELSEARCH_SAME(PhysicalDeviceFeatures2);
KERNELSEARCH_SAME(PhysicalDevice16BitStorageFeatures);
KERNELSEARCH_SAME(PhysicalDevice8BitStorageFeatures);
KERNELSEARCH_SAME(PhysicalDeviceShaderFloat16Int8Features);
KERNELSEARCH_SAME(QueueFamilyProperties);
KERNELSEARCH_SAME(PhysicalDeviceMemoryProperties);
KERNELSEARCH_SAME(DeviceCreateInfo);
KERNELSEARCH_SAME(BufferCreateInfo);
KERNELSEARCH_SAME(MemoryAllocateInfo);
KERNELSEARCH_SAME(ComputePipelineCreateInfo);
KERNELSEARCH_SAME(WriteDescriptorSet);
KERNELSEARCH_SAME(SubmitInfo);
KERNELSEARCH_SAME(QueryPoolCreateInfo);
static_assert(offsetof(vk::PhysicalDeviceLimits, maxComputeSharedMemorySize) ==
              offsetof(VkPhysicalDeviceLimits, maxComputeSharedMemorySize));
static_assert(offsetof(vk::PhysicalDeviceLimits, minStorageBufferOffsetAlignment) ==
              offsetof(VkPhysicalDeviceLimits, minStorageBufferOffsetAlignment));
static_assert(offsetof(vk::PhysicalDeviceLimits, timestampPeriod) ==
              offsetof(VkPhysicalDeviceLimits, timestampPeriod));
static_assert(offsetof(vk::PhysicalDeviceFeatures, shaderInt64) ==
              offsetof(VkPhysicalDeviceFeatures, shaderInt64));
#  define KERNELSEARCH_EQUAL(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(theirs))
KERNELSEARCH_EQUAL(vk::result_not_ready, VK_NOT_READY);
KERNELSEARCH_EQUAL(vk::result_timeout, VK_TIMEOUT);
KERNELSEARCH_EQUAL(vk::error_out_of_host_memory, VK_ERROR_OUT_OF_HOST_MEMORY);
KERNELSEARCH_EQUAL(vk::error_out_of_device_memory, VK_ERROR_OUT_OF_DEVICE_MEMORY);
KERNELSEARCH_EQUAL(vk::error_initialization_failed, VK_ERROR_INITIALIZATION_FAILED);
KERNELSEARCH_EQUAL(vk::error_device_lost, VK_ERROR_DEVICE_LOST);
KERNELSEARCH_EQUAL(vk::error_incompatible_driver, VK_ERROR_INCOMPATIBLE_DRIVER);
KERNELSEARCH_EQUAL(vk::version_1_1, VK_API_VERSION_1_1);
KERNELSEARCH_EQUAL(vk::queue_compute, VK_QUEUE_COMPUTE_BIT);
KERNELSEARCH_EQUAL(vk::device_type_cpu, VK_PHYSICAL_DEVICE_TYPE_CPU);
KERNELSEARCH_EQUAL(vk::memory_device_local, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
KERNELSEARCH_EQUAL(vk::memory_host_visible, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT);
KERNELSEARCH_EQUAL(vk::memory_host_coherent, VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
KERNELSEARCH_EQUAL(vk::memory_host_cached, VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
KERNELSEARCH_EQUAL(vk::usage_storage, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
KERNELSEARCH_EQUAL(vk::usage_transfer_from, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
KERNELSEARCH_EQUAL(vk::usage_transfer_to, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
KERNELSEARCH_EQUAL(vk::descriptor_storage_buffer, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER);
KERNELSEARCH_EQUAL(vk::stage_compute, VK_SHADER_STAGE_COMPUTE_BIT);
KERNELSEARCH_EQUAL(vk::pipeline_bottom, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT);
KERNELSEARCH_EQUAL(vk::pipeline_all_commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
KERNELSEARCH_EQUAL(vk::access_memory_read, VK_ACCESS_MEMORY_READ_BIT);
KERNELSEARCH_EQUAL(vk::access_memory_write, VK_ACCESS_MEMORY_WRITE_BIT);
KERNELSEARCH_EQUAL(vk::bind_point_compute, VK_PIPELINE_BIND_POINT_COMPUTE);
KERNELSEARCH_EQUAL(vk::query_timestamp, VK_QUERY_TYPE_TIMESTAMP);
KERNELSEARCH_EQUAL(vk::query_result_64, VK_QUERY_RESULT_64_BIT);
KERNELSEARCH_EQUAL(vk::query_result_wait, VK_QUERY_RESULT_WAIT_BIT);
KERNELSEARCH_EQUAL(vk::command_pool_resets, VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT);
KERNELSEARCH_EQUAL(vk::one_time_submit, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
KERNELSEARCH_EQUAL(vk::InstanceCreateInfo{}.sType, VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
KERNELSEARCH_EQUAL(vk::DeviceCreateInfo{}.sType, VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
KERNELSEARCH_EQUAL(vk::SubmitInfo{}.sType, VK_STRUCTURE_TYPE_SUBMIT_INFO);
KERNELSEARCH_EQUAL(vk::BufferCreateInfo{}.sType, VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
KERNELSEARCH_EQUAL(vk::MemoryAllocateInfo{}.sType, VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
KERNELSEARCH_EQUAL(vk::WriteDescriptorSet{}.sType, VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET);
KERNELSEARCH_EQUAL(vk::QueryPoolCreateInfo{}.sType, VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO);
KERNELSEARCH_EQUAL(vk::ComputePipelineCreateInfo{}.sType, VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
#endif

/// The device of this process; it has one at most.
Driver& device() {
  static const std::unique_ptr<Driver> driver = [] {
    std::string problem;
    auto loaded = load_driver(GpuBackend::vulkan, problem);
    REQUIRE_MESSAGE(loaded != nullptr, problem);
    REQUIRE(loaded->init(0) == success);
    const Status status = loaded->device_use(0);
    REQUIRE_MESSAGE(status == success, loaded->describe(status));
    return loaded;
  }();
  return *driver;
}

void demand(Status status) {
  REQUIRE_MESSAGE(status == success, device().describe(status));
}

/// The only shader of a text, compiled and bound.
Function shader_of(const std::string& text, const std::vector<ShaderParameter>& parameters,
                   const std::vector<std::pair<std::string, Value>>& values = {}) {
  ShaderBuild build;
  build.text = text;
  build.function = "main";
  const ShaderBuilt built = run_glslang(find_glslang(), build);
  REQUIRE_MESSAGE(!built.words.empty(), built.log);
  const auto kernel = read_spirv(built.words, {}, values);
  REQUIRE_MESSAGE(kernel, kernel.error().text());
  const auto shader = bind_shader("main", built.words, *kernel, parameters);
  REQUIRE_MESSAGE(shader, shader.error().text());
  const std::vector<std::byte> image = image_of({*shader});
  Module module = nullptr;
  demand(device().module_load(&module, image.data()));
  Function function = nullptr;
  demand(device().module_function(&function, module, "main"));
  return function;
}

LaunchParameter array(Address& at, std::uint64_t bytes) {
  return {LaunchParameter::Kind::array, &at, bytes};
}
template <class T>
LaunchParameter value(T& number) {
  return {LaunchParameter::Kind::value, &number, sizeof number};
}

LaunchShape groups(unsigned grid, unsigned block) {
  LaunchShape shape;
  shape.grid[0] = grid;
  shape.block[0] = block;
  return shape;
}

constexpr const char* scaled = R"(#version 450
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint GROUP = 4;
layout(constant_id = 1) const int FACTOR = 2;
layout(binding = 0) buffer X { float x[]; };
layout(binding = 1) buffer Y { float y[]; };
layout(push_constant) uniform P { int n; float add; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i < n) y[i] = float(FACTOR) * x[i] + add + float(GROUP) * 1000.0;
})";
const std::vector<ShaderParameter> scaled_parameters{
    {"n", false, 4}, {"x", true, 0}, {"y", true, 0}, {"add", false, 4}};

}  // namespace

TEST_CASE("Vulkan: what is copied in, set and copied within comes out, at any byte and length") {
  if (skipped()) return;
  Driver& d = device();
  constexpr std::size_t size = (std::size_t{33} << 20) + 5;  // longer than what is staged at once
  Address a = 0, b = 0;
  demand(d.allocate(&a, size));
  demand(d.allocate(&b, size));
  CHECK(a % 4096 == 0);
  std::vector<unsigned char> given(size), got(size);
  for (std::size_t i = 0; i < size; ++i) given[i] = static_cast<unsigned char>(i * 131 >> 3);
  demand(d.copy_in(a, given.data(), size));
  demand(d.copy_within(b, a, size, nullptr));
  for (const auto& [begin, bytes] :
       {std::pair<std::size_t, std::size_t>{3, 1}, {4096, 64}, {70001, 1023}, {size - 5, 5}}) {
    demand(d.set_bytes(b + begin, 0xa7, bytes, nullptr));
    std::fill_n(given.begin() + static_cast<std::ptrdiff_t>(begin), bytes, static_cast<unsigned char>(0xa7));
  }
  demand(d.copy_out(got.data(), b, size));
  CHECK(got == given);
  CHECK(d.copy_out(got.data(), b + (std::uint64_t{1} << 30), size) == invalid_value);
  std::size_t before = 0, after = 0, total = 0;
  demand(d.release(a));
  demand(d.memory_info(&before, &total));
  demand(d.release(b));
  demand(d.memory_info(&after, &total));
  CHECK(after >= before);
  CHECK(d.release(b) != success);
}

TEST_CASE("Vulkan: a shader gets its arrays, push constants and specialisation constants") {
  if (skipped()) return;
  Driver& d = device();
  int n = 100;
  float add = 0.25f;
  std::vector<float> x(100), y(100);
  std::iota(x.begin(), x.end(), 0.0f);
  Address to_x = 0, to_y = 0;
  demand(d.allocate(&to_x, 400));
  demand(d.allocate(&to_y, 400));
  demand(d.copy_in(to_x, x.data(), 400));
  for (const std::int64_t group : {4, 32}) {
    const Function function =
        shader_of(scaled, scaled_parameters, {{"GROUP", Value{group}}, {"FACTOR", Value{group + 1}}});
    const LaunchParameter parameters[] = {value(n), array(to_x, 400), array(to_y, 400), value(add)};
    demand(d.set_bytes(to_y, 0, 400, nullptr));
    demand(d.launch_kernel(function,
                           groups(static_cast<unsigned>(100 / group + 1), static_cast<unsigned>(group)),
                           nullptr, parameters));
    demand(d.copy_out(y.data(), to_y, 400));
    const float wanted = static_cast<float>(group + 1) * 99.0f + 0.25f + 1000.0f * static_cast<float>(group);
    CHECK(y[99] == wanted);
    int invocations = 0;
    demand(d.function_attribute(&invocations, d.numbers.function_threads, function));
    CHECK(invocations == group);
  }
  demand(d.release(to_x));
  demand(d.release(to_y));
}

TEST_CASE("Vulkan: launches that the device or the shader does not take are refused in words") {
  if (skipped()) return;
  Driver& d = device();
  Address to = 0;
  demand(d.allocate(&to, 4096));
  int n = 1;
  float add = 0;
  const Function function = shader_of(scaled, scaled_parameters);
  const LaunchParameter parameters[] = {value(n), array(to, 4096), array(to, 4096), value(add)};
  Status status = d.launch_kernel(function, groups(1, 8), nullptr, parameters);
  CHECK(status == invalid_value);
  CHECK(contains(d.describe(status),
                 "the shader's work groups are 4 x 1 x 1, the launch's block says 8 x 1 x 1"));
  LaunchShape dynamic = groups(1, 4);
  dynamic.shared_bytes = 64;
  CHECK(d.launch_kernel(function, dynamic, nullptr, parameters) == unsupported);
  CHECK(d.launch_kernel(function, groups(1, 4), nullptr, std::span(parameters).first(3)) == invalid_value);
  Address nowhere = 1;
  const LaunchParameter astray[] = {value(n), array(nowhere, 4096), array(to, 4096), value(add)};
  CHECK(d.launch_kernel(function, groups(1, 4), nullptr, astray) != success);
  LaunchShape wide = groups(1, 4);
  wide.grid[1] = 0xffffffff;
  status = d.launch_kernel(function, wide, nullptr, parameters);
  CHECK(status == launch_out_of_resources);
  CHECK(contains(d.describe(status), "maxComputeWorkGroupCount"));
  demand(d.release(to));

  const auto limit_of = [&](const std::string& text) {
    ShaderBuild build;
    build.text = text;
    const ShaderBuilt built = run_glslang(find_glslang(), build);
    REQUIRE_MESSAGE(!built.words.empty(), built.log);
    const Shader shader = *bind_shader("main", built.words, *read_spirv(built.words, {}, {}), {});
    const std::vector<std::byte> image = image_of({shader});
    Module module = nullptr;
    demand(d.module_load(&module, image.data()));
    Function none = nullptr;
    const Status refused = d.module_function(&none, module, "main");
    CHECK(refused == launch_out_of_resources);
    const std::string text_of = d.describe(refused);
    demand(d.module_unload(module));
    return text_of;
  };
  CHECK(contains(
      limit_of("#version 450\nlayout(local_size_x = 1024, local_size_y = 512) in;\nvoid main() {}\n"),
      "maxComputeWorkGroup"));
  CHECK(contains(limit_of("#version 450\nlayout(local_size_x = 1) in;\nshared float s[4000000];\nvoid main() "
                          "{ s[0] = 1; }\n"),
                 "16000000, this device takes"));
  const std::vector<std::byte> bad(64);
  Module module = nullptr;
  CHECK(d.module_load(&module, bad.data()) == invalid_image);
}

TEST_CASE("Vulkan: an array is bound with the zone behind it, unless its shader asks for its length") {
  if (skipped()) return;
  Driver& d = device();
  Address base = 0;
  demand(d.allocate(&base, 3 * 4096));
  demand(d.set_bytes(base, 0, 3 * 4096, nullptr));
  Address x = base + 4096;
  const std::string head =
      "#version 450\nlayout(local_size_x = 1) in;\nlayout(binding = 0) buffer X { uint x[]; };\n";
  const Function beyond = shader_of(head + "void main() { x[16] = 7; }", {{"x", true, 0}});
  const Function asks = shader_of(head + "void main() { x[0] = x.length(); x[17] = 9; }", {{"x", true, 0}});
  const LaunchParameter parameters[] = {array(x, 64)};
  demand(d.launch_kernel(beyond, groups(1, 1), nullptr, parameters));
  demand(d.launch_kernel(asks, groups(1, 1), nullptr, parameters));
  std::uint32_t got[18] = {};
  demand(d.copy_out(got, x, sizeof got));
  CHECK(got[16] == 7);
  CHECK(got[0] == 16);
  demand(d.release(base));
}

TEST_CASE("Vulkan: timestamps tell longer work from shorter, and none that were not recorded are read") {
  if (skipped()) return;
  Driver& d = device();
  Event begin = nullptr, middle = nullptr, end = nullptr;
  for (Event* event : {&begin, &middle, &end}) {
    const Status status = d.event_create(event, 0);
    REQUIRE_MESSAGE(status == success, d.describe(status));
  }
  float milliseconds = 0;
  CHECK(d.event_elapsed(&milliseconds, begin, end) == not_ready);
  Address to = 0;
  constexpr std::size_t size = std::size_t{16} << 20;
  demand(d.allocate(&to, size));
  demand(d.event_record(begin, nullptr));
  demand(d.set_bytes(to, 1, 64, nullptr));
  demand(d.event_record(middle, nullptr));
  for (int i = 0; i < 20; ++i) demand(d.set_bytes(to, 2, size, nullptr));
  demand(d.event_record(end, nullptr));
  float shorter = 0, longer = 0;
  demand(d.event_elapsed(&shorter, begin, middle));
  demand(d.event_elapsed(&longer, middle, end));
  CHECK(shorter >= 0);
  CHECK(longer > shorter);
  demand(d.release(to));
}

TEST_CASE("timestamps and the clock outside: what is possible, and what agrees") {
  CHECK(timestamps_possible(0.9, 1.0));
  CHECK(timestamps_possible(1.01, 1.0));
  CHECK(!timestamps_possible(1.1, 1.0));
  CHECK(!timestamps_possible(-1e-9, 1.0));
  CHECK(timestamps_possible(4e-5, 1e-6));
  CHECK(timestamps_agree(0.7, 1.0));
  CHECK(!timestamps_agree(0.3, 1.0));
  CHECK(!timestamps_agree(2.0, 1.0));
}

TEST_CASE("Vulkan: more launches than one pool of bindings has, in order") {
  if (skipped()) return;
  Driver& d = device();
  Address to = 0;
  demand(d.allocate(&to, 4096));
  demand(d.set_bytes(to, 0, 4096, nullptr));
  const Function add = shader_of(
      "#version 450\nlayout(local_size_x = 1) in;\nlayout(binding = 0) buffer X { uint x[]; };\n"
      "void main() { x[0] = x[0] * 3u + 1u; }",
      {{"x", true, 0}});
  const LaunchParameter parameters[] = {array(to, 4096)};
  std::uint32_t wanted = 0;
  for (int i = 0; i < 1500; ++i) {
    demand(d.launch_kernel(add, groups(1, 1), nullptr, parameters));
    wanted = wanted * 3 + 1;
  }
  std::uint32_t got = 0;
  demand(d.copy_out(&got, to, sizeof got));
  CHECK(got == wanted);
  demand(d.release(to));
}
