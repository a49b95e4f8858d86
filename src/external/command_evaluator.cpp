// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/external/command_evaluator.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "frozen_program.hpp"
#include "judge/compile.hpp"
#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/evaluator/sampling.hpp"
#include "kernelsearch/judge/machine.hpp"
#include "kernelsearch/judge/measuring_lock.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "process/run_command.hpp"
#include "process/scratch_folder.hpp"

namespace kernelsearch {
namespace {

/// The runs of one judgement; the command that times repeats calls itself.
constexpr std::size_t task_repeats = 3;
/// In turns with another one, at least: an interval of fewer says nothing.
constexpr std::size_t task_pairs = 3;
constexpr std::size_t longest_task_reply = std::size_t{4} << 20;
/// Beyond the limits of its commands, for copying files.
constexpr double task_slack_seconds = 60;

using CaseTimes = std::map<std::string, double>;  ///< milliseconds by name

/// The values of tunables as options of a compiler, which commands find in KERNELSEARCH_DEFINES.
std::string defines_of(const Candidate& candidate) {
  const Space& space = candidate.kernel->space;
  std::string text;
  for (std::size_t i = 0; i < space.size() && candidate.config.indices.size() == space.size(); ++i) {
    text += (text.empty() ? "-D" : " -D") + space.tunable(i).name + "=";
    text += to_string(space.value(candidate.config, i));
  }
  return text;
}

/// What the program said of an answer.
struct TaskReply {
  std::optional<detail::Fault> fault;
  std::string stage;
  std::vector<CaseTimes> runs;
};

TaskReply read_task_reply(const std::string& line) {
  const auto unreadable = [](const char* what) {
    return TaskReply{
        detail::Fault{Verdict::crashed, std::string("the commands of the task ") + what}, "build", {}};
  };
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("stage") || !json["stage"].is_string())
    return unreadable("ended without a result");
  TaskReply reply;
  reply.stage = json["stage"].get<std::string>();
  if (reply.stage == "done") {
    if (!json.contains("runs") || !json["runs"].is_array() || json["runs"].empty())
      return unreadable("have no times");
    for (const nlohmann::json& run : json["runs"]) {
      CaseTimes cases;
      if (run.is_object())
        for (const auto& [name, milliseconds] : run.items())
          if (milliseconds.is_number() && milliseconds.get<double>() > 0 &&
              std::isfinite(milliseconds.get<double>()))
            cases[clean_text(name)] = milliseconds.get<double>();
      if (cases.empty()) return unreadable("have no times");
      reply.runs.push_back(std::move(cases));
    }
    return reply;
  }
  const bool late = json.value("late", false);
  const Verdict verdict = late                     ? Verdict::timed_out
                          : reply.stage == "build" ? Verdict::build_failed
                          : reply.stage == "check" ? Verdict::wrong_result
                                                   : Verdict::launch_failed;
  const auto reason = json.find("reason");
  reply.fault = detail::Fault{
      verdict, "the command that " +
                   std::string(reply.stage == "build"   ? "builds"
                               : reply.stage == "check" ? "checks"
                                                        : "times") +
                   ": " +
                   (reason != json.end() && reason->is_string() ? reason->get<std::string>() : "failed")};
  return reply;
}

double geometric_mean(const CaseTimes& cases) {
  double sum = 0;
  for (const auto& [name, milliseconds] : cases) sum += std::log(milliseconds * 1e-3);
  return std::exp(sum / static_cast<double>(cases.size()));
}

}  // namespace

struct CommandEvaluator::Impl {
  Impl(Problem given, HostOptions chosen)
      : problem(std::move(given)), options(std::move(chosen)), machine(host_machine()) {
    if (!has_command_reference(problem))
      detail::raise<ConfigError>("the problem has no commands that judge it", problem.name,
                                 "choose the evaluator of its backend");
    task = command_task_of(problem);
    options.sandbox = resolved(options.sandbox);
    if (options.core < 0) options.core = machine.cores.back();
    std::string text = problem.reference.source;
    for (const SourceFile& file : problem.external->files)
      text += file.path + "\n" + sha256(file.text) + "\n";
    identity = "commands of " + (task.type.empty() ? std::string("a task") : clean_text(task.type)) +
               ", times claimed, digest " + sha256(text).substr(0, 16);
  }

  TaskReply judged(const Candidate& candidate, std::size_t repeats, const std::stop_token& stop) const {
    ExternalProgram program = *problem.external;
    program.files.push_back({"task.json", problem.reference.source});
    program.files.push_back({"source", candidate.kernel->regions.device});
    program.files.push_back({"defines", defines_of(candidate)});
    const detail::ScratchFolder scratch(true);
    detail::Launch launch =
        external::program_launch(program, options, scratch.path(), {{}, {std::to_string(repeats)}, {}});
    const double seconds = task.build_seconds * static_cast<double>(task.build.size()) +
                           task.check_seconds * static_cast<double>(task.check.size()) +
                           task.time_seconds * static_cast<double>(task.time.size() * repeats) +
                           task_slack_seconds;
    const detail::Finished finished =
        detail::run_command(std::move(launch), seconds, longest_task_reply, stop);
    if (stop.stop_requested())
      return {detail::Fault{Verdict::rejected, "stopped before it was measured"}, "build", {}};
    if (finished.timed_out)
      return {detail::Fault{Verdict::timed_out, "its commands did not end"}, "build", {}};
    if (finished.output.empty())
      return {detail::Fault{Verdict::crashed, "its commands could not be run: it " +
                                                  detail::end_text(finished.status) + "; " +
                                                  finished.errors.substr(0, 500)},
              "build",
              {}};
    return read_task_reply(finished.output);
  }

  /// Times two answers in turns; nothing where one of them fails, with its fault.
  Speedup pair(const Candidate& ours, const Candidate& theirs, std::size_t count, const std::stop_token& stop,
               std::optional<detail::Fault>& our_fault, std::optional<detail::Fault>& their_fault) const {
    PairedTimes pairs;
    for (std::size_t i = 0; i < count && !stop.stop_requested(); ++i) {
      TaskReply one, other;
      const auto ask_ours = [&] { one = judged(ours, 1, stop); };
      if (i % 2 == 0) ask_ours();
      other = judged(theirs, 1, stop);
      if (i % 2 != 0) ask_ours();
      if (stop.stop_requested()) return {};
      our_fault = one.fault;
      their_fault = other.fault;
      if (our_fault || their_fault) return {};
      pairs.candidate.push_back(geometric_mean(one.runs.front()));
      pairs.reference.push_back(geometric_mean(other.runs.front()));
    }
    return pairs.candidate.empty() ? Speedup() : paired_speedup(pairs);
  }

  Problem problem;
  HostOptions options;
  HostMachine machine;
  CommandTask task;
  std::string identity;
  std::mutex measuring;
};

CommandEvaluator::CommandEvaluator(Problem problem, HostOptions options)
    : impl_(std::make_unique<Impl>(std::move(problem), std::move(options))) {}
CommandEvaluator::CommandEvaluator(CommandEvaluator&&) noexcept = default;
CommandEvaluator& CommandEvaluator::operator=(CommandEvaluator&&) noexcept = default;
CommandEvaluator::~CommandEvaluator() = default;

Staged<ExternalArtifact> CommandEvaluator::build(const Candidate& candidate,
                                                 const EvaluationContext& context) {
  Staged<ExternalArtifact> staged;
  if (context.stop.stop_requested())
    staged.evaluation = Evaluation::failed(Verdict::rejected, "stopped before it was built");
  else
    staged.artifact = ExternalArtifact{candidate};
  return staged;
}

Evaluation CommandEvaluator::evaluate(const Candidate& candidate, const EvaluationContext& context) {
  return evaluate_in_stages(*this, candidate, context);
}

Evaluation CommandEvaluator::run(Staged<ExternalArtifact>&& staged, const EvaluationContext& context) {
  Impl& self = *impl_;
  const std::scoped_lock lock(self.measuring);
  const MeasuringTurn turn =
      MeasuringTurn::take({measured_core(self.options.core)}, context.stop, self.options.waits);
  if (!turn) return Evaluation::failed(Verdict::rejected, "stopped before it was measured");
  context.measured_on(measured_core(self.options.core).words);
  const Candidate& candidate = staged.artifact->candidate;
  Evaluation evaluation = std::move(staged.evaluation);
  evaluation.provenance = "judged by the task's own commands; sandbox " +
                          description_of(self.options.sandbox) +
                          "; trusted: what they call right, and the times that they report";
  const double begin = detail::monotonic_seconds();
  TaskReply reply = self.judged(candidate, task_repeats, context.stop);
  evaluation.phases.measure = detail::monotonic_seconds() - begin;
  const auto fail = [&](const detail::Fault& fault, bool built) { detail::fail(evaluation, fault, built); };
  if (reply.fault) {
    fail(*reply.fault, reply.stage != "build");
    return evaluation;
  }
  evaluation.verdict = Verdict::ok;
  ShapeMeasurement shape;
  shape.shape = self.problem.shapes.front().name;
  std::map<std::string, std::vector<double>> cases;
  for (const CaseTimes& run : reply.runs) {
    shape.samples.push_back(geometric_mean(run));
    for (const auto& [name, milliseconds] : run) cases[name].push_back(milliseconds);
  }
  summarize(shape);
  evaluation.measurement.shapes.push_back(std::move(shape));
  combine_shapes(evaluation.measurement, Combine::geometric_mean);
  evaluation.features.set("task.cases", static_cast<double>(cases.size()));
  for (const auto& [name, milliseconds] : cases)
    evaluation.features.set("task.ms." + name, median(milliseconds));
  const Pairing when = self.options.pairs.when;
  const bool improved = !context.incumbent || evaluation.measurement.seconds < *context.incumbent;
  if (when == Pairing::always || (when == Pairing::improved && improved)) {
    std::optional<detail::Fault> ours, theirs;
    const Speedup speedup =
        self.pair(candidate, self.problem.default_candidate(), task_pairs, context.stop, ours, theirs);
    if (speedup.pairs > 0) evaluation.measurement.speedup = speedup;
    if (theirs && !ours)
      evaluation.provenance +=
          clean_text("; not compared with the task's own text, which fails: " + theirs->reason);
    if (ours) fail(*ours, true);
  }
  return evaluation;
}

Speedup CommandEvaluator::compare(const Candidate& candidate, const Candidate& champion,
                                  const PairOptions& pairs) {
  Impl& self = *impl_;
  const std::scoped_lock lock(self.measuring);
  const MeasuringTurn turn =
      MeasuringTurn::take({measured_core(self.options.core)}, pairs.stop, self.options.waits);
  if (!turn) return {};
  std::optional<detail::Fault> ours, theirs;
  const Speedup speedup =
      self.pair(candidate, champion, std::min(std::max(pairs.min_pairs, task_pairs), 2 * task_pairs),
                pairs.stop, ours, theirs);
  if (const auto& fault = ours ? ours : theirs)
    detail::raise<ConfigError>("a candidate to compare is not ok", fault->reason,
                               "compare candidates that are ok");
  return speedup;
}

std::string CommandEvaluator::device_id() const {
  return "what the task's commands use, on " + impl_->machine.id();
}
std::string CommandEvaluator::toolchain_id() const {
  return impl_->identity;
}
const Problem& CommandEvaluator::problem() const noexcept {
  return impl_->problem;
}

}  // namespace kernelsearch
