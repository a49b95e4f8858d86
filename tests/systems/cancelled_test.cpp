// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernelsearch/optimizer/optimizer.hpp"
#include "kernelsearch/systems/system_registry.hpp"
#include "support/scripted_kernels.hpp"
#include "support/scripted_model.hpp"

// Ctrl-C, a limit of time or a lost server while a model is asked costs no trial, in any system that writes
// kernels, also after two resumes. A limit of time and MCP's cancellation stop a run by the same token as
// Ctrl-C.

using namespace kernelsearch;
using namespace scripted;

namespace {

/// What happens to the question with number `at`, and to all after it.
enum class Interruption : std::uint8_t { none, stop, lost };

/// Answers every role with a kernel that was not there before, until it is interrupted.
class InterruptedModel {
 public:
  InterruptedModel(std::shared_ptr<int> replies, Interruption what, int at, std::stop_source stop)
      : replies_(std::move(replies)), what_(what), left_(std::make_shared<int>(at)), stop_(std::move(stop)) {}

  ChatResult chat(const ChatRequest& request, std::stop_token token) {
    if (what_ != Interruption::none && --*left_ < 0) {
      if (what_ == Interruption::lost) return ChatResult::failed(ChatFailure::network, "nobody is there");
      stop_.request_stop();  // while the question is under way
      CHECK(token.stop_requested());
      return ChatResult::failed(ChatFailure::cancelled, "the call was cancelled");
    }
    const std::string word = "  w" + std::to_string(++*replies_) + "\n";
    const std::string begins = "<<<IMPROVE BEGINS>>>\n", ends = "<<<IMPROVE ENDS>>>\n";
    if (request.role == "reflector") return RuleChat::replied("The loop is slow.");
    if (request.role == "planner") {
      std::string kernel = SkilledModel::block_after(text_of(request), "# Kernel to change");
      kernel.insert(kernel.find("  base\n") + 7, ends);
      kernel.insert(kernel.find("  base\n"), begins);
      return RuleChat::replied("```cpp device\n" + kernel + "```\n\n1. Write another word.\n");
    }
    if (request.role == "coder") {
      std::string kernel = SkilledModel::block_after(text_of(request), "# Kernel to change");
      kernel.insert(kernel.rfind(ends), word);
      return RuleChat::replied("```cpp device\n" + kernel + "```\n");
    }
    return RuleChat::replied("```cpp device\nextern \"C\" void f() {\n  base\n" + word + "}\n```\n");
  }

 private:
  std::shared_ptr<int> replies_;
  Interruption what_;
  std::shared_ptr<int> left_;
  std::stop_source stop_;
};

using Record = RunRecord<Candidate, Move>;

struct MoveRecorder {
  Record record;
  void on_ask(const AskEvent& event) { record.events.emplace_back(event); }
  void on_trial(const Trial<Candidate>& trial, const Move& proposal) {
    record.events.emplace_back(ToldEvent<Candidate, Move>{trial, proposal});
  }
};

RunSummary session(const SystemEntry& entry, MoveRecorder& recorder, const std::shared_ptr<int>& replies,
                   Interruption what, int at) {
  std::stop_source stop;
  SystemSetup setup;
  setup.problem = problem_of_words();
  setup.options = SystemOptions(entry.name, entry.options, "");
  setup.model = InterruptedModel(replies, what, at, stop);
  setup.stop = stop.get_token();
  SystemSearch made = entry.make(std::move(setup));
  auto& parts = std::get<SearchParts<Move>>(made.parts);
  OptimizerOptions options;
  options.budget = std::make_shared<TrialBudget>(8);
  options.unanswered_in_a_row = 3;
  options.stop = stop.get_token();
  Optimizer search(std::move(parts.policy), std::move(parts.generator), KernelLandscape{},
                   std::move(options));
  search.resume(recorder.record);
  return search.run(recorder);
}

std::size_t without_code(const Record& record) {
  std::size_t count = 0;
  for (const auto& event : record.events)
    if (const auto* told = std::get_if<ToldEvent<Candidate, Move>>(&event))
      count += told->trial.outcome.evaluation.verdict == Verdict::not_generated &&
                       !told->trial.outcome.evaluation.is_unanswered()
                   ? 1
                   : 0;
  return count;
}

}  // namespace

TEST_CASE("systems: a stop or a lost server during a question costs no trial, also after two resumes") {
  std::size_t systems = 0;
  for (const SystemEntry& entry : system_entries()) {
    if (!entry.rewrites) continue;
    CAPTURE(std::string(entry.name));
    ++systems;
    MoveRecorder recorder;
    const auto replies = std::make_shared<int>(0);
    std::uint64_t before = 0;
    for (const auto& [interruption, at] :
         {std::pair(Interruption::stop, 2), std::pair(Interruption::lost, 1),
          std::pair(Interruption::stop, 0), std::pair(Interruption::lost, 0)}) {
      const Interruption what = interruption;  // no structured binding: clang 14 captures none
      CAPTURE(static_cast<int>(what));
      const RunSummary summary = session(entry, recorder, replies, what, at);
      CHECK(summary.trials >= before);
      CHECK(summary.trials < 8);
      CHECK(without_code(recorder.record) == 0);
      if (at == 0) CHECK(summary.trials == before);  // its first question had no answer
      before = summary.trials;
    }
    // What is left of the budget is still there.
    const RunSummary summary = session(entry, recorder, replies, Interruption::none, 0);
    CHECK(summary.trials == 8);
    CHECK(without_code(recorder.record) == 0);
  }
  CHECK(systems == 7);
}

TEST_CASE("systems: a stop or a lost server during a question of Helion's searches costs no trial either") {
  for (const char* name : {"helion_llm", "helion_hybrid"}) {
    for (const Interruption what : {Interruption::stop, Interruption::lost}) {
      CAPTURE(std::string(name));
      CAPTURE(static_cast<int>(what));
      std::stop_source stop;
      const SystemEntry& entry = find_system(name);
      SystemSetup setup;
      setup.problem = problem_of_words();
      setup.problem.kernel.space = SpaceBuilder()
                                       .add(Tunable::power_of_two("A", 1, 32768))
                                       .add(Tunable::power_of_two("B", 1, 32768))
                                       .build();
      setup.options = SystemOptions(entry.name, entry.options, R"({"random_seeds": 4})");
      setup.model = InterruptedModel(std::make_shared<int>(0), what, 0, stop);
      setup.stop = stop.get_token();
      SystemSearch made = entry.make(std::move(setup));
      auto& parts = std::get<SearchParts<Config>>(made.parts);
      OptimizerOptions options;
      options.budget = std::make_shared<TrialBudget>(12);
      options.stop = stop.get_token();
      Optimizer search(std::move(parts.policy), std::move(parts.generator), KernelLandscape{},
                       std::move(options));
      const RunSummary summary = search.run();
      CHECK(summary.verdicts[static_cast<int>(Verdict::not_generated)] == 0);
      // The hybrid goes on with its second stage where the server is lost; a stop ends both.
      const bool goes_on = what == Interruption::lost && std::string(name) == "helion_hybrid";
      CHECK((summary.trials == 12) == goes_on);
      CHECK(summary.trials <= (goes_on ? 12 : 5));
    }
  }
}
