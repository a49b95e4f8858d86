// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/service/mcp_server.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <unordered_map>
#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/service/schema_fault.hpp"
#include "mcp_message.hpp"

namespace kernelsearch {
namespace {

using detail::RpcError;
using detail::RpcFault;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

/// The answers to a list of messages, sent as one list once the last is there (revision 2025-03-26).
struct Batch {
  json answers = json::array();
  std::size_t open = 0;
};

/// By which revision a request is served.
struct Era {
  std::string version;
  json capabilities = json::object();  ///< of the client
  [[nodiscard]] bool modern() const { return version == detail::modern_version; }
};

/// A call of a tool that runs.
struct Running {
  json id;
  std::string key;
  const Tool* tool = nullptr;
  Era era;
  json arguments = json::object();
  json progress_token = nullptr;
  std::shared_ptr<Batch> batch;
  std::stop_source stop;
  bool cancelled = false;  ///< by the client: nobody waits for the answer
  double told_progress = -1;
  Clock::time_point told_at{};
  std::jthread thread;
};

}  // namespace

struct McpServer::Impl {
  struct Offered {
    Tool tool;
    json input = json::object();
    json output = nullptr;
  };

  Impl(std::vector<Tool> given, Send to, McpOptions how) : send(std::move(to)), options(std::move(how)) {
    for (Tool& tool : given) {
      Offered offered;
      offered.input = schema_of(tool.name, tool.input_schema);
      if (!tool.output_schema.empty()) offered.output = schema_of(tool.name, tool.output_schema);
      if (find(tool.name) != nullptr || !tool.run)
        kernelsearch::detail::raise<ConfigError>(
            tool.run ? "two tools have the same name" : "a tool does nothing", tool.name,
            tool.run ? "name them apart" : "give it a function to run");
      offered.tool = std::move(tool);
      tools.push_back(std::move(offered));
    }
  }

  static json schema_of(const std::string& tool, const std::string& text) {
    json schema = json::parse(text, nullptr, false);
    if (!schema.is_object() || schema.value("type", "") != "object")
      kernelsearch::detail::raise<ConfigError>("a tool's schema does not describe an object", tool,
                                               "write a JSON Schema with \"type\": \"object\"");
    return schema;
  }

  [[nodiscard]] const Offered* find(std::string_view name) const {
    for (const Offered& offered : tools)
      if (offered.tool.name == name) return &offered;
    return nullptr;
  }

  void log(const std::string& line) const {
    if (options.log) options.log(line);
  }

  // --- sending -------------------------------------------------------------------------------------------

  /// Sends an answer, or keeps it until its batch is whole. Under the mutex.
  void answer(json message, const std::shared_ptr<Batch>& batch) {
    if (!batch) {
      send(detail::one_line(message));
      return;
    }
    batch->answers.push_back(std::move(message));
    close_one(*batch);
  }
  /// One message of the batch is done with. Under the mutex.
  void close_one(Batch& batch) {
    if (--batch.open == 0 && !batch.answers.empty()) send(detail::one_line(batch.answers));
  }

  // --- taking messages in --------------------------------------------------------------------------------

  void receive(std::string_view text) {
    reap();
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) return;
    detail::Parsed parsed = detail::parse_message(text, options.depth);
    if (!parsed.fault.empty()) {
      refuse({RpcError::parse, "the line is no JSON: " + parsed.fault + "; send one message a line"});
      return;
    }
    if (!parsed.value.is_array()) {
      take(parsed.value, nullptr);
      return;
    }
    if (agreed != "2025-03-26" || parsed.value.empty()) {
      refuse({RpcError::invalid_request, parsed.value.empty()
                                             ? "an empty list of messages"
                                             : "a list of messages; send one message a line (lists belong to "
                                               "revision 2025-03-26, after its initialize)"});
      return;
    }
    const auto batch = std::make_shared<Batch>();
    batch->open =
        parsed.value.size() + 1;  // one of our own, so that nothing is sent before all are looked at
    for (const json& message : parsed.value) take(message, batch);
    const std::lock_guard lock(mutex);
    close_one(*batch);
  }

  void refuse(const RpcFault& fault, const json& id = nullptr,
              const std::shared_ptr<Batch>& batch = nullptr) {
    log("refused: " + fault.message);
    const std::lock_guard lock(mutex);
    answer(detail::error_message(id, fault), batch);
  }

  void take(const json& message, const std::shared_ptr<Batch>& batch) {
    const auto nothing_to_say = [&] {
      if (!batch) return;
      const std::lock_guard lock(mutex);
      close_one(*batch);
    };
    if (!message.is_object()) {
      refuse({RpcError::invalid_request, "a message is a JSON object"}, nullptr, batch);
      return;
    }
    const auto id = message.find("id");
    const bool known_id = id != message.end() && !detail::id_key(*id).empty();
    const json reply_to = known_id ? *id : json(nullptr);
    const auto method = message.find("method");
    if (method == message.end() && (message.contains("result") || message.contains("error"))) {
      log("ignored an answer: this server asks nothing");
      nothing_to_say();
      return;
    }
    if (message.value("jsonrpc", json()) != "2.0") {
      refuse({RpcError::invalid_request, "\"jsonrpc\" must be \"2.0\""}, reply_to, batch);
      return;
    }
    if (method == message.end() || !method->is_string()) {
      refuse({RpcError::invalid_request, "\"method\" must be a text"}, reply_to, batch);
      return;
    }
    if (id != message.end() && !known_id) {
      refuse({RpcError::invalid_request, "\"id\" must be a text or a whole number"}, reply_to, batch);
      return;
    }
    const json params = message.value("params", json::object());
    if (id == message.end()) {
      notified(method->get<std::string>(), params);
      nothing_to_say();
      return;
    }
    if (!params.is_object()) {
      refuse({RpcError::invalid_params, "\"params\" must be an object"}, reply_to, batch);
      return;
    }
    try {
      request(reply_to, method->get<std::string>(), params, batch);
    } catch (const RpcFault& fault) {
      refuse(fault, reply_to, batch);
    } catch (const std::exception& error) {
      refuse({RpcError::internal, std::string("the server failed: ") + error.what()}, reply_to, batch);
    }
  }

  void notified(const std::string& method, const json& params) {
    if (method != "notifications/cancelled") return;  // initialized and others ask for nothing
    if (!params.is_object()) return;
    const std::string key = detail::id_key(params.value("requestId", json()));
    std::stop_source stop;
    {
      const std::lock_guard lock(mutex);
      const auto found = running.find(key);
      if (found == running.end()) return;  // over already, or never was
      found->second->cancelled = true;
      stop = found->second->stop;
    }
    stop.request_stop();  // runs what tools have attached to it, so not under the mutex
  }

  // --- requests ------------------------------------------------------------------------------------------

  /// The era of a request, by what it says of itself; RpcFault where it says too little or what is not
  /// served.
  [[nodiscard]] Era era_of(const std::string& method, const json& params) const {
    const json meta = params.value("_meta", json::object());
    if (!meta.is_object()) throw RpcFault{RpcError::invalid_params, "params._meta must be an object"};
    const auto version = meta.find(detail::meta_version);
    if (version != meta.end()) {
      if (!version->is_string())
        throw RpcFault{RpcError::invalid_params,
                       std::string("params._meta.") + detail::meta_version + " must be a text"};
      if (*version != detail::modern_version)
        throw RpcFault{RpcError::unsupported_version,
                       "Unsupported protocol version",
                       {{"supported", detail::all_versions()}, {"requested", *version}}};
      const auto capabilities = meta.find(detail::meta_capabilities);
      if (capabilities == meta.end() || !capabilities->is_object())
        throw RpcFault{RpcError::invalid_params, std::string("params._meta.") + detail::meta_capabilities +
                                                     " must be an object: {} if there are none"};
      return {std::string(detail::modern_version), *capabilities};
    }
    if (method == "initialize") return {std::string(detail::legacy_versions[0]), {}};
    if (method == "ping" && agreed.empty()) return {std::string(detail::legacy_versions[0]), {}};
    // Whoever asks what is spoken here cannot know it yet.
    if (method == "server/discover" && agreed.empty()) return {std::string(detail::modern_version), {}};
    if (agreed.empty())
      throw RpcFault{RpcError::invalid_params,
                     std::string("the request names no protocol version: give params._meta[\"") +
                         detail::meta_version + "\"] = \"" + std::string(detail::modern_version) +
                         "\" and [\"" + detail::meta_capabilities + "\"], or begin with initialize"};
    return {agreed, client_capabilities};
  }

  void request(const json& id, const std::string& method, const json& params,
               const std::shared_ptr<Batch>& batch) {
    const Era era = era_of(method, params);
    const bool legacy = !era.modern();
    if (method == "tools/call") return call(id, params, era, batch);
    json result;
    if (method == "tools/list")
      result = list(params, era);
    else if (method == "server/discover" && !legacy)
      result = discover();
    else if (method == "initialize" && legacy)
      result = initialize(params);
    else if (method == "ping" && legacy)
      result = json::object();
    else
      throw RpcFault{RpcError::unknown_method,
                     "no such method in revision " + era.version + ": " + method.substr(0, 100) +
                         "; there are server/discover, tools/list and tools/call (before "
                         "2026-07-28 also initialize and ping)"};
    finish(result, era);
    const std::lock_guard lock(mutex);
    if (running.contains(detail::id_key(id)))
      answer(
          detail::error_message(id, {RpcError::invalid_request, "the id is that of a request in progress"}),
          batch);
    else
      answer(detail::result_message(id, std::move(result)), batch);
  }

  [[nodiscard]] json server_info() const {
    json info{{"name", options.name}, {"version", options.version}};
    if (!options.title.empty()) info["title"] = options.title;
    return info;
  }

  /// What every result of the stateless revision carries.
  void finish(json& result, const Era& era) const {
    if (!era.modern()) return;
    result["resultType"] = "complete";
    result["_meta"][detail::meta_server] = server_info();
  }

  void cacheable(json& result) const {
    result["ttlMs"] = options.ttl_ms;
    result["cacheScope"] = "public";
  }

  [[nodiscard]] json capabilities() const { return {{"tools", {{"listChanged", false}}}}; }

  [[nodiscard]] json discover() const {
    json result{{"supportedVersions", detail::all_versions()}, {"capabilities", capabilities()}};
    if (!options.instructions.empty()) result["instructions"] = options.instructions;
    cacheable(result);
    return result;
  }

  json initialize(const json& params) {
    const auto version = params.find("protocolVersion");
    if (version == params.end() || !version->is_string())
      throw RpcFault{RpcError::invalid_params,
                     "params.protocolVersion must be a text such as \"2025-11-25\""};
    const auto capable = params.find("capabilities");
    if (capable == params.end() || !capable->is_object())
      throw RpcFault{RpcError::invalid_params, "params.capabilities must be an object"};
    const auto client = params.find("clientInfo");
    if (client == params.end() || !client->is_object() || !client->value("name", json()).is_string())
      throw RpcFault{RpcError::invalid_params, "params.clientInfo must be an object with name and version"};
    const auto wanted = version->get<std::string>();
    agreed = detail::is_legacy(wanted) ? wanted : std::string(detail::legacy_versions[0]);
    client_capabilities = *capable;
    json result{{"protocolVersion", agreed}, {"capabilities", capabilities()}, {"serverInfo", server_info()}};
    if (!options.instructions.empty()) result["instructions"] = options.instructions;
    return result;
  }

  [[nodiscard]] json list(const json& params, const Era& era) const {
    if (params.contains("cursor"))
      throw RpcFault{RpcError::invalid_params, "unknown cursor: the list has one page, leave cursor out"};
    json all = json::array();
    for (const Offered& offered : tools) {
      const Tool& tool = offered.tool;
      json one{{"name", tool.name}, {"description", tool.description}, {"inputSchema", offered.input}};
      if (era.version >= "2025-03-26")
        one["annotations"] = {{"title", tool.title},
                              {"readOnlyHint", tool.read_only},
                              {"destructiveHint", false},
                              {"idempotentHint", tool.read_only || tool.idempotent},
                              {"openWorldHint", false}};
      if (era.version >= "2025-06-18") {
        one["title"] = tool.title;
        if (!offered.output.is_null()) one["outputSchema"] = offered.output;
      }
      all.push_back(std::move(one));
    }
    json result{{"tools", std::move(all)}};
    if (era.modern()) cacheable(result);
    return result;
  }

  // --- calls ---------------------------------------------------------------------------------------------

  void call(const json& id, const json& params, const Era& era, const std::shared_ptr<Batch>& batch) {
    const auto name = params.find("name");
    if (name == params.end() || !name->is_string())
      throw RpcFault{RpcError::invalid_params, "params.name must be the name of a tool"};
    const Offered* offered = find(name->get<std::string>());
    if (offered == nullptr) {
      std::vector<std::string> names;
      for (const Offered& one : tools) names.push_back(one.tool.name);
      const std::string nearest = nearest_name(name->get<std::string>(), names);
      throw RpcFault{RpcError::invalid_params,
                     "Unknown tool: " + name->get<std::string>().substr(0, 100) +
                         (nearest.empty() ? "; see tools/list" : "; did you mean " + nearest + "?")};
    }
    json arguments = params.value("arguments", json::object());
    if (!arguments.is_object())
      throw RpcFault{RpcError::invalid_params, "params.arguments must be an object"};
    for (const std::string& capability : offered->tool.capabilities)
      if (!era.capabilities.contains(capability))
        throw RpcFault{RpcError::missing_capability,
                       "the tool needs the client's capability " + capability,
                       {{"requiredCapabilities", {{capability, json::object()}}}}};
    json token = nullptr;
    if (const json meta = params.value("_meta", json::object());
        meta.is_object() && meta.contains("progressToken")) {
      token = meta["progressToken"];
      if (detail::id_key(token).empty())
        throw RpcFault{RpcError::invalid_params,
                       "params._meta.progressToken must be a text or a whole number"};
    }

    const std::lock_guard lock(mutex);
    const std::string key = detail::id_key(id);
    if (running.contains(key)) {
      answer(
          detail::error_message(id, {RpcError::invalid_request, "the id is that of a request in progress"}),
          batch);
      return;
    }
    const auto refused = [&](const std::string& why) {
      answer(detail::result_message(id, reply_json(ToolReply::failed(why), era)), batch);
    };
    // What a model got wrong goes where it can read it and try again (2025-11-25, "Error Handling").
    if (const std::string fault = schema_fault(offered->input, arguments); !fault.empty())
      return refused(fault);
    if (running.size() >= options.calls)
      return refused(std::to_string(running.size()) +
                     " calls are running already; wait for one of them, or cancel it");
    const auto started = std::make_shared<Running>();
    started->id = id;
    started->key = key;
    started->tool = &offered->tool;
    started->era = era;
    started->arguments = std::move(arguments);
    started->progress_token = std::move(token);
    started->batch = batch;
    running.emplace(key, started);
    // The thread waits at the mutex until all of this is in place. It must not own what joins it.
    started->thread = std::jthread([this, one = started.get()] { run(*one); });
  }

  void run(Running& one) {
    { const std::lock_guard placed(mutex); }
    const ToolCall call(one.stop.get_token(),
                        [this, &one](double done, std::optional<double> total, std::string_view message) {
                          tell_progress(one, done, total, message);
                        });
    std::optional<ToolReply> reply;
    std::string failure;
    try {
      reply = one.tool->run(one.arguments, call);
    } catch (const Error& error) {
      reply = ToolReply::failed(error.what());
    } catch (const std::exception& error) {
      failure = error.what();
    }
    json message;
    try {
      if (reply) message = detail::result_message(one.id, reply_json(*reply, one.era));
    } catch (const std::exception& error) {
      failure = error.what();
    }
    if (message.is_null()) {
      log("the tool " + one.tool->name + " failed: " + failure);
      message = detail::error_message(one.id, {RpcError::internal, "the tool failed: " + failure});
    }
    const std::lock_guard lock(mutex);
    if (!one.cancelled)
      answer(std::move(message), one.batch);
    else if (one.batch)
      close_one(*one.batch);
    const auto found = running.find(one.key);
    over.push_back(std::move(found->second));
    running.erase(found);
    idle.notify_all();
  }

  void tell_progress(Running& one, double done, std::optional<double> total, std::string_view text) {
    const std::lock_guard lock(mutex);
    if (one.progress_token.is_null() || one.cancelled || !(done > one.told_progress)) return;
    const auto now = Clock::now();
    const bool last = total && done >= *total;
    if (!last && one.told_progress >= 0 &&
        std::chrono::duration<double>(now - one.told_at).count() < options.progress_seconds)
      return;
    one.told_progress = done;
    one.told_at = now;
    json params{{"progressToken", one.progress_token}, {"progress", done}};
    if (total) params["total"] = *total;
    if (!text.empty() && one.era.version >= "2025-03-26") params["message"] = text;
    send(detail::one_line(
        {{"jsonrpc", "2.0"}, {"method", "notifications/progress"}, {"params", std::move(params)}}));
  }

  [[nodiscard]] json reply_json(const ToolReply& reply, const Era& era) const {
    json content = json::array({{{"type", "text"}, {"text", reply.text}}});
    json result;
    if (!reply.structured.empty() && !reply.error) {
      // Clients that know no structured results read the same as text.
      content.push_back({{"type", "text"}, {"text", reply.structured}});
      if (era.version >= "2025-06-18") result["structuredContent"] = json::parse(reply.structured);
    }
    result["content"] = std::move(content);
    result["isError"] = reply.error;
    finish(result, era);
    return result;
  }

  /// Joins the threads of calls that are over.
  void reap() {
    std::vector<std::shared_ptr<Running>> done;
    {
      const std::lock_guard lock(mutex);
      done.swap(over);
    }
  }

  bool wait_idle(double seconds) {
    std::unique_lock lock(mutex);
    return idle.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return running.empty(); });
  }

  void close() {
    std::vector<std::stop_source> stops;
    {
      const std::lock_guard lock(mutex);
      for (auto& [key, one] : running) {
        one->cancelled = true;
        stops.push_back(one->stop);
      }
    }
    for (std::stop_source& stop : stops) stop.request_stop();
    std::unique_lock lock(mutex);
    idle.wait(lock, [this] { return running.empty(); });
    lock.unlock();
    reap();
  }

  std::vector<Offered> tools;
  Send send;
  McpOptions options;
  // Of the handshake; touched by the receiving thread alone.
  std::string agreed;
  json client_capabilities = json::object();

  std::mutex mutex;  ///< of what follows, and of sending
  std::condition_variable idle;
  std::unordered_map<std::string, std::shared_ptr<Running>> running;  ///< by id
  std::vector<std::shared_ptr<Running>> over;
};

McpServer::McpServer(std::vector<Tool> tools, Send send, McpOptions options)
    : impl_(std::make_unique<Impl>(std::move(tools), std::move(send), std::move(options))) {}
McpServer::~McpServer() {
  impl_->close();
}

void McpServer::receive(std::string_view message) {
  impl_->receive(message);
}

void McpServer::receive_cut() {
  impl_->refuse({RpcError::invalid_request, "the line is too long; send less at once"});
}

bool McpServer::wait_idle(double seconds) {
  return impl_->wait_idle(seconds);
}

void serve_mcp(LineChannel& channel, std::vector<Tool> tools, McpOptions options) {
  const double grace = options.last_calls_seconds;
  McpServer server(
      std::move(tools), [&channel](const std::string& message) { (void)channel.write(message); },
      std::move(options));
  while (const std::optional<Line> line = channel.read()) {
    if (line->cut)
      server.receive_cut();
    else
      server.receive(line->text);
  }
  (void)server.wait_idle(grace);
}

}  // namespace kernelsearch
