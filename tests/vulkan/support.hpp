// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "evaluator/gpu/driver.hpp"
#include "evaluator/gpu/glslang.hpp"
#include "evaluator/gpu/vulkan_driver.hpp"
#include "kernelsearch/evaluator/gpu/gpu_evaluator.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "support/temporary_folder.hpp"

/// The Vulkan backend on whatever device the machine has, such as Mesa's llvmpipe.
namespace vulkan_test {

using namespace kernelsearch;
using namespace kernelsearch::detail;
using namespace kernelsearch::detail::gpu;

/// Why nothing can be tested here; empty where it can. With KERNELSEARCH_TEST_VULKAN=1 that is a failure.
inline const std::string& missing() {
  static const std::string why = [] {
    std::string problem;
    if (find_glslang().empty()) return std::string("no glslangValidator (Debian: glslang-tools)");
    const auto driver = load_vulkan_driver(problem);
    if (!driver) return "no loader of Vulkan (Debian: libvulkan1): " + problem;
    if (const Status status = driver->init(0); status != success) return driver->describe(status);
    int count = 0;
    (void)driver->device_count(&count);
    return std::string(count == 0 ? "no device of Vulkan (Debian: mesa-vulkan-drivers)" : "");
  }();
  return why;
}

inline bool skipped() {
  if (missing().empty()) return false;
  const char* wanted = std::getenv("KERNELSEARCH_TEST_VULKAN");
  REQUIRE_MESSAGE((wanted == nullptr || std::string_view(wanted) != "1"), missing());
  MESSAGE("skipped: ", missing());
  return true;
}

inline Problem example(const std::string& name) {
  return read_problem(std::filesystem::path(KERNELSEARCH_SOURCE_DIR) / "examples" / "vulkan" / name);
}

/// Fast settings: the tests judge verdicts, not times.
inline GpuOptions quick(const std::filesystem::path& cache) {
  GpuOptions options;
  options.cache_directory = cache;
  options.worker = KERNELSEARCH_GPU_WORKER_PROGRAM;
  options.builders = 1;
  options.check.seeds = 1;
  options.limits.call = 30;
  options.sampling = {.precision = 0.5, .min_samples = 3, .max_samples = 3, .budget_seconds = 0.05};
  options.pairs.when = Pairing::never;
  return options;
}

inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace vulkan_test
