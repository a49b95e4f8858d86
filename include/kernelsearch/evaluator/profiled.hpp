// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <utility>

#include "kernelsearch/evaluator/then.hpp"

namespace kernelsearch {

/// Observes a candidate that was judged ok: `profiler.profile(candidate)` returns its `Features`.
template <class P, class Candidate>
concept Profiler = requires(P& profiler, const Candidate& candidate) {
  { profiler.profile(candidate) } -> std::same_as<Features>;
};

namespace detail {
template <class P>
struct ProfileStep {
  P profiler;
  template <class Candidate>
  void operator()(const Candidate& candidate, Evaluation& evaluation) {
    for (const auto& [name, value] : profiler.profile(candidate)) evaluation.features.set(name, value);
  }
};
}  // namespace detail

/// An evaluator whose right candidates are profiled as well; what the profiler saw becomes features.
template <class E, class Candidate, Profiler<Candidate> P>
class Profiled : public Then<E, Candidate, detail::ProfileStep<P>> {
 public:
  Profiled(E inner, P profiler)
      : Then<E, Candidate, detail::ProfileStep<P>>(std::move(inner), {std::move(profiler)}) {}
};

}  // namespace kernelsearch
