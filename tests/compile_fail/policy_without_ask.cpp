// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// build error: policy\.ask\(n\)
#include "parts.hpp"

using namespace parts;

struct Idle {
  using Proposal = int;
#ifdef MENDED
  std::vector<int> ask(std::size_t) {
    return {};
  }
#endif
  void tell(std::span<const Observation<int>>) {}
};

void run() {
  Optimizer search{Idle{}, Gen{}, Eval{}};
  search.run();
}
