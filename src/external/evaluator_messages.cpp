// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator_messages.hpp"

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/impl/enum_names.hpp"
#include "kernelsearch/problem/evaluate.hpp"
#include "kernelsearch/version.hpp"

namespace kernelsearch::external {
namespace {

using EvaluatorJson = nlohmann::ordered_json;

constexpr std::size_t longest_evaluator_name = 200, longest_reason = 2000, most_features = 256,
                      most_times = 4096;

std::string in_one_line(const EvaluatorJson& json) {
  return json.dump(-1, ' ', false, EvaluatorJson::error_handler_t::replace);
}

/// For messages: what is longer says no more.
std::string beginning_of(std::string_view text) {
  constexpr std::size_t most = 200;
  return clean_text(text.size() > most ? std::string(text.substr(0, most)) + "..." : std::string(text));
}

EvaluatorJson json_of(const Value& value) {
  return std::visit([](const auto& one) { return EvaluatorJson(one); }, value);
}

std::optional<std::string> name_in(const EvaluatorJson& reply, const char* key) {
  const auto found = reply.find(key);
  if (found == reply.end() || !found->is_string()) return std::nullopt;
  std::string text = clean_text(found->get<std::string>());
  if (text.empty() || text.size() > longest_evaluator_name || text.find('\n') != std::string::npos)
    return std::nullopt;
  return text;
}

Result<EvaluatorReply> described(const EvaluatorJson& json, EvaluatorReply reply) {
  const auto protocol = json.find("protocol");
  if (protocol == json.end() || !protocol->is_number_unsigned())
    return Fault{"describes itself without the protocol", beginning_of(in_one_line(json)),
                 "answer describe with \"protocol\": 1"};
  reply.protocol = protocol->get<std::uint64_t>();
  for (const auto& [key, into] : {std::pair("name", &reply.name), std::pair("version", &reply.version),
                                  std::pair("device", &reply.device)}) {
    std::optional<std::string> text = name_in(json, key);
    if (!text)
      return Fault{std::string("describes itself without \"") + key + '"', beginning_of(in_one_line(json)),
                   "give a text of one line, of 1 to 200 bytes"};
    *into = *std::move(text);
  }
  if (const auto times = json.find("times"); times != json.end()) {
    if (!times->is_boolean())
      return Fault{"has \"times\" that is not a bool", beginning_of(in_one_line(*times)),
                   "answer true or false"};
    reply.claims_times = times->get<bool>();
  }
  return reply;
}

Result<EvaluatorReply> built(const EvaluatorJson& json, EvaluatorReply reply) {
  const auto features = json.find("features");
  if (features == json.end()) return reply;
  if (!features->is_object() || features->size() > most_features)
    return Fault{"has \"features\" that are not an object of at most 256 numbers",
                 beginning_of(in_one_line(*features)), "give an object, e.g. {\"registers\": 40}"};
  for (const auto& [name, value] : features->items()) {
    if (!value.is_number() || !std::isfinite(value.get<double>()) || name.empty() ||
        name.size() > longest_evaluator_name || clean_text(name) != name)
      return Fault{"has a feature that is not a name with a number", beginning_of(name),
                   "give finite numbers"};
    reply.features.set(name, value.get<double>());
  }
  return reply;
}

Result<EvaluatorReply> ran(const EvaluatorJson& json, EvaluatorReply reply) {
  const auto seconds = json.find("seconds");
  if (seconds == json.end()) return reply;
  const Fault fault{"has \"seconds\" that are not a list of times", beginning_of(in_one_line(*seconds)),
                    "give the seconds of each call of the request, or leave them out"};
  if (!seconds->is_array() || seconds->size() > most_times) return fault;
  for (const EvaluatorJson& one : *seconds) {
    if (!one.is_number() || !std::isfinite(one.get<double>()) || one.get<double>() < 0) return fault;
    reply.seconds.push_back(one.get<double>());
  }
  return reply;
}

}  // namespace

Result<EvaluatorReply> try_parse_evaluator_reply(std::string_view line) {
  const EvaluatorJson json = EvaluatorJson::parse(line, nullptr, false);
  if (!json.is_object())
    return Fault{"answered with what is not a JSON object", beginning_of(line),
                 "keep everything but replies off standard output: print to standard error"};
  const auto text = [&json](const char* key) -> std::optional<std::string> {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_string()) return std::nullopt;
    return found->get<std::string>();
  };
  const std::optional<std::string> type = text("type"), id = text("id");
  if (!type || !id || id->size() > longest_evaluator_name)
    return Fault{"answered without \"type\" or \"id\"", beginning_of(line),
                 "repeat the request's \"id\" in each reply"};
  EvaluatorReply reply;
  reply.id = *id;
  constexpr std::string_view names[] = {"described", "built", "loaded", "ran", "nothing"};
  static_assert(std::size(names) == kernelsearch::detail::enum_count<EvaluatorReplyKind>);
  std::size_t kind = 0;
  while (kind < std::size(names) && names[kind] != *type) ++kind;
  if (kind == std::size(names))
    return Fault{"answered with a type that is not known", beginning_of(*type),
                 "answer described, built, loaded, ran or nothing"};
  reply.kind = static_cast<EvaluatorReplyKind>(kind);
  if (const auto ok = json.find("ok"); ok != json.end()) {
    if (!ok->is_boolean())
      return Fault{"has \"ok\" that is not a bool", beginning_of(in_one_line(*ok)), "true or false"};
    reply.ok = ok->get<bool>();
  }
  if (!reply.ok) {
    reply.reason = clean_text(text("reason").value_or("it gave no reason"));
    if (reply.reason.size() > longest_reason)
      reply.reason = clean_text(reply.reason.substr(0, longest_reason));
    return reply;
  }
  switch (reply.kind) {
    case EvaluatorReplyKind::described:
      return described(json, std::move(reply));
    case EvaluatorReplyKind::built:
      return built(json, std::move(reply));
    case EvaluatorReplyKind::ran:
      return ran(json, std::move(reply));
    default:
      return reply;
  }
}

std::string describe_message(const Problem& problem, std::string_view id) {
  EvaluatorJson json{{"type", "describe"},
                     {"id", id},
                     {"protocol", evaluator_protocol_version},
                     {"kernelsearch", KERNELSEARCH_VERSION},
                     {"problem", problem.name},
                     {"function", problem.function},
                     {"arguments", EvaluatorJson::array()}};
  for (const Argument& argument : problem.arguments)
    json["arguments"].push_back(
        {{"name", argument.name},
         {"type", argument.structure ? argument.structure->name : to_string(argument.type)},
         {"array", argument.is_array}});
  return in_one_line(json);
}

std::string build_message(const Candidate& candidate, std::string_view id) {
  const Regions& regions = candidate.kernel->regions;
  EvaluatorJson json{{"type", "build"}, {"id", id}, {"source", regions.device}};
  if (!regions.host.empty()) json["host"] = regions.host;
  if (!regions.macros.empty()) json["macros"] = regions.macros;
  EvaluatorJson& configuration = json["configuration"] = EvaluatorJson::object();
  for (const auto& [name, value] : named_values(candidate.kernel->space, candidate.config))
    configuration[name] = json_of(value);
  return in_one_line(json);
}

std::string load_message(const Problem& problem, const detail::Slots& slots, const detail::Arena& inputs,
                         const detail::Arena& outputs, std::string_view id) {
  const detail::ShapePlan& plan = slots.plan();
  EvaluatorJson json{{"type", "load"}, {"id", id}, {"slots", slots.count()}};
  json["shape"] = {{"name", problem.shapes[plan.shape].name}};
  for (const auto& [name, value] : problem.shapes[plan.shape].variables) json["shape"][name] = json_of(value);
  json["memory"] = {{{"descriptor", inputs_descriptor}, {"bytes", inputs.size()}, {"writable", false}},
                    {{"descriptor", outputs_descriptor}, {"bytes", outputs.size()}, {"writable", true}}};
  json["arguments"] = EvaluatorJson::array();
  for (std::size_t a = 0; a < plan.arguments.size(); ++a) {
    const detail::PlannedArgument& planned = plan.arguments[a];
    const Argument& argument = problem.arguments[a];
    EvaluatorJson one{{"name", argument.name},
                      {"type", argument.structure ? argument.structure->name : to_string(argument.type)}};
    if (!planned.is_array) {
      one["value"] = json_of(planned.value);
      json["arguments"].push_back(std::move(one));
      continue;
    }
    one["role"] = to_string(!planned.is_input() ? Role::out : planned.is_output() ? Role::inout : Role::in);
    one["count"] = planned.count;
    one["element_bytes"] = planned.element_bytes();
    one["memory"] = planned.is_writable() ? 1 : 0;
    const std::byte* const base = planned.is_writable() ? outputs.data() : inputs.data();
    one["offsets"] = EvaluatorJson::array();
    for (std::size_t slot = 0; slot < slots.count(); ++slot)
      one["offsets"].push_back(slots.data(slot, a) - base);
    json["arguments"].push_back(std::move(one));
  }
  return in_one_line(json);
}

std::string run_message(std::span<const std::uint32_t> slots, std::string_view id) {
  EvaluatorJson json{{"type", "run"}, {"id", id}, {"slots", EvaluatorJson::array()}};
  for (const std::uint32_t slot : slots) json["slots"].push_back(slot);
  return in_one_line(json);
}

std::string nothing_message(std::string_view id) {
  return in_one_line({{"type", "nothing"}, {"id", id}});
}

std::string evaluator_end_message() {
  return in_one_line({{"type", "end"}});
}

}  // namespace kernelsearch::external
