// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the disassemblers say of tests/fixtures/sass/signatures.cu, compiled for Hopper (sm_90a): each kernel
// shows what it was written for and nothing else.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "kernelsearch/evaluator/gpu/sass.hpp"
#include "support/packed_text.hpp"

using namespace kernelsearch;

namespace {

using Names = std::set<std::string>;

std::vector<SassFunction> fixture(const std::string& name) {
  return parse_sass(support::packed_text(KERNELSEARCH_SOURCE_DIR "/tests/fixtures/sass/" + name));
}

const SassFunction& function(const std::vector<SassFunction>& functions, const std::string& name) {
  const auto found = std::find_if(functions.begin(), functions.end(),
                                  [&](const SassFunction& one) { return one.name == name; });
  REQUIRE_MESSAGE(found != functions.end(), name);
  return *found;
}
const SassFunction& function(std::vector<SassFunction>&&, const std::string&) = delete;  // it would dangle

/// What there is any of, less what nearly every kernel has.
Names found(const SassCounts& counts) {
  Names names;
  for (std::size_t s = 0; s < sass_signature_names.size(); ++s)
    if (counts.of(static_cast<SassSignature>(s)) > 0) names.emplace(sass_signature_names[s]);
  for (const char* common : {"global_load", "global_store", "branch", "constant_load"}) names.erase(common);
  return names;
}

std::string text_of(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += name + " ";
  return text;
}

}  // namespace

TEST_CASE("sass_counts: each kernel shows what it was written for and nothing else") {
  const std::map<std::string, Names> kernels{
      {"plain", {"fma", "divergence", "float_arithmetic"}},
      {"mma_sync", {"tensor_core"}},
      {"mma_tf32", {"tensor_core", "tf32_tensor_core"}},
      {"wgmma_f16", {"tensor_core", "warpgroup_mma", "warpgroup_wait"}},
      {"wgmma_e4m3",
       {"tensor_core", "warpgroup_mma", "fp8_tensor_core", "warpgroup_wait", "narrow_tensor_core"}},
      {"cp_async", {"cp_async", "cp_async_group", "shared_access", "vector_store", "float_arithmetic"}},
      {"bulk_copy", {"tma", "tma_load", "mbarrier", "barrier", "shared_access", "divergence"}},
      {"bulk_store", {"tma", "tma_store", "barrier", "shared_access", "fence"}},
      {"tensor_load", {"tma", "tma_load", "mbarrier", "shared_access", "divergence"}},
      {"tensor_multicast", {"tma", "tma_load", "tma_multicast", "mbarrier", "shared_access", "divergence"}},
      {"tensor_im2col", {"tma", "tma_load", "tma_im2col", "mbarrier", "shared_access", "divergence"}},
      {"tensor_store", {"tma", "tma_store", "barrier", "shared_access", "fence"}},
      {"tensor_reduce", {"tma", "tma_store", "barrier", "shared_access", "fence"}},
      {"tensormap_prefetch", {"tensor_map_prefetch"}},
      {"vector_access", {"vector_access", "vector_store", "float_arithmetic"}},
      {"vector_store_only", {"vector_store", "float_arithmetic"}},
      {"spilling", {"spills", "fma", "float_arithmetic"}},
      {"shuffle", {"shuffle", "float_arithmetic"}},
      {"redux", {"warp_reduction"}},
      {"votes", {"vote", "population_count"}},
      {"match", {"vote"}},
      {"atomic_shared", {"atomics", "barrier", "shared_access", "shared_atomics"}},
      {"ldmatrix", {"ldmatrix", "barrier", "shared_access", "divergence"}},
      {"stmatrix", {"ldmatrix", "barrier", "shared_access"}},
      {"named_barrier", {"barrier", "barrier_arrive"}},
      {"pdl", {"dependent_launch"}},
      {"setmaxnreg", {"register_reallocation"}},
      {"load_cs", {"streaming_access"}},
      {"load_lu", {"streaming_access"}},
      {"load_na", {"streaming_access", "read_only_load"}},
      {"load_cg", {"l2_access"}},
      {"load_nc", {"read_only_load"}},
      {"load_volatile", {}},
      {"store_cs", {"streaming_access"}},
      {"store_cg", {"l2_access"}},
      {"store_wt", {}},
      {"l2_prefetch", {"prefetch"}},
      {"ex2", {"ex2", "special_function"}},
      {"reciprocal_root", {"special_function", "float_arithmetic"}},
      {"cluster_barrier", {"cluster_barrier", "fence"}},
      {"distributed",
       {"cluster_barrier", "distributed_shared", "shared_access", "fence", "float_arithmetic"}},
      {"store_async", {"distributed_shared", "shared_access"}},
      {"generic", {"generic_access", "barrier", "shared_access"}},
      {"half_fma", {"fma", "half_arithmetic"}},
      {"to_half", {"conversion"}},
      {"to_fp8", {"conversion"}},
      {"lop3", {"lop3"}},
      {"mul_add", {"float_arithmetic"}},
      {"fused", {"fma", "float_arithmetic"}},
      {"dp", {"fma", "float_arithmetic"}},
      {"shared_tile", {"shared_access", "vector_shared_access", "barrier", "float_arithmetic"}},
  };
  const auto functions = fixture("signatures.nvdisasm");
  for (const auto& entry : kernels) {
    const auto& name = entry.first;  // no structured binding: clang 14 captures none
    const auto& wanted = entry.second;
    Names names = found(function(functions, name).counts);
    if (name != "lop3") names.erase("lop3");  // compilers make masks and indices with it wherever it pays
    CHECK_MESSAGE(names == wanted, name, ": ", text_of(names));
  }
}

TEST_CASE("sass_counts: in the hot loop") {
  const auto functions = fixture("signatures.nvdisasm");
  const std::map<std::string, SassSignature> loops{
      {"mma_sync", SassSignature::tensor_core},      {"wgmma_f16", SassSignature::warpgroup_mma},
      {"cp_async", SassSignature::cp_async},         {"vector_access", SassSignature::vector_access},
      {"spilling", SassSignature::spills},           {"half_fma", SassSignature::half_arithmetic},
      {"shared_tile", SassSignature::shared_access}, {"plain", SassSignature::fma}};
  for (const auto& entry : loops) {
    const auto& name = entry.first;  // no structured binding: clang 14 captures none
    const auto& signature = entry.second;
    const SassFunction& one = function(functions, name);
    REQUIRE_MESSAGE(one.hot_loop() != nullptr, name);
    CHECK_MESSAGE(one.hot_loop()->counts.of(signature) > 0, name);
    CHECK_MESSAGE(one.complete, name);
  }
  // The constant 0 is made by an instruction that multiplies and adds, before the loop.
  CHECK(function(functions, "plain").counts.of(SassSignature::half_arithmetic) == 0);
  CHECK(function(functions, "shuffle").hot_loop() == nullptr);  // unrolled
  CHECK(function(functions, "shared_tile").hot_loop()->depth == 2);
}

TEST_CASE("sass: what a loop calls is in the loop, in the words of either disassembler") {
  for (const char* tool : {"signatures.nvdisasm", "signatures.cuobjdump"}) {
    const auto functions = fixture(tool);
    const SassFunction& calling = function(functions, "calls_helper");
    REQUIRE_MESSAGE(calling.hot_loop() != nullptr, tool);
    CHECK_MESSAGE(calling.loops.size() == 2, tool);
    CHECK_MESSAGE(calling.hot_loop()->depth == 2, tool);
    CHECK_MESSAGE(calling.hot_loop()->counts.of(SassSignature::shuffle) == 1, tool);
    CHECK_MESSAGE(calling.hot_loop()->counts.of(SassSignature::call) == 0, tool);
    // the loop around it has both
    CHECK_MESSAGE(std::any_of(calling.loops.begin(), calling.loops.end(),
                              [](const SassLoop& loop) {
                                return loop.depth == 1 && loop.counts.of(SassSignature::shuffle) == 1 &&
                                       loop.counts.of(SassSignature::call) == 1;
                              }),
                  tool);
    CHECK_MESSAGE(calling.complete, tool);
    // what a register holds is called: no loop may be told from it
    const SassFunction& pointed = function(functions, "pointed");
    CHECK_MESSAGE(!pointed.complete, tool);
    CHECK_MESSAGE(pointed.loops.size() == 1, tool);
    CHECK_MESSAGE(function(functions, "half_fma").counts.of(SassSignature::half_arithmetic) == 1, tool);
    CHECK_MESSAGE(function(functions, "distributed").counts.of(SassSignature::distributed_shared) == 2, tool);
  }
}

TEST_CASE("sass: nvdisasm says where jumps through tables go, cuobjdump does not") {
  const auto named = fixture("signatures.nvdisasm"), bare = fixture("signatures.cuobjdump");
  const SassFunction& switched = function(named, "switched");
  CHECK(switched.complete);
  REQUIRE(switched.hot_loop() != nullptr);
  CHECK(switched.hot_loop()->counts.of(SassSignature::shuffle) == 1);
  CHECK(switched.hot_loop()->counts.of(SassSignature::ex2) >= 1);
  CHECK(!function(bare, "switched").complete);
  const Features unknown = sass_features({function(bare, "switched")});
  CHECK(unknown.find("sass.complete") == 0);
  CHECK(unknown.find("sass.shuffle") == 1);
  CHECK(!unknown.find("sass.loop.shuffle"));
  CHECK(!unknown.find("sass.loops.shuffle"));
}

TEST_CASE("sass: division's rare cases are not the loop's") {
  const auto named = fixture("signatures.nvdisasm");
  const SassFunction& division = function(named, "float_div");
  REQUIRE(division.hot_loop() != nullptr);
  CHECK(division.hot_loop()->counts.of(SassSignature::fma) < division.counts.of(SassSignature::fma));
}

TEST_CASE("reached_functions: the launched ones and what they call") {
  const auto functions = parse_sass(
      "Function : unlaunched\n/*0000*/ HMMA.16816.F32 R0, R1, R2, R3 ;\n/*0010*/ EXIT ;\n"
      "Function : inner\n/*0000*/ SHFL.BFLY R0, R1 ;\n/*0010*/ CALL.ABS.NOINC `(middle) ;\n/*0020*/ RET ;\n"
      "Function : middle\n/*0000*/ CALL.ABS.NOINC `(inner) ;\n/*0010*/ RET ;\n"
      "Function : launched\n/*0000*/ CALL.ABS.NOINC `(middle) ;\n/*0010*/ CALL.REL `(vprintf) ;\n/*0020*/ "
      "EXIT ;\n");
  CHECK(function(functions, "launched").calls == std::vector<std::string>{"middle", "vprintf"});
  const auto reached = reached_functions(functions, {"launched"});
  CHECK(reached.size() == 3);
  const Features features = sass_features(reached);
  CHECK(features.find("sass.tensor_core") == 0);
  CHECK(features.find("sass.shuffle") == 1);
  CHECK(reached_functions(functions, {"missing"}).empty());
  CHECK(reached_functions(functions, {}).empty());
}
