// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/profiling_vector.hpp"

#include <doctest/doctest.h>

using namespace kernelsearch;

TEST_CASE("nine values in the paper's order, the signature in its own, what is unknown empty") {
  Features features;
  for (std::size_t i = 0; i < profiling_vector_names.size(); ++i)
    features.set(profiling_vector_names[i], static_cast<double>(i));
  features.set("l2_utilisation", 40);
  const auto vector = profiling_vector(features);
  REQUIRE(vector.size() == 9);
  for (std::size_t i = 0; i < vector.size(); ++i) CHECK(vector[i] == static_cast<double>(i));
  CHECK(profiling_vector_names[0] == "l2_hit");
  CHECK(profiling_vector_names[5] == "registers");
  const auto signature = hardware_signature(features);
  CHECK(signature[0] == 2);  // processors
  CHECK(signature[1] == 1);  // memory
  CHECK(signature[2] == 40);
  for (const auto& value : profiling_vector({})) CHECK(!value);
  for (const auto& value : hardware_signature({})) CHECK(!value);
}
