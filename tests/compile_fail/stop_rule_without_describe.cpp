// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// build error: rule\.describe\(\)
#include "parts.hpp"

using namespace parts;

struct Wordless {
  bool reached(const RunProgress&) const { return true; }
#ifdef MENDED
  std::string describe() const {
    return "words";
  }
#endif
};

void run() {
  Optimizer search{Policy{}, Gen{}, Eval{}};
  search.run(Wordless{});
}
