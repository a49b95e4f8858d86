// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "policy_messages.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/version.hpp"

namespace kernelsearch::external {
namespace {

using Json = nlohmann::ordered_json;

Json value_as_json(const Value& value) {
  return std::visit([](const auto& v) { return Json(v); }, value);
}

std::optional<Value> value_of(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_unsigned() &&
      json.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return std::nullopt;
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number_float()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (!json.is_array()) return std::nullopt;
  Permutation order;
  for (const Json& entry : json) {
    const std::optional<Value> value = value_of(entry);
    if (!value || !std::holds_alternative<std::int64_t>(*value)) return std::nullopt;
    order.push_back(std::get<std::int64_t>(*value));
  }
  return order;
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// For messages: what is longer says no more.
std::string shortened(std::string text) {
  constexpr std::size_t most = 200;
  if (text.size() > most) text = text.substr(0, most) + "...";
  return text;
}

Json config_as_json(const Space& space, const Config& config) {
  Json json = Json::object();
  for (std::size_t i = 0; i < space.size(); ++i)
    json[space.tunable(i).name] = value_as_json(space.value(config, i));
  return json;
}

Result<Config> config_of(const Json& json, const Space& space) {
  if (!json.is_object())
    return Fault{"proposed what is not a configuration", shortened(text_of(json)),
                 "give an object with a value for each tunable"};
  Config config{std::vector<std::uint32_t>(space.size())};
  for (std::size_t i = 0; i < space.size(); ++i) {
    const Tunable& tunable = space.tunable(i);
    const auto found = json.find(tunable.name);
    if (found == json.end())
      return Fault{"proposed a configuration without a value for " + tunable.name, shortened(text_of(json)),
                   "give a value for each tunable"};
    const std::optional<Value> value = value_of(*found);
    const std::optional<std::size_t> position = value ? tunable.position(*value) : std::nullopt;
    if (!position)
      return Fault{"proposed an unknown value", tunable.name + " = " + shortened(text_of(*found)),
                   "take one of the values that the first message lists for it"};
    config.indices[i] = static_cast<std::uint32_t>(*position);
  }
  if (json.size() == space.size()) return config;
  std::vector<std::string> names;
  for (const Tunable& tunable : space.tunables()) names.push_back(tunable.name);
  for (const auto& [name, value] : json.items()) {
    if (space.find(name)) continue;
    const std::string nearest = nearest_name(name, names);
    return Fault{"proposed a value for an unknown tunable", shortened(name),
                 nearest.empty() ? "leave it out" : "did you mean " + nearest + "?"};
  }
  return config;
}

Json space_as_json(const Space& space) {
  Json json;
  Json& tunables = json["tunables"] = Json::array();
  for (std::size_t i = 0; i < space.size(); ++i) {
    const Tunable& tunable = space.tunable(i);
    Json entry{{"name", tunable.name}, {"kind", to_string(tunable.kind)}, {"values", Json::array()}};
    for (const Value& value : tunable.values) entry["values"].push_back(value_as_json(value));
    if (tunable.active_if) entry["active_if"] = tunable.active_if->text();
    tunables.push_back(std::move(entry));
  }
  Json& constraints = json["constraints"] = Json::array();
  for (const Constraint& constraint : space.constraints()) constraints.push_back(constraint.text());
  json["default"] = config_as_json(space, space.default_config());
  const BigCount& count = space.count();
  json["count"] = count.fits_u64() ? Json(count.low()) : Json();
  json["configurations"] = nullptr;
  if (count.fits_u64() && count.low() <= listed_configurations) {
    Json& list = json["configurations"] = Json::array();
    space.for_each([&list](const Config& config) { list.push_back(config.indices); });
  }
  return json;
}

Json earlier_as_json(const Space& space, const std::vector<EarlierRun>& runs) {
  Json json = Json::array();
  for (const EarlierRun& run : runs) {
    Json trials = Json::array();
    for (const EarlierOutcome& outcome : run.outcomes)
      trials.push_back({{"configuration", config_as_json(space, outcome.config)},
                        {"objective", std::isfinite(outcome.objective) ? Json(outcome.objective) : Json()}});
    json.push_back({{"source", run.source}, {"trials", std::move(trials)}});
  }
  return json;
}

}  // namespace

Result<PolicyReply> try_parse_policy_reply(std::string_view line, const Space& space) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object())
    return Fault{"answered with a line that is not a JSON object", shortened(std::string(line)),
                 "print nothing but messages to standard output; notes go to standard error"};
  const auto member = [&json](const char* name) { return json.contains(name) ? json[name] : Json(); };
  const Json type = member("type");
  PolicyReply reply;
  if (type == "ready") {
    const Json protocol = member("protocol");
    if (!protocol.is_number_unsigned())
      return Fault{"answered ready without a protocol", shortened(text_of(json)),
                   R"(answer {"type": "ready", "protocol": 1})"};
    reply.protocol = protocol.get<std::uint64_t>();
    return reply;
  }
  if (type == "error") {
    reply.kind = PolicyReplyKind::error;
    const Json message = member("message");
    reply.message = shortened(message.is_string() ? message.get<std::string>() : text_of(message));
    return reply;
  }
  if (type != "proposals")
    return Fault{"answered with an unknown message", shortened(text_of(json)),
                 "answer hello with ready, and ask with proposals or error"};
  reply.kind = PolicyReplyKind::proposals;
  const Json configurations = member("configurations");
  if (!configurations.is_array())
    return Fault{"answered proposals without a list", shortened(text_of(json)),
                 "give `configurations`, an array; empty: nothing now"};
  for (const Json& entry : configurations) {
    Result<Config> config = config_of(entry, space);
    if (!config) return std::move(config).error();
    reply.configurations.push_back(*std::move(config));
  }
  return reply;
}

std::string hello_message(std::string_view policy, const PolicySetup& setup) {
  Json json{{"type", "hello"}, {"protocol", policy_protocol_version}, {"kernelsearch", KERNELSEARCH_VERSION}};
  json["policy"] = policy;
  json["seed"] = setup.seed;
  json["budget"] = setup.budget ? Json(*setup.budget) : Json();
  json["try_default"] = setup.try_default;
  json["space"] = space_as_json(setup.space);
  json["earlier"] = earlier_as_json(setup.space, setup.earlier);
  return text_of(json);
}

std::string ask_message(std::size_t n) {
  return text_of({{"type", "ask"}, {"n", n}});
}

std::string tell_message(const Space& space, std::span<const Observation<Config>> batch) {
  Json json{{"type", "tell"}, {"trials", Json::array()}};
  for (const Observation<Config>& observation : batch) {
    const Outcome& outcome = observation.outcome;
    const bool ok = outcome.ok() && std::isfinite(outcome.objective);
    Json trial{{"trial", number(outcome.id)},
               {"proposal", outcome.origin ? Json(number(outcome.origin->proposal)) : Json()},
               {"configuration", config_as_json(space, observation.proposal)},
               {"verdict", to_string(outcome.evaluation.verdict)},
               {"objective", ok ? Json(outcome.objective) : Json()}};
    if (!outcome.evaluation.reason.empty()) trial["reason"] = outcome.evaluation.reason;
    json["trials"].push_back(std::move(trial));
  }
  return text_of(json);
}

std::string end_message() {
  return R"({"type":"end"})";
}

}  // namespace kernelsearch::external
