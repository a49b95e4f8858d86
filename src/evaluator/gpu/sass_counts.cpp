// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/sass_counts.hpp"

#include <algorithm>
#include <initializer_list>

namespace kernelsearch {
namespace {

std::string_view root_of(std::string_view opcode) noexcept {
  return opcode.substr(0, opcode.find('.'));
}

bool is_listed(std::string_view word, std::initializer_list<std::string_view> words) noexcept {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Whether one of the parts behind the first dot is `part`.
bool has_part(std::string_view opcode, std::string_view part) noexcept {
  for (std::size_t dot = opcode.find('.'); dot != std::string_view::npos;) {
    opcode.remove_prefix(dot + 1);
    dot = opcode.find('.');
    if (opcode.substr(0, dot) == part) return true;
  }
  return false;
}

bool is_global(std::string_view root) noexcept {
  return root == "LDG" || root == "STG";
}

}  // namespace

bool has_signature(std::string_view opcode, SassSignature signature) noexcept {
  const std::string_view root = root_of(opcode);
  switch (signature) {
    case SassSignature::tensor_core:
      return is_listed(root, {"HMMA", "IMMA", "DMMA", "BMMA", "QMMA", "OMMA", "HGMMA", "IGMMA", "QGMMA",
                              "BGMMA"}) ||
             (root.size() > 6 && root.substr(0, 3) == "UTC" && root.substr(root.size() - 3) == "MMA");
    case SassSignature::cp_async:
      return root == "LDGSTS";
    case SassSignature::tma:
      return is_listed(root, {"UTMALDG", "UTMASTG", "UTMAREDG", "UBLKCP", "UBLKRED"});
    case SassSignature::mbarrier:
      return root == "SYNCS";
    case SassSignature::warpgroup_wait:
      return opcode.substr(0, 16) == "WARPGROUP.DEPBAR";
    case SassSignature::vector_access:
      return root == "LDG" && access_bits(opcode) >= 128;
    case SassSignature::spills:
      return is_listed(root, {"LDL", "STL"});
    case SassSignature::shuffle:
      return root == "SHFL";
    case SassSignature::atomics:
      return is_listed(root, {"ATOM", "ATOMG", "ATOMS", "RED", "REDG"});
    case SassSignature::ldmatrix:
      return is_listed(root, {"LDSM", "STSM"});
    case SassSignature::barrier:
      return root == "BAR";
    case SassSignature::dependent_launch:
      return root == "ACQBULK" || root == "PREEXIT";
    case SassSignature::register_reallocation:
      return root == "USETMAXREG";
    case SassSignature::fma:
      return is_listed(root, {"FFMA", "FFMA2", "DFMA", "HFMA2"});
    case SassSignature::half_arithmetic:
      return is_listed(root, {"HFMA2", "HADD2", "HMUL2", "HMNMX2"});
    case SassSignature::conversion:
      return is_listed(root, {"F2F", "F2FP"});
    case SassSignature::warpgroup_mma:
      return is_listed(root, {"HGMMA", "IGMMA", "QGMMA", "BGMMA"});
    case SassSignature::tf32_tensor_core:
      return has_signature(opcode, SassSignature::tensor_core) && has_part(opcode, "TF32");
    case SassSignature::fp8_tensor_core:
      return has_signature(opcode, SassSignature::tensor_core) &&
             (is_listed(root, {"QMMA", "QGMMA", "UTCQMMA"}) || has_part(opcode, "E4M3") ||
              has_part(opcode, "E5M2"));
    case SassSignature::ex2:
      return root == "MUFU" && has_part(opcode, "EX2");
    case SassSignature::special_function:
      return root == "MUFU";
    case SassSignature::shared_access:
      return is_listed(root, {"LDS", "STS"});
    case SassSignature::vector_shared_access:
      return is_listed(root, {"LDS", "STS"}) && access_bits(opcode) >= 128;
    case SassSignature::vector_store:
      return root == "STG" && access_bits(opcode) >= 128;
    case SassSignature::global_load:
      return root == "LDG";
    case SassSignature::global_store:
      return root == "STG";
    case SassSignature::streaming_access:
      return is_global(root) && (has_part(opcode, "EF") || has_part(opcode, "LU") || has_part(opcode, "NA"));
    case SassSignature::l2_access:
      return is_global(root) && opcode.find(".STRONG.GPU") != std::string_view::npos;
    case SassSignature::read_only_load:
      return root == "LDG" && has_part(opcode, "CONSTANT");
    case SassSignature::prefetch:
      return root == "UBLKPF" || (root == "CCTL" && (has_part(opcode, "PF1") || has_part(opcode, "PF2")));
    case SassSignature::tma_load:
      return root == "UTMALDG" || opcode.substr(0, 10) == "UBLKCP.S.G";
    case SassSignature::tma_store:
      return is_listed(root, {"UTMASTG", "UTMAREDG", "UBLKRED"}) || opcode.substr(0, 10) == "UBLKCP.G.S";
    case SassSignature::tma_multicast:
      return is_listed(root, {"UTMALDG", "UBLKCP"}) && has_part(opcode, "MULTICAST");
    case SassSignature::tma_im2col:
      return root == "UTMALDG" && opcode.find(".IM2COL") != std::string_view::npos;
    case SassSignature::tensor_map_prefetch:
      return root == "UTMACCTL" && has_part(opcode, "PF");
    case SassSignature::cp_async_group:
      return root == "LDGDEPBAR";
    case SassSignature::vote:
      return is_listed(root, {"VOTE", "MATCH"}) || (root == "VOTEU" && !has_part(opcode, "ALL"));
    case SassSignature::population_count:
      return is_listed(root, {"POPC", "UPOPC"});
    case SassSignature::warp_reduction:
      return root == "REDUX";
    case SassSignature::lop3:
      return root == "LOP3";
    case SassSignature::barrier_arrive:
      return root == "BAR" && has_part(opcode, "ARV");
    case SassSignature::cluster_barrier:
      return is_listed(root, {"UCGABAR_ARV", "UCGABAR_WAIT"});
    case SassSignature::distributed_shared:
      return root == "STAS" || (is_listed(root, {"LD", "ST"}) && has_part(opcode, "CLUSTER"));
    case SassSignature::generic_access:
      return is_listed(root, {"LD", "ST", "ATOM"}) && !has_part(opcode, "CLUSTER");
    case SassSignature::branch:
      return is_listed(root, {"BRA", "BRX", "BRXU", "JMP", "JMX", "JMXU"});
    case SassSignature::call:
      return root == "CALL";
    case SassSignature::narrow_tensor_core:
      return is_listed(root, {"QMMA", "OMMA", "QGMMA", "UTCQMMA", "UTCOMMA"});
    case SassSignature::tensor_map_update:
      return root == "UTMACCTL" && has_part(opcode, "IV");
    case SassSignature::cluster_launch_control:
      return root == "UGETNEXTWORKID";
    case SassSignature::integer_division:
      return is_listed(root, {"I2F", "UI2F"}) && has_part(opcode, "RP");
    case SassSignature::float_division:
      return root == "FCHK";
    case SassSignature::exact_exponential:
      return root == "FFMA" && has_part(opcode, "SAT");
    case SassSignature::float_arithmetic:
      return is_listed(root,
                       {"FFMA", "FADD", "FMUL", "FMNMX", "FFMA2", "FADD2", "FMUL2", "DFMA", "DADD", "DMUL"});
    case SassSignature::divergence:
      return root == "BSSY";
    case SassSignature::fence:
      return root == "MEMBAR";
    case SassSignature::constant_load:
      return root == "LDC";
    case SassSignature::shared_atomics:
      return root == "ATOMS" && !has_part(opcode, "ARRIVE");
    case SassSignature::scaled_exponential:
      return root == "FMUL" && has_part(opcode, "LOG2E");
    case SassSignature::warpgroup_overlap:
      return has_signature(opcode, SassSignature::warpgroup_wait) && has_part(opcode, "PENDING");
    case SassSignature::mbarrier_arrive:
      return (root == "SYNCS" && has_part(opcode, "ARRIVE") && has_part(opcode, "A1T0")) ||
             (root == "ATOMS" && has_part(opcode, "ARRIVE"));
  }
  return false;
}

unsigned access_bits(std::string_view opcode) noexcept {
  unsigned bits = 32;
  while (true) {
    const std::size_t dot = opcode.find('.');
    if (dot == std::string_view::npos) return bits;
    opcode.remove_prefix(dot + 1);
    std::string_view part = opcode.substr(0, opcode.find('.'));
    if (!part.empty() && (part.front() == 'U' || part.front() == 'S')) part.remove_prefix(1);
    for (const unsigned known : {8u, 16u, 32u, 64u, 96u, 128u, 256u})
      if (part == std::string_view(known == 8     ? "8"
                                   : known == 16  ? "16"
                                   : known == 32  ? "32"
                                   : known == 64  ? "64"
                                   : known == 96  ? "96"
                                   : known == 128 ? "128"
                                                  : "256"))
        bits = known;
  }
}

std::map<std::string, std::size_t> SassCounts::by_root() const {
  std::map<std::string, std::size_t> roots;
  for (const auto& [opcode, count] : counts_) roots[std::string(root_of(opcode))] += count;
  return roots;
}

std::size_t SassCounts::root(std::string_view root) const {
  std::size_t sum = 0;
  for (const auto& [opcode, count] : counts_)
    if (root_of(opcode) == root) sum += count;
  return sum;
}

std::size_t SassCounts::of(SassSignature signature) const {
  std::size_t sum = 0;
  for (const auto& [opcode, count] : counts_)
    if (has_signature(opcode, signature)) sum += count;
  return sum;
}

std::map<unsigned, std::size_t> SassCounts::widths(std::string_view root) const {
  std::map<unsigned, std::size_t> widths;
  for (const auto& [opcode, count] : counts_)
    if (root_of(opcode) == root) widths[access_bits(opcode)] += count;
  return widths;
}

std::size_t SassCounts::total() const {
  std::size_t sum = 0;
  for (const auto& [opcode, count] : counts_) sum += count;
  return sum;
}

}  // namespace kernelsearch
