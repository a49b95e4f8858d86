// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/optimizer/optimizer.hpp"

/// Parts that are right, so that each file of this folder has one mistake only.
namespace parts {

using namespace kernelsearch;

struct Policy {
  using Proposal = int;
  std::vector<int> ask(std::size_t) { return {}; }
  void tell(std::span<const Observation<int>>) {}
};

struct Gen {
  using Candidate = int;
  Generation<int> generate(const int& x, const History<int>&) { return Generation<int>::one(x); }
};

struct Eval {
  Evaluation evaluate(const int&, const EvaluationContext&) { return Evaluation::succeeded(1.0); }
};

}  // namespace parts
