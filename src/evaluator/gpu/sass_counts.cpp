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

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) noexcept {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Whether one of the parts behind the root is one of the words.
bool has_part(std::string_view opcode, std::initializer_list<std::string_view> words) noexcept {
  while (true) {
    const std::size_t dot = opcode.find('.');
    if (dot == std::string_view::npos) return false;
    opcode.remove_prefix(dot + 1);
    if (is_one_of(opcode.substr(0, opcode.find('.')), words)) return true;
  }
}

bool begins(std::string_view opcode, std::string_view with) noexcept {
  return opcode.substr(0, with.size()) == with;
}

}  // namespace

bool has_signature(std::string_view opcode, SassSignature signature) noexcept {
  const std::string_view root = root_of(opcode);
  switch (signature) {
    case SassSignature::tensor_core:
      return is_one_of(root, {"HMMA", "IMMA", "DMMA", "BMMA", "QMMA", "OMMA", "HGMMA", "IGMMA", "QGMMA",
                              "BGMMA"}) ||
             (root.size() > 6 && root.substr(0, 3) == "UTC" && root.substr(root.size() - 3) == "MMA");
    case SassSignature::cp_async:
      return root == "LDGSTS";
    case SassSignature::tma:
      return is_one_of(root, {"UTMALDG", "UTMASTG", "UTMAREDG", "UBLKCP", "UBLKRED"});
    case SassSignature::mbarrier:
      return root == "SYNCS";
    case SassSignature::warpgroup_wait:
      return begins(opcode, "WARPGROUP.DEPBAR");
    case SassSignature::vector_access:
      return root == "LDG" && access_bits(opcode) >= 128;
    case SassSignature::spills:
      return is_one_of(root, {"LDL", "STL"});
    case SassSignature::shuffle:
      return root == "SHFL";
    case SassSignature::atomics:
      return is_one_of(root, {"ATOM", "ATOMG", "ATOMS", "RED", "REDG"});
    case SassSignature::ldmatrix:
      return is_one_of(root, {"LDSM", "STSM"});
    case SassSignature::barrier:
      return root == "BAR";
    case SassSignature::dependent_launch:
      return root == "ACQBULK" || root == "PREEXIT";
    case SassSignature::register_reallocation:
      return root == "USETMAXREG";
    case SassSignature::tensor_tf32:
      return is_one_of(root, {"HMMA", "HGMMA"}) && has_part(opcode, {"TF32"});
    case SassSignature::tensor_fp8:
      return is_one_of(root, {"QMMA", "OMMA", "QGMMA", "UTCQMMA", "UTCOMMA"});
    case SassSignature::tma_multicast:
      return is_one_of(root, {"UTMALDG", "UBLKCP"}) && has_part(opcode, {"MULTICAST"});
    case SassSignature::tma_im2col:
      return root == "UTMALDG" && has_part(opcode, {"IM2COL"});
    case SassSignature::tensor_map_update:
      return root == "UTMACCTL" && has_part(opcode, {"IV"});
    case SassSignature::tensor_map_prefetch:
      return root == "UTMACCTL" && has_part(opcode, {"PF"});
    case SassSignature::prefetch:
      return is_one_of(root, {"UBLKPF", "UTMAPF"}) || (root == "CCTL" && has_part(opcode, {"PF1", "PF2"}));
    case SassSignature::cluster:
      return is_one_of(root, {"UCGABAR_ARV", "UCGABAR_WAIT"});
    case SassSignature::cluster_store:
      return is_one_of(root, {"STAS", "REDAS"});
    case SassSignature::generic_access:
      return is_one_of(root, {"LD", "ST"});
    case SassSignature::cluster_launch_control:
      return root == "UGETNEXTWORKID";
    case SassSignature::shared_load:
      return is_one_of(root, {"LDS", "LDSM"});
    case SassSignature::shared_store:
      return is_one_of(root, {"STS", "STSM"});
    case SassSignature::read_only:
      return root == "LDG" && has_part(opcode, {"CONSTANT"});
    case SassSignature::cache_hint:
      return is_one_of(root, {"LDG", "STG"}) && has_part(opcode, {"EF", "EL", "LU", "NA"});
    case SassSignature::cache_global:
      return is_one_of(root, {"LDG", "STG"}) && has_part(opcode, {"STRONG"}) && has_part(opcode, {"GPU"});
    case SassSignature::exp2:
      return root == "MUFU" && has_part(opcode, {"EX2"});
    case SassSignature::special_function:
      return root == "MUFU";
    case SassSignature::fma:
      return is_one_of(root, {"FFMA", "FFMA2", "DFMA"});
    case SassSignature::integer_division:
      return is_one_of(root, {"I2F", "UI2F"}) && has_part(opcode, {"RP"});
    case SassSignature::float_division:
      return root == "FCHK";
    case SassSignature::divergence:
      return root == "BSSY";
    case SassSignature::call:
      return root == "CALL";
    case SassSignature::logic:
      return root == "LOP3";
    case SassSignature::vote:
      return is_one_of(root, {"VOTE", "VOTEU", "MATCH", "REDUX"});
    case SassSignature::fence:
      return root == "MEMBAR";
    case SassSignature::barrier_arrive:
      return begins(opcode, "BAR.ARV") || begins(opcode, "SYNCS.ARRIVE");
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
