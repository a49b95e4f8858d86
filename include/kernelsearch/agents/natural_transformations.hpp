// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kernelsearch/agents/backend_table.hpp"
#include "kernelsearch/agents/dialogue_log.hpp"
#include "kernelsearch/agents/feedback.hpp"
#include "kernelsearch/agents/prompt_library.hpp"
#include "kernelsearch/agents/recall.hpp"
#include "kernelsearch/agents/region_answer.hpp"
#include "kernelsearch/agents/transformation_library.hpp"
#include "kernelsearch/core/move.hpp"
#include "kernelsearch/generator/generator.hpp"
#include "kernelsearch/llm/chat_model.hpp"
#include "kernelsearch/problem/backend.hpp"
#include "kernelsearch/problem/kernel.hpp"

namespace kernelsearch {

/// One call of the model, for logs.
struct TransformationCall {
  std::string transformation;
  std::size_t pass = 0;  ///< from 0
  KernelRegion region = KernelRegion::device;
  std::size_t attempt = 0;  ///< 0; more where an earlier reply had a fault
  const ChatRequest& request;
  const ChatResult& result;
  ReplyFault fault = ReplyFault::none;
  std::string detail;  ///< of the fault
};

struct NaturalTransformationsOptions {
  Backend backend = Backend::cuda;
  std::string function = {};  ///< the entry point, which no edit may remove; empty: not checked
  std::string workload = {};  ///< the problem in words; empty: `systems::known` fills in problem_text
  ProblemFacts facts = {};    ///< for these words
  Features traits = {};       ///< of the problem: `systems::known` fills in trait_features
  bool evidence = true;       ///< whether a question says what the kernel shows for its transformation
  std::string device = {};    ///< facts of the machine
  FeedbackOptions feedback = {};
  std::string role = "transformer";
  std::string model = {};
  std::optional<double> temperature = {};
  std::uint32_t max_tokens = 8192;
  /// One question's limit, without its reply: what is worth least is left out, and that is said. Rules,
  /// machine, problem, the kernel, what was measured of it and why an attempt failed are never left out.
  std::size_t prompt_tokens = 32000;
  std::size_t corrections = 1;    ///< times that a reply with a fault is answered, of each call
  std::size_t max_tunables = 16;  ///< of a kernel, the problem's own included; more are refused
  DeclaredTunablesLimits limits = {};
  std::optional<PromptLibrary> prompts = {};  ///< with transformation and transformation_again
  std::optional<BackendTable> table = {};     ///< nothing: data/backends
  Recall recall = nullptr;                    ///< what earlier runs learned
  std::function<void(const TransformationCall&)> on_call = {};
  DialogueLog log = nullptr;
  std::stop_token stop = {};
};

/// PEAK's natural transformations: a move names one, whose passes a model carries out, one call for one
/// region.
///
/// Between passes the kernel may be incomplete; only what the last one leaves is a candidate. Tunables that
/// the transformation or a reply introduces join the kernel's space, as lines of its macros region. The
/// candidate starts from the parent's best configuration (Evaluation::tuned_key) as its default. Where an
/// earlier attempt from the same parent failed, the model is told how. A transformation that the model says
/// does not apply, or that leaves every region UNCHANGED, is not applicable. Only the code block of a reply
/// is used: no text of kernels, compilers or models has any other effect.
///
/// Departure: the paper keeps the 128 best parameter sets for the next transformation; here the best one is
/// kept, as the default from which `Tuned` searches on.
class NaturalTransformations {
 public:
  using Candidate = kernelsearch::Candidate;

  NaturalTransformations(Kernel root, TransformationLibrary library, AnyChatModel model,
                         NaturalTransformationsOptions options = {});

  /// Root: the kernel at its default. Rewrite and branch: the strategies, in order. Debug: the failed parent
  /// once more, with what went wrong. Nothing for other kinds.
  [[nodiscard]] Generation<Candidate> generate(const Move& move, const History<Candidate>& history) const;

  /// The names for this backend that have the tag: give them to the policy.
  [[nodiscard]] std::vector<std::string> names(std::string_view tag = {}) const;

  /// The kernel of these regions, with the tunables that they declare: for kernels that were stored as text.
  [[nodiscard]] std::shared_ptr<const Kernel> kernel_of(Regions regions) const;

 private:
  struct Parts;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace kernelsearch
