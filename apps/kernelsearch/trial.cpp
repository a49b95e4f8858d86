// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "expert.hpp"
#include "input.hpp"
#include "interrupt.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/llm/model_file.hpp"
#include "kernelsearch/llm/model_set.hpp"
#include "kernelsearch/run/run.hpp"
#include "kernelsearch/systems/system_registry.hpp"
#include "sandbox_option.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {
namespace {

constexpr double fast = 1.1;  // KernelBand's Fast@1: the share of problems with a speedup above it

struct TrialCommand {
  std::vector<std::string> problems, systems;
  std::string models, expert, variant, store;
  std::uint64_t questions = 10, seed = 0;
  std::string sandbox = "auto";
  bool each = false, json = false;
};

/// Passes questions on until there were as many as are allowed, and counts what they cost.
class CountedModel {
 public:
  CountedModel(AnyChatModel model, std::uint64_t most) : model_(std::move(model)), most_(most) {}

  ChatResult chat(const ChatRequest& request, std::stop_token stop) {
    {
      const std::lock_guard lock(state_->mutex);
      if (state_->questions == most_)
        return ChatResult::failed(ChatFailure::budget, "the trial's questions are used up");
      ++state_->questions;
      if (!request.messages.empty() &&
          request.messages.back().text.find("cannot be used (same_code)") != std::string::npos)
        ++state_->repeats;
    }
    ChatResult result = model_.chat(request, std::move(stop));
    const std::lock_guard lock(state_->mutex);
    state_->tokens += result.reply ? result.reply->usage.total() : result.error.usage.total();
    return result;
  }

  [[nodiscard]] std::uint64_t questions() const { return locked(&State::questions); }
  [[nodiscard]] std::uint64_t repeats() const { return locked(&State::repeats); }
  [[nodiscard]] std::uint64_t tokens() const { return locked(&State::tokens); }
  [[nodiscard]] bool over() const { return questions() >= most_; }

 private:
  struct State {
    std::mutex mutex;
    std::uint64_t questions = 0, repeats = 0, tokens = 0;
  };
  [[nodiscard]] std::uint64_t locked(std::uint64_t State::*member) const {
    const std::lock_guard lock(state_->mutex);
    return (*state_).*member;
  }

  AnyChatModel model_;
  std::uint64_t most_;
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// What a system came to on a problem.
struct Cell {
  std::string system, problem;
  double ratio = 1.0;  ///< time of the problem's kernel over that of the best
  std::uint64_t questions = 0, wasted = 0, repeats = 0, tokens = 0;
  /// After each kernel: questions so far, the ratio of this kernel (0: it is wrong), the best ratio so far.
  std::vector<std::array<double, 3>> steps;
};

/// Hears of every kernel, and what was asked for it.
struct Steps {
  CountedModel* model;
  Cell* cell;
  double first = 0, best = std::numeric_limits<double>::infinity();
  std::uint64_t asked = 0;

  void on_trial(const Trial<Candidate>& trial) {
    const std::uint64_t before = std::exchange(asked, model->questions());
    const bool right = trial.outcome.ok();
    if (!right) cell->wasted += asked - before;
    if (!right && trial.outcome.evaluation.reason.find("same_code") != std::string::npos) ++cell->repeats;
    if (right && first == 0) first = trial.outcome.objective;
    if (right) best = std::min(best, trial.outcome.objective);
    if (first == 0) return;
    cell->ratio = first / best;
    cell->steps.push_back(
        {static_cast<double>(asked), right ? first / trial.outcome.objective : 0, cell->ratio});
  }
};

Cell asked_once(const TrialCommand& command, const std::string& system, const std::string& path,
                const AnyChatModel& model, std::stop_token stop) {
  const Problem problem = read_any_problem(path);
  Cell cell{system, problem.name, 1.0, 0, 0, 0, 0, {}};
  CountedModel counted(model, command.questions);
  RunOptions options;
  options.system = system;
  options.system_options = command.variant.empty() ? "" : nlohmann::json{{"variant", command.variant}}.dump();
  // More kernels than questions: what ends a trial are its questions.
  options.budget = std::to_string(system == "peak" ? 100 * command.questions : 4 * command.questions);
  options.seed = command.seed;
  options.inner_trials =
      system == "peak" || !find_system(system).tunes ? std::nullopt : std::optional<std::uint64_t>(0);
  options.measurement.sandbox = command.sandbox;
  options.learn = options.memory = false;  // every system begins with the same knowledge
  options.root = find_system(system).from_best ? "default" : "";
  options.store = command.store;
  RunParts parts;
  parts.model = counted;
  parts.stop = stop;
  parts.problem_path = path;
  Run run = Run::start(problem, std::move(options), std::move(parts));
  Steps steps{&counted, &cell};
  while (!stop.stop_requested()) {
    const StepReport step = run.step({.trials = 1}, steps);
    if (step.finished || step.stopped || counted.over()) break;
  }
  cell.questions = counted.questions();
  cell.wasted += cell.questions - steps.asked;  // what no kernel came of
  cell.repeats += counted.repeats();
  cell.tokens = counted.tokens();
  return cell;
}

nlohmann::ordered_json json_of(const Cell& cell) {
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (const auto& [questions, ratio, best] : cell.steps)
    steps.push_back({{"questions", questions}, {"ratio", ratio}, {"best", best}});
  return {{"system", cell.system},       {"problem", cell.problem},  {"ratio", cell.ratio},
          {"questions", cell.questions}, {"wasted", cell.wasted},    {"repeats", cell.repeats},
          {"tokens", cell.tokens},       {"steps", std::move(steps)}};
}

void print_table(const std::vector<Cell>& cells, const std::vector<std::string>& systems, bool each) {
  print_clean(
      "| system | problems | best ratio, geometric mean | above 1.1 | questions | wasted | repeats | tokens "
      "|\n"
      "|---|--:|--:|--:|--:|--:|--:|--:|\n");
  for (const std::string& system : systems) {
    double logs = 0;
    std::uint64_t problems = 0, above = 0, questions = 0, wasted = 0, repeats = 0, tokens = 0;
    for (const Cell& cell : cells) {
      if (cell.system != system) continue;
      ++problems;
      logs += std::log(cell.ratio);
      above += cell.ratio > fast ? 1 : 0;
      questions += cell.questions;
      wasted += cell.wasted;
      repeats += cell.repeats;
      tokens += cell.tokens;
    }
    if (problems == 0) continue;
    print_clean("| {} | {} | {:.2f} | {:.0f} % | {} | {} | {} | {} |\n", system, problems,
                std::exp(logs / static_cast<double>(problems)),
                100.0 * static_cast<double>(above) / static_cast<double>(problems), questions, wasted,
                repeats, tokens);
  }
  if (!each) return;
  print_clean("\n| problem |");
  for (const std::string& system : systems) print_clean(" {} |", system);
  print_clean("\n|---|");
  for (std::size_t i = 0; i < systems.size(); ++i) print_clean("--:|");
  std::vector<std::string> done;
  for (const Cell& cell : cells) {
    if (std::find(done.begin(), done.end(), cell.problem) != done.end()) continue;
    done.push_back(cell.problem);
    print_clean("\n| {} |", cell.problem);
    for (const std::string& system : systems)
      for (const Cell& other : cells)
        if (other.problem == cell.problem && other.system == system) print_clean(" {:.2f} |", other.ratio);
  }
  print_clean("\n");
}

int run_trial(const TrialCommand& command) {
  const Interrupt interrupt;  // before any thread
  std::vector<std::string> systems = command.systems;
  if (systems.empty())
    for (const SystemEntry& entry : system_entries())
      if (entry.rewrites) systems.emplace_back(entry.name);
  for (const std::string& system : systems)
    if (!find_system(system).asks)
      detail::raise<ConfigError>("the system asks no model", system,
                                 "name one that writes kernels or asks for configurations");
  if (command.expert.empty() == command.models.empty())
    detail::raise<ConfigError>("a trial asks a model or the scripted expert",
                               command.expert.empty() ? "neither" : "both",
                               "give --models FILE or --expert FOLDER, one of them");
  std::vector<ExpertKernel> kernels;
  if (!command.expert.empty()) kernels = read_expert(command.expert);
  AnyChatModel model;
  if (!command.models.empty()) {
    ModelSetOptions recorded;
    recorded.recording = command.store + ".exchanges";
    model = ModelSet(read_model_file(find_model_file(command.models)), recorded);
  }
  std::vector<Cell> cells;
  for (const std::string& path : command.problems)
    for (const std::string& system : systems) {
      if (interrupt.token().stop_requested()) break;
      const Problem problem = read_any_problem(path);
      const AnyChatModel asked =
          command.expert.empty()
              ? model
              : AnyChatModel(ScriptedExpert(kernels, problem.name, problem.kernel.regions.device));
      print_clean(stderr, "{} on {}\n", system, problem.name);
      cells.push_back(asked_once(command, system, path, asked, interrupt.token()));
    }
  if (command.json) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const Cell& cell : cells) all.push_back(json_of(cell));
    print_json(all);
  } else {
    print_table(cells, systems, command.each);
  }
  return interrupt.token().stop_requested() ? interrupted : success;
}

}  // namespace

void add_trial(CLI::App& app, int& exit_code) {
  CLI::App* sub = app.add_subcommand(
      "trial", "Ask a model the same number of questions by each system, and compare what they come to");
  auto command = std::make_shared<TrialCommand>();
  sub->add_option("problems", command->problems, "Problem folders, problem.json or T1 files")->required();
  sub->add_option("--systems", command->systems,
                  "Systems, with commas between; default: all that write kernels")
      ->delimiter(',');
  sub->add_option("--models", command->models, "Model file: its models are asked");
  sub->add_option(
         "--expert", command->expert,
         "Folder with an expert.json instead: kernels of known merit, chosen by what a question names")
      ->check(CLI::ExistingDirectory);
  sub->add_option("--questions", command->questions, "Questions that a system may ask for a problem")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  sub->add_option("--variant", command->variant,
                  "Variant of the systems, such as paper; default their standard ones");
  sub->add_option("--seed", command->seed, "Seed of every random choice")->capture_default_str();
  sub->add_option("--store", command->store, "File of runs")->required();
  sub->add_option("--sandbox", command->sandbox, sandbox_help)
      ->check(CLI::IsMember(sandbox_names()))
      ->capture_default_str();
  sub->add_flag("--each", command->each, "The best ratio of each problem too");
  sub->add_flag("--json", command->json, "As a JSON array, with the ratio after each question");
  sub->footer(
      "Example: kernelsearch trial examples/host/matmul examples/host/softmax --models models.json --store "
      "trial.db");
  sub->callback([command, &exit_code] { exit_code = run_trial(*command); });
}

}  // namespace kernelsearch::app
