// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/host_sampler.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "evaluator/host/code_samples.hpp"
#include "evaluator/host/shape_inputs.hpp"
#include "judge/arena.hpp"
#include "judge/compile.hpp"
#include "judge/input_generator.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/host/host_code_inspector.hpp"
#include "kernelsearch/judge/generated_sizes.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/judge/translation_unit.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "process/run_command.hpp"
#include "process/sandboxed.hpp"

namespace kernelsearch {
namespace {

// Arguments: the library, microseconds to sample for, microseconds between samples. What a call returns to is
// the first word of the stack that is an address in the library: functions of libraries keep no chain of
// frames, and what they leave on the stack above their own frame is nothing of ours.
constexpr const char* sampling_program =
    R"program(#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
namespace {
using Size = unsigned long long;
struct Sample {
  Size address;
  Size count;
  bool outside;
};
Sample samples[8192];
Size base, first, last, top;
volatile bool inside = false;
void fill(void* to, Size bytes) {
  for (Size done = 0; done < bytes;) {
    const long got = read(3, static_cast<char*>(to) + done, bytes - done);
    if (got <= 0) _exit(3);
    done += static_cast<Size>(got);
  }
}
void note(bool outside, Size address) {
  for (Size i = (address * 0x9e3779b97f4a7c15ull >> 40) % 8192, tries = 0; tries < 8192;
       ++tries, i = (i + 1) % 8192)
    if (samples[i].count == 0 || (samples[i].address == address && samples[i].outside == outside)) {
      samples[i].address = address;
      samples[i].outside = outside;
      ++samples[i].count;
      return;
    }
}
void interrupted(int, siginfo_t*, void* context) {
  if (!inside) return;
  const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const Size at = static_cast<Size>(registers[REG_RIP]), stack = static_cast<Size>(registers[REG_RSP]);
  if (at >= first && at < last) return note(false, at - base);
  for (Size word = (stack + 7) / 8 * 8; word + 8 <= top && word < stack + 16384; word += 8) {
    const Size held = *reinterpret_cast<const Size*>(word);
    if (held >= first && held < last) return note(true, held - base);
  }
  note(true, 0);
}
int found(dl_phdr_info* info, decltype(sizeof 0), void* wanted) {
  if (info->dlpi_addr != reinterpret_cast<Size>(wanted)) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i)
    if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X) != 0) {
      first = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
      last = first + info->dlpi_phdr[i].p_memsz;
    }
  return 1;
}
double now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
}  // namespace
int main(int count, char** words) {
  if (count != 4) return 2;
  static void* arguments[64];
  static void* kept[64];
  static Size bytes[64];
  Size given = 0;
  fill(&given, sizeof given);
  for (Size i = 0; i < given && i < 64; ++i) {
    Size header[3];  // bytes, whether an array, whether it has contents
    fill(header, sizeof header);
    if (posix_memalign(&arguments[i], 64, header[0] + 64) != 0) return 4;
    memset(arguments[i], 0, header[0]);
    if (header[2] == 0) continue;
    fill(arguments[i], header[0]);
    kept[i] = malloc(header[0] + 1);
    if (kept[i] == nullptr) return 4;
    memcpy(kept[i], arguments[i], header[0]);
    bytes[i] = header[0];
  }
  void* const library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 5;
  const auto entry = reinterpret_cast<void (*)(void* const*)>(dlsym(library, "kernelsearch_entry"));
  Dl_info info;
  if (entry == nullptr || dladdr(reinterpret_cast<void*>(entry), &info) == 0) return 6;
  base = reinterpret_cast<Size>(info.dli_fbase);
  dl_iterate_phdr(found, info.dli_fbase);
  if (first == last) return 7;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = interrupted;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
  sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGPROF;
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return 8;
  top = reinterpret_cast<Size>(__builtin_frame_address(0));
  entry(arguments);
  const long between = 1000 * atol(words[3]);
  itimerspec often;
  often.it_interval.tv_sec = often.it_value.tv_sec = 0;
  often.it_interval.tv_nsec = often.it_value.tv_nsec = between;
  if (timer_settime(timer, 0, &often, nullptr) != 0) return 9;
  for (const double end = now() + 1e-6 * atof(words[2]); now() < end;) {
    for (Size i = 0; i < given; ++i)  // what a call has overwritten is as it was
      if (kept[i] != nullptr) memcpy(arguments[i], kept[i], bytes[i]);
    inside = true;
    entry(arguments);
    inside = false;
  }
  for (const Sample& sample : samples)
    if (sample.count > 0)
      dprintf(1, "kernelsearch-sample %d %llu %llu\n", sample.outside ? 1 : 0, sample.address, sample.count);
  _exit(0);
}
    )program";

constexpr std::size_t most_printed = std::size_t{1} << 20;

}  // namespace

struct HostSampler::Impl {
  /// All that it needs, made when it is first used.
  struct Tools;

  Problem problem;
  HostOptions host;
  HostSamplerOptions options;
  std::mutex mutex{};
  std::unique_ptr<Tools> tools{};
};

struct HostSampler::Impl::Tools {
  Tools(Problem given, HostOptions options_of_host, HostSamplerOptions chosen)
      : problem(sized(std::move(given), options_of_host)),
        host(std::move(options_of_host)),
        options(std::move(chosen)),
        machine(host_machine()),
        compiler(host, machine.id(), machine.cores),
        generator(problem, host),
        inspector({.program = options.objdump, .sandbox = host.sandbox, .cores = options.cores}) {}

  static Problem sized(Problem problem, const HostOptions& host) {
    fill_generated_sizes(problem, host);
    return problem;
  }

  /// The timed shape of most weight, of equals the largest.
  [[nodiscard]] std::optional<detail::ShapePlan> plan(const Candidate& candidate) const {
    std::optional<detail::ShapePlan> found;
    double weight = 0;
    for (std::size_t s = 0; s < problem.shapes.size(); ++s) {
      const Shape& shape = problem.shapes[s];
      if (!(shape.weight > 0) || !is_valid(problem, shape, candidate)) continue;
      detail::ShapePlan one = detail::plan_shape(problem, candidate, s);
      const std::uint64_t bytes = detail::array_bytes(one);
      if (bytes > options.max_bytes) continue;
      if (found &&
          (shape.weight < weight || (shape.weight == weight && bytes <= detail::array_bytes(*found))))
        continue;
      weight = shape.weight;
      found = std::move(one);
    }
    return found;
  }

  Features sample(const Candidate& candidate) {
    const std::optional<detail::ShapePlan> shape = plan(candidate);
    if (!shape || !problem.build.command.empty()) return {};
    const CompileJob job = candidate_job(problem, candidate);
    const detail::Compiled kernel = compiler.compile(job, detail::Product::library);
    if (kernel.verdict != Verdict::ok) return {};
    if (const auto known = samples.find(kernel.library); known != samples.end()) return known->second;
    const detail::Compiled program =
        compiler.compile(CompileJob{sampling_program, {}, {}, {}, {job.command.front(), "-O1", "-w"}, {}},
                         detail::Product::program);
    if (program.verdict != Verdict::ok) return {};
    detail::ShapeInputs inputs(*shape, generator.contents(*shape, InputFlavour::declared, options.seed));
    const detail::Descriptor executable = detail::open_for_reading(program.library.string());
    const detail::Descriptor library = detail::open_for_reading(kernel.library.string());
    detail::Boxed boxed;
    boxed.files = {{executable.number(), "/sampler", program.library.string(), true},
                   {library.number(), "/library.so", kernel.library.string(), true}};
    boxed.argv = {detail::path_in(host.sandbox, boxed), detail::path_in(host.sandbox, boxed, 1),
                  std::to_string(static_cast<long>(1e6 * options.seconds)),
                  std::to_string(static_cast<long>(1e6 * options.interval))};
    boxed.descriptors = {{detail::inputs_fd, inputs.from_start()}};
    boxed.readable = host.readable;
    boxed.cores = options.cores;
    boxed.processes = true;
    const std::uint64_t memory =
        std::max(host.limits.run_memory, problem.memory.value_or(0)) + 4 * detail::array_bytes(*shape);
    boxed.limits = {{RLIMIT_AS, memory + (std::uint64_t{4} << 30)},
                    {RLIMIT_CORE, 0},
                    {RLIMIT_FSIZE, detail::max_program}};
    const detail::Finished finished =
        detail::run_command(detail::launch_in(host.sandbox, boxed), options.limit, most_printed);
    Features features;
    if (!finished.timed_out && !finished.too_much_output)
      features =
          detail::sampled_features(inspector.read(kernel.library), detail::read_samples(finished.output));
    return samples.emplace(kernel.library, std::move(features)).first->second;
  }

  Problem problem;
  HostOptions host;
  HostSamplerOptions options;
  HostMachine machine;
  detail::CompileCache compiler;
  detail::InputGenerator generator;
  HostCodeInspector inspector;
  std::map<std::filesystem::path, Features> samples;  // compiled libraries are named by their contents
};

HostSampler::HostSampler(Problem problem, HostOptions host, HostSamplerOptions options)
    : impl_(new Impl{std::move(problem), std::move(host), std::move(options)}) {}
HostSampler::HostSampler(HostSampler&&) noexcept = default;
HostSampler& HostSampler::operator=(HostSampler&&) noexcept = default;
HostSampler::~HostSampler() = default;

Features HostSampler::profile(const Candidate& candidate) {
#if defined(__x86_64__)
  if (find_objdump(impl_->options.objdump).empty()) return {};
  const std::scoped_lock lock(impl_->mutex);
  try {
    if (!impl_->tools)
      impl_->tools = std::make_unique<Impl::Tools>(impl_->problem, impl_->host, impl_->options);
    return impl_->tools->sample(candidate);
  } catch (const Error&) {  // nothing is known, and the candidate is not to blame
    return {};
  }
#else
  (void)candidate;
  return {};
#endif
}

}  // namespace kernelsearch
