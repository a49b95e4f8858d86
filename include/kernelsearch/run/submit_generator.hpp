// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "kernelsearch/core/move.hpp"
#include "kernelsearch/generator/generator.hpp"
#include "kernelsearch/problem/kernel.hpp"

namespace kernelsearch {

/// The generator that someone outside is: a person, or an agent that drives a search. A root move stands for
/// the problem's kernel; for any other move it has what was handed in for it before the optimizer asked, and
/// generates nothing where nothing was. Use it with SuggestedMoves, which keeps a policy's moves back until
/// they are answered. Copies share what was handed in; one thread at a time.
class SubmitGenerator {
 public:
  using Candidate = kernelsearch::Candidate;

  explicit SubmitGenerator(std::shared_ptr<const Kernel> root) : root_(std::move(root)) {}

  /// What the move becomes; an earlier answer to the same move is replaced.
  void answer(Move move, Candidate candidate);
  /// The move does not apply to its parent, for this reason: no trial, and not asked for there again.
  void decline(Move move, std::string reason);

  [[nodiscard]] Generation<Candidate> generate(const Move& move, const History<Candidate>& history);

 private:
  struct Answer {
    Move move;
    std::optional<Candidate> candidate;
    std::string reason;
  };

  std::shared_ptr<const Kernel> root_;
  std::shared_ptr<std::optional<Answer>> answer_ = std::make_shared<std::optional<Answer>>();
};

static_assert(GeneratorOf<SubmitGenerator, Move>);

}  // namespace kernelsearch
