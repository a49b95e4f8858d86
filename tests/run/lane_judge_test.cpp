// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/lane_judge.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/gpu/gpu_device.hpp"
#include "kernelsearch/remote/remote_evaluator.hpp"
#include "support/device_problem.hpp"
#include "support/scripted_success.hpp"

using namespace kernelsearch;
using support::default_candidate;
using support::DeviceProblem;

namespace {

constexpr const char* id_of_l4 = "NVIDIA L4 sm_89, driver 13000";

/// A device elsewhere that judges nothing but keeps what it is sent to run.
struct DeviceElsewhere {
  struct Artifact {
    PortableArtifact code;
  };
  struct Seen {
    std::mutex mutex;
    std::vector<PortableArtifact> ran;
    int built = 0;
  };
  Problem about;
  std::string toolchain, device = id_of_l4;
  std::shared_ptr<Seen> seen = std::make_shared<Seen>();

  Staged<Artifact> build(const Candidate&, const EvaluationContext&) const {
    const std::lock_guard lock(seen->mutex);
    ++seen->built;
    return {{}, Artifact{}};
  }
  Evaluation run(Staged<Artifact>&& staged, const EvaluationContext&) const {
    const std::lock_guard lock(seen->mutex);
    seen->ran.push_back(staged.artifact->code);
    Evaluation evaluation = support::scripted_success(0.5, staged.artifact->code.code);
    for (const auto& [name, value] : staged.evaluation.features) evaluation.features.set(name, value);
    return evaluation;
  }
  Evaluation evaluate(const Candidate& candidate, const EvaluationContext& context) const {
    return evaluate_in_stages(*this, candidate, context);
  }
  [[nodiscard]] std::size_t lanes() const { return 1; }
  [[nodiscard]] const Problem& problem() const { return about; }
  [[nodiscard]] std::string device_id() const { return device; }
  [[nodiscard]] std::string toolchain_id() const { return toolchain; }
  [[nodiscard]] PortableArtifact carry(const Artifact& artifact) const { return artifact.code; }
  [[nodiscard]] Artifact carried(const Candidate&, const PortableArtifact& code) const { return {code}; }
};
static_assert(CarriesArtifacts<DeviceElsewhere, Candidate>);

/// A lane that measures on the device elsewhere and one that builds with what this machine has.
struct TwoLanes {
  DeviceElsewhere device;
  RemoteOptions options;
  std::vector<std::jthread> threads;

  TwoLanes(const TwoLanes&) = delete;
  TwoLanes& operator=(const TwoLanes&) = delete;
  explicit TwoLanes(JudgeKind kind) {
    MeasurementOptions measurement;
    measurement.sandbox = "none";
    measurement.jobs = 1;
    options.how = lane_instructions(kind, measurement);
    options.lanes = {{"", "device", false}, {"", "builder", true}};
    options.connect = [this](std::size_t lane) {
      std::array<int, 2> ends{};
      REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
      threads.emplace_back([this, lane, socket = ends[1]] {
        LaneServerOptions server;
        server.make = [this, lane](Problem problem, const std::string& how, const std::string& target) {
          if (lane == 1) return make_lane_judge(std::move(problem), how, {.devices = {}}, target);
          DeviceElsewhere made = device;
          made.about = std::move(problem);
          return LaneJudge{std::move(made), 1, "none"};
        };
        serve_lane(socket, socket, server);
        close(socket);
      });
      return std::pair(ends[0], dup(ends[0]));
    };
  }
};

/// Until the lane is `state`, for a minute at most.
bool becomes(const RemoteEvaluator& remote, std::size_t lane, const std::string& state) {
  for (int i = 0; i < 6000; ++i) {
    if (remote.reports().at(lane).state == state) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

DeviceProblem cuda_problem() {
  DeviceProblem problem;
  problem.backend = "cuda";
  problem.kernel = "#if __CUDA_ARCH__ != 890\n#error \"for another device\"\n#endif\n" + problem.kernel;
  return problem;
}

}  // namespace

TEST_CASE("make_lane_judge: a machine without a GPU builds for the one that measures") {
  const std::string compiler = gpu_status(GpuBackend::cuda).compiler;
  if (compiler.empty()) {
    MESSAGE("skipped: no NVRTC");
    return;
  }
  for (const JudgeKind kind : {JudgeKind::plain, JudgeKind::inspected}) {
    CAPTURE(to_string(kind));
    TwoLanes lanes(kind);
    lanes.device.toolchain = compiler;
    const Problem problem = cuda_problem().parsed();
    {
      RemoteEvaluator remote(problem, lanes.options);
      CHECK(remote.device_id() == id_of_l4);
      REQUIRE_MESSAGE(becomes(remote, 1, "ready"), remote.reports().at(1).reason);
      EvaluationContext context;
      context.trial = TrialId{5};
      const Evaluation evaluation = remote.evaluate(default_candidate(problem), context);
      CHECK_MESSAGE(evaluation.verdict == Verdict::ok, evaluation.reason);
      CHECK(evaluation.features.find("image_bytes").has_value());
      CHECK(remote.reports().at(1).built == 1);
      CHECK(remote.reports().at(0).built == 0);
    }
    // Built there and run here; the device compiled nothing.
    CHECK(lanes.device.seen->built == 0);
    REQUIRE(lanes.device.seen->ran.size() == 1);
    CHECK(
        lanes.device.seen->ran[0].code.starts_with("\x7f"
                                                   "ELF"));
    CHECK(lanes.device.seen->ran[0].functions == std::vector<std::string>{"scale"});
  }
}

TEST_CASE("make_lane_judge: a builder that cannot compile for the device is set aside by the reason") {
  if (gpu_status(GpuBackend::cuda).compiler.empty()) {
    MESSAGE("skipped: no NVRTC");
    return;
  }
  TwoLanes lanes(JudgeKind::plain);
  lanes.device.toolchain = gpu_status(GpuBackend::cuda).compiler;
  lanes.device.device = "Tesla K80 sm_37, driver 11040";
  RemoteEvaluator remote(cuda_problem().parsed(), lanes.options);
  REQUIRE(becomes(remote, 1, "set aside"));
  CHECK(remote.reports().at(1).reason.find("has no code for the device that measures") != std::string::npos);
}

TEST_CASE("make_lane_judge: a builder of another toolchain is set aside") {
  const std::string compiler = gpu_status(GpuBackend::cuda).compiler;
  if (compiler.empty()) {
    MESSAGE("skipped: no NVRTC");
    return;
  }
  TwoLanes lanes(JudgeKind::plain);
  lanes.device.toolchain = "NVRTC of tomorrow";
  RemoteEvaluator remote(cuda_problem().parsed(), lanes.options);
  REQUIRE(becomes(remote, 1, "set aside"));
  CHECK(remote.reports().at(1).reason.find("found `" + compiler + "`, wanted `NVRTC of tomorrow`") !=
        std::string::npos);
}
