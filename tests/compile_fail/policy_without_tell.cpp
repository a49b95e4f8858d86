// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// build error: policy\.tell\(batch\)
#include "parts.hpp"

using namespace parts;

struct Silent {
  using Proposal = int;
  std::vector<int> ask(std::size_t) { return {}; }
#ifdef MENDED
  void tell(std::span<const Observation<int>>) {}
#else
  void told(std::span<const Observation<int>>) {}
#endif
};

void run() {
  Optimizer search{Silent{}, Gen{}, Eval{}};
  search.run();
}
