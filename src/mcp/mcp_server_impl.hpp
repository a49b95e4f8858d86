// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "kernelsearch/mcp/mcp_server.hpp"
#include "mcp_message.hpp"

namespace kernelsearch {
namespace detail {

/// The answers to a list of messages, sent as one list once the last is there (revision 2025-03-26).
struct McpBatch {
  nlohmann::json answers = nlohmann::json::array();
  std::size_t open = 0;
};

/// By which revision a request is served.
struct McpEra {
  std::string version;
  nlohmann::json capabilities = nlohmann::json::object();  ///< of the client
  [[nodiscard]] bool modern() const { return version == modern_version; }
};

/// A call of a tool that runs.
struct McpCall {
  nlohmann::json id;
  std::string key;
  const Tool* tool = nullptr;
  McpEra era;
  nlohmann::json arguments = nlohmann::json::object();
  nlohmann::json progress_token = nullptr;
  std::shared_ptr<McpBatch> batch;
  std::stop_source stop;
  bool cancelled = false;  ///< by the client: nobody waits for the answer
  double told_progress = -1;
  std::chrono::steady_clock::time_point told_at{};
  std::jthread thread;
};

}  // namespace detail

/// Messages come in by `receive` on one thread; each call of a tool runs on its own and answers when it is
/// over.
struct McpServer::Impl {
  using json = nlohmann::json;
  using Batch = detail::McpBatch;
  using Era = detail::McpEra;
  using Running = detail::McpCall;
  using RpcError = detail::RpcError;
  using RpcFault = detail::RpcFault;

  struct Offered {
    Tool tool;
    json input = json::object();
    json output = nullptr;
  };

  Impl(std::vector<Tool> given, Send to, McpOptions how);
  static json schema_of(const std::string& tool, const std::string& text);
  [[nodiscard]] const Offered* find(std::string_view name) const;
  void log(const std::string& line) const;

  // --- sending
  /// Sends an answer, or keeps it until its batch is whole. Under the mutex.
  void answer(json message, const std::shared_ptr<Batch>& batch);
  /// One message of the batch is done with. Under the mutex.
  void close_one(Batch& batch);

  // --- taking messages in
  void receive(std::string_view text);
  void refuse(const RpcFault& fault, const json& id = nullptr, const std::shared_ptr<Batch>& batch = nullptr);
  void take(const json& message, const std::shared_ptr<Batch>& batch);
  void notified(const std::string& method, const json& params);

  // --- requests
  /// The era of a request, by what it says of itself; RpcFault where it says too little or what is not
  /// served.
  [[nodiscard]] Era era_of(const std::string& method, const json& params) const;
  void request(const json& id, const std::string& method, const json& params,
               const std::shared_ptr<Batch>& batch);
  [[nodiscard]] json server_info() const;
  /// What every result of the stateless revision carries.
  void finish(json& result, const Era& era) const;
  void cacheable(json& result) const;
  [[nodiscard]] json capabilities() const;
  [[nodiscard]] json discover() const;
  json initialize(const json& params);
  [[nodiscard]] json list(const json& params, const Era& era) const;

  // --- calls
  void call(const json& id, const json& params, const Era& era, const std::shared_ptr<Batch>& batch);
  void run(Running& one);
  void tell_progress(Running& one, double done, std::optional<double> total, std::string_view text);
  [[nodiscard]] json reply_json(const ToolReply& reply, const Era& era) const;
  /// Joins the threads of calls that are over.
  void reap();
  bool wait_idle(double seconds);
  void close();

  std::vector<Offered> tools;
  Send send;
  McpOptions options;
  // For the handshake; touched by the receiving thread alone.
  std::string agreed;
  json client_capabilities = json::object();

  std::mutex mutex;  ///< of what follows, and of sending
  std::condition_variable idle;
  std::unordered_map<std::string, std::shared_ptr<Running>> running;  ///< by id
  std::vector<std::shared_ptr<Running>> over;
};

}  // namespace kernelsearch
