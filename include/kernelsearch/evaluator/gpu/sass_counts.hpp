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
  fma,                    ///< FFMA, FFMA2, DFMA, HFMA2
  half_arithmetic,        ///< HFMA2, HADD2, HMUL2, HMNMX2
  conversion,             ///< F2F, F2FP: to narrower or wider floating types
  warpgroup_mma,          ///< HGMMA, IGMMA, QGMMA, BGMMA
  tf32_tensor_core,       ///< of these with .TF32
  fp8_tensor_core,        ///< of these QMMA, QGMMA, UTCQMMA or with .E4M3, .E5M2
  ex2,                    ///< MUFU.EX2
  special_function,       ///< MUFU
  shared_access,          ///< LDS, STS
  vector_shared_access,   ///< of these 128 bits or more
  vector_store,           ///< STG of 128 bits or more
  global_load,            ///< LDG
  global_store,           ///< STG
  streaming_access,       ///< LDG, STG with .EF, .LU or .NA: .cs, .lu, no_allocate
  l2_access,              ///< LDG, STG with .STRONG.GPU: .cg, which atomic accesses of one word look like too
  read_only_load,         ///< LDG with .CONSTANT
  prefetch,               ///< CCTL.*.PF1, .PF1.5, .PF2 and UBLKPF: into a cache
  tma_load,               ///< UTMALDG, UBLKCP.S.G
  tma_store,              ///< UTMASTG, UTMAREDG, UBLKCP.G.S, UBLKRED
  tma_multicast,          ///< UTMALDG, UBLKCP with .MULTICAST
  tma_im2col,             ///< UTMALDG with .IM2COL
  tensor_map_prefetch,    ///< UTMACCTL.PF
  cp_async_group,         ///< LDGDEPBAR: commits asynchronous copies
  vote,                   ///< VOTE, MATCH, VOTEU less .ALL, which chooses one thread for a copy
  population_count,       ///< POPC, UPOPC
  warp_reduction,         ///< REDUX
  lop3,                   ///< LOP3
  barrier_arrive,         ///< BAR.ARV: threads that do not wait
  cluster_barrier,        ///< UCGABAR_ARV, UCGABAR_WAIT
  distributed_shared,     ///< LD, ST of a cluster's shared memory by its own address, STAS
  generic_access,         ///< LD, ST, ATOM: also another block's shared memory through a pointer
  branch,                 ///< BRA, BRX, JMP, JMX
  call,                   ///< CALL
  narrow_tensor_core,     ///< QMMA, OMMA, QGMMA, UTCQMMA, UTCOMMA: on floats of eight bits or fewer
  tensor_map_update,      ///< UTMACCTL.IV: a tensor map that was changed in memory is fetched anew
  cluster_launch_control,  ///< UGETNEXTWORKID
  integer_division,        ///< I2F.RP, UI2F.RP: how division and remainder by a variable begin
  float_division,          ///< FCHK: how a division rounded as IEEE 754 asks begins
  exact_exponential,       ///< FFMA.SAT: how expf splits its argument
  float_arithmetic,        ///< FFMA, FADD, FMUL, FMNMX, their pairs, DFMA, DADD, DMUL
  divergence,              ///< BSSY: a branch that threads of a warp may take differently
  fence,                   ///< MEMBAR
  constant_load,           ///< LDC: constant memory at a computed address, and, outside of loops, parameters
  shared_atomics,          ///< ATOMS, but for its ARRIVE
  scaled_exponential,      ///< FMUL by log2(e): how __expf begins
  warpgroup_overlap,       ///< WARPGROUP.DEPBAR that leaves matrix instructions under way
  mbarrier_arrive,  ///< SYNCS.ARRIVE of one thread without bytes, ATOMS.ARRIVE: as those who are done say
};

inline constexpr std::array<std::string_view, 60> sass_signature_names{"tensor_core",
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
                                                                       "fma",
                                                                       "half_arithmetic",
                                                                       "conversion",
                                                                       "warpgroup_mma",
                                                                       "tf32_tensor_core",
                                                                       "fp8_tensor_core",
                                                                       "ex2",
                                                                       "special_function",
                                                                       "shared_access",
                                                                       "vector_shared_access",
                                                                       "vector_store",
                                                                       "global_load",
                                                                       "global_store",
                                                                       "streaming_access",
                                                                       "l2_access",
                                                                       "read_only_load",
                                                                       "prefetch",
                                                                       "tma_load",
                                                                       "tma_store",
                                                                       "tma_multicast",
                                                                       "tma_im2col",
                                                                       "tensor_map_prefetch",
                                                                       "cp_async_group",
                                                                       "vote",
                                                                       "population_count",
                                                                       "warp_reduction",
                                                                       "lop3",
                                                                       "barrier_arrive",
                                                                       "cluster_barrier",
                                                                       "distributed_shared",
                                                                       "generic_access",
                                                                       "branch",
                                                                       "call",
                                                                       "narrow_tensor_core",
                                                                       "tensor_map_update",
                                                                       "cluster_launch_control",
                                                                       "integer_division",
                                                                       "float_division",
                                                                       "exact_exponential",
                                                                       "float_arithmetic",
                                                                       "divergence",
                                                                       "fence",
                                                                       "constant_load",
                                                                       "shared_atomics",
                                                                       "scaled_exponential",
                                                                       "warpgroup_overlap",
                                                                       "mbarrier_arrive"};

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
