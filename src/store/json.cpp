// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/store/json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/enum_names.hpp"
#include "kernelsearch/store/clean_json.hpp"

namespace kernelsearch {
namespace {

using nlohmann::json;

json number_to_json(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return "NaN";
  return value > 0 ? "Infinity" : "-Infinity";
}

[[noreturn]] void malformed(std::string_view what, const json& given) {
  detail::raise<ConfigError>("malformed stored JSON",
                             std::string(what) + " is " + json_text(given).substr(0, 80),
                             "the file was written by something else or is damaged");
}

double number_from_json(const json& value, std::string_view what) {
  if (value.is_number()) return value.get<double>();
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
  malformed(what, value);
}

const json& member(const json& object, const char* name) {
  if (!object.is_object()) malformed("what should be an object", object);
  const auto found = object.find(name);
  if (found == object.end()) malformed("member '" + std::string(name) + "' missing: the object", object);
  return *found;
}

double number_of(const json& object, const char* name) {
  return number_from_json(member(object, name), name);
}

std::string string_of(const json& object, const char* name) {
  const json& value = member(object, name);
  if (!value.is_string()) malformed(name, value);
  return value.get<std::string>();
}

template <class Integer>
Integer integer_from_json(const json& value, std::string_view what) {
  if constexpr (std::is_same_v<Integer, std::int64_t>)
    if (value.is_number_integer() && !value.is_number_unsigned()) return value.get<std::int64_t>();
  if (!value.is_number_integer() || (!value.is_number_unsigned() && value.get<std::int64_t>() < 0))
    malformed(what, value);
  const auto number = value.get<std::uint64_t>();
  if (number > std::uint64_t{std::numeric_limits<Integer>::max()}) malformed(what, value);
  return static_cast<Integer>(number);
}

const json& array_of(const json& value, std::string_view what) {
  if (!value.is_array()) malformed(what, value);
  return value;
}

template <class Enum>
Enum enum_of(const json& object, const char* name) {
  if (const auto found = detail::enum_from<Enum>(string_of(object, name))) return *found;
  malformed(name, object);
}

std::vector<TrialId> trials_from_json(const json& value) {
  std::vector<TrialId> ids;
  for (const json& id : array_of(value, "parents"))
    ids.push_back(TrialId{integer_from_json<std::uint64_t>(id, "parents")});
  return ids;
}

json trials_to_json(const std::vector<TrialId>& ids) {
  json list = json::array();
  for (const TrialId id : ids) list.push_back(number(id));
  return list;
}

void speedup_to_json(json& object, const std::optional<Speedup>& speedup) {
  if (speedup) object["speedup"] = *speedup;
}

std::optional<Speedup> speedup_from_json(const json& object) {
  const auto found = object.find("speedup");
  if (found == object.end()) return std::nullopt;
  return found->get<Speedup>();
}

}  // namespace

void to_json(json& out, const Interval& interval) {
  out = json::array({number_to_json(interval.low), number_to_json(interval.high)});
}

void from_json(const json& in, Interval& interval) {
  if (!in.is_array() || in.size() != 2) malformed("interval", in);
  interval = {number_from_json(in[0], "interval"), number_from_json(in[1], "interval")};
}

void to_json(json& out, const Speedup& speedup) {
  out = {{"ratio", number_to_json(speedup.ratio)}, {"interval", speedup.interval}, {"pairs", speedup.pairs}};
}

void from_json(const json& in, Speedup& speedup) {
  speedup.ratio = number_of(in, "ratio");
  speedup.interval = member(in, "interval").get<Interval>();
  speedup.pairs = integer_from_json<std::uint32_t>(member(in, "pairs"), "pairs");
}

void to_json(json& out, const ShapeMeasurement& shape) {
  json samples = json::array();
  for (const double sample : shape.samples) samples.push_back(number_to_json(sample));
  out = {{"shape", shape.shape},
         {"weight", number_to_json(shape.weight)},
         {"samples", std::move(samples)},
         {"median", number_to_json(shape.median)},
         {"spread", number_to_json(shape.spread)},
         {"interval", shape.interval},
         {"ended", to_string(shape.ended)}};
  speedup_to_json(out, shape.speedup);
}

void from_json(const json& in, ShapeMeasurement& shape) {
  shape.shape = string_of(in, "shape");
  shape.weight = number_of(in, "weight");
  shape.samples.clear();
  for (const json& sample : array_of(member(in, "samples"), "samples"))
    shape.samples.push_back(number_from_json(sample, "samples"));
  shape.median = number_of(in, "median");
  shape.spread = number_of(in, "spread");
  shape.interval = member(in, "interval").get<Interval>();
  shape.ended = enum_of<SamplingEnd>(in, "ended");
  shape.speedup = speedup_from_json(in);
}

void to_json(json& out, const Measurement& measurement) {
  out = {{"seconds", number_to_json(measurement.seconds)},
         {"spread", number_to_json(measurement.spread)},
         {"interval", measurement.interval},
         {"shapes", measurement.shapes}};
  speedup_to_json(out, measurement.speedup);
}

void from_json(const json& in, Measurement& measurement) {
  measurement.seconds = number_of(in, "seconds");
  measurement.spread = number_of(in, "spread");
  measurement.interval = member(in, "interval").get<Interval>();
  measurement.shapes.clear();
  for (const json& shape : array_of(member(in, "shapes"), "shapes"))
    measurement.shapes.push_back(shape.get<ShapeMeasurement>());
  measurement.speedup = speedup_from_json(in);
}

void to_json(json& out, const Features& features) {
  out = json::object();
  for (const auto& [name, value] : features) out[name] = number_to_json(value);
}

void from_json(const json& in, Features& features) {
  if (!in.is_object()) malformed("features", in);
  features = {};
  for (const auto& [name, value] : in.items()) features.set(name, number_from_json(value, name));
}

void to_json(json& out, const Overrun& overrun) {
  out = json::object();
  if (!overrun.array.empty()) out["array"] = overrun.array;
  if (!overrun.index) return;
  out["index"] = *overrun.index;
  out["elements"] = overrun.elements;
}

void from_json(const json& in, Overrun& overrun) {
  if (!in.is_object()) malformed("overrun", in);
  overrun = {};
  if (in.contains("array")) overrun.array = string_of(in, "array");
  if (!in.contains("index")) return;
  overrun.index = integer_from_json<std::int64_t>(member(in, "index"), "index");
  overrun.elements = integer_from_json<std::uint64_t>(member(in, "elements"), "elements");
}

void to_json(json& out, const Evaluation& evaluation) {
  out = {{"verdict", to_string(evaluation.verdict)},
         {"progress", number_to_json(evaluation.progress)},
         {"reason", evaluation.reason},
         {"measurement", evaluation.measurement},
         {"features", evaluation.features},
         {"phases",
          {{"build", number_to_json(evaluation.phases.build)},
           {"check", number_to_json(evaluation.phases.check)},
           {"measure", number_to_json(evaluation.phases.measure)}}},
         {"tuned_key", evaluation.tuned_key},
         {"provenance", evaluation.provenance}};
  if (evaluation.overrun) out["overrun"] = *evaluation.overrun;
  if (evaluation.phases.reference > 0)
    out["phases"]["reference"] = number_to_json(evaluation.phases.reference);
}

void from_json(const json& in, Evaluation& evaluation) {
  evaluation.verdict = enum_of<Verdict>(in, "verdict");
  evaluation.progress = number_of(in, "progress");
  evaluation.reason = string_of(in, "reason");
  evaluation.overrun.reset();
  if (const auto found = in.find("overrun"); found != in.end()) evaluation.overrun = found->get<Overrun>();
  evaluation.measurement = member(in, "measurement").get<Measurement>();
  evaluation.features = member(in, "features").get<Features>();
  const json& phases = member(in, "phases");
  evaluation.phases = {number_of(phases, "build"), number_of(phases, "check"), number_of(phases, "measure")};
  evaluation.phases.reference = 0;
  if (phases.contains("reference")) evaluation.phases.reference = number_of(phases, "reference");
  evaluation.tuned_key = string_of(in, "tuned_key");
  evaluation.provenance = string_of(in, "provenance");
}

void to_json(json& out, const Outcome& outcome) {
  out = {{"id", number(outcome.id)},
         {"parents", trials_to_json(outcome.parents)},
         {"objective", number_to_json(outcome.objective)},
         {"evaluation", outcome.evaluation}};
  if (outcome.origin)
    out["origin"] = {{"proposal", number(outcome.origin->proposal)},
                     {"index", outcome.origin->index},
                     {"count", outcome.origin->count}};
  if (!outcome.rationale.empty()) out["rationale"] = outcome.rationale;
}

void from_json(const json& in, Outcome& outcome) {
  outcome.id = TrialId{integer_from_json<std::uint64_t>(member(in, "id"), "id")};
  outcome.parents = trials_from_json(member(in, "parents"));
  outcome.objective = number_of(in, "objective");
  outcome.evaluation = member(in, "evaluation").get<Evaluation>();
  outcome.origin.reset();
  if (const auto found = in.find("origin"); found != in.end())
    outcome.origin =
        Origin{ProposalId{integer_from_json<std::uint64_t>(member(*found, "proposal"), "proposal")},
               integer_from_json<std::uint32_t>(member(*found, "index"), "index"),
               integer_from_json<std::uint32_t>(member(*found, "count"), "count")};
  outcome.rationale = in.contains("rationale") ? string_of(in, "rationale") : std::string();
}

void to_json(json& out, const FinalistComparison& comparison) {
  out = {{"winner", number(comparison.winner)},
         {"trials", comparison.trials},
         {"winner_is_default", comparison.winner_is_default},
         {"pairs", json::array()}};
  for (const FinalistPair& pair : comparison.pairs) {
    json one = {{"candidate", number(pair.candidate)}};
    if (pair.opponent) one["opponent"] = number(*pair.opponent);
    speedup_to_json(one, pair.speedup);
    out["pairs"].push_back(std::move(one));
  }
}

void from_json(const json& in, FinalistComparison& comparison) {
  comparison.winner = TrialId{integer_from_json<std::uint64_t>(member(in, "winner"), "winner")};
  comparison.trials = integer_from_json<std::uint64_t>(member(in, "trials"), "trials");
  const json& is_default = member(in, "winner_is_default");
  if (!is_default.is_boolean()) malformed("winner_is_default", is_default);
  comparison.winner_is_default = is_default.get<bool>();
  comparison.pairs.clear();
  for (const json& one : array_of(member(in, "pairs"), "pairs")) {
    FinalistPair pair;
    pair.candidate = TrialId{integer_from_json<std::uint64_t>(member(one, "candidate"), "candidate")};
    if (const auto found = one.find("opponent"); found != one.end())
      pair.opponent = TrialId{integer_from_json<std::uint64_t>(*found, "opponent")};
    pair.speedup = member(one, "speedup").get<Speedup>();
    comparison.pairs.push_back(pair);
  }
}

void to_json(json& out, const Move& move) {
  out = {{"kind", to_string(move.kind)},
         {"parents", trials_to_json(move.parents)},
         {"strategies", move.strategies},
         {"variant", move.variant}};
}

void from_json(const json& in, Move& move) {
  move.kind = enum_of<MoveKind>(in, "kind");
  move.parents = trials_from_json(member(in, "parents"));
  move.strategies.clear();
  for (const json& strategy : array_of(member(in, "strategies"), "strategies")) {
    if (!strategy.is_string()) malformed("strategies", strategy);
    move.strategies.push_back(strategy.get<std::string>());
  }
  move.variant = integer_from_json<std::uint32_t>(member(in, "variant"), "variant");
}

void to_json(json& out, const Config& config) {
  out = config.indices;
}

void from_json(const json& in, Config& config) {
  config.indices.clear();
  for (const json& index : array_of(in, "configuration"))
    config.indices.push_back(integer_from_json<std::uint32_t>(index, "configuration"));
}

json value_to_json(const Value& value) {
  struct Visitor {
    json operator()(bool b) const { return b; }
    json operator()(std::int64_t i) const { return i; }
    json operator()(double d) const { return number_to_json(d); }
    json operator()(const std::string& s) const { return s; }
    json operator()(const Permutation& order) const { return order; }
  };
  return std::visit(Visitor{}, value);
}

Value value_from_json(const json& in) {
  if (in.is_boolean()) return in.get<bool>();
  if (in.is_number_integer()) return in.get<std::int64_t>();
  if (in.is_number_float()) return in.get<double>();
  if (in.is_string()) return in.get<std::string>();
  Permutation order;
  for (const json& element : array_of(in, "value")) {
    if (!element.is_number_integer()) malformed("value", in);
    order.push_back(element.get<std::int64_t>());
  }
  return order;
}

json field_to_json(const FieldValue& value) {
  return std::visit([](const auto& one) { return json(one); }, value);
}

std::optional<FieldValue> field_from_json(const json& in) {
  const auto all = [&in](bool (json::*is)() const noexcept) {
    return std::all_of(in.begin(), in.end(), [is](const json& one) { return (one.*is)(); });
  };
  if (in.is_boolean()) return in.get<bool>();
  if (in.is_number_unsigned() && in.get<std::uint64_t>() > std::uint64_t{INT64_MAX})
    return in.get<std::uint64_t>();
  if (in.is_number_integer()) return in.get<std::int64_t>();
  if (in.is_number_float()) return in.get<double>();
  if (in.is_string()) return in.get<std::string>();
  if (!in.is_array()) return std::nullopt;
  if (all(&json::is_string)) return in.get<std::vector<std::string>>();
  if (all(&json::is_number_integer)) return in.get<std::vector<std::int64_t>>();
  return std::nullopt;
}

std::string json_text(const json& in) {
  return clean_json(in.dump(-1, ' ', false, json::error_handler_t::replace));
}

json parse_json(std::string_view text, std::string_view what) {
  json parsed = json::parse(text, nullptr, false);
  if (parsed.is_discarded())
    detail::raise<ConfigError>(std::string(what) + " is not JSON", text.substr(0, 80),
                               "the file was written by something else or is damaged");
  return parsed;
}

template <class T>
std::string to_json_text(const T& value) {
  return json_text(json(value));
}
template <class T>
T from_json_text(std::string_view text) {
  return parse_json(text, "stored text").get<T>();
}

template std::string to_json_text(const Measurement&);
template std::string to_json_text(const Features&);
template std::string to_json_text(const Overrun&);
template std::string to_json_text(const Evaluation&);
template std::string to_json_text(const Outcome&);
template std::string to_json_text(const FinalistComparison&);
template std::string to_json_text(const Move&);
template std::string to_json_text(const Config&);
template Measurement from_json_text(std::string_view);
template Features from_json_text(std::string_view);
template Overrun from_json_text(std::string_view);
template Evaluation from_json_text(std::string_view);
template Outcome from_json_text(std::string_view);
template FinalistComparison from_json_text(std::string_view);
template Move from_json_text(std::string_view);
template Config from_json_text(std::string_view);

}  // namespace kernelsearch
