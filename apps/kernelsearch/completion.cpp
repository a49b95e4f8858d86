// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {
namespace {

/// The options that the help shows: former spellings are in no group.
std::vector<const CLI::Option*> shown_options(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
}

/// The long options of a command and of what is below it, and the names of that, separated by blanks.
std::string options_of(const CLI::App& app) {
  std::string words;
  for (const CLI::Option* option : shown_options(app))
    for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
  if (app.get_parent() == nullptr) return words;  // each subcommand has its own line
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    words += sub->get_name() + " " + options_of(*sub);
  return words;
}

std::string bash_script(const CLI::App& root) {
  std::string commands, cases;
  for (const CLI::App* sub : root.get_subcommands([](const CLI::App*) { return true; })) {
    commands += sub->get_name() + " ";
    cases += fmt::format("    {}) words=\"{}\" ;;\n", sub->get_name(), options_of(*sub));
  }
  return fmt::format(
      R"(# bash completion for kernelsearch; put it where bash-completion looks, or: source <(kernelsearch completion bash)
_kernelsearch() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words="{}{}"
  case ${{COMP_WORDS[1]}} in
{}  esac
  if [[ $COMP_CWORD -gt 1 && $current != -* && ( ${{COMP_WORDS[1]}} != plan || $COMP_CWORD -gt 2 ) ]]; then
    COMPREPLY=(); return  # falls back to files
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _kernelsearch kernelsearch
)",
      commands, options_of(root), cases);
}

std::string zsh_script(const CLI::App& root) {
  return "autoload -U bashcompinit && bashcompinit\n" + bash_script(root);
}

std::string fish_script(const CLI::App& root) {
  std::string script = "# fish completion for kernelsearch\n";
  for (const CLI::App* sub : root.get_subcommands([](const CLI::App*) { return true; })) {
    script += fmt::format("complete -c kernelsearch -n __fish_use_subcommand -a {} -d '{}'\n",
                          sub->get_name(), sub->get_description());
    for (const CLI::Option* option : shown_options(*sub))
      for (const std::string& name : option->get_lnames())
        script += fmt::format("complete -c kernelsearch -n '__fish_seen_subcommand_from {}' -l {}\n",
                              sub->get_name(), name);
    for (const CLI::App* inner : sub->get_subcommands([](const CLI::App*) { return true; }))
      script += fmt::format("complete -c kernelsearch -n '__fish_seen_subcommand_from {}' -a {} -d '{}'\n",
                            sub->get_name(), inner->get_name(), inner->get_description());
  }
  return script;
}

}  // namespace

void add_completion(CLI::App& app, int& exit_code) {
  auto* sub = app.add_subcommand("completion", "Print a completion script for your shell");
  auto shell = std::make_shared<std::string>();
  sub->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  sub->footer("Example: source <(kernelsearch completion bash)");
  sub->callback([shell, &app, &exit_code] {
    print_clean("{}", *shell == "bash"  ? bash_script(app)
                      : *shell == "zsh" ? zsh_script(app)
                                        : fish_script(app));
    exit_code = success;
  });
}

}  // namespace kernelsearch::app
