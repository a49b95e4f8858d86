// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <utility>

#include "kernelsearch/evaluator/then.hpp"

namespace kernelsearch {

/// A further check of a candidate that was judged ok, such as a race detector: the failed `Evaluation` that
/// replaces it, or nothing when it is fine.
template <class V, class Candidate>
concept Validator = requires(V& validator, const Candidate& candidate) {
  { validator.validate(candidate) } -> std::same_as<std::optional<Evaluation>>;
};

namespace detail {
template <class V>
struct ValidateStep {
  V validator;
  template <class Candidate>
  void operator()(const Candidate& candidate, Evaluation& evaluation) {
    if (std::optional<Evaluation> objection = validator.validate(candidate))
      evaluation = *std::move(objection);
  }
};
}  // namespace detail

/// An evaluator whose right candidates must also pass a validator (PEAK's extensible validators).
template <class E, class Candidate, Validator<Candidate> V>
class Validated : public Then<E, Candidate, detail::ValidateStep<V>> {
 public:
  Validated(E inner, V validator)
      : Then<E, Candidate, detail::ValidateStep<V>>(std::move(inner), {std::move(validator)}) {}
};

}  // namespace kernelsearch
