// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/natural_transformations.hpp"

#include <algorithm>
#include <utility>

#include "exchange.hpp"
#include "kernelsearch/agents/config_key.hpp"
#include "kernelsearch/agents/quoted_text.hpp"
#include "kernelsearch/agents/refusal.hpp"
#include "kernelsearch/agents/sign_text.hpp"
#include "kernelsearch/agents/space_text.hpp"
#include "kernelsearch/agents/tunable_header.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/core/result.hpp"
#include "kernelsearch/core/shown_verdict.hpp"
#include "same_kernel.hpp"
#include "unanswered.hpp"

namespace kernelsearch {
namespace {

using Made = Generation<Candidate>;

constexpr std::size_t shown_of_region = 60000, shown_of_reason = 4000, shown_of_reply = 8000;  // characters
constexpr std::size_t most_tried = 12;  // attempts from a kernel that are listed

bool used_in(const Regions& regions, const std::string& word) {
  return std::any_of(kernel_regions.begin(), kernel_regions.end(), [&](KernelRegion region) {
    return detail::has_whole_word(text_of(regions, region), word);
  });
}

std::string context_text(const Regions& regions) {
  std::string text;
  for (const KernelRegion region : regions_in_code) {
    const std::string& code = text_of(regions, region);
    text += "## " + std::string(to_string(region)) + '\n';
    text += code.empty() ? "(empty)" : kernelsearch::quoted(code, {}, shown_of_region);
    text += '\n';
  }
  return text;
}

std::string failure_text(const Trial<Candidate>& failed) {
  const Evaluation& evaluation = failed.outcome.evaluation;
  return "Verdict: " + std::string(shown_verdict(evaluation.verdict, evaluation.overrun)) +
         ". The reason:\n" + kernelsearch::quoted(evaluation.reason, {}, shown_of_reason);
}

std::string failed_code_text(const Trial<Candidate>& failed, KernelRegion region) {
  if (!failed.candidate) return {};
  const std::string code = text_of(failed.candidate->kernel->regions, region);
  return "\nIts " + std::string(to_string(region)) + " region was:\n" +
         kernelsearch::quoted(without_declarations(code), {}, shown_of_region);
}

std::size_t tokens_of(const std::vector<Message>& messages) {
  std::size_t tokens = 0;
  for (const Message& message : messages) tokens += estimated_tokens(message.text);
  return tokens;
}

/// The transformation that repairs a failed kernel.
Transformation repair() {
  Transformation mend;
  mend.name = "repair";
  mend.title = "Repair";
  mend.description = "The kernel failed. Find the mistake and fix it without undoing the optimisation.";
  const std::string instruction = "Mend the mistake if it is in this region; reply UNCHANGED if it is not.";
  mend.passes.push_back({"mend",
                         {},
                         {{KernelRegion::macros, instruction},
                          {KernelRegion::device, instruction},
                          {KernelRegion::host, instruction}}});
  return mend;
}

Tunable* find_tunable(std::vector<Tunable>& tunables, const std::string& name) {
  for (Tunable& tunable : tunables)
    if (tunable.name == name) return &tunable;
  return nullptr;
}

}  // namespace

struct NaturalTransformations::Parts {
  Space base;  ///< the problem's own
  std::shared_ptr<const Kernel> root;
  TransformationLibrary library;
  AnyChatModel model;
  NaturalTransformationsOptions options;
  PromptLibrary prompts;
  std::string backend;
  std::shared_ptr<const detail::KnownKernels> known = std::make_shared<detail::KnownKernels>();

  /// A kernel that is being transformed: regions without declarations, and what is declared.
  struct Work {
    Regions regions;
    DeclaredTunables declared;
    const Trial<Candidate>* failure = nullptr;
    std::string remembered = {};
    std::uint64_t repetition = 0;
    std::vector<std::string> names = {};  ///< what the model may say does not apply
    std::string outcome = {};             ///< of the parent
    Features features = {};               ///< of the parent
    std::vector<std::string> tried = {};  ///< a line for each attempt from it, the newest first

    [[nodiscard]] Regions whole() const {
      Regions all = regions;
      all.macros = declaration_line(declared) + all.macros;
      return all;
    }
  };

  /// For a kernel, what all transformations together declared: the options' limits are those of one reply.
  [[nodiscard]] DeclaredTunablesLimits whole_limits() const {
    DeclaredTunablesLimits limits = options.limits;
    limits.tunables = std::max(limits.tunables, options.max_tunables);
    limits.constraints = std::max(limits.constraints, kernel_limits.constraints);
    return limits;
  }

  [[nodiscard]] Kernel kernel_of(Regions regions) const {
    return kernel_with_declared(base, std::move(regions), whole_limits());
  }

  /// Whether the declarations fit; if not, why.
  [[nodiscard]] Result<void, std::string> fits(const DeclaredTunables& declared) const {
    if (base.size() + declared.tunables.size() > options.max_tunables)
      return "the kernel would have more than " + std::to_string(options.max_tunables) + " tunables";
    try {
      (void)kernel_of({{}, {}, declaration_line(declared)});
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return {};
  }

  /// Adds what a reply declares; why not where it does not fit.
  Result<void, std::string> declare(const DeclaredTunables& more, DeclaredTunables& declared) const {
    DeclaredTunables joined = declared;
    for (const Tunable& tunable : more.tunables) {
      if (base.find(tunable.name))
        return tunable.name + " is a tunable already; use it or choose another name";
      if (Tunable* earlier = find_tunable(joined.tunables, tunable.name))
        *earlier = tunable;
      else
        joined.tunables.push_back(tunable);
    }
    joined.constraints.insert(joined.constraints.end(), more.constraints.begin(), more.constraints.end());
    auto fitting = fits(joined);
    if (fitting) declared = std::move(joined);
    return fitting;
  }

  /// What a transformation's file declares: values that the kernel has already are kept.
  void introduce(const Transformation& transformation, DeclaredTunables& declared) const {
    DeclaredTunables fresh;
    for (const Tunable& tunable : transformation.tunables.tunables)
      if (!base.find(tunable.name) && find_tunable(declared.tunables, tunable.name) == nullptr)
        fresh.tunables.push_back(tunable);
    if (!fresh.tunables.empty()) fresh.constraints = transformation.tunables.constraints;
    (void)declare(fresh, declared);  // what does not fit is left out: the kernel is right without it
  }

  [[nodiscard]] ChatRequest request_for(const Transformation& transformation, std::size_t pass,
                                        const RegionEdit& edit, const Work& work) const {
    std::string fresh;
    const Space space = kernel_of(work.whole()).space;
    for (const Tunable& tunable : transformation.tunables.tunables) {
      if (!space.find(tunable.name)) continue;  // it did not fit, so no macro is defined
      fresh += "- " + tunable.name + ":";
      for (const Value& value : tunable.values) fresh += ' ' + json_text(value);
      fresh += '\n';
    }
    ChatRequest request;
    request.role = options.role;
    request.model = options.model;
    request.temperature = options.temperature;
    request.max_tokens = options.max_tokens;
    request.repetition = work.repetition;
    PromptValues values{{"backend", backend},
                        {"device", options.device},
                        {"workload", options.workload},
                        {"outcome", work.outcome},
                        {"context", context_text(work.regions)},
                        {"tunables", space.size() == 0 ? "" : space_text(space)},
                        {"title", transformation.title},
                        {"description", transformation.description + why_here(transformation, work)},
                        {"pass", std::to_string(pass + 1)},
                        {"passes", std::to_string(transformation.passes.size())},
                        {"pass_name", transformation.passes[pass].name},
                        {"incomplete", pass + 1 < transformation.passes.size() ? "yes" : ""},
                        {"new_tunables", fresh},
                        {"failure", work.failure != nullptr ? failure_text(*work.failure) : ""},
                        {"remembered", ""},
                        {"region", std::string(to_string(edit.region))},
                        {"instruction", edit.instruction}};
    add_memory(values, work, edit.region);
    request.messages = prompts.find("transformation").render(values);
    return request;
  }

  /// What the kernel shows for the transformation; empty where that is not known.
  [[nodiscard]] std::string why_here(const Transformation& transformation, const Work& work) const {
    if (!options.evidence || !(seen_signs(transformation.signs, work.features, options.traits).worth > 0))
      return {};
    return "\nWhy it is tried here: " + sign_text(transformation.signs, work.features, options.traits) + '.';
  }

  /// What the budget has room for besides the rest, by worth: what was tried from the kernel in a line each,
  /// the newest first; the code of the attempt that failed; what earlier runs learned.
  void add_memory(PromptValues& values, const Work& work, KernelRegion region) const {
    constexpr std::size_t headings = 60;  // tokens around these parts
    const std::size_t used = tokens_of(prompts.find("transformation").render(values)) + headings;
    std::size_t room = options.prompt_tokens > used ? options.prompt_tokens - used : 0;
    const auto take = [&room](const std::string& text) {
      const std::size_t tokens = estimated_tokens(text);
      if (tokens > room) return false;
      room -= tokens;
      return true;
    };
    std::string& outcome = values["outcome"];
    std::size_t shown = 0;
    while (shown < std::min(work.tried.size(), most_tried) && take(work.tried[shown])) {
      outcome += (shown == 0 ? "Tried from this kernel so far:\n" : "") + work.tried[shown];
      ++shown;
    }
    if (const std::size_t older = work.tried.size() - shown; older > 0)
      outcome += "(" + std::to_string(older) + " older " + (older == 1 ? "attempt is" : "attempts are") +
                 " left out)\n";
    if (work.failure != nullptr) {
      const std::string code = failed_code_text(*work.failure, region);
      values["failure"] += take(code) ? code : "\n(its code is left out for length)";
    }
    if (work.remembered.empty()) return;
    values["remembered"] = take(work.remembered) ? work.remembered : "(left out for length)";
  }

  /// The reply read and judged by what can be told without building.
  [[nodiscard]] RegionAnswer judged(const ChatReply& reply, KernelRegion region, Work& work) const {
    constexpr std::size_t longest = 200000;
    RegionAnswer answer = read_region_answer(reply, longest, options.limits);
    const auto fault = [&answer](ReplyFault kind, std::string detail) {
      answer.fault = kind;
      answer.detail = std::move(detail);
      return answer;
    };
    if (answer.fault != ReplyFault::none) return answer;
    const std::string& entry = options.function;
    if (!answer.unchanged && !entry.empty() && detail::has_whole_word(text_of(work.regions, region), entry) &&
        !detail::has_whole_word(answer.text, entry))
      return fault(ReplyFault::missing_function,
                   "the function " + entry + " is gone; give the whole region with it");
    if (!answer.declared.empty())
      if (auto declared = declare(answer.declared, work.declared); !declared)
        return fault(ReplyFault::bad_tunables, std::move(declared).error());
    return answer;
  }

  /// One region edited by the model; why not where it failed.
  Result<void, detail::Unanswered> edit(const Transformation& transformation, std::size_t pass,
                                        const RegionEdit& wish, Work& work) const {
    ChatRequest request = request_for(transformation, pass, wish, work);
    bool raised = false;
    for (std::size_t attempt = 0;;) {
      const ChatResult result = model.chat(request, options.stop);
      RegionAnswer answer = result ? judged(*result.reply, wish.region, work) : RegionAnswer{};
      const bool cut = result && result.reply->finish == FinishReason::length;
      const bool empty = result && detail::trimmed(result.reply->text).empty();
      std::optional<Refusal> refusal;
      if (result && !empty && answer.fault != ReplyFault::declined)
        refusal = read_refusal(result.reply->text, work.names);
      if (refusal) {
        answer = {};
        if (!refusal->judgement.ok()) {
          answer.fault = ReplyFault::bad_refusal;
          answer.detail = refusal->judgement.detail;
        }
      }
      const bool refused = refusal && refusal->judgement.ok();
      const bool again = cut && empty && !raised;
      if (options.on_call)
        options.on_call(
            {transformation.name, pass, wish.region, attempt, request, result, answer.fault, answer.detail});
      log(transformation.name, request, result, answer, attempt, refused ? refusal->reason : std::string(),
          !again && (!result || answer.fault == ReplyFault::none || attempt == options.corrections));
      const std::string place = transformation.name + ", pass " + std::to_string(pass + 1) + ", " +
                                std::string(to_string(wish.region)) + " region: ";
      if (!result)
        return detail::Unanswered{place + "the model failed (" +
                                      std::string(to_string(result.error.failure)) +
                                      "): " + result.error.text,
                                  true, detail::is_outage(result.error.failure)};
      if (refused) return detail::Unanswered{refusal->reason, false};
      if (answer.fault == ReplyFault::none) {
        if (!answer.unchanged) text_of(work.regions, wish.region) = without_declarations(answer.text);
        return {};
      }
      if (again) {  // thinking has used the limit up: no attempt
        raised = true;
        request.max_tokens = detail::roomier * request.max_tokens;
        continue;
      }
      if (attempt == options.corrections)
        return detail::Unanswered{place + "unusable reply (" + std::string(to_string(answer.fault)) +
                                  "): " + answer.detail};
      ++attempt;
      if (cut) request.max_tokens = std::max(request.max_tokens, 2 * options.max_tokens);
      if (!result.reply->text.empty())
        request.messages.push_back(
            {Speaker::assistant, shortened(clean_text(result.reply->text), shown_of_reply), false});
      for (Message& message :
           prompts.find("transformation_again")
               .render({{"fault", answer.detail}, {"region", std::string(to_string(wish.region))}}))
        request.messages.push_back(std::move(message));
    }
  }

  /// The exchange for the account of all systems alike. Its move lacks the parents, which an edit
  /// of a region does not know.
  void log(const std::string& transformation, const ChatRequest& request, const ChatResult& result,
           const RegionAnswer& answer, std::size_t attempt, std::string inapplicable, bool last) const {
    if (!options.log) return;
    Exchange exchange = detail::exchange_of(request, result, prompts, "transformation", attempt);
    exchange.last = last;
    exchange.move.kind = MoveKind::rewrite;
    exchange.move.strategies = {transformation};
    if (result) {
      exchange.judgement = {answer.fault, answer.detail};
      exchange.inapplicable = std::move(inapplicable);
    }
    options.log(exchange);
  }

  Result<void, detail::Unanswered> apply(const Transformation& transformation, Work& work) const {
    introduce(transformation, work.declared);
    for (std::size_t pass = 0; pass < transformation.passes.size(); ++pass) {
      for (const SnippetUse& snippet : transformation.passes[pass].snippets) {
        std::string& text = text_of(work.regions, snippet.region);
        const std::string& added = snippet.text_for(to_string(options.backend));
        if (text.find(added) != std::string::npos) continue;
        if (!text.empty() && text.back() != '\n') text += '\n';
        text += added;
      }
      for (const RegionEdit& wish : transformation.passes[pass].edits) {
        if (wish.region == KernelRegion::host && work.regions.host.empty()) continue;  // the launch is fixed
        if (auto edited = edit(transformation, pass, wish, work); !edited) return edited;
      }
    }
    return {};
  }

  /// Leaves out tunables that the text does not use, which would multiply the space for nothing.
  static void drop_unused(Work& work) {
    std::vector<std::string> dropped;
    std::erase_if(work.declared.tunables, [&](const Tunable& tunable) {
      const bool unused = !used_in(work.regions, tunable.name);
      if (unused) dropped.push_back(tunable.name);
      return unused;
    });
    std::erase_if(work.declared.constraints, [&](const std::string& constraint) {
      return std::any_of(dropped.begin(), dropped.end(),
                         [&](const std::string& name) { return detail::has_whole_word(constraint, name); });
    });
  }
};

NaturalTransformations::NaturalTransformations(Kernel root, TransformationLibrary library, AnyChatModel model,
                                               NaturalTransformationsOptions options) {
  Parts parts{root.space,      nullptr, std::move(library), std::move(model), std::move(options),
              PromptLibrary(), {}};
  if (parts.options.prompts) parts.prompts = *parts.options.prompts;
  parts.backend = backend_text(parts.options.table ? *parts.options.table
                                                   : backend_table(to_string(parts.options.backend)));
  parts.root = std::make_shared<const Kernel>(parts.kernel_of(std::move(root.regions)));
  parts_ = std::make_shared<const Parts>(std::move(parts));
}

std::vector<std::string> NaturalTransformations::names(std::string_view tag) const {
  return parts_->library.names(to_string(parts_->options.backend), tag);
}

std::shared_ptr<const Kernel> NaturalTransformations::kernel_of(Regions regions) const {
  return std::make_shared<const Kernel>(parts_->kernel_of(std::move(regions)));
}

Generation<Candidate> NaturalTransformations::generate(const Move& move,
                                                       const History<Candidate>& history) const {
  if (move.kind == MoveKind::root) return Made::one({parts_->root, parts_->root->space.default_config()});
  const bool debug = move.kind == MoveKind::debug;
  if (!debug && move.kind != MoveKind::rewrite && move.kind != MoveKind::branch)
    return Made::none("no transformation makes a move of kind " + std::string(to_string(move.kind)));
  if (move.parents.size() != 1 || !history.contains(move.parents.front()))
    return Made::none("the parent is not known");
  const Trial<Candidate> parent = history.find(move.parents.front());
  if (!parent.candidate) return Made::none("the parent has no code");
  if (!debug && move.strategies.empty()) return Made::none("the move names no transformation");

  // The last try from the same parent, where it failed: compile errors are what models repair best.
  std::optional<Trial<Candidate>> failed;
  if (debug && !parent.outcome.ok()) failed = parent;
  if (!debug && move.variant > 0)
    if (const auto children = history.children(move.parents.front()); !children.empty())
      if (Trial<Candidate> last = history.find(children.back()); !last.outcome.ok()) failed = std::move(last);

  const Kernel& from = *parent.candidate->kernel;
  Parts::Work work;
  work.regions = from.regions;
  work.regions.macros = without_declarations(from.regions.macros);
  work.failure = failed ? &*failed : nullptr;
  work.repetition = move.variant;
  if (!debug) work.names = move.strategies;
  if (!debug) {
    work.features = parent.outcome.evaluation.features;
    work.outcome = feedback_text(parent.outcome, parts_->options.feedback, &from.space);
    work.tried = tried_text(history, move.parents.front(), traits_of(parts_->options.backend).language).lines;
  }
  if (parts_->options.recall && !debug)
    work.remembered = parts_->options.recall(*parent.candidate, parent.outcome, move);
  try {
    work.declared = declarations_of(from.regions.macros, parts_->whole_limits());
  } catch (const ConfigError& error) {
    return Made::none(std::string("the parent's macros region does not read: ") + error.what());
  }
  const Regions before = work.regions;
  std::vector<Transformation> steps;
  if (debug) steps.push_back(repair());
  for (const std::string& name : move.strategies) {
    const Transformation* transformation = parts_->library.find(name);
    if (transformation == nullptr) return Made::none("there is no transformation " + name);
    if (!debug) steps.push_back(*transformation);
  }
  for (const Transformation& step : steps)
    if (const auto applied = parts_->apply(step, work); !applied) return applied.error().generation();
  if (work.regions == before) {
    if (debug) return Made::none("the repair changed nothing");
    return Made::not_applicable(detail::joined(move.strategies, ", ") +
                                ": every region was left UNCHANGED, without a reason");
  }
  Parts::drop_unused(work);

  try {
    // The best configuration of the parent, with the new tunables at their defaults, is the new default.
    Config best = parent.candidate->config;
    if (!parent.outcome.evaluation.tuned_key.empty())
      if (const auto tuned = config_of_key(from.space, parent.outcome.evaluation.tuned_key)) best = *tuned;
    work.declared.defaults.clear();
    const Space space = parts_->kernel_of(work.whole()).space;
    const Config start = carried_over(from.space, best, space);
    for (std::size_t i = 0; i < space.size(); ++i)
      if (start.indices[i] != space.default_config().indices[i])
        work.declared.defaults.emplace_back(space.tunable(i).name, space.value(start, i));
    auto kernel = std::make_shared<const Kernel>(parts_->kernel_of(work.whole()));
    // Tuning what was tuned before would cost the whole of an inner search.
    if (const auto twin = parts_->known->twin(history, *kernel)) {
      std::string which = "the kernel equals " + detail::twin_text(twin->outcome);
      return twin->outcome.ok() ? Made::known(twin->outcome.id, std::move(which))
                                : Made::none(std::move(which));
    }
    Config config = kernel->space.default_config();
    return Made::one({std::move(kernel), std::move(config)});
  } catch (const ConfigError& error) {
    return Made::none(std::string("the tunables make no space: ") + error.what());
  }
}

}  // namespace kernelsearch
