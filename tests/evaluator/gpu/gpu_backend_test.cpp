// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/gpu_backend.hpp"

#include <doctest/doctest.h>

using namespace kernelsearch;

TEST_CASE("GpuBackend: is called as problems call it") {
  static_assert(to_string(GpuBackend::cuda) == "cuda");
  static_assert(to_string(GpuBackend::hip) == "hip");
  CHECK(to_string(GpuBackend::cuda) != to_string(GpuBackend::hip));
}
