// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// build error: evaluator\.lanes\(\)
#include "parts.hpp"

using namespace parts;

struct Laneless : Eval {
  using Artifact = int;
  Staged<int> build(const int& x, const EvaluationContext&) { return {{}, x}; }
  Evaluation run(Staged<int>&&, const EvaluationContext&) { return Evaluation::succeeded(1.0); }
#ifdef MENDED
  std::size_t lanes() const {
    return 1;
  }
#endif
};

static_assert(StagedEvaluator<Laneless, int>);
