// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string_view>

#include "kernelsearch/evaluator/host/object_counts.hpp"

namespace kernelsearch::detail {

/// What one instruction is.
struct ObjectKind {
  std::uint32_t signatures = 0;  ///< bit i: ObjectSignature i; `branch` and `call` are set by its reader
  std::size_t work = 0;          ///< that it does, roughly, in numbers
  bool packed_access = false;    ///< reads or writes packed numbers in memory that is not a constant or local
  bool doubtful_packed = false;  ///< packed arithmetic that scalar code has as well
  bool padding = false;          ///< does nothing

  [[nodiscard]] bool is(ObjectSignature signature) const noexcept {
    return (signatures >> static_cast<unsigned>(signature) & 1u) != 0;
  }
  void set(ObjectSignature signature) noexcept { signatures |= 1u << static_cast<unsigned>(signature); }
};

/// For x86-64 in AT&T syntax, without prefixes such as `lock`. `framed`: %rbp holds the frame's address.
[[nodiscard]] ObjectKind object_kind(std::string_view mnemonic, std::string_view operands, bool framed);

}  // namespace kernelsearch::detail
