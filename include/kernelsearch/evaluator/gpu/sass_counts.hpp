// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace kernelsearch {

/// What instructions of NVIDIA's machine code give away: by their opcodes as real dumps show them, not by the
/// names that PTX has for them.
enum class SassSignature : std::uint8_t {
  tensor_core,       ///< HMMA, IMMA, DMMA, BMMA, QMMA, OMMA; HGMMA, IGMMA, QGMMA, BGMMA (Hopper); UTC*MMA
                     ///< (Blackwell)
  cp_async,          ///< LDGSTS
  tma,               ///< UTMALDG, UTMASTG, UTMAREDG, UBLKCP, UBLKRED
  mbarrier,          ///< SYNCS
  warpgroup_wait,    ///< WARPGROUP.DEPBAR
  vector_access,     ///< LDG of 128 bits or more
  spills,            ///< LDL, STL: local memory, which arrays indexed at run time use as well
  shuffle,           ///< SHFL
  atomics,           ///< ATOM, ATOMG, ATOMS, RED, REDG
  ldmatrix,          ///< LDSM, STSM
  barrier,           ///< BAR
  dependent_launch,  ///< ACQBULK, PREEXIT: programmatic dependent launch
  register_reallocation,  ///< USETMAXREG: setmaxnreg
};

inline constexpr std::array<std::string_view, 13> sass_signature_names{
    "tensor_core", "cp_async", "tma",      "mbarrier", "warpgroup_wait",   "vector_access",        "spills",
    "shuffle",     "atomics",  "ldmatrix", "barrier",  "dependent_launch", "register_reallocation"};

[[nodiscard]] constexpr std::string_view to_string(SassSignature signature) noexcept {
  return sass_signature_names[static_cast<std::size_t>(signature)];
}

/// Whether an instruction, e.g. `LDG.E.128.CONSTANT`, is one of the signature.
[[nodiscard]] bool has_signature(std::string_view opcode, SassSignature signature) noexcept;

/// Bits that one thread moves with a load or store, e.g. 128 for `LDG.E.128.CONSTANT`; 32 where it says none.
[[nodiscard]] unsigned access_bits(std::string_view opcode) noexcept;

/// Numbers of instructions by their full opcode.
class SassCounts {
 public:
  void add(const std::string& opcode, std::size_t times = 1) { counts_[opcode] += times; }

  [[nodiscard]] const std::map<std::string, std::size_t>& by_opcode() const noexcept { return counts_; }
  /// By what stands before the first dot.
  [[nodiscard]] std::map<std::string, std::size_t> by_root() const;
  [[nodiscard]] std::size_t root(std::string_view root) const;  ///< e.g. "FFMA"
  [[nodiscard]] std::size_t of(SassSignature signature) const;
  /// Loads or stores of this root by the bits that a thread moves.
  [[nodiscard]] std::map<unsigned, std::size_t> widths(std::string_view root) const;
  [[nodiscard]] std::size_t total() const;

 private:
  std::map<std::string, std::size_t> counts_;
};

}  // namespace kernelsearch
