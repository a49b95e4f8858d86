// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mcp_server_impl.hpp"

#include <utility>

#include "kernelsearch/core/error.hpp"

namespace kernelsearch {

McpServer::Impl::Impl(std::vector<Tool> given, Send to, McpOptions how)
    : send(std::move(to)), options(std::move(how)) {
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

nlohmann::json McpServer::Impl::schema_of(const std::string& tool, const std::string& text) {
  json schema = json::parse(text, nullptr, false);
  if (!schema.is_object() || schema.value("type", "") != "object")
    kernelsearch::detail::raise<ConfigError>("a tool's schema does not describe an object", tool,
                                             "write a JSON Schema with \"type\": \"object\"");
  return schema;
}

const McpServer::Impl::Offered* McpServer::Impl::find(std::string_view name) const {
  for (const Offered& offered : tools)
    if (offered.tool.name == name) return &offered;
  return nullptr;
}

void McpServer::Impl::log(const std::string& line) const {
  if (options.log) options.log(line);
}

void McpServer::Impl::answer(json message, const std::shared_ptr<Batch>& batch) {
  if (!batch) {
    send(detail::one_line(message));
    return;
  }
  batch->answers.push_back(std::move(message));
  close_one(*batch);
}

void McpServer::Impl::close_one(Batch& batch) {
  if (--batch.open == 0 && !batch.answers.empty()) send(detail::one_line(batch.answers));
}

void McpServer::Impl::receive(std::string_view text) {
  reap();
  if (text.find_first_not_of(" \t\r") == std::string_view::npos) return;
  detail::Parsed parsed = detail::parse_message(text, options.depth);
  if (!parsed.fault.empty()) {
    refuse({RpcError::parse, "the line is not JSON: " + parsed.fault + "; send one message a line"});
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
  batch->open = parsed.value.size() + 1;  // one of our own, so that nothing is sent before all are looked at
  for (const json& message : parsed.value) take(message, batch);
  const std::lock_guard lock(mutex);
  close_one(*batch);
}

void McpServer::Impl::refuse(const RpcFault& fault, const json& id, const std::shared_ptr<Batch>& batch) {
  log("refused: " + fault.message);
  const std::lock_guard lock(mutex);
  answer(detail::error_message(id, fault), batch);
}

void McpServer::Impl::take(const json& message, const std::shared_ptr<Batch>& batch) {
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

void McpServer::Impl::notified(const std::string& method, const json& params) {
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

McpServer::McpServer(std::vector<Tool> tools, Send send, McpOptions options)
    : impl_(std::make_unique<Impl>(std::move(tools), std::move(send), std::move(options))) {}
McpServer::~McpServer() {
  impl_->close();
}

void McpServer::receive(std::string_view message) {
  impl_->receive(message);
}

void McpServer::receive_cut() {
  impl_->refuse({detail::RpcError::invalid_request, "the line is too long; send less at once"});
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
