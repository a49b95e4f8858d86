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
/// names that PTX has for them. An instruction may be of several.
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
  register_reallocation,   ///< USETMAXREG: setmaxnreg
  tensor_tf32,             ///< the tensor cores' instructions on tf32: HMMA and HGMMA with TF32
  tensor_fp8,              ///< those on eight bits or less that float: QMMA, OMMA, QGMMA, UTCQMMA, UTCOMMA
  tma_multicast,           ///< UTMALDG and UBLKCP to several blocks of a cluster
  tma_im2col,              ///< UTMALDG of a convolution's windows
  tensor_map_update,       ///< UTMACCTL.IV: a tensor map that was changed in memory is fetched anew
  tensor_map_prefetch,     ///< UTMACCTL.PF
  prefetch,                ///< CCTL.PF1, CCTL.PF2, UBLKPF, UTMAPF
  cluster,                 ///< UCGABAR_ARV, UCGABAR_WAIT: barriers of a cluster
  cluster_store,           ///< STAS, REDAS: asynchronous stores to other blocks of a cluster
  generic_access,          ///< LD, ST: also what reaches other blocks' shared memory
  cluster_launch_control,  ///< UGETNEXTWORKID
  shared_load,             ///< LDS, LDSM
  shared_store,            ///< STS, STSM
  read_only,               ///< LDG.CONSTANT: through the read-only path
  cache_hint,              ///< LDG and STG that say what caches are to keep: EF, EL, LU, NA
  cache_global,            ///< LDG and STG that go around the first level (STRONG.GPU), volatile ones apart
  exp2,                    ///< MUFU.EX2
  special_function,        ///< MUFU of any kind
  fma,                     ///< FFMA, FFMA2, DFMA; not HFMA2, which also moves constants
  integer_division,        ///< I2F.RP, UI2F.RP: how division and remainder by a variable begin
  float_division,          ///< FCHK: how a division rounded as IEEE 754 begins
  divergence,              ///< BSSY: a branch that threads of a warp may take differently
  call,                    ///< CALL
  logic,                   ///< LOP3
  vote,                    ///< VOTE, VOTEU, MATCH, REDUX: what warps find out together
  fence,                   ///< MEMBAR
  barrier_arrive,          ///< BAR.ARV, SYNCS.ARRIVE: arriving without waiting
};

inline constexpr std::array<std::string_view, 40> sass_signature_names{"tensor_core",
                                                                       "cp_async",
                                                                       "tma",
                                                                       "mbarrier",
                                                                       "warpgroup_wait",
                                                                       "vector_access",
                                                                       "spills",
                                                                       "shuffle",
                                                                       "atomics",
                                                                       "ldmatrix",
                                                                       "barrier",
                                                                       "dependent_launch",
                                                                       "register_reallocation",
                                                                       "tensor_tf32",
                                                                       "tensor_fp8",
                                                                       "tma_multicast",
                                                                       "tma_im2col",
                                                                       "tensor_map_update",
                                                                       "tensor_map_prefetch",
                                                                       "prefetch",
                                                                       "cluster",
                                                                       "cluster_store",
                                                                       "generic_access",
                                                                       "cluster_launch_control",
                                                                       "shared_load",
                                                                       "shared_store",
                                                                       "read_only",
                                                                       "cache_hint",
                                                                       "cache_global",
                                                                       "exp2",
                                                                       "special_function",
                                                                       "fma",
                                                                       "integer_division",
                                                                       "float_division",
                                                                       "divergence",
                                                                       "call",
                                                                       "logic",
                                                                       "vote",
                                                                       "fence",
                                                                       "barrier_arrive"};

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
