// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/remote/slurm.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <sstream>

#include "evaluator/host/process.hpp"
#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/shell_word.hpp"
#include "kernelsearch/remote/launch.hpp"

namespace kernelsearch {
namespace {

constexpr const char* known_names =
    "nodes, gpus, workers, cpus, partition, time, account, qos, constraint, reservation, mem";
constexpr double summary_seconds = 20;  // to write the winner's files and to end the workers

std::size_t whole_number(std::string_view name, std::string_view text) {
  std::size_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || number > 100'000) {
      number = 0;
      break;
    }
    number = 10 * number + static_cast<std::size_t>(c - '0');
  }
  if (text.empty() || number == 0)
    detail::raise<ConfigError>("a number is wanted of Slurm's " + std::string(name), text, "give 1 or more");
  return number;
}

/// What a command of Slurm printed; a DeviceError with what it says where it fails.
std::string output_of(const std::string& command) {
  const detail::Finished done = detail::run_command(detail::shell_launch(command, ""), 60, 1 << 20);
  if (done.timed_out || done.status != 0)
    detail::raise<DeviceError>("a command of Slurm failed", command + ": " + clean_text(done.errors),
                               "run it by hand");
  return done.output;
}

}  // namespace

SlurmRequest read_slurm_request(std::string_view text) {
  SlurmRequest request;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view one = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    const std::size_t equals = one.find('=');
    const std::string name(one.substr(0, equals));
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : one.substr(equals + 1);
    if (name == "nodes") {
      request.nodes = whole_number(name, value);
    } else if (name == "gpus") {
      request.gpus = whole_number(name, value);
    } else if (name == "workers") {
      request.workers = whole_number(name, value);
    } else if (name == "cpus") {
      request.cpus = whole_number(name, value);
    } else if (!value.empty() &&
               (name == "partition" || name == "time" || name == "account" || name == "qos" ||
                name == "constraint" || name == "reservation" || name == "mem")) {
      request.others.emplace_back(name, value);
    } else {
      detail::raise<ConfigError>(
          "this cannot be asked of Slurm", one,
          std::string("write NAME=VALUE with commas between; names are ") + known_names);
    }
  }
  return request;
}

double slurm_seconds(std::string_view text) {
  double days = 0, seconds = 0;
  const std::size_t dash = text.find('-');
  const auto number = [](std::string_view part) {
    if (part.empty() || part.size() > 9 || part.find_first_not_of("0123456789") != std::string_view::npos)
      return -1.0;
    return static_cast<double>(std::atol(std::string(part).c_str()));
  };
  if (dash != std::string_view::npos) {
    days = number(text.substr(0, dash));
    text = text.substr(dash + 1);
  }
  bool bad = days < 0;
  while (true) {
    const std::size_t colon = text.find(':');
    const double part = number(text.substr(0, colon));
    bad = bad || part < 0;
    seconds = 60 * seconds + part;
    if (colon == std::string_view::npos) break;
    text = text.substr(colon + 1);
  }
  return bad ? std::numeric_limits<double>::infinity() : 86400 * days + seconds;
}

struct SlurmAllocation::Impl {
  SlurmRequest request;
  std::string job;
  std::vector<std::string> nodes;
  bool own = false;  ///< it was taken for us, and is to be given back
  detail::Process holder;
  detail::Descriptor to_holder, from_holder, errors;

  ~Impl() {
    if (!own) return;
    to_holder.reset();  // the command that the allocation lives for ends
    int status = 0;
    if (holder.running() && holder.wait(10, status)) return;
    holder.kill();
    (void)detail::run_command(detail::shell_launch("scancel " + shell_word(job), ""), 10, 1 << 16);
  }

  void wait_for_nodes(const std::stop_token& stop, const std::function<void(const std::string&)>& say) {
    std::string out, err;
    std::size_t told = 0;
    std::array<pollfd, 2> waiting{pollfd{from_holder.number(), POLLIN, 0},
                                  pollfd{errors.number(), POLLIN, 0}};
    const auto refuse = [&](const char* what) {
      own = !job.empty();
      holder.kill();
      detail::raise<DeviceError>(what, clean_text(err), "run salloc by hand, see docs/scale.md");
    };
    while (out.find('\n') == std::string::npos) {
      if (stop.stop_requested()) refuse("stopped while Slurm had no nodes yet");
      poll(waiting.data(), waiting.size(), 100);
      std::array<char, 4096> buffer;
      for (std::size_t i = 0; i < 2; ++i) {
        if (waiting[i].fd < 0 || waiting[i].revents == 0) continue;
        const ssize_t got = read(waiting[i].fd, buffer.data(), buffer.size());
        if (got > 0)
          (i == 0 ? out : err).append(buffer.data(), static_cast<std::size_t>(got));
        else
          waiting[i].fd = -1;
      }
      if (const std::size_t line = err.find('\n', told); say && line != std::string::npos) {
        say(clean_text(err.substr(told, line - told)));
        told = line + 1;
      }
      if (waiting[0].fd < 0 && out.find('\n') == std::string::npos) refuse("Slurm gives no nodes");
    }
    std::istringstream words(out);
    std::string list;
    words >> job >> list;
    take_nodes(list);
  }

  void take_nodes(const std::string& list) {
    std::istringstream names(output_of("scontrol show hostnames " + shell_word(list)));
    for (std::string name; names >> name;) nodes.push_back(name);
    if (nodes.empty())
      detail::raise<DeviceError>("Slurm's job has no nodes", list, "run scontrol show hostnames by hand");
  }
};

SlurmAllocation::SlurmAllocation(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SlurmAllocation::SlurmAllocation(SlurmAllocation&&) noexcept = default;
SlurmAllocation& SlurmAllocation::operator=(SlurmAllocation&&) noexcept = default;
SlurmAllocation::~SlurmAllocation() = default;

SlurmAllocation SlurmAllocation::take(const SlurmRequest& request, const std::stop_token& stop,
                                      const std::function<void(const std::string&)>& say) {
  auto impl = std::make_unique<Impl>();
  impl->request = request;
  const char* inside = std::getenv("SLURM_JOB_ID");
  const char* list = std::getenv("SLURM_JOB_NODELIST");
  if (inside != nullptr && list != nullptr) {
    impl->job = inside;
    impl->take_nodes(list);
    if (impl->nodes.size() > request.nodes) impl->nodes.resize(request.nodes);
    return SlurmAllocation(std::move(impl));
  }
  // A node that fails takes no others with it. The allocation lives for as long as our end of a pipe is open.
  std::string command = "exec salloc --no-kill -J kernelsearch -N " + std::to_string(request.nodes);
  if (request.gpus > 0) command += " --gpus-per-node=" + std::to_string(request.gpus);
  for (const auto& [name, value] : request.others) command += " --" + name + "=" + shell_word(value);
  command += " /bin/sh -c 'echo \"$SLURM_JOB_ID $SLURM_JOB_NODELIST\"; exec cat >/dev/null'";
  auto [in_read, in_write] = detail::make_pipe();
  auto [out_read, out_write] = detail::make_pipe();
  auto [err_read, err_write] = detail::make_pipe();
  impl->to_holder = std::move(in_write);
  impl->from_holder = std::move(out_read);
  impl->errors = std::move(err_read);
  detail::Launch launch = detail::shell_launch(command, "");
  launch.descriptors = {{0, in_read.number()}, {1, out_write.number()}, {2, err_write.number()}};
  impl->holder = detail::Process(launch);
  // The child has its own copies; ours would keep its pipes open.
  in_read.reset();
  out_write.reset();
  err_write.reset();
  impl->own = true;
  impl->wait_for_nodes(stop, say);
  return SlurmAllocation(std::move(impl));
}

std::vector<LaunchPool> SlurmAllocation::pools(const std::string& worker) const {
  const SlurmRequest& request = impl_->request;
  const std::size_t workers = request.workers > 0 ? request.workers : std::max<std::size_t>(1, request.gpus);
  std::vector<LaunchPool> pools;
  for (const std::string& node : impl_->nodes) {
    LaunchPool pool;
    pool.launch = "srun --jobid=" + impl_->job + " -N1 -n1 -w " + node;
    pool.launch += request.cpus > 0 ? " --exact -c " + std::to_string(request.cpus) : " --overlap";
    if (request.gpus > 0) pool.launch += " --gpus=1";
    pool.count = workers;
    pool.worker = worker;
    pools.push_back(std::move(pool));
  }
  return pools;
}

double SlurmAllocation::seconds_left() const {
  std::istringstream words(output_of("squeue -h -o %L -j " + shell_word(impl_->job)));
  std::string left;
  words >> left;
  return std::max(1.0, slurm_seconds(left) - summary_seconds);
}

const std::string& SlurmAllocation::job() const noexcept {
  return impl_->job;
}

}  // namespace kernelsearch
