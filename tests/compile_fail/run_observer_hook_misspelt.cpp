// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// build error: not an observer of a run: it has none of on_start\(id, candidate\), on_trial\(trial\)
#include "kernelsearch/run/run_observer.hpp"

using namespace kernelsearch;

struct Watcher {
#ifdef MENDED
  void on_trial(const Trial<Candidate>&) {}
#else
  void on_trail(const Trial<Candidate>&) {}
#endif
};

void watch() {
  Watcher watcher;
  detail::RunObservers all(watcher);
  all.on_end("done");
}
