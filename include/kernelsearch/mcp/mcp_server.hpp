// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/mcp/line_channel.hpp"
#include "kernelsearch/mcp/tool.hpp"
#include "kernelsearch/version.hpp"

namespace kernelsearch {

/// How a server introduces itself, and its limits.
struct McpOptions {
  std::string name = "kernelsearch";
  std::string title = {};
  std::string version = KERNELSEARCH_VERSION;
  std::string instructions = {};     ///< for the model that is going to use the tools
  std::uint64_t ttl_ms = 3'600'000;  ///< how long a client may keep the list of tools
  bool output_schemas = true;        ///< the list of tools says what structured results look like
  std::size_t calls = 32;            ///< at once; more are refused with a failed reply
  std::size_t depth = 64;            ///< of nesting in one message
  double progress_seconds = 0.1;     ///< progress of one call is told at most so often
  double last_calls_seconds = 0.5;   ///< what runs when the input ends has so long, then it is cancelled
  /// For people: what was refused and why. One line without a newline, from any thread.
  std::function<void(std::string_view line)> log = nullptr;
};

/// A server of the Model Context Protocol that offers tools, whatever the transport: messages come in by
/// `receive` and go out by `send`. Each request is served as what it is (modelcontextprotocol.io):
///
/// * one that names its protocol version in `params._meta` by the stateless revision 2026-07-28;
/// * others, once `initialize` was asked for, by the revision that it agreed on: 2024-11-05, 2025-03-26 (with
///   batches), 2025-06-18 or 2025-11-25.
///
/// Calls of tools run on threads of their own, report progress to a client with a token, and are cancelled by
/// `notifications/cancelled`; a cancelled call is not answered. Anything malformed gets a JSON-RPC error,
/// arguments that do not fit a tool's schema a failed reply that says what to write.
class McpServer {
 public:
  using Send = std::function<void(const std::string& message)>;

  /// `send` gets one message a call, never two at once. ConfigError where tools have equal names or schemas
  /// that are not JSON objects.
  McpServer(std::vector<Tool> tools, Send send, McpOptions options = {});
  /// Cancels what runs and waits for it.
  ~McpServer();
  McpServer(const McpServer&) = delete;
  McpServer& operator=(const McpServer&) = delete;

  /// Takes one message in; from one thread. Never throws for what is in it.
  void receive(std::string_view message);
  /// Refuses a message that was too long to be read.
  void receive_cut();

  /// Waits until no call runs, at most so long; whether that was reached.
  bool wait_idle(double seconds);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Serves the lines of a channel until it ends, then cancels what still runs.
void serve_mcp(LineChannel& channel, std::vector<Tool> tools, McpOptions options = {});

}  // namespace kernelsearch
