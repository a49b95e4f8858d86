// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/external/external_evaluator.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "evaluator_session.hpp"
#include "judge/compile.hpp"
#include "judge/input_generator.hpp"
#include "judge/input_sets.hpp"
#include "judge/overrun_text.hpp"
#include "judge/pairs.hpp"
#include "judge/reference.hpp"
#include "judge/sampler.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/judge/generated_sizes.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/judge/measuring_lock.hpp"
#include "kernelsearch/judge/translation_unit.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/problem/hidden_shapes.hpp"
#include "slope.hpp"

namespace kernelsearch {
namespace {

using detail::raise;
using external::Answer;
using external::EvaluatorReply;
using external::EvaluatorSession;

constexpr std::size_t least_rounds = 5;
/// The reference computes what is right for all timed calls until that took this long for a shape, then for
/// one call of each request, at a place that is secret.
constexpr double verifying_seconds = 1.0;
/// A claim is false below this share of what our clock shows.
constexpr double least_claim = 0.7;
/// And what a claim may leave out of each call: what the program does around it.
constexpr double around_a_call = 20e-6;

Problem checked_external(Problem problem, const HostOptions& options) {
  if (!problem.external || problem.backend != Backend::external)
    raise<ConfigError>("the problem has no external program", std::string(to_string(problem.backend)),
                       "choose the evaluator of its backend");
  if (problem.reference.source.empty())
    raise<ConfigError>("nothing says what is right for an external problem", problem.name,
                       "give it a reference");
  if (problem.shapes.empty())
    raise<ConfigError>("the problem has no shapes", problem.name, "give it at least one");
  for (const Argument& argument : problem.arguments)
    if (argument.tensor_map || argument.role == Role::workspace)
      raise<ConfigError>("an external problem has an argument that is for devices", argument.name,
                         "give it arrays and scalars");
  fill_generated_sizes(problem, options);
  return problem;
}

HostOptions external_options(HostOptions options) {
  options.sandbox = resolved(options.sandbox);
  if (options.core < 0) options.core = host_machine().cores.back();
  return options;
}

std::string in_microseconds(double seconds) {
  char text[40];
  std::snprintf(text, sizeof text, "%.4g us", seconds * 1e6);
  return text;
}

bool claims(const Problem& problem) {
  return problem.external->clock == ExternalClock::claimed;
}

}  // namespace

namespace {

/// Sizes that are drawn for each candidate. They are checked in its process, where starting and building
/// again may take minutes, after the listed ones.
class VariedSizes {
 public:
  VariedSizes(const Problem& problem, const HostOptions& options, detail::CompileCache& compiler,
              const detail::WorkerSettings& settings)
      : options_(options),
        listed_(with_hidden_shapes(problem, why_not_)),
        problem_(problem),
        references_(problem_, compiler, settings),
        generator_(problem_, options),
        limits_(hidden_shape_limits(problem)) {
    problem_.shapes.clear();
    if (!why_not_.empty()) leave_out(why_not_);
  }

  /// Others for the next candidate; there may be none.
  void draw(const Candidate& candidate) {
    problem_.shapes.clear();
    if (!why_not_.empty() || !listed_.hidden_shapes || !options_.check.hidden_shapes) return;
    Rng rng(detail::secret_seed());
    problem_.shapes = draw_hidden_shapes(listed_, candidate, limits_, rng);
  }
  [[nodiscard]] const Problem& problem() const noexcept { return problem_; }
  [[nodiscard]] bool derived() const noexcept {
    return listed_.hidden_shapes && listed_.hidden_shapes->derived;
  }
  [[nodiscard]] detail::References& references() noexcept { return references_; }
  [[nodiscard]] detail::InputSets inputs() {
    CheckOptions once;
    once.seeds = 1;  // what edge values show, the listed shapes have shown
    once.edge = once.ill_conditioned = false;
    return {problem_, references_, generator_, once};
  }
  void leave_out(const std::string& why) {
    why_not_ = why;
    if (options_.notes && options_.check.hidden_shapes) options_.notes(sizes_not_varied(why));
  }

 private:
  const HostOptions& options_;
  std::string why_not_;
  Problem listed_;   ///< with hidden shapes
  Problem problem_;  ///< with those that were drawn
  detail::References references_;
  detail::InputGenerator generator_;
  HiddenShapeLimits limits_;
};

}  // namespace

struct ExternalEvaluator::Impl {
  Impl(Problem given, HostOptions chosen)
      : problem(checked_external(std::move(given), chosen)),
        options(external_options(std::move(chosen))),
        machine(host_machine()),
        compiler(options, machine.id(), machine.cores),
        references(problem, compiler, detail::worker_settings(options, {}, problem)),
        generator(problem, options),
        inputs(problem, references, generator, options.check),
        varied(problem, options, compiler, detail::worker_settings(options, {}, problem)) {}

  Problem problem;
  HostOptions options;
  HostMachine machine;
  detail::CompileCache compiler;
  detail::References references;
  detail::InputGenerator generator;
  detail::InputSets inputs;
  VariedSizes varied;
  EvaluatorReply described;
  std::string identity;
  std::mutex measuring;
};

namespace {

/// One candidate in a program of its own.
class ExternalWorker : public detail::PlainSampleTimer {
 public:
  ExternalWorker(const Problem& problem, const HostOptions& options, detail::InputSets& inputs,
                 detail::References& references, const Candidate& candidate, VariedSizes* varied = nullptr,
                 bool draws = true)
      : problem_(problem), options_(options), inputs_(inputs), references_(references) {
    detail::ArenaBytes bytes;
    if (varied != nullptr && draws) varied->draw(candidate);
    const std::size_t listed = problem.shapes.size(),
                      others = varied != nullptr ? varied->problem().shapes.size() : 0;
    for (std::size_t s = 0; s < listed + others; ++s) {
      shapes_.emplace_back().plan = s < listed ? detail::plan_shape(problem, candidate, s)
                                               : detail::plan_shape(varied->problem(), candidate, s - listed);
      const detail::ArenaBytes needed = laid_out(s).arena_bytes();
      bytes.inputs = std::max(bytes.inputs, needed.inputs);
      bytes.outputs = std::max(bytes.outputs, needed.outputs);
    }
    memory_in_ = detail::Arena(bytes.inputs, detail::Arena::Writers::controller);
    memory_out_ = detail::Arena(bytes.outputs, detail::Arena::Writers::both);
    session_.emplace(problem, options, memory_in_, memory_out_);
  }

  EvaluatorSession& session() { return *session_; }

  /// Every shape on every set of inputs, one call to a request.
  std::optional<detail::Fault> check() {
    inputs_.next_candidate();
    for (std::size_t s = 0; s < problem_.shapes.size(); ++s) {
      if (auto fault = select(s)) return fault;
      for (const auto& set : inputs_.for_check(shapes_[s].plan, shown_)) {
        inputs_.solve(shapes_[s].plan, *set);
        double wall = 0;
        const std::uint32_t slot = next_slot();
        slots_.fill(slot, set->contents, detail::secret_seed());
        if (auto fault = request({&slot, 1}, wall, nullptr)) return fault;
        if (auto fault = wrong(slot, *set)) return fault;
        shapes_[s].estimate = std::min(shapes_[s].estimate, wall);
        ++checked_;
      }
    }
    return std::nullopt;
  }

  /// The sizes that were drawn for it; with those of another candidate where they were not drawn anew.
  std::optional<detail::Fault> check_varied(VariedSizes& varied) {
    detail::InputSets inputs = varied.inputs();
    for (std::size_t s = problem_.shapes.size(); s < shapes_.size(); ++s) {
      if (auto fault = select(s)) return fault;
      for (const auto& set : inputs.for_check(shapes_[s].plan, shown_)) {
        inputs.solve(shapes_[s].plan, *set);
        double wall = 0;
        const std::uint32_t slot = next_slot();
        slots_.fill(slot, set->contents, detail::secret_seed());
        if (auto fault = request({&slot, 1}, wall, nullptr)) return fault;
        if (auto fault = wrong(varied.problem(), slot, *set)) return fault;
        ++checked_;
      }
    }
    return std::nullopt;
  }

  /// The time of one call on the shape, from one round of requests that suit calls of `about` seconds.
  std::optional<detail::Fault> time_once(std::size_t s, double about, double& seconds) {
    if (auto fault = select(s)) return fault;
    ShapeState& shape = shapes_[s];
    if (claims(problem_)) return time_claimed(shape, seconds);
    const std::size_t calls = external::calls_of_slope(about, slots_.count());
    double claimed = -1;
    external::Slope slope;
    const auto one_request = [&](std::size_t wanted, double& wall) {
      shape.claimed.clear();
      return timed(shape, wanted, wall);
    };
    const auto keep_claim = [&] {
      claimed = shape.claimed.empty() ? -1 : std::accumulate(shape.claimed.begin(), shape.claimed.end(), 0.0);
    };
    if (auto fault = external::take_slope<detail::Fault>(about, calls, one_request, keep_claim, slope))
      return fault;
    seconds = slope.seconds;
    shape.estimate = std::min({shape.estimate, slope.one, seconds});
    shape.single.push_back(slope.one);
    const double count = static_cast<double>(calls);
    if (claimed >= 0) shape.claimed_share.push_back((claimed + count * around_a_call) / (seconds * count));
    return std::nullopt;
  }

  std::optional<detail::Fault> measure(Measurement& measurement, Features& features,
                                       std::optional<double> incumbent, const std::stop_token& stop) {
    const double cpu = session_->cpu();
    wall_ = 0;
    // Another shape is another message to the program, which may take it long.
    detail::Sampler<detail::Fault, ExternalWorker> sampler(problem_, options_.sampling,
                                                           detail::SamplingOrder::shape_by_shape, *this);
    if (auto fault = sampler.run(measurement, incumbent, stop)) return fault;
    for (std::size_t s = 0, i = 0; s < problem_.shapes.size(); ++s)
      if (problem_.shapes[s].weight > 0)
        if (auto fault = judge_claims(s, measurement.shapes[i++], features)) return fault;
    if (const double spent = session_->cpu() - cpu; cpu >= 0 && spent >= 0 && wall_ > 0)
      features.set("external.processors", spent / wall_);
    features.set("checked_calls", static_cast<double>(checked_));
    features.set("timed_calls", static_cast<double>(timed_));
    features.set("verified_calls", static_cast<double>(verified_));
    return std::nullopt;
  }

  /// For the sampling loop: a round is one time.
  std::optional<detail::Fault> sample(std::size_t s, const ShapeMeasurement& so_far,
                                      std::vector<double>& samples) {
    ShapeState& shape = shapes_[s];
    double seconds = 0;
    if (so_far.samples.empty()) {
      if (auto fault = time_once(s, estimate(s), seconds)) return fault;  // to warm up
      shape.claimed_share.clear();
      shape.single.clear();
      shape.begin = wall_;
    }
    if (auto fault = time_once(s, estimate(s), seconds)) return fault;
    samples.push_back(seconds);
    return std::nullopt;
  }

  /// Seconds that the program took for calls of the shape; what verifying takes is not its.
  [[nodiscard]] double elapsed(std::size_t s) const { return wall_ - shapes_[s].begin; }

  [[nodiscard]] std::optional<SamplingEnd> ended(std::size_t, const ShapeMeasurement& so_far,
                                                 std::size_t rounds, std::optional<SamplingEnd> end) const {
    if (rounds < (claims(problem_) ? 3 : least_rounds)) return std::nullopt;
    const bool same = std::all_of(so_far.samples.begin(), so_far.samples.end(),
                                  [&](double one) { return one == so_far.samples.front(); });
    return claims(problem_) && same ? SamplingEnd::converged : end;
  }

  [[nodiscard]] double estimate(std::size_t s) const { return shapes_[s].estimate; }

  /// How it was judged, for people.
  [[nodiscard]] std::string account() const {
    char text[640];
    std::snprintf(text, sizeof text,
                  "; %s; checked from outside: %zu calls before, %zu of %zu timed calls against the "
                  "reference, each with "
                  "inputs of its own that could not be written, and %s; trusted: %s",
                  claims(problem_) ? "times claimed by the program" : "timed by slope", checked_, verified_,
                  timed_,
                  claims(problem_) ? "that it claims a time for each call"
                                   : "its claims of times, if any, against our clock",
                  claims(problem_)
                      ? "its times"
                      : "that it makes the calls of a request one after the other, and what it says of its "
                        "device");
    return text;
  }

 private:
  struct ShapeState {
    detail::ShapePlan plan;
    double estimate = std::numeric_limits<double>::infinity();
    std::vector<double> single, claimed;
    std::vector<double> claimed_share;  ///< of what our clock showed, one a round
    double verifying = 0;
    double begin = 0;  ///< of its sampling, in what `wall_` counts
  };

  [[nodiscard]] detail::Slots laid_out(std::size_t s) const {
    return detail::Slots(shapes_[s].plan, detail::Storage::native, options_.buffer_memory,
                         external::least_calls, external::most_calls);
  }

  [[nodiscard]] std::uint32_t next_slot() {
    return static_cast<std::uint32_t>(detail::secret_seed() % slots_.count());
  }

  std::optional<detail::Fault> select(std::size_t s) {
    if (selected_ == s) return std::nullopt;
    slots_ = laid_out(s);
    slots_.attach({memory_in_.data(), memory_out_.data(), 0, 0}, detail::secret_seed());
    selected_ = s;
    const Answer loaded = session_->load(slots_);
    if (!loaded) return loaded.error();
    if (!loaded->ok) return detail::Fault{Verdict::launch_failed, loaded->reason};
    return std::nullopt;
  }

  std::optional<detail::Fault> request(std::span<const std::uint32_t> slots, double& wall,
                                       std::vector<double>* claimed) {
    const Answer ran = session_->run(slots, wall);
    if (!ran) return ran.error();
    if (!ran->ok) return detail::Fault{Verdict::launch_failed, ran->reason};
    const double sum = std::accumulate(ran->seconds.begin(), ran->seconds.end(), 0.0);
    if (!claims(problem_) && sum > 1.02 * wall + 1e-3)
      return detail::Fault{Verdict::cheated, "it claims that its calls took " + in_microseconds(sum) +
                                                 " of a request that took " + in_microseconds(wall)};
    if (claimed != nullptr) claimed->insert(claimed->end(), ran->seconds.begin(), ran->seconds.end());
    wall_ += wall;
    return std::nullopt;
  }

  std::optional<detail::Fault> wrong(std::uint32_t slot, const detail::InputSet& set) {
    return wrong(problem_, slot, set);
  }
  std::optional<detail::Fault> wrong(const Problem& problem, std::uint32_t slot,
                                     const detail::InputSet& set) {
    if (!slots_.guards_intact(slot)) return detail::overrun_fault(detail::overrun_in(problem_, slots_, slot));
    return detail::compare_outputs(problem, slots_.plan(), set, slots_.outputs(slot));
  }

  /// What can be seen of a call whose result is not known: that it wrote all it must and nothing else.
  std::optional<detail::Fault> unwritten(std::uint32_t slot) const {
    if (!slots_.guards_intact(slot)) return detail::overrun_fault(detail::overrun_in(problem_, slots_, slot));
    for (std::size_t a = 0; a < slots_.plan().arguments.size(); ++a) {
      const detail::PlannedArgument& argument = slots_.plan().arguments[a];
      if (argument.role != Role::out || !argument.is_array) continue;
      if (argument.count > 0 && slots_.is_all_poison(slot, a))
        return detail::Fault{Verdict::wrong_result,
                             "it left " + problem_.arguments[a].name + " unwritten in a timed call"};
    }
    return std::nullopt;
  }

  /// One request of that many calls on inputs of their own, with what they came to.
  std::optional<detail::Fault> timed(ShapeState& shape, std::size_t calls, double& wall) {
    std::vector<std::uint32_t> order(slots_.count());
    std::iota(order.begin(), order.end(), std::uint32_t{0});
    Rng rng(detail::secret_seed());
    rng.shuffle(order);
    order.resize(calls);
    const bool all = shape.verifying < verifying_seconds;
    const std::size_t known = rng.below(calls);
    std::vector<std::shared_ptr<detail::InputSet>> sets(calls);
    for (std::size_t i = 0; i < calls; ++i) {
      std::shared_ptr<detail::InputSet> set = inputs_.new_for_timing(shape.plan);
      slots_.fill(order[i], set->contents, detail::secret_seed());
      if (all || i == known) sets[i] = std::move(set);
    }
    if (auto fault = request(order, wall, &shape.claimed)) return fault;
    timed_ += calls;
    const double before = references_.spent_seconds();
    for (std::size_t i = 0; i < calls; ++i) {
      if (!sets[i]) {
        if (auto fault = unwritten(order[i])) return fault;
        continue;
      }
      inputs_.solve(shape.plan, *sets[i]);
      ++verified_;
      if (auto fault = wrong(order[i], *sets[i])) return fault;
    }
    shape.verifying += references_.spent_seconds() - before;
    return std::nullopt;
  }

  std::optional<detail::Fault> time_claimed(ShapeState& shape, double& seconds) {
    double wall = 0;
    const std::size_t before = shape.claimed.size();
    if (auto fault = timed(shape, 1, wall)) return fault;
    if (shape.claimed.size() == before)
      return detail::Fault{Verdict::launch_failed, "it claims no time, and nothing else tells one"};
    seconds = shape.claimed.back();
    if (!(seconds > 0)) return detail::Fault{Verdict::cheated, "it claims that a call took no time"};
    return std::nullopt;
  }

  /// Claims are not times of ours, but one that does not agree with our clock is a lie.
  std::optional<detail::Fault> judge_claims(std::size_t s, const ShapeMeasurement& shape,
                                            Features& features) {
    ShapeState& state = shapes_[s];
    if (claims(problem_)) return std::nullopt;
    if (shape.median > 0) features.set("external.single_over_slope", median(state.single) / shape.median);
    if (state.claimed_share.empty()) return std::nullopt;
    const double share = median(state.claimed_share);
    features.set("external.claimed_share", share);
    if (share >= least_claim) return std::nullopt;
    char text[200];
    std::snprintf(text, sizeof text, "it claims %.3g of what calls of shape %s take by our clock, %s", share,
                  shape.shape.c_str(), in_microseconds(shape.median).c_str());
    return detail::Fault{Verdict::cheated, text};
  }

  const Problem& problem_;
  const HostOptions& options_;
  detail::InputSets& inputs_;
  detail::References& references_;
  std::vector<ShapeState> shapes_;
  detail::Arena memory_in_, memory_out_;
  std::optional<EvaluatorSession> session_;
  detail::Slots slots_;
  std::size_t selected_ = static_cast<std::size_t>(-1);
  detail::ShownSets shown_;
  std::size_t checked_ = 0, timed_ = 0, verified_ = 0;
  double wall_ = 0;
};

std::optional<detail::Fault> start(EvaluatorSession& session, const EvaluatorReply& known) {
  const Answer answer = session.describe();
  if (!answer) return answer.error();
  if (answer->ok && answer->protocol == known.protocol && answer->name == known.name &&
      answer->version == known.version && answer->device == known.device)
    return std::nullopt;
  raise<DeviceError>(
      "the external evaluator is another one than before",
      answer->ok ? answer->name + " " + answer->version + " on " + answer->device : answer->reason,
      "start the run again: what was measured with the former one stays under its name");
}

std::optional<detail::Fault> build_in(EvaluatorSession& session, const Candidate& candidate,
                                      Features* features) {
  const Answer answer = session.build(candidate);
  if (!answer) return answer.error();
  if (!answer->ok) return detail::Fault{Verdict::build_failed, answer->reason};
  if (features != nullptr)
    for (const auto& [name, value] : answer->features) features->set(name, value);
  return std::nullopt;
}

/// Where nobody said that these sizes are allowed, a candidate is accused only where the default is right.
template <class DefaultIsRight>
std::optional<detail::Fault> check_sizes(VariedSizes& varied, ExternalWorker& worker,
                                         DefaultIsRight&& default_is_right) {
  try {
    auto fault = worker.check_varied(varied);
    if (!fault || !varied.derived() || default_is_right()) return fault;
    varied.leave_out("the default configuration fails where a size lies between the listed ones");
  } catch (const ConfigError& error) {
    if (!varied.derived()) throw;
    varied.leave_out("the reference fails where a size lies between the listed ones: " +
                     std::string(error.what()));
  }
  return std::nullopt;
}

}  // namespace

ExternalEvaluator::ExternalEvaluator(Problem problem, HostOptions options)
    : impl_(std::make_unique<Impl>(std::move(problem), std::move(options))) {
  Impl& self = *impl_;
  const ExternalProgram& program = *self.problem.external;
  for (const std::string& folder : program.readable) {
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error))
      raise<ConfigError>("a folder of external.readable is not there", folder,
                         "install the toolchain, or name the folder that it is in");
  }
  detail::Arena nothing_in(1, detail::Arena::Writers::controller),
      nothing_out(1, detail::Arena::Writers::both);
  EvaluatorSession session(self.problem, self.options, nothing_in, nothing_out);
  const Answer answer = session.describe();
  const std::string command = [&] {
    std::string line;
    for (const std::string& word : program.command) line += (line.empty() ? "" : " ") + word;
    return line;
  }();
  if (!answer)
    raise<ConfigError>("the external evaluator does not describe itself",
                       command + ": " + answer.error().reason,
                       "run it by hand and give it the messages of docs/external_evaluators.md, or see "
                       "whether the sandbox lets it read what it needs (external.readable, --sandbox)");
  if (!answer->ok)
    raise<ConfigError>("the external evaluator declines the problem", command + ": " + answer->reason,
                       "see what it says");
  if (answer->protocol != external::evaluator_protocol_version)
    raise<ConfigError>("the external evaluator speaks another protocol", std::to_string(answer->protocol),
                       "this version speaks " + std::to_string(external::evaluator_protocol_version));
  if (claims(self.problem) && !answer->claims_times)
    raise<ConfigError>("the external evaluator claims no times, and the problem wants them", command,
                       "write \"time\": \"slope\", or have it describe itself with \"times\": true");
  self.described = *answer;
  CompileJob job = reference_job(self.problem, Real::kernel);
  // The name of the kernel is its own: none of these commands sees one.
  job.by = BuildCommand{
      program.command, {"kernel", ""}, program.files, program.identity, program.readable, {}, {}};
  const std::string tools = self.compiler.identity(job);
  std::string files;
  for (const std::string& word : program.command)
    if (std::filesystem::path(word).is_absolute()) files += sha256_of_file(word) + "\n";
  self.identity = "external " + answer->name + " " + answer->version +
                  (claims(self.problem) ? ", times claimed" : ", timed by slope") + ", digest " +
                  sha256(command + "\n" + files + tools).substr(0, 16) + "; " + tools;
}

ExternalEvaluator::ExternalEvaluator(ExternalEvaluator&&) noexcept = default;
ExternalEvaluator& ExternalEvaluator::operator=(ExternalEvaluator&&) noexcept = default;
ExternalEvaluator::~ExternalEvaluator() = default;

Staged<ExternalArtifact> ExternalEvaluator::build(const Candidate& candidate,
                                                  const EvaluationContext& context) {
  Staged<ExternalArtifact> staged;
  for (const Shape& shape : impl_->problem.shapes)
    if (!is_valid(impl_->problem, shape, candidate)) {
      staged.evaluation = Evaluation::failed(Verdict::rejected, "`valid` is false for shape " + shape.name);
      return staged;
    }
  if (context.stop.stop_requested()) {
    staged.evaluation = Evaluation::failed(Verdict::rejected, "stopped before it was built");
    return staged;
  }
  staged.artifact = ExternalArtifact{candidate};
  return staged;
}

Evaluation ExternalEvaluator::run(Staged<ExternalArtifact>&& staged, const EvaluationContext& context) {
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
  context.measured_on(measured_core(self.options.core).words);
  double begin = detail::monotonic_seconds();
  ExternalWorker worker(self.problem, self.options, self.inputs, self.references, candidate, &self.varied);
  auto fault = start(worker.session(), self.described);
  if (!fault) fault = build_in(worker.session(), candidate, &evaluation.features);
  evaluation.phases.build = detail::monotonic_seconds() - begin;
  evaluation.provenance = self.described.name + " " + self.described.version + " on " +
                          self.described.device + "; sandbox " + description_of(self.options.sandbox);
  if (fault) {
    fail(*fault, false);
    return evaluation;
  }
  begin = detail::monotonic_seconds();
  const double reference_before = self.references.spent_seconds();
  // What the default configuration does with the sizes of a candidate that is wrong there.
  const auto default_is_right = [&] {
    const Candidate first = self.problem.default_candidate();
    ExternalWorker other(self.problem, self.options, self.inputs, self.references, first, &self.varied,
                         false);
    return !start(other.session(), self.described) && !build_in(other.session(), first, nullptr) &&
           !other.check_varied(self.varied);
  };
  fault = worker.check();
  if (!fault) fault = check_sizes(self.varied, worker, default_is_right);
  evaluation.phases.check = detail::monotonic_seconds() - begin;
  begin = detail::monotonic_seconds();
  if (!fault)
    fault = worker.measure(evaluation.measurement, evaluation.features, context.incumbent, context.stop);
  evaluation.phases.measure = detail::monotonic_seconds() - begin;
  evaluation.phases.reference = self.references.spent_seconds() - reference_before;
  evaluation.provenance += worker.account();
  if (fault) fail(*fault, true);
  return evaluation;
}

Evaluation ExternalEvaluator::evaluate(const Candidate& candidate, const EvaluationContext& context) {
  return evaluate_in_stages(*this, candidate, context);
}

Speedup ExternalEvaluator::compare(const Candidate& candidate, const Candidate& champion,
                                   const PairOptions& pairs) {
  Impl& self = *impl_;
  const std::scoped_lock lock(self.measuring);
  const MeasuringTurn turn =
      MeasuringTurn::take({measured_core(self.options.core)}, pairs.stop, self.options.waits);
  if (!turn) return {};
  const auto ready = [&](ExternalWorker& worker, const Candidate& one) {
    auto fault = start(worker.session(), self.described);
    if (!fault) fault = build_in(worker.session(), one, nullptr);
    if (!fault) fault = worker.check();
    return fault;
  };
  detail::Pairs taken(self.problem, pairs);
  while (taken.wants_round()) {
    const double begin = detail::monotonic_seconds();
    ExternalWorker ours(self.problem, self.options, self.inputs, self.references, candidate),
        theirs(self.problem, self.options, self.inputs, self.references, champion);
    auto fault = ready(ours, candidate);
    if (!fault) fault = ready(theirs, champion);
    taken.started(detail::monotonic_seconds() - begin);
    if (!fault)
      fault = taken.take_round<detail::Fault>(
          detail::AlternatingTimer<detail::Fault, ExternalWorker, ExternalWorker>(ours, theirs));
    if (fault)
      raise<ConfigError>("a candidate to compare is not ok", fault->reason, "compare candidates that are ok");
  }
  return taken.speedup();
}

std::string ExternalEvaluator::device_id() const {
  return impl_->described.device + ", by " + impl_->described.name + " on " + impl_->machine.id();
}

std::string ExternalEvaluator::toolchain_id() const {
  return impl_->identity;
}

const Problem& ExternalEvaluator::problem() const noexcept {
  return impl_->problem;
}
const HostOptions& ExternalEvaluator::options() const noexcept {
  return impl_->options;
}

}  // namespace kernelsearch
