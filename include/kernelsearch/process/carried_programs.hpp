// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <span>
#include <string_view>

namespace kernelsearch {

/// A program that another one has inside.
struct CarriedProgram {
  std::string_view name;   ///< e.g. `kernelsearch-worker`
  std::string_view bytes;  ///< of the executable
};

/// Says which helper programs this one has inside, so that it is all that is copied to another machine: those
/// are used rather than what is installed there. They are unpacked where one is first wanted, into a private
/// folder below the one for temporary files, which must allow programs (not `noexec`). It is removed when
/// this program ends, and where it was killed by the next kernelsearch of the same user that makes such a
/// folder. Once, before anything is judged; the bytes must stay.
void carry_programs(std::span<const CarriedProgram> programs);

}  // namespace kernelsearch
