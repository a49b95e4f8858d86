// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// build error: generator\.generate\(proposal, history\)
#include "parts.hpp"

using namespace parts;

struct Mute {
  using Candidate = int;
#ifdef MENDED
  Generation<int> generate(const int& x, const History<int>&) {
    return Generation<int>::one(x);
  }
#endif
};

void run() {
  Optimizer search{Policy{}, Mute{}, Eval{}};
  search.run();
}
