// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "interrupt.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/judge/measuring_lock.hpp"
#include "kernelsearch/process/start_apart.hpp"
#include "kernelsearch/run/report_extras.hpp"
#include "kernelsearch/run/run_budget.hpp"
#include "kernelsearch/run/run_control.hpp"
#include "kernelsearch/run/run_lock.hpp"
#include "served_beside.hpp"
#include "store_access.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {
namespace {

namespace fs = std::filesystem;

struct ServeCommand {
  std::vector<std::string> stores;
  std::uint16_t port = 0;
  bool control = false;
};

/// As Ctrl-C in its terminal: the run ends with its summary, and what was measured is kept.
std::string stop_run(const RunStore& store, RunId run) {
  const std::optional<pid_t> process = RunLock::holder(store.file(), run);
  if (!process) return fmt::format("run {}: no process of this machine works on it", number(run));
  if (*process == ::getpid() || ::kill(*process, SIGINT) != 0)
    return fmt::format("run {}: process {} cannot be told to stop", number(run), *process);
  return fmt::format("run {}: process {} was told to stop", number(run), *process);
}

/// Starts `tune --resume` for it, in a session of its own, so that it outlives the server.
std::string resume_run(const RunStore& store, RunId run, const std::string& budget) {
  if (RunLock::holder(store.file(), run)) return fmt::format("run {}: a process works on it", number(run));
  std::vector<std::string> words{
      "/proc/self/exe",      "tune",   "--resume", std::to_string(number(run)), "--store",
      store.file().string(), "--quiet"};
  if (!budget.empty()) {
    (void)parse_budget(budget);  // what is not a budget is said here
    words.insert(words.end(), {"--budget", budget});
  }
  const pid_t process = start_apart(std::move(words));
  return fmt::format("run {}: process {} goes on with it", number(run), process);
}

/// It finishes what it has begun, and begins nothing more until it is told to go on.
std::string pause_run(const RunStore& store, RunId run) {
  if (!RunControl(store.file(), run).pause())
    return fmt::format("run {}: no process of this machine works on it that could be paused", number(run));
  return fmt::format("run {}: it finishes what is under way, and begins nothing new", number(run));
}

std::string continue_run(const RunStore& store, RunId run) {
  const bool went_on = RunControl(store.file(), run).go_on();
  return fmt::format("run {}: {}", number(run), went_on ? "it goes on" : "it was not paused");
}

std::vector<ServedNow> served_now(const fs::path& store) {
  std::vector<ServedNow> runs;
  for (const auto& [run, process] : RunLock::holders(store)) {
    ServedNow served{run, process, {}, false, {}, {}};
    if (const std::optional<RunNow> now = RunControl(store, run).now()) {
      served.doing = now->doing;
      served.paused = now->paused;
      served.filled = now->standing.filled;
      served.left = now->standing.left;
    }
    runs.push_back(std::move(served));
  }
  return runs;
}

ServedMachine served_machine() {
  ServedMachine machine;
  if (double load = 0; ::getloadavg(&load, 1) == 1) machine.load = load;
  machine.processors = std::thread::hardware_concurrency();
  for (const HeldThing& one : held_things()) machine.held.push_back(one.words + ": " + one.holder);
  return machine;
}

/// What every server of ours tells of runs that are under way.
StoreServerOptions telling_options() {
  StoreServerOptions options;
  options.now = served_now;
  options.machine = served_machine;
  return options;
}

std::string control_run(const RunStore& store, RunId run, const std::string& action,
                        const std::string& budget) {
  if (action == "stop") return stop_run(store, run);
  if (action == "pause") return pause_run(store, run);
  if (action == "continue") return continue_run(store, run);
  if (action == "resume") return resume_run(store, run, budget);
  detail::raise<ConfigError>("no such action", action.substr(0, 40), "stop, pause, continue or resume");
}

int serve(const ServeCommand& command) {
  const Interrupt interrupt;
  StoreServerOptions options = telling_options();
  options.port = command.port;
  options.extras = [](const RunStore& store, RunId run) { return report_extras(store, run); };
  if (command.control) options.control = control_run;
  for (const std::string& store : command.stores.empty() ? std::vector<std::string>{""} : command.stores)
    options.stores.push_back(open_store_to_read(store).file());
  StoreServer server(std::move(options));
  print_clean("{}\n", server.address());
  std::fflush(stdout);
  print_clean(stderr, "open it in a browser of this machine; Ctrl-C ends it\n");
  server.serve(interrupt.token());
  return success;
}

}  // namespace

ServedBeside::ServedBeside(const fs::path& store, const fs::path& exchanges) {
  StoreServerOptions options = telling_options();
  options.stores = {store};
  options.extras = [exchanges](const RunStore& of, RunId run) { return report_extras(of, run, exchanges); };
  server_ = std::make_unique<StoreServer>(std::move(options));
  print_clean(stderr, "watch it at {}\n", server_->address());
  thread_ = std::jthread([server = server_.get()](const std::stop_token& stop) { server->serve(stop); });
}

void add_serve(CLI::App& app, int& exit_code) {
  auto* sub =
      app.add_subcommand("serve", "Show the runs of stores to browsers of this machine, as they grow");
  auto command = std::make_shared<ServeCommand>();
  sub->add_option("STORE", command->stores, "SQLite files of runs; default as `tune` has it");
  sub->add_option("--port", command->port, "Port on 127.0.0.1; default any that is free");
  sub->add_flag("--control", command->control,
                "Let those who have the address stop, pause and resume runs and edit notes, too");
  sub->footer(
      "It listens on 127.0.0.1 alone and prints an address with a token, without which it answers 403.\n"
      "Examples:\n"
      "  kernelsearch serve\n"
      "  ssh -L 8080:127.0.0.1:8080 gpu3 kernelsearch serve --port 8080    runs of another machine");
  sub->callback([command, &exit_code] { exit_code = serve(*command); });
}

}  // namespace kernelsearch::app
