// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// build error: Candidate
#include "parts.hpp"

using namespace parts;

struct Untyped {
#ifdef MENDED
  using Candidate = int;
#endif
  Generation<int> generate(const int& x, const History<int>&) {
    return Generation<int>::one(x);
  }
};

void run() {
  Optimizer search{Policy{}, Untyped{}, Eval{}};
  search.run();
}
