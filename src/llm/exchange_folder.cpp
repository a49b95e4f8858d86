// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/llm/exchange_folder.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/enum_names.hpp"
#include "kernelsearch/core/whole_file.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "problem/replace_file.hpp"

namespace kernelsearch {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;
constexpr int format_version = 1;

/// Text that is not UTF-8, as compilers may print, is kept as far as it is.
std::string dumped(const json& document, int indent = -1) {
  return document.dump(indent, ' ', false, json::error_handler_t::replace);
}

json question(const ChatRequest& request, const Redactor& redactor) {
  json messages = json::array();
  for (const Message& message : request.messages)
    messages.push_back({{"speaker", to_string(message.speaker)}, {"text", redactor(message.text)}});
  json stops = json::array();
  for (const std::string& stop : request.stop) stops.push_back(redactor(stop));
  return {{"role", request.role},
          {"model", request.model},
          {"messages", std::move(messages)},
          {"temperature", request.temperature ? json(*request.temperature) : json()},
          {"max_tokens", request.max_tokens},
          {"stop", std::move(stops)},
          {"json_schema", redactor(request.json_schema)},
          {"json_schema_name", request.json_schema_name},
          {"repetition", request.repetition}};
}

json usage_json(const TokenUsage& usage) {
  return {{"input", usage.input},
          {"output", usage.output},
          {"cached", usage.cached},
          {"cache_written", usage.cache_written},
          {"reasoning", usage.reasoning}};
}

TokenUsage usage_of(const json& object) {
  TokenUsage usage;
  usage.input = object.at("input").get<std::uint64_t>();
  usage.output = object.at("output").get<std::uint64_t>();
  usage.cached = object.at("cached").get<std::uint64_t>();
  usage.cache_written = object.at("cache_written").get<std::uint64_t>();
  usage.reasoning = object.at("reasoning").get<std::uint64_t>();
  return usage;
}

json answer(const ChatResult& result, const Redactor& redactor) {
  if (result)
    return {{"text", redactor(result.reply->text)},     {"finish", to_string(result.reply->finish)},
            {"usage", usage_json(result.reply->usage)}, {"model", redactor(result.reply->model)},
            {"seconds", result.reply->seconds},         {"attempts", result.reply->attempts}};
  return {{"failure", to_string(result.error.failure)},
          {"text", redactor(result.error.text)},
          {"http_status", result.error.http_status},
          {"usage", usage_json(result.error.usage)},
          {"attempts", result.error.attempts}};
}

template <class Enum>
Enum named(const std::string& name) {
  if (const auto found = detail::enum_from<Enum>(name)) return *found;
  throw std::runtime_error("no such name: " + name);
}

ChatResult result_of(const json& document) {
  ChatResult result;
  if (const auto reply = document.find("reply"); reply != document.end()) {
    result.reply.emplace();
    result.reply->text = reply->at("text").get<std::string>();
    result.reply->finish = named<FinishReason>(reply->at("finish").get<std::string>());
    result.reply->usage = usage_of(reply->at("usage"));
    result.reply->model = reply->at("model").get<std::string>();
    result.reply->seconds = reply->at("seconds").get<double>();
    result.reply->attempts = reply->at("attempts").get<std::uint32_t>();
    return result;
  }
  const json& error = document.at("error");
  result.error.failure = named<ChatFailure>(error.at("failure").get<std::string>());
  result.error.text = error.at("text").get<std::string>();
  result.error.http_status = error.at("http_status").get<int>();
  result.error.usage = usage_of(error.at("usage"));
  result.error.attempts = error.at("attempts").get<std::uint32_t>();
  return result;
}

/// When the file was changed last: UTC, ISO 8601 with milliseconds; empty where that is not known.
std::string changed_at(const fs::path& path) {
  struct ::stat file {};
  std::tm parts{};
  if (::stat(path.c_str(), &file) != 0 || ::gmtime_r(&file.st_mtim.tv_sec, &parts) == nullptr) return {};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     file.st_mtim.tv_nsec / 1'000'000);
}

/// What was paid for is in its file before it is used.
void write_whole(const fs::path& path, std::string_view text) {
  if (const std::error_code error = detail::replace_private_file(path, text))
    detail::raise<ConfigError>("an exchange with a model cannot be kept",
                               path.string() + ": " + error.message(),
                               "check the space and the permissions of the folder");
}

}  // namespace

ExchangeFolder::ExchangeFolder(std::string folder, Redactor redactor)
    : folder_(std::move(folder)), redactor_(std::move(redactor)) {
  if (folder_.empty()) detail::raise<ConfigError>("a recording needs a folder", "none", "name one");
}

std::string ExchangeFolder::canonical(const ChatRequest& request) const {
  return dumped(question(request, redactor_));
}

std::string ExchangeFolder::digest(const ChatRequest& request) const {
  return sha256(canonical(request));
}

ExchangeFolder::Asked ExchangeFolder::asked(const ChatRequest& request) const {
  Asked asked;
  asked.canonical = canonical(request);
  asked.digest = sha256(asked.canonical);
  return asked;
}

std::string ExchangeFolder::path_of(const std::string& digest) const {
  return (fs::path(folder_) / digest.substr(0, 2) / (digest + ".json")).string();
}

std::optional<ChatResult> ExchangeFolder::find(const Asked& asked) const {
  const std::string path = path_of(asked.digest);
  const std::string text = try_whole_file(path).value_or("");
  if (text.empty()) return std::nullopt;  // not there, or lost with the power, see replace_file
  std::string problem = "it answers another question";
  try {
    const json document = json::parse(text);
    if (document.at("kernelsearch_exchange") != format_version)
      problem = "written by another version of kernelsearch";
    else if (dumped(document.at("question")) == asked.canonical) {
      ChatResult result = result_of(document);
      if (result) result.reply->replayed = true;
      return result;
    }
  } catch (const std::exception& error) {
    problem = error.what();
  }
  detail::raise<ConfigError>("a recorded exchange is damaged", path + ": " + problem,
                             "remove the file; its question will be asked again");
}

ChatResult ExchangeFolder::keep(const Asked& asked, const ChatResult& result) const {
  const std::string path = path_of(asked.digest);
  json answered = json::parse(dumped(answer(result, redactor_)));  // as `find` will read it
  const json document = {{"kernelsearch_exchange", format_version},
                         {"question", json::parse(asked.canonical)},
                         {result ? "reply" : "error", answered}};
  const std::string text = dumped(document, 1) + '\n';
  (void)detail::create_private_folders(fs::path(path).parent_path());  // a failure shows when it is written
  write_whole(path, text);
  return result_of({{result ? "reply" : "error", std::move(answered)}});
}

void ExchangeFolder::each_question(
    const std::function<void(const ChatRequest&, const ChatResult&, const std::string&)>& visit) const {
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() != ".json") continue;
    std::ifstream file(it->path(), std::ios::binary);
    const json document = json::parse(file, nullptr, false);
    if (document.is_discarded() || !document.is_object()) continue;
    ChatRequest request;
    ChatResult result;
    try {
      const json& question = document.at("question");
      request.role = question.at("role").get<std::string>();
      request.model = question.at("model").get<std::string>();
      for (const json& message : question.at("messages"))
        request.messages.push_back({named<Speaker>(message.at("speaker").get<std::string>()),
                                    message.at("text").get<std::string>(), false});
      result = result_of(document);
    } catch (const std::exception&) {
      continue;
    }
    if (result) result.reply->replayed = true;
    visit(request, result, changed_at(it->path()));
  }
}

void ExchangeFolder::each(
    const std::function<void(const std::string&, const std::string&, const ChatResult&)>& visit) const {
  each_question([&visit](const ChatRequest& request, const ChatResult& result, const std::string&) {
    visit(request.role, request.model, result);
  });
}

std::size_t ExchangeFolder::size() const {
  std::size_t count = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder_, error), end; !error && it != end; it.increment(error))
    count += it->path().extension() == ".json";
  return count;
}

}  // namespace kernelsearch
