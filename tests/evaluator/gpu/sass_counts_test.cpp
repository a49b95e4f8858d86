// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/sass_counts.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace kernelsearch;

TEST_CASE("opcodes of real machine code have their signatures and no others") {
  const std::vector<std::pair<std::string, std::set<std::string_view>>> known{
      {"HMMA.16816.F32", {"tensor_core"}},
      {"HMMA.1688.F32.TF32", {"tensor_core", "tensor_tf32"}},
      {"QMMA.16832.F32.E4M3.E4M3", {"tensor_core", "tensor_fp8"}},
      {"DMMA.8x8x4", {"tensor_core"}},
      {"HGMMA.64x128x16.F32", {"tensor_core"}},
      {"HGMMA.64x128x8.F32.TF32", {"tensor_core", "tensor_tf32"}},
      {"QGMMA.64x128x32.F32.E4M3.E4M3", {"tensor_core", "tensor_fp8"}},
      {"UTCHMMA", {"tensor_core"}},
      {"UTCQMMA.2CTA", {"tensor_core", "tensor_fp8"}},
      {"LDGSTS.E.BYPASS.128", {"cp_async"}},
      {"UTMALDG.2D", {"tma"}},
      {"UTMALDG.2D.MULTICAST", {"tma", "tma_multicast"}},
      {"UTMALDG.4D.IM2COL", {"tma", "tma_im2col"}},
      {"UBLKCP.S.G", {"tma"}},
      {"UBLKCP.S.G.MULTICAST", {"tma", "tma_multicast"}},
      {"UTMACCTL.IV", {"tensor_map_update"}},
      {"UTMACCTL.PF", {"tensor_map_prefetch"}},
      {"CCTL.E.PF2", {"prefetch"}},
      {"CCTL.IVALL", {}},
      {"CCTL.E.C.LDCU.IV.DEEP", {}},
      {"UBLKPF.L2", {"prefetch"}},
      {"UTMAPF.L2.2D", {"prefetch"}},
      {"UCGABAR_ARV", {"cluster"}},
      {"UCGABAR_WAIT", {"cluster"}},
      {"STAS", {"cluster_store"}},
      {"REDAS.ADD", {"cluster_store"}},
      {"LD.E", {"generic_access"}},
      {"ST.E", {"generic_access"}},
      {"UGETNEXTWORKID.SELFCAST", {"cluster_launch_control"}},
      {"SYNCS.PHASECHK.TRANS64.TRYWAIT", {"mbarrier"}},
      {"SYNCS.ARRIVE.TRANS64.A1T0", {"mbarrier", "barrier_arrive"}},
      {"WARPGROUP.DEPBAR.LE", {"warpgroup_wait"}},
      {"LDG.E.128.CONSTANT", {"vector_access", "read_only"}},
      {"LDG.E.EF.128", {"vector_access", "cache_hint"}},
      {"STG.E.EF.128", {"cache_hint"}},
      {"LDG.E.LU", {"cache_hint"}},
      {"LDG.E.NA", {"cache_hint"}},
      {"LDG.E.EL.LTC128B.CONSTANT", {"cache_hint", "read_only"}},
      {"LDG.E.STRONG.GPU", {"cache_global"}},
      {"LDG.E.STRONG.SYS", {}},
      {"LDL.LU", {"spills"}},
      {"STL.64", {"spills"}},
      {"SHFL.BFLY", {"shuffle"}},
      {"REDG.E.ADD.STRONG.GPU", {"atomics"}},
      {"RED.E.ADD.STRONG.GPU", {"atomics"}},
      {"ATOMS.POPC.INC.32", {"atomics"}},
      {"LDSM.16.M88.4", {"ldmatrix", "shared_load"}},
      {"STSM.16.M88.4", {"ldmatrix", "shared_store"}},
      {"LDS.128", {"shared_load"}},
      {"STS", {"shared_store"}},
      {"BAR.SYNC.DEFER_BLOCKING", {"barrier"}},
      {"BAR.ARV", {"barrier", "barrier_arrive"}},
      {"ACQBULK", {"dependent_launch"}},
      {"USETMAXREG.DEALLOC.CTAPOOL", {"register_reallocation"}},
      {"FFMA", {"fma"}},
      {"FFMA.RM", {"fma"}},
      {"DFMA", {"fma"}},
      {"HFMA2.MMA", {}},
      {"MUFU.EX2", {"exp2", "special_function"}},
      {"MUFU.RCP", {"special_function"}},
      {"I2F.U32.RP", {"integer_division"}},
      {"I2F.RP", {"integer_division"}},
      {"UI2F.U32.RP", {"integer_division"}},
      {"I2F.F64.S64", {}},
      {"FCHK", {"float_division"}},
      {"BSSY.RECONVERGENT", {"divergence"}},
      {"BSYNC", {}},
      {"CALL.REL.NOINC", {"call"}},
      {"LOP3.LUT", {"logic"}},
      {"PLOP3.LUT", {}},
      {"VOTEU.ANY", {"vote"}},
      {"MATCH.ANY", {"vote"}},
      {"REDUX.SUM.S32", {"vote"}},
      {"MEMBAR.SC.GPU", {"fence"}},
      {"WARPGROUP.ARRIVE", {}},
      {"UTCBAR", {}},
      {"LDG.E.64", {}},
      {"LDGDEPBAR", {}},
      {"UCGABAR", {}},
      {"", {}}};
  for (const auto& [opcode, expected] : known)
    for (std::size_t s = 0; s < sass_signature_names.size(); ++s) {
      const auto signature = static_cast<SassSignature>(s);
      CHECK_MESSAGE(has_signature(opcode, signature) == expected.contains(to_string(signature)), opcode, " ",
                    to_string(signature));
    }
  std::set<std::string_view> names;
  for (const std::string_view name : sass_signature_names) {
    names.insert(name);
    CHECK(
        std::any_of(known.begin(), known.end(), [&](const auto& one) { return one.second.contains(name); }));
  }
  CHECK(names.size() == sass_signature_names.size());
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
