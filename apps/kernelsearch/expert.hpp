// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "kernelsearch/llm/chat_model.hpp"

namespace kernelsearch::app {

/// A kernel of known merit, and the moves that it is the result of.
struct ExpertKernel {
  std::string id, problem;
  std::string from;                ///< the kernel that it is made of; empty: the problem's own
  std::vector<std::string> names;  ///< of strategies, transformations and methods
  std::string code;                ///< of the device region
};

/// The kernels of `expert.json` in the folder (docs/command.md). ConfigError for what cannot be read.
[[nodiscard]] std::vector<ExpertKernel> read_expert(const std::filesystem::path& folder);

/// Answers the questions of every system that writes kernels, for one problem, with kernels of known merit.
/// It looks at the question alone: which kernel it shows, and which strategies, transformations or methods it
/// names; the first of them that it has a kernel for is what it replies, and where it has none it says that
/// it does not apply.
class ScriptedExpert {
 public:
  ScriptedExpert(std::vector<ExpertKernel> kernels, std::string problem, std::string own_code);

  [[nodiscard]] ChatResult chat(const ChatRequest& request, std::stop_token stop) const;

 private:
  [[nodiscard]] const ExpertKernel* shown_in(const std::string& text) const;
  [[nodiscard]] const ExpertKernel* next(const std::vector<std::string>& names,
                                         const ExpertKernel* now) const;
  [[nodiscard]] std::string reply(const ChatRequest& request, const std::string& text) const;

  std::vector<ExpertKernel> kernels_;
  std::string own_code_;
};

}  // namespace kernelsearch::app
