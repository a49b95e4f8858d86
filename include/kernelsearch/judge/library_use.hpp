// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
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

/// Reads the dynamic section of a 64-bit ELF file of this machine's byte order; nothing for another file, or
/// is damaged. Any bytes can be given.
[[nodiscard]] std::optional<LibraryUse> read_library_use(std::string_view elf);

/// Why a shared library that a build command made cannot be loaded in place of what our linking makes, and
/// what to do; nothing where it can. Any bytes can be given. What linking would have said is read from the
/// file: whole, of this machine's processor, with `function` among what it defines and no name of ours, no
/// relocations in its code, no search path outside of `readable` and nothing else asked of the loader but
/// libraries by name (System V ABI, chapter 5; the GNU extensions as in <elf.h>). Which libraries is for
/// `forbidden_use`; symbols that none of them defines are for the loader, which resolves all at once.
[[nodiscard]] std::optional<std::string> unfit_library(std::string_view elf, std::string_view function,
                                                       std::span<const std::filesystem::path> readable = {});

/// The libraries that a candidate may need: `libraries` of the problem; where that is left out those that its
/// build links, by `build.libraries` and by flags.
[[nodiscard]] std::vector<std::string> allowed_libraries(const Problem& problem, const Candidate& candidate);

/// What of it is not allowed, in words; nothing where all is. The run-time libraries of C, C++, OpenMP and
/// the sanitizers are always allowed, loading others while it runs (dlopen) only where "dl" is.
[[nodiscard]] std::optional<std::string> forbidden_use(const LibraryUse& use,
                                                       std::span<const std::string> allowed);

}  // namespace kernelsearch
