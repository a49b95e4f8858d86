// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "kernelsearch/agents/agent_options.hpp"
#include "kernelsearch/core/move.hpp"
#include "kernelsearch/generator/generator.hpp"
#include "kernelsearch/policy/method.hpp"
#include "kernelsearch/policy/skill_journal.hpp"
#include "kernelsearch/problem/problem.hpp"

namespace kernelsearch {

namespace detail {
class PromptBuilder;
}

struct MethodFolderOptions {
  std::filesystem::path folder;
  std::vector<Method> methods = {};
  std::size_t branches = 4;                               ///< as RooflineBudgetOptions has it
  std::shared_ptr<const SkillJournal> journal = nullptr;  ///< the policy's; required
  std::string hardware = {};   ///< facts of the machine, for requests (run/machine_text.hpp)
  ProblemFacts facts = {};     ///< how the problem is measured, for requests
  double wait_seconds = 0;     ///< for one file; 0: only what is there already
  double settled_seconds = 1;  ///< a file that was changed more recently may not be whole yet
  std::stop_token stop = {};
  std::function<void(const std::string&)> say = nullptr;  ///< is told what is waited for
};

/// Takes the kernels of RooflineBudget's moves from files that a person or an agent writes:
///
///     iterv<i>/analysis.md, methods.json       what is asked and why (written by this)
///     iterv<i>/start.<ext>                      what the branches are made from (written by this)
///     iterv<i>/branches/b<k>/kernel.<ext>       branch k; r<n> instead of b<k>: repairs of a failed one
///     iterv<i>/kernel.<ext>                     the champion (written by this)
///     iterv<i>/ablations/<id>/kernel.<ext>      the champion without a method, or without two (`<id>+<id>`)
///
/// `kernel.<ext>` is the device region; `host.<ext>` and `macros.<ext>` next to it replace the others. Each
/// folder gets a `request.md` that says in words what is asked there, with machine, problem and kernel; a
/// `declined.txt` in it turns the move down. A branch that tries a failed method again needs a
/// `this_time.txt` by its kernel, which says in a sentence what is done differently: the rationale of its
/// candidate. One thread at a time.
class MethodFolder {
 public:
  using Candidate = kernelsearch::Candidate;

  /// ConfigError where there is no journal, or the folder cannot be made.
  MethodFolder(Problem problem, MethodFolderOptions options);

  [[nodiscard]] Generation<Candidate> generate(const Move& move, const History<Candidate>& history) const;

 private:
  /// `note`: what must be there next to the kernel; empty: nothing.
  [[nodiscard]] bool await(const std::filesystem::path& file, const std::filesystem::path& note,
                           const std::filesystem::path& declined, const std::string& words) const;

  MethodFolderOptions options_;
  std::string extension_;
  std::shared_ptr<const detail::PromptBuilder> builder_;
};

}  // namespace kernelsearch
