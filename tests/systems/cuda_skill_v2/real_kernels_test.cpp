// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registry of 63 methods on machine code and profiles of real kernels.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/agents/method_registry.hpp"
#include "kernelsearch/evaluator/gpu/sass.hpp"
#include "kernelsearch/policy/roofline_budget.hpp"
#include "support/packed_text.hpp"

using namespace kernelsearch;
namespace fs = std::filesystem;

namespace {

const fs::path source_folder = KERNELSEARCH_SOURCE_DIR;

Features traces_of(const char* dump) {
  return sass_features(parse_sass(support::packed_text(source_folder / "tests/evaluator/gpu/data" / dump)));
}

struct Registry {
  std::vector<Method> methods = read_methods("cuda");

  [[nodiscard]] const Method& of(const std::string& id) const {
    const auto at = std::find_if(methods.begin(), methods.end(), [&](const Method& m) { return m.id == id; });
    REQUIRE_MESSAGE(at != methods.end(), id);
    return *at;
  }
  [[nodiscard]] Evidence evidence(const std::string& id, const Features& child,
                                  const Features& parent) const {
    return evidence_of(of(id).signature, child, parent);
  }
  /// What becomes of a method where each axis has room for all.
  [[nodiscard]] MethodReason reason(const std::string& id, const Features& profile) const {
    for (const MethodDecision& one : choose_methods({&of(id), 1}, profile, {90, {}}, {{9, 9, 9}}).decisions)
      return one.reason;
    return MethodReason::architecture;
  }
};

Features features_of(const nlohmann::json& json) {
  Features features;
  for (const auto& [name, value] : json.items())
    if (value.is_number()) features.set(name, value.get<double>());
  return features;
}

}  // namespace

TEST_CASE(
    "a warp-specialised TMA and wgmma kernel shows its copies, which other warps make than those that "
    "compute") {
  const Registry registry;
  Features kernel = traces_of("sm90_wgmma_matmul.cuobjdump");
  const Features naive = sass_features(parse_sass(
      "Function : naive\n/*0000*/ LDG.E R0, [R2] ;\n/*0010*/ LDG.E R1, [R4] ;\n/*0020*/ FFMA R5, R0, "
      "R1, R5 ;\n/*0030*/ @P0 BRA 0x0 ;\n/*0040*/ STG.E [R6], R5 ;\n/*0050*/ EXIT ;\n"));
  REQUIRE(kernel.find("sass.loop.tma") == 0);  // the hot loop is the consumers'
  for (const char* id :
       {"compute.tensor_core", "memory.async_copy", "memory.tiling_smem", "latency.async_pipeline",
        "compute.warp_specialization", "latency.asymmetric_mbarrier_sync",
        "latency.producer_regdealloc_setmaxnreg", "latency.intra_wg_gemm_softmax_pipeline"})
    CHECK_MESSAGE(registry.evidence(id, kernel, naive) == Evidence::verified, id);
  for (const char* id : {"memory.tma_multicast", "latency.cooperative_cluster", "latency.pdl_overlap"})
    CHECK_MESSAGE(registry.evidence(id, kernel, naive) == Evidence::absent, id);

  // Warps that wait for memory: what is there is not asked for again, and what goes further is.
  kernel.set("trait.matmul", 1);
  for (const char* trait : {"trait.attention", "trait.convolution", "trait.stencil", "trait.elementwise"})
    kernel.set(trait, 0);
  kernel.set("stall_long_scoreboard", 55);
  for (const char* id : {"memory.async_copy", "memory.tiling_smem", "latency.async_pipeline"})
    CHECK_MESSAGE(registry.reason(id, kernel) == MethodReason::skip_condition, id);
  for (const char* id : {"memory.multi_stage_pipeline", "memory.tma_multicast"})
    CHECK_MESSAGE(registry.reason(id, kernel) == MethodReason::taken, id);
}

TEST_CASE("taking turns is no matter of any barrier") {
  const Registry registry;
  const std::string id = "latency.pingpong_warpgroup_schedule";
  const auto loop_with = [](const std::string& more) {
    return sass_features(
        parse_sass("Function : f\n/*0000*/ HGMMA.64x64x16.F32 R24, gdesc[UR4], R24 ;\n/*0010*/ " + more +
                   " ;\n/*0020*/ @P0 BRA 0x0 ;\n/*0030*/ SYNCS.ARRIVE.TRANS64.A1T0 RZ, "
                   "[R2], RZ ;\n/*0040*/ @P1 BRA 0x30 ;\n/*0050*/ EXIT ;\n"));
  };
  const Features without = loop_with("FADD R0, R0, R1");
  CHECK(registry.evidence(id, loop_with("BAR.SYNC.DEFER_BLOCKING 0x1, 0x80"), without) == Evidence::absent);
  CHECK(registry.evidence(id, loop_with("BAR.ARV 0x1, 0x100"), without) == Evidence::verified);
  // The producers' own arrivals, in a loop without products, are none either.
  const Features more = sass_features(
      parse_sass("Function : f\n/*0000*/ HGMMA.64x64x16.F32 R24, gdesc[UR4], R24 ;\n/*0010*/ @P0 BRA 0x0 ;\n"
                 "/*0030*/ SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R2], RZ ;\n/*0040*/ BAR.ARV 0x1, 0x100 ;\n/*0050*/ "
                 "@P1 BRA 0x30 ;\n/*0060*/ EXIT ;\n"));
  CHECK(registry.evidence(id, more, without) == Evidence::absent);
}

TEST_CASE("from expf to __expf, and from there to a factor folded in, is seen") {
  const Registry registry;
  const auto functions =
      parse_sass(support::packed_text(source_folder / "tests/evaluator/gpu/data/sm90_exponentials.nvdisasm"));
  const auto of = [&functions](const char* name) {
    return sass_features(reached_functions(functions, {name}));
  };
  CHECK(registry.evidence("compute.fma_and_fast_math", of("fast"), of("exact")) == Evidence::verified);
  CHECK(registry.evidence("compute.mufu_ex2_softmax_replacement", of("fast"), of("exact")) ==
        Evidence::verified);
  CHECK(registry.evidence("compute.mufu_ex2_softmax_replacement", of("raw"), of("fast")) ==
        Evidence::verified);
  CHECK(registry.evidence("compute.mufu_ex2_softmax_replacement", of("fast"), of("fast")) ==
        Evidence::absent);
}

TEST_CASE("real profiles: no axis has more left than the roof, and at the roof the search is over") {
  std::vector<std::pair<std::string, Features>> profiles;
  const auto wgmma = nlohmann::json::parse(
      support::packed_text(source_folder / "tests/fixtures/profiles/h200_matmul_f16.json"));
  profiles.emplace_back("matmul_f16", features_of(wgmma["features"]));
  profiles.back().second.set("roof_utilisation", 66.9);  // of the clocks' peak: see the file
  for (const auto& entry : fs::directory_iterator(source_folder / "bench/results")) {
    if (entry.path().filename().string().find("_skill_") == std::string::npos) continue;
    const auto json = nlohmann::json::parse(support::packed_text(entry.path()));
    for (const auto& [name, iteration] : json.items()) {
      if (!iteration.is_object() || !iteration.contains("roofline")) continue;
      profiles.emplace_back(entry.path().filename().string() + " " + name,
                            features_of(iteration["roofline"]["profile"]));
    }
  }
  CHECK(profiles.size() >= 1 + 4 + 9);
  std::vector<std::string> at_roof;
  std::size_t whole = 0;
  for (const auto& entry : profiles) {
    const std::string& name = entry.first;  // no structured binding: clang 14 captures none
    const Features& profile = entry.second;
    CAPTURE(name);
    const double roof = std::max(*profile.find("roof_utilisation"), *profile.find("tensor_utilisation"));
    const RooflineGaps gaps = roofline_gaps(profile);
    for (const Axis axis : all_axes)
      if (gaps[axis]) CHECK(*gaps[axis] <= 1 - roof / 100 + 2e-6);
    // A run that took no counters knows no latency, and what it knows of the others must still be there.
    REQUIRE(gaps[Axis::compute].has_value());
    REQUIRE(gaps[Axis::memory].has_value());
    CHECK(gaps.complete() == profile.find("stall_long_scoreboard").has_value());
    whole += gaps.complete() ? 1 : 0;
    RooflineBudgetOptions options;
    options.methods = read_methods("cuda");
    options.device.architecture = 90;
    RooflineBudget search(options);
    const std::vector<Move> asked = search.ask(1);
    REQUIRE(asked.size() == 1);
    Observation<Move> told{asked[0], {}};
    told.outcome.origin = Origin{ProposalId{0}, 0, 1};
    told.outcome.objective = 1e-3;
    told.outcome.evaluation = Evaluation::succeeded(1e-3);
    told.outcome.evaluation.features = profile;
    search.tell({&told, 1});
    if (search.ending().reason == SkillEnd::near_peak) at_roof.push_back(name);
    CHECK((search.ending().reason == SkillEnd::near_peak) == (roof > 85));
  }
  CHECK(at_roof == std::vector<std::string>{"matmul_f16"});
  CHECK(whole >= 1 + 4 + 9);
}
