// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// build error: policy\.ask\(n\)
#include "parts.hpp"

using namespace parts;

struct Single {
  using Proposal = int;
#ifdef MENDED
  std::vector<int> ask(std::size_t) {
    return {};
  }
#else
  int ask(std::size_t) {
    return 1;
  }
#endif
  void tell(std::span<const Observation<int>>) {}
};

void run() {
  Optimizer search{Single{}, Gen{}, Eval{}};
  search.run();
}
