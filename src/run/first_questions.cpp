// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/first_questions.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>
#include <variant>

#include "device_facts.hpp"
#include "kernelsearch/agents/quoted_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/history.hpp"
#include "kernelsearch/judge/generated_sizes.hpp"
#include "kernelsearch/problem/module_problem.hpp"
#include "kernelsearch/run/run_budget.hpp"
#include "kernelsearch/systems/system_registry.hpp"

namespace kernelsearch {
namespace {

/// A plan that its own system accepts: one line of the kernel between anchors, and words in the place of an
/// instruction.
std::string stand_in_plan(const Problem& problem) {
  const Regions& regions = problem.kernel.regions;
  const KernelRegion region = regions.device.empty() ? KernelRegion::host : KernelRegion::device;
  const std::string& code = text_of(regions, region);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < code.size();) {
    const std::size_t end = std::min(code.find('\n', at), code.size());
    lines.push_back(code.substr(at, end - at));
    at = end + 1;
  }
  std::size_t place = lines.size() / 2;
  for (std::size_t i = 0; i < lines.size(); ++i)  // the last statement
    if (lines[i].find(';') != std::string::npos) place = i;
  std::string marked;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i == place) marked += "<<<IMPROVE BEGINS>>>\n";
    marked += lines[i] + '\n';
    if (i == place) marked += "<<<IMPROVE ENDS>>>\n";
  }
  const std::string label =
      std::string(traits_of(problem.backend).language) + ' ' + std::string(to_string(region));
  return quoted(marked, label, 1 << 20) + "\n\n1. (here stands what the planner says of this place)\n";
}

/// A chat model that keeps what it is asked. It answers only where another role's question is made of the
/// reply.
class Recorder {
 public:
  explicit Recorder(const Problem& problem) : state_(std::make_shared<State>()) {
    state_->plan = stand_in_plan(problem);
  }

  ChatResult chat(const ChatRequest& request, const std::stop_token& /*stop*/) {
    const std::scoped_lock lock(state_->mutex);
    State& state = *state_;
    const bool known = std::any_of(state.questions.begin(), state.questions.end(),
                                   [&](const FirstQuestion& one) { return one.role == request.role; });
    if (!known) {
      FirstQuestion question{request.role, state.example || state.answered, request, 0};
      for (const Message& message : request.messages) question.tokens += estimated_tokens(message.text);
      state.questions.push_back(std::move(question));
      state.asked.notify_all();
    }
    if (request.role == "planner") return answer(state, state.plan);
    if (request.role == "reflector") return answer(state, "(here stands what the reviewer says)");
    return ChatResult::failed(ChatFailure::not_recorded, "questions are shown, not asked");
  }

  /// What follows is made of stand-ins, or not.
  void show_examples(bool yes) {
    const std::scoped_lock lock(state_->mutex);
    state_->example = yes;
    state_->answered = false;
  }

  [[nodiscard]] std::vector<FirstQuestion> questions() const {
    const std::scoped_lock lock(state_->mutex);
    return state_->questions;
  }

  /// A policy asks in a thread of its own.
  void wait_for_one() const {
    std::unique_lock lock(state_->mutex);
    state_->asked.wait_for(lock, std::chrono::seconds(60), [this] { return !state_->questions.empty(); });
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable asked;
    std::vector<FirstQuestion> questions;
    std::string plan;
    bool example = false;
    bool answered = false;  ///< the move's next question holds a stand-in's reply
  };

  static ChatResult answer(State& state, std::string text) {
    state.answered = true;
    ChatResult result;
    result.reply.emplace();
    result.reply->text = std::move(text);
    return result;
  }

  std::shared_ptr<State> state_;
};

SystemSetup setup_of(const Problem& problem, const SystemEntry& system, const FirstQuestionsOptions& options,
                     AnyChatModel model) {
  SystemSetup setup;
  setup.problem = problem;
  setup.model = std::move(model);
  setup.options = SystemOptions(system.name, system.options, options.system_options);
  if (setup.options.given(system.instead_of_model))
    detail::raise<ConfigError>("with this option the system asks no model", system.instead_of_model,
                               "leave it out");
  setup.seed = options.seed;
  setup.budget = parse_budget(std::string(system.budget)).trials;
  setup.methods = options.methods;
  const bool tunes = system.tunes && !system.variant_of(setup.options).published;
  setup.inner_trials = options.inner_trials.value_or(tunes ? usual_inner_trials : 0);
  setup.device = detail::method_device(problem, options.measurement.devices);
  MachineFacts facts;
  std::string own_words;  // of an evaluator that alone knows what it measures on
  if (options.machine) {
    facts = *options.machine;
    setup.device = facts.device;
    if (is_device(problem.backend) && problem.launch.empty())
      setup.device.features.emplace_back("host_launch");
  } else {
    std::string toolchain;
    try {
      const AnyEvaluator evaluator = make_evaluator(problem, options.measurement);
      toolchain = evaluator.toolchain_id();
      if (problem.external) {
        own_words = machine_text(evaluator);
        detail::add_features(setup.device, evaluator.features());
      }
    } catch (const ConfigError&) {
      // A module that its reference refuses cannot be searched: its first question would mislead.
      if (has_module_reference(problem)) throw;
    } catch (const Error&) {  // what is not on this machine is not told
    }
    facts = machine_facts(problem, options.measurement, std::move(toolchain));
  }
  setup.hardware = problem.external && !options.machine ? own_words : machine_text(problem, facts);
  setup.facts.peaks = facts.peaks;
  setup.facts.cold = cache_mode(options.measurement, problem.backend) == "cold";
  if (system.settings != nullptr) setup.earlier = system.settings(setup);
  return setup;
}

/// Asks the generator for what the policy proposes first, then for one move of each kind that asks others.
void ask_moves(SearchParts<Move>& parts, Recorder& recorder, const FirstQuestionsOptions& options) {
  TrialLog<Candidate> log;
  const auto history = [&log] { return History<Candidate>(log, log.size()); };
  const auto next = [&parts]() -> std::optional<Move> {
    std::vector<Move> moves = parts.policy.ask(1);
    if (moves.empty() && parts.policy.await()) moves = parts.policy.ask(1);
    if (moves.empty()) return std::nullopt;
    return std::move(moves.front());
  };
  const std::optional<Move> root = next();
  if (!root) return;
  Generation<Candidate> made = parts.generator.generate(*root, history());
  if (made.candidates.empty()) return;
  Outcome outcome;
  outcome.origin = Origin{};
  outcome.evaluation = options.evaluation.value_or(Evaluation{});
  outcome.objective =
      options.evaluation ? options.evaluation->measurement.seconds : 1.0;  // whatever it is, it is the best
  outcome.move = root;
  log.append({made.candidates.front(), outcome});
  const Observation<Move> told{*root, outcome};
  parts.policy.tell(std::span<const Observation<Move>>(&told, 1));

  // A strategy whose condition is false asks nothing; the policy is told so and proposes another.
  constexpr std::uint64_t most_proposals = 64;
  std::optional<Move> first;
  std::uint64_t proposals = 0;
  for (std::uint64_t i = 1; i <= most_proposals && recorder.questions().empty(); ++i) {
    first = next();
    if (!first) return;
    proposals = i;
    Move asked = *first;
    asked.variant += options.variant;
    recorder.show_examples(false);
    const Generation<Candidate> nothing = parts.generator.generate(asked, history());
    if (!recorder.questions().empty()) break;
    Outcome none;
    none.id = TrialId{i};
    none.origin = Origin{ProposalId{i}, 0, 0};
    none.parents = first->parents;
    none.evaluation = Evaluation::failed(Verdict::not_generated, nothing.failure);
    const Observation<Move> untried{*first, none};
    parts.policy.tell(std::span<const Observation<Move>>(&untried, 1));
  }

  // A kernel that the move made and that failed, and one that is right: what is asked of these.
  recorder.show_examples(true);
  Outcome failed;
  failed.id = TrialId{proposals + 1};
  failed.parents = {outcome.id};
  failed.origin = Origin{ProposalId{1}, 0, 1};
  failed.evaluation =
      Evaluation::failed(Verdict::build_failed,
                         "(here stand the compiler's errors, a failing element, or what the sandbox saw)");
  failed.move = first;
  log.append({made.candidates.front(), failed});
  Move debug{MoveKind::debug, {failed.id}, first->strategies, options.variant};
  (void)parts.generator.generate(debug, history());
  Outcome right = failed;
  right.id = TrialId{proposals + 2};
  right.evaluation = Evaluation{};
  right.objective = outcome.objective;
  log.append({made.candidates.front(), right});
  Move ablate{MoveKind::ablate, {right.id}, first->strategies, options.variant};
  recorder.show_examples(true);
  (void)parts.generator.generate(ablate, history());
}

}  // namespace

std::vector<FirstQuestion> first_questions(Problem problem, const FirstQuestionsOptions& options) {
  const SystemEntry& system = find_system(options.system);
  if (!system.asks)
    detail::raise<ConfigError>("this system asks no language model", options.system,
                               "see `kernelsearch list systems` for those that do");
  if (problem.backend == Backend::host && !options.machine) {
    try {
      fill_generated_sizes(problem, host_options(options.measurement));
    } catch (const Error&) {  // without them the shapes show what their file says
    }
  }
  const std::shared_ptr<Recorder> recorder = std::make_shared<Recorder>(problem);
  SystemSearch search = system.make(setup_of(problem, system, options, recorder));
  if (auto* moves = std::get_if<SearchParts<Move>>(&search.parts)) {
    ask_moves(*moves, *recorder, options);
  } else {
    (void)std::get<SearchParts<Config>>(search.parts).policy.ask(1);
    recorder->wait_for_one();
  }
  return recorder->questions();
}

}  // namespace kernelsearch
