// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "commands.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/process/carried_programs.hpp"
#include "kernelsearch/process/close_process.hpp"
#include "kernelsearch/version.hpp"
#include "terminal.hpp"

namespace {

using namespace kernelsearch;

/// The command that was being given: the deepest subcommand that parsed.
const CLI::App& innermost(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : innermost(*chosen.front());
}

/// What there is instead of `word`: subcommands at the top, options everywhere.
std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// The arguments with a count behind a prefix joined to it, `--launch 'ssh gpu3' x2` as one value: options
/// take as many values as they say, and the next word may be the problem. In reverse, as CLI11 takes them.
std::vector<std::string> joined_counts(const std::vector<std::string>& given) {
  const auto is_count = [](const std::string& word) {
    return word.size() > 1 && word[0] == 'x' && word.find_first_not_of("0123456789", 1) == std::string::npos;
  };
  std::vector<std::string> words;
  for (const std::string& word : given) {
    const std::size_t n = words.size();
    const bool after = n >= 2 && (words[n - 2] == "--launch" || words[n - 2] == "--build-launch");
    const bool glued =
        n >= 1 && (words[n - 1].rfind("--launch=", 0) == 0 || words[n - 1].rfind("--build-launch=", 0) == 0);
    if ((after || glued) && is_count(word))
      words.back() += " " + word;
    else
      words.push_back(word);
  }
  return {words.rbegin(), words.rend()};
}

/// Takes from the words what stands behind the first `--`, where that is for a command of the user's own:
/// CLI11 would take it for further arguments of ours.
std::vector<std::string> taken_behind(std::vector<std::string>& words) {
  if (words.empty() || (words[0] != "tune" && words[0] != "convert")) return {};
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes == words.end()) return {};
  std::vector<std::string> behind(dashes + 1, words.end());
  words.erase(dashes, words.end());
  return behind;
}

int report_usage(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = innermost(app);
  std::string text = error.what();
  // A mistyped word is also why what it stands for is missing.
  const std::vector<std::string> rest = app.remaining(true);
  const bool missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !rest.empty();
  if (missing || dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::string word = rest.empty() ? "" : rest.front().substr(0, rest.front().find('='));
    const std::string nearest = nearest_name(word, names_of(command));
    text = "unknown " + std::string(word.rfind('-', 0) == 0 ? "option" : "argument") + ": " + word;
    if (!nearest.empty()) text += "; did you mean " + nearest + "?";
  }
  std::string path = command.get_name();
  for (const CLI::App* outer = command.get_parent(); outer != nullptr; outer = outer->get_parent())
    path = outer->get_name() + " " + path;
  app::print_clean(stderr, "kernelsearch: {}\nRun `{} --help` for what there is.\n", text, path);
  return app::wrong_usage;
}

}  // namespace

// None; the program of one file (apps/portable), which is made of the same objects, has its own.
[[gnu::weak]] std::span<const CarriedProgram> kernelsearch::app::programs_inside() {
  return {};
}

int main(int argc, char** argv) {
  close_process();  // keys of models are in our environment, and compilers may see /proc
  carry_programs(app::programs_inside());
  int exit_code = app::success;
  std::vector<std::string> words(argv + 1, argv + argc);
  const std::vector<std::string> behind = taken_behind(words);
  CLI::App cli{"Makes compute kernels faster and keeps them correct.", "kernelsearch"};
  cli.set_version_flag("--version", "kernelsearch " KERNELSEARCH_VERSION);
  cli.require_subcommand(1);
  cli.get_formatter()->column_width(34);
  cli.footer(
      "Examples:\n"
      "  kernelsearch new saxpy && kernelsearch tune saxpy     a problem of your own, tuned\n"
      "  kernelsearch tune examples/host/matmul --budget 60s   search for a minute\n"
      "  kernelsearch best latest                              the winner of the newest run\n"
      "  kernelsearch space space.json --sample 3              look into a space\n"
      "Exit codes: 0 done, 1 nothing right found, 2 wrong usage, 3 wrong input, 4 no device, 130 "
      "interrupted.");
  app::add_tune(cli, exit_code, behind);
  app::add_check(cli, exit_code);
  app::add_profile(cli, exit_code);
  app::add_prompt(cli, exit_code);
  app::add_new(cli, exit_code);
  app::add_best(cli, exit_code);
  app::add_plan(cli, exit_code);
  app::add_show(cli, exit_code);
  app::add_runs(cli, exit_code);
  app::add_note(cli, exit_code);
  app::add_checkpoints(cli, exit_code);
  app::add_memory(cli, exit_code);
  app::add_export(cli, exit_code);
  app::add_convert(cli, exit_code, behind);
  app::add_inspect(cli, exit_code);
  app::add_space(cli, exit_code);
  app::add_compare(cli, exit_code);
  app::add_contract(cli, exit_code);
  app::add_report(cli, exit_code);
  app::add_serve(cli, exit_code);
  app::add_list(cli, exit_code);
  app::add_mcp(cli, exit_code);
  app::add_worker(cli, exit_code);
  app::add_doctor(cli, exit_code);
  app::add_bench(cli, exit_code);
  app::add_trial(cli, exit_code);
  app::add_completion(cli, exit_code);

  try {
    cli.parse(joined_counts(words));
  } catch (const CLI::Success& wish) {  // --help, --version
    return cli.exit(wish);
  } catch (const CLI::ParseError& error) {
    return report_usage(cli, error);
  } catch (const DeviceError& error) {
    app::print_clean(stderr, "{}\n", error.what());
    return app::no_device;
  } catch (const Error& error) {
    app::print_clean(stderr, "{}\n", error.what());
    return app::wrong_input;
  } catch (const std::exception& error) {
    app::print_clean(stderr, "kernelsearch: unexpected failure: {}\n", error.what());
    return app::wrong_input;
  }
  return exit_code;
}
