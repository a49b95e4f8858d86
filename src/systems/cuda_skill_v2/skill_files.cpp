// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "skill_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/agents/skill_texts.hpp"

namespace kernelsearch::detail {
namespace {

using Json = SkillRecord::Json;

Json known(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}
Json ms(double seconds) {
  return std::isfinite(seconds) ? Json(1e3 * seconds) : Json(nullptr);
}
Json gaps_json(const RooflineGaps& gaps) {
  return {{"delta_compute", known(gaps[Axis::compute])},
          {"delta_memory", known(gaps[Axis::memory])},
          {"delta_latency", known(gaps[Axis::latency])}};
}
Json budget_json(const AxisBudget& budget) {
  return {{"compute", budget[Axis::compute]},
          {"memory", budget[Axis::memory]},
          {"latency", budget[Axis::latency]}};
}
Json effect_json(const Attribution& a) {
  if (!a.known) return nullptr;
  if (a.essential) return {{"essential", true}};
  return {{"percent", 100 * a.effect},
          {"interval", {100 * a.interval.low, 100 * a.interval.high}},
          {"paired", a.paired}};
}
std::optional<double> ratio(double over, double under) {
  if (!std::isfinite(over) || !(under > 0)) return std::nullopt;
  return over / under;
}

}  // namespace

std::optional<TrialId> SkillRecord::root() const {
  for (std::size_t i = 0; i < search.tree().size(); ++i)
    if (search.tree().node(i).move.kind == MoveKind::root) return search.tree().node(i).id;
  return std::nullopt;
}

Features SkillRecord::features(TrialId id) const {
  // A finalist that was measured again has another outcome now, without what was seen of it first.
  for (const StoredEvent& event : store.events(run))
    if (const auto* told = std::get_if<StoredTold>(&event);
        told != nullptr && told->trial == id && told->first)
      return told->first->evaluation.features;
  const auto now = outcome(id);
  return now ? now->evaluation.features : Features{};
}

std::optional<Outcome> SkillRecord::outcome(TrialId id) const {
  const auto trial = store.trial(run, id);
  if (!trial) return std::nullopt;
  return trial->outcome;
}

Json SkillRecord::environment_json(const DevicePeaks& peaks) const {
  const RunRow row = store.run(run);
  Json roofs{{"device", peaks.device},
             {"source", peaks.source},
             {"f16_operations_per_second", known(peaks.f16)},
             {"f32_operations_per_second", known(peaks.f32)},
             {"f64_operations_per_second", known(peaks.f64)},
             {"memory", Json::array()}};
  for (const MemoryLevel& level : peaks.levels)
    roofs["memory"].push_back(
        {{"level", level.name}, {"bytes", known(level.bytes)}, {"bytes_per_second", known(level.bandwidth)}});
  return {{"device", row.info.device},
          {"toolchain", row.info.toolchain},
          {"backend", row.info.evaluator},
          {"architecture", search.options().device.architecture},
          {"features", search.options().device.features},
          {"methods", search.options().methods.size()},
          {"kernelsearch", row.version},
          {"peaks", std::move(roofs)},
          {"environment", Json::parse(row.info.environment, nullptr, false)}};
}

Json SkillRecord::state_json(const Problem& problem, const std::string& folder,
                             const std::string& extension) const {
  const RunRow row = store.run(run);
  const auto best = store.best_trial(run);
  Json state{{"run_dir", folder},
             {"run", number(run)},
             {"baseline_file", "baseline/kernel" + extension},
             {"baseline_file_original", problem.name},
             {"ref_file", problem.reference.source.empty() ? Json(nullptr) : Json("the problem's reference")},
             {"best_file", nullptr},
             {"best_trial", nullptr},
             {"best_metric_ms", nullptr},
             {"env", "env.json"},
             {"iterations_total", search.options().iterations},
             {"branches", search.options().branches},
             {"noise_threshold_pct", 100 * search.options().noise},
             {"created_at", row.started},
             {"selected_methods", Json::array()},
             {"effective_methods", Json::array()},
             {"ineffective_methods", Json::array()},
             {"implementation_failed_methods", Json::array()},
             {"coupled_methods", Json::array()},
             {"history", Json::array()},
             {"roofline_history", Json::array()},
             {"frontier", Json::array()}};
  if (best) {
    state["best_trial"] = number(best->outcome.id);
    state["best_metric_ms"] = ms(best->outcome.objective);
  }
  for (const SkillIteration& it : search.iterations()) {
    const std::string place = fmt::format("iterv{}/", it.number);
    if (best && it.champion == best->outcome.id) state["best_file"] = place + "kernel" + extension;
    Json ids = Json::array(), names = Json::array();
    for (const std::size_t method : it.choice.taken) {
      const Method& one = search.options().methods[method];
      ids.push_back(one.id);
      names.push_back(one.name);
      state["selected_methods"].push_back(
          {{"id", one.id}, {"name", one.name}, {"axis", to_string(one.axis)}, {"iter", it.number}});
    }
    for (const MethodVerdict& verdict : it.verdicts) {
      const Method& one = search.options().methods[verdict.method];
      Json entry{{"id", one.id},
                 {"name", one.name},
                 {"axis", to_string(one.axis)},
                 {"iter", it.number},
                 {"attribution", effect_json(verdict.attribution)},
                 {"attribution_ms", nullptr},
                 {"evidence", to_string(verdict.evidence)},
                 {"kept", verdict.kept},
                 {"note", verdict.words}};
      if (verdict.attribution.known && !verdict.attribution.essential)
        entry["attribution_ms"] = ms(verdict.attribution.effect * it.champion_objective);
      entry["speedup_vs_best_before"] = known(ratio(it.start_objective, it.champion_objective));
      const char* list = verdict.fate == MethodFate::effective     ? "effective_methods"
                         : verdict.fate == MethodFate::ineffective ? "ineffective_methods"
                         : verdict.fate == MethodFate::coupled     ? "coupled_methods"
                                                                   : "implementation_failed_methods";
      if (!verdict.coupled.empty()) {
        entry["coupled_with"] = Json::array();
        for (const std::size_t other : verdict.coupled) entry["coupled_with"].push_back(method_id(other));
      }
      state[list].push_back(std::move(entry));
    }
    Json history{{"iter", it.number},
                 {"kernel_file", it.champion ? Json(place + "kernel" + extension) : Json(nullptr)},
                 {"trial", it.champion ? Json(number(*it.champion)) : Json(nullptr)},
                 {"methods", std::move(ids)},
                 {"method_names", std::move(names)},
                 {"ms", ms(it.champion_objective)},
                 {"ref_ms", nullptr},
                 {"speedup_vs_ref", nullptr},
                 {"speedup_vs_best_before", known(ratio(it.start_objective, it.champion_objective))},
                 {"gain", effect_json(it.gain)},
                 {"validation_passed", it.champion.has_value()},
                 {"status", to_string(it.status)},
                 {"phase", to_string(it.phase)},
                 {"retries", it.retries}};
    if (it.champion)
      if (const auto outcome_now = outcome(*it.champion); outcome_now && !outcome_now->rationale.empty())
        history["this_time"] = outcome_now->rationale;
    if (it.champion)
      if (const auto outcome_now = outcome(*it.champion);
          outcome_now && outcome_now->evaluation.measurement.speedup) {
        const Speedup& speedup = *outcome_now->evaluation.measurement.speedup;
        history["speedup_vs_ref"] = speedup.ratio;
        history["ref_ms"] = ms(speedup.ratio * outcome_now->objective);
      }
    state["history"].push_back(std::move(history));
    Json roofline{{"iter", it.number}};
    roofline.update(gaps_json(it.gaps));
    roofline["bound"] = to_string(it.bound);
    roofline["near_peak"] = it.bound == Bound::near_peak;
    roofline["degraded"] = it.degraded;
    roofline["axis_budget"] = budget_json(it.budget);
    state["roofline_history"].push_back(std::move(roofline));
  }
  if (const SkillEnding& end = search.ending(); end.reason == SkillEnd::near_peak ||
                                                end.reason == SkillEnd::no_axis ||
                                                end.reason == SkillEnd::no_method) {
    Json roofline{{"iter", search.iterations().size() + 1}};
    roofline.update(gaps_json(end.gaps));
    roofline["bound"] = to_string(end.bound);
    roofline["near_peak"] = end.reason == SkillEnd::near_peak;
    state["roofline_history"].push_back(std::move(roofline));
  }
  state["ending"] = {{"reason", to_string(search.ending().reason)}, {"words", search.ending().words}};
  for (const FrontierKernel& kernel : search.frontier()) {
    const SkillIteration& it = search.iterations()[kernel.iteration - 1];
    const auto branch = std::find_if(it.branches.begin(), it.branches.end(),
                                     [&kernel](const SkillBranch& one) { return one.id == kernel.id; });
    Json ids = Json::array();
    for (const std::size_t method : kernel.methods) ids.push_back(method_id(method));
    const std::string name = branch_name(it, branch->move);
    state["frontier"].push_back(
        {{"iter", kernel.iteration},
         {"branch_index", name},
         {"trial", number(kernel.id)},
         {"kernel", fmt::format("iterv{}/branches/{}/kernel{}", kernel.iteration, name, extension)},
         {"ms", ms(kernel.objective)},
         {"delta_from_champion", kernel.behind},
         {"methods", std::move(ids)}});
  }
  return state;
}

Json SkillRecord::end_json() const {
  const std::optional<TrialId> champion = search.champion();
  if (!champion) return nullptr;
  const Features profile = features(*champion);
  const RooflineGaps gaps = roofline_gaps(profile);
  Json out{{"trial", number(*champion)}, {"ending", to_string(search.ending().reason)}};
  out.update(gaps_json(gaps));
  out["bound"] = to_string(bound_of(gaps, search.options().near));
  out["profile"] = Json::object();
  for (const auto& [name, value] : profile) out["profile"][name] = value;
  return out;
}

Json SkillRecord::roofline_json(const SkillIteration& it) const {
  Json out{{"iter", it.number}, {"start", number(it.start)}};
  out.update(gaps_json(it.gaps));
  out["bound"] = to_string(it.bound);
  out["near_peak"] = it.bound == Bound::near_peak;
  out["degraded"] = it.degraded;
  out["axis_budget"] = budget_json(it.budget);
  out["profile"] = Json::object();
  for (const auto& [name, value] : features(it.start)) out["profile"][name] = value;
  return out;
}

Json SkillRecord::top_json(const SkillIteration& it) const {
  constexpr std::size_t most = 5;  // a list, as the published `ncu_num`
  // Those that decide first (`roofline_gaps`), then those by which methods are asked for.
  constexpr std::string_view computing[] = {
      "tensor_utilisation",  "fp32_utilisation", "fp64_utilisation",   "sm_utilisation", "ipc",
      "compute_utilisation", "xu_utilisation",   "achieved_occupancy", "warp_efficiency"};
  constexpr std::string_view moving[] = {"dram_utilisation", "memory_utilisation", "l2_hit",
                                         "l1_hit",           "coalescing",         "bank_conflicts",
                                         "l2_utilisation",   "l1_utilisation"};
  const Features profile = features(it.start);
  Json out{{"iter", it.number}, {"trial", number(it.start)}};
  const auto list = [&](Axis axis, const auto& names) {
    Json& entries = out[std::string(to_string(axis))] = Json::array();
    for (const std::string_view name : names)
      if (const auto value = profile.find(name); value && entries.size() < most)
        entries.push_back({{"metric", std::string(name)}, {"value", known(value)}});
  };
  list(Axis::compute, computing);
  list(Axis::memory, moving);
  std::vector<std::pair<double, std::string>> stalls;
  for (const auto& [name, value] : profile)
    if (name.starts_with("stall_")) stalls.emplace_back(-value, name);
  std::sort(stalls.begin(), stalls.end());
  std::vector<std::string> waits;
  for (const auto& [value, name] : stalls) waits.push_back(name);
  list(Axis::latency, waits);
  return out;
}

Json SkillRecord::branches_json(const SkillIteration& it) const {
  Json out{{"iter", it.number},         {"status", it.champion ? "ok" : "all_failed"},
           {"champion", nullptr},       {"branches", Json::array()},
           {"frontier", Json::array()}, {"total_branches", it.branches.size()},
           {"valid_branches", 0},       {"retries", it.retries}};
  std::size_t valid = 0;
  for (const SkillBranch& branch : it.branches) {
    const std::string name = branch_name(it, branch.move);
    const bool passed = branch.verdict == Verdict::ok;
    valid += passed ? 1 : 0;
    Json one{{"branch_index", name},
             {"trial", number(branch.id)},
             {"variant", branch.move.variant},
             {"kernel", "branches/" + name},
             {"passed", passed},
             {"verdict", to_string(branch.verdict)},
             {"ms", ms(branch.objective)},
             {"error", nullptr}};
    const auto now = outcome(branch.id);
    if (now && !passed) one["error"] = now->evaluation.reason;
    if (now && !now->rationale.empty()) one["this_time"] = now->rationale;
    if (it.champion == branch.id)
      out["champion"] = name;
    else if (passed)
      out["frontier"].push_back(name);
    out["branches"].push_back(std::move(one));
  }
  out["valid_branches"] = valid;
  return out;
}

Json SkillRecord::attribution_json(const SkillIteration& it) const {
  Json out{{"iter", it.number},
           {"champion", it.champion ? Json(number(*it.champion)) : Json(nullptr)},
           {"champion_ms", ms(it.champion_objective)},
           {"noise_pct", 100 * it.noise},
           {"gain", effect_json(it.gain)},
           {"methods", Json::array()},
           {"interactions", Json::array()}};
  for (const MethodVerdict& verdict : it.verdicts) {
    Json one{{"id", method_id(verdict.method)},
             {"fate", to_string(verdict.fate)},
             {"contributed", to_string(verdict.contributed)},
             {"attribution", effect_json(verdict.attribution)},
             {"attribution_ms", nullptr},
             {"ablated_ms", nullptr},
             {"ablated_verdict", nullptr},
             {"kept", verdict.kept},
             {"words", verdict.words}};
    if (verdict.attribution.known && !verdict.attribution.essential)
      one["attribution_ms"] = ms(verdict.attribution.effect * it.champion_objective);
    for (const SkillAblation& ablation : it.ablations)
      if (ablation.id && ablation.methods == std::vector<std::size_t>{verdict.method}) {
        one["ablated_ms"] = ms(ablation.objective);
        one["ablated_verdict"] = to_string(ablation.verdict);
      }
    out["methods"].push_back(std::move(one));
  }
  for (const SkillInteraction& both : it.interactions)
    out["interactions"].push_back({{"methods", {method_id(both.one), method_id(both.other)}},
                                   {"both", effect_json(both.both)},
                                   {"beyond", effect_json(both.beyond)}});
  return out;
}

Json SkillRecord::evidence_json(const SkillIteration& it) const {
  Json out{{"iter", it.number}, {"methods", Json::array()}};
  const Features parent = features(it.start);
  const Features champion = it.champion ? features(*it.champion) : Features{};
  for (const MethodVerdict& verdict : it.verdicts) {
    Features ablated;
    for (const SkillAblation& ablation : it.ablations)
      if (ablation.id && ablation.methods == std::vector<std::size_t>{verdict.method})
        ablated = features(*ablation.id);
    const CodeSignature& signature = search.options().methods[verdict.method].signature;
    Json one{{"id", method_id(verdict.method)},
             {"evidence", to_string(verdict.evidence)},
             {"by_parent", to_string(verdict.by_parent)},
             {"by_ablation", to_string(verdict.by_ablation)},
             {"coupled_with", Json::array()},
             {"require_any", Json::array()},
             {"require_all", Json::array()}};
    for (const std::size_t other : verdict.coupled) one["coupled_with"].push_back(method_id(other));
    if (const std::string& why = search.options().methods[verdict.method].no_trace; !why.empty())
      one["no_trace"] = why;
    const auto list = [&](const std::vector<CodeChange>& changes, const char* name) {
      for (const CodeChange& change : changes)
        one[name].push_back({{"feature", change.feature},
                             {"wanted", change.less ? "less" : "more"},
                             {"by", change.by},
                             {"parent", known(parent.find(change.feature))},
                             {"champion", known(champion.find(change.feature))},
                             {"ablated", known(ablated.find(change.feature))}});
    };
    list(signature.any, "require_any");
    list(signature.all, "require_all");
    out["methods"].push_back(std::move(one));
  }
  return out;
}

Json SkillRecord::bench_json(TrialId id) const {
  Json out{{"trial", number(id)}};
  const auto now = outcome(id);
  if (!now) return out;
  const Evaluation& evaluation = now->evaluation;
  out["verdict"] = to_string(evaluation.verdict);
  if (!now->ok()) {
    out["reason"] = evaluation.reason;
    return out;
  }
  const Measurement& measured = evaluation.measurement;
  out["ms"] = ms(measured.seconds);
  out["interval_ms"] = {ms(measured.interval.low), ms(measured.interval.high)};
  out["spread"] = measured.spread;
  if (measured.speedup)
    out["speedup_vs_ref"] = {
        {"ratio", known(measured.speedup->ratio)},
        {"interval", {known(measured.speedup->interval.low), known(measured.speedup->interval.high)}},
        {"pairs", measured.speedup->pairs}};
  const Features first = features(id);
  if (const auto times = first.find("times_parent"))
    out["times_parent"] = {
        {"ratio", *times},
        {"interval", {known(first.find("times_parent.low")), known(first.find("times_parent.high"))}}};
  for (const ShapeMeasurement& shape : measured.shapes)
    out["shapes"].push_back({{"shape", shape.shape},
                             {"median_ms", ms(shape.median)},
                             {"interval_ms", {ms(shape.interval.low), ms(shape.interval.high)}},
                             {"spread", shape.spread},
                             {"samples", shape.samples.size()},
                             {"ended", to_string(shape.ended)}});
  return out;
}

}  // namespace kernelsearch::detail
