// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// build error: a number is not a stop rule: did you mean run\(MaxTrials
#include "parts.hpp"

using namespace parts;

void run() {
  Optimizer search{Policy{}, Gen{}, Eval{}};
#ifdef MENDED
  search.run(MaxTrials{100});
#else
  search.run(100);
#endif
}
