// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <span>
#include <string_view>

namespace kernelsearch::detail {

/// A file of data/, as it was when the library was built.
struct DataFile {
  std::string_view folder, name, text;
};

/// All of them, by folder, then by name; defined by what cmake/embed_data.cmake writes.
[[nodiscard]] std::span<const DataFile> embedded_files();

}  // namespace kernelsearch::detail
