// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// build error: evaluator\.evaluate\(candidate, context\)
#include "parts.hpp"

using namespace parts;

struct Judge {
#ifdef MENDED
  Evaluation evaluate(const int&, const EvaluationContext&) {
    return Evaluation::succeeded(1.0);
  }
#else
  Evaluation judge(const int&, const EvaluationContext&) {
    return Evaluation::succeeded(1.0);
  }
#endif
};

void run() {
  Optimizer search{Policy{}, Gen{}, Judge{}};
  search.run();
}
