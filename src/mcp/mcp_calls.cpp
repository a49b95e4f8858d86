// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mcp_server_impl.hpp"

#include <utility>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/nearest.hpp"
#include "kernelsearch/mcp/schema_fault.hpp"

namespace kernelsearch {

using Clock = std::chrono::steady_clock;

void McpServer::Impl::call(const json& id, const json& params, const Era& era,
                           const std::shared_ptr<Batch>& batch) {
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
  if (!arguments.is_object()) throw RpcFault{RpcError::invalid_params, "params.arguments must be an object"};
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
      throw RpcFault{RpcError::invalid_params, "params._meta.progressToken must be a text or a whole number"};
  }

  const std::lock_guard lock(mutex);
  const std::string key = detail::id_key(id);
  if (running.contains(key)) {
    answer(detail::error_message(id, {RpcError::invalid_request, "the id is that of a request in progress"}),
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

void McpServer::Impl::run(Running& one) {
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

void McpServer::Impl::tell_progress(Running& one, double done, std::optional<double> total,
                                    std::string_view text) {
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

nlohmann::json McpServer::Impl::reply_json(const ToolReply& reply, const Era& era) const {
  json content = json::array({{{"type", "text"}, {"text", reply.text}}});
  json result;
  if (!reply.structured.empty() && !reply.error) {
    // The revisions with a handshake have clients that show their models the text blocks alone, so these hold
    // the same again, as 2025-06-18 advises; before it there is no other place. Clients of the stateless
    // revision know structured results: they get one copy.
    if (!era.modern()) content.push_back({{"type", "text"}, {"text", reply.structured}});
    if (era.version >= "2025-06-18") result["structuredContent"] = json::parse(reply.structured);
  }
  result["content"] = std::move(content);
  result["isError"] = reply.error;
  finish(result, era);
  return result;
}

void McpServer::Impl::reap() {
  std::vector<std::shared_ptr<Running>> done;
  {
    const std::lock_guard lock(mutex);
    done.swap(over);
  }
}

bool McpServer::Impl::wait_idle(double seconds) {
  std::unique_lock lock(mutex);
  return idle.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return running.empty(); });
}

void McpServer::Impl::close() {
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

}  // namespace kernelsearch
