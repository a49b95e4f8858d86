// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/submit_generator.hpp"

namespace kernelsearch {

void SubmitGenerator::answer(Move move, Candidate candidate) {
  *answer_ = Answer{std::move(move), std::move(candidate), {}};
}

void SubmitGenerator::decline(Move move, std::string reason) {
  *answer_ = Answer{std::move(move), std::nullopt, std::move(reason)};
}

Generation<Candidate> SubmitGenerator::generate(const Move& move, const History<Candidate>&) {
  if (*answer_ && (*answer_)->move == move) {
    const Answer answer = *std::exchange(*answer_, std::nullopt);
    if (answer.candidate) return Generation<Candidate>::one(*answer.candidate);
    return Generation<Candidate>::not_applicable("declined: " + answer.reason);
  }
  if (move.kind == MoveKind::root) return Generation<Candidate>::one({root_, root_->space.default_config()});
  return Generation<Candidate>::none("nobody has answered this move");
}

}  // namespace kernelsearch
