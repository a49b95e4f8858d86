// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/mcp/mcp_server.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <map>
#include <random>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/rng.hpp"
#include "mcp/support.hpp"

using namespace mcp_test;

namespace {

constexpr const char* numbers =
    R"({"type": "object", "properties": {"a": {"type": "integer", "description": "a number"}, "wait": {"type": "boolean"}}, "required": ["a"], "additionalProperties": false})";

/// `double` doubles, `wait` waits for its cancellation or the gate, `fail` fails in the way asked for.
struct Tools {
  std::shared_ptr<std::atomic<int>> running = std::make_shared<std::atomic<int>>(0);
  std::shared_ptr<std::atomic<bool>> gate = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<std::atomic<int>> stopped = std::make_shared<std::atomic<int>>(0);

  [[nodiscard]] std::vector<Tool> all() const {
    Tool twice;
    twice.name = "double";
    twice.title = "Double";
    twice.description = "Doubles a number.";
    twice.input_schema = numbers;
    twice.output_schema =
        R"({"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]})";
    twice.read_only = true;
    twice.run = [](const json& arguments, const ToolCall&) {
      const int b = 2 * arguments["a"].get<int>();
      return ToolReply{"it is " + std::to_string(b), json{{"b", b}}.dump(), false};
    };
    Tool wait;
    wait.name = "wait";
    wait.input_schema = R"({"type": "object"})";
    wait.run = [*this](const json& arguments, const ToolCall& call) {
      ++*running;
      double told = 0;
      const double steps = arguments.value("steps", 1e9);
      while (!*gate && !call.stop().stop_requested() && told < steps) {
        call.progress(++told, steps < 1e9 ? std::optional(steps) : std::nullopt, "step");
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      if (call.stop().stop_requested()) ++*stopped;
      --*running;
      return ToolReply{"waited", {}, false};
    };
    Tool fail;
    fail.name = "fail";
    fail.input_schema = R"({"type": "object"})";
    fail.run = [](const json& arguments, const ToolCall&) -> ToolReply {
      const std::string how = arguments.value("how", "");
      if (how == "config") throw ConfigError("this was wrong");
      if (how == "other") throw std::runtime_error("something broke");
      if (how == "bytes") return {"bad \xff bytes", {}, false};
      if (how == "structure") return {"text", "{no json", false};
      return ToolReply::failed("cannot");
    };
    Tool asks;
    asks.name = "asks";
    asks.input_schema = R"({"type": "object"})";
    asks.capabilities = {"sampling"};
    asks.run = [](const json&, const ToolCall&) { return ToolReply{"asked", {}, false}; };
    return {twice, wait, fail, asks};
  }
};

int code_of(const json& message) {
  return message.is_object() && message.contains("error") ? message["error"]["code"].get<int>() : 0;
}

}  // namespace

TEST_CASE("McpServer: server/discover says what is spoken, with and without _meta") {
  Client client(Tools().all());
  for (const int id : {client.modern("server/discover"), client.legacy("server/discover")}) {
    const json result = client.answer(id)["result"];
    CHECK(result["resultType"] == "complete");
    CHECK(result["supportedVersions"] ==
          json({"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}));
    CHECK(result["capabilities"]["tools"].is_object());
    CHECK(result["ttlMs"].is_number_unsigned());
    CHECK(result["cacheScope"] == "public");
    CHECK(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "kernelsearch");
  }
}

TEST_CASE("McpServer: stateless requests list and call tools") {
  Client client(Tools().all());
  const json list = client.answer(client.modern("tools/list"))["result"];
  CHECK(list["resultType"] == "complete");
  CHECK(list["ttlMs"] == 3'600'000);
  CHECK(list["cacheScope"] == "public");
  REQUIRE(list["tools"].size() == 4);
  const json& tool = list["tools"][0];
  CHECK(tool["name"] == "double");
  CHECK(tool["title"] == "Double");
  CHECK(tool["inputSchema"]["required"] == json({"a"}));
  CHECK(tool["outputSchema"]["type"] == "object");
  CHECK(tool["annotations"]["readOnlyHint"] == true);
  CHECK(list["tools"][1]["annotations"]["readOnlyHint"] == false);
  CHECK(!list["tools"][1].contains("outputSchema"));

  const json result = client.call("double", {{"a", 21}})["result"];
  CHECK(result["resultType"] == "complete");
  CHECK(result["isError"] == false);
  CHECK(result["structuredContent"] == json{{"b", 42}});
  CHECK(result["content"][0] == json{{"type", "text"}, {"text", "it is 42"}});
  CHECK(result["content"].size() == 1);  // its data is there once
}

TEST_CASE("McpServer: requests of the stateless revision must say what they need to") {
  Client client(Tools().all());
  const auto refused = [&client](const json& meta, int code) {
    client.send({{"jsonrpc", "2.0"}, {"id", "x"}, {"method", "tools/list"}, {"params", {{"_meta", meta}}}});
    const json message = client.last();
    CHECK(code_of(message) == code);
    CHECK(message["id"] == "x");
    return message["error"];
  };
  const std::string v = "io.modelcontextprotocol/protocolVersion",
                    c = "io.modelcontextprotocol/clientCapabilities";
  CHECK(refused({{v, "2026-07-28"}}, -32602)["message"].get<std::string>().find("clientCapabilities") !=
        std::string::npos);
  refused({{v, 5}, {c, json::object()}}, -32602);
  refused({{v, "2026-07-28"}, {c, 1}}, -32602);
  refused("text", -32602);
  for (const char* version : {"1900-01-01", "2025-11-25", ""}) {
    const json error = refused({{v, version}, {c, json::object()}}, -32022);
    CHECK(error["data"]["requested"] == version);
    CHECK(error["data"]["supported"][0] == "2026-07-28");
  }
  // Without any of it, and without initialize, a request belongs to no revision.
  CHECK(code_of(client.answer(client.legacy("tools/list"))) == -32602);
  CHECK(code_of(client.answer(client.legacy("tools/call", {{"name", "double"}}))) == -32602);
  // What the revision has dropped is not there.
  for (const char* gone : {"initialize", "ping", "resources/list", "logging/setLevel"})
    CHECK(code_of(client.answer(client.modern(gone))) == -32601);
}

TEST_CASE("McpServer: a tool that needs a capability of the client") {
  Client client(Tools().all());
  const json error = client.call("asks")["error"];
  CHECK(error["code"] == -32021);
  CHECK(error["data"]["requiredCapabilities"] == json{{"sampling", json::object()}});
  client.send({{"jsonrpc", "2.0"},
               {"id", "able"},
               {"method", "tools/call"},
               {"params",
                {{"name", "asks"},
                 {"_meta",
                  {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                   {"io.modelcontextprotocol/clientCapabilities", {{"sampling", json::object()}}}}}}}});
  CHECK(client.answer("able")["result"]["content"][0]["text"] == "asked");
}

TEST_CASE("McpServer: initialize agrees on a revision, and results keep to it") {
  for (const std::string version : {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}) {
    CAPTURE(version);
    Client client(Tools().all());
    CHECK(client.answer(client.legacy("ping"))["result"] == json::object());  // allowed before, too
    const json agreed = client.initialize(version);
    CHECK(agreed["protocolVersion"] == version);
    CHECK(agreed["serverInfo"]["version"] == KERNELSEARCH_VERSION);
    CHECK(agreed["capabilities"]["tools"].is_object());
    CHECK(client.answer(client.legacy("ping"))["result"] == json::object());
    const json list = client.answer(client.legacy("tools/list"))["result"];
    CHECK(!list.contains("resultType"));
    CHECK(!list.contains("ttlMs"));
    CHECK(list["tools"][0].contains("annotations") == (version >= "2025-03-26"));
    CHECK(list["tools"][0].contains("outputSchema") == (version >= "2025-06-18"));
    CHECK(list["tools"][0].contains("title") == (version >= "2025-06-18"));
    const json result =
        client.answer(client.legacy("tools/call", {{"name", "double"}, {"arguments", {{"a", 3}}}}))["result"];
    CHECK(result.contains("structuredContent") == (version >= "2025-06-18"));
    CHECK(!result.contains("_meta"));
    CHECK(result["content"].size() == 2);
    // A stateless request among them is served as one.
    CHECK(client.answer(client.modern("tools/list"))["result"]["resultType"] == "complete");
    CHECK(code_of(client.answer(client.legacy("server/discover"))) == -32601);
  }
  Client client(Tools().all());
  CHECK(client.initialize("2099-01-01")["protocolVersion"] == "2025-11-25");
  CHECK(client.initialize("2026-07-28")["protocolVersion"] == "2025-11-25");
  CHECK(code_of(client.answer(client.legacy("initialize"))) == -32602);
  CHECK(code_of(client.answer(client.legacy("initialize", {{"protocolVersion", "2025-11-25"}}))) == -32602);
}

TEST_CASE("McpServer: malformed messages get the error that JSON-RPC has for them") {
  Client client(Tools().all());
  const auto refused = [&client](const std::string& line, int code, const json& id = nullptr) {
    const std::size_t before = client.all().size();
    client.send(line);
    REQUIRE(client.all().size() == before + 1);
    CAPTURE(line);
    CHECK(code_of(client.last()) == code);
    CHECK(client.last()["id"] == id);
    CHECK(client.last()["jsonrpc"] == "2.0");
    CHECK(!client.last()["error"]["message"].get<std::string>().empty());
  };
  refused("hello", -32700);
  refused("{", -32700);
  refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", -32700);
  refused(std::string(100'000, '['), -32700);
  refused(R"({"a":)" + std::string(100, '[') + std::string(100, ']') + "}", -32700);
  refused("5", -32600);
  refused("[]", -32600);
  refused(R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])", -32600);  // lists belong to one revision
  refused(R"({"id":1,"method":"ping"})", -32600, 1);
  refused(R"({"jsonrpc":"1.0","id":1,"method":"ping"})", -32600, 1);
  refused(R"({"jsonrpc":"2.0","id":1})", -32600, 1);
  refused(R"({"jsonrpc":"2.0","id":1,"method":7})", -32600, 1);
  refused(R"({"jsonrpc":"2.0","id":null,"method":"ping"})", -32600);
  refused(R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", -32600);
  refused(R"({"jsonrpc":"2.0","id":[1],"method":"ping"})", -32600);
  refused(R"({"jsonrpc":"2.0","id":"p","method":"ping","params":[1]})", -32602, "p");
  refused(R"({"jsonrpc":"2.0","id":"p","method":"ping","params":null})", -32602, "p");
  client.server().receive_cut();
  CHECK(code_of(client.last()) == -32600);

  // Notifications and answers are never answered, whatever is in them; nor are empty lines.
  const std::size_t before = client.all().size();
  for (const char* line :
       {R"({"jsonrpc":"2.0","method":"notifications/initialized"})",
        R"({"jsonrpc":"2.0","method":"tools/call"})",
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}})",
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}})",
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":[]})",
        R"({"jsonrpc":"2.0","method":"notifications/cancelled"})", R"({"jsonrpc":"2.0","id":1,"result":{}})",
        R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}})", "", "  \t"})
    client.send(std::string(line));
  CHECK(client.all().size() == before);
}

TEST_CASE("McpServer: calls that cannot be made") {
  Client client(Tools().all());
  const auto code = [&client](const json& params) {
    return code_of(client.answer(client.modern("tools/call", params)));
  };
  CHECK(code(json::object()) == -32602);
  CHECK(code({{"name", 5}}) == -32602);
  CHECK(code({{"name", "double"}, {"arguments", "a"}}) == -32602);
  const json unknown = client.call("doubel")["error"];
  CHECK(unknown["code"] == -32602);
  CHECK(unknown["message"].get<std::string>().find("did you mean double?") != std::string::npos);
  CHECK(code_of(client.answer(client.modern("tools/list", {{"cursor", "x"}}))) == -32602);
  CHECK(code_of(client.answer(client.modern("tools/call", {{"name", "double"}}, {{"progressToken", 1.5}}))) ==
        -32602);

  // What a model can put right itself comes back as a result that it can read.
  const auto text = [&client](const json& arguments) {
    const json result = client.call("double", arguments)["result"];
    CHECK(result["isError"] == true);
    CHECK(!result.contains("structuredContent"));
    return result["content"][0]["text"].get<std::string>();
  };
  CHECK(text(json::object()) == "arguments.a is missing; give a: a number");
  CHECK(text({{"a", "x"}}) == "arguments.a is \"x\"; give an integer");
  CHECK(text({{"a", 1}, {"wiat", true}}) == "arguments has no \"wiat\"; did you mean wait?");
}

TEST_CASE("McpServer: tools that fail") {
  Client client(Tools().all());
  json result = client.call("fail")["result"];
  CHECK(result["isError"] == true);
  CHECK(result["content"][0]["text"] == "cannot");
  result = client.call("fail", {{"how", "config"}})["result"];
  CHECK(result["isError"] == true);
  CHECK(result["content"][0]["text"] == "this was wrong");
  CHECK(code_of(client.call("fail", {{"how", "other"}})) == -32603);
  CHECK(code_of(client.call("fail", {{"how", "structure"}})) == -32603);
  CHECK(client.call("fail", {{"how", "bytes"}})["result"]["content"][0]["text"] == "bad \xEF\xBF\xBD bytes");
}

TEST_CASE("McpServer: calls run at once, and answers find their callers") {
  const Tools tools;
  Client client(tools.all());
  std::vector<int> ids;
  for (int i = 0; i < 8; ++i) ids.push_back(client.modern("tools/call", {{"name", "wait"}}));
  REQUIRE(soon([&] { return *tools.running == 8; }));
  // Quick ones overtake.
  CHECK(client.call("double", {{"a", 1}})["result"]["structuredContent"]["b"] == 2);
  CHECK(*tools.running == 8);
  // An id that is in use is refused, whatever the method.
  const std::size_t before = client.all().size();
  client.send({{"jsonrpc", "2.0"},
               {"id", ids[0]},
               {"method", "tools/call"},
               {"params",
                {{"name", "double"},
                 {"arguments", {{"a", 1}}},
                 {"_meta",
                  {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                   {"io.modelcontextprotocol/clientCapabilities", json::object()}}}}}});
  REQUIRE(client.all().size() == before + 1);
  CHECK(code_of(client.last()) == -32600);
  *tools.gate = true;
  CHECK(client.server().wait_idle(10));
  int answers = 0;
  for (const json& message : client.all())
    if (message.contains("result") && message["result"].contains("content") &&
        message["result"]["content"][0]["text"] == "waited")
      ++answers;
  CHECK(answers == 8);
}

TEST_CASE("McpServer: only so many calls at once") {
  const Tools tools;
  McpOptions options = Client::quick();
  options.calls = 2;
  Client client(tools.all(), options);
  client.modern("tools/call", {{"name", "wait"}});
  client.modern("tools/call", {{"name", "wait"}});
  const json third = client.call("double", {{"a", 1}})["result"];
  CHECK(third["isError"] == true);
  CHECK(third["content"][0]["text"].get<std::string>().find("2 calls are running") == 0);
  *tools.gate = true;
  CHECK(client.server().wait_idle(10));
  CHECK(client.call("double", {{"a", 1}})["result"]["isError"] == false);
}

TEST_CASE("McpServer: progress goes to whoever gave a token, rises, and ends before the answer") {
  for (const std::string version : {"2024-11-05", "2025-11-25", "2026-07-28"}) {
    CAPTURE(version);
    Client client(Tools().all());
    json meta{{"progressToken", "t-1"}};
    int id = 0;
    const json params{{"name", "wait"}, {"arguments", {{"steps", 5}}}};
    if (version == "2026-07-28") {
      id = client.modern("tools/call", params, meta);
    } else {
      client.initialize(version);
      json with = params;
      with["_meta"] = meta;
      id = client.legacy("tools/call", with);
    }
    REQUIRE(client.answer(id).contains("result"));
    double before = 0;
    std::size_t count = 0;
    bool answered = false;
    for (const json& message : client.all()) {
      if (message.contains("id") && message["id"] == id) answered = true;
      if (message.value("method", "") != "notifications/progress") continue;
      CHECK(!answered);
      CHECK(!message.contains("id"));
      const json& p = message["params"];
      CHECK(p["progressToken"] == "t-1");
      CHECK(p["progress"].get<double>() > before);
      CHECK(p["total"] == 5);
      CHECK(p.contains("message") == (version != "2024-11-05"));
      before = p["progress"].get<double>();
      ++count;
    }
    CHECK(count == 5);
  }
  // Without a token there is none.
  Client client(Tools().all());
  client.answer(client.modern("tools/call", {{"name", "wait"}, {"arguments", {{"steps", 5}}}}));
  CHECK(client.all().size() == 1);
  // Often, but not too often; the last one in any case.
  McpOptions slow;
  slow.progress_seconds = 1000;
  Client rare(Tools().all(), slow);
  rare.answer(
      rare.modern("tools/call", {{"name", "wait"}, {"arguments", {{"steps", 50}}}}, {{"progressToken", 7}}));
  REQUIRE(rare.all().size() == 3);
  CHECK(rare.all()[0]["params"]["progress"] == 1);
  CHECK(rare.all()[1]["params"]["progress"] == 50);
}

TEST_CASE("McpServer: a cancelled call stops and is not answered") {
  const Tools tools;
  Client client(tools.all());
  client.initialize("2025-11-25");
  const int a = client.legacy("tools/call", {{"name", "wait"}});
  const int b = client.modern("tools/call", {{"name", "wait"}}, {{"progressToken", 1}});
  REQUIRE(soon([&] { return *tools.running == 2; }));
  client.send({{"jsonrpc", "2.0"},
               {"method", "notifications/cancelled"},
               {"params", {{"requestId", b}, {"reason", "no"}}}});
  REQUIRE(soon([&] { return *tools.running == 1; }));
  CHECK(*tools.stopped == 1);
  client.send({{"jsonrpc", "2.0"},
               {"method", "notifications/cancelled"},
               {"params", {{"requestId", std::to_string(a)}}}});
  CHECK(client.answer(client.legacy("ping"))["result"] == json::object());
  CHECK(*tools.running == 1);  // a text is another id than a number
  client.send({{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", a}}}});
  CHECK(client.server().wait_idle(10));
  for (const json& message : client.all())
    if (message.contains("id")) CHECK((message["id"] != a && message["id"] != b));
  // The id may be used again.
  CHECK(client.call("double", {{"a", 1}})["result"]["isError"] == false);
}

TEST_CASE("McpServer: lists of messages in the one revision that has them") {
  const Tools tools;
  Client client(tools.all());
  client.initialize("2025-03-26");
  const std::size_t before = client.all().size();
  client.send(json::array(
      {{{"jsonrpc", "2.0"}, {"id", "a"}, {"method", "ping"}},
       {{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}},
       {{"jsonrpc", "2.0"}, {"id", "b"}, {"method", "tools/call"}, {"params", {{"name", "wait"}}}},
       {{"jsonrpc", "2.0"}, {"id", "c"}, {"method", "nothing"}},
       17}));
  CHECK(client.all().size() == before);  // one answer, once all are there
  *tools.gate = true;
  REQUIRE(soon([&] { return client.all().size() == before + 1; }));
  const json answers = client.last();
  REQUIRE(answers.is_array());
  REQUIRE(answers.size() == 4);
  std::map<std::string, json> by;
  for (const json& one : answers) by[one["id"].dump()] = one;
  CHECK(by["\"a\""]["result"] == json::object());
  CHECK(by["\"b\""]["result"]["content"][0]["text"] == "waited");
  CHECK(code_of(by["\"c\""]) == -32601);
  CHECK(code_of(by["null"]) == -32600);
  // Nothing but notifications: nothing comes back. A cancelled member does not hold back the others.
  client.send(json::array({{{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}}}));
  CHECK(client.all().size() == before + 1);
  *tools.gate = false;
  client.send(json::array(
      {{{"jsonrpc", "2.0"}, {"id", "d"}, {"method", "tools/call"}, {"params", {{"name", "wait"}}}},
       {{"jsonrpc", "2.0"}, {"id", "e"}, {"method", "ping"}}}));
  client.send({{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", "d"}}}});
  REQUIRE(soon([&] { return client.all().size() == before + 2; }));
  REQUIRE(client.last().size() == 1);
  CHECK(client.last()[0]["id"] == "e");
}

TEST_CASE("McpServer: tools must be well made") {
  const auto made = [](std::vector<Tool> tools) { McpServer(std::move(tools), [](const std::string&) {}); };
  std::vector<Tool> tools = Tools().all();
  made(tools);
  tools[1].name = "double";
  CHECK_THROWS_AS(made(tools), ConfigError);
  tools = Tools().all();
  tools[0].input_schema = "{";
  CHECK_THROWS_AS(made(tools), ConfigError);
  tools[0].input_schema = R"({"type": "array"})";
  CHECK_THROWS_AS(made(tools), ConfigError);
  tools = Tools().all();
  tools[0].run = nullptr;
  CHECK_THROWS_AS(made(tools), ConfigError);
}

TEST_CASE("serve_mcp: lines in, lines out, the end of the input ends it and what runs") {
  int in[2], out[2];
  REQUIRE(pipe(in) == 0);
  REQUIRE(pipe(out) == 0);
  const Tools tools;
  {
    LineChannel channel(in[0], out[1], 1000);
    std::thread server([&] {
      McpOptions options = Client::quick();
      options.last_calls_seconds = 0.01;
      serve_mcp(channel, tools.all(), options);
    });
    LineChannel client(out[0], in[1]);
    CHECK(client.write(R"({"jsonrpc":"2.0","id":1,"method":"ping"})"));
    CHECK(json::parse(client.read()->text)["id"] == 1);
    CHECK(client.write(std::string(5000, 'x')));
    CHECK(code_of(json::parse(client.read()->text)) == -32600);
    CHECK(client.write(
        R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})"));
    REQUIRE(soon([&] { return *tools.running == 1; }));
    close(in[1]);
    server.join();
  }
  CHECK(*tools.running == 0);
  CHECK(*tools.stopped == 1);
  close(in[0]);
  close(out[0]);
  close(out[1]);
}

TEST_CASE("McpServer: whatever comes in, every line out is a message, and the server lives") {
  const Tools tools;
  *tools.gate = true;  // nothing waits
  Client client(tools.all());
  const std::vector<std::string> seeds{
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"a","version":"1"}}})",
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"double","arguments":{"a":3},"_meta":{"progressToken":"x","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})",
      R"([{"jsonrpc":"2.0","id":"s","method":"tools/list","params":{}},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}])",
      R"({"jsonrpc":"2.0","id":3,"method":"server/discover"})",
      R"({"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"fail","arguments":{"how":"config"}}})"};
  const std::vector<std::string> pieces{
      "null",    "[]",          "{}",         "-1",      "1e999", "\"\"", "\"jsonrpc\"", "\\u0000", "\xff",
      "\"id\":", "\"params\":", "2026-07-28", "{\"a\":", "]",     "}"};
  Rng rng(7);
  const auto below = [&rng](std::size_t n) { return static_cast<std::size_t>(rng.below(n)); };
  for (int round = 0; round < 20'000; ++round) {
    std::string line = seeds[below(seeds.size())];
    for (std::size_t edits = 1 + below(4); edits > 0; --edits) {
      const std::size_t at = below(line.size() + 1);
      switch (below(4)) {
        case 0:
          line.insert(at, pieces[below(pieces.size())]);
          break;
        case 1:
          line.erase(at, below(12));
          break;
        case 2:
          if (at < line.size()) line[at] = static_cast<char>(below(256));
          break;
        default:
          line.insert(at, line.substr(below(line.size() + 1), below(40)));
      }
      if (line.empty()) line = "x";
    }
    line.erase(std::remove(line.begin(), line.end(), '\n'), line.end());
    client.send(line);
  }
  CHECK(client.server().wait_idle(30));
  const auto well_made = [](const json& message) {
    if (!message.is_object() || message.value("jsonrpc", json()) != "2.0") return false;
    if (message.contains("method")) return !message.contains("id");
    return message.contains("id") && message.contains("result") != message.contains("error");
  };
  for (const json& message : client.all()) {
    const bool fine =
        message.is_array() ? std::all_of(message.begin(), message.end(), well_made) : well_made(message);
    CHECK_MESSAGE(fine, message.dump());
  }
  CHECK(client.call("double", {{"a", 4}})["result"]["structuredContent"]["b"] == 8);
}
