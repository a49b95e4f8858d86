// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "kernelsearch/agents/new_problem.hpp"
#include "kernelsearch/problem/scaffold.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {

void add_new(CLI::App& app, int& exit_code) {
  struct Options {
    std::string folder;
    std::string name, from, function;
    ScaffoldOptions scaffold;
  };
  auto* sub = app.add_subcommand("new", "Write a new problem that tunes at once, to put your own kernel in");
  auto options = std::make_shared<Options>();
  sub->add_option("FOLDER", options->folder, "Where to write it; its last part is the problem's name")
      ->required();
  sub->add_option("--name", options->name, "Another name for the problem and its function");
  sub->add_option("--compiler", options->scaffold.compiler, "Compiler of its candidates")
      ->capture_default_str();
  sub->add_option(
         "--from", options->from,
         "Make it of this: a kernel in CUDA, HIP or Triton, which says what is right by what it computes "
         "now, or what tune takes for a problem, as a PyTorch module")
      ->check(CLI::ExistingPath);
  sub->add_option("--function", options->function,
                  "The kernel in the file, or for Triton the function that launches it")
      ->needs("--from");
  sub->footer("Example: kernelsearch new mine && kernelsearch tune mine --budget 30s");
  sub->callback([options, &exit_code] {
    const std::filesystem::path folder(options->folder);
    const std::filesystem::path last =
        folder.has_filename() ? folder.filename() : folder.parent_path().filename();
    const std::string name = options->name.empty() ? last.string() : options->name;
    if (!options->from.empty()) {
      const auto [place, to_edit] = write_draft(folder, name, options->from, options->function);
      const std::string problem = place.string();
      print_clean("{}\n", problem);
      if (!to_edit.empty()) print_clean(stderr, "Some of it is guessed. Edit in {}:\n", problem);
      for (const std::string& what : to_edit) print_clean(stderr, "  {}\n", what);
      print_clean(stderr, "{}  kernelsearch check {}\n", to_edit.empty() ? "Next:\n" : "Then:\n", problem);
      exit_code = success;
      return;
    }
    scaffold_problem(folder, name, options->scaffold);
    print_clean("{}\n", folder.string());
    print_clean(stderr,
                "Wrote problem.json, kernel.cpp and reference.cpp. Next:\n"
                "  kernelsearch check {0}                 is it a good problem?\n"
                "  kernelsearch tune {0} --budget 30s     search\n"
                "Then put your own kernel into kernel.cpp and say in problem.json what it takes.\n",
                folder.string());
    exit_code = success;
  });
}

}  // namespace kernelsearch::app
