// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Each function of Vulkan that can fail fails, at each of its calls (fault_loader.cpp), in processes that do
// what a worker does (fault_scenario.cpp): each failure is reported or made good, none is a crash or a wrong
// result.
#include <fstream>

#include "apps/command.hpp"
#include "evaluator/gpu/vulkan_api.hpp"
#include "evaluator/gpu/vulkan_image.hpp"
#include "vulkan/support.hpp"

using namespace vulkan_test;

#ifdef KERNELSEARCH_VULKAN_FAULT_LOADER

namespace {

/// The names of the functions that return a Result.
const std::vector<std::string>& failing_functions() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names{"vkCreateInstance"};
#  define KERNELSEARCH_ADD(result, name, parameters) \
    if (std::string_view(#result) == "Result") names.emplace_back("vk" #name);
    KERNELSEARCH_VULKAN_INSTANCE_FUNCTIONS(KERNELSEARCH_ADD)
    KERNELSEARCH_VULKAN_DEVICE_FUNCTIONS(KERNELSEARCH_ADD)
#  undef KERNELSEARCH_ADD
    std::erase(names, "vkDeviceWaitIdle");  // which the driver does not call
    return names;
  }();
  return all;
}

std::filesystem::path write_image(const TemporaryFolder& folder) {
  ShaderBuild build;
  build.text =
      "#version 450\nlayout(local_size_x = 64) in;\nlayout(binding = 0) buffer X { uint x[]; };\n"
      "void main() { x[gl_GlobalInvocationID.x] *= 2; }\n";
  const ShaderBuilt built = run_glslang(find_glslang(), build);
  REQUIRE_MESSAGE(!built.words.empty(), built.log);
  const std::vector<ShaderParameter> parameters{{"x", true, 0}};
  const Shader shader = *bind_shader("twice", built.words, *read_spirv(built.words, {}, {}), parameters);
  const std::vector<std::byte> image = image_of({shader});
  std::ofstream(folder / "image", std::ios::binary)
      .write(reinterpret_cast<const char*>(image.data()), static_cast<std::streamsize>(image.size()));
  return folder / "image";
}

struct Scenario {
  int code = -1;
  int fired = 0;
  std::string text;
};

Scenario run_scenario(const TemporaryFolder& folder, const std::filesystem::path& image,
                      const std::string& fault) {
  setenv("KERNELSEARCH_VULKAN_LOADER", KERNELSEARCH_VULKAN_FAULT_LOADER, 1);
  setenv("KERNELSEARCH_VULKAN_FAULT", fault.c_str(), 1);
  const kernelsearch_test::Ran ran =
      kernelsearch_test::Started(folder.path(), {KERNELSEARCH_VULKAN_FAULT_SCENARIO, image.string()})
          .finish();
  unsetenv("KERNELSEARCH_VULKAN_LOADER");
  unsetenv("KERNELSEARCH_VULKAN_FAULT");
  const std::size_t last = ran.out.rfind('\n', ran.out.size() - 2);
  return {ran.code, std::atoi(ran.out.c_str() + (last == std::string::npos ? 0 : last + 1)),
          ran.out + ran.err};
}

}  // namespace

TEST_CASE("Vulkan: whatever call of the library fails, it is said or made good, and nothing is wrong") {
  if (skipped()) return;
  const TemporaryFolder folder;
  const std::filesystem::path image = write_image(folder);
  const Scenario sound = run_scenario(folder, image, "");
  REQUIRE_MESSAGE(sound.code == 0, sound.code, ": ", sound.text);
  for (const std::string& name : failing_functions()) {
    // From the first call on: nothing comes of it.
    const Scenario never = run_scenario(folder, image, name + ":-4:1+");
    CHECK_MESSAGE(never.code == 10, name, " ended with ", never.code, ": ", never.text);
    CHECK_MESSAGE(contains(never.text, "VK_ERROR_DEVICE_LOST"), name, ": ", never.text);
    // One call alone, until there are no so many.
    int tried = 0;
    for (int call = 1, before = 1; call < 1000; ++tried) {
      const char* const error = tried % 2 == 0 ? ":-2:" : ":-4:";
      const Scenario once = run_scenario(folder, image, name + error + std::to_string(call));
      CHECK_MESSAGE((once.code == 0 || once.code == 10), name, " at call ", call, " ended with ", once.code,
                    ": ", once.text);
      if (once.code == 10) CHECK_MESSAGE(contains(once.text, "VK_ERROR_"), name, ": ", once.text);
      if (once.fired == 0) break;
      CHECK(once.fired == 1);
      const int next = call < 4 ? call + 1 : call + before;
      before = call;
      call = next;
    }
    CHECK_MESSAGE(tried > 0, name, " is not called");
  }
}

TEST_CASE("Vulkan: a loader or driver that lacks a function is named, and is none") {
  if (skipped()) return;
  const TemporaryFolder folder;
  const std::filesystem::path image = write_image(folder);
  for (const char* name : {"vkCreateInstance", "vkGetPhysicalDeviceProperties2", "vkGetDeviceProcAddr",
                           "vkQueueSubmit", "vkCmdDispatch", "vkGetQueryPoolResults"}) {
    const Scenario lacking = run_scenario(folder, image, std::string("missing:") + name);
    CHECK_MESSAGE(lacking.code == 10, name, " ended with ", lacking.code, ": ", lacking.text);
    CHECK_MESSAGE(contains(lacking.text, name), lacking.text);
    CHECK(lacking.fired > 0);
  }
}

#endif
