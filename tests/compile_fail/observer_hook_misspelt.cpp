// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// build error: on_trial\(
#include "parts.hpp"

using namespace parts;

struct Watcher {
#ifdef MENDED
  void on_trial(const Trial<int>&, const int&) {}
#else
  void on_trail(const Trial<int>&, const int&) {}
#endif
};

void run() {
  Watcher watcher;
  Optimizer search{Policy{}, Gen{}, Eval{}};
  search.run(watcher);
}
