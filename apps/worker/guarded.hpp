// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace kernelsearch {

/// `kernelsearch-worker guarded ADDRESS_SPACE_BYTES PROCESSES CPU_SECONDS LIBRARY CALLER`: one call of the
/// library's entry, or of its caller's where there is one, on the arrays of evaluator/host/guarded_call.hpp,
/// each between pages that cannot be accessed. The exit status is one of those there.
int run_guarded(int argc, char** argv);

}  // namespace kernelsearch
