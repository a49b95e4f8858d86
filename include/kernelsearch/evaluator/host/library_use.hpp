// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/problem/kernel.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

/// What a shared object asks of the dynamic linker.
struct LibraryUse {
  std::vector<std::string> needed;     ///< libraries to load with it (DT_NEEDED)
  std::vector<std::string> undefined;  ///< symbols that others have to define
};

/// Reads the dynamic section of a 64-bit ELF file of this machine's byte order; nothing where it is none, or
/// is damaged. Any bytes can be given.
[[nodiscard]] std::optional<LibraryUse> read_library_use(std::string_view elf);

/// The libraries that a candidate may need: `libraries` of the problem; where that is left out those that its
/// build links, by `build.libraries` and by flags.
[[nodiscard]] std::vector<std::string> allowed_libraries(const Problem& problem, const Candidate& candidate);

/// What of it is not allowed, in words; nothing where all is. The run-time libraries of C, C++, OpenMP and
/// the sanitizers are always allowed, loading others while it runs (dlopen) only where "dl" is.
[[nodiscard]] std::optional<std::string> forbidden_use(const LibraryUse& use,
                                                       std::span<const std::string> allowed);

}  // namespace kernelsearch
