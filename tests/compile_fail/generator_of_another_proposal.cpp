// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// build error: generator\.generate\(proposal, history\)
#include "parts.hpp"

using namespace parts;

// The policy proposes numbers, the generator takes moves.
struct Mover {
  using Candidate = int;
#ifdef MENDED
  using Taken = int;
#else
  using Taken = Move;
#endif
  Generation<int> generate(const Taken&, const History<int>&) {
    return Generation<int>::one(1);
  }
};

void run() {
  Optimizer search{Policy{}, Mover{}, Eval{}};
  search.run();
}
