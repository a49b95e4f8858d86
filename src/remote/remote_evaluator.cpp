// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/remote/remote_evaluator.hpp"

#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/store/json.hpp"
#include "remote/remote_lanes.hpp"

namespace kernelsearch {
namespace {

using nlohmann::json;
using remote::LaneAnswer;
using remote::LaneEnd;

/// Failures that a broken device may cause; what a compiler or a predicate refuses it cannot.
bool may_be_the_device(Verdict verdict) {
  return verdict == Verdict::wrong_result || verdict == Verdict::crashed || verdict == Verdict::timed_out;
}

}  // namespace

struct RemoteEvaluator::Impl : remote::RemoteLanes {
  using RemoteLanes::RemoteLanes;
};

RemoteEvaluator::RemoteEvaluator(Problem problem, RemoteOptions options)
    : impl_(std::make_shared<Impl>(std::move(problem), std::move(options))) {}

Staged<RemoteArtifact> RemoteEvaluator::build(const Candidate& candidate, const EvaluationContext& context) {
  Impl& lanes = *impl_;
  std::size_t losses = 0;
  while (true) {
    const Impl::Use use = lanes.take_builder(context.stop);
    if (use.slot == nullptr)
      return {Evaluation::failed(Verdict::rejected, "stopped before it was built"), std::nullopt};
    std::optional<LaneAnswer> answer;
    {
      Impl::Lease lease{lanes, use, false};
      answer = lanes.ask(
          use,
          [&](bool all) {
            return json{{"type", "build"},
                        {"candidate", use.lane->candidate(candidate, lanes.texts, all)},
                        {"context", remote::context_json(context)}};
          },
          nullptr, true, context.stop);
      lease.answered = answer.has_value();
    }
    if (answer) {
      auto evaluation = lanes.part<Evaluation>(use, *answer, "evaluation");
      if (!evaluation) continue;
      Staged<RemoteArtifact> staged{*std::move(evaluation), std::nullopt};
      if (!answer->message.value("built", false)) return staged;
      RemoteArtifact artifact{candidate, "", nullptr, use.worker};
      if (answer->message.contains("artifact")) {
        const auto digest = lanes.part<std::string>(use, *answer, "artifact");
        auto functions = lanes.part<std::vector<std::string>>(use, *answer, "functions");
        const auto library = lanes.part<bool>(use, *answer, "library");
        if (!digest || !functions || !library) continue;
        std::vector<BuiltLaunch> launches;
        if (answer->message.contains("launches")) {
          auto read = remote::launches_from(answer->message.at("launches"), functions->size());
          if (!read) {
            lanes.set_aside(*use.slot, use.worker, "it says of launches what makes no sense",
                            LaneEnd::Kind::garbage);
            continue;
          }
          launches = *std::move(read);
        }
        if (sha256(answer->payload) != *digest) {
          lanes.set_aside(*use.slot, use.worker,
                          "built code was damaged on its way: it is not what its digest says",
                          LaneEnd::Kind::garbage);
          continue;
        }
        artifact.digest = *digest;
        artifact.portable = std::make_shared<const PortableArtifact>(PortableArtifact{
            std::move(answer->payload), *std::move(functions), *library, std::move(launches)});
      }
      staged.artifact = std::move(artifact);
      return staged;
    }
    if (++losses >= lanes.options.most_losses)
      return {Evaluation::failed(Verdict::build_failed,
                                 std::to_string(losses) + " workers were lost while they built it"),
              std::nullopt};
  }
}

Evaluation RemoteEvaluator::run(Staged<RemoteArtifact>&& staged, const EvaluationContext& context) {
  Impl& lanes = *impl_;
  const RemoteArtifact& artifact = *staged.artifact;
  std::size_t losses = 0;
  while (true) {
    const auto place = context.in_search() ? Impl::Place::any : Impl::Place::home;
    const Impl::Use use = lanes.take(artifact.worker, place, context.stop);
    if (use.slot == nullptr) return Evaluation::failed(Verdict::rejected, "stopped before it was measured");
    Impl::Lease lease{lanes, use, true};
    std::optional<Evaluation> evaluation;
    double seconds = 0;
    if (use.calibrated || lanes.same_as_first(use, context.stop)) {
      context.measured_on(lanes.options.lanes[use.slot->index].name);
      const double begun = detail::monotonic_seconds();
      if (!artifact.portable) {
        evaluation = lanes.judge_on(use, artifact.candidate, context);
      } else {
        const auto answer = lanes.ask(
            use,
            [&](bool all) {
              json run{{"type", "run"},
                       {"candidate", use.lane->candidate(artifact.candidate, lanes.texts, all)},
                       {"context", remote::context_json(context)},
                       {"evaluation", staged.evaluation},
                       {"artifact", artifact.digest},
                       {"functions", artifact.portable->functions},
                       {"library", artifact.portable->library}};
              if (!artifact.portable->launches.empty())
                run["launches"] = remote::launches_json(artifact.portable->launches);
              return run;
            },
            &artifact.portable->code, use.worker == artifact.worker, context.stop);
        if (answer) evaluation = lanes.part<Evaluation>(use, *answer, "evaluation");
      }
      seconds = detail::monotonic_seconds() - begun;
      if (evaluation && may_be_the_device(evaluation->verdict) && !context.stop.stop_requested() &&
          lanes.measurers > 1 && lanes.is_suspicious(*use.slot) && !lanes.same_as_first(use, context.stop))
        evaluation.reset();  // by a device that fails on what is right elsewhere
    }
    lease.answered = evaluation.has_value();
    if (evaluation) {
      lanes.took(use, seconds, may_be_the_device(evaluation->verdict));
      {
        const std::lock_guard lock(lanes.mutex);
        evaluation->provenance += "; " + lanes.name_of(*use.slot) + " on " + use.slot->facts.host;
      }
      return *std::move(evaluation);
    }
    if (context.stop.stop_requested())
      return Evaluation::failed(Verdict::rejected, "stopped while it was measured");
    if (++losses >= lanes.options.most_losses)
      return Evaluation::failed(Verdict::crashed,
                                std::to_string(losses) + " workers were lost while they measured it");
  }
}

Evaluation RemoteEvaluator::evaluate(const Candidate& candidate, const EvaluationContext& context) {
  return evaluate_in_stages(*this, candidate, context);
}

std::optional<Speedup> RemoteEvaluator::compare(const Candidate& candidate, const Candidate& champion,
                                                const PairOptions& pairs) {
  Impl& lanes = *impl_;
  for (std::size_t losses = 0; losses < lanes.options.most_losses;) {
    const Impl::Use use = lanes.take(0, Impl::Place::home_first, pairs.stop);
    if (use.slot == nullptr) return Speedup{};
    Impl::Lease lease{lanes, use, true};
    std::optional<LaneAnswer> answer;
    if ((use.calibrated || lanes.same_as_first(use, pairs.stop)) && lanes.renewed(use, pairs.stop))
      answer = lanes.ask(
          use,
          [&](bool all) {
            return json{{"type", "compare"},
                        {"candidate", use.lane->candidate(candidate, lanes.texts, all)},
                        {"champion", use.lane->candidate(champion, lanes.texts, all)},
                        {"pairs", remote::pairs_json(pairs)}};
          },
          nullptr, true, pairs.stop);
    if (answer && !answer->message.contains("speedup")) return std::nullopt;
    if (answer)
      if (const auto speedup = lanes.part<Speedup>(use, *answer, "speedup")) return speedup;
    lease.answered = false;
    ++losses;
  }
  detail::raise<ConfigError>("workers were lost while they compared candidates",
                             std::to_string(lanes.options.most_losses), "compare candidates that are ok");
}

void RemoteEvaluator::renew() {
  Impl& lanes = *impl_;
  {
    const std::lock_guard lock(lanes.mutex);
    ++lanes.renewals;
    if (!lanes.home || lanes.slots[*lanes.home]->state != Impl::State::ready) lanes.home = lanes.ready_slot();
  }
  for (std::size_t losses = 0; losses < lanes.options.most_losses; ++losses) {
    const Impl::Use use = lanes.take(0, Impl::Place::home, lanes.options.stop);
    if (use.slot == nullptr) return;
    Impl::Lease lease{lanes, use, true};
    lease.answered = lanes.renewed(use, lanes.options.stop);
    if (lease.answered) return;
  }
}

std::size_t RemoteEvaluator::lanes() const noexcept {
  return impl_->measurers;
}
std::size_t RemoteEvaluator::build_places() const {
  const std::lock_guard lock(impl_->mutex);
  std::size_t places = 0;
  for (const auto& slot : impl_->slots)
    places += slot->state == Impl::State::ready ? slot->facts.jobs : impl_->first ? impl_->first->jobs : 1;
  return places;
}
const Problem& RemoteEvaluator::problem() const noexcept {
  return impl_->problem;
}
std::string RemoteEvaluator::device_id() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->first->device_id;
}
std::string RemoteEvaluator::device_name() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->first->device_name;
}
std::string RemoteEvaluator::toolchain_id() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->first->toolchain_id;
}
std::string RemoteEvaluator::sandbox() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->first->sandbox;
}

std::vector<LaneReport> RemoteEvaluator::reports() const {
  const std::lock_guard lock(impl_->mutex);
  std::vector<LaneReport> reports;
  for (const auto& slot : impl_->slots)
    reports.push_back({impl_->name_of(*slot), slot->facts.host,
                       slot->state == Impl::State::ready   ? "ready"
                       : slot->state == Impl::State::aside ? "set aside"
                                                           : "starting",
                       slot->reason, slot->measured, slot->built, slot->lost});
  return reports;
}

std::string lane_remarks(const std::vector<LaneReport>& reports) {
  std::string text;
  for (const LaneReport& one : reports) {
    if (one.state != "set aside" && one.lost == 0) continue;
    text += (text.empty() ? "" : "; ") + one.name;
    if (one.state == "set aside")
      text += " was set aside: " + one.reason;
    else
      text +=
          " lost " + std::to_string(one.lost) + (one.lost == 1 ? " worker" : " workers") + ": " + one.reason;
  }
  return text;
}

}  // namespace kernelsearch
