// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/report/render_report.hpp"
#include "kernelsearch/store/json.hpp"
#include "run_title.hpp"

namespace kernelsearch {
namespace {

using Json = nlohmann::ordered_json;

/// To seven digits, more than any measurement has, in few characters; null for what is not a number.
Json rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 7);
  double read = value;
  std::from_chars(text, end.ptr, read);
  return read;
}

Json interval_json(const Interval& interval) {
  return {rounded(interval.low), rounded(interval.high)};
}

Json speedup_json(const Speedup& speedup) {
  return {rounded(speedup.ratio), rounded(speedup.interval.low), rounded(speedup.interval.high),
          speedup.pairs};
}

template <class T>
Json optional_number(const std::optional<T>& value) {
  return value ? rounded(static_cast<double>(*value)) : Json();
}

/// Texts with a number each, so that what occurs often is written once.
class Pool {
 public:
  std::size_t of(const std::string& text) {
    const auto [found, fresh] = numbers_.try_emplace(text, texts_.size());
    if (fresh) texts_.push_back(clean_text(text));
    return found->second;
  }
  [[nodiscard]] Json json() && { return std::move(texts_); }

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
  Json texts_ = Json::array();
};

/// The trials by column: a tenth of what an object for each would take.
Json trials_json(const ReportModel& report, Pool& texts) {
  Json id = Json::array(), verdict = id, seconds = id, low = id, high = id, speedup = id, elapsed = id,
       build = id, check = id, measure = id, load = id, values = id, parents = id, kind = id, strategies = id,
       kernel = id, reason = id;
  Json tokens = id, money = id, score = id, out_of_bounds = id;
  bool scored = false, strayed = false;
  for (const ReportTrial& trial : report.trials) {
    const bool ok = trial.verdict == Verdict::ok;
    tokens.push_back(trial.tokens);
    money.push_back(rounded(trial.money));
    score.push_back(trial.score ? Json(rounded(*trial.score)) : Json());
    scored = scored || trial.score;
    out_of_bounds.push_back(trial.out_of_bounds);
    strayed = strayed || trial.out_of_bounds;
    id.push_back(number(trial.id));
    verdict.push_back(static_cast<int>(trial.verdict));
    seconds.push_back(ok ? rounded(trial.seconds) : Json());
    low.push_back(ok ? rounded(trial.interval.low) : Json());
    high.push_back(ok ? rounded(trial.interval.high) : Json());
    speedup.push_back(trial.speedup ? speedup_json(*trial.speedup) : Json());
    elapsed.push_back(rounded(trial.elapsed));
    build.push_back(rounded(trial.phases.build));
    check.push_back(rounded(trial.phases.check));
    measure.push_back(rounded(trial.phases.measure));
    load.push_back(rounded(trial.load));
    values.push_back(trial.values);
    Json its = Json::array();
    for (const TrialId parent : trial.parents) its.push_back(number(parent));
    parents.push_back(std::move(its));
    kind.push_back(texts.of(trial.kind));
    its = Json::array();
    for (const std::string& strategy : trial.strategies) its.push_back(texts.of(strategy));
    strategies.push_back(std::move(its));
    kernel.push_back(texts.of(trial.kernel));
    reason.push_back(texts.of(trial.reason));
  }
  Json columns{
      {"id", std::move(id)},           {"verdict", std::move(verdict)}, {"seconds", std::move(seconds)},
      {"low", std::move(low)},         {"high", std::move(high)},       {"speedup", std::move(speedup)},
      {"elapsed", std::move(elapsed)}, {"build", std::move(build)},     {"check", std::move(check)},
      {"measure", std::move(measure)}, {"load", std::move(load)},       {"values", std::move(values)},
      {"parents", std::move(parents)}, {"kind", std::move(kind)},       {"strategies", std::move(strategies)},
      {"kernel", std::move(kernel)},   {"reason", std::move(reason)}};
  if (scored) columns["score"] = std::move(score);
  if (strayed) columns["out_of_bounds"] = std::move(out_of_bounds);
  // Most runs ask no models: nothing is written of what they do not have.
  if (!report.trials.empty() && report.trials.back().tokens > 0) columns["tokens"] = std::move(tokens);
  if (!report.trials.empty() && report.trials.back().money > 0) columns["money"] = std::move(money);
  return columns;
}

/// The bars of the timeline by column.
Json spans_json(const ReportModel& report, Pool& texts) {
  Json work = Json::array(), place = work, trial = work, began = work, ended = work;
  for (const RunSpan& span : report.spans) {
    work.push_back(texts.of(span.work));
    place.push_back(texts.of(span.place));
    trial.push_back(span.trial ? Json(number(*span.trial)) : Json());
    began.push_back(rounded(span.began));
    ended.push_back(rounded(span.ended));
  }
  return {{"work", std::move(work)},
          {"place", std::move(place)},
          {"trial", std::move(trial)},
          {"began", std::move(began)},
          {"ended", std::move(ended)}};
}

Json detail_json(const ReportDetail& detail) {
  Json shapes = Json::array();
  for (const ShapeMeasurement& shape : detail.shapes)
    shapes.push_back({{"shape", clean_text(shape.shape)},
                      {"median", rounded(shape.median)},
                      {"interval", interval_json(shape.interval)},
                      {"spread", rounded(shape.spread)},
                      {"ended", to_string(shape.ended)},
                      {"speedup", shape.speedup ? speedup_json(*shape.speedup) : Json()}});
  Json features = Json::object();
  for (const auto& [name, value] : detail.features) features[clean_text(name)] = rounded(value);
  Json out{{"reason", clean_text(detail.reason)},
           {"shapes", std::move(shapes)},
           {"features", std::move(features)}};
  if (!detail.provenance.empty()) out["provenance"] = clean_text(detail.provenance);
  if (!detail.rationale.empty()) out["rationale"] = clean_text(detail.rationale);
  if (detail.inner_trials != 0) out["inner"] = detail.inner_trials;
  return out;
}

Json exchange_json(const ReportExchange& exchange) {
  Json question = Json::array(), trials = Json::array();
  for (const auto& [speaker, text] : exchange.question)
    question.push_back({clean_text(speaker), clean_text(text)});
  for (const TrialId trial : exchange.trials) trials.push_back(number(trial));
  return {{"role", clean_text(exchange.role)},        {"model", clean_text(exchange.model)},
          {"question", std::move(question)},          {"reply", clean_text(exchange.reply)},
          {"error", clean_text(exchange.error)},      {"input", exchange.input_tokens},
          {"output", exchange.output_tokens},         {"seconds", rounded(exchange.seconds)},
          {"money", optional_number(exchange.money)}, {"trials", std::move(trials)}};
}

Json peaks_json(const DevicePeaks& peaks) {
  Json levels = Json::array();
  for (const MemoryLevel& level : peaks.levels)
    if (level.bandwidth) levels.push_back({clean_text(level.name), rounded(*level.bandwidth)});
  return {{"device", clean_text(peaks.device)}, {"source", clean_text(peaks.source)},
          {"f16", optional_number(peaks.f16)},  {"f32", optional_number(peaks.f32)},
          {"f64", optional_number(peaks.f64)},  {"levels", std::move(levels)}};
}

Json names_json(const std::vector<std::string>& names) {
  Json out = Json::array();
  for (const std::string& name : names) out.push_back(clean_text(name));
  return out;
}

Json checkpoints_json(const std::vector<ReportCheckpoint>& checkpoints) {
  Json out = Json::array();
  for (const ReportCheckpoint& one : checkpoints)
    out.push_back({{"name", clean_text(one.name)},
                   {"parent", clean_text(one.parent)},
                   {"trial", number(one.trial)},
                   {"transformation", clean_text(one.transformation)},
                   {"note", clean_text(one.note)},
                   {"closed", one.closed},
                   {"current", one.current},
                   {"tips", names_json(one.tip_of)}});
  return out;
}

Json memory_json(const std::vector<ReportMemory>& memory) {
  Json out = Json::array();
  for (const ReportMemory& one : memory) {
    Json effect;
    if (one.effect)
      effect = {rounded(one.effect->ratio), rounded(one.effect->interval.low),
                rounded(one.effect->interval.high)};
    out.push_back({{"number", one.number},
                   {"strategies", names_json(one.strategies)},
                   {"device", clean_text(one.device)},
                   {"limiter", clean_text(one.limiter)},
                   {"at", clean_text(one.at)},
                   {"verdict", to_string(one.verdict)},
                   {"effect", std::move(effect)}});
  }
  return out;
}

/// By cause, in the words of the summary.
Json times_json(const RunTimes& times) {
  return {{"starting", rounded(times.starting)},
          {"waiting for models", rounded(times.model)},
          {"waiting for builds", rounded(times.building)},
          {"reference", rounded(times.reference)},
          {"measuring", rounded(times.measuring)},
          {"finalists", rounded(times.finalists)},
          {"other", rounded(times.other)}};
}

Json run_json(const RunRow& run) {
  Json out{{"id", number(run.id)},
           {"title", run_title(run)},
           {"name", clean_text(run.info.name)},
           {"problem", clean_text(run.info.problem)},
           {"policy", clean_text(run.info.policy)},
           {"generator", clean_text(run.info.generator)},
           {"evaluator", clean_text(run.info.evaluator)},
           {"seed", std::to_string(run.info.seed)},
           {"device", clean_text(run.info.device)},
           {"toolchain", clean_text(run.info.toolchain)},
           {"version", clean_text(run.version)},
           {"started", clean_text(run.started)},
           {"finished", run.finished ? Json(clean_text(*run.finished)) : Json()},
           {"reason", clean_text(run.reason)},
           {"seconds", rounded(run.seconds)},
           {"trials", run.trials}};
  const auto options = nlohmann::json::parse(run.info.options, nullptr, false);
  if (options.is_object())
    if (const auto budget = options.find("budget"); budget != options.end() && budget->is_string())
      out["budget"] = clean_text(budget->get<std::string>());
  return out;
}

Json finalists_json(const FinalistComparison& comparison) {
  Json pairs = Json::array();
  for (const FinalistPair& pair : comparison.pairs)
    pairs.push_back({{"candidate", number(pair.candidate)},
                     {"opponent", pair.opponent ? Json(number(*pair.opponent)) : Json()},
                     {"speedup", speedup_json(pair.speedup)}});
  return {{"winner", number(comparison.winner)},
          {"default", comparison.winner_is_default},
          {"pairs", std::move(pairs)}};
}

/// The objectives and the front; null where the run went by the time alone.
Json front_json(const ParetoFront& front) {
  if (front.objectives.only_time()) return nullptr;
  Json objectives = Json::array(), trials = Json::array();
  for (const Objective& objective : front.objectives.rows()) {
    objectives.push_back({{"name", clean_text(objective.name)},
                          {"formula", clean_text(objective.value.text())},
                          {"better", objective.maximize ? "higher" : "lower"}});
    if (front.is_unchecked(objective)) objectives.back()["unchecked"] = true;
  }
  for (const FrontTrial& trial : front.trials) {
    Json values = Json::array();
    for (const double value : trial.values) values.push_back(rounded(value));
    trials.push_back({{"trial", number(trial.id)}, {"values", std::move(values)}});
  }
  return {{"objectives", std::move(objectives)}, {"trials", std::move(trials)}};
}

Json report_object(const ReportModel& report) {
  Pool texts;
  Json tunables = Json::array(), failures = tunables, strategies = tunables, exchanges = tunables;
  for (const ReportTunable& tunable : report.tunables) {
    Json values = Json::array();
    for (const std::string& value : tunable.values) values.push_back(clean_text(value));
    tunables.push_back({{"name", clean_text(tunable.name)},
                        {"values", std::move(values)},
                        {"importance", optional_number(tunable.importance)}});
  }
  for (const FailureGroup& group : report.failures)
    failures.push_back({{"verdict", group.shown()},
                        {"reason", clean_text(group.reason)},
                        {"count", group.count},
                        {"trial", number(group.trial)}});
  for (const StrategyEffect& effect : report.strategies)
    strategies.push_back({{"name", clean_text(effect.name)},
                          {"tries", effect.tries},
                          {"right", effect.right},
                          {"faster", effect.faster},
                          {"median", optional_number(effect.median)},
                          {"best", optional_number(effect.best)}});
  for (const ReportExchange& exchange : report.exchanges) exchanges.push_back(exchange_json(exchange));
  Json trials = trials_json(report, texts);
  Json spans = spans_json(report, texts);
  Json details = Json::object(), kernels = Json::object();
  for (const ReportDetail& detail : report.details)
    details[std::to_string(number(detail.id))] = detail_json(detail);
  for (const StoredKernel& kernel : report.kernels)
    kernels[std::to_string(texts.of(kernel.digest))] = {clean_text(kernel.device), clean_text(kernel.host),
                                                        clean_text(kernel.macros)};
  return {{"run", run_json(report.run)},
          {"summary", clean_text(report.summary)},
          {"no_improvement", clean_text(report.no_improvement)},
          {"totals",
           {{"verdicts", report.totals.verdicts},
            {"inner", report.totals.inner_trials},
            {"loaded", report.totals.loaded},
            {"build", rounded(report.totals.phases.build)},
            {"check", rounded(report.totals.phases.check)},
            {"measure", rounded(report.totals.phases.measure)}}},
          {"winner", report.winner ? Json(number(*report.winner)) : Json()},
          {"finalists", report.finalists ? finalists_json(*report.finalists) : Json()},
          {"front", front_json(report.front)},
          {"failures", std::move(failures)},
          {"tunables", std::move(tunables)},
          {"explained", optional_number(report.explained)},
          {"strategies", std::move(strategies)},
          {"trials", std::move(trials)},
          {"details", std::move(details)},
          {"kernels", std::move(kernels)},
          {"exchanges", std::move(exchanges)},
          {"peaks", report.peaks ? peaks_json(*report.peaks) : Json()},
          {"checkpoints", checkpoints_json(report.checkpoints)},
          {"memory", memory_json(report.memory)},
          {"spans", std::move(spans)},
          {"times", report.times ? times_json(*report.times) : Json()},
          {"texts", std::move(texts).json()}};
}

/// With what would end a script element, or a line of JavaScript, written as escapes, which mean the same in
/// JSON: these characters occur in its strings alone.
std::string inside_script(const std::string& json) {
  std::string out;
  out.reserve(json.size() + json.size() / 16);
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '<')
      out += "\\u003c";
    else if (c == '>')
      out += "\\u003e";
    else if (c == '&')
      out += "\\u0026";
    else if (json.compare(i, 2, "\xe2\x80") == 0 && i + 2 < json.size() &&
             (json[i + 2] == '\xa8' || json[i + 2] == '\xa9')) {
      out += json[i + 2] == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string report_json(std::span<const ReportModel> reports) {
  Json verdicts = Json::array(), runs = Json::array();
  for (int v = 0; v < verdict_count; ++v) verdicts.push_back(to_string(static_cast<Verdict>(v)));
  for (const ReportModel& report : reports) runs.push_back(report_object(report));
  const Json all{{"verdicts", std::move(verdicts)}, {"runs", std::move(runs)}};
  return inside_script(all.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace kernelsearch
