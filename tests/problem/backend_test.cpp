// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/backend.hpp"

#include <doctest/doctest.h>

#include "kernelsearch/evaluator/gpu/gpu_backend.hpp"

using namespace kernelsearch;

TEST_CASE("Backend: the table stands in the order of the enumeration, and names lead back") {
  for (std::size_t i = 0; i < backend_traits.size(); ++i) {
    const BackendTraits& traits = backend_traits[i];
    CHECK(static_cast<std::size_t>(traits.backend) == i);
    CHECK(&traits_of(traits.backend) == &traits);
    CHECK(to_string(traits.backend) == traits.name);
    CHECK(backend_from(traits.name) == traits.backend);
    CHECK(gpu_backend_of(traits.backend).has_value() == is_gpu(traits.backend));
    CHECK((!is_gpu(traits.backend) || is_device(traits.backend)));
  }
  CHECK(!backend_from("abacus"));
  CHECK(!backend_from(""));
}

TEST_CASE("Backend: names of files, languages and compilers") {
  CHECK(traits_of(Backend::cuda).extension == ".cu");
  CHECK(traits_of(Backend::hip).extension == ".hip");
  CHECK(traits_of(Backend::opencl).extension == ".cl");
  CHECK(traits_of(Backend::host).extension == ".cpp");
  CHECK(traits_of(Backend::cuda).language == "cuda");
  CHECK(traits_of(Backend::host).language == "cpp");
  CHECK(traits_of(Backend::cuda).compiler == "nvrtc");
  CHECK(traits_of(Backend::hip).launch_compiler == "hipcc");
  CHECK(traits_of(Backend::opencl).compiler.empty());
  CHECK(!is_device(Backend::host));
  CHECK((is_device(Backend::opencl) && is_gpu(Backend::opencl)));
  CHECK(traits_of(Backend::vulkan).extension == ".comp");
  CHECK(traits_of(Backend::vulkan).compiler == "glslang");
}

TEST_CASE("GpuBackend: leads to the backend of its name and back") {
  for (const GpuBackend gpu : {GpuBackend::cuda, GpuBackend::hip, GpuBackend::opencl, GpuBackend::vulkan}) {
    CHECK(gpu_backend_of(backend_of(gpu)) == gpu);
    CHECK(to_string(gpu) == to_string(backend_of(gpu)));
  }
}
