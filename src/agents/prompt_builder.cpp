// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "prompt_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "exchange.hpp"
#include "kernelsearch/agents/config_key.hpp"
#include "kernelsearch/agents/function_signature.hpp"
#include "kernelsearch/agents/quoted_text.hpp"
#include "kernelsearch/agents/refusal.hpp"
#include "kernelsearch/agents/sign_text.hpp"
#include "kernelsearch/agents/tunable_header.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/module_problem.hpp"
#include "kernelsearch/problem/traits.hpp"
#include "lines.hpp"

namespace kernelsearch::detail {
namespace {

constexpr std::size_t most_echoed = 60'000;  // bytes of a faulty reply that are sent back with the correction
constexpr std::size_t template_tokens = 150;     // of headings and the task around the values
constexpr std::string_view free_target = "any";  // of a strategy that leaves the choice to the model
constexpr std::size_t most_failure = 600;        // bytes of a reason in the store
constexpr std::size_t most_analysis = 1500;      // bytes

/// What was measured of a kernel that was tuned is the best of its configurations, so that is what is shown
/// and gone on from.
void at_tuned(Trial<Candidate>& trial) {
  const std::string& key = trial.outcome.evaluation.tuned_key;
  if (key.empty() || !trial.candidate) return;
  if (auto best = config_of_key(trial.candidate->kernel->space, key))
    trial.candidate->config = *std::move(best);
}

/// The one text of a template that other prompts put in.
std::string part(const PromptLibrary& prompts, std::string_view name, const PromptValues& values) {
  return joined(prompts.find(name).render(values), "\n\n",
                [](const Message& message) { return message.text; });
}

/// Those that are worth trying, as they stand.
std::vector<const Strategy*> applicable(const std::vector<Strategy>& strategies, const Features& features) {
  std::vector<const Strategy*> some;
  for (const Strategy& strategy : strategies)
    if (strategy.applies(features)) some.push_back(&strategy);
  return some;
}

/// Whether a reply to the move may be that what it names does not apply.
bool names_something(const Move& move) {
  return !move.strategies.empty() &&
         (move.kind == MoveKind::rewrite || move.kind == MoveKind::branch || move.kind == MoveKind::ablate);
}

}  // namespace

std::string PromptBuilder::kernel_of(const Candidate& candidate) const {
  return kernel_text(candidate, language_, problem_.external.has_value());
}

PromptBuilder::PromptBuilder(AnyChatModel model, Problem problem, AgentOptions options)
    : model_(std::move(model)),
      problem_(std::move(problem)),
      python_(has_module_reference(problem_)),
      language_(kernel_language(problem_)),
      options_(std::move(options)),
      strategies_(on_device(
          options_.strategies.empty() ? read_strategies(to_string(problem_.backend)) : options_.strategies,
          options_.device)),
      traits_(trait_features(problem_)),
      functions_(entry_functions(problem_)),
      root_(std::make_shared<const Kernel>(problem_.kernel)),
      problem_text_(trimmed(problem_text(problem_, options_.facts))) {
  for (const KernelRegion region : kernel_regions)
    if ((region == KernelRegion::macros && !python_ && !problem_.external) ||
        !text_of(root_->regions, region).empty())
      regions_.push_back(region);
  for (const std::string& function : functions_)
    for (const KernelRegion region : kernel_regions)
      if (const auto signature = function_signature(text_of(root_->regions, region), function))
        (signatures_ += signatures_.empty() ? "" : "; ") += '`' + signature->text(function) + '`';
  const bool function = python_ && is_function_reference(problem_);
  if (python_)
    signatures_ = function ? "`def " + clean_text(problem_.function) + "`"
                           : "`class " + clean_text(problem_.function) + "`, its constructor's and forward's";
  if (signatures_.empty()) signatures_ = "those of all functions that are called from outside";
  if (python_) options_.tunables = false;  // there is nothing yet that would give them values
  rules_ = part(options_.prompts, "rules",
                {{"python", python_ ? "yes" : ""}, {"python_function", function ? "yes" : ""}});
  hardware_ = clean_text(trimmed(options_.hardware));
}

Generation<Candidate> PromptBuilder::root() const {
  return Generation<Candidate>::one({root_, options_.root.value_or(root_->space.default_config())});
}

Result<PromptBuilder::Start, Unanswered> PromptBuilder::start(const Move& move,
                                                              const History<Candidate>& history) const {
  using Started = Result<Start, Unanswered>;
  const auto fail = [](std::string reason) { return Started(Unanswered{std::move(reason)}); };
  Start start;
  if (move.kind == MoveKind::submitted) return fail("a submitted kernel is not made by a model");
  if (move.parents.empty()) return fail("the move names no parent");
  if (move.kind == MoveKind::recombine && move.parents.size() < 2)
    return fail("two kernels are needed to join them");
  for (const TrialId id : move.parents) {
    if (!history.contains(id)) return fail(fmt::format("the parent {} is not known", number(id)));
    Trial<Candidate> trial = history.find(id);
    if (!trial.candidate) return fail(fmt::format("the parent {} has no code", number(id)));
    at_tuned(trial);
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
      return Started(Unanswered{"the strategy " + name + " is not worth trying here: " + strategy->unless +
                                    " (" + strategy->when->text() + " is false)",
                                false});
  }
  return start;
}

const Strategy* PromptBuilder::find(std::string_view name) const {
  for (const Strategy& strategy : strategies_)
    if (strategy.name == name) return &strategy;
  return nullptr;
}

std::string PromptBuilder::window_text(WindowKind kind, const History<Candidate>& history, TrialId i,
                                       std::size_t budget, std::set<TrialId>& shown,
                                       std::string& left_out_note) const {
  // The kernel to change is shown in a place of its own.
  std::vector<WindowEntry> window = context_window(kind, history, i, options_.windows);
  // A reply without a kernel shows nothing; what was tried has a line of it.
  std::erase_if(window, [&](const WindowEntry& entry) {
    return entry.role == WindowRole::self || !history.find(entry.id).candidate;
  });
  std::vector<std::string> texts;
  std::vector<std::size_t> tokens;
  for (const WindowEntry& entry : window) {
    Trial<Candidate> trial = history.find(entry.id);
    at_tuned(trial);
    std::string text = fmt::format("## Kernel {}: {}\n\n", number(entry.id), to_string(entry.role));
    text += feedback_text(trial.outcome, options_.feedback,
                          trial.candidate ? &trial.candidate->kernel->space : nullptr) +
            plan_text(trial.outcome, options_.feedback);
    if (const std::string analysis = kind == WindowKind::leaders ? analysis_of(history, entry.id) : "";
        !analysis.empty())
      text += "an analysis of it:\n" + quoted(analysis, "text", most_analysis) + '\n';
    if (trial.candidate) text += '\n' + kernel_of(*trial.candidate);
    tokens.push_back(estimated_tokens(text));
    texts.push_back(std::move(text));
  }
  const std::vector<WindowEntry> kept =
      cut_to_budget(window, tokens, std::min(budget, options_.windows.token_budget));
  std::string result;
  std::size_t left_out = 0, used = 0;
  for (std::size_t at = 0; at < window.size(); ++at) {
    // The window keeps its root whatever it takes; the question's budget does not.
    if (std::find(kept.begin(), kept.end(), window[at]) == kept.end() || used + tokens[at] > budget) {
      ++left_out;
      continue;
    }
    used += tokens[at];
    shown.insert(window[at].id);
    // GEAK's optimizer reads its ancestors up to the fastest.
    result = result.empty()                ? texts[at]
             : kind == WindowKind::leaders ? texts[at] + '\n' + result
                                           : result + '\n' + texts[at];
  }
  if (left_out > 0) {
    const std::string note = fmt::format("({} more {} left out for length)\n", left_out,
                                         left_out == 1 ? "kernel is" : "kernels are");
    (result.empty() ? left_out_note : result) += '\n' + note;
  }
  return result;
}

std::string PromptBuilder::best_text(const History<Candidate>& history, TrialId id,
                                     const std::set<TrialId>& shown) const {
  const Trial<Candidate> from = history.find(id);
  std::optional<Trial<Candidate>> best;
  for (std::size_t i = 0; i < history.size(); ++i)
    if (Trial<Candidate> trial = history[i];
        trial.candidate && trial.outcome.ok() && (!best || trial.outcome.objective < best->outcome.objective))
      best = std::move(trial);
  if (!best || !from.candidate || best->outcome.id == id || shown.count(best->outcome.id) > 0) return {};
  if (from.outcome.ok() && !(best->outcome.objective < from.outcome.objective)) return {};
  const std::string change = change_text(*best->candidate, *from.candidate, language_);
  if (change.empty()) return {};
  return fmt::format(
             "## The best kernel so far, kernel {}: {}\n\nHow it differs from the kernel to change:\n\n",
             number(best->outcome.id), came_of(best->outcome)) +
         std::string(trimmed(change));
}

void PromptBuilder::add_memory(PromptValues& values, const History<Candidate>& history, TrialId id,
                               WindowKind window) const {
  std::size_t used = template_tokens;
  for (const auto& [name, text] : values)
    if (name != "regions" && name != "function" && name != "settings") used += estimated_tokens(text);
  std::size_t room = options_.prompt_tokens > used ? options_.prompt_tokens - used : 0;
  const auto take = [&room](const std::string& text) {
    const std::size_t tokens = estimated_tokens(text);
    if (tokens > room) return false;
    room -= tokens;
    return true;
  };
  // By worth: what was tried from this kernel in a line each, the newest first; its nearest failure; where it
  // comes from; other kernels; further failures.
  TriedText tried = tried_text(history, id, language_, {}, options_.feedback);
  std::string lines;
  std::size_t older = 0;
  for (const std::string& line : tried.lines)
    if (older == 0 && take(line))
      lines += line;
    else
      ++older;
  if (older > 0)
    lines += fmt::format("({} older {} left out)\n", older, older == 1 ? "attempt is" : "attempts are");
  const std::string lineage = lineage_text(history, id, options_.feedback);
  const bool whole = take(lineage);
  values["lineage"] = whole ? std::string(trimmed(lineage)) : "";
  const std::size_t first = tried.failures.empty() ? 0 : estimated_tokens(tried.failures.front());
  const std::size_t kept_back = first <= room ? first : 0;
  std::set<TrialId> shown;
  std::string note;
  values["others"] = window_text(window, history, id, room - kept_back, shown, note);
  (void)take(values["others"]);
  if (window == WindowKind::alone)  // others have the leaders in their windows
    if (std::string best = best_text(history, id, shown); !best.empty() && take(best))
      values["others"] = std::move(best);
  if (!shown.empty()) tried = tried_text(history, id, language_, shown, options_.feedback);
  std::string failures;
  std::size_t left_out = 0;
  for (const std::string& failure : tried.failures)
    if (take(failure))
      (failures += '\n') += failure;
    else
      ++left_out;
  if (left_out > 0)
    failures += fmt::format("\n({} more failed {} left out for length)\n", left_out,
                            left_out == 1 ? "attempt" : "attempts");
  values["tried"] = std::string(trimmed(lines + failures + note));
}

PromptValues PromptBuilder::values(const Move& move, const Start& start, const History<Candidate>& history,
                                   WindowKind window) const {
  PromptValues values{{"rules", rules_},
                      {"problem", problem_text_},
                      {"function", signatures_},
                      {"strategy", ""},
                      {"strategy_text", ""},
                      {"strategies", ""},
                      {"free", ""},
                      {"ablate", ""},
                      {"second", ""},
                      {"variant", ""},
                      {"reflection", ""},
                      {"right", ""},
                      {"skeleton", ""},
                      {"instructions", ""},
                      {"plan", ""},
                      {"region", "device"},
                      {"rest", ""},
                      {"settings", ""},
                      {"tried", ""},
                      {"lineage", ""},
                      {"others", ""},
                      {"hardware", hardware_},
                      {"tunables", options_.tunables ? "yes" : ""}};
  values["python"] = python_ ? "yes" : "";
  values["defines"] =
      python_ ? (is_function_reference(problem_) ? "def " : "class ") + clean_text(problem_.function) : "";
  values["external"] = problem_.external ? "yes" : "";
  values["language"] = std::string(language_);
  values["on_device"] = is_device(problem_.backend) ? "yes" : "";
  values["launch"] = problem_.launch.empty() ? "" : "yes";
  values["launch_function"] =
      is_device(problem_.backend) && problem_.launch.empty() ? problem_.function : std::string();
  values["regions"] = joined(regions_, ", ", [](KernelRegion region) { return to_string(region); });
  values["reply_format"] = part(options_.prompts, "reply_code", values);
  const TrialId id = start.parent().outcome.id;
  values["kernel"] = std::string(trimmed(kernel_of(*start.parent().candidate)));
  values["settings"] =
      std::string(trimmed(tunables_text(*start.parent().candidate, problem_.external.has_value())));
  values["outcome"] =
      std::string(trimmed(feedback_text(start.parent().outcome, options_.feedback, &start.kernel().space)));
  values["remembered"] =
      options_.recall ? options_.recall(*start.parent().candidate, start.parent().outcome, move) : "";
  if (start.parent().outcome.ok()) values["right"] = "yes";
  if (move.variant > 0) values["variant"] = std::to_string(move.variant + 1);
  if (move.kind == MoveKind::recombine) values["second"] = kernel_of(*start.parents[1].candidate);
  const Features& features = start.parent().outcome.evaluation.features;
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
      if (const Strategy* strategy = find(name); strategy != nullptr) {
        (values["strategy_text"] += values["strategy_text"].empty() ? "" : "\n\n") +=
            strategy_text(*strategy);
        if (strategy->target == free_target) values["free"] = "yes";
        if (options_.evidence && seen_signs(strategy->signs, features, traits_).worth > 0)
          values["strategy_text"] +=
              "\n\nWhy it is tried here: " + sign_text(strategy->signs, features, traits_) + '.';
      }
  } else if (options_.list_strategies) {
    for (const Strategy* strategy : options_.evidence ? ranked_strategies(strategies_, features, traits_)
                                                      : applicable(strategies_, features)) {
      const std::string why = options_.evidence ? sign_text(strategy->signs, features, traits_) : "";
      values["strategies"] += "- " + clean_text(strategy->name) + ": " + clean_text(strategy->description) +
                              (why.empty() ? "" : " Here: " + why + '.') + '\n';
    }
  }
  add_memory(values, history, id, window);
  return values;
}

ReplyExpectation PromptBuilder::expectation(const Start& start, const History<Candidate>& history) const {
  ReplyExpectation expectation;
  expectation.parent = &start.kernel();
  expectation.functions = functions_;
  expectation.regions = regions_;
  expectation.problem = &problem_;
  expectation.tunables = options_.tunables;
  expectation.tried = [this, &history](const Kernel& kernel) {
    const auto twin = known_.twin(history, kernel);
    return twin ? twin_text(twin->outcome) : std::string();
  };
  return expectation;
}

Result<void, Unanswered> PromptBuilder::ask(const AgentRole& role, std::string_view prompt,
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
  const bool refusable = names_something(move);
  bool raised = false;
  for (std::uint32_t attempt = 0;;) {
    if (options_.stop.stop_requested()) return Unanswered{role.name + ": stopped from outside"};
    const ChatResult result = model.chat(request, options_.stop);
    Exchange exchange = exchange_of(request, result, options_.prompts, prompt, attempt);
    exchange.move = move;
    const auto log = [&](bool last) {
      exchange.last = last;
      if (options_.log) options_.log(exchange);
    };
    if (!result) {
      log(true);
      return Unanswered{role.name + ": no reply: " + std::string(to_string(result.error.failure)) + ": " +
                            shortened(clean_text(result.error.text), most_failure),
                        true, is_outage(result.error.failure)};
    }
    const ChatReply& reply = *result.reply;
    const bool cut = reply.finish == FinishReason::length;
    const bool empty = trimmed(reply.text).empty();
    std::optional<Refusal> refusal;
    Judged judged;
    if (reply.finish == FinishReason::refusal || reply.finish == FinishReason::filter) {
      judged.judgement = {ReplyFault::declined,
                          "The reply was declined (" + std::string(to_string(reply.finish)) + ")."};
    } else if (empty) {
      judged.judgement = {cut ? ReplyFault::truncated : ReplyFault::empty, "The reply is empty."};
    } else {
      refusal = read_refusal(reply.text, refusable ? std::span<const std::string>(move.strategies)
                                                   : std::span<const std::string>());
      if (refusal)
        judged.judgement = refusal->judgement;
      else
        judged = judge(reply.text, cut);
    }
    exchange.judgement = judged.judgement;
    if (refusal && judged.judgement.ok()) exchange.inapplicable = refusal->reason;
    exchange.for_another = judged.for_another;
    if (judged.kernel != nullptr && judged.judgement.ok()) exchange.kernel = kernel_digest(*judged.kernel);
    const bool again = cut && empty && !raised;
    log(judged.judgement.ok() || (!again && attempt == options_.corrections));
    if (!exchange.inapplicable.empty()) return Unanswered{exchange.inapplicable, false};
    if (judged.judgement.ok()) return {};
    if (again) {
      raised = true;
      request.max_tokens = roomier * request.max_tokens;
      continue;
    }
    if (attempt == options_.corrections) {
      std::string reason = role.name + ": " + std::string(to_string(judged.judgement.fault)) + ": " +
                           shortened(clean_text(judged.judgement.detail), most_failure);
      if (attempt > 0) reason += attempt == 1 ? " (again, after it was told)" : " (still, after it was told)";
      return Unanswered{std::move(reason)};
    }
    ++attempt;
    if (cut) request.max_tokens = std::max(request.max_tokens, 2 * role.max_tokens);
    if (!empty)
      request.messages.push_back({Speaker::assistant, shortened(clean_text(reply.text), most_echoed), false});
    const PromptValues correction{{"fault", std::string(to_string(judged.judgement.fault))},
                                  {"detail", clean_text(judged.judgement.detail)},
                                  {"cut", cut ? "yes" : ""},
                                  {"refusable", refusable ? "yes" : ""},
                                  {"last", attempt == options_.corrections ? "yes" : ""}};
    for (Message& message : options_.prompts.find("correction").render(correction))
      request.messages.push_back(std::move(message));
  }
}

Generation<Candidate> PromptBuilder::candidate(Kernel kernel, const Start& start) {
  const Trial<Candidate>& parent = start.parent();
  Config config = carried_over(parent.candidate->kernel->space, parent.candidate->config, kernel.space);
  return Generation<Candidate>::one({std::make_shared<const Kernel>(std::move(kernel)), std::move(config)});
}

Generation<Candidate> PromptBuilder::ask_for_kernel(const AgentRole& role, std::string_view prompt,
                                                    const PromptValues& values, const Move& move,
                                                    const Start& start, const History<Candidate>& history,
                                                    bool anew, const ReplyCheck& also) const {
  ReplyExpectation wanted = expectation(start, history);
  if (!anew) wanted.tried = nullptr;
  std::optional<Kernel> kernel;
  const auto asked = ask(role, prompt, values, move, [&](const std::string& text, bool cut) {
    ReplyCode code = read_reply_code(text, cut, wanted);
    kernel = std::move(code.kernel);
    if (also && code.judgement.ok()) code.judgement = also(text);
    return Judged{std::move(code.judgement), kernel ? &*kernel : nullptr};
  });
  if (!asked) return asked.error().generation();
  return candidate(*std::move(kernel), start);
}

}  // namespace kernelsearch::detail
