// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/agents/agent_options.hpp"
#include "kernelsearch/agents/reply_code.hpp"
#include "kernelsearch/core/move.hpp"
#include "kernelsearch/core/result.hpp"
#include "kernelsearch/generator/generator.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "same_kernel.hpp"
#include "unanswered.hpp"

namespace kernelsearch::detail {

/// The judgement of a reply, with the kernel in it.
struct Judged {
  ReplyJudgement judgement;
  const Kernel* kernel = nullptr;  ///< read from it, if any; for the log
  bool for_another = false;        ///< nothing comes of it but another role's question
};

/// What the generators share: the problem in words, prompts and their values, questions with one correction,
/// and the keys of the kernels that are known. Everything but these keys is constant, so threads may share
/// it.
class PromptBuilder {
 public:
  PromptBuilder(AnyChatModel model, Problem problem, AgentOptions options);

  /// The problem's own kernel where the search begins (AgentOptions::root).
  [[nodiscard]] Generation<Candidate> root() const;

  /// What a move starts from.
  struct Start {
    std::vector<Trial<Candidate>> parents;  ///< all with candidates, at least one
    [[nodiscard]] const Trial<Candidate>& parent() const { return parents.front(); }
    [[nodiscard]] const Kernel& kernel() const { return *parents.front().candidate->kernel; }
  };
  /// Why not, where the move cannot be made; a strategy whose condition is false does not apply.
  [[nodiscard]] Result<Start, Unanswered> start(const Move& move, const History<Candidate>& history) const;

  /// Every name that any prompt knows, with what it stands for in this proposal.
  [[nodiscard]] PromptValues values(const Move& move, const Start& start, const History<Candidate>& history,
                                    WindowKind window) const;

  /// What the code of a reply is checked against.
  [[nodiscard]] ReplyExpectation expectation(const Start& start, const History<Candidate>& history) const;

  using Judge = std::function<Judged(const std::string& text, bool cut)>;
  /// Asks, and once more (AgentOptions::corrections) where `judge` finds fault; why there is no usable reply.
  /// Where strategies are named the reply may be that they do not apply. A reply that was cut before its
  /// first word is asked for once more with room, which is not an attempt.
  [[nodiscard]] Result<void, Unanswered> ask(const AgentRole& role, std::string_view prompt,
                                             const PromptValues& values, const Move& move,
                                             const Judge& judge) const;

  using ReplyCheck = std::function<ReplyJudgement(const std::string& text)>;
  /// Asks for a whole kernel and makes a candidate of it. `anew`: one that was tried before will not do; an
  /// ablation may well be what was there earlier. `also` finds fault with replies whose code will do.
  [[nodiscard]] Generation<Candidate> ask_for_kernel(const AgentRole& role, std::string_view prompt,
                                                     const PromptValues& values, const Move& move,
                                                     const Start& start, const History<Candidate>& history,
                                                     bool anew = true,
                                                     const ReplyCheck& also = nullptr) const;

  /// The candidate of a kernel made from the parent: with its configuration as far as that goes.
  [[nodiscard]] static Generation<Candidate> candidate(Kernel kernel, const Start& start);

  [[nodiscard]] const Problem& problem() const noexcept { return problem_; }
  [[nodiscard]] const AgentOptions& options() const noexcept { return options_; }
  [[nodiscard]] const std::vector<Strategy>& strategies() const noexcept { return strategies_; }
  /// The kernel's language as a fence names it; empty where it is not known.
  [[nodiscard]] std::string_view language() const noexcept { return language_; }
  /// The kernel of a candidate as this problem's questions show it.
  [[nodiscard]] std::string kernel_of(const Candidate& candidate) const;
  [[nodiscard]] const std::vector<std::string>& functions() const noexcept { return functions_; }
  /// The facts of the machine and the problem, as every question has them.
  [[nodiscard]] const std::string& hardware() const noexcept { return hardware_; }
  [[nodiscard]] const std::string& described_problem() const noexcept { return problem_text_; }

 private:
  /// The other kernels of a window, in at most `budget` tokens; `shown` gets the ones shown, `left_out_note`
  /// how many do not fit where none does.
  [[nodiscard]] std::string window_text(WindowKind kind, const History<Candidate>& history, TrialId i,
                                        std::size_t budget, std::set<TrialId>& shown,
                                        std::string& left_out_note) const;
  /// How the fastest right kernel differs from this one; empty where that is this one or shown already.
  [[nodiscard]] std::string best_text(const History<Candidate>& history, TrialId id,
                                      const std::set<TrialId>& shown) const;
  /// What was tried from the kernel, its ancestors and other kernels, as far as the budget has room next to
  /// all other values.
  void add_memory(PromptValues& values, const History<Candidate>& history, TrialId id,
                  WindowKind window) const;
  [[nodiscard]] const Strategy* find(std::string_view name) const;

  AnyChatModel model_;
  Problem problem_;
  bool python_;  ///< kernels are modules in Python, and have no macros
  std::string_view language_;
  AgentOptions options_;
  std::vector<Strategy> strategies_;
  Features traits_;  ///< of the problem, for the signs of strategies
  std::vector<std::string> functions_;
  std::vector<KernelRegion> regions_;
  std::shared_ptr<const Kernel> root_;
  std::string problem_text_, rules_, hardware_, signatures_;
  KnownKernels known_;
};

}  // namespace kernelsearch::detail
