// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/agents/agent_options.hpp"
#include "support/scripted_model.hpp"

/// A history of words' kernels for tests of single proposals.
struct WordHistory {
  scripted::TrialLog<scripted::Candidate> log;

  scripted::TrialId add(std::vector<scripted::TrialId> parents, const std::set<std::string>& words,
                        scripted::Evaluation evaluation, std::string rationale = {},
                        std::optional<scripted::Move> move = {}) {
    scripted::Outcome outcome;
    if (!rationale.empty()) outcome.move = scripted::Move{scripted::MoveKind::rewrite, parents, {}};
    if (move) outcome.move = std::move(move);
    outcome.rationale = std::move(rationale);
    outcome.id = scripted::TrialId{log.size()};
    outcome.parents = std::move(parents);
    if (evaluation.verdict == scripted::Verdict::ok) outcome.objective = evaluation.measurement.seconds;
    outcome.evaluation = std::move(evaluation);
    const scripted::Problem problem = scripted::problem_of_words(words);
    log.append({scripted::Candidate{std::make_shared<const scripted::Kernel>(problem.kernel),
                                    problem.kernel.space.default_config()},
                outcome});
    return outcome.id;
  }
  [[nodiscard]] scripted::History<scripted::Candidate> history() const { return {log, log.size()}; }
};

/// A kernel of words as a block of a reply.
inline std::string word_block(const std::string& words) {
  return "```cpp device\nextern \"C\" void f() {\n  base\n" + words + "}\n```\n";
}

/// All exchanges, for checks.
struct ExchangeList {
  std::shared_ptr<std::vector<scripted::Exchange>> list = std::make_shared<std::vector<scripted::Exchange>>();
  void operator()(const scripted::Exchange& exchange) const { list->push_back(exchange); }
};
