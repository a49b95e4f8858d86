// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// build error: generator\.generate\(proposal, history\)
#include "parts.hpp"

using namespace parts;

struct Hasty {
  using Candidate = int;
#ifdef MENDED
  Generation<int> generate(const int& x, const History<int>&) {
    return Generation<int>::one(x);
  }
#else
  int generate(const int& x, const History<int>&) {
    return x;
  }
#endif
};

void run() {
  Optimizer search{Policy{}, Hasty{}, Eval{}};
  search.run();
}
