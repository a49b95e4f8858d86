// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "kernelsearch/mcp/mcp_server.hpp"
#include "kernelsearch/mcp/method_files.hpp"
#include "kernelsearch/mcp/run_tools.hpp"
#include "kernelsearch/run/run_manager.hpp"
#include "kernelsearch/store/run_store.hpp"
#include "sandbox_option.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {
namespace {

struct McpCommand {
  std::string store;
  std::string root = ".";
  std::string data;
  std::string sandbox = "auto";
  std::string require_sandbox = {};
  std::vector<int> devices = {0};
  int core = -1;
  unsigned jobs = 0;
  std::vector<std::string> readable = {};
  bool output_schemas = false;
};

/// The protocol's two ends, under numbers of their own: whatever else prints to stdout must not get into the
/// protocol, and no compiler may read from it.
struct Ends {
  int in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  Ends() {
    dup2(STDERR_FILENO, STDOUT_FILENO);
    if (const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC); nothing >= 0) {
      dup2(nothing, STDIN_FILENO);
      close(nothing);
    }
  }
};

int run(const McpCommand& command) {
  signal(SIGPIPE, SIG_IGN);  // a client that has gone is the end of the input, too
  const Ends ends;
  RunStore store(command.store.empty() ? RunStore::default_path() : std::filesystem::path(command.store));
  RunManagerOptions options;
  options.root = command.root;
  options.measuring.sandbox = command.sandbox;
  options.measuring.require_sandbox = command.require_sandbox;
  options.measuring.devices = command.devices;
  options.measuring.core = command.core;
  options.measuring.jobs = command.jobs;
  (void)readable_folders(command.readable);  // a ConfigError now rather than in every call
  options.measuring.readable = command.readable;
  RunManager manager(store, options);
  RunToolsOptions tools;
  const std::filesystem::path beside = std::filesystem::absolute(store.file()).parent_path();
  tools.reports = beside / "reports";
  tools.data = command.data.empty() ? data_folder() : std::filesystem::path(command.data);
  McpOptions mcp;
  mcp.title = "Kernel search";
  mcp.instructions = run_tools_instructions();
  mcp.output_schemas = command.output_schemas;
  mcp.log = [](std::string_view line) { print_clean(stderr, "kernelsearch mcp: {}\n", line); };
  LineChannel channel(ends.in, ends.out);
  serve_mcp(channel, run_tools(manager, tools), mcp);
  return success;
}

}  // namespace

void add_mcp(CLI::App& app, int& exit_code) {
  auto* sub = app.add_subcommand(
      "mcp", "Serve searches to assistants over stdin and stdout (Model Context Protocol)");
  auto command = std::make_shared<McpCommand>();
  sub->add_option("--root", command->root, "Problems are read from below this folder, and from nowhere else")
      ->capture_default_str()
      ->check(CLI::ExistingDirectory);
  sub->add_option("--store", command->store,
                  "SQLite file of runs; default $KERNELSEARCH_STORE or the user's data folder");
  sub->add_option("--data", command->data,
                  "Folder of strategies and transformations; default the installed one")
      ->check(CLI::ExistingDirectory);
  sub->add_option("--devices", command->devices, "GPUs to measure on, by number: equal ones, e.g. 0,1")
      ->delimiter(',')
      ->capture_default_str();
  sub->add_option("--core", command->core, "Processor core to measure on; default the last that may be used");
  sub->add_option("--jobs", command->jobs,
                  "Compilers at a time; default one for each core but the measured one");
  sub->add_option("--sandbox", command->sandbox, sandbox_help)
      ->capture_default_str()
      ->check(CLI::IsMember(sandbox_names()));
  sub->add_option("--readable", command->readable, readable_help)->allow_extra_args(false);
  sub->add_flag("--output-schemas", command->output_schemas,
                "List what the structured results of the tools look like: longer than all else in the list");
  sub->add_option("--require-sandbox", command->require_sandbox,
                  "Measure nothing in a weaker sandbox than this: bubblewrap or landlock")
      ->check(CLI::IsMember({"bubblewrap", "landlock"}));
  sub->footer(
      "Example, as an assistant's configuration has it:\n"
      "  {\"mcpServers\": {\"kernelsearch\": {\"command\": \"kernelsearch\",\n"
      "    \"args\": [\"mcp\", \"--root\", \"/home/me/kernels\"]}}}\n"
      "  kernelsearch mcp --root examples/host");
  sub->callback([command, &exit_code] { exit_code = run(*command); });
}

}  // namespace kernelsearch::app
