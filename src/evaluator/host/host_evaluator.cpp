// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/evaluator/host/host_evaluator.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <deque>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>

#include "evaluator/host/hidden_check.hpp"
#include "evaluator/host/host_judge.hpp"
#include "evaluator/host/rapl.hpp"
#include "judge/compile.hpp"
#include "judge/energy.hpp"
#include "judge/input_sets.hpp"
#include "judge/pairing_time.hpp"
#include "judge/pairs.hpp"
#include "judge/reference.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/whole_file.hpp"
#include "kernelsearch/judge/generated_sizes.hpp"
#include "kernelsearch/judge/library_use.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/judge/translation_unit.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/problem/inputs.hpp"
#include "process/sandboxed.hpp"
#include "process/scratch_folder.hpp"

namespace kernelsearch {
namespace {

using detail::raise;

std::vector<int> measuring_cores(const HostMachine& machine, const HostOptions& options, int threads) {
  if (options.core >= 0) {
    if (std::find(machine.cores.begin(), machine.cores.end(), options.core) == machine.cores.end())
      raise<ConfigError>("the core to measure on is not ours", std::to_string(options.core),
                         "choose one of those allowed");
  }
  // The last cores: the first ones get most interrupts.
  std::vector<int> cores;
  if (options.core >= 0) cores.push_back(options.core);
  for (auto core = machine.cores.rbegin();
       core != machine.cores.rend() && static_cast<int>(cores.size()) < threads; ++core)
    if (*core != options.core) cores.push_back(*core);
  if (static_cast<int>(cores.size()) < threads)
    raise<ConfigError>("the problem wants more threads than there are cores", std::to_string(threads),
                       "lower `threads`");
  return cores;
}

// Compilers keep off the measured cores, unless there are no others.
std::vector<int> building_cores(const HostMachine& machine, const std::vector<int>& measuring) {
  std::vector<int> cores;
  std::vector<int> free;  // and no other run measures there
  for (const int core : machine.cores)
    if (std::find(measuring.begin(), measuring.end(), core) == measuring.end()) {
      cores.push_back(core);
      if (reserve_core(core)) free.push_back(core);
    }
  if (!free.empty()) return free;
  return cores.empty() ? machine.cores : cores;
}

/// A shape whose arrays no memory holds would otherwise end this program when they are filled.
void check_memory(const Problem& problem) {
  const double there =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  const auto tunables = named_values(problem.kernel.space, problem.kernel.space.default_config());
  for (const Shape& shape : problem.shapes) {
    const double bytes = bytes_of_arrays(problem.arguments, shape, tunables);
    if (bytes <= there) continue;
    char text[128];
    std::snprintf(text, sizeof text, "%.3g GiB, this machine has %.3g GiB", bytes / 0x1p30, there / 0x1p30);
    raise<ConfigError>("the arrays of shape " + shape.name + " do not fit into memory", text,
                       "make the shape smaller");
  }
}

Problem checked(Problem problem, const HostOptions& options) {
  if (problem.backend != Backend::host)
    raise<ConfigError>("the problem is not for the host", to_string(problem.backend),
                       "choose the evaluator of its backend");
  if (problem.arguments.size() > host_protocol::max_arguments)
    raise<ConfigError>("the kernel has too many arguments", std::to_string(problem.arguments.size()),
                       "host kernels may have 64");
  if (problem.shapes.empty())
    raise<ConfigError>("the problem has no shapes", problem.name, "give it at least one");
  fill_generated_sizes(problem, options);
  check_memory(problem);
  return problem;
}

// Before a carried library of a build command's and the size of its caller, which comes first.
const std::string pair_mark = "kernelsearch caller and library\n";

/// What a built candidate calls beyond what the problem allows.
std::optional<std::string> forbidden_libraries(const Problem& problem, const Candidate& candidate,
                                               const std::filesystem::path& library) {
  const auto use = read_library_use(try_whole_file(library).value_or(""));
  if (!use) return "the shared object that its compiler made cannot be read, so what it calls is not known";
  return forbidden_use(*use, allowed_libraries(problem, candidate));
}

/// Whether it says that the process was killed. A candidate cannot send itself that signal: somebody did, or
/// the system ran out of memory.
bool was_killed(const std::string& reason) {
  return reason.starts_with(detail::signal_text(SIGKILL));
}

/// What was right before fails now: the kernel's fault, or nobody's.
[[noreturn]] void refuse(const char* what, const detail::Fault& fault, const char* todo) {
  if (was_killed(fault.reason))
    raise<DeviceError>("a process was killed from outside", std::string(what) + ": " + fault.reason,
                       "look for what ends processes, such as too little memory, and go on with the run");
  raise<ConfigError>(what, fault.reason, todo);
}

HostOptions in_a_sandbox(HostOptions options) {
  options.sandbox = resolved(options.sandbox);
  return options;
}

}  // namespace

struct HostEvaluator::Impl {
  Impl(Problem given, HostOptions chosen)
      : problem(checked(std::move(given), chosen)),
        options(in_a_sandbox(std::move(chosen))),
        machine(host_machine()),
        cores(measuring_cores(machine, options, std::max(1, problem.threads))),
        settings(detail::worker_settings(options, cores, problem)),
        compiler(options, machine.id(), building_cores(machine, cores)),
        references(problem, compiler, settings),
        generator(problem, options),
        inputs(problem, references, generator, options.check),
        hidden(problem, options, settings, compiler, clock, floor) {}

  std::unique_ptr<detail::HostJudge> open(const Candidate& candidate, const detail::HostSubject& subject) {
    return std::make_unique<detail::HostJudge>(problem, options, settings, inputs, verifier, clock, floor,
                                               candidate, subject, fastest);
  }
  std::unique_ptr<detail::HostJudge> open(const HostArtifact& artifact) {
    return open(artifact.candidate, {artifact.library});
  }

  void learn_times(const detail::HostJudge& worker) {
    fastest.resize(problem.shapes.size());
    for (std::size_t s = 0; s < fastest.size(); ++s)
      if (const double seconds = worker.estimate(s); problem.shapes[s].weight > 0 && seconds > 0)
        fastest[s] = fastest[s] > 0 ? std::min(fastest[s], seconds) : seconds;
  }

  /// The right to use the measured cores, of all processes on this machine.
  [[nodiscard]] MeasuringTurn turn(const std::stop_token& stop) const {
    std::vector<MeasuredThing> things;
    for (const int core : cores) things.push_back(measured_core(core));
    return MeasuringTurn::take(std::move(things), stop, options.waits);
  }

  /// Its cores, for people: `core 3`.
  [[nodiscard]] std::string place() const {
    std::string text;
    for (const int core : cores) text += (text.empty() ? "" : ", ") + measured_core(core).words;
    return text;
  }

  HostArtifact built(HostEvaluator& evaluator, const Candidate& candidate) const {
    auto staged = evaluator.build(candidate, {});
    if (!staged.artifact)
      raise<ConfigError>("a candidate to compare does not build", staged.evaluation.reason,
                         "compare candidates that are ok");
    return std::move(*staged.artifact);
  }

  /// The file of code that was built elsewhere. Only the newest are kept: what waits to be run is among them.
  std::filesystem::path keep(const std::string& code, const std::string& name) {
    constexpr std::size_t most = 256;
    const std::scoped_lock lock(keeping);
    if (!foreign) foreign.emplace();
    const std::filesystem::path file = foreign->path() / name;
    if (std::find(kept.begin(), kept.end(), file) != kept.end()) return file;
    std::ofstream out(file, std::ios::binary);
    out.write(code.data(), static_cast<std::streamsize>(code.size()));
    out.close();
    if (!out) raise<DeviceError>("a compiled kernel cannot be kept", file.string(), "make room there");
    kept.push_back(file);
    if (kept.size() > most) {
      std::error_code ignored;
      std::filesystem::remove(kept.front(), ignored);
      kept.pop_front();
    }
    return file;
  }

  /// One side of pairs.
  struct Side {
    std::function<std::unique_ptr<detail::HostJudge>()> open;
    /// What to raise where it fails, and what to do about it; null: its fault is returned.
    const char* failed = nullptr;
    const char* todo = nullptr;
  };

  Side side_of(const HostArtifact& artifact) {
    return {[this, artifact] { return open(artifact); }, "a candidate to compare is not ok",
            "compare candidates that are ok"};
  }

  /// The reference, at the sizes that arrays have for the candidate.
  Side reference_side(const Candidate& candidate) {
    return {[this, candidate] {
              constexpr Real real = Real::kernel;
              return open(candidate, {references.library(real), references.storage(real), true});
            },
            "the reference fails while it is timed", "correct it"};
  }

  /// The fault, or an exception where the side's faults are nobody's but the problem's.
  static std::optional<detail::Fault> told(std::optional<detail::Fault> fault, const Side& side) {
    if (fault && side.failed != nullptr) refuse(side.failed, *fault, side.todo);
    return fault;
  }

  /// Has both sides timed alone on shapes where one of them must be; whether that changed anything.
  std::optional<detail::Fault> settle(detail::HostJudge& ours, const Side& our_side,
                                      detail::HostJudge& theirs, const Side& their_side, std::size_t round,
                                      std::vector<bool>& alone, bool& changed) {
    // One look overlooks one time in fifty, on a machine that others keep busy, a kernel that is faster only
    // together.
    constexpr std::size_t looks = 3;
    for (std::size_t s = 0; s < problem.shapes.size(); ++s) {
      if (problem.shapes[s].weight <= 0) continue;
      if (!alone[s] && round < looks) {
        if (auto fault = told(ours.settle(s), our_side)) return fault;
        if (auto fault = told(theirs.settle(s), their_side)) return fault;
        alone[s] = ours.timed_alone(s) || theirs.timed_alone(s) ||
                   (round == 0 && ours.gains_only_together(s, theirs));
        changed |= alone[s];
      }
      if (!alone[s]) continue;
      ours.time_alone(s);  // both sides alike
      theirs.time_alone(s);
    }
    return std::nullopt;
  }

  /// Times both sides in interleaved pairs, each round in fresh processes. `first`: what is checked of our
  /// side in the first round.
  std::optional<detail::Fault> pair(const Side& our_side, detail::HostJudge::Extent first,
                                    const Side& their_side, detail::Pairs& pairs) {
    using Timer = detail::AlternatingTimer<detail::Fault, PairedSide, PairedSide>;
    pairs.assume_between_processes(detail::between_processes);
    std::vector<bool> alone(problem.shapes.size());  // shapes whose calls are timed alone
    while (pairs.wants_round()) {
      const double begin = detail::monotonic_seconds();
      Features features;
      // Either side was checked in whole in its trial, and may be in the first round; then what is timed is.
      // Neither side is in a process that was measured already: one was seen 4 % slower than a fresh one.
      using Extent = detail::HostJudge::Extent;
      const bool begins = pairs.round() == 0;
      const std::unique_ptr<detail::HostJudge> ours = our_side.open();
      if (auto fault = told(ours->check(features, begins ? first : Extent::timed), our_side)) return fault;
      const std::unique_ptr<detail::HostJudge> theirs = their_side.open();
      if (auto fault = told(theirs->check(features, begins ? Extent::all : Extent::timed), their_side))
        return fault;
      pairs.started(detail::monotonic_seconds() - begin);
      const double overhead = clock.of_batch();
      ours->assume_overhead(overhead);
      theirs->assume_overhead(overhead);
      bool changed = false;
      if (auto fault = settle(*ours, our_side, *theirs, their_side, pairs.round(), alone, changed))
        return fault;
      if (changed) pairs.start_over();  // calls together are not to be put next to calls alone
      PairedSide left{*ours, our_side}, right{*theirs, their_side};
      if (auto fault = pairs.take_round<detail::Fault>(Timer(left, right))) return fault;
      const std::size_t verified = (detail::least_verified + pairs.rounds() - 1) / pairs.rounds();
      auto fault = ours->assure(verified, pairs.stop());
      const bool is_ours = fault.has_value();
      if (!fault) fault = theirs->assure(verified, pairs.stop());
      if (fault && fault->verdict == Verdict::timed_out && pairs.stop().stop_requested()) {
        pairs.start_over();  // there was no time left to look at what the pairs were made of
        return std::nullopt;
      }
      if (fault) return told(std::move(fault), is_ours ? our_side : their_side);
    }
    return std::nullopt;
  }

  Speedup compared(const Side& ours, const Side& theirs, const PairOptions& wanted) {
    const std::scoped_lock lock(measuring);
    const MeasuringTurn taken = turn(wanted.stop);
    if (!taken) return {};
    const detail::VerifiesUntilHere until_turn_ends(verifier);
    detail::Pairs pairs(problem, wanted);
    (void)pair(ours, detail::HostJudge::Extent::all, theirs, pairs);  // either side raises what goes wrong
    return pairs.speedup();
  }

  /// A side in a round of its own.
  struct PairedSide {
    detail::HostJudge& worker;
    const Side& side;
    [[nodiscard]] double estimate(std::size_t shape) const { return worker.estimate(shape); }
    [[nodiscard]] std::optional<detail::Fault> time_once(std::size_t shape, double about, double& seconds) {
      return told(worker.time_once(shape, about, seconds), side);
    }
  };

  Problem problem;
  HostOptions options;
  HostMachine machine;
  std::vector<int> cores;
  detail::WorkerSettings settings;
  detail::CompileCache compiler;
  detail::References references;
  detail::InputGenerator generator;
  detail::InputSets inputs;
  detail::Verifier verifier{problem, compiler, settings};
  detail::ClockOverhead clock{settings};
  detail::TimeFloor floor{problem,
                          {.threads = std::max(1, problem.threads),
                           .core = cores.front(),
                           .cache_directory = options.cache_directory,
                           .has_turn = true},
                          machine.cores};
  detail::HiddenCheck hidden;
  detail::PairingTime pairing;
  std::optional<MeasuringTurn> reserved = reserve_core(cores.front());
  std::vector<double> fastest;  ///< seconds of a call of each shape, of the fastest kernel so far; 0: none
  std::mutex measuring;
  std::mutex keeping;
  std::optional<detail::ScratchFolder> foreign;  ///< of code that was built elsewhere
  std::deque<std::filesystem::path> kept;
};

HostEvaluator::HostEvaluator(Problem problem, HostOptions options)
    : impl_(std::make_unique<Impl>(std::move(problem), std::move(options))) {}
HostEvaluator::HostEvaluator(HostEvaluator&&) noexcept = default;
HostEvaluator& HostEvaluator::operator=(HostEvaluator&&) noexcept = default;
HostEvaluator::~HostEvaluator() = default;

Staged<HostArtifact> HostEvaluator::build(const Candidate& candidate, const EvaluationContext& context) {
  Staged<HostArtifact> staged;
  const double begin = detail::monotonic_seconds();
  for (const Shape& shape : impl_->problem.shapes)
    if (!is_valid(impl_->problem, shape, candidate)) {
      staged.evaluation = Evaluation::failed(Verdict::rejected, "`valid` is false for shape " + shape.name);
      return staged;
    }
  if (context.stop.stop_requested()) {
    staged.evaluation = Evaluation::failed(Verdict::rejected, "stopped before it was built");
    return staged;
  }
  const auto compiled = impl_->compiler.compile(candidate_job(impl_->problem, candidate),
                                                detail::Product::library, context.stop);
  if (compiled.verdict != Verdict::ok) {
    staged.evaluation = Evaluation::failed(compiled.verdict, compiled.reason);
    if (compiled.verdict == Verdict::timed_out) staged.evaluation.progress = 0.0;  // it was never built
  } else if (const auto forbidden = forbidden_libraries(impl_->problem, candidate, compiled.library)) {
    staged.evaluation = Evaluation::failed(Verdict::cheated, *forbidden);
  } else {
    staged.artifact = HostArtifact{candidate, compiled.library};
    if (!detail::caller_of(compiled.library).empty()) staged.artifact->entry = impl_->problem.function;
    std::error_code error;
    staged.evaluation.features.set("library_bytes",
                                   static_cast<double>(std::filesystem::file_size(compiled.library, error)));
  }
  staged.evaluation.phases.build = detail::monotonic_seconds() - begin;
  staged.evaluation.provenance = compiled.compiler +
                                 (compiled.from_cache ? "; compiled earlier" : "; compiled") + "; sandbox " +
                                 description_of(impl_->options.sandbox);
  return staged;
}

Evaluation HostEvaluator::run(Staged<HostArtifact>&& staged, const EvaluationContext& context) {
  const Staged<HostArtifact> again = staged;
  bool unsettled = false;
  Evaluation evaluation = run_once(std::move(staged), context, unsettled);
  // Once more where it was killed; where that comes again, the candidate is what takes the memory, as far as
  // can be told. Where there was too little room for batches of so fast a kernel: now there is. And where
  // what was seen may be the machine's load: that passes, and what the candidate does comes again.
  const bool killed = evaluation.verdict == Verdict::crashed && was_killed(evaluation.reason);
  if ((killed || unsettled) && !context.stop.stop_requested())
    evaluation = run_once(Staged<HostArtifact>(again), context, unsettled);
  return evaluation;
}

Evaluation HostEvaluator::run_once(Staged<HostArtifact>&& staged, const EvaluationContext& context,
                                   bool& unsettled) {
  const std::scoped_lock lock(impl_->measuring);
  Evaluation evaluation = std::move(staged.evaluation);
  const auto fail = [&](const detail::Fault& fault) { detail::fail(evaluation, fault); };
  const MeasuringTurn turn = impl_->turn(context.stop);
  if (!turn) {
    fail({Verdict::rejected, "stopped before it was measured"});
    return evaluation;
  }
  context.measured_on(impl_->place());
  const detail::VerifiesUntilHere until_turn_ends(impl_->verifier);
  double begin = detail::monotonic_seconds();
  const double reference_before = impl_->references.spent_seconds();
  auto worker = impl_->open(*staged.artifact);
  auto fault = worker->check(evaluation.features);
  std::string hidden;
  if (!fault) fault = impl_->hidden.check(staged.artifact->candidate, staged.artifact->library, hidden);
  evaluation.phases.check = detail::monotonic_seconds() - begin;
  const auto [drawn, reused] = impl_->inputs.drawn_and_reused();
  evaluation.provenance +=
      "; inputs: " + std::to_string(drawn) + " sets drawn, " + std::to_string(reused) + " taken again, seeds";
  for (const std::uint64_t seed : impl_->inputs.seeds()) evaluation.provenance += " " + std::to_string(seed);
  evaluation.provenance += hidden;
  const auto reference_seconds = [&] { return impl_->references.spent_seconds() - reference_before; };
  evaluation.phases.reference = reference_seconds();
  if (fault) {
    fail(*fault);
    return evaluation;
  }
  begin = detail::monotonic_seconds();
  std::optional<detail::Rapl> rapl;
  if (detail::wants_energy(impl_->problem.objectives)) rapl = detail::Rapl::open();
  fault = worker->measure(evaluation.measurement, evaluation.features, context.incumbent, context.stop);
  if (const auto joules = rapl && !fault ? rapl->joules() : std::nullopt)
    detail::set_energy(*joules, detail::monotonic_seconds() - begin, evaluation.measurement.seconds,
                       evaluation.features);
  worker->load().set(evaluation.features);
  unsettled = !fault && worker->cramped();
  if (!fault) {
    impl_->learn_times(*worker);
    if (worker->is_assured())
      impl_->verifier.learn(staged.artifact->candidate, staged.artifact->library,
                            evaluation.measurement.seconds);
  }
  const Pairing when = impl_->options.pairs.when;
  const bool improved = !context.incumbent || evaluation.measurement.seconds < *context.incumbent;
  impl_->pairing.trial(evaluation.phases.check + detail::monotonic_seconds() - begin);
  const bool beaten = context.rival && evaluation.measurement.seconds > *context.rival;
  const bool spared = when == Pairing::improved && !fault && improved &&
                      (context.finalist ? beaten && !impl_->pairing.is_cheap() : !impl_->pairing.allows());
  if (spared && context.finalist) evaluation.features.set("unpaired", 1);
  if (!fault && !context.stop.stop_requested() && !spared &&
      (when == Pairing::always || (when == Pairing::improved && improved))) {
    const double pairs_begin = detail::monotonic_seconds();
    PairOptions options = impl_->options.pairs;
    options.stop = context.stop;
    if (context.finalist) options.rounds = std::max(options.rounds, impl_->options.finalist_rounds);
    detail::Pairs pairs(impl_->problem, options);
    Impl::Side ours = impl_->side_of(*staged.artifact);
    ours.failed = nullptr;
    worker.reset();
    fault = impl_->pair(ours, detail::HostJudge::Extent::timed,
                        impl_->reference_side(staged.artifact->candidate), pairs);
    if (!fault && pairs.complete()) evaluation.measurement.speedup = pairs.speedup(&evaluation.measurement);
    if (!context.finalist) impl_->pairing.pairs(detail::monotonic_seconds() - pairs_begin);
  }
  evaluation.phases.measure = detail::monotonic_seconds() - begin;
  evaluation.phases.reference = reference_seconds();
  if (fault) {
    unsettled = unsettled || fault->may_be_load;
    fail(*fault);
  }
  return evaluation;
}

Evaluation HostEvaluator::evaluate(const Candidate& candidate, const EvaluationContext& context) {
  return evaluate_in_stages(*this, candidate, context);
}

PortableArtifact HostEvaluator::carry(const HostArtifact& artifact) const {
  const auto bytes_of = [](const std::filesystem::path& file) {
    std::optional<std::string> bytes = try_whole_file(file);
    if (!bytes) raise<DeviceError>("a compiled kernel is gone", file.string(), "go on with the run");
    return *std::move(bytes);
  };
  PortableArtifact portable;
  portable.code = bytes_of(artifact.library);
  if (const std::filesystem::path caller = detail::caller_of(artifact.library); !caller.empty()) {
    const std::string calls = bytes_of(caller);
    portable.code = pair_mark + std::to_string(calls.size()) + "\n" + calls + portable.code;
    portable.functions = {artifact.entry};
  }
  return portable;
}

HostArtifact HostEvaluator::carried(const Candidate& candidate, const PortableArtifact& artifact) const {
  const std::string key = sha256(artifact.code);
  if (!artifact.code.starts_with(pair_mark))
    return {candidate, impl_->keep(artifact.code, key), "kernelsearch_entry"};
  const std::size_t line = std::min(artifact.code.find('\n', pair_mark.size()), artifact.code.size());
  std::size_t bytes = 0;
  const char* const begin = artifact.code.data() + pair_mark.size();
  const char* const end = artifact.code.data() + line;
  if (const auto read = std::from_chars(begin, end, bytes);
      read.ec != std::errc() || read.ptr != end || line == artifact.code.size() ||
      bytes > artifact.code.size() - line - 1 || artifact.functions.size() != 1)
    raise<DeviceError>("what was carried is not a shared library with its caller", "", "go on with the run");
  const auto library = detail::shared_place(key);
  (void)impl_->keep(artifact.code.substr(line + 1, bytes), detail::caller_of(library).string());
  return {candidate, impl_->keep(artifact.code.substr(line + 1 + bytes), library.string()),
          artifact.functions.front()};
}

Speedup HostEvaluator::compare(const Candidate& candidate, const Candidate& champion) {
  PairOptions pairs = impl_->options.pairs;
  pairs.rounds = std::max(pairs.rounds, impl_->options.finalist_rounds);
  return compare(candidate, champion, pairs);
}

Speedup HostEvaluator::compare(const Candidate& candidate, const Candidate& champion,
                               const PairOptions& options) {
  const HostArtifact ours = impl_->built(*this, candidate), theirs = impl_->built(*this, champion);
  return impl_->compared(impl_->side_of(ours), impl_->side_of(theirs), options);
}

Speedup HostEvaluator::compare_with_reference(const Candidate& candidate) {
  PairOptions options = impl_->options.pairs;
  options.rounds = std::max(options.rounds, impl_->options.finalist_rounds);
  const HostArtifact ours = impl_->built(*this, candidate);
  return impl_->compared(impl_->side_of(ours), impl_->reference_side(candidate), options);
}

std::string HostEvaluator::device_id() const {
  return impl_->machine.id();
}

std::string HostEvaluator::toolchain_id() const {
  return impl_->compiler.identity(candidate_job(impl_->problem, impl_->problem.default_candidate()));
}

const Problem& HostEvaluator::problem() const noexcept {
  return impl_->problem;
}
const HostOptions& HostEvaluator::options() const noexcept {
  return impl_->options;
}

}  // namespace kernelsearch
