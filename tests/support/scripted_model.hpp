// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/agents/agent_options.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/llm/chat_model.hpp"
#include "kernelsearch/problem/problem.hpp"
#include "support/scripted_kernels.hpp"

/// Language models of tests: their replies come from rules written here, not from any model.
namespace scripted {

/// Answers by a function of the request and remembers what it was asked. Copies share the memory.
class RuleChat {
 public:
  using Rule = std::function<ChatResult(const ChatRequest&)>;

  explicit RuleChat(Rule rule) : state_(std::make_shared<State>()) { state_->rule = std::move(rule); }
  /// Replies in turn; the last one again once they are used up.
  explicit RuleChat(std::vector<std::string> replies)
      : RuleChat([replies = std::move(replies), next = std::make_shared<std::size_t>(0)](const ChatRequest&) {
          const std::size_t at = std::min((*next)++, replies.size() - 1);
          return replied(replies[at]);
        }) {}

  ChatResult chat(const ChatRequest& request, std::stop_token) {
    const std::scoped_lock lock(state_->mutex);
    state_->requests.push_back(request);
    return state_->rule(request);
  }

  [[nodiscard]] std::vector<ChatRequest> requests() const {
    const std::scoped_lock lock(state_->mutex);
    return state_->requests;
  }
  [[nodiscard]] std::size_t count(std::string_view role) const {
    std::size_t n = 0;
    for (const ChatRequest& request : requests()) n += request.role == role ? 1 : 0;
    return n;
  }

  static ChatResult replied(std::string text, FinishReason finish = FinishReason::stop) {
    ChatResult result;
    result.reply.emplace();
    result.reply->text = std::move(text);
    result.reply->finish = finish;
    result.reply->usage.input = 100;
    result.reply->usage.output = 10;
    return result;
  }

 private:
  struct State {
    std::mutex mutex;
    Rule rule;
    std::vector<ChatRequest> requests;
  };
  std::shared_ptr<State> state_;
};

/// All messages of a request as one text.
inline std::string text_of(const ChatRequest& request) {
  std::string text;
  for (const Message& message : request.messages) text += message.text + '\n';
  return text;
}

/// A problem whose kernel's words scripted_kernels.hpp judges: the lines of the function's body.
inline Problem problem_of_words(const std::set<std::string>& words = {}) {
  Problem problem;
  problem.name = "words";
  problem.description = "A kernel of words";
  problem.function = "f";
  std::string body;
  for (const std::string& word : words) body += "  " + word + "\n";
  problem.kernel = Kernel{{"extern \"C\" void f() {\n  base\n" + body + "}\n", "", ""}, block_space()};
  return problem;
}

/// The strategies that have an effect on the landscape of scripted_kernels.hpp.
inline std::vector<Strategy> strategies_of_words() {
  std::vector<Strategy> strategies;
  for (const char* name : {"tiling", "vectorize", "fusion", "prefetch"})
    strategies.push_back({name, std::string("Apply ") + name + '.', "words", "", {}, "", {"host"}});
  return strategies;
}

/// How good the model is.
struct SkillOptions {
  std::map<std::string, double> success{
      {"tiling", 0.7}, {"vectorize", 0.6}, {"fusion", 0.8}, {"prefetch", 0.9}};
  double unknown = 0.5;   ///< success of any other strategy
  double mends = 0.7;     ///< chance that a bug is mended
  double garbled = 0.15;  ///< chance of a reply that cannot be used
  double heeds = 0.8;     ///< chance that a correction helps
  std::uint64_t seed = 0;
};

/// Plays every role: it reads the kernel and the strategy in the prompt and edits words, with the success
/// rates given. What it answers depends on the question and the seed alone, not on what else was asked.
class SkilledModel {
 public:
  explicit SkilledModel(SkillOptions options = {}) : options_(std::move(options)) {}

  ChatResult operator()(const ChatRequest& request) const {
    const std::string text = text_of(request);
    Rng rng = Rng::stream(options_.seed + 1000 * request.repetition, text);
    const bool corrected = request.messages.back().text.starts_with("That reply cannot be used");
    if (rng.chance(corrected ? 1 - options_.heeds : options_.garbled)) return garbled(rng);
    if (request.role == "reflector") return RuleChat::replied("There is a bug: remove it.");
    const std::string kernel = block_after(text, "# Kernel to change");
    if (request.role == "planner") return plan(text, kernel, rng);
    if (request.role == "coder") return fill(text, kernel, rng);
    if (text.find("## How it failed") != std::string::npos) return mend(kernel, rng);
    return RuleChat::replied("Done.\n```cpp device\n" + applied(kernel, "}", strategy_in(text, rng), rng) +
                             "```\n");
  }

  /// The text of the first fenced block after the place.
  static std::string block_after(const std::string& text, std::string_view place) {
    const std::size_t at = text.find("```", text.rfind(place));
    const std::size_t begin = text.find('\n', at) + 1;
    return text.substr(begin, text.find("\n```", begin) + 1 - begin);
  }

 private:
  static ChatResult garbled(Rng& rng) {
    switch (rng.below(4)) {
      case 0:
        return RuleChat::replied("I would rather talk about it.");
      case 1:
        return RuleChat::replied("```cpp device\nextern \"C\" void f(int more) {\n}\n```\n");
      case 2:
        return RuleChat::replied("```cpp device\nextern \"C\" void f() {\n  tiling", FinishReason::length);
      default:
        return RuleChat::replied("");
    }
  }

  [[nodiscard]] std::string strategy_in(const std::string& text, Rng& rng) const {
    // Of the task or the plan: what stands before are others' attempts.
    const std::size_t task = text.rfind("\n# Task"), plan = text.rfind("\n# Plan");
    const std::size_t at = text.rfind("Strategy: ");
    if (at != std::string::npos && (task == std::string::npos || at > task) &&
        (plan == std::string::npos || at > plan)) {
      const std::size_t begin = at + 10;
      return text.substr(begin, text.find_first_of("\n,", begin) - begin);
    }
    auto chosen = options_.success.begin();
    std::advance(chosen, static_cast<std::ptrdiff_t>(rng.below(options_.success.size())));
    return chosen->first;
  }

  /// The code with the strategy's word, and a bug where it went wrong, before the last occurrence of
  /// `before`.
  [[nodiscard]] std::string applied(std::string code, std::string_view before, const std::string& strategy,
                                    Rng& rng) const {
    const auto known = options_.success.find(strategy);
    const bool right = rng.chance(known == options_.success.end() ? options_.unknown : known->second);
    const std::string line = "  " + strategy + "\n" + (right ? "" : "  bug\n");
    return code.insert(code.rfind(before), line);
  }

  [[nodiscard]] ChatResult plan(const std::string& text, std::string kernel, Rng& rng) const {
    const std::size_t at = kernel.find("  base\n");
    kernel.insert(at + 7, "<<<IMPROVE ENDS>>>\n");
    kernel.insert(at, "<<<IMPROVE BEGINS>>>\n");
    return RuleChat::replied("```cpp device\n" + kernel + "```\n\n1. Strategy: " + strategy_in(text, rng) +
                             "\n");
  }

  [[nodiscard]] ChatResult fill(const std::string& text, const std::string& kernel, Rng& rng) const {
    return RuleChat::replied("```cpp device\n" +
                             applied(kernel, "<<<IMPROVE ENDS>>>", strategy_in(text, rng), rng) + "```\n");
  }

  [[nodiscard]] ChatResult mend(std::string kernel, Rng& rng) const {
    const std::size_t at = kernel.find("  bug\n");
    if (at != std::string::npos && rng.chance(options_.mends))
      kernel.erase(at, 6);
    else
      kernel.insert(kernel.rfind('}'), "  guess" + std::to_string(rng.below(1000)) + "\n");
    return RuleChat::replied("```cpp device\n" + kernel + "```\n");
  }

  SkillOptions options_;
};

}  // namespace scripted
