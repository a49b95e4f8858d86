// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/model_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/whole_file.hpp"
#include "problem/json_document.hpp"

namespace kernelsearch {
namespace {

using detail::JsonNode;
using Kind = JsonNode::Kind;

/// Reads a document node by node; every error names its line.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  [[noreturn]] void fail(const JsonNode& at, std::string_view what, std::string_view given,
                         std::string_view todo) const {
    detail::raise<ConfigError>(fmt::format("{}:{}: {}", file_, at.line, what), given, todo);
  }

  /// Calls `take(key, value)` for each entry; it returns false for a key that it does not know.
  template <class Take>
  void entries(const JsonNode& node, const std::string& what, std::string_view known, Take&& take) const {
    if (node.kind != Kind::object)
      fail(node, what + " is not an object", "another kind of value", "write { ... }");
    for (std::size_t i = 0; i < node.items.size(); ++i)
      if (!take(node.keys[i], node.items[i]))
        fail(node.items[i], what + " has an unknown key", node.keys[i], fmt::format("known are: {}", known));
  }

  [[nodiscard]] std::string text(const JsonNode& node, const std::string& key) const {
    if (node.kind != Kind::string)
      fail(node, "`" + key + "` is not a text", "another kind of value", "put it in quotes");
    return node.string;
  }
  [[nodiscard]] bool boolean(const JsonNode& node, const std::string& key) const {
    if (node.kind != Kind::boolean)
      fail(node, "`" + key + "` is neither true nor false", "another kind of value", "write one of the two");
    return node.boolean;
  }
  [[nodiscard]] double number(const JsonNode& node, const std::string& key, double least) const {
    const double value = node.kind == Kind::integer ? static_cast<double>(node.integer) : node.real;
    if ((node.kind != Kind::integer && node.kind != Kind::real) || !(value >= least))
      fail(node, "`" + key + "` is not a number", "another value",
           fmt::format("write one of at least {}", least));
    return value;
  }
  [[nodiscard]] std::uint32_t whole(const JsonNode& node, const std::string& key, std::int64_t least) const {
    if (node.kind != Kind::integer || node.integer < least ||
        node.integer > std::numeric_limits<std::int32_t>::max())
      fail(node, "`" + key + "` is not a whole number", "another value",
           fmt::format("write one of at least {}", least));
    return static_cast<std::uint32_t>(node.integer);
  }

 private:
  const std::string& file_;
};

nlohmann::ordered_json plain(const JsonNode& node) {
  using json = nlohmann::ordered_json;
  switch (node.kind) {
    case Kind::null:
      return nullptr;
    case Kind::boolean:
      return node.boolean;
    case Kind::integer:
      return node.integer;
    case Kind::real:
      return node.real;
    case Kind::string:
      return node.string;
    case Kind::array: {
      json list = json::array();
      for (const JsonNode& item : node.items) list.push_back(plain(item));
      return list;
    }
    case Kind::object:
      break;
  }
  json object = json::object();
  for (std::size_t i = 0; i < node.items.size(); ++i) object[node.keys[i]] = plain(node.items[i]);
  return object;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

class ModelFileReader {
 public:
  explicit ModelFileReader(const std::string& file) : reader_(file) {}

  ModelFile read(const JsonNode& root) const {
    ModelFile result;
    const JsonNode* default_model = nullptr;
    reader_.entries(root, "the model file", "models, roles, default",
                    [&](const std::string& key, const JsonNode& node) {
                      if (key == "models")
                        reader_.entries(node, "`models`", "names of your choice",
                                        [&](const std::string& name, const JsonNode& one) {
                                          result.models.push_back(endpoint(name, one));
                                          return true;
                                        });
                      else if (key == "roles")
                        reader_.entries(node, "`roles`", "names of roles",
                                        [&](const std::string& name, const JsonNode& one) {
                                          result.roles.push_back(role(name, one));
                                          return true;
                                        });
                      else if (key == "default") {
                        result.default_model = reader_.text(node, key);
                        default_model = &node;
                      } else {
                        return key == "$schema";
                      }
                      return true;
                    });
    if (result.models.empty())
      reader_.fail(root, "the model file names no model", "none", "add one to `models`");
    if (default_model == nullptr) result.default_model = result.models.front().name;
    const auto known = [&](const JsonNode& at, const std::string& name) {
      if (std::none_of(result.models.begin(), result.models.end(),
                       [&](const Endpoint& one) { return one.name == name; }))
        reader_.fail(at, "a model is not among `models`", name, "add it there, or name one of them");
    };
    if (default_model != nullptr) known(*default_model, result.default_model);
    for (std::size_t i = 0; i < root.items.size(); ++i)
      if (root.keys[i] == "roles")
        for (std::size_t k = 0; k < result.roles.size(); ++k)
          if (!result.roles[k].model.empty()) known(root.items[i].items[k], result.roles[k].model);
    return result;
  }

 private:
  RoleChoice role(const std::string& name, const JsonNode& node) const {
    RoleChoice choice;
    choice.role = name;
    reader_.entries(node, "the role `" + name + "`", "model, temperature, max_tokens",
                    [&](const std::string& key, const JsonNode& value) {
                      if (key == "model")
                        choice.model = reader_.text(value, key);
                      else if (key == "temperature")
                        choice.temperature = reader_.number(value, key, 0.0);
                      else if (key == "max_tokens")
                        choice.max_tokens = reader_.whole(value, key, 1);
                      else
                        return false;
                      return true;
                    });
    return choice;
  }

  Prices prices(const JsonNode& node) const {
    Prices result;
    reader_.entries(node, "`prices`", "input, output, cached, cache_written",
                    [&](const std::string& key, const JsonNode& value) {
                      double* const place = key == "input"           ? &result.input
                                            : key == "output"        ? &result.output
                                            : key == "cached"        ? &result.cached
                                            : key == "cache_written" ? &result.cache_written
                                                                     : nullptr;
                      if (place != nullptr) *place = reader_.number(value, key, 0.0);
                      return place != nullptr;
                    });
    return result;
  }

  EndpointLimits limits(const JsonNode& node) const {
    EndpointLimits result;
    reader_.entries(node, "`limits`", "requests_per_minute, concurrency, max_tokens",
                    [&](const std::string& key, const JsonNode& value) {
                      if (key == "requests_per_minute")
                        result.requests_per_minute = reader_.whole(value, key, 0);
                      else if (key == "concurrency")
                        result.concurrency = reader_.whole(value, key, 1);
                      else if (key == "max_tokens")
                        result.max_tokens = reader_.whole(value, key, 1);
                      else
                        return false;
                      return true;
                    });
    return result;
  }

  CallTimeouts timeouts(const JsonNode& node) const {
    CallTimeouts result;
    reader_.entries(node, "`timeouts`", "connect, first_byte, idle, total (seconds)",
                    [&](const std::string& key, const JsonNode& value) {
                      double* const place = key == "connect"      ? &result.connect
                                            : key == "first_byte" ? &result.first_byte
                                            : key == "idle"       ? &result.idle
                                            : key == "total"      ? &result.total
                                                                  : nullptr;
                      if (place != nullptr) *place = reader_.number(value, key, 0.001);
                      return place != nullptr;
                    });
    return result;
  }

  void headers(const JsonNode& node, Endpoint& into) const {
    reader_.entries(node, "`headers`", "", [&](const std::string& name, const JsonNode& value) {
      std::string text = reader_.text(value, name);
      const std::string key = lower(name);
      const bool secret = key.find("authorization") != std::string::npos ||
                          key.find("key") != std::string::npos || key.find("token") != std::string::npos;
      if (secret && text.substr(0, 4) != "env:")
        reader_.fail(value, "a header may hold a key", name, "write env:NAME, and the key in that variable");
      into.headers.emplace_back(name, std::move(text));
      return true;
    });
  }

  template <class Enum>
  Enum named(const JsonNode& node, const std::string& key,
             std::initializer_list<std::pair<const char*, Enum>> names) const {
    const std::string given = reader_.text(node, key);
    std::string known;
    for (const auto& [name, value] : names) {
      if (given == name) return value;
      (known += known.empty() ? "" : ", ") += name;
    }
    reader_.fail(node, "`" + key + "` is unknown", given, "write one of: " + known);
  }

  Endpoint endpoint(const std::string& name, const JsonNode& node) const {
    Endpoint result;
    result.name = name;
    bool has_provider = false;
    reader_.entries(node, "the model `" + name + "`",
                    "provider, base_url, model, key_env, prices, limits, timeouts, headers, stream, "
                    "temperature, structured_output, "
                    "max_tokens_field, parameters",
                    [&](const std::string& key, const JsonNode& value) {
                      if (key == "provider") {
                        result.provider = named<Provider>(
                            value, key, {{"openai", Provider::openai}, {"anthropic", Provider::anthropic}});
                        has_provider = true;
                      } else if (key == "base_url")
                        result.base_url = reader_.text(value, key);
                      else if (key == "model")
                        result.model = reader_.text(value, key);
                      else if (key == "key_env")
                        result.key_env = key_variable(value);
                      else if (key == "prices")
                        result.prices = prices(value);
                      else if (key == "limits")
                        result.limits = limits(value);
                      else if (key == "timeouts")
                        result.timeouts = timeouts(value);
                      else if (key == "headers")
                        headers(value, result);
                      else if (key == "stream")
                        result.stream = reader_.boolean(value, key);
                      else if (key == "temperature")
                        result.send_temperature = reader_.boolean(value, key);
                      else if (key == "structured_output")
                        result.structured =
                            named<StructuredOutput>(value, key,
                                                    {{"json_schema", StructuredOutput::json_schema},
                                                     {"json_object", StructuredOutput::json_object},
                                                     {"none", StructuredOutput::none}});
                      else if (key == "max_tokens_field")
                        result.max_tokens_field = reader_.text(value, key);
                      else if (key == "parameters")
                        result.parameters = parameters(value);
                      else if (const std::string small = lower(key);
                               small == "key" || small == "api_key" || small == "apikey")
                        reader_.fail(value, "a key is in the model file", "not shown",
                                     "take it out, export it as a variable, and name that in `key_env`");
                      else
                        return false;
                      return true;
                    });
    if (!has_provider)
      reader_.fail(node, "the model `" + name + "` has no `provider`", "none", "write openai or anthropic");
    if (result.model.empty())
      reader_.fail(node, "the model `" + name + "` has no `model`", "none",
                   "write the provider's name of it");
    if (result.base_url.empty())
      result.base_url =
          result.provider == Provider::openai ? "https://api.openai.com/v1" : "https://api.anthropic.com";
    return result;
  }

  std::string key_variable(const JsonNode& node) const {
    std::string name = reader_.text(node, "key_env");
    const bool fine = std::all_of(name.begin(), name.end(),
                                  [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    // Not shown: it may be the key itself.
    if (!fine)
      reader_.fail(node, "`key_env` is not a name of a variable", "not shown",
                   "write the variable's name, not the key");
    return name;
  }

  std::string parameters(const JsonNode& node) const {
    if (node.kind != Kind::object)
      reader_.fail(node, "`parameters` is not an object", "another kind of value", "write { ... }");
    return plain(node).dump();
  }

  Reader reader_;
};

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
  return ModelFileReader(file).read(detail::parse_json(text, file));
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
