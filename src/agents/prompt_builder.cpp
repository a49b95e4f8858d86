// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "prompt_builder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernelsearch/agents/function_signature.hpp"
#include "kernelsearch/agents/quoted_text.hpp"
#include "kernelsearch/agents/tunable_header.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "lines.hpp"

namespace kernelsearch::detail {
namespace {

constexpr std::size_t most_echoed = 60'000;  // bytes of a faulty reply that are sent back with the correction
constexpr std::size_t most_failure = 600;    // bytes of a reason in the store

std::string hash_of(const std::vector<Message>& messages) {
  std::string all;
  for (const Message& message : messages)
    all += fmt::format("{} {}\n{}\n", to_string(message.speaker), message.text.size(), message.text);
  return sha256(all);
}

/// The one text of a template that other prompts put in.
std::string part(const PromptLibrary& prompts, std::string_view name, const PromptValues& values) {
  return joined(prompts.find(name).render(values), "\n\n",
                [](const Message& message) { return message.text; });
}

}  // namespace

PromptBuilder::PromptBuilder(AnyChatModel model, Problem problem, AgentOptions options)
    : model_(std::move(model)),
      problem_(std::move(problem)),
      options_(std::move(options)),
      strategies_(options_.strategies.empty() ? read_strategies(to_string(problem_.backend))
                                              : options_.strategies),
      functions_(entry_functions(problem_)),
      root_(std::make_shared<const Kernel>(problem_.kernel)),
      problem_text_(problem_text(problem_)) {
  for (const KernelRegion region : kernel_regions)
    if (region == KernelRegion::macros || !text_of(root_->regions, region).empty())
      regions_.push_back(region);
  for (const std::string& function : functions_)
    for (const KernelRegion region : kernel_regions)
      if (const auto signature = function_signature(text_of(root_->regions, region), function))
        (signatures_ += signatures_.empty() ? "" : "; ") += '`' + signature->text(function) + '`';
  if (signatures_.empty()) signatures_ = "those of all functions that are called from outside";
  rules_ = part(options_.prompts, "rules", {});
}

Generation<Candidate> PromptBuilder::root() const {
  return Generation<Candidate>::one({root_, root_->space.default_config()});
}

Result<PromptBuilder::Start, std::string> PromptBuilder::start(const Move& move,
                                                               const History<Candidate>& history) const {
  using Started = Result<Start, std::string>;
  const auto fail = [](std::string reason) { return Started(std::move(reason)); };
  Start start;
  if (move.kind == MoveKind::submitted) return fail("a submitted kernel is not made by a model");
  if (move.parents.empty()) return fail("the move names no parent");
  if (move.kind == MoveKind::recombine && move.parents.size() < 2)
    return fail("two kernels are needed to join them");
  for (const TrialId id : move.parents) {
    if (!history.contains(id)) return fail(fmt::format("the parent {} is not known", number(id)));
    Trial<Candidate> trial = history.find(id);
    if (!trial.candidate) return fail(fmt::format("the parent {} has no code", number(id)));
    start.parents.push_back(std::move(trial));
  }
  if (move.kind != MoveKind::rewrite && move.kind != MoveKind::branch) return start;
  for (const std::string& name : move.strategies) {
    const Strategy* strategy = find(name);
    if (strategy == nullptr) {
      const std::vector<std::string> known = strategy_names(strategies_);
      const std::string nearest = nearest_name(name, known);
      return fail("there is no strategy " + name +
                  (nearest.empty() ? "; known: " + joined(known, ", ") : "; did you mean " + nearest + "?"));
    }
    if (options_.check_conditions && !strategy->applies(start.parent().outcome.evaluation.features))
      return fail("the strategy " + name + " is not worth trying here: " + strategy->unless + " (" +
                  strategy->when->text() + " is false)");
  }
  return start;
}

const Strategy* PromptBuilder::find(std::string_view name) const {
  for (const Strategy& strategy : strategies_)
    if (strategy.name == name) return &strategy;
  return nullptr;
}

std::string PromptBuilder::window_text(WindowKind kind, const History<Candidate>& history, TrialId i) const {
  std::vector<WindowEntry> window = context_window(kind, history, i, options_.windows);
  std::vector<std::string> texts;
  std::vector<std::size_t> tokens;
  for (const WindowEntry& entry : window) {
    const Trial<Candidate> trial = history.find(entry.id);
    std::string text = fmt::format("## Kernel {}: {}\n\n", number(entry.id), to_string(entry.role));
    text += feedback_text(trial.outcome, options_.feedback);
    if (trial.candidate) text += '\n' + kernel_text(*trial.candidate, language());
    tokens.push_back(estimated_tokens(text));
    texts.push_back(std::move(text));
  }
  const std::vector<WindowEntry> kept = cut_to_budget(window, tokens, options_.windows.token_budget);
  std::string result;
  for (std::size_t at = 0; at < window.size(); ++at) {
    // The kernel to change is shown in a place of its own.
    if (window[at].role == WindowRole::self || std::find(kept.begin(), kept.end(), window[at]) == kept.end())
      continue;
    (result += result.empty() ? "" : "\n") += texts[at];
  }
  return result;
}

PromptValues PromptBuilder::values(const Move& move, const Start& start, const History<Candidate>& history,
                                   WindowKind window) const {
  PromptValues values{{"rules", rules_},
                      {"problem", problem_text_},
                      {"function", signatures_},
                      {"strategy", ""},
                      {"strategy_text", ""},
                      {"strategies", ""},
                      {"ablate", ""},
                      {"second", ""},
                      {"variant", ""},
                      {"reflection", ""},
                      {"skeleton", ""},
                      {"instructions", ""},
                      {"region", "device"},
                      {"rest", ""},
                      {"hardware", clean_text(options_.hardware)},
                      {"tunables", options_.tunables ? "yes" : ""}};
  values["regions"] = joined(regions_, ", ", [](KernelRegion region) { return to_string(region); });
  values["reply_format"] = part(options_.prompts, "reply_code", values);
  const TrialId id = start.parent().outcome.id;
  values["kernel"] = kernel_text(*start.parent().candidate, language());
  values["outcome"] = feedback_text(start.parent().outcome, options_.feedback);
  values["lineage"] = lineage_text(history, id, options_.feedback);
  values["others"] = window_text(window, history, id);
  if (move.variant > 0) values["variant"] = std::to_string(move.variant + 1);
  if (move.kind == MoveKind::recombine)
    values["second"] = kernel_text(*start.parents[1].candidate, language());
  if (move.kind == MoveKind::ablate) {
    for (const std::string& name : move.strategies) {
      const Strategy* strategy = find(name);
      std::string text = clean_text(name);
      if (strategy != nullptr) text += " (" + clean_text(strategy->description) + ')';
      (values["ablate"] += values["ablate"].empty() ? "" : "; ") += text;
    }
  } else if (!move.strategies.empty()) {
    values["strategy"] = clean_text(joined(move.strategies, ", "));
    for (const std::string& name : move.strategies)
      if (const Strategy* strategy = find(name); strategy != nullptr)
        (values["strategy_text"] += values["strategy_text"].empty() ? "" : "\n\n") +=
            clean_text(strategy->description);
  } else {
    for (const Strategy& strategy : strategies_)
      if (strategy.applies(start.parent().outcome.evaluation.features))
        values["strategies"] +=
            "- " + clean_text(strategy.name) + ": " + clean_text(strategy.description) + '\n';
  }
  return values;
}

const std::string& PromptBuilder::key_of(const std::shared_ptr<const Kernel>& kernel) const {
  const std::scoped_lock lock(mutex_);
  auto& entry = keys_[kernel.get()];
  if (!entry.first) entry = {kernel, code_key(kernel->regions)};
  return entry.second;  // nothing is ever erased, and the map's elements stay where they are
}

ReplyExpectation PromptBuilder::expectation(const Start& start, const History<Candidate>& history) const {
  ReplyExpectation expectation;
  expectation.parent = &start.kernel();
  expectation.functions = functions_;
  expectation.regions = regions_;
  expectation.tunables = options_.tunables;
  expectation.tried = [this, &history](const std::string& key) {
    for (std::size_t i = 0; i < history.size(); ++i)
      if (const Trial<Candidate> trial = history[i];
          trial.candidate && key_of(trial.candidate->kernel) == key)
        return true;
    return false;
  };
  return expectation;
}

Result<void, std::string> PromptBuilder::ask(const AgentRole& role, std::string_view prompt,
                                             const PromptValues& values, const Move& move,
                                             const Judge& judge) const {
  const PromptTemplate& question = options_.prompts.find(prompt);
  ChatRequest request;
  request.role = role.name;
  request.model = role.model;
  request.temperature = role.temperature;
  request.max_tokens = role.max_tokens;
  request.messages = question.render(values);
  request.repetition = move.variant;
  const AnyChatModel& model = role.chat ? role.chat : model_;
  std::string reason;
  for (std::uint32_t attempt = 0; attempt <= options_.corrections; ++attempt) {
    if (options_.stop.stop_requested()) return role.name + ": stopped from outside";
    Exchange exchange;
    exchange.role = role.name;
    exchange.prompt = prompt;
    exchange.template_hash = question.hash();
    exchange.question_hash = hash_of(request.messages);
    exchange.attempt = attempt;
    exchange.move = move;
    const ChatResult result = model.chat(request, options_.stop);
    if (!result) {
      exchange.error = result.error;
      exchange.usage = result.error.usage;
      if (options_.log) options_.log(exchange);
      return role.name + ": no reply: " + std::string(to_string(result.error.failure)) + ": " +
             shortened(clean_text(result.error.text), most_failure);
    }
    const ChatReply& reply = *result.reply;
    const bool cut = reply.finish == FinishReason::length;
    Judged judged;
    if (reply.finish == FinishReason::refusal || reply.finish == FinishReason::filter)
      judged.judgement = {ReplyFault::declined,
                          "The reply was declined (" + std::string(to_string(reply.finish)) + ")."};
    else if (detail::trimmed(reply.text).empty())
      judged.judgement = {cut ? ReplyFault::truncated : ReplyFault::empty, "The reply is empty."};
    else
      judged = judge(reply.text, cut);
    exchange.reply_hash = sha256(reply.text);
    exchange.judgement = judged.judgement;
    exchange.usage = reply.usage;
    if (judged.kernel != nullptr && judged.judgement.ok()) exchange.kernel = kernel_digest(*judged.kernel);
    if (options_.log) options_.log(exchange);
    if (judged.judgement.ok()) return {};
    reason = role.name + ": " + std::string(to_string(judged.judgement.fault)) + ": " +
             shortened(clean_text(judged.judgement.detail), most_failure);
    if (attempt > 0) reason += attempt == 1 ? " (again, after it was told)" : " (still, after it was told)";
    if (attempt == options_.corrections) break;
    if (cut) request.max_tokens = role.max_tokens * 2;
    if (!detail::trimmed(reply.text).empty())
      request.messages.push_back({Speaker::assistant, shortened(clean_text(reply.text), most_echoed), false});
    const PromptValues correction{{"fault", std::string(to_string(judged.judgement.fault))},
                                  {"detail", clean_text(judged.judgement.detail)},
                                  {"cut", cut ? "yes" : ""}};
    for (Message& message : options_.prompts.find("correction").render(correction))
      request.messages.push_back(std::move(message));
  }
  return reason;
}

Generation<Candidate> PromptBuilder::candidate(Kernel kernel, const Start& start) {
  const Trial<Candidate>& parent = start.parent();
  Config config = carried_over(parent.candidate->kernel->space, parent.candidate->config, kernel.space);
  return Generation<Candidate>::one({std::make_shared<const Kernel>(std::move(kernel)), std::move(config)});
}

Generation<Candidate> PromptBuilder::ask_for_kernel(const AgentRole& role, std::string_view prompt,
                                                    const PromptValues& values, const Move& move,
                                                    const Start& start, const History<Candidate>& history,
                                                    bool anew) const {
  ReplyExpectation wanted = expectation(start, history);
  if (!anew) wanted.tried = nullptr;
  std::optional<Kernel> kernel;
  const auto asked = ask(role, prompt, values, move, [&](const std::string& text, bool cut) {
    ReplyCode code = read_reply_code(text, cut, wanted);
    kernel = std::move(code.kernel);
    return Judged{std::move(code.judgement), kernel ? &*kernel : nullptr};
  });
  if (!asked) return Generation<Candidate>::none(asked.error());
  return candidate(*std::move(kernel), start);
}

}  // namespace kernelsearch::detail
