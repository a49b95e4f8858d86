// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <string>

#include "kernelsearch/store/run_info.hpp"

namespace kernelsearch::detail {

/// The file next to the store that the process that works on a run locks; `kind` is the end of the name of
/// another one next to it.
[[nodiscard]] inline std::filesystem::path working_file(const std::filesystem::path& store, RunId run,
                                                        const char* kind = "") {
  return store.string() + ".working/" + std::to_string(number(run)) + kind;
}

}  // namespace kernelsearch::detail
