// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <string>
#include <vector>

namespace kernelsearch {

/// Built code as bytes, so that it can be run elsewhere than where it was built.
struct PortableArtifact {
  std::string code;                    ///< a shared object, or a device image
  std::vector<std::string> functions;  ///< names in a device image of the kernels that the steps launch
  bool library = false;                ///< the code of a device candidate is a shared object
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
