// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "input.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/run/first_questions.hpp"
#include "kernelsearch/run/run_option.hpp"
#include "kernelsearch/systems/system_registry.hpp"
#include "option_file.hpp"
#include "sandbox_option.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {
namespace {

struct PromptCommand {
  std::string problem;
  std::string role = "";
  FirstQuestionsOptions questions;
  OptionFile file;
  bool json = false;
};

nlohmann::ordered_json question_json(const FirstQuestion& question) {
  nlohmann::ordered_json messages = nlohmann::ordered_json::array();
  for (const Message& message : question.request.messages)
    messages.push_back(
        {{"speaker", to_string(message.speaker)}, {"stable", message.stable}, {"text", message.text}});
  nlohmann::ordered_json json{{"role", question.role},
                              {"example", question.example},
                              {"tokens", question.tokens},
                              {"max_tokens", question.request.max_tokens}};
  if (question.request.temperature) json["temperature"] = *question.request.temperature;
  json["messages"] = std::move(messages);
  return json;
}

void print_question(const FirstQuestion& question) {
  const std::vector<Message>& messages = question.request.messages;
  print_clean("==== {}: about {} tokens{}\n", question.role, question.tokens,
              question.example ? "; what is in parentheses stands for what only a run has" : "");
  for (std::size_t i = 0; i < messages.size(); ++i)
    print_clean("---- message {} of {}, {}{}\n{}{}", i + 1, messages.size(), to_string(messages[i].speaker),
                messages[i].stable ? ", the same in every question" : "", messages[i].text,
                messages[i].text.ends_with('\n') ? "" : "\n");
}

int run(const PromptCommand& command) {
  std::vector<FirstQuestion> questions =
      first_questions(read_any_problem(command.problem), command.questions);
  if (!command.role.empty()) {
    std::vector<std::string> roles;
    std::string list;
    for (const FirstQuestion& question : questions) {
      roles.push_back(question.role);
      (list += list.empty() ? "" : ", ") += question.role;
    }
    std::erase_if(questions, [&](const FirstQuestion& question) { return question.role != command.role; });
    if (questions.empty()) {
      const std::string nearest = nearest_name(command.role, roles);
      detail::raise<ConfigError>(
          "the system " + command.questions.system + " has no such role", command.role,
          (nearest.empty() ? "" : "did you mean " + nearest + "? ") + "it has: " + list);
    }
  }
  if (command.json) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const FirstQuestion& question : questions) all.push_back(question_json(question));
    print_json(all);
    return success;
  }
  for (const FirstQuestion& question : questions) print_question(question);
  return success;
}

}  // namespace

void add_prompt(CLI::App& app, int& exit_code) {
  CLI::App* sub = app.add_subcommand(
      "prompt", "Print what a system would ask its language model first; nothing is asked");
  auto command = std::make_shared<PromptCommand>();
  FirstQuestionsOptions& o = command->questions;
  std::string systems;
  for (const SystemEntry& system : system_entries())
    if (system.asks) (systems += systems.empty() ? "" : ", ") += system.name;
  sub->add_option("problem", command->problem, "Problem folder, problem.json or T1 file")->required();
  sub->add_option("--system", o.system, "System whose questions are shown: " + systems)->required();
  sub->add_option("--role", command->role, "Only the question of this role; default the first of each role");
  sub->add_option("--attempt", o.variant,
                  "As if it had been asked that many times before, with nothing that could be used")
      ->check(CLI::Range(0, 1000));
  add_option_file(*sub, command->file);
  sub->add_option("--system-options", o.system_options,
                  "Options of the system, a JSON object, over those of the file");
  sub->add_option(
      "--inner-trials", o.inner_trials,
      "As in tune: trials of the search over each kernel's tunables; 0: replies may declare none");
  sub->add_option("--methods", o.methods, "Folder of your own prompts, strategies and transformations")
      ->check(CLI::ExistingDirectory);
  sub->add_option("--devices", o.measurement.devices, "GPU that would be measured on, by number")
      ->delimiter(',')
      ->capture_default_str();
  sub->add_option("--cache", o.measurement.cache, "Caches at the start of a timed call: warm or cold")
      ->check(CLI::IsMember({"warm", "cold"}));
  sub->add_option("--sandbox", o.measurement.sandbox, sandbox_help)
      ->check(CLI::IsMember(sandbox_names()))
      ->capture_default_str();
  sub->add_option("--seed", o.seed, "Seed of every random choice of the search")->capture_default_str();
  sub->add_flag("--json", command->json, "As a JSON array with the messages of each question");
  sub->callback([command, &exit_code] {
    auto& asked = command->questions;
    RunOptions named;  // its options may be written with the system's name, as `tune` has them
    named.system = asked.system;
    named.system_options = with_option_file(command->file, asked.system_options);
    split_system(named);
    asked.system = named.system;
    asked.system_options = named.system_options;
    exit_code = run(*command);
  });
}

}  // namespace kernelsearch::app
