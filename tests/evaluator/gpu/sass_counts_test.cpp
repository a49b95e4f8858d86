// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/sass_counts.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace kernelsearch;

TEST_CASE("opcodes of real machine code have their signatures and no others") {
  const std::vector<std::pair<std::string, std::string>> known{
      {"HMMA.16816.F32", "tensor_core"},
      {"QMMA.16832.F32.E4M3.E4M3", "tensor_core fp8_tensor_core narrow_tensor_core"},
      {"DMMA.8x8x4", "tensor_core"},
      {"HGMMA.64x128x16.F32", "tensor_core warpgroup_mma"},
      {"HMMA.1688.F32.TF32", "tensor_core tf32_tensor_core"},
      {"UTCHMMA", "tensor_core"},
      {"UTCQMMA.2CTA", "tensor_core fp8_tensor_core narrow_tensor_core"},
      {"LDGSTS.E.BYPASS.128", "cp_async"},
      {"UTMALDG.2D.MULTICAST", "tma tma_load tma_multicast"},
      {"UTMALDG.4D.IM2COL", "tma tma_load tma_im2col"},
      {"UTMAREDG.2D.ADD", "tma tma_store"},
      {"UBLKCP.G.S", "tma tma_store"},
      {"UBLKCP.S.G", "tma tma_load"},
      {"SYNCS.PHASECHK.TRANS64.TRYWAIT", "mbarrier"},
      {"WARPGROUP.DEPBAR.LE", "warpgroup_wait"},
      {"WARPGROUP.DEPBAR.LE.PENDING", "warpgroup_wait warpgroup_overlap"},
      {"FMUL.LOG2E", "float_arithmetic scaled_exponential"},
      {"FFMA.LOG2E", "fma float_arithmetic"},
      {"LDG.E.128.CONSTANT", "vector_access global_load read_only_load"},
      {"STG.E.EF.128", "vector_store global_store streaming_access"},
      {"STG.E.STRONG.GPU", "global_store l2_access"},
      {"LDG.E.STRONG.SYS", "global_load"},
      {"LDL.LU", "spills"},
      {"STL.64", "spills"},
      {"SHFL.BFLY", "shuffle"},
      {"REDG.E.ADD.STRONG.GPU", "atomics"},
      {"RED.E.ADD.STRONG.GPU", "atomics"},
      {"ATOMS.POPC.INC.32", "atomics shared_atomics"},
      {"LDSM.16.M88.4", "ldmatrix"},
      {"BAR.SYNC.DEFER_BLOCKING", "barrier"},
      {"BAR.ARV", "barrier barrier_arrive"},
      {"UCGABAR_WAIT", "cluster_barrier"},
      {"LD.E.CLUSTER", "distributed_shared"},
      {"LD.E", "generic_access"},
      {"STAS", "distributed_shared"},
      {"ACQBULK", "dependent_launch"},
      {"USETMAXREG.DEALLOC.CTAPOOL", "register_reallocation"},
      {"FFMA", "fma float_arithmetic"},
      {"HFMA2.MMA", "fma half_arithmetic"},
      {"MOV.HFMA2.MMA", ""},
      {"F2FP.F16.F32.PACK_AB", "conversion"},
      {"MUFU.EX2", "ex2 special_function"},
      {"MUFU.RCP", "special_function"},
      {"CCTL.E.PF2", "prefetch"},
      {"CCTL.IVALL", ""},
      {"VOTE.ANY", "vote"},
      {"VOTEU.ALL", ""},
      {"MATCH.ANY", "vote"},
      {"POPC", "population_count"},
      {"LOP3.LUT", "lop3"},
      {"BRA.U.ANY", "branch"},
      {"CALL.REL.NOINC", "call"},
      {"WARPGROUP.ARRIVE", ""},
      {"UTCBAR", ""},
      {"LDG.E.64", "global_load"},
      {"LDGDEPBAR", "cp_async_group"},
      {"REDUX.SUM", "warp_reduction"},
      {"LDS.128", "shared_access vector_shared_access"},
      {"UTMACCTL.PF", "tensor_map_prefetch"},
      {"UTMACCTL.IV", "tensor_map_update"},
      {"", ""}};
  for (const auto& entry : known) {
    const auto& opcode = entry.first;  // no structured binding: clang 14 captures none
    const auto& expected = entry.second;
    std::string names;
    for (std::size_t s = 0; s < sass_signature_names.size(); ++s)
      if (has_signature(opcode, static_cast<SassSignature>(s)))
        names += (names.empty() ? "" : " ") + std::string(sass_signature_names[s]);
    CHECK_MESSAGE(names == expected, opcode, ": ", names);
  }
}

TEST_CASE("what the registry of methods asks for, in opcodes of nvcc 13.0 for sm_80, 90a, 100a and 120a") {
  using enum SassSignature;
  const std::vector<std::pair<SassSignature, std::vector<std::string>>> shown{
      {narrow_tensor_core, {"QGMMA.64x128x32.F32.E4M3.E4M3", "QMMA.16832.F32.E4M3.E4M3", "UTCQMMA.2CTA"}},
      {tensor_map_update, {"UTMACCTL.IV"}},
      {cluster_launch_control, {"UGETNEXTWORKID.SELFCAST"}},
      {integer_division, {"I2F.U32.RP", "I2F.RP", "UI2F.U32.RP", "I2F.U64.RP"}},
      {float_division, {"FCHK"}},
      {exact_exponential, {"FFMA.SAT"}},
      {float_arithmetic, {"FFMA", "FFMA.SAT", "FADD.FTZ", "FMUL", "FMNMX", "DFMA"}},
      {divergence, {"BSSY", "BSSY.RECONVERGENT"}},
      {fence, {"MEMBAR.SC.GPU", "MEMBAR.ALL.GPU"}},
      {constant_load, {"LDC", "LDC.64"}},
      {shared_atomics, {"ATOMS.POPC.INC.32"}},
      {mbarrier_arrive, {"SYNCS.ARRIVE.TRANS64.A1T0", "ATOMS.ARRIVE.64"}}};
  const std::vector<std::string> others{"HGMMA.64x128x16.F32",
                                        "UTCHMMA",
                                        "UTMACCTL.PF",
                                        "UTMALDG.2D",
                                        "I2F",
                                        "I2F.F64.S64",
                                        "I2FP.F32.S32",
                                        "F2I.FTZ.U32.TRUNC.NTZ",
                                        "MUFU.RCP",
                                        "BSYNC",
                                        "SYNCS.ARRIVE.TRANS64",
                                        "SYNCS.PHASECHK.TRANS64.TRYWAIT",
                                        "LDCU.64",
                                        "ULDC.64",
                                        "ERRBAR",
                                        "RED.E.ADD.STRONG.GPU",
                                        "IMAD",
                                        ""};
  for (const auto& one : shown) {
    const SassSignature signature = one.first;
    for (const std::string& opcode : one.second)
      CHECK_MESSAGE(has_signature(opcode, signature), opcode, " ", to_string(signature));
    for (const std::string& opcode : others)
      CHECK_MESSAGE(!has_signature(opcode, signature), opcode, " ", to_string(signature));
    for (const auto& [other, opcodes_of_other] : shown)
      if (other != signature && !(signature == float_arithmetic && other == exact_exponential))
        for (const std::string& opcode : opcodes_of_other)
          CHECK_MESSAGE(
              has_signature(opcode, signature) == (signature == exact_exponential && opcode == "FFMA.SAT"),
              opcode, " ", to_string(signature));
  }
  const std::set<std::string_view> names(sass_signature_names.begin(), sass_signature_names.end());
  CHECK(names.size() == sass_signature_names.size());
  CHECK(to_string(mbarrier_arrive) == sass_signature_names.back());
  CHECK(to_string(call) == "call");
}

TEST_CASE("bits of an access") {
  CHECK(access_bits("LDG.E") == 32);
  CHECK(access_bits("LDG.E.U8.CONSTANT") == 8);
  CHECK(access_bits("LDG.E.S16") == 16);
  CHECK(access_bits("LDG.E.64.STRONG.GPU") == 64);
  CHECK(access_bits("LDG.E.LTC128B.128") == 128);
  CHECK(access_bits("LDG.E.LTC128B") == 32);
  CHECK(access_bits("LDG.E.ENL2.256") == 256);
  CHECK(access_bits("") == 32);
  CHECK(access_bits("LDG...128.") == 128);
}

TEST_CASE("counts by opcode, root, signature and width") {
  SassCounts counts;
  counts.add("LDG.E.128");
  counts.add("LDG.E.128");
  counts.add("LDG.E");
  counts.add("LDGSTS.E.128", 3);
  counts.add("FFMA", 7);
  CHECK(counts.total() == 13);
  CHECK(counts.root("LDG") == 3);
  CHECK(counts.root("LD") == 0);
  CHECK(counts.by_opcode().at("LDG.E.128") == 2);
  CHECK(counts.by_root() == std::map<std::string, std::size_t>{{"FFMA", 7}, {"LDG", 3}, {"LDGSTS", 3}});
  CHECK(counts.widths("LDG") == std::map<unsigned, std::size_t>{{32, 1}, {128, 2}});
  CHECK(counts.of(SassSignature::vector_access) == 2);
  CHECK(counts.of(SassSignature::cp_async) == 3);
}
