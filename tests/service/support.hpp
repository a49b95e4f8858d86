// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <fstream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "kernelsearch/service/mcp_server.hpp"
#include "kernelsearch/service/session_book.hpp"
#include "kernelsearch/store/run_store.hpp"
#include "support/temporary_folder.hpp"
#include "support/word_evaluator.hpp"

/// A problem whose kernels are judged by the words in them, and a client that keeps what a server sends.
namespace service_test {

using namespace kernelsearch;
using nlohmann::json;

using support::problem_text;
using support::small_problem;
using support::Words;

/// A kernel of the problem with these words in it.
inline std::string code_with(const std::string& words) {
  return "// " + words + "\n" + small_problem().kernel.regions.device;
}

/// A root with the problem in the folder `twice`, a store beside it, and options for a book on both.
struct Place {
  TemporaryFolder folder;
  std::shared_ptr<Words::Gate> gate = std::make_shared<Words::Gate>();
  std::string device = "a scripted device";
  std::unique_ptr<RunStore> store;

  Place() {
    std::filesystem::create_directories(folder / "root" / "twice");
    std::ofstream(folder / "root" / "twice" / "problem.json") << problem_text;
    store = std::make_unique<RunStore>(folder / "runs.db");
  }
  [[nodiscard]] SessionBookOptions options() const {
    SessionBookOptions options;
    options.root = folder / "root";
    options.measuring.jobs = 1;
    options.evaluator = [gate = gate, device = device](Problem problem, const MeasuringOptions&, bool) {
      return Words{std::move(problem), gate, device};
    };
    return options;
  }
};

/// Waits for what another thread does; false after ten seconds.
template <class Condition>
bool soon(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

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

}  // namespace service_test
