// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kernelsearch/mcp/mcp_server.hpp"

/// Lines of any client: the server never throws, and each line that it sends is one JSON-RPC message or a
/// list of them. The tool answers at once.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kernelsearch;
  using nlohmann::json;
  Tool tool;
  tool.name = "echo";
  tool.title = "Echo";
  tool.description = "Says it again";
  tool.input_schema =
      R"({"type":"object","properties":{"text":{"type":"string","maxLength":5},"n":{"type":"integer","minimum":1},)"
      R"("list":{"type":"array","items":{"anyOf":[{"type":"number"},{"enum":["a","b"]}]},"maxItems":3}},)"
      R"("required":["text"],"additionalProperties":false})";
  tool.run = [](const json& arguments, const ToolCall&) {
    return ToolReply{arguments["text"].get<std::string>()};
  };
  McpOptions options;
  options.progress_seconds = 0;
  const auto is_message = [](const json& message) {
    return message.is_object() && message.value("jsonrpc", "") == "2.0";
  };
  const auto send = [&](const std::string& line) {
    if (line.find('\n') != std::string::npos) std::abort();
    const json sent = json::parse(line, nullptr, false);
    if (sent.is_array()) {
      for (const json& message : sent)
        if (!is_message(message)) std::abort();
    } else if (!is_message(sent)) {
      std::abort();
    }
  };
  std::vector<Tool> tools;
  tools.push_back(std::move(tool));
  McpServer server(std::move(tools), send, options);
  std::string_view text(reinterpret_cast<const char*>(data), size);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    server.receive(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!server.wait_idle(60)) std::abort();
  return 0;
}
