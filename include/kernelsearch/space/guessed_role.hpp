// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>

#include "kernelsearch/space/tunable.hpp"

namespace kernelsearch {

/// What a tunable that declares no role probably does, by the words of its name: `UNROLL` unrolls,
/// `block_size_x` counts threads, `tile_size_x` the work of a thread (as Kernel Tuner's users name them).
/// `none` where no word is known.
[[nodiscard]] TunableRole guessed_role(std::string_view name);

/// The declared role, or the guessed one where none is declared.
[[nodiscard]] TunableRole role_of(const Tunable& tunable);

}  // namespace kernelsearch

#if KERNELSEARCH_HEADER_ONLY
#  include "kernelsearch/space/impl/guessed_role_impl.hpp"
#endif
