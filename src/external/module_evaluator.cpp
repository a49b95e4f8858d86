// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/external/module_evaluator.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judge/compile.hpp"
#include "judge/pairs.hpp"
#include "judge/sampler.hpp"
#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/judge/measuring_lock.hpp"
#include "kernelsearch/judge/translation_unit.hpp"
#include "kernelsearch/problem/definition_problem.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "module_bench.hpp"
#include "slope.hpp"
#include "sol_score.hpp"

namespace kernelsearch {
namespace {

using external::ModuleBench;
using external::ModuleCheck;
using external::ModuleJson;
using external::ModuleRan;
using external::TensorSpec;

constexpr std::size_t fewest_module_rounds = 5;
/// Calls before a candidate is timed: one as the generator draws, the others with varied contents.
constexpr int calls_checked = 4;
/// Further processes of the same text are checked until the reference has taken this long for them.
constexpr double seconds_checking_again = 0.25;
/// The reference says what is right for all timed calls of a process until it has taken this long, then for
/// one call of each request, at a place that is secret, and after the longer time for one request of
/// `requests_apart`.
constexpr double seconds_verifying = 1.0, seconds_verifying_each = 4.0;
constexpr std::size_t requests_apart = 4;
/// For what models are told: the number of shapes, and how long it may take to find out.
constexpr std::size_t most_explained = 3;
constexpr double seconds_explaining = 1.0;
/// For a shape's pairs: most of it goes by while inputs are drawn and outputs checked.
constexpr double pairing_seconds = 8.0;

Problem checked_module(Problem problem) {
  if (!has_module_reference(problem))
    detail::raise<ConfigError>("the problem's reference is not a Python module", problem.name,
                               "choose the evaluator of its backend");
  if (!problem.arguments.empty())
    detail::raise<ConfigError>("a module has arguments of its own", problem.name,
                               "leave arguments empty: the module's generator has them");
  if (problem.external->clock != ExternalClock::slope)
    detail::raise<ConfigError>("calls of a module are timed by our clock", "\"time\": \"claimed\"",
                               "remove it");
  return problem;
}

HostOptions module_options(HostOptions options) {
  options.sandbox = resolved(options.sandbox);
  if (options.core < 0) options.core = host_machine().cores.back();
  return options;
}

/// The module itself as a candidate, by its own name or in what makes it faster by itself.
Candidate module_as_candidate(const Problem& problem, bool compiled) {
  Kernel kernel;
  const std::string& name = problem.reference.function;
  kernel.regions.device = problem.reference.source + "\n\n";
  if (compiled && is_function_reference(problem))
    kernel.regions.device +=
        "import torch as _torch\n\n\n" + problem.function + " = _torch.compile(" + name + ")\n";
  else if (compiled)
    kernel.regions.device +=
        "import torch as _torch\n\n\n"
        "def " +
        problem.function + "(*args, **kwargs):\n    return _torch.compile(" + name + "(*args, **kwargs))\n";
  else
    kernel.regions.device += problem.function + " = " + name + "\n";
  return {std::make_shared<const Kernel>(std::move(kernel)), {}};
}

Candidate text_as_candidate(const std::string& text) {
  Kernel kernel;
  kernel.regions.device = text;
  return {std::make_shared<const Kernel>(std::move(kernel)), {}};
}

/// Whether a text names anything that could be a kernel of its own.
bool calls_library_only(const std::string& text) {
  constexpr std::string_view makers[] = {
      "triton", "load_inline",     "cpp_extension",      "ctypes", "numba", "cupy", "cutlass", "tilelang",
      "pycuda", "_compile_kernel", "kernelsearch_native"};
  return std::none_of(std::begin(makers), std::end(makers),
                      [&](std::string_view maker) { return text.find(maker) != std::string::npos; });
}

/// A ratio with its interval, for people: `1.3x (1.2 to 1.4) over WHAT`.
std::string over_text(const Speedup& speedup, const std::string& what) {
  char text[100];
  std::snprintf(text, sizeof text, "%.3gx (%.3g to %.3g) over ", speedup.ratio, speedup.interval.low,
                speedup.interval.high);
  return text + what;
}

/// One candidate in a process of its own, on one side of the bench.
class ModuleWorker : public detail::PlainSampleTimer {
 public:
  using MaybeFault = std::optional<detail::Fault>;

  ModuleWorker(ModuleBench& bench, int side)
      : bench_(bench),
        server_(bench.server(side)),
        side_(side),
        shapes_(bench.reference.description().shapes.size()) {}
  ~ModuleWorker() { server_.finish(); }
  ModuleWorker(const ModuleWorker&) = delete;
  ModuleWorker& operator=(const ModuleWorker&) = delete;

  MaybeFault build(const Candidate& candidate) {
    const std::uint64_t seed = detail::secret_seed() >> 2;
    if (auto fault = server_.build(candidate, seed)) return noted(std::move(fault));
    const ModuleJson handles = bench_.reference.weights(side_, server_.weights(), seed);
    return noted(server_.load(handles));
  }

  /// `again`: another process was checked with the same text.
  MaybeFault check(bool again = false) {
    for (std::size_t shape = 0; shape < shapes_.size(); ++shape)
      if (auto fault = check(shape, again)) {
        if (shapes_.size() > 1 && fault->verdict == Verdict::wrong_result)
          fault->reason = "shape " + bench_.problem.shapes[shape].name + ": " + fault->reason;
        return fault;
      }
    return std::nullopt;
  }

  MaybeFault check(std::size_t shape, bool again) {
    Seen& seen = shapes_[shape];
    const double before = bench_.reference.spent_seconds();
    for (int i = 0; i < calls_checked; ++i) {
      if (again && i > 0 && bench_.reference.spent_seconds() - before > seconds_checking_again) break;
      const auto slot = static_cast<std::uint32_t>(detail::secret_seed() % slots(shape));
      bench_.reference.draw(shape, {&slot, 1}, i > 0 ? external::Manner::varied : external::Manner::plain);
      server_.fill(shape, {&slot, 1});
      double wall = 0;
      const external::CandidateServer::Ran ran = server_.run(shape, {&slot, 1}, true, wall);
      if (!ran) return noted(ran.error());
      if (const std::string other = other_structure(bench_.reference.description().shapes[shape], *ran);
          !other.empty())
        return noted(detail::Fault{Verdict::wrong_result, other});
      seen.layout = ran->layout;
      if (auto fault = verify(shape, slot, ran->places.front(), false)) return noted(std::move(fault));
      if (auto fault = server_.release()) return noted(std::move(fault));
      seen.estimate = std::min(seen.estimate, wall);
      ++checked_;
    }
    return std::nullopt;
  }

  /// For pairs and samples: one time of a call, of requests that suit calls of `about` seconds.
  MaybeFault time_once(std::size_t shape, double about, double& seconds) {
    Seen& seen = shapes_[shape];
    const std::size_t calls = external::calls_of_slope(about, slots(shape));
    external::Slope slope;
    const auto one_request = [&](std::size_t wanted, double& wall) { return timed(shape, wanted, wall); };
    if (auto fault = external::take_slope<detail::Fault>(
            about, calls, one_request, [] {}, slope))
      return noted(std::move(fault));
    seconds = slope.seconds;
    seen.estimate = std::min({seen.estimate, slope.one, seconds});
    if (seconds > 0) seen.single_over_slope.push_back(slope.one / seconds);
    return std::nullopt;
  }
  [[nodiscard]] double estimate(std::size_t shape) const { return shapes_[shape].estimate; }

  MaybeFault sample(std::size_t shape, const ShapeMeasurement& so_far, std::vector<double>& samples) {
    double seconds = 0;
    if (so_far.samples.empty()) {
      if (auto fault = time_once(shape, estimate(shape), seconds)) return fault;  // to warm up
      shapes_[shape].single_over_slope.clear();
      shapes_[shape].begin = shapes_[shape].wall;
    }
    if (auto fault = time_once(shape, estimate(shape), seconds)) return fault;
    samples.push_back(seconds);
    return std::nullopt;
  }
  [[nodiscard]] double elapsed(std::size_t shape) const { return shapes_[shape].wall - shapes_[shape].begin; }
  [[nodiscard]] static std::optional<SamplingEnd> ended(std::size_t, const ShapeMeasurement&,
                                                        std::size_t rounds, std::optional<SamplingEnd> end) {
    return rounds < fewest_module_rounds ? std::nullopt : end;
  }

  MaybeFault measure(const Problem& problem, const HostOptions& options, Measurement& measurement,
                     Features& features, const EvaluationContext& context) {
    const double cpu = server_.cpu(), wall = wall_;
    detail::Sampler<detail::Fault, ModuleWorker> sampler(problem, options.sampling,
                                                         detail::SamplingOrder::interleaved, *this);
    if (auto fault = sampler.run(measurement, context.incumbent, context.stop)) return fault;
    if (const double spent = server_.cpu() - cpu; cpu >= 0 && spent >= 0 && wall_ > wall)
      features.set("external.processors", spent / (wall_ - wall));
    std::vector<double> single;
    for (const Seen& seen : shapes_)
      single.insert(single.end(), seen.single_over_slope.begin(), seen.single_over_slope.end());
    if (!single.empty()) features.set("external.single_over_slope", median(single));
    return std::nullopt;
  }

  void tell(Features& features) const {
    features.set("checked_calls", static_cast<double>(checked_));
    features.set("timed_calls", static_cast<double>(timed_));
    features.set("verified_calls", static_cast<double>(verified_));
    features.set("torch.error", error_);
    features.set("torch.strict_error", strict_error_);
    // For each shape by its name, as traces state them; one of several processes may have seen the largest.
    for (std::size_t s = 0; s < shapes_.size(); ++s)
      for (const auto& [name, error] : {std::pair("torch.absolute_error.", shapes_[s].absolute_error),
                                        std::pair("torch.relative_error.", shapes_[s].relative_error)}) {
        const std::string feature = name + bench_.problem.shapes[s].name;
        if (error >= 0) features.set(feature, std::max(error, features.find(feature).value_or(0)));
      }
  }

  /// How it was judged, for people.
  [[nodiscard]] std::string account() const {
    const external::ModuleDescription& known = bench_.reference.description();
    std::string text = "; timed by slope; " + std::to_string(checked_) + " calls checked before, " +
                       std::to_string(verified_) + " of " + std::to_string(timed_) +
                       " timed calls against the module in " + known.precision +
                       ", each with inputs of its own; ";
    const std::string& by = server_.weights();
    if (by == "seed")
      text += "weights only as the constructors make them, since its parameters are not the module's";
    else if (by == "none")
      text += "no weights";
    else
      text += "weights that no constructor makes, taken by " + by;
    char errors[160];
    std::snprintf(errors, sizeof errors,
                  "; largest error %.3g of what is tolerated, %.3g of what the stricter rules would be",
                  error_, strict_error_);
    text += errors;
    return text + "; trusted: that it makes the calls of a request one after the other" +
           (known.device_memory ? " and that the device is idle when it replies" : "");
  }
  [[nodiscard]] bool failed() const noexcept { return failed_; }

 private:
  /// What is known of the calls of one shape.
  struct Seen {
    std::vector<TensorSpec> layout;
    double estimate = std::numeric_limits<double>::infinity();
    double wall = 0, begin = 0, verifying = 0;
    double absolute_error = -1, relative_error = -1;  ///< negative: not told
    std::vector<double> single_over_slope;
  };

  [[nodiscard]] std::size_t slots(std::size_t shape) const {
    return bench_.reference.layout().shapes[shape].count;
  }
  MaybeFault noted(MaybeFault fault) {
    failed_ = failed_ || fault.has_value();
    return fault;
  }

  MaybeFault verify(std::size_t shape, std::uint32_t slot, const ModuleJson& addresses, bool in_request) {
    ModuleJson places, written;
    const std::vector<TensorSpec>& layout = shapes_[shape].layout;
    if (auto fault = server_.collect(shape, slot, layout, addresses, places, written)) return fault;
    const ModuleCheck check = bench_.reference.check(side_, shape, slot, layout, places, written);
    error_ = std::max(error_, check.error);
    strict_error_ = std::max(strict_error_, check.strict_error);
    Seen& seen = shapes_[shape];
    seen.absolute_error = std::max(seen.absolute_error, check.absolute_error);
    seen.relative_error = std::max(seen.relative_error, check.relative_error);
    if (check.ok) return std::nullopt;
    return detail::Fault{Verdict::wrong_result,
                         check.reason + (in_request ? "; in a timed call that followed others" : "") +
                             (server_.weights() == "names" || server_.weights() == "order"
                                  ? "; weights are loaded after it is constructed"
                                  : ""),
                         check.right_share};
  }

  MaybeFault timed(std::size_t shape, std::size_t calls, double& wall) {
    Seen& seen = shapes_[shape];
    std::vector<std::uint32_t> order(slots(shape));
    std::iota(order.begin(), order.end(), std::uint32_t{0});
    Rng rng(detail::secret_seed());
    rng.shuffle(order);
    order.resize(calls);
    bench_.reference.draw(shape, order, external::Manner::mixed);
    server_.fill(shape, order);
    const external::CandidateServer::Ran ran = server_.run(shape, order, false, wall);
    if (!ran) return ran.error();
    wall_ += wall;
    seen.wall += wall;
    timed_ += calls;
    const bool all = seen.verifying < seconds_verifying;
    const bool none = seen.verifying >= seconds_verifying_each && rng.below(requests_apart) > 0;
    const std::size_t known = rng.below(calls);
    const double before = bench_.reference.spent_seconds();
    for (std::size_t i = 0; i < calls; ++i) {
      if (none || (!all && i != known)) continue;
      ++verified_;
      if (auto fault = verify(shape, order[i], ran->places[i], calls > 1)) {
        const bool again = std::count(ran->places.begin(), ran->places.end(), ran->places[i]) > 1;
        if (again && fault->verdict == Verdict::wrong_result)
          fault->reason +=
              "; it gives the same memory for several calls, so that a result is lost with the next call";
        return fault;
      }
    }
    seen.verifying += bench_.reference.spent_seconds() - before;
    return server_.release();
  }

  ModuleBench& bench_;
  external::CandidateServer& server_;
  int side_;
  std::vector<Seen> shapes_;
  double wall_ = 0, error_ = 0, strict_error_ = 0;
  std::size_t checked_ = 0, timed_ = 0, verified_ = 0;
  bool failed_ = false;
};

}  // namespace

struct ModuleEvaluator::Impl {
  Impl(Problem given, HostOptions chosen, ModulePeaks known)
      : problem(checked_module(std::move(given))),
        options(module_options(std::move(chosen))),
        peaks(std::move(known)),
        machine(host_machine()),
        compiler(options, machine.id(), machine.cores),
        bench(std::make_unique<ModuleBench>(problem, options)),
        described(bench->reference.description()) {}

  /// For the thread that calls: processes end with the one that started them.
  ModuleBench& own_bench() {
    if (bench && bench->thread == std::this_thread::get_id()) return *bench;
    bench.reset();
    bench = std::make_unique<ModuleBench>(problem, options);
    return *bench;
  }

  /// Which side of pairs failed, and how.
  struct Failed {
    std::optional<detail::Fault> ours, theirs;
  };

  /// Times both sides in interleaved pairs, each round in processes of its own. `measured`: a process of our
  /// side that was measured already, for the first round; `retire` sees it before it ends, where others
  /// follow. The speedup; none where a side fails.
  Speedup pair(const Candidate& our_side, std::optional<ModuleWorker>* measured, const Candidate& their_side,
               const PairOptions& pairs, Measurement* within, Failed& failed,
               const std::function<void(const ModuleWorker&)>& retire = nullptr) {
    using Timer = detail::AlternatingTimer<detail::Fault, ModuleWorker, ModuleWorker>;
    detail::Pairs taken(problem, pairs);
    taken.assume_between_processes(detail::between_processes);
    std::optional<ModuleWorker> fresh;
    while (taken.wants_round()) {
      const double begin = detail::monotonic_seconds();
      const bool first = measured != nullptr && taken.round() == 0;
      if (!first && measured != nullptr && *measured) {
        retire(**measured);
        measured->reset();
      }
      if (!first) {
        fresh.reset();
        fresh.emplace(*bench, 0);
        failed.ours = fresh->build(our_side);
        if (!failed.ours) failed.ours = fresh->check(measured != nullptr || taken.round() > 0);
        if (failed.ours) return {};
      }
      ModuleWorker& ours = first ? **measured : *fresh;
      ModuleWorker theirs(*bench, 1);
      failed.theirs = theirs.build(their_side);
      if (!failed.theirs) failed.theirs = theirs.check(taken.round() > 0);
      if (failed.theirs) return {};
      taken.started(detail::monotonic_seconds() - begin);
      if (auto fault = taken.take_round<detail::Fault>(Timer(ours, theirs))) {
        (ours.failed() ? failed.ours : failed.theirs) = std::move(fault);
        return {};
      }
    }
    return taken.speedup(within);
  }

  /// S of a right candidate over what it was timed in pairs with; nothing where a bound is unknown.
  void score(const Measurement& over_baseline, const char* baseline, Evaluation& evaluation) {
    if (!bounds) {
      bounds.emplace();
      const DevicePeaks known = peaks ? peaks(described.device_memory) : DevicePeaks();
      for (std::size_t s = 0; s < problem.shapes.size(); ++s)
        if (const auto seconds =
                external::speed_of_light(described.shapes[s].work, known, described.device_memory))
          bounds->push_back({problem.shapes[s].name, *seconds});
    }
    const auto mean = external::mean_sol_score(over_baseline, *bounds);
    if (!mean) return;
    evaluation.features.set("sol.score", *mean);
    for (const auto& [shape, seconds] : *bounds) evaluation.features.set("sol.seconds." + shape, seconds);
    char text[60];
    std::snprintf(text, sizeof text, "; score S %.3g over ", *mean);
    evaluation.provenance += text + std::string(baseline) + ", by a roofline bound";
  }

  Problem problem;
  HostOptions options;
  ModulePeaks peaks;
  std::optional<std::vector<external::ShapeBoundSeconds>> bounds;  ///< once they were asked for
  HostMachine machine;
  detail::CompileCache compiler;
  std::unique_ptr<ModuleBench> bench;
  external::ModuleDescription described;
  std::string identity;
  std::string not_compiled;  ///< why torch.compile of it cannot be measured
  std::mutex measuring;
};

ModuleEvaluator::ModuleEvaluator(Problem problem, HostOptions options, ModulePeaks peaks)
    : impl_(std::make_unique<Impl>(std::move(problem), std::move(options), std::move(peaks))) {
  Impl& self = *impl_;
  const ExternalProgram& program = *self.problem.external;
  const std::string tools = self.compiler.identity(BuildCommand{
      program.command, {"kernel", ""}, program.files, program.identity, program.readable, {}, {}});
  std::string text;
  for (const std::string& word : program.command) {
    text += word + "\n";
    if (std::filesystem::path(word).is_absolute()) text += sha256_of_file(word) + "\n";
  }
  self.identity = "module by " + self.described.name + " " + self.described.version +
                  ", timed by slope, digest " + sha256(text + tools).substr(0, 16) + "; " + tools;
  if (!self.described.compiles) self.not_compiled = "there is no torch.compile";
  if (const char* wish = std::getenv("KERNELSEARCH_TORCH_COMPILE");
      wish != nullptr && std::string(wish) == "0")
    self.not_compiled = "KERNELSEARCH_TORCH_COMPILE is 0";
  if (!self.options.notes) return;
  for (const std::string& note : self.described.notes) self.options.notes("the module: " + note);
  for (const std::string& answer : self.described.trivial)
    self.options.notes("the module: " + answer + " would pass as its output within the tolerance");
}

ModuleEvaluator::ModuleEvaluator(ModuleEvaluator&&) noexcept = default;
ModuleEvaluator& ModuleEvaluator::operator=(ModuleEvaluator&&) noexcept = default;
ModuleEvaluator::~ModuleEvaluator() = default;

Staged<ExternalArtifact> ModuleEvaluator::build(const Candidate& candidate,
                                                const EvaluationContext& context) {
  Staged<ExternalArtifact> staged;
  if (context.stop.stop_requested()) {
    staged.evaluation = Evaluation::failed(Verdict::rejected, "stopped before it was built");
    return staged;
  }
  staged.artifact = ExternalArtifact{candidate};
  return staged;
}

Evaluation ModuleEvaluator::run(Staged<ExternalArtifact>&& staged, const EvaluationContext& context) {
  Impl& self = *impl_;
  const std::scoped_lock lock(self.measuring);
  Evaluation evaluation = std::move(staged.evaluation);
  const Candidate& candidate = staged.artifact->candidate;
  const auto fail = [&](const detail::Fault& fault, bool built) { detail::fail(evaluation, fault, built); };
  const MeasuringTurn turn =
      MeasuringTurn::take({measured_core(self.options.core)}, context.stop, self.options.waits);
  if (!turn) {
    fail({Verdict::rejected, "stopped before it was measured"}, false);
    return evaluation;
  }
  context.measured_on(self.described.device_memory ? self.described.device
                                                   : measured_core(self.options.core).words);
  double begin = detail::monotonic_seconds();
  ModuleBench& bench = self.own_bench();
  const double reference_before = bench.reference.spent_seconds();
  std::optional<ModuleWorker> judged(std::in_place, bench, 0);
  auto fault = judged->build(candidate);
  evaluation.phases.build = detail::monotonic_seconds() - begin;
  evaluation.provenance = self.described.name + " " + self.described.version + " on " +
                          self.described.device + "; sandbox " + description_of(self.options.sandbox);
  if (fault) {
    fail(*fault, fault->verdict != Verdict::build_failed);
    return evaluation;
  }
  begin = detail::monotonic_seconds();
  fault = judged->check();
  evaluation.phases.check = detail::monotonic_seconds() - begin;
  begin = detail::monotonic_seconds();
  Measurement& measurement = evaluation.measurement;
  if (!fault) fault = judged->measure(self.problem, self.options, measurement, evaluation.features, context);
  const Pairing when = self.options.pairs.when;
  const bool improved = !context.incumbent || measurement.seconds < *context.incumbent;
  const auto retire = [&](const ModuleWorker& one) {
    one.tell(evaluation.features);
    evaluation.provenance += one.account();
  };
  if (!fault && !context.stop.stop_requested() &&
      (when == Pairing::always || (when == Pairing::improved && improved))) {
    PairOptions pairs = self.options.pairs;
    pairs.stop = context.stop;
    pairs.rounds = 1;
    pairs.budget_seconds = std::max(pairs.budget_seconds, pairing_seconds);
    Impl::Failed failed;
    std::string beside;
    if (self.not_compiled.empty()) {
      const Speedup compiled =
          self.pair(candidate, &judged, module_as_candidate(self.problem, true), pairs, nullptr, failed);
      if (failed.theirs) self.not_compiled = failed.theirs->reason;
      if (compiled.pairs > 0) {
        evaluation.features.set("torch.over_compile", compiled.ratio);
        evaluation.features.set("torch.over_compile_low", compiled.interval.low);
        evaluation.features.set("torch.over_compile_high", compiled.interval.high);
        beside += "; " + over_text(compiled, "torch.compile of the module");
      }
    }
    if (!failed.ours && !self.not_compiled.empty())
      beside += "; not compared with torch.compile: " + self.not_compiled;
    Measurement of_baseline = measurement;
    if (const std::string* baseline = baseline_of(self.problem); baseline != nullptr && !failed.ours) {
      failed.theirs.reset();
      const Speedup over =
          self.pair(candidate, &judged, text_as_candidate(*baseline), pairs, &of_baseline, failed);
      if (over.pairs > 0) {
        evaluation.features.set("torch.over_baseline", over.ratio);
        evaluation.features.set("torch.over_baseline_low", over.interval.low);
        evaluation.features.set("torch.over_baseline_high", over.interval.high);
        beside += "; " + over_text(over, "the baseline");
      }
      if (failed.theirs) beside += "; not compared with the baseline, which fails: " + failed.theirs->reason;
    }
    // What lies between processes is most of what two equal modules differ by: a finalist meets the module in
    // several pairs of them.
    if (context.finalist) pairs.rounds = std::max(self.options.pairs.rounds, self.options.finalist_rounds);
    failed.theirs.reset();
    if (!failed.ours) {
      const Speedup eager = self.pair(candidate, &judged, module_as_candidate(self.problem, false), pairs,
                                      &measurement, failed, retire);
      if (eager.pairs > 0) measurement.speedup = eager;
      if (failed.theirs)
        beside += "; not compared with the module itself, which fails: " + failed.theirs->reason;
    }
    fault = std::move(failed.ours);
    evaluation.provenance += clean_text(beside);
    const bool other = evaluation.features.find("torch.over_baseline").has_value();
    if (!fault && (other || measurement.speedup))
      self.score(other ? of_baseline : measurement, other ? "the baseline" : "the module", evaluation);
  }
  if (judged) retire(*judged);
  judged.reset();
  evaluation.phases.measure = detail::monotonic_seconds() - begin;
  evaluation.phases.reference = bench.reference.spent_seconds() - reference_before;
  if (calls_library_only(candidate.kernel->regions.device)) {
    evaluation.features.set("torch.library_only", 1);
    evaluation.provenance += "; calls PyTorch only";
  }
  if (fault) fail(*fault, true);
  return evaluation;
}

Evaluation ModuleEvaluator::evaluate(const Candidate& candidate, const EvaluationContext& context) {
  return evaluate_in_stages(*this, candidate, context);
}

Speedup ModuleEvaluator::compare(const Candidate& candidate, const Candidate& champion,
                                 const PairOptions& asked) {
  Impl& self = *impl_;
  PairOptions pairs = asked;
  pairs.budget_seconds = std::max(pairs.budget_seconds, pairing_seconds * static_cast<double>(pairs.rounds));
  const std::scoped_lock lock(self.measuring);
  const MeasuringTurn turn =
      MeasuringTurn::take({measured_core(self.options.core)}, pairs.stop, self.options.waits);
  if (!turn) return {};
  self.own_bench();
  Impl::Failed failed;
  const Speedup speedup = self.pair(candidate, nullptr, champion, pairs, nullptr, failed);
  if (const auto& fault = failed.ours ? failed.ours : failed.theirs)
    detail::raise<ConfigError>("a candidate to compare is not ok", fault->reason,
                               "compare candidates that are ok");
  return speedup;
}

std::string ModuleEvaluator::device_id() const {
  const std::string& device = impl_->described.device;
  if (impl_->described.device_memory) return device + ", by " + impl_->described.name;
  return device + ", by " + impl_->described.name + " on " + impl_->machine.id();
}

std::string ModuleEvaluator::toolchain_id() const {
  return impl_->identity;
}
const Problem& ModuleEvaluator::problem() const noexcept {
  return impl_->problem;
}
const HostOptions& ModuleEvaluator::options() const noexcept {
  return impl_->options;
}

std::vector<std::string> ModuleEvaluator::facts() const {
  Impl& self = *impl_;
  std::vector<std::string> facts = self.described.facts;
  const auto add = [&facts](const std::vector<std::string>& more) {
    facts.insert(facts.end(), more.begin(), more.end());
  };
  add(self.described.notes);
  if (!self.described.explains) return facts;
  std::vector<std::size_t> shapes;
  for (std::size_t s = 0; s < self.problem.shapes.size() && shapes.size() < most_explained; ++s)
    if (self.problem.shapes[s].weight > 0) shapes.push_back(s);
  const std::scoped_lock lock(self.measuring);
  try {
    // A processor's roofline depends on the caches that a call finds its tensors in.
    const DevicePeaks peaks = self.peaks && self.described.device_memory ? self.peaks(true) : DevicePeaks();
    add(self.own_bench().reference.explain(shapes, self.problem.threads, seconds_explaining, peaks));
  } catch (const DeviceError& error) {
    // Nothing is judged by it. The next candidate gets a new reference.
    self.bench.reset();
    facts.emplace_back("what its calls do is not known: the reference failed when it was asked");
    if (self.options.notes) self.options.notes(error.what());
  }
  return facts;
}

std::vector<std::string> ModuleEvaluator::features() const {
  return impl_->described.features;
}

}  // namespace kernelsearch
