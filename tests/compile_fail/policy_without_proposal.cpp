// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// build error: Proposal
#include "parts.hpp"

using namespace parts;

struct Nameless {
#ifdef MENDED
  using Proposal = int;
#endif
  std::vector<int> ask(std::size_t) {
    return {};
  }
  void tell(std::span<const Observation<int>>) {}
};

void run() {
  Optimizer search{Nameless{}, Gen{}, Eval{}};
  search.run();
}
