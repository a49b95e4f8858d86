// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "problem/yaml_text.hpp"

/// Any bytes are a list of keys with texts, or a fault in words; a scalar has one text at most.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto entries =
      kernelsearch::detail::try_yaml(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!entries) {
    if (entries.error().empty()) std::abort();
    return 0;
  }
  using Kind = kernelsearch::detail::YamlEntry::Kind;
  for (const auto& entry : *entries)
    if (entry.key.empty() || (entry.kind == Kind::scalar && entry.texts.size() > 1) ||
        (entry.kind == Kind::other && !entry.texts.empty()))
      std::abort();
  return 0;
}
