// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/sass_evidence.hpp"

#include <doctest/doctest.h>

#include "tool_support.hpp"

using namespace kernelsearch;

TEST_CASE("names and other functions are no evidence") {
  const auto functions = parse_sass(tool_test::read_data("sm90_features.nvdisasm"));
  const SassQuestion tensor{.signature = SassSignature::tensor_core};
  CHECK(sass_evidence(tensor, "wmma_gemm", functions) == Evidence::verified);
  CHECK(sass_evidence(tensor, "saxpy4", functions) == Evidence::absent);
  const SassQuestion shuffle{.signature = SassSignature::shuffle};
  CHECK(sass_evidence(shuffle, "reduce_shfl", functions) == Evidence::verified);
  // it shuffles, but not where the time goes
  CHECK(sass_evidence({.signature = SassSignature::shuffle, .in_hot_loop = true}, "reduce_shfl", functions) ==
        Evidence::absent);
  CHECK(sass_evidence({.signature = SassSignature::tensor_core, .in_hot_loop = true}, "wmma_gemm",
                      functions) == Evidence::verified);
}

TEST_CASE("what cannot be seen is unknown") {
  const auto functions = parse_sass(tool_test::read_data("sm90_features.nvdisasm"));
  CHECK(sass_evidence({}, "missing", functions) == Evidence::unknown);
  const std::vector<SassFunction> none;
  CHECK(sass_evidence({}, "wmma_gemm", functions, &none) == Evidence::unknown);
  const auto jumping = parse_sass("Function : f\n/*0000*/ BRX R2 ;\n/*0010*/ EXIT ;\n");
  CHECK(sass_evidence({.in_hot_loop = true}, "f", jumping) == Evidence::unknown);
  CHECK(sass_evidence({}, "f", jumping) == Evidence::absent);
}

TEST_CASE("only what is new since the parent counts") {
  const auto one = parse_sass("Function : f\n/*0000*/ SHFL.BFLY R1 ;\n/*0010*/ STL [R1], R2 ;\n");
  const auto two = parse_sass("Function : f\n/*0000*/ SHFL.BFLY R1 ;\n/*0010*/ SHFL.BFLY R1 ;\n");
  const SassQuestion shuffle{.signature = SassSignature::shuffle};
  CHECK(sass_evidence(shuffle, "f", two, &one) == Evidence::verified);
  CHECK(sass_evidence(shuffle, "f", one, &one) == Evidence::absent);
  CHECK(sass_evidence(shuffle, "f", one, &two) == Evidence::absent);
  const SassQuestion fewer_spills{.signature = SassSignature::spills, .less = true};
  CHECK(sass_evidence(fewer_spills, "f", two, &one) == Evidence::verified);
  CHECK(sass_evidence(fewer_spills, "f", one, &one) == Evidence::absent);
  CHECK(sass_evidence(fewer_spills, "f", two) == Evidence::verified);
  CHECK(sass_evidence(fewer_spills, "f", one) == Evidence::absent);
}
