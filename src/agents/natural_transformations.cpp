// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/natural_transformations.hpp"

#include <algorithm>
#include <utility>

#include "kernelsearch/agents/config_key.hpp"
#include "kernelsearch/agents/quoted_text.hpp"
#include "kernelsearch/agents/space_text.hpp"
#include "kernelsearch/agents/tunable_header.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/result.hpp"

namespace kernelsearch {
namespace {

using Made = Generation<Candidate>;

constexpr std::size_t shown_of_region = 60000, shown_of_reason = 4000, shown_of_reply = 8000;  // characters

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool contains_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !is_word_character(text[at - 1]);
    const std::size_t end = at + word.size();
    if (begins && (end == text.size() || !is_word_character(text[end]))) return true;
  }
  return false;
}

bool used_in(const Regions& regions, const std::string& word) {
  return contains_word(regions.device, word) || contains_word(regions.host, word) ||
         contains_word(regions.macros, word);
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

std::string failure_text(const Trial<Candidate>& failed, KernelRegion region) {
  const Evaluation& evaluation = failed.outcome.evaluation;
  std::string text = "Verdict: " + std::string(to_string(evaluation.verdict)) + ". The reason:\n" +
                     kernelsearch::quoted(evaluation.reason, {}, shown_of_reason);
  if (failed.candidate) {
    const std::string code = text_of(failed.candidate->kernel->regions, region);
    text += "\nIts " + std::string(to_string(region)) + " region was:\n" +
            kernelsearch::quoted(without_declarations(code), {}, shown_of_region);
  }
  return text;
}

/// The transformation that repairs a failed kernel.
Transformation repair() {
  Transformation mend;
  mend.name = "repair";
  mend.title = "Repair";
  mend.description = "The kernel failed. Find the mistake and mend it without undoing the optimisation.";
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

  /// A kernel that is being transformed: regions without declarations, and what is declared.
  struct Work {
    Regions regions;
    DeclaredTunables declared;
    const Trial<Candidate>* failure = nullptr;
    std::uint64_t repetition = 0;

    [[nodiscard]] Regions whole() const {
      Regions all = regions;
      all.macros = declaration_line(declared) + all.macros;
      return all;
    }
  };

  [[nodiscard]] Kernel kernel_of(Regions regions) const {
    return kernel_with_declared(base, std::move(regions), options.limits);
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
      if (Tunable* known = find_tunable(joined.tunables, tunable.name))
        *known = tunable;
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
    for (const Tunable& tunable : transformation.tunables.tunables) {
      fresh += "- " + tunable.name + ":";
      for (const Value& value : tunable.values) fresh += ' ' + to_string(value);
      fresh += '\n';
    }
    const Space space = kernel_of(work.whole()).space;
    ChatRequest request;
    request.role = options.role;
    request.model = options.model;
    request.temperature = options.temperature;
    request.max_tokens = options.max_tokens;
    request.repetition = work.repetition;
    request.messages =
        prompts.find("transformation")
            .render({{"backend", backend},
                     {"device", options.device},
                     {"workload", options.workload},
                     {"context", context_text(work.regions)},
                     {"tunables", space.size() == 0 ? "" : space_text(space)},
                     {"title", transformation.title},
                     {"description", transformation.description},
                     {"pass", std::to_string(pass + 1)},
                     {"passes", std::to_string(transformation.passes.size())},
                     {"pass_name", transformation.passes[pass].name},
                     {"incomplete", pass + 1 < transformation.passes.size() ? "yes" : ""},
                     {"new_tunables", fresh},
                     {"failure", work.failure != nullptr ? failure_text(*work.failure, edit.region) : ""},
                     {"region", std::string(to_string(edit.region))},
                     {"instruction", edit.instruction}});
    return request;
  }

  /// The reply read and judged by what can be told without building.
  [[nodiscard]] RegionAnswer judged(const ChatReply& reply, KernelRegion region, Work& work) const {
    constexpr std::size_t longest = 200000;
    RegionAnswer answer = read_region_answer(reply, longest, options.limits);
    const auto fault = [&answer](RegionFault kind, std::string detail) {
      answer.fault = kind;
      answer.detail = std::move(detail);
      return answer;
    };
    if (answer.fault != RegionFault::none) return answer;
    const std::string& entry = options.function;
    if (!answer.unchanged && !entry.empty() && contains_word(text_of(work.regions, region), entry) &&
        !contains_word(answer.text, entry))
      return fault(RegionFault::lost_entry,
                   "the function " + entry + " is gone; give the whole region with it");
    if (!answer.declared.empty())
      if (auto declared = declare(answer.declared, work.declared); !declared)
        return fault(RegionFault::bad_tunables, std::move(declared).error());
    return answer;
  }

  /// One region edited by the model; why not where it failed.
  Result<void, std::string> edit(const Transformation& transformation, std::size_t pass,
                                 const RegionEdit& wish, Work& work) const {
    ChatRequest request = request_for(transformation, pass, wish, work);
    for (std::size_t attempt = 0;; ++attempt) {
      const ChatResult result = model.chat(request, options.stop);
      const RegionAnswer answer = result ? judged(*result.reply, wish.region, work) : RegionAnswer{};
      if (options.on_call)
        options.on_call(
            {transformation.name, pass, wish.region, attempt, request, result, answer.fault, answer.detail});
      const std::string place = transformation.name + ", pass " + std::to_string(pass + 1) + ", " +
                                std::string(to_string(wish.region)) + " region: ";
      if (!result)
        return place + "the model failed (" + std::string(to_string(result.error.failure)) +
               "): " + result.error.text;
      if (answer.fault == RegionFault::none) {
        if (!answer.unchanged) text_of(work.regions, wish.region) = without_declarations(answer.text);
        return {};
      }
      if (attempt == options.corrections)
        return place + "unusable reply (" + std::string(to_string(answer.fault)) + "): " + answer.detail;
      if (!result.reply->text.empty())
        request.messages.push_back(
            {Speaker::assistant, shortened(clean_text(result.reply->text), shown_of_reply), false});
      for (Message& message :
           prompts.find("transformation_again")
               .render({{"fault", answer.detail}, {"region", std::string(to_string(wish.region))}}))
        request.messages.push_back(std::move(message));
    }
  }

  Result<void, std::string> apply(const Transformation& transformation, Work& work) const {
    introduce(transformation, work.declared);
    for (std::size_t pass = 0; pass < transformation.passes.size(); ++pass) {
      for (const SnippetUse& snippet : transformation.passes[pass].snippets) {
        std::string& text = text_of(work.regions, snippet.region);
        if (text.find(snippet.text) != std::string::npos) continue;
        if (!text.empty() && text.back() != '\n') text += '\n';
        text += snippet.text;
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
                         [&](const std::string& name) { return contains_word(constraint, name); });
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
  try {
    work.declared = declarations_of(from.regions.macros, parts_->options.limits);
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
    if (auto applied = parts_->apply(step, work); !applied) return Made::none(std::move(applied).error());
  if (work.regions == before) return Made::none("the transformation changed nothing");
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
    Config config = kernel->space.default_config();
    return Made::one({std::move(kernel), std::move(config)});
  } catch (const ConfigError& error) {
    return Made::none(std::string("the tunables make no space: ") + error.what());
  }
}

}  // namespace kernelsearch
