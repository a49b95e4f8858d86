// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/model_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/text.hpp"
#include "kernelsearch/core/whole_file.hpp"
#include "problem/json_cursor.hpp"

namespace kernelsearch {
namespace {

using detail::JsonCursor;
using Kind = detail::JsonNode::Kind;

bool boolean(const JsonCursor& place) {
  if (place.kind() != Kind::boolean) place.refuse("is neither true nor false", "write one of the two");
  return place.node().boolean;
}

double number(const JsonCursor& place, double least) {
  const std::string todo = fmt::format("write a number of at least {}", least);
  const double value = place.number(todo);
  if (!(value >= least)) place.refuse("is too small", todo);
  return value;
}

std::uint32_t whole(const JsonCursor& place, std::int64_t least) {
  const std::string todo = fmt::format("write a whole number of at least {}", least);
  const std::int64_t value = place.integer(todo);
  if (value < least || value > std::numeric_limits<std::int32_t>::max())
    place.refuse("is out of range", todo);
  return static_cast<std::uint32_t>(value);
}

std::string text(const std::optional<JsonCursor>& place) {
  return place ? place->string("put it in quotes") : std::string();
}

/// The members of what may hold a key, which is not shown where it is something else.
std::vector<std::pair<std::string, JsonCursor>> members(const JsonCursor& place) {
  if (place.kind() != Kind::object) place.refuse("is not an object", "not shown", "write { ... }");
  return place.members("");
}

/// A text that may be a key: what is there instead is not shown.
std::string secret_text(const JsonCursor& place) {
  if (place.kind() != Kind::string) place.refuse("is not a string", "not shown", "put it in quotes");
  return place.node().string;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

RoleChoice read_role(const std::string& name, const JsonCursor& place) {
  place.only({"model", "temperature", "max_tokens"});
  RoleChoice choice;
  choice.role = name;
  choice.model = text(place.find("model"));
  if (const auto given = place.find("temperature")) choice.temperature = number(*given, 0.0);
  if (const auto given = place.find("max_tokens")) choice.max_tokens = whole(*given, 1);
  return choice;
}

template <class Numbers>
Numbers read_numbers(const JsonCursor& place, double least,
                     std::initializer_list<std::pair<std::string_view, double Numbers::*>> members) {
  Numbers numbers;
  for (const auto& [key, member] : members)
    if (const auto given = place.find(key)) numbers.*member = number(*given, least);
  return numbers;
}

/// For a million tokens.
Prices read_prices(const JsonCursor& place) {
  place.only({"input", "output", "cached", "cache_written"});
  return read_numbers<Prices>(place, 0.0,
                              {{"input", &Prices::input},
                               {"output", &Prices::output},
                               {"cached", &Prices::cached},
                               {"cache_written", &Prices::cache_written}});
}

EndpointLimits read_limits(const JsonCursor& place) {
  place.only({"requests_per_minute", "concurrency", "max_tokens"});
  EndpointLimits limits;
  if (const auto given = place.find("requests_per_minute")) limits.requests_per_minute = whole(*given, 0);
  if (const auto given = place.find("concurrency")) limits.concurrency = whole(*given, 1);
  if (const auto given = place.find("max_tokens")) limits.max_tokens = whole(*given, 1);
  return limits;
}

/// In seconds.
CallTimeouts read_timeouts(const JsonCursor& place) {
  place.only({"connect", "first_byte", "idle", "total"});
  return read_numbers<CallTimeouts>(place, 0.001,
                                    {{"connect", &CallTimeouts::connect},
                                     {"first_byte", &CallTimeouts::first_byte},
                                     {"idle", &CallTimeouts::idle},
                                     {"total", &CallTimeouts::total}});
}

std::vector<std::pair<std::string, std::string>> read_headers(const JsonCursor& place) {
  std::vector<std::pair<std::string, std::string>> headers;
  for (const auto& [name, value] : members(place)) {
    std::string header = secret_text(value);
    const std::string key = lower(name);
    const bool secret = key.find("authorization") != std::string::npos ||
                        key.find("key") != std::string::npos || key.find("token") != std::string::npos;
    if (secret && header.substr(0, 4) != "env:")
      value.refuse("may hold a key", "not shown", "write env:NAME, and the key in that variable");
    headers.emplace_back(name, std::move(header));
  }
  return headers;
}

std::string read_key_variable(const JsonCursor& place) {
  std::string name = secret_text(place);
  if (!std::all_of(name.begin(), name.end(), detail::in_word))
    place.refuse("is not a name of a variable", "not shown", "write the variable's name, not the key");
  return name;
}

Endpoint read_endpoint(const std::string& name, const JsonCursor& place) {
  for (const auto& [key, value] : members(place))
    if (const std::string small = lower(key); small == "key" || small == "api_key" || small == "apikey")
      value.refuse("is a key in the model file", "not shown",
                   "take it out, export it as a variable, and name that in `key_env`");
  place.only({"provider", "base_url", "model", "key_env", "prices", "limits", "timeouts", "headers", "stream",
              "temperature", "structured_output", "max_tokens_field", "parameters"});
  Endpoint result;
  result.name = name;
  result.provider = place.at("provider", "write openai or anthropic").choice<Provider>("provider");
  const JsonCursor model = place.at("model", "write the provider's name of it");
  result.model = model.string("put it in quotes");
  if (result.model.empty()) model.refuse("is empty", "write the provider's name of it");
  result.base_url = text(place.find("base_url"));
  if (result.base_url.empty())
    result.base_url =
        result.provider == Provider::openai ? "https://api.openai.com/v1" : "https://api.anthropic.com";
  if (const auto given = place.find("key_env")) result.key_env = read_key_variable(*given);
  if (const auto given = place.find("prices")) result.prices = read_prices(*given);
  if (const auto given = place.find("limits")) result.limits = read_limits(*given);
  if (const auto given = place.find("timeouts")) result.timeouts = read_timeouts(*given);
  if (const auto given = place.find("headers")) result.headers = read_headers(*given);
  if (const auto given = place.find("stream")) result.stream = boolean(*given);
  if (const auto given = place.find("temperature")) result.send_temperature = boolean(*given);
  constexpr StructuredOutput outputs[] = {StructuredOutput::json_schema, StructuredOutput::json_object,
                                          StructuredOutput::none};
  if (const auto given = place.find("structured_output"))
    result.structured = outputs[given->choice("form of output", {"json_schema", "json_object", "none"})];
  if (const auto given = place.find("max_tokens_field"))
    result.max_tokens_field = given->string("put it in quotes");
  if (const auto given = place.find("parameters")) {
    (void)members(*given);
    result.parameters = given->text();
  }
  return result;
}

ModelFile read_models(const JsonCursor& root) {
  root.only({"models", "roles", "default", "$schema"});
  ModelFile result;
  const JsonCursor models = root.at("models", "add one: \"models\": {\"NAME\": {...}}");
  for (const auto& [name, place] : members(models)) result.models.push_back(read_endpoint(name, place));
  if (result.models.empty()) models.refuse("names no model", "add one");
  const auto known = [&](const JsonCursor& place) {
    if (std::none_of(result.models.begin(), result.models.end(),
                     [&](const Endpoint& one) { return one.name == place.node().string; }))
      place.refuse("is not among `models`", "add it there, or name one of them");
  };
  if (const auto roles = root.find("roles"))
    for (const auto& [name, place] : members(*roles)) {
      result.roles.push_back(read_role(name, place));
      if (!result.roles.back().model.empty()) known(place.at("model", ""));
    }
  const auto chosen = root.find("default");
  result.default_model = chosen ? text(chosen) : result.models.front().name;
  if (chosen) known(*chosen);
  return result;
}

}  // namespace

const Endpoint* ModelFile::find(std::string_view model) const noexcept {
  for (const Endpoint& one : models)
    if (one.name == model) return &one;
  for (const Endpoint& one : models)
    if (one.model == model) return &one;
  return nullptr;
}

std::pair<const Endpoint*, ChatRequest> ModelFile::resolve(ChatRequest request) const {
  const auto role = std::find_if(roles.begin(), roles.end(),
                                 [&](const RoleChoice& one) { return one.role == request.role; });
  std::string wanted = request.model;
  if (role != roles.end()) {
    if (wanted.empty()) wanted = role->model;
    if (role->temperature) request.temperature = role->temperature;  // the user's, before the agent's own
    if (role->max_tokens != 0) request.max_tokens = role->max_tokens;
  }
  if (wanted.empty()) wanted = default_model;
  if (wanted.empty() && !models.empty()) wanted = models.front().name;
  const Endpoint* const endpoint = find(wanted);
  if (endpoint == nullptr) {
    std::string known;
    for (const Endpoint& one : models) (known += known.empty() ? "" : ", ") += one.name;
    detail::raise<ConfigError>("the model file has no such model", wanted,
                               "add it, or name one of: " + known);
  }
  request.model = endpoint->model;
  request.max_tokens = std::min(request.max_tokens, endpoint->limits.max_tokens);
  return {endpoint, std::move(request)};
}

ModelFile parse_model_file(std::string_view text, const std::string& file) {
  const detail::JsonNode document = detail::parse_json(text, file);
  return read_models(JsonCursor(document, file));
}

ModelFile read_model_file(const std::string& path) {
  const std::optional<std::string> text = try_whole_file(path);
  if (!text)
    detail::raise<ConfigError>("the model file cannot be read", path, "see docs/models.md for what it holds");
  return parse_model_file(*text, path);
}

std::string find_model_file(const std::string& given) {
  if (!given.empty()) return given;
  if (const char* named = std::getenv("KERNELSEARCH_MODELS"); named != nullptr && *named != '\0')
    return named;
  // Not the current folder: it may be one that others made, and the file says which key goes to which server.
  std::vector<std::string> places;
  if (const char* config = std::getenv("XDG_CONFIG_HOME"); config != nullptr && *config == '/')
    places.push_back(std::string(config) + "/kernelsearch/models.json");
  else if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    places.push_back(std::string(home) + "/.config/kernelsearch/models.json");
  std::string looked;
  for (const std::string& place : places) {
    std::error_code error;
    if (std::filesystem::exists(place, error)) return place;
    (looked += looked.empty() ? "" : ", ") += place;
  }
  std::error_code error;
  if (std::filesystem::exists("models.json", error))
    looked += "; models.json of this folder is not read unasked";
  detail::raise<ConfigError>("there is no model file", "looked for " + looked,
                             "write one (docs/models.md), and name it with --models or KERNELSEARCH_MODELS");
}

}  // namespace kernelsearch
