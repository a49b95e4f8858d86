// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// build error: policy\.await\(\)
#include "parts.hpp"

using namespace parts;

struct Waiting : Policy {
#ifdef MENDED
  bool await() {
    return false;
  }
#else
  void await() {}
#endif
};

static_assert(AwaitingPolicy<Waiting>);
