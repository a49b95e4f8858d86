// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <utility>

#include "kernelsearch/evaluator/profiled.hpp"
#include "kernelsearch/service/any_evaluator.hpp"

namespace kernelsearch {

/// `Profiled` around any evaluator that knows what it measures on, which it then still does: its right
/// candidates have the profiler's features too.
template <Profiler<Candidate> P>
class ProfiledGround : public Profiled<AnyEvaluator, Candidate, P> {
 public:
  ProfiledGround(AnyEvaluator inner, P profiler)
      : Profiled<AnyEvaluator, Candidate, P>(std::move(inner), std::move(profiler)) {}

  [[nodiscard]] const Problem& problem() const { return this->inner().problem(); }
  [[nodiscard]] std::string device_id() const { return this->inner().device_id(); }
  [[nodiscard]] std::string toolchain_id() const { return this->inner().toolchain_id(); }
  void renew() { this->inner().renew(); }
};

}  // namespace kernelsearch
