// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "kernelsearch/agents/config_history.hpp"
#include "kernelsearch/agents/dialogue_log.hpp"
#include "kernelsearch/agents/problem_text.hpp"
#include "kernelsearch/agents/prompt_library.hpp"
#include "kernelsearch/llm/chat_model.hpp"
#include "kernelsearch/policy/search_policy.hpp"
#include "kernelsearch/space/space.hpp"

namespace kernelsearch {

/// Defaults are those of Helion 1.5.1's full effort (llm_search.py) where nothing else is said.
struct LlmConfigSearchOptions {
  std::uint64_t seed = 0;
  std::size_t rounds = 4;  ///< questions, the first included; Helion's hybrid takes 1
  std::size_t configs_per_round = 15;
  std::size_t random_seeds = 10;     ///< measured next to the default while the first reply is awaited
  std::vector<Config> seeds = {};    ///< the user's, measured before random ones and counted among them
  double min_gain = 0.005;           ///< a round that gains less is fruitless
  std::size_t fruitless_rounds = 2;  ///< in a row that end the search; the first round does not count
  std::size_t ask_again = 1;         ///< times that an unusable reply is answered; ours, Helion gives up
  std::size_t repeats_again = 1;  ///< times that a reply without anything new is answered; ours, Helion ends
  /// Times that a question is asked again which nobody could be reached for, beside the client's own tries;
  /// ours, Helion gives up. Such a question draws no trial from a budget, so something else has to end it.
  std::size_t outages_again = 10;
  std::string role = "config_search";
  std::string model = {};
  std::optional<double> temperature = {};
  std::uint32_t max_tokens = 0;      ///< of a reply; 0: clamp(256 + 128 * configs_per_round, 512, 4096)
  std::string kernel = {};           ///< its source
  std::string workload = {};         ///< the problem in words; empty: `systems::known` fills in problem_text
  ProblemFacts facts = {};           ///< for these words
  std::string device = {};           ///< facts of the machine
  std::size_t kernel_limit = 24000;  ///< characters of the source that are shown
  ConfigHistoryOptions history = {};
  std::optional<PromptLibrary> prompts = {};  ///< with config_search and config_search_again; nothing: ours
  std::stop_token stop = {};                  ///< ends the question in flight from outside
  DialogueLog log = nullptr;
  std::function<void(const std::string&)> say = nullptr;  ///< is told why the search ended
};

/// Helion's LLM-guided search (llm_search.py), re-thought: a model is asked for some configurations, which
/// are measured and told to it in the next question.
///
/// The first question is asked in a thread of its own while the default and the seeds are measured. Replies
/// are read leniently (salvage_items, read_config_item): a list that was cut gives what is complete, values
/// and constraints are repaired, what is known is dropped. An unusable reply is answered once, and so is one
/// that repeats what was measured. The search ends when a reply holds nothing new even so, when two rounds in
/// a row gain too little, after the last round, or when the model fails or stays out of reach: it then says
/// so in `ending()` and does not abort, so that `Seeded` continues with its second policy.
///
/// Replies are taken in `await()` only, never when they happen to arrive, so that proposals are a function of
/// the replies and of what was told, and a run whose exchanges are replayed resumes.
class LlmConfigSearch {
 public:
  using Proposal = Config;

  LlmConfigSearch(Space space, AnyChatModel model, LlmConfigSearchOptions options = {});
  LlmConfigSearch(LlmConfigSearch&&) noexcept;
  LlmConfigSearch& operator=(LlmConfigSearch&&) noexcept;
  ~LlmConfigSearch();

  std::vector<Config> ask(std::size_t n);
  void tell(std::span<const Observation<Config>> batch);
  /// Blocks until the reply is there; false once the search has ended.
  bool await();

  /// Why it ended, in a sentence; empty while it has not.
  [[nodiscard]] const std::string& ending() const noexcept;
  /// Replies that could be used so far.
  [[nodiscard]] std::size_t rounds_done() const noexcept;
  /// For all usable replies together: items that were not a configuration or known already.
  [[nodiscard]] std::size_t items_dropped() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

static_assert(AwaitingPolicy<LlmConfigSearch>);

}  // namespace kernelsearch
