// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernelsearch/remote/lane_server.hpp"
#include "kernelsearch/remote/remote_evaluator.hpp"
#include "support/word_evaluator.hpp"

namespace support {

/// What the workers of one lane have done, all of them together.
struct LaneCounts {
  std::atomic<int> started{0}, builds{0}, runs{0}, compares{0}, renewals{0};

  void set_target(const std::string& target) {
    const std::lock_guard lock(mutex);
    told = target;
  }
  /// What the newest worker was told to build for.
  [[nodiscard]] std::string target() {
    const std::lock_guard lock(mutex);
    return told;
  }

 private:
  std::mutex mutex;
  std::string told;
};

/// Judges by words (see Words), on a worker; what it builds can be carried.
struct CarriedWords : Words {
  std::shared_ptr<LaneCounts> counts = std::make_shared<LaneCounts>();
  double delay = 0;                           ///< of a measurement, in seconds
  double slower = 1;                          ///< so many times as long as the others it needs
  bool broken = false;                        ///< the device computes nonsense
  const std::atomic<bool>* breaks = nullptr;  ///< or does so from then on
  std::function<void()> comparing = nullptr;  ///< called where a comparison begins

  Staged<Artifact> build(const Candidate& candidate, const EvaluationContext& context) const {
    ++counts->builds;
    return Words::build(candidate, context);
  }
  Evaluation run(Staged<Artifact>&& staged, const EvaluationContext& context) const {
    ++counts->runs;
    if (delay > 0) std::this_thread::sleep_for(std::chrono::duration<double>(delay));
    if (broken || (breaks != nullptr && *breaks))
      return Evaluation::failed(Verdict::wrong_result, "y[0] is 0 instead of 6", 0.0);
    Evaluation evaluation = Words::run(std::move(staged), context);
    evaluation.measurement.seconds *= slower;
    return evaluation;
  }
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) const {
    return evaluate_in_stages(*this, candidate, context);
  }
  Speedup compare(const Candidate&, const Candidate&, const PairOptions& pairs) const {
    ++counts->compares;
    if (comparing) comparing();
    return {2.0, {1.9, 2.1}, static_cast<std::uint32_t>(pairs.max_pairs)};
  }
  void renew() const { ++counts->renewals; }
  static constexpr BuiltLaunch carried_launch{64, {32, 2, 1}};
  [[nodiscard]] PortableArtifact carry(const Artifact& artifact) const {
    return {artifact.candidate.kernel->regions.device, {"twice"}, true, {carried_launch}};
  }
  [[nodiscard]] Artifact carried(const Candidate& candidate, const PortableArtifact& portable) const {
    if (portable.functions != std::vector<std::string>{"twice"} || !portable.library ||
        portable.code != candidate.kernel->regions.device ||
        portable.launches != std::vector<BuiltLaunch>{carried_launch})
      throw DeviceError("what came is not what was built");
    return {candidate};
  }
};
static_assert(CarriesArtifacts<CarriedWords, Candidate>);

/// Workers in threads of this process, at the other ends of sockets, which can be cut.
class Workers {
 public:
  /// The judge of a lane's worker.
  std::function<CarriedWords(std::size_t lane)> judge = [](std::size_t) { return CarriedWords{}; };
  /// Speaks for a lane in place of a worker where it is set and returns true.
  std::function<bool(std::size_t lane, int socket)> instead = nullptr;

  Workers() = default;
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() {
    cut_all();
    threads_.clear();
  }

  [[nodiscard]] RemoteOptions options(std::size_t lanes) {
    RemoteOptions options;
    for (std::size_t i = 0; i < lanes; ++i) options.lanes.push_back({"", "worker", false});
    options.connect = [this](std::size_t lane) { return connect(lane); };
    options.backoff_seconds = 0.01;
    options.falls_behind = 0;
    options.say = [this](const std::string& text) {
      const std::lock_guard lock(mutex_);
      said_ += text + "\n";
    };
    return options;
  }
  [[nodiscard]] LaneCounts& counts(std::size_t lane) {
    const std::lock_guard lock(mutex_);
    auto& one = counts_[lane];
    if (!one) one = std::make_shared<LaneCounts>();
    return *one;
  }
  [[nodiscard]] int runs() {
    const std::lock_guard lock(mutex_);
    int all = 0;
    for (auto& [lane, one] : counts_) all += one->runs;
    return all;
  }
  [[nodiscard]] std::string said() {
    const std::lock_guard lock(mutex_);
    return said_;
  }
  /// As when a node dies.
  void cut(std::size_t lane) {
    const std::lock_guard lock(mutex_);
    if (const auto found = sockets_.find(lane); found != sockets_.end()) shutdown(found->second, SHUT_RDWR);
  }
  void cut_all() {
    const std::lock_guard lock(mutex_);
    for (auto& [lane, socket] : sockets_) shutdown(socket, SHUT_RDWR);
  }

 private:
  std::pair<int, int> connect(std::size_t lane) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("no sockets");
    LaneCounts& count = counts(lane);
    ++count.started;
    const std::lock_guard lock(mutex_);
    const int cutter = dup(ends[1]);
    if (const auto found = sockets_.find(lane); found != sockets_.end()) close(found->second);
    sockets_[lane] = cutter;
    threads_.emplace_back([this, lane, socket = ends[1], shared = counts_[lane]] {
      if (!instead || !instead(lane, socket)) {
        LaneServerOptions options;
        options.make = [&](Problem problem, const std::string&, const std::string& target) {
          shared->set_target(target);
          CarriedWords words = judge(lane);
          words.about = std::move(problem);
          words.counts = shared;
          return LaneJudge{std::move(words), 2, "a scripted sandbox"};
        };
        serve_lane(socket, socket, options);
      }
      shutdown(socket, SHUT_RDWR);
      close(socket);
    });
    return {ends[0], dup(ends[0])};
  }

  std::mutex mutex_;
  std::map<std::size_t, std::shared_ptr<LaneCounts>> counts_;
  std::map<std::size_t, int> sockets_;
  std::string said_;
  std::vector<std::jthread> threads_;
};

}  // namespace support
