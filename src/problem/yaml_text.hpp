// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/core/result.hpp"

namespace kernelsearch::detail {

/// What stands behind a key of the outermost mapping of a YAML document.
struct YamlEntry {
  enum class Kind { scalar, list, other };
  std::string key;
  Kind kind = Kind::scalar;
  std::vector<std::string> texts;  ///< one of a scalar (none where it is null), those of a list
};

/// The entries of a document whose outermost mapping is in block style: scalars of every style and lists of
/// them; what is nested deeper is only skipped (`other`). A library would be one more dependency for a few
/// keys of files whose form is known. A message for any other document: tags, anchors, open quotes.
[[nodiscard]] Result<std::vector<YamlEntry>, std::string> try_yaml(std::string_view text);

}  // namespace kernelsearch::detail
