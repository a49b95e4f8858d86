// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelsearch {

/// What could be read of a list that a model was asked for.
struct SalvagedItems {
  std::vector<std::string> items;  ///< each a complete JSON value on one line
  bool cut = false;                ///< the text ended inside the list; its last, incomplete item is left out
};

/// The items of the lists under `key` anywhere in a reply: in prose, in fenced blocks, in several of them.
/// Where there is no such list, the items of bare lists and the objects that stand alone. Takes what models
/// write for JSON: Python's literals, single quotes, bare words, trailing commas, comments; and lists that
/// end in the middle. Never fails; time grows linearly with the text.
[[nodiscard]] SalvagedItems salvage_items(std::string_view text, std::string_view key);

}  // namespace kernelsearch
