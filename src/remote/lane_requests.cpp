// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What is asked of a worker, and what its answers are worth.
#include <chrono>
#include <exception>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/store/json.hpp"
#include "remote/remote_lanes.hpp"

namespace kernelsearch::remote {
namespace {

using nlohmann::json;

/// Whether somebody who kills processes may have caused it, compilers or candidates: what a compiler refuses
/// it calls an error, and what a candidate does itself has the name of its signal. Too many do no harm.
bool looks_killed(const Evaluation& evaluation) {
  const auto says = [&](const char* word) { return evaluation.reason.find(word) != std::string::npos; };
  if (evaluation.verdict == Verdict::build_failed)
    return !says("error") || says("ignal") || says("Killed") || says("Terminated");
  if (evaluation.verdict == Verdict::crashed)
    return !says("SIGSEGV") && !says("SIGBUS") && !says("SIGILL") && !says("SIGFPE") && !says("SIGABRT");
  return evaluation.verdict == Verdict::launch_failed;
}

/// Whether an answer may be due to somebody who kills processes, of whom the worker is one. One that cannot
/// be read is for others to see.
bool is_doubtful(const LaneAnswer& answer) {
  if (answer.message.value("type", "") == "error") return true;
  try {
    const auto evaluation = answer.message.find("evaluation");
    return evaluation != answer.message.end() && evaluation->value("verdict", "ok") != "ok" &&
           looks_killed(evaluation->get<Evaluation>());
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

bool RemoteLanes::outlives(const Use& use, const std::stop_token& stop) {
  {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, stop, std::chrono::duration<double>(options.settle_seconds),
                     [&] { return use.slot->lane != use.lane; });
    if (use.slot->lane != use.lane) return false;
  }
  return use.lane->ask(json{{"type", "ping"}}, {}, stop).has_value();
}

std::optional<LaneAnswer> RemoteLanes::ask(const Use& use, const std::function<json(bool)>& make,
                                           const std::string* code, bool has_code,
                                           const std::stop_token& stop) {
  std::optional<LaneAnswer> answer;
  bool all = false;
  for (int attempt = 0; attempt < 3; ++attempt) {
    const bool with_code = code != nullptr && (all || !has_code);
    answer = use.lane->ask(make(all), with_code ? std::string_view(*code) : std::string_view(), stop);
    if (!answer || answer->message.at("type") != "missing") break;
    all = true;
  }
  if (answer && is_doubtful(*answer) && !outlives(use, stop)) answer.reset();
  if (!answer) {
    // It is used no more, although its keeper may not know yet.
    const std::lock_guard lock(mutex);
    if (use.slot->worker == use.worker && use.slot->state == State::ready) use.slot->state = State::waiting;
    return std::nullopt;
  }
  const std::string type = answer->message.value("type", "");
  if (type == "error") {
    const std::string what = answer->message.value("what", "");
    if (answer->message.value("kind", "") == "config") throw ConfigError(what);
    set_aside(*use.slot, use.worker, "its device is gone: " + what);
    return std::nullopt;
  }
  if (type != "result") {
    set_aside(*use.slot, use.worker, "it answered with what is not a result: " + type,
              LaneEnd::Kind::garbage);
    return std::nullopt;
  }
  return answer;
}

std::optional<Evaluation> RemoteLanes::judge_on(const Use& use, const Candidate& candidate,
                                                const EvaluationContext& context) {
  const auto answer = ask(
      use,
      [&](bool all) {
        return json{{"type", "evaluate"},
                    {"candidate", use.lane->candidate(candidate, texts, all)},
                    {"context", context_json(context)}};
      },
      nullptr, true, context.stop);
  if (!answer) return std::nullopt;
  return part<Evaluation>(use, *answer, "evaluation");
}

bool RemoteLanes::renewed(const Use& use, const std::stop_token& stop) {
  {
    const std::lock_guard lock(mutex);
    if (use.slot->renewed == renewals) return true;
  }
  const auto answer = ask(
      use,
      [](bool) {
        return json{{"type", "renew"}};
      },
      nullptr, true, stop);
  const std::lock_guard lock(mutex);
  if (answer && use.slot->worker == use.worker) use.slot->renewed = renewals;
  return answer.has_value();
}

}  // namespace kernelsearch::remote
