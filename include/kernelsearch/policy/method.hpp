// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kernelsearch/core/expression.hpp"
#include "kernelsearch/model/roofline.hpp"
#include "kernelsearch/policy/code_signature.hpp"

namespace kernelsearch {

/// A way to make kernels faster, with what must hold for it and how it can be told that it was applied; read
/// from data/methods (docs/formats/methods.md).
struct Method {
  std::string id;  ///< `<axis>.<name>`, e.g. `memory.tiling_smem`
  std::string name;
  Axis axis = Axis::compute;
  std::size_t priority = 1;           ///< of its axis, 1 first
  std::string description;            ///< what to do, in words for a model
  unsigned architecture = 0;          ///< least compute capability, e.g. 90; 0: any
  std::vector<std::string> needs;     ///< features of the device, e.g. `tma`
  std::optional<Expression> trigger;  ///< over profile features and traits; false: nothing asks for it
  std::string trigger_words;
  std::optional<Expression> skip;  ///< true: there is nothing left for it to do, or it does not suit
  std::string skip_words;
  std::optional<Expression> strength;  ///< how much asks for it, in [0, 1]; none: 0.5
  std::vector<std::string> coupled;    ///< ids that are one method with it: never in the same iteration
  std::vector<std::string> excludes;   ///< ids that it cannot be combined with at all
  CodeSignature signature;
  std::string no_trace;  ///< why it has no signature, for people; empty where it has one
};

}  // namespace kernelsearch
