// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "kernelsearch/mcp/mcp_server.hpp"
#include "kernelsearch/mcp/run_tools.hpp"
#include "kernelsearch/mcp/schema_fault.hpp"
#include "run/support.hpp"

/// A client that keeps what a server sends.
namespace mcp_test {

using namespace run_test;

/// A server's messages, in order, and ways to wait for one.
class Client {
 public:
  explicit Client(std::vector<Tool> tools, McpOptions options = quick())
      : server_(
            std::move(tools), [this](const std::string& message) { keep(message); }, std::move(options)) {}

  static McpOptions quick() {
    McpOptions options;
    options.progress_seconds = 0;
    return options;
  }

  void send(const std::string& line) { server_.receive(line); }
  void send(const json& message) { server_.receive(message.dump()); }

  /// A request of the stateless revision; its id.
  int modern(const std::string& method, json params = json::object(), json meta = json::object()) {
    meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
    meta["io.modelcontextprotocol/clientCapabilities"] = json::object();
    params["_meta"] = meta;
    send({{"jsonrpc", "2.0"}, {"id", ++last_}, {"method", method}, {"params", params}});
    return last_;
  }
  int legacy(const std::string& method, const json& params = json::object()) {
    send({{"jsonrpc", "2.0"}, {"id", ++last_}, {"method", method}, {"params", params}});
    return last_;
  }
  json initialize(const std::string& version) {
    const int id = legacy("initialize", {{"protocolVersion", version},
                                         {"capabilities", json::object()},
                                         {"clientInfo", {{"name", "test"}, {"version", "1"}}}});
    send({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}});
    return answer(id)["result"];
  }
  /// A call of a tool; its whole answer.
  json call(const std::string& tool, const json& arguments = json::object()) {
    return answer(modern("tools/call", {{"name", tool}, {"arguments", arguments}}));
  }

  /// The answer to that id, once it comes; null where it does not.
  json answer(const json& id) {
    json found;
    (void)soon([&] {
      for (const json& message : all())
        if (message.is_object() && message.contains("id") && message["id"] == id) found = message;
      return !found.is_null();
    });
    return found;
  }
  [[nodiscard]] std::vector<json> all() {
    const std::lock_guard lock(mutex_);
    return messages_;
  }
  [[nodiscard]] json last() {
    const std::lock_guard lock(mutex_);
    return messages_.empty() ? json() : messages_.back();
  }
  [[nodiscard]] McpServer& server() { return server_; }

 private:
  void keep(const std::string& message) {
    const std::lock_guard lock(mutex_);
    messages_.push_back(json::parse(message));
  }

  std::mutex mutex_;
  std::vector<json> messages_;
  int last_ = 1000;
  McpServer server_;
};

/// A server over a scripted problem, or over other ones below `root`; every reply is checked against its
/// tool's schema. Judged by words, unless the machine is to judge.
struct Desk {
  Place place;
  RunManager book;
  std::map<std::string, json> outputs;  ///< of tools that have structured results
  std::unique_ptr<Client> client;

  explicit Desk(const std::string& data = "", const std::string& root = "", bool machine = false)
      : book(*place.store, options_for(place, root, machine)) {
    const RunToolsOptions options{place.folder / "reports", data};
    for (const Tool& tool : run_tools(book, options))
      if (!tool.output_schema.empty()) outputs[tool.name] = json::parse(tool.output_schema);
    client = std::make_unique<Client>(run_tools(book, options));
  }
  ~Desk() { client.reset(); }

  static RunManagerOptions options_for(const Place& place, const std::string& root, bool machine) {
    RunManagerOptions options = place.options();
    if (!root.empty()) options.root = root;
    if (machine) options.evaluator = nullptr;
    return options;
  }

  /// The result's data, or its text where the tool gives no data.
  json ok(const std::string& tool, const json& arguments = json::object()) {
    const json answer = client->call(tool, arguments);
    INFO(answer.dump());
    REQUIRE(answer.contains("result"));
    REQUIRE(answer["result"]["isError"] == false);
    REQUIRE(answer["result"]["content"].size() == 1);
    text = answer["result"]["content"][0]["text"].get<std::string>();
    if (!outputs.contains(tool)) {
      CHECK(!answer["result"].contains("structuredContent"));
      return text;
    }
    const json& structured = answer["result"]["structuredContent"];
    CHECK_MESSAGE(schema_fault(outputs[tool], structured, "result") == "", structured.dump());
    return structured;
  }
  std::string refused(const std::string& tool, const json& arguments = json::object()) {
    const json answer = client->call(tool, arguments);
    INFO(answer.dump());
    REQUIRE(answer.contains("result"));
    CHECK(answer["result"]["isError"] == true);
    return answer["result"]["content"][0]["text"].get<std::string>();
  }
  std::string text;  ///< of the last reply
};

inline bool has(const std::string& all, const std::string& part) {
  INFO("text: ", all, "\nwanted: ", part);
  const bool found = all.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

}  // namespace mcp_test
