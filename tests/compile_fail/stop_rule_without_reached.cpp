// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// build error: rule\.reached\(progress\)
#include "parts.hpp"

using namespace parts;

struct Patient {
#ifdef MENDED
  bool reached(const RunProgress&) const {
    return false;
  }
#endif
  std::string describe() const {
    return "patience";
  }
};

void run() {
  Optimizer search{Policy{}, Gen{}, Eval{}};
  search.run(Patient{});
}
