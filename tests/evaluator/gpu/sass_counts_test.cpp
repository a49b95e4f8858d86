// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/sass_counts.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace kernelsearch;

TEST_CASE("opcodes of real machine code have their signatures and no others") {
  const std::vector<std::pair<std::string, std::string>> known{
      {"HMMA.16816.F32", "tensor_core"},
      {"QMMA.16832.F32.E4M3.E4M3", "tensor_core"},
      {"DMMA.8x8x4", "tensor_core"},
      {"HGMMA.64x128x16.F32", "tensor_core"},
      {"UTCHMMA", "tensor_core"},
      {"UTCQMMA.2CTA", "tensor_core"},
      {"LDGSTS.E.BYPASS.128", "cp_async"},
      {"UTMALDG.2D.MULTICAST", "tma"},
      {"UBLKCP.S.G", "tma"},
      {"SYNCS.PHASECHK.TRANS64.TRYWAIT", "mbarrier"},
      {"WARPGROUP.DEPBAR.LE", "warpgroup_wait"},
      {"LDG.E.128.CONSTANT", "vector_access"},
      {"LDL.LU", "spills"},
      {"STL.64", "spills"},
      {"SHFL.BFLY", "shuffle"},
      {"REDG.E.ADD.STRONG.GPU", "atomics"},
      {"RED.E.ADD.STRONG.GPU", "atomics"},
      {"ATOMS.POPC.INC.32", "atomics"},
      {"LDSM.16.M88.4", "ldmatrix"},
      {"BAR.SYNC.DEFER_BLOCKING", "barrier"},
      {"ACQBULK", "dependent_launch"},
      {"USETMAXREG.DEALLOC.CTAPOOL", "register_reallocation"},
      {"FFMA", ""},
      {"WARPGROUP.ARRIVE", ""},
      {"UTCBAR", ""},
      {"LDG.E.64", ""},
      {"LDGDEPBAR", ""},
      {"REDUX.SUM", ""},
      {"LDS.128", ""},
      {"UTMACCTL.PF", ""},
      {"", ""}};
  for (const auto& [opcode, expected] : known)
    for (std::size_t s = 0; s < sass_signature_names.size(); ++s) {
      const auto signature = static_cast<SassSignature>(s);
      CHECK_MESSAGE(has_signature(opcode, signature) == (to_string(signature) == expected), opcode);
    }
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
