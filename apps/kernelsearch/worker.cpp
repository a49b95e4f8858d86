// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "interrupt.hpp"
#include "kernelsearch/remote/lane_server.hpp"
#include "kernelsearch/run/lane_judge.hpp"
#include "terminal.hpp"

namespace kernelsearch::app {
namespace {

struct WorkerCommand {
  bool stdio = false;
  std::string device_class;
  MeasurementOptions own{.devices = {}};
  double orphan_seconds = 300;
};

int run_worker(const WorkerCommand& command) {
  signal(SIGPIPE, SIG_IGN);
  // The protocol's two ends, under numbers of their own: whatever else prints to stdout must not get into the
  // protocol, and no compiler may read from it.
  const int in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  if (const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC); nothing >= 0) {
    dup2(nothing, STDIN_FILENO);
    close(nothing);
  }
  const Interrupt interrupt;
  LaneServerOptions options;
  options.make = [&command](Problem problem, const std::string& how, const std::string& target) {
    return make_lane_judge(std::move(problem), how, command.own, target);
  };
  options.device_class = command.device_class;
  options.stop = interrupt.token();
  options.orphan_seconds = command.orphan_seconds;
  options.log = [](std::string_view line) { print_clean(stderr, "kernelsearch worker: {}\n", line); };
  // What does not stop when it is asked to must not outlive the pipe: what runs in sandboxes ends with us.
  options.leaving = [] {
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::seconds(15));
      ::_exit(nothing_found);
    }).detach();
  };
  return serve_lane(in, out, options) ? success : nothing_found;
}

}  // namespace

void add_worker(CLI::App& app, int& exit_code) {
  auto* sub = app.add_subcommand("worker", "Judge candidates for a `tune` elsewhere (docs/scale.md)");
  auto command = std::make_shared<WorkerCommand>();
  sub->add_flag("--stdio", command->stdio, "Over standard input and output, the only way")->required();
  sub->add_option("--class", command->device_class, "Class of device that it says it is of");
  sub->add_option("--devices", command->own.devices, "GPU to measure on; default what the controller says")
      ->delimiter(',');
  sub->add_option("--core", command->own.core,
                  "Processor core to measure on; default what the controller says");
  sub->add_option("--jobs", command->own.jobs, "Compilers at a time; default what the controller says");
  sub->add_option("--orphan-seconds", command->orphan_seconds,
                  "End where the controller says nothing for so long")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  sub->footer(
      "It is started by `kernelsearch tune --launch` and `--slurm`, and by nobody by hand:\n"
      "  kernelsearch tune mine --launch 'ssh gpu3' x2");
  sub->callback([command, &exit_code] { exit_code = run_worker(*command); });
}

}  // namespace kernelsearch::app
