// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

namespace kernelsearch {

/// What a build command says of launching a kernel that it made, in place of what the problem says.
struct BuiltLaunch {
  std::int64_t shared_bytes = -1;           ///< of dynamic shared memory; negative: as the problem says
  std::array<std::uint32_t, 3> block = {};  ///< threads, x first; zeros: as the problem says

  friend bool operator==(const BuiltLaunch&, const BuiltLaunch&) = default;
};

/// Built code as bytes, so that it can be run elsewhere than where it was built.
struct PortableArtifact {
  std::string code;                     ///< a shared object, or a device image
  std::vector<std::string> functions;   ///< names in a device image of the kernels that the steps launch
  bool library = false;                 ///< the code of a device candidate is a shared object
  std::vector<BuiltLaunch> launches{};  ///< one for each of `functions`, or none
};

/// An evaluator whose artifacts can be carried to an equal evaluator, on this machine or another of the same
/// device and toolchain.
///
/// 1. `evaluator.carry(artifact)` is a `PortableArtifact`.
/// 2. `evaluator.carried(candidate, portable)` is an artifact of that candidate, as `build` leaves it.
///    Both are called from several threads at once.
template <class E, class Candidate>
concept CarriesArtifacts = requires(E& evaluator, const typename E::Artifact& artifact,
                                    const Candidate& candidate, const PortableArtifact& portable) {
  { evaluator.carry(artifact) } -> std::same_as<PortableArtifact>;
  { evaluator.carried(candidate, portable) } -> std::same_as<typename E::Artifact>;
};

}  // namespace kernelsearch
