// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernelsearch/agents/declared_tunables.hpp"
#include "kernelsearch/llm/chat.hpp"

namespace kernelsearch {

/// What is wrong with a model's reply to the request for one region.
enum class RegionFault : std::uint8_t {
  none,
  empty,         ///< nothing, or the model or its provider declined
  no_code,       ///< prose without a code block
  several,       ///< more than one code block
  cut,           ///< the code block does not end
  too_long,      ///< beyond any kernel's length
  bad_tunables,  ///< its declaration of tunables does not read or does not fit
  lost_entry,    ///< the function that is called is gone
  bad_refusal,   ///< `DOES NOT APPLY` without a reason, or with code beside it
};

[[nodiscard]] constexpr std::string_view to_string(RegionFault fault) noexcept {
  constexpr std::string_view names[] = {"none",     "empty",        "no_code",    "several",    "cut",
                                        "too_long", "bad_tunables", "lost_entry", "bad_refusal"};
  return names[static_cast<int>(fault)];
}

/// A reply to the request for one region, read: its new text, or that it stays as it is, and tunables that
/// the model introduces.
struct RegionAnswer {
  RegionFault fault = RegionFault::none;
  std::string detail;      ///< of a fault: what was found and what to do, for the model
  bool unchanged = false;  ///< the model says that nothing is to be done here
  std::string text;        ///< the region's new text, unless unchanged
  DeclaredTunables declared;
};

/// Reads a reply: one fenced block of code is the region; a block marked `json` with the key "tunables"
/// declares tunables; the word UNCHANGED alone means no change. All else is prose and has no effect.
[[nodiscard]] RegionAnswer read_region_answer(const ChatReply& reply, std::size_t longest = 200000,
                                              DeclaredTunablesLimits limits = {});

}  // namespace kernelsearch
