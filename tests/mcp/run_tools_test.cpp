// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/mcp/run_tools.hpp"

#include <doctest/doctest.h>

#include <set>

#include "kernelsearch/run/run_option.hpp"
#include "mcp/support.hpp"

using namespace mcp_test;

namespace {

/// Any object in a schema that says neither which properties it has nor of what kind they are.
void check_strict(const json& schema, const std::string& where) {
  if (schema.is_array()) {
    for (const json& one : schema) check_strict(one, where);
    return;
  }
  if (!schema.is_object()) return;
  if (schema.value("type", json()) == "object" && schema.contains("properties"))
    CHECK_MESSAGE(schema.value("additionalProperties", json()) == false, where);
  for (const auto& [name, member] : schema.items()) check_strict(member, where + "/" + name);
}

}  // namespace

TEST_CASE("run_tools: every tool is described, and its schemas leave nothing open") {
  Desk desk;
  RunToolsOptions options;
  std::set<std::string> names;
  for (const Tool& tool : run_tools(desk.book, options)) {
    CAPTURE(tool.name);
    names.insert(tool.name);
    CHECK(!tool.title.empty());
    CHECK(tool.description.size() > 40);
    const json input = json::parse(tool.input_schema),
               output = tool.output_schema.empty() ? json() : json::parse(tool.output_schema);
    check_strict(input, tool.name);
    check_strict(output, tool.name);
    CHECK(tool.input_schema.find("\"@") == std::string::npos);
    CHECK(tool.output_schema.find("\"@") == std::string::npos);
    for (const auto& property : input["properties"].items())
      CHECK_MESSAGE(property.value().contains("description"), property.key());
  }
  CHECK(names == std::set<std::string>{"start_run", "step", "status", "best", "submit_kernel",
                                       "explain_verdict", "list_methods", "report", "cancel",
                                       "describe_problem", "prompt", "apply", "tune", "profile", "validate",
                                       "compare", "checkpoints"});
  CHECK(run_tools_instructions().find("submit_kernel") != std::string::npos);
}

TEST_CASE(
    "run_tools: without what results look like, the list of tools leaves a model's context to its work") {
  Desk desk;
  const auto bytes = [&](bool schemas) {
    McpOptions options = Client::quick();
    options.output_schemas = schemas;
    Client client(run_tools(desk.book, {}), options);
    return client.answer(client.modern("tools/list"))["result"]["tools"].dump().size();
  };
  CHECK(bytes(false) < 20'000);
  CHECK(bytes(true) > 2 * bytes(false));
}

TEST_CASE("run_tools: start_run takes the options of runs that agents may give, as their rows say") {
  Desk desk;
  json input;
  for (const Tool& tool : run_tools(desk.book, {}))
    if (tool.name == "start_run") input = json::parse(tool.input_schema)["properties"];
  std::set<std::string> wanted{"problem", "problem_json"}, described;
  for (const RunOption& option : run_options())
    if (!option.for_agents.empty()) {
      wanted.insert(std::string(option.name));
      CHECK(input[std::string(option.name)]["description"] == option.for_agents);
    }
  for (const auto& [name, property] : input.items()) described.insert(name);
  CHECK(described == wanted);
  CHECK(input["seed"]["minimum"] == 0);
  CHECK(input["policy"]["default"] == "bayesian");
  CHECK(input["strategies"]["items"]["maxLength"] == 100);
  // What is of the server's machine is not the agent's to say.
  for (const char* name : {"store", "out", "sandbox", "readable", "policy_command"})
    CHECK_FALSE(desk.refused("start_run", {{"problem", "twice"}, {name, "x"}}).empty());
  const json run = desk.ok(
      "start_run",
      {{"problem", "twice"}, {"policy", "random"}, {"seed", 18446744073709551615U}, {"name", "by rows"}});
  CHECK(run["seed"] == 18446744073709551615U);
  CHECK(run["name"] == "by rows");
}

TEST_CASE("run_tools: a policy's run from start to report") {
  Desk desk;
  CHECK(desk.ok("status")["runs"].empty());
  json run =
      desk.ok("start_run", {{"problem", "twice"}, {"policy", "random"}, {"budget", "8"}, {"name", "first"}});
  CHECK(run["run"] == 1);
  CHECK(run["state"] == "paused");
  CHECK(run["best"] == nullptr);
  CHECK(run["name"] == "first");
  has(desk.refused("best", {{"run", 1}}), "no right candidate yet");
  json step = desk.ok("step", {{"run", 1}, {"trials", 3}});
  CHECK(step["trials_told"] == 3);
  CHECK(step["finished"] == false);
  CHECK(step["run"]["state"] == "paused");
  CHECK(step["run"]["verdicts"] == json{{"ok", 3}});
  step = desk.ok("step", {{"run", 1}});
  CHECK(step["trials_told"] == 5);
  CHECK(step["finished"] == true);
  CHECK(step["run"]["state"] == "finished");
  const json status = desk.ok("status", {{"run", 1}, {"trials", 2}});
  REQUIRE(status["trials"].size() == 2);
  CHECK(status["trials"][1]["trial"] == 7);
  const json best = desk.ok("best", {{"run", 1}});
  CHECK(best["best"]["seconds"].get<double>() > 0);
  CHECK(best["best"]["shapes"][0]["shape"] == "large");
  CHECK(best["best"]["speedup"]["pairs"] == 6);
  has(best["source"].get<std::string>(), "void twice(");
  CHECK(!desk.ok("best", {{"run", 1}, {"code", "none"}}).contains("source"));
  has(desk.ok("report", {{"run", 1}})["text"].get<std::string>(), "run 1     first (twice), ended");
  const json data = desk.ok("report", {{"run", 1}, {"format", "json"}, {"limit", 4}});
  REQUIRE(data["trials"].size() == 4);
  CHECK(data["trials"][0]["trial"] == best["best"]["trial"]);
  CHECK(data["trials"][0]["seconds"].get<double>() <= data["trials"][1]["seconds"].get<double>());
  const std::string page = desk.ok("report", {{"run", 1}, {"format", "html"}})["path"];
  CHECK(std::filesystem::file_size(page) > 1000);
  CHECK(page == (desk.place.folder / "reports/run_1.html").string());
  CHECK(desk.ok("cancel", {{"run", 1}})["was_working"] == false);
  // Settings from outside, in place of code.
  desk.ok("start_run", {{"problem", "twice"}, {"policy", "random"}, {"budget", "8"}});
  const json guess =
      desk.ok("submit_kernel", {{"run", 2}, {"settings", {{"UNROLL", 4}, {"BLOCK", 16}, {"FAST", true}}}});
  CHECK(guess["trial"]["settings"]["UNROLL"] == 4);
  CHECK(guess["is_best"] == true);
  has(desk.refused("submit_kernel", {{"run", 2}, {"device", "x"}}), "settings alone");
}

TEST_CASE("run_tools: an agent writes kernels") {
  Desk desk;
  json inlined = json::parse(support::problem_text);
  json run = desk.ok("start_run", {{"problem_json", inlined},
                                   {"policy", "submit"},
                                   {"suggest", "best_of_k"},
                                   {"strategies", {"tile", "fuse"}}});
  CHECK(run["trials"] == 1);
  CHECK(run["best"]["trial"] == 0);
  CHECK(run["next_move"]["kind"] == "rewrite");
  has(desk.text, "suggested next: rewrite trial 0 by ");
  const json regions = desk.ok("best", {{"run", 1}, {"code", "regions"}})["regions"];
  has(regions["device"].get<std::string>(), "void twice(");

  json reply =
      desk.ok("submit_kernel", {{"run", 1}, {"device", code_with("fast")}, {"strategies", {"halve"}}});
  CHECK(reply["is_best"] == true);
  CHECK(reply["trial"]["trial"] == 1);
  CHECK(reply["trial"]["move"]["kind"] == "submitted");
  CHECK(reply["trial"]["speedup"]["ratio"].get<double>() > 1.5);
  has(desk.text, "the best so far");
  reply = desk.ok("submit_kernel", {{"run", 1}, {"device", code_with("broken")}, {"parent", 0}});
  CHECK(reply["trial"]["verdict"] == "build_failed");
  CHECK(reply["is_best"] == false);
  has(reply["trial"]["reason"].get<std::string>(), "error: broken");
  has(reply["cause"].get<std::string>(), "; the compiler's first error: ");
  has(reply["cause"].get<std::string>(), "error: broken");
  has(desk.text, "Fix what the first error");
  reply = desk.ok("submit_kernel", {{"run", 1}, {"device", code_with("bug")}, {"answers", true}});
  CHECK(reply["trial"]["verdict"] == "wrong_result");
  CHECK(reply["trial"]["parents"] == run["next_move"]["parents"]);

  json why = desk.ok("explain_verdict", {{"run", 1}, {"trial", 3}, {"code", true}});
  has(why["meaning"].get<std::string>(), "outside its tolerance");
  CHECK(why["progress"] == 0.625);
  has(why["against_parent"].get<std::string>(), "trial 0: ok");
  has(why["regions"]["device"].get<std::string>(), "bug");
  why = desk.ok("explain_verdict", {{"run", 1}, {"trial", 1}});
  has(why["against_parent"].get<std::string>(), "; this one: takes 0.500 of the time of trial 0");
  CHECK(!why["trial"].contains("objectives"));
  CHECK(why["features"]["words"].get<double>() > 0);

  const json before = desk.ok("status", {{"run", 1}})["runs"][0]["next_move"];
  const json step = desk.ok("step", {{"run", 1}, {"decline", "no idea"}});
  CHECK(step["reason"] == "waiting for kernels");
  CHECK(step["run"]["next_move"] != before);
  why = desk.ok("explain_verdict", {{"run", 1}, {"trial", 4}});
  CHECK(why["trial"]["reason"] == "declined: no idea");
  CHECK(why["trial"]["verdict"] == "not_applicable");
  has(why["advice"].get<std::string>(), "not asked for on this kernel again");
  CHECK(step["run"]["trials"] == 4);  // it cost none
}

TEST_CASE("run_tools: what is wrong is said, with what to do") {
  Desk desk;
  has(desk.refused("start_run"), "give problem, a path below the root");
  has(desk.refused("start_run", {{"problem", "nowhere"}}), "below the root");
  has(desk.refused("start_run", {{"problem", "twice"}, {"polcy", "random"}}), "did you mean policy?");
  has(desk.refused("start_run", {{"problem", "twice"}, {"policy", "randm(default_first=true)"}}),
      "did you mean random?");
  has(desk.refused("start_run", {{"problem", "twice"}, {"policy", "random(first=true)"}}),
      "there is no such option of random: first; there are default_first");
  has(desk.refused("start_run", {{"problem_json", "{\"schema\": 1, \"nam\": 3}"}}), "did you mean \"name\"");
  has(desk.refused("step", {{"run", 5}}), "no such run: 5; call status");
  has(desk.refused("step"), "arguments.run is missing");
  has(desk.refused("step", {{"run", 0}}), "at least 1");
  desk.ok("start_run", {{"problem", "twice"}, {"policy", "submit"}, {"suggest", "none"}});
  has(desk.refused("explain_verdict", {{"run", 1}, {"trial", 9}}), "run 1 has 1 trials, counted from 0");
  has(desk.refused("submit_kernel", {{"run", 1}}), "nothing to judge");
  has(desk.refused("submit_kernel", {{"run", 1}, {"settings", {{"UNROLL", nullptr}}}}),
      "arguments.settings.UNROLL is null");
  has(desk.refused("submit_kernel", {{"run", 1}, {"settings", {{"UNROLL", {{"a", 1}}}}}}),
      "arguments.settings.UNROLL is an object");
  has(desk.refused("step", {{"run", 1}, {"decline", "x"}}), "no move is suggested");
  has(desk.refused("report", {{"run", 1}, {"format", "pdf"}}), "give one of: text, json, html");
  has(desk.refused("list_methods", {{"name", "absent"}}), "no such method");
}

TEST_CASE("run_tools: errors name only what an agent can see: tools, their arguments, what they listed") {
  Desk desk;
  desk.ok("start_run", {{"problem", "twice"}, {"policy", "submit"}, {"suggest", "none"}, {"budget", "2"}});
  desk.ok("submit_kernel", {{"run", 1}, {"device", code_with("bug")}});
  desk.ok("start_run", {{"problem", "twice"}, {"policy", "random"}, {"budget", "2"}});
  const json methods{"memory.nothing_like_it"};
  const std::vector<std::pair<const char*, json>> wrong{
      {"start_run", json::object()},
      {"start_run", {{"problem", "."}}},
      {"start_run", {{"problem", "twize"}}},
      {"start_run", {{"problem", "twice"}, {"policy", "greed"}}},
      {"start_run", {{"problem", "twice"}, {"policy", "zzzzzzzzzzz"}}},
      {"start_run", {{"problem", "twice"}, {"budget", "soon"}}},
      {"start_run", {{"problem", "twice"}, {"policy", "submit"}, {"suggest", "zzzzzzzzzzz"}}},
      {"start_run",
       {{"problem", "twice"}, {"policy", "submit"}, {"suggest", "roofline_budget"}, {"strategies", methods}}},
      {"describe_problem", {{"problem", "."}}},
      {"step", {{"run", 7}}},
      {"best", {{"run", 2}}},
      {"submit_kernel", {{"run", 1}}},
      {"submit_kernel", {{"run", 1}, {"device", "x"}, {"parent", 9}}},
      {"submit_kernel", {{"run", 1}, {"device", "x"}}},
      {"submit_kernel", {{"run", 2}, {"device", "x"}}},
      {"explain_verdict", {{"run", 1}, {"trial", 9}}},
      {"list_methods", {{"name", "none"}}},
      {"prompt", {{"run", 2}}},
      {"apply", {{"run", 1}, {"name", "none"}}},
      {"tune", {{"run", 1}}},
      {"tune", {{"run", 2}}},
      {"profile", {{"run", 1}, {"trial", 1}}},
      {"validate", {{"run", 1}, {"trial", 0}, {"tools", "memcheck"}}},
      {"compare", {{"run", 1}, {"trial", 0}}},
      {"checkpoints", {{"run", 1}, {"action", "restore"}, {"name", "none"}}},
      {"checkpoints", {{"run", 1}, {"action", "name"}, {"name", "x"}, {"trial", 1}}},
      {"checkpoints", {{"run", 2}, {"action", "branch"}, {"name", "x"}, {"from", "start"}}},
      {"cancel", {{"run", 7}}}};
  for (const auto& entry : wrong) {
    const auto& tool = entry.first;  // no structured binding: clang 14 captures none
    const json& arguments = entry.second;
    const std::string text = desk.refused(tool, arguments);
    INFO(tool, " ", arguments.dump(), ": ", text);
    CHECK(text.size() > 20);
    CHECK(text.find("--") == std::string::npos);             // an option of the command
    CHECK(text.find("`kernelsearch") == std::string::npos);  // or the command itself
    CHECK(text.find(".cpp:") == std::string::npos);
  }
}

TEST_CASE("run_tools: methods that suggestions choose from are those of the problem's backend") {
  Desk desk("", std::string(KERNELSEARCH_SOURCE_DIR) + "/examples/cuda");
  const json wanted{{"problem", "matmul_tiled"},
                    {"policy", "submit"},
                    {"suggest", "roofline_budget"},
                    {"strategies", {"memory.async_copy"}}};
  CHECK(desk.ok("start_run", wanted)["policy"] == "submit");
  json host = wanted;
  host["strategies"] = {"latency.independent_accumulators"};
  has(desk.refused("start_run", host), "there is no such method for cuda: latency.independent_accumulators");
}

TEST_CASE("run_tools: work is seen, and stopped, while it goes on") {
  Desk desk;
  desk.ok("start_run", {{"problem", "twice"}, {"policy", "submit"}, {"suggest", "none"}});
  const int waiting = desk.client->modern(
      "tools/call", {{"name", "submit_kernel"}, {"arguments", {{"run", 1}, {"device", code_with("wait")}}}});
  REQUIRE(soon([&] { return desk.place.gate->waiting == 1; }));
  const json row = desk.ok("status", {{"run", 1}})["runs"][0];
  CHECK(row["state"] == "working");
  CHECK(row["doing"] == "submit_kernel");
  has(desk.refused("step", {{"run", 1}}), "is at work");
  CHECK(desk.ok("cancel", {{"run", 1}})["was_working"] == true);
  const json stopped = desk.client->answer(waiting)["result"];
  CHECK(stopped["structuredContent"]["stopped"] == true);
  CHECK(stopped["structuredContent"]["trial"] == nullptr);
  CHECK(schema_fault(desk.outputs["submit_kernel"], stopped["structuredContent"]) == "");
  // The client's own cancellation: no answer, and the run is free again.
  const int again = desk.client->modern(
      "tools/call", {{"name", "submit_kernel"}, {"arguments", {{"run", 1}, {"device", code_with("wait")}}}});
  REQUIRE(soon([&] { return desk.place.gate->waiting == 1; }));
  desk.client->send(
      {{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", again}}}});
  CHECK(desk.client->server().wait_idle(10));
  CHECK(desk.ok("status", {{"run", 1}})["runs"][0]["state"] == "paused");
  desk.place.gate->let_go();
  CHECK(desk.ok("submit_kernel", {{"run", 1}, {"device", code_with("wait")}})["trial"]["trial"] == 1);
}

TEST_CASE("run_tools: list_methods reads what data files there are") {
  const TemporaryFolder data;
  std::filesystem::create_directories(data / "strategies");
  std::ofstream(data / "strategies/tile.json")
      << R"({"name": "tile", "description": "work in blocks", "when": "reuse > 2"})";
  Desk desk(data.path().string());
  json all = desk.ok("list_methods");
  CHECK(all["policies"].size() > 5);
  CHECK(all["suggesting_policies"].size() == 6);
  REQUIRE(all["methods"].size() == 1);
  CHECK(all["methods"][0] == json{{"folder", "strategies"}, {"name", "tile"}, {"summary", "work in blocks"}});
  all = desk.ok("list_methods", {{"name", "tile"}});
  CHECK(all["methods"][0]["definition"]["when"] == "reuse > 2");
  CHECK(all["methods"][0]["file"] == "strategies/tile.json");
  has(desk.refused("list_methods", {{"folder", "../.."}}), "no such method");
  std::filesystem::create_directories(data / "methods");
  std::ofstream(data / "methods/set.json")
      << R"({"name": "set", "methods": [{"id": "compute.fma", "priority": 1}, {"id": "memory.pack", "priority": 7}]})";
  all = desk.ok("list_methods", {{"name", "memory.pack"}});
  REQUIRE(all["methods"].size() == 1);
  CHECK(all["methods"][0]["definition"] == json{{"id", "memory.pack"}, {"priority", 7}});
}
