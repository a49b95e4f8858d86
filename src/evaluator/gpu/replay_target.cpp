// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/gpu/replay_target.hpp"

#include "evaluator/gpu/call_plan.hpp"
#include "evaluator/gpu/candidate_code.hpp"
#include "evaluator/gpu/device_source.hpp"
#include "evaluator/gpu/made_inputs.hpp"
#include "evaluator/gpu/service_source.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/judge/generated_sizes.hpp"
#include "kernelsearch/judge/translation_unit.hpp"
#include "kernelsearch/problem/evaluate.hpp"

namespace kernelsearch::detail::gpu {
namespace {

GpuBackend backend_of(const Problem& problem) {
  if (const auto backend = gpu_backend_of(problem.backend)) return *backend;
  raise<ConfigError>("the problem is not for a GPU", to_string(problem.backend),
                     "profile a problem of a GPU");
}

GpuOptions with_device(GpuOptions options) {
  if (options.devices.empty())
    raise<ConfigError>("no device was chosen", "an empty list", "name at least one, e.g. 0");
  return options;
}

}  // namespace

GpuDevice look_at(GpuBackend backend, int ordinal, const GpuOptions& options) {
  GpuWorkerClient worker(find_gpu_worker(options.worker), backend, GpuWorkerClient::Role::device, ordinal,
                         nullptr);
  GpuDevice device;
  if (const auto error = worker.hello(options.limits.start, device))
    raise<DeviceError>(
        "there is no " + std::string(to_string(backend)) + " device " + std::to_string(ordinal), error->text,
        "see `kernelsearch doctor`");
  return device;
}

ReplayTarget::ReplayTarget(Problem problem, GpuOptions options)
    : problem_(std::move(problem)),
      options_(with_device(std::move(options))),
      backend_(backend_of(problem_)),
      builders_(backend_, options_),
      device_(look_at(backend_, options_.devices.front(), options_)) {
  fill_generated_sizes(problem_, host_options(options_));
}

Built ReplayTarget::build(const Candidate& candidate) {
  if (launches_itself(*candidate.kernel) && options_.sandbox != Sandbox::none)
    raise<ConfigError>("a tool runs a launch function without a sandbox", problem_.name,
                       "allow it with `--sandbox none` where you trust the candidates");
  return build_candidate(builders_, problem_, candidate, device_, options_);
}

std::string ReplayTarget::write(const Candidate& candidate, const Built& built, const ReplayCall& call,
                                const std::filesystem::path& file, std::size_t& launches) {
  const Built services = builders_.build(service_source(backend_), compile_options(device_, options_, {}),
                                         {service_names(), service_names() + service_count});
  if (services.verdict != Verdict::ok)
    raise<ConfigError>("the kernels of the evaluator do not build", services.reason,
                       "see `kernelsearch doctor`");
  std::vector<ShapePlan> plans;
  for (std::size_t s = 0; s < problem_.shapes.size(); ++s)
    plans.push_back(plan_shape(problem_, problem_.default_candidate(), s));
  MadeInputs made(problem_, plans, options_);
  ReplayCall with_inputs = call;
  if (made.any()) with_inputs.made = made.of(call.shape, call.seed, InputFlavour::declared);
  const ReplayFile replay(problem_, candidate, {built.image, built.functions, built.library, built.launches},
                          {services.image, services.functions}, with_inputs);
  launches = replay.launches();
  if (replay.problem().empty()) replay.write(file);
  return replay.problem();
}

std::vector<std::string> ReplayTarget::command(const std::filesystem::path& file, bool exact) const {
  std::vector<std::string> argv{find_gpu_worker(options_.worker).string(), std::string(to_string(backend_)),
                                std::to_string(options_.devices.front()), "--frames", file.string()};
  if (exact) argv.emplace_back("--exact");
  return argv;
}

std::optional<std::size_t> ReplayTarget::shape(const Candidate& candidate, const std::string& name,
                                               bool small) const {
  std::optional<std::size_t> chosen;
  double most = 0;
  std::string known;
  for (std::size_t s = 0; s < problem_.shapes.size(); ++s) {
    const Shape& shape = problem_.shapes[s];
    known += (known.empty() ? "" : ", ") + shape.name;
    if (!name.empty()) {
      if (shape.name == name) return s;
      continue;
    }
    if (!is_valid(problem_, shape, candidate)) continue;
    double worth = shape.weight;
    if (small) {
      worth = 0;
      for (const PlannedArgument& argument : plan_shape(problem_, candidate, s).arguments)
        if (argument.is_array) worth -= static_cast<double>(bytes_of(argument));
    }
    if (chosen && worth <= most) continue;
    chosen = s;
    most = worth;
  }
  if (!name.empty()) raise<ConfigError>("the problem has no such shape", name, "it has " + known);
  return chosen;
}

}  // namespace kernelsearch::detail::gpu
