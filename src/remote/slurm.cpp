// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/remote/slurm.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/shell_word.hpp"
#include "kernelsearch/remote/launch.hpp"
#include "remote/slurm_job.hpp"

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
      const std::size_t dash = value.find('-');
      request.nodes = whole_number(name, value.substr(0, dash));
      if (dash != std::string_view::npos) request.most_nodes = whole_number(name, value.substr(dash + 1));
      if (dash != std::string_view::npos && request.most_nodes < request.nodes)
        detail::raise<ConfigError>("the most nodes are fewer than the least", one, "write nodes=LEAST-MOST");
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
  std::optional<remote::SlurmJob> own;  ///< that was taken for us
  std::string job;
  std::vector<std::string> nodes;
  std::vector<std::shared_ptr<remote::QueuedNode>> later;
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
    impl->nodes = remote::slurm_nodes(list);
    const std::size_t most = std::max(request.nodes, request.most_nodes);
    if (impl->nodes.size() > most) impl->nodes.resize(most);
    return SlurmAllocation(std::move(impl));
  }
  // A node that fails takes no others with it.
  impl->own.emplace(request, request.nodes, true);
  if (!impl->own->wait(stop, say))
    detail::raise<DeviceError>("stopped while Slurm had no nodes yet", std::to_string(request.nodes),
                               "wait for them, or ask for fewer");
  impl->job = impl->own->number();
  impl->nodes = impl->own->nodes();
  const auto held = std::make_shared<remote::HeldNodes>();
  for (const std::string& node : impl->nodes) (void)held->add(node);
  for (std::size_t i = request.nodes; i < request.most_nodes; ++i)
    impl->later.push_back(std::make_shared<remote::QueuedNode>(request, held, say));
  return SlurmAllocation(std::move(impl));
}

std::vector<LaunchPool> SlurmAllocation::pools(const std::string& worker) const {
  const SlurmRequest& request = impl_->request;
  const std::size_t workers = request.workers > 0 ? request.workers : std::max<std::size_t>(1, request.gpus);
  std::vector<LaunchPool> pools;
  const auto add = [&](const std::string& place) -> LaunchPool& {
    LaunchPool pool;
    pool.launch = "srun " + place + " -N1 -n1";
    pool.launch += request.cpus > 0 ? " --exact -c " + std::to_string(request.cpus) : " --overlap";
    if (request.gpus > 0) pool.launch += " --gpus=1";
    pool.count = workers;
    pool.worker = worker;
    pools.push_back(std::move(pool));
    return pools.back();
  };
  for (const std::string& node : impl_->nodes) add(remote::slurm_place(impl_->job, node));
  for (const auto& node : impl_->later)
    add("{place}").place = [node](const std::stop_token& stop) { return node->place(stop); };
  return pools;
}

double SlurmAllocation::seconds_left() const {
  std::istringstream words(remote::slurm_output("squeue -h -o %L -j " + shell_word(impl_->job)));
  std::string left;
  words >> left;
  return std::max(1.0, slurm_seconds(left) - summary_seconds);
}

const std::string& SlurmAllocation::job() const noexcept {
  return impl_->job;
}

}  // namespace kernelsearch
