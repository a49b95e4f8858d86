// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernelsearch/core/impl/enum_names.hpp"

namespace kernelsearch {

/// What is wrong with a reply. Each is told to the model once, then the proposal is given up.
enum class ReplyFault : std::uint8_t {
  none,
  empty,                ///< no text
  declined,             ///< the model or its provider refused
  no_code,              ///< no block of code and no diff
  truncated,            ///< the code breaks off
  too_long,             ///< more code than a kernel may have
  wrong_region,         ///< a region that the kernel does not have, or not one where one was asked for
  missing_function,     ///< the function that others call is gone
  changed_signature,    ///< or is another one
  same_code,            ///< as the kernel that was to be changed, or as one tried before
  bad_patch,            ///< a diff that does not fit
  bad_tunables,         ///< a declaration of tunables that makes no space, or of one that the code ignores
  bad_launch,           ///< a launch that does not read, does not fit the kernel, or cannot be
  no_anchors,           ///< a plan without places to change
  bad_anchors,          ///< anchors that do not nest, or that are left in code
  outside_anchors,      ///< changes outside of the anchors
  missing_instruction,  ///< a place without an instruction
  unwanted_tunables,    ///< a declaration of tunables where nothing searches them
  bad_refusal,          ///< `DOES NOT APPLY` without a reason, with code as well, or where nothing was named
  no_retry_note,        ///< what failed before is tried again without a word on what is done differently
};

inline constexpr int reply_fault_count = detail::enum_count<ReplyFault>;

[[nodiscard]] constexpr std::string_view to_string(ReplyFault fault) noexcept {
  constexpr std::string_view names[reply_fault_count] = {"none",
                                                         "empty",
                                                         "declined",
                                                         "no_code",
                                                         "truncated",
                                                         "too_long",
                                                         "wrong_region",
                                                         "missing_function",
                                                         "changed_signature",
                                                         "same_code",
                                                         "bad_patch",
                                                         "bad_tunables",
                                                         "bad_launch",
                                                         "no_anchors",
                                                         "bad_anchors",
                                                         "outside_anchors",
                                                         "missing_instruction",
                                                         "unwanted_tunables",
                                                         "bad_refusal",
                                                         "no_retry_note"};
  return names[static_cast<int>(fault)];
}
static_assert(detail::all_named<ReplyFault>(), "a fault has no name: add it to the list");

/// A fault with what exactly was found, in words that are fed back to the model.
struct ReplyJudgement {
  ReplyFault fault = ReplyFault::none;
  std::string detail;

  [[nodiscard]] bool ok() const noexcept { return fault == ReplyFault::none; }
};

}  // namespace kernelsearch
