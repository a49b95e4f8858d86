// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/gpu/gpu_evaluator.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <future>
#include <limits>
#include <mutex>
#include <thread>

#include "evaluator/gpu/candidate_code.hpp"
#include "evaluator/gpu/device_judge.hpp"
#include "evaluator/gpu/device_source.hpp"
#include "evaluator/gpu/made_inputs.hpp"
#include "evaluator/gpu/replay_target.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/judge/generated_sizes.hpp"
#include "kernelsearch/judge/translation_unit.hpp"
#include "kernelsearch/problem/evaluate.hpp"

namespace kernelsearch {
namespace {

using detail::Fault;
using detail::raise;
using detail::gpu::BuilderPool;
using detail::gpu::DeviceJudge;
using detail::gpu::launches_itself;
using detail::gpu::look_at;

GpuBackend backend_of(const Problem& problem) {
  if (const auto backend = gpu_backend_of(problem.backend)) return *backend;
  raise<ConfigError>("the problem is not for a GPU", to_string(problem.backend),
                     "choose the evaluator of its backend");
}

Problem checked(Problem problem) {
  (void)backend_of(problem);
  if (problem.arguments.size() > 64)
    raise<ConfigError>("the kernel has too many arguments", std::to_string(problem.arguments.size()),
                       "device kernels may have 64");
  const bool by_itself = launches_itself(problem.kernel);
  if (by_itself && problem.backend == Backend::opencl)
    raise<ConfigError>("OpenCL problems have no launch function", problem.name,
                       "leave out the host region and say in `launch` how the kernels are launched");
  const bool by_command = !problem.build.command.empty();
  if (by_command && problem.backend != Backend::cuda && problem.backend != Backend::hip)
    raise<ConfigError>("a build command makes code for a backend that loads none",
                       std::string(to_string(problem.backend)), "leave out build.command");
  if (by_command && by_itself)
    raise<ConfigError>("both a build command and a launch function make the kernels", problem.name,
                       "leave out the host region, and say in `launch` how the kernels are launched");
  const BackendTraits& traits = traits_of(problem.backend);
  const std::string wanted(by_itself ? traits.launch_compiler : traits.compiler);
  const std::string& compiler = problem.build.compiler;
  if (!compiler.empty() && compiler != wanted)
    raise<ConfigError>(by_itself ? "a launch function is compiled with its kernels into a library"
                                 : "kernels without a launch function are compiled at run time",
                       compiler, "set build.compiler to " + wanted);
  if (by_itself && !problem.launch.empty())
    raise<ConfigError>("both a host region and `launch` launch the kernels", problem.name,
                       "leave one of them out");
  if (!by_itself && problem.launch.empty())
    raise<ConfigError>("the problem has no launch", problem.name, "say how its kernels are launched");
  for (const Argument& argument : problem.arguments)
    if (by_itself && !argument.symbol.empty())
      raise<ConfigError>("a launch function fills constants by itself", argument.name,
                         "leave out its symbol and copy the array in the host region");
  if (!problem.reference.source.empty() && !problem.reference.launch)
    raise<ConfigError>("the reference has no launch", problem.name, "give it grid and block");
  return problem;
}

/// The device that options name to build for.
GpuDevice device_elsewhere(GpuBackend backend, const std::string& id) {
  if (backend != GpuBackend::cuda)
    raise<ConfigError>("there is no compiling without the device for this backend", to_string(backend),
                       "build where such a device is; only CUDA's compilers need none");
  auto device = cuda_device_of(id);
  if (!device)
    raise<ConfigError>("this is not an identity of a CUDA device", id,
                       "give it as the worker that measures says it, e.g. `NVIDIA H200 sm_90, driver 13000`");
  return *std::move(device);
}

}  // namespace

struct GpuEvaluator::Impl {
  Impl(Problem given, GpuOptions chosen)
      : problem(checked(std::move(given))),
        options(std::move(chosen)),
        builders(backend_of(problem), options) {
    if (!options.build_for.empty()) {
      devices.push_back(device_elsewhere(backend_of(problem), options.build_for));
      fill_generated_sizes(problem, detail::gpu::host_options(options));
      check_compiler();
      return;
    }
    if (options.devices.empty())
      raise<ConfigError>("no device was chosen", "an empty list", "name at least one, e.g. 0");
    // All at once: a driver takes its time to begin with each of them.
    std::vector<std::future<GpuDevice>> looking;
    for (const int ordinal : options.devices)
      looking.push_back(std::async(
          std::launch::async, [this, ordinal] { return look_at(backend_of(problem), ordinal, options); }));
    for (std::future<GpuDevice>& one : looking) {
      devices.push_back(one.get());
      if (devices.back().id() != devices.front().id())
        raise<ConfigError>("the devices differ, so their times cannot be compared",
                           devices.front().id() + " and " + devices.back().id(), "choose equal ones");
    }
    fill_generated_sizes(problem, detail::gpu::host_options(options));
    // What is missing is said at once.
    if (launches_itself(problem.kernel) || !problem.build.command.empty())
      (void)detail::gpu::compiler_identity(builders, problem);
    for (std::size_t i = 0; i < devices.size(); ++i) {
      workers.push_back(
          std::make_unique<DeviceJudge>(problem, options, devices[i], options.devices[i], builders));
      free.push_back(workers.back().get());
    }
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    for (std::thread& thread : preparing) thread.join();
  }

  /// Whether the problem's compiler has code for a device that is not here, said before anything is built.
  void check_compiler() {
    const auto flags = detail::gpu::compile_options(devices.front(), options, {});
    const std::string nothing = "extern \"C\" __global__ void kernelsearch_nothing() {}\n";
    const auto built = launches_itself(problem.kernel)
                           ? builders.build_library(nothing, flags)
                           : builders.build(nothing, flags, {"kernelsearch_nothing"});
    (void)detail::gpu::compiler_identity(builders, problem);
    if (built.verdict != Verdict::ok)
      raise<ConfigError>("the compiler here has no code for the device that measures",
                         detail::gpu::compiler_identity(builders, problem) + " for `" + options.build_for +
                             "`: " + built.reason,
                         "build where the toolkit knows that device");
  }
  /// Refuses what only a device can do.
  void need_device() const {
    if (!workers.empty()) return;
    raise<ConfigError>("this evaluator builds for a device that is not here", options.build_for,
                       "measure what it has built where that device is");
  }

  /// Starts what every worker needs while the first candidates are being compiled.
  void prepare() {
    std::call_once(prepared, [this] {
      for (std::size_t i = 0; i < workers.size(); ++i)
        preparing.emplace_back([lease = std::make_shared<Lease>(*this)]() mutable {
          lease->worker->prepare();
          lease.reset();
        });
    });
  }

  /// For a search the best that was found here so far counts as well: what its evaluations are told is as old
  /// as their proposals.
  EvaluationContext newest(EvaluationContext context) const {
    const double found = best.load();
    if (context.in_search() && found < context.incumbent.value_or(std::numeric_limits<double>::max()))
      context.incumbent = found;
    return context;
  }
  void found(double seconds) {
    double known = best.load();
    while (seconds < known && !best.compare_exchange_weak(known, seconds)) {
    }
  }

  /// Holds a worker that nobody else measures on.
  struct Lease {
    explicit Lease(Impl& owner) : impl(owner) {
      std::unique_lock lock(impl.mutex);
      impl.returned.wait(lock, [this] { return !impl.free.empty(); });
      worker = impl.free.back();
      impl.free.pop_back();
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() {
      const std::scoped_lock lock(impl.mutex);
      impl.free.push_back(worker);
      impl.returned.notify_one();
    }
    Impl& impl;
    DeviceJudge* worker = nullptr;
  };

  /// The right to use the worker's device, of all processes on this machine. Who has a worker waits for
  /// no other, so lanes cannot wait for each other.
  [[nodiscard]] MeasuringTurn turn(const DeviceJudge& worker, const std::stop_token& stop) const {
    return MeasuringTurn::take({measured_gpu(worker.device().bus)}, stop, options.waits);
  }

  detail::gpu::Built compile(const Candidate& candidate, const std::stop_token& stop = {}) {
    return detail::gpu::build_candidate(builders, problem, candidate, devices.front(), options, stop);
  }

  /// The problem's kernel at its default configuration; null where it does not build.
  const GpuArtifact* baseline() {
    const std::scoped_lock lock(baseline_mutex);
    if (!baseline_known) {
      baseline_known = true;
      const Candidate first = problem.default_candidate();
      const auto built = compile(first);
      if (built.verdict == Verdict::ok)
        baseline_artifact = std::make_unique<GpuArtifact>(
            GpuArtifact{first, built.image, built.functions, built.library, built.launches});
    }
    return baseline_artifact.get();
  }

  GpuArtifact built(GpuEvaluator& evaluator, const Candidate& candidate) {
    auto staged = evaluator.build(candidate, {});
    if (!staged.artifact)
      raise<ConfigError>("a candidate to compare does not build", staged.evaluation.reason,
                         "compare candidates that are ok");
    return std::move(*staged.artifact);
  }

  Problem problem;
  GpuOptions options;
  BuilderPool builders;
  std::vector<GpuDevice> devices;
  std::vector<std::unique_ptr<DeviceJudge>> workers;
  std::vector<DeviceJudge*> free;
  std::mutex mutex;
  std::condition_variable returned;
  std::mutex baseline_mutex;
  std::atomic<double> best{std::numeric_limits<double>::infinity()};  ///< seconds, of what was ok
  std::once_flag prepared;
  std::vector<std::thread> preparing;
  bool baseline_known = false;
  std::unique_ptr<GpuArtifact> baseline_artifact;
};

GpuEvaluator::GpuEvaluator(Problem problem, GpuOptions options)
    : impl_(std::make_unique<Impl>(std::move(problem), std::move(options))) {}
GpuEvaluator::GpuEvaluator(GpuEvaluator&&) noexcept = default;
GpuEvaluator& GpuEvaluator::operator=(GpuEvaluator&&) noexcept = default;
GpuEvaluator::~GpuEvaluator() = default;

Staged<GpuArtifact> GpuEvaluator::build(const Candidate& candidate, const EvaluationContext& context) {
  Staged<GpuArtifact> staged;
  const double begin = detail::monotonic_seconds();
  const Problem& problem = impl_->problem;
  // A shape that is only checked may be beyond a configuration; one that is timed may not.
  for (const Shape& shape : problem.shapes)
    if (shape.weight > 0 && !is_valid(problem, shape, candidate)) {
      staged.evaluation = Evaluation::failed(Verdict::rejected, "`valid` is false for shape " + shape.name);
      return staged;
    }
  if (context.stop.stop_requested()) {
    staged.evaluation = Evaluation::failed(Verdict::rejected, "stopped before it was built");
    return staged;
  }
  if (context.in_search()) impl_->prepare();  // a search: there will be something to run
  auto built = impl_->compile(candidate, context.stop);
  if (built.verdict != Verdict::ok) {
    staged.evaluation = Evaluation::failed(built.verdict, built.reason);
    staged.evaluation.progress = 0.0;  // it was never built, even where its compiler only took too long
  } else {
    staged.evaluation.features.set("image_bytes", static_cast<double>(built.image->size()));
    staged.artifact = GpuArtifact{candidate, std::move(built.image), std::move(built.functions),
                                  built.library, std::move(built.launches)};
  }
  staged.evaluation.phases.build = detail::monotonic_seconds() - begin;
  staged.evaluation.provenance = toolchain_id() + (built.from_cache ? "; compiled earlier" : "; compiled") +
                                 "; sandbox " + description_of(impl_->builders.sandbox());
  if (!built.log.empty()) staged.evaluation.provenance += "\n" + built.log.substr(0, 4000);
  return staged;
}

Evaluation GpuEvaluator::run(Staged<GpuArtifact>&& staged, const EvaluationContext& context) {
  impl_->need_device();
  const GpuArtifact* baseline = impl_->options.pairs.when == Pairing::never ? nullptr : impl_->baseline();
  const Impl::Lease lease(*impl_);
  const MeasuringTurn turn = impl_->turn(*lease.worker, context.stop);
  if (!turn) return Evaluation::failed(Verdict::rejected, "stopped before it was measured");
  context.measured_on("GPU " + std::to_string(lease.worker->device().ordinal));
  Evaluation evaluation =
      lease.worker->judge(*staged.artifact, baseline, staged.evaluation, impl_->newest(context));
  // Once more; where it comes again, the candidate is what takes the memory, as far as can be told.
  if (evaluation.verdict == Verdict::crashed && detail::gpu::was_killed(evaluation.reason) &&
      !context.stop.stop_requested())
    evaluation =
        lease.worker->judge(*staged.artifact, baseline, std::move(staged.evaluation), impl_->newest(context));
  if (evaluation.verdict == Verdict::ok) impl_->found(evaluation.measurement.seconds);
  return evaluation;
}

Evaluation GpuEvaluator::evaluate(const Candidate& candidate, const EvaluationContext& context) {
  return evaluate_in_stages(*this, candidate, context);
}

std::size_t GpuEvaluator::lanes() const noexcept {
  return impl_->workers.size();
}

PortableArtifact GpuEvaluator::carry(const GpuArtifact& artifact) const {
  const auto* bytes = reinterpret_cast<const char*>(artifact.image->data());
  return {std::string(bytes, artifact.image->size()), artifact.functions, artifact.library,
          artifact.launches};
}

GpuArtifact GpuEvaluator::carried(const Candidate& candidate, const PortableArtifact& artifact) const {
  const auto* bytes = reinterpret_cast<const std::byte*>(artifact.code.data());
  return {candidate, std::make_shared<const std::vector<std::byte>>(bytes, bytes + artifact.code.size()),
          artifact.functions, artifact.library, artifact.launches};
}

Speedup GpuEvaluator::compare(const Candidate& candidate, const Candidate& champion) {
  return compare(candidate, champion, impl_->options.pairs);
}

Speedup GpuEvaluator::compare(const Candidate& candidate, const Candidate& champion,
                              const PairOptions& pairs) {
  impl_->need_device();
  const GpuArtifact ours = impl_->built(*this, candidate), theirs = impl_->built(*this, champion);
  const Impl::Lease lease(*impl_);
  const MeasuringTurn turn = impl_->turn(*lease.worker, pairs.stop);
  Speedup speedup;
  if (!turn) return speedup;
  if (const auto fault = lease.worker->compare(ours, theirs, pairs, speedup)) {
    detail::gpu::raise_if_killed("comparing candidates", fault->reason);
    raise<ConfigError>("a candidate to compare is not ok", fault->reason, "compare candidates that are ok");
  }
  return speedup;
}

void GpuEvaluator::renew() {
  std::vector<std::unique_ptr<Impl::Lease>> all;
  for (std::size_t i = 0; i < impl_->workers.size(); ++i)
    all.push_back(std::make_unique<Impl::Lease>(*impl_));
  for (const auto& lease : all) lease->worker->renew();
}

const GpuDevice& GpuEvaluator::device() const noexcept {
  return impl_->devices.front();
}
std::string GpuEvaluator::toolchain_id() const {
  return detail::gpu::compiler_identity(impl_->builders, impl_->problem);
}
const Problem& GpuEvaluator::problem() const noexcept {
  return impl_->problem;
}
const GpuOptions& GpuEvaluator::options() const noexcept {
  return impl_->options;
}
double GpuEvaluator::busy_seconds() const noexcept {
  double seconds = 0;
  for (const auto& worker : impl_->workers) seconds += worker->busy_seconds();
  return seconds;
}

}  // namespace kernelsearch
