// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/run/measurement.hpp"
#include "kernelsearch/run/run.hpp"
#include "kernelsearch/run/run_checkpoints.hpp"
#include "mcp/support.hpp"
#include "support/approx.hpp"
#include "support/metric_problem.hpp"
#include "support/scripted_model.hpp"
#include "support/temporary_folder.hpp"

/// The tools with which an agent sees its problem, writes kernels and looks into them.
using namespace mcp_test;
using kernelsearch::test::approx;

namespace {

const std::string source_folder = KERNELSEARCH_SOURCE_DIR;
const std::string data_of_tree = source_folder + "/data";
const std::string host_examples = source_folder + "/examples/host";
const std::string cuda_examples = source_folder + "/examples/cuda";

/// The entry of that name in a list.
json named(const json& list, const std::string& name) {
  for (const json& one : list)
    if (one["name"] == name) return one;
  FAIL_CHECK("none is called " << name);
  return {};
}

std::size_t count_of(const std::string& all, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = all.find(part); at != std::string::npos; at = all.find(part, at + 1)) ++count;
  return count;
}

/// A run of kernels that are handed in, of the scripted problem.
void start_submitting(Desk& desk, const std::string& budget = "200") {
  desk.ok("start_run", {{"problem", "twice"}, {"policy", "submit"}, {"suggest", "none"}, {"budget", budget}});
}

/// A kernel of the scripted problem that uses a macro TILE, at words of its own.
std::string tiled_code(const std::string& words = "") {
  return words_line(words) +
         "extern \"C\" void twice(int n, const float* x, float* y) { for (int t = 0; t < n; t += TILE) "
         "for (int i = t; i < n && i < t + TILE; ++i) y[i] = 2 * x[i]; }";
}

const json tile_values{{"TILE", {{"values", {4, 8, 16, 32}}, {"default", 4}}}};

/// Kernels of the fixture `dot`: right, and right but reading one element more than there is.
std::string dot_code(const std::string& before_sum) {
  return "#include <cstdint>\nextern \"C\" void dot(std::int32_t n, const float* x, const float* y, float* "
         "total) {\n"
         "  float all = 0;\n  for (std::int32_t i = 0; i < n; ++i) all += x[i] * y[i];\n" +
         before_sum + "  *total = all;\n}\n";
}

}  // namespace

TEST_CASE("describe_problem: what must be computed, as data and as the text that models get") {
  Desk desk(data_of_tree, host_examples);
  const json problem = desk.ok("describe_problem", {{"problem", "matmul"}});
  if (device_peaks(read_problem(std::filesystem::path(host_examples) / "matmul")).f32)
    has(desk.text, "- 512: n=512 m=512 k=512, weight 1; 268.4 Mop, 3.146 MB (85.3 op/B); at best ");
  CHECK(problem["backend"] == "host");
  CHECK(problem["function"] == "matmul");
  REQUIRE(problem["arguments"].size() == 6);
  CHECK(problem["arguments"][0] == json{{"name", "n"}, {"kind", "scalar"}, {"type", "i32"}});
  CHECK(problem["arguments"][3]["elements"] == "n*k");
  CHECK(problem["arguments"][3]["role"] == "in");
  CHECK(problem["arguments"][3]["range"] == json{-1.0, 1.0});
  CHECK(problem["arguments"][5]["role"] == "out");
  CHECK(problem["arguments"][5]["tolerance"] == json{{"absolute", 2e-4}, {"relative", 1e-4}});
  CHECK(named(problem["shapes"], "512")["weight"] == 1);
  CHECK(named(problem["shapes"], "odd") ==
        json{{"name", "odd"}, {"variables", {{"n", 61}, {"m", 127}, {"k", 33}}}, {"weight", 0}});
  const json& space = problem["space"];
  CHECK(named(space["tunables"], "BLOCK_ROWS")["default"] == 64);
  CHECK(named(space["tunables"], "LOOP_ORDER")["kind"] == "permutation");
  CHECK(named(space["tunables"], "PREFETCH_A")["if"] == "PACK_A");
  CHECK(named(space["tunables"], "FLAGS")["values"][0] == "");
  CHECK(std::find(space["constraints"].begin(), space["constraints"].end(),
                  "BLOCK_ROWS * BLOCK_K <= 131072") != space["constraints"].end());
  CHECK(problem["build"]["compiler"] == "g++");
  CHECK(problem["build"]["flags"].back() == "${FLAGS}");
  CHECK(problem["operations"] == "2*n*m*k");
  CHECK(problem["traits"] == json{"matmul"});
  CHECK(problem["launch"].empty());
  has(desk.text, "matmul");
  has(desk.text, "array of f32");
  has(desk.text, "n=61");
  // The same of a run, whose problem need not be named again.
  desk.ok("start_run", {{"problem", "matmul"}, {"policy", "submit"}, {"suggest", "none"}});
  CHECK(desk.ok("describe_problem", {{"run", 1}}) == problem);
  has(desk.refused("describe_problem"), "name one: run");
  has(desk.refused("describe_problem"), ", matmul, ");  // what an agent without a shell cannot list itself
  has(desk.refused("describe_problem", {{"problem", "mattmul"}}), "did you mean matmul?");
  has(desk.refused("describe_problem", {{"run", 1}, {"problem", "matmul"}}), "name one: run");
  has(desk.refused("describe_problem", {{"problem", "../cuda"}}), "below the root");
}

TEST_CASE("describe_problem: how a device kernel is launched") {
  Desk desk("", cuda_examples);
  const json problem = desk.ok("describe_problem", {{"problem", "matmul_tiled"}});
  CHECK(problem["backend"] == "cuda");
  REQUIRE(!problem["launch"].empty());
  CHECK(!problem["launch"][0]["grid"].empty());
  CHECK(!problem["launch"][0]["block"].empty());
  CHECK(problem["launch"][0]["function"].is_string());
}

TEST_CASE("describe_problem: programs, build commands and numbers that are not checked fit the schema") {
  Desk examples("", source_folder + "/examples");
  const json external = examples.ok("describe_problem", {{"problem", "external/dot.json"}});
  CHECK(external["external"]["time"] == "claimed");
  CHECK(external["external"]["command"][0] == "python3");
  CHECK(!external.contains("build"));
  const json built = examples.ok("describe_problem", {{"problem", "build_command/dot_rust"}});
  CHECK(!built["build"]["command"].empty());
  const TemporaryFolder folder;
  folder.write("roots/problem.json", support::metric_problem_text);
  Desk desk("", folder.path().string());
  const json problem = desk.ok("describe_problem", {{"problem", "roots"}});
  CHECK(named(problem["arguments"], "steps")["check"] == false);
  CHECK(!named(problem["arguments"], "mean").contains("check"));
}

TEST_CASE("prompt: machine, problem and kernel of a real problem, once, as a text") {
  Desk desk(data_of_tree, host_examples);
  desk.ok("start_run", {{"problem", "matmul"}, {"policy", "submit"}, {"suggest", "none"}});
  desk.ok("submit_kernel", {{"run", 1}, {"settings", {{"TILE_ROWS", 4}}}});
  const std::string facts = desk.ok("prompt", {{"run", 1}, {"trial", 1}}).get<std::string>();
  has(facts, "a scripted device");
  has(facts, "a scripted compiler 1.0");
  has(facts, "matmul");
  has(facts, "BLOCK_ROWS");
  has(facts, "trial 1 of run 1");
  has(facts, "verdict: ok");
  CHECK(count_of(facts, "## Problem: matmul") == 1);
  CHECK(count_of(facts, "Region device:") == 1);
  // Of the best where none is named, also while nothing was measured again.
  CHECK(desk.ok("prompt", {{"run", 1}}).get<std::string>().find("trial 1 of run 1") != std::string::npos);
  has(desk.refused("prompt", {{"run", 1}, {"trial", 7}}), "no such trial");
}

TEST_CASE("prompt: what was tried from a kernel and where it comes from, also for who was not there") {
  Desk desk(data_of_tree);
  start_submitting(desk);
  std::string facts = desk.ok("prompt", {{"run", 1}, {"trial", 0}}).get<std::string>();
  CHECK(count_of(facts, "What was tried from it") == 0);
  CHECK(count_of(facts, "How it came about") == 0);
  desk.ok("submit_kernel", {{"run", 1}, {"device", code_with("fast")}, {"strategies", {"halve"}}});
  desk.ok("submit_kernel",
          {{"run", 1}, {"parent", 0}, {"device", code_with("broken")}, {"strategies", {"unrolling"}}});
  desk.ok("tune", {{"run", 1}, {"trial", 0}, {"trials", 3}, {"policy", "random"}});
  facts = desk.ok("prompt", {{"run", 1}, {"trial", 0}}).get<std::string>();
  has(facts, "\n## What was tried from it\n\n- unrolling (kernel 2): build_failed");
  has(facts, "- halve (kernel 1): 2 times as fast, measured apart");
  has(facts, "(3 configurations of it were tried by tune)");
  CHECK(count_of(facts, "- tune (kernel") == 0);
  has(facts, "## Kernel 2, made from this one by unrolling: it failed");
  has(facts, "error: broken");
  has(facts, "+" + words_line("broken"));
  facts = desk.ok("prompt", {{"run", 1}, {"trial", 1}}).get<std::string>();
  has(facts, "## How it came about\n\n- kernel 0 (the problem's own): ");
  has(facts, "- kernel 1 (halve): ");
  CHECK(count_of(facts, "What was tried from it") == 0);
  // The same stands in the question for a method.
  has(desk.ok("apply", {{"run", 1}, {"name", "tiling"}, {"trial", 0}}).get<std::string>(),
      "- unrolling (kernel 2): build_failed");
}

TEST_CASE("list_methods: what suits the problem's backend and traits, a line each") {
  Desk desk(data_of_tree, host_examples);
  desk.ok("start_run", {{"problem", "matmul"}, {"policy", "submit"}, {"suggest", "none"}});
  const json mine = desk.ok("list_methods");
  CHECK(mine["backend"] == "host");
  CHECK(mine["left_out"].get<int>() > 50);
  CHECK(mine.dump().size() < 16'000);
  CHECK(desk.text.size() < 4'000);
  const auto names_of = [](const json& listed) {
    std::set<std::string> names;
    for (const json& one : listed["methods"]) names.insert(one["name"]);
    return names;
  };
  CHECK(names_of(mine).contains("loop_tiling"));
  CHECK(names_of(mine).contains("compute.register_tile"));
  CHECK(!names_of(mine).contains("warp_tiling"));
  for (const json& one : mine["methods"]) CHECK(one["summary"].get<std::string>().size() <= 170);
  const json cuda = desk.ok("list_methods", {{"backend", "cuda"}});
  CHECK(cuda["backend"] == "cuda");
  CHECK(names_of(cuda).contains("warp_tiling"));
  CHECK(!names_of(cuda).contains("loop_tiling"));
  // A trait leaves out what is for others, and keeps what suits all.
  const json stencil =
      desk.ok("list_methods", {{"backend", "cuda"}, {"trait", "stencil"}, {"folder", "transformations"}});
  CHECK(!names_of(stencil).contains("warp_tiling"));
  CHECK(names_of(stencil).contains("grid_stride"));
  CHECK(stencil["policies"].empty());
  // The run's problem says its traits itself.
  CHECK(names_of(desk.ok("list_methods", {{"run", 1}})).contains("compute.register_tile"));
  CHECK(names_of(desk.ok("list_methods", {{"backend", "host"}, {"trait", "histogram"}}))
            .contains("compute.register_tile") == false);
  const json whole = desk.ok("list_methods", {{"name", "loop_tiling"}});
  REQUIRE(whole["methods"].size() == 1);
  CHECK(whole["methods"][0]["definition"]["passes"].size() == 2);
  CHECK(desk.ok("list_methods", {{"folder", "policies"}})["methods"].empty());
  const json genetic = desk.ok("list_methods", {{"name", "genetic"}});
  REQUIRE(genetic["policies"].size() == 1);
  CHECK(genetic["policies"][0]["options"]["properties"]["population"]["default"] == 20);
}

TEST_CASE("apply: the question for a strategy, a transformation or a method, and how to answer it") {
  Desk desk(data_of_tree, host_examples);
  desk.ok("start_run", {{"problem", "matmul"}, {"policy", "submit"}, {"suggest", "none"}});
  std::string question = desk.ok("apply", {{"run", 1}, {"name", "tiling"}}).get<std::string>();
  has(question, "## What to do: tiling");
  has(question, "BLOCK_ROWS");
  has(question, R"(submit_kernel with {"run": 1, "parent": 0, "strategies": ["tiling"]})");
  question = desk.ok("apply", {{"run", 1}, {"name", "loop_tiling"}, {"trial", 0}}).get<std::string>();
  has(question, "1. split (region device): Split the loops");
  has(question, "2. order (region device)");
  has(question, R"(tunables {"HOST_TILE":{"default":16,"values":[16,32,64,128,256]}})");
  question = desk.ok("apply", {{"run", 1}, {"name", "compute.register_tile"}}).get<std::string>();
  has(question, "Keep a tile of results in registers");
  has(desk.refused("apply", {{"run", 1}, {"name", "warp_tiling"}}),
      "warp_tiling is written for cuda, hip: host");
  has(desk.refused("apply", {{"run", 1}, {"name", "loop_tilling"}}), "did you mean loop_tiling?");
  has(desk.refused("apply", {{"run", 1}, {"name", "bayesian"}}), "no such strategy");
  CHECK(desk.ok("status", {{"run", 1}})["runs"][0]["trials"] == 1);  // nothing was done
}

TEST_CASE("apply: a condition that the kernel does not meet is told with its words") {
  const TemporaryFolder data;
  std::filesystem::create_directories(data / "strategies");
  std::ofstream(data / "strategies/set.json") << R"({"name": "set", "backends": ["host"], "strategies": [
    {"name": "big", "description": "for large kernels", "when": "words > 1000000", "unless": "the kernel is short",
     "steps": ["split it"], "knobs": ["8 to 64"], "hazards": ["edges"], "on": [{"needs": ["avx2"], "lacks": ["avx512"], "knobs": ["10"]}]},
    {"name": "unknown", "description": "nobody knows", "when": "nothing_known > 1", "unless": "it is unknown"},
    {"name": "small", "description": "for short kernels", "when": "words > 10", "unless": "it is empty"}]})";
  Desk desk(data.path().string());
  start_submitting(desk);
  has(desk.ok("apply", {{"run", 1}, {"name", "big"}}).get<std::string>(),
      "It may not be worth trying on this kernel: the kernel is short (words > 1000000)");
  has(desk.ok("apply", {{"run", 1}, {"name", "big"}}).get<std::string>(),
      "for large kernels\n- split it\n- to choose: 8 to 64\n- take care: edges\n"
      "Where the device has avx2 and not avx512:\n- to choose: 10\n");
  for (const char* name : {"small", "unknown"})
    CHECK(count_of(desk.ok("apply", {{"run", 1}, {"name", name}}).get<std::string>(), "not be worth") == 0);
}

TEST_CASE("submit_kernel: tunables of its own, which its children keep and later sessions know") {
  Place place;
  RunToolsOptions where{place.folder / "reports", ""};
  const auto call = [&](Client& client, const std::string& tool, const json& arguments) {
    const json answer = client.call(tool, arguments);
    INFO(answer.dump());
    REQUIRE(answer["result"]["isError"] == false);
    return answer["result"]["structuredContent"];
  };
  {
    RunManager book(*place.store, place.options());
    Client client(run_tools(book, where));
    call(client, "start_run", {{"problem", "twice"}, {"policy", "submit"}, {"suggest", "none"}});
    const json first = call(client, "submit_kernel",
                            {{"run", 1},
                             {"device", tiled_code()},
                             {"tunables", tile_values},
                             {"constraints", {"TILE * UNROLL <= 64"}},
                             {"settings", {{"UNROLL", 2}}}});
    CHECK(first["trial"]["verdict"] == "ok");
    CHECK(first["trial"]["settings"]["TILE"] == 4);
    CHECK(first["trial"]["settings"]["UNROLL"] == 2);
    // A child keeps them though it says nothing of them, and may set them.
    const json child =
        call(client, "submit_kernel",
             {{"run", 1}, {"parent", 1}, {"macros", "#define X 1\n"}, {"settings", {{"TILE", 8}}}});
    CHECK(child["trial"]["settings"]["TILE"] == 8);
    CHECK(child["trial"]["settings"]["UNROLL"] == 2);
    CHECK(child["trial"]["seconds"] < first["trial"]["seconds"]);
  }
  RunManager book(*place.store, place.options());
  Client client(run_tools(book, where));
  const json later = call(client, "submit_kernel", {{"run", 1}, {"parent", 1}, {"settings", {{"TILE", 16}}}});
  CHECK(later["trial"]["settings"]["TILE"] == 16);
  const auto refused = [&](json arguments) {
    arguments["run"] = 1;
    const json answer = client.call("submit_kernel", arguments);
    CHECK(answer["result"]["isError"] == true);
    return answer["result"]["content"][0]["text"].get<std::string>();
  };
  has(refused({{"parent", 1}, {"settings", {{"TILE", 32}, {"UNROLL", 4}}}}), "TILE * UNROLL <= 64");
  has(refused({{"parent", 0}, {"device", code_with("x")}, {"tunables", {{"TILE", {1, 2}}}}}),
      "the code does not use this tunable: TILE");
  has(refused({{"parent", 0}, {"device", tiled_code()}, {"tunables", {{"tile", {1, 2}}}}}), "capitals");
  has(refused({{"parent", 0}, {"device", tiled_code()}, {"tunables", {{"TILE", json::array()}}}}),
      "no value");
  has(refused({{"parent", 0},
               {"device", tiled_code()},
               {"tunables", {{"TILE", {1}}}},
               {"constraints", {"TILE <"}}}),
      "is not an expression");
  // Nothing of this stands in the run; and a policy's run takes none.
  CHECK(call(client, "status", {{"run", 1}})["runs"][0]["trials"] == 4);
  call(client, "start_run", {{"problem", "twice"}, {"policy", "random"}, {"budget", "4"}});
  const json answer = client.call(
      "submit_kernel", {{"run", 2}, {"settings", {{"UNROLL", 4}}}, {"tunables", {{"TILE", {1, 2}}}}});
  has(answer["result"]["content"][0]["text"].get<std::string>(), "settings alone");
}

TEST_CASE("tune: one kernel's tunables are searched, each configuration a trial, and the best is found") {
  Desk desk;
  start_submitting(desk);
  desk.ok("submit_kernel", {{"run", 1}, {"device", tiled_code("fast")}, {"tunables", tile_values}});
  const json known = desk.ok("status", {{"run", 1}, {"trials", 1}})["trials"][0];
  const json tuned = desk.ok("tune", {{"run", 1}, {"trial", 1}, {"trials", 30}, {"policy", "random"}});
  CHECK(tuned["of"] == 1);
  CHECK(tuned["trials_told"] == 30);
  CHECK(tuned["reason"] == "the trials are spent");
  REQUIRE(tuned["tried"].size() == 30);
  CHECK(tuned["run"]["trials"] == 32);
  std::set<std::string> settings;
  for (const json& one : tuned["tried"]) {
    settings.insert(one["settings"].dump());
    CHECK(one["verdict"] == "ok");
  }
  CHECK(settings.size() == 30);  // none twice
  CHECK(!settings.contains(known["settings"].dump()));
  CHECK(tuned["tried"][0]["seconds"].get<double>() <= tuned["tried"][1]["seconds"].get<double>());
  CHECK(tuned["best"]["seconds"] == tuned["tried"][0]["seconds"]);
  CHECK(tuned["best"]["parents"] == json{1});
  CHECK(tuned["best"]["move"]["strategies"] == json{"tune"});
  CHECK(tuned["run"]["best"]["trial"] == tuned["best"]["trial"]);
  has(desk.text, "of the time of trial 1");
  // A policy that learns finds the best of the space, which has 92 configurations, knowing what was tried.
  const json again = desk.ok("tune", {{"run", 1}, {"trial", 1}, {"trials", 30}});
  CHECK(again["best"]["settings"]["TILE"] == 16);
  CHECK(again["best"]["settings"]["UNROLL"] == 4);
  CHECK(again["best"]["settings"]["BLOCK"] == 16);
  for (const json& one : again["tried"]) CHECK(!settings.contains(one["settings"].dump()));
  // By default the best trial's kernel is tuned.
  CHECK(desk.ok("tune", {{"run", 1}, {"trials", 1}})["of"] == again["best"]["trial"]);
}

TEST_CASE("tune: a kernel begins with what was best for the one that it was made from") {
  Desk desk;
  start_submitting(desk);
  desk.ok("submit_kernel", {{"run", 1}, {"device", tiled_code("fast")}, {"tunables", tile_values}});
  const json parent = desk.ok("tune", {{"run", 1}, {"trial", 1}, {"trials", 40}});
  const json made =
      desk.ok("submit_kernel", {{"run", 1}, {"parent", 1}, {"device", tiled_code("fast again")}});
  const int child = made["trial"]["trial"];
  REQUIRE(made["trial"]["settings"] != parent["best"]["settings"]);
  const json tuned = desk.ok("tune", {{"run", 1}, {"trial", child}, {"trials", 2}});
  // Its own settings are known; the default and the best of its parent come next.
  bool tried = false;
  for (const json& one : tuned["tried"]) tried = tried || one["settings"] == parent["best"]["settings"];
  CHECK(tried);
  CHECK(tuned["best"]["settings"] == parent["best"]["settings"]);
}

TEST_CASE("tune: it ends where there is nothing to find, and says why") {
  Desk desk;
  start_submitting(desk, "40");
  desk.ok("submit_kernel", {{"run", 1}, {"device", code_with("bug")}});
  const json wrong = desk.ok("tune", {{"run", 1}, {"trial", 1}, {"trials", 23}, {"policy", "random"}});
  CHECK(wrong["trials_told"] == 15);  // with the one that was known
  CHECK(wrong["reason"] == "none of 16 configurations was right");
  CHECK(wrong["best"] == nullptr);
  const json rest = desk.ok("tune", {{"run", 1}, {"trial", 0}, {"trials", 100}, {"policy", "exhaustive"}});
  CHECK(rest["reason"] == "the policy has no more to propose");
  CHECK(rest["trials_told"].get<int>() < 24);  // 22 configurations, and one is known
  has(desk.refused("tune", {{"run", 1}, {"trial", 0}, {"policy", "baysian"}}), "bayesian");
  has(desk.refused("tune", {{"run", 1}, {"trial", 99}}), "no such trial");
  json untunable = json::parse(support::problem_text);
  untunable["tunables"] = {{"UNROLL", {4}}, {"BLOCK", {16}}, {"FAST", {false}}};
  desk.ok("start_run",
          {{"problem_json", untunable}, {"policy", "submit"}, {"suggest", "none"}, {"budget", "3"}});
  has(desk.refused("tune", {{"run", 2}}), "nothing to tune");
  desk.ok("start_run", {{"problem", "twice"}, {"policy", "submit"}, {"suggest", "none"}, {"budget", "3"}});
  CHECK(desk.ok("tune", {{"run", 3}, {"trials", 9}})["reason"] == "the trial budget is spent");
  has(desk.refused("tune", {{"run", 3}}), "budget of trials is spent");
  desk.ok("start_run", {{"problem", "twice"}, {"policy", "random"}, {"budget", "3"}});
  has(desk.refused("tune", {{"run", 4}}), "searches by itself");
}

TEST_CASE("tune: it reports each trial, and its cancellation leaves the run usable") {
  Desk desk;
  start_submitting(desk);
  const int id = desk.client->modern(
      "tools/call",
      {{"name", "tune"}, {"arguments", {{"run", 1}, {"trial", 0}, {"trials", 5}, {"policy", "random"}}}},
      {{"progressToken", "t"}});
  REQUIRE(desk.client->answer(id).contains("result"));
  int told = 0;
  for (const json& message : desk.client->all())
    if (message.value("method", "") == "notifications/progress") {
      CHECK(message["params"]["total"] == 5);
      CHECK(message["params"]["progress"] == ++told);
    }
  CHECK(told == 5);
  desk.ok("submit_kernel", {{"run", 1}, {"device", code_with("fast")}});
  const int waiting = desk.client->modern(
      "tools/call", {{"name", "submit_kernel"}, {"arguments", {{"run", 1}, {"device", code_with("wait")}}}});
  REQUIRE(soon([&] { return desk.place.gate->waiting == 1; }));
  desk.place.gate->let_go();
  const json slow = desk.client->answer(waiting)["result"]["structuredContent"]["trial"];
  {
    const std::lock_guard lock(desk.place.gate->mutex);
    desk.place.gate->open = false;
  }
  const json before = desk.ok("status", {{"run", 1}})["runs"][0]["trials"];
  const int tuning = desk.client->modern(
      "tools/call",
      {{"name", "tune"},
       {"arguments", {{"run", 1}, {"trial", slow["trial"]}, {"trials", 5}, {"policy", "random"}}}});
  REQUIRE(soon([&] { return desk.place.gate->waiting == 1; }));
  CHECK(desk.ok("status", {{"run", 1}})["runs"][0]["doing"] == "tune");
  desk.client->send(
      {{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", tuning}}}});
  CHECK(desk.client->server().wait_idle(10));
  // The configuration that was under way costs no trial.
  CHECK(desk.ok("status", {{"run", 1}})["runs"][0]["trials"] == before);
  desk.place.gate->let_go();
  const json after =
      desk.ok("tune", {{"run", 1}, {"trial", slow["trial"]}, {"trials", 2}, {"policy", "random"}});
  CHECK(after["trials_told"] == 2);
  CHECK(after["stopped"] == false);
}

TEST_CASE("objectives: wherever a trial is shown, what counts has its name, value, unit and direction") {
  Desk desk;
  json run = desk.ok("start_run", {{"problem", "twice"},
                                   {"policy", "submit"},
                                   {"suggest", "none"},
                                   {"objectives", "maximize waste = time"}});
  CHECK(run["objectives"] == "maximize waste = time");
  const double waste = run["best"]["seconds"];
  CHECK(run["best"]["objectives"] == json{{{"name", "waste"}, {"value", waste}, {"better", "higher"}}});
  has(desk.text, "\nbest: trial 0, waste 1.316, higher is better");
  const json reply = desk.ok("submit_kernel", {{"run", 1}, {"device", code_with("fast")}});
  CHECK(reply["is_best"] == false);
  CHECK(reply["trial"]["objectives"][0]["value"] == approx(waste / 2));
  has(desk.text, "trial 1: ok, waste 0.658, higher is better; in 658.0 ms (");
  has(desk.text, "\nbest so far: trial 0, waste 1.316, higher is better");
  const std::string against = "waste is 0.500 of that of trial 0, higher is better";
  CHECK(desk.ok("explain_verdict", {{"run", 1}, {"trial", 1}})["against_parent"].get<std::string>().ends_with(
      "; this one: " + against));
  has(desk.ok("prompt", {{"run", 1}}).get<std::string>(),
      "What counts in this run: maximize waste = time. Higher is better.");
  CHECK(desk.ok("describe_problem", {{"run", 1}})["objectives"] == "maximize waste = time");
  has(desk.text, "What counts in this run: maximize waste = time");
  desk.ok("status", {{"run", 1}, {"trials", 2}});
  has(desk.text, "\ntrial 0: ok, waste 1.316, higher is better; in 1.316 s (");
  desk.ok("best", {{"run", 1}, {"code", "none"}});
  has(desk.text, "objective waste: 1.316, higher is better");

  const json tuned = desk.ok("tune", {{"run", 1}, {"trial", 1}, {"trials", 30}, {"policy", "exhaustive"}});
  has(desk.text, "\nbest: trial ");
  has(desk.text, " of that of trial 1, higher is better");
  REQUIRE(tuned["tried"].size() > 2);
  CHECK(tuned["tried"].front()["objectives"][0]["value"].get<double>() >
        tuned["tried"].back()["objectives"][0]["value"].get<double>());
  CHECK(tuned["tried"][0]["seconds"] == tuned["tried"][0]["objectives"][0]["value"]);

  json tree = desk.ok("checkpoints", {{"run", 1}, {"action", "name"}, {"name", "halved"}, {"trial", 1}});
  CHECK(named(tree["checkpoints"], "halved")["seconds"] == approx(waste / 2));
  CHECK(named(tree["checkpoints"], "halved")["objectives"][0]["better"] == "higher");
  has(desk.text, "by maximize waste = time\nstart (trial 0): waste 1.316 at ");
  has(desk.text, "\n  halved (trial 1): waste 0.658, 0.50x at ");
  const json compared =
      desk.ok("checkpoints", {{"run", 1}, {"action", "compare"}, {"from", "start"}, {"name", "halved"}});
  CHECK(!compared["comparison"].contains("speedup"));
  REQUIRE(compared["comparison"].contains("times_as_good"));
  CHECK(compared["comparison"]["times_as_good"] == approx(0.5));
  has(desk.text, "halved is 0.500 times as good as start by maximize waste = time");
}

TEST_CASE("objectives: tune searches a kernel's tunables by what counts in the run") {
  Desk desk;
  desk.ok("start_run", {{"problem", "twice"},
                        {"policy", "submit"},
                        {"suggest", "none"},
                        {"objectives", "maximize waste = time"}});
  desk.ok("submit_kernel", {{"run", 1}, {"device", tiled_code("")}, {"tunables", tile_values}});
  const json tuned = desk.ok("tune", {{"run", 1}, {"trial", 1}, {"trials", 30}});
  // These are the slowest of 92 configurations; by the time it would look where TILE is 16.
  CHECK(tuned["best"]["settings"]["TILE"] == 32);
  CHECK(tuned["best"]["settings"]["UNROLL"] == 8);
  CHECK(tuned["best"]["settings"]["BLOCK"] == 32);
  std::map<int, int> tiles;
  for (const json& one : tuned["tried"]) ++tiles[one["settings"]["TILE"].get<int>()];
  INFO(tiles[32], " ", tiles[16]);
  CHECK(tiles[32] > 2 * tiles[16]);
}

TEST_CASE("objectives: several have a scalar, and a feature that was not observed is named") {
  Desk desk;
  json inlined = json::parse(support::problem_text);
  inlined["objectives"] = {"time", "words weight 2"};
  const int id = desk.client->modern(
      "tools/call",
      {{"name", "start_run"},
       {"arguments", {{"problem_json", inlined}, {"policy", "submit"}, {"suggest", "none"}}}},
      {{"progressToken", "p"}});
  const json run = desk.client->answer(id)["result"]["structuredContent"];
  CHECK(run["objectives"] == "time; words weight 2.0");
  CHECK(run["best"]["objectives"][0] ==
        json{{"name", "time"}, {"value", run["best"]["seconds"]}, {"better", "lower"}, {"unit", "s"}});
  const double words = run["best"]["objectives"][1]["value"];
  CHECK(run["best"]["scalar"] == approx(std::cbrt(run["best"]["seconds"].get<double>() * words * words)));
  bool told = false;
  for (const json& message : desk.client->all())
    if (message.value("method", "") == "notifications/progress")
      told = told || message["params"]["message"].get<std::string>().starts_with(
                         "trial 0: ok time 2.200 s, lower is better; words ");
  CHECK(told);
  desk.ok("prompt", {{"run", 1}});
  has(desk.text, "one trial is better than another where the weighted geometric mean over all of them is");
  has(desk.refused("start_run", {{"problem", "twice"}, {"policy", "submit"}, {"objectives", "wrods"}}),
      "did you mean words?");
  has(desk.refused("start_run", {{"problem", "twice"}, {"objectives", "time energy"}}), "is not understood");
}

TEST_CASE("verdicts: the likeliest cause is what differs from the parent") {
  Desk desk;
  start_submitting(desk);
  // Settings alone.
  json reply = desk.ok("submit_kernel", {{"run", 1}, {"device", code_with("fragile")}});
  REQUIRE(reply["trial"]["verdict"] == "ok");
  CHECK(!reply.contains("cause"));
  reply = desk.ok("submit_kernel", {{"run", 1}, {"parent", 1}, {"settings", {{"FAST", true}}}});
  REQUIRE(reply["trial"]["verdict"] == "wrong_result");
  const std::string cause = reply["cause"];
  CHECK(cause ==
        "it differs from trial 1, which is right, only in FAST = true instead of false: that setting "
        "broke it, not the code");
  CHECK(reply["advice"] == cause);
  has(desk.text, cause);
  CHECK(desk.text.find("races") == std::string::npos);
  json why = desk.ok("explain_verdict", {{"run", 1}, {"trial", 2}});
  CHECK(why["cause"] == cause);
  CHECK(why["difference"] == json{{"settings", {{{"name", "FAST"}, {"before", "false"}, {"after", "true"}}}},
                                  {"regions", json::array()},
                                  {"diff", ""}});
  CHECK(desk.text.find("races") == std::string::npos);
  reply =
      desk.ok("submit_kernel", {{"run", 1}, {"parent", 1}, {"settings", {{"FAST", true}, {"UNROLL", 2}}}});
  has(reply["cause"], "only in settings (FAST = true instead of false, UNROLL = 2 instead of 1)");
  // Code alone.
  reply = desk.ok("submit_kernel", {{"run", 1}, {"parent", 1}, {"device", code_with("bug")}});
  has(reply["cause"],
      "its settings are those of trial 1, which is right: the change of the code broke it (region device)");
  has(desk.text, "races");
  why = desk.ok("explain_verdict", {{"run", 1}, {"trial", 4}});
  has(why["difference"]["diff"], "-" + words_line("fragile") + "+" + words_line("bug"));
  // Both, and a parent that is wrong itself.
  reply = desk.ok("submit_kernel",
                  {{"run", 1}, {"parent", 1}, {"device", code_with("bug 2")}, {"settings", {{"UNROLL", 4}}}});
  has(reply["cause"], "hand in the code with the settings of trial 1");
  reply = desk.ok("submit_kernel", {{"run", 1}, {"parent", 5}, {"device", code_with("bug 3")}});
  has(reply["cause"], "its parent, trial 5, failed in the same way");
  // The same again is named.
  reply = desk.ok("submit_kernel", {{"run", 1}, {"parent", 0}, {"device", code_with("fragile")}});
  CHECK(reply["same_as"] == 1);
  has(desk.text, "the same code with the same settings as trial 1");
  // Comments and constraints that change nothing make no other kernel; settings do.
  reply =
      desk.ok("submit_kernel", {{"run", 1}, {"parent", 0}, {"device", "// again\n" + code_with("fragile")}});
  CHECK(reply["same_as"] == 1);
  reply = desk.ok("submit_kernel", {{"run", 1},
                                    {"parent", 0},
                                    {"device", "// again\n" + code_with("fragile")},
                                    {"settings", {{"UNROLL", 2}}}});
  CHECK(!reply.contains("same_as"));
  has(desk.refused("submit_kernel", {{"run", 1}, {"parent", 1}, {"device", "// x\n" + code_with("fragile")}}),
      "the kernel is the same as its parent");
}

TEST_CASE("submit_kernel: a write outside of the arrays is told with its place, and is no accusation") {
  Desk desk;
  start_submitting(desk);
  const json reply = desk.ok("submit_kernel", {{"run", 1}, {"device", code_with("overrun")}});
  CHECK(reply["trial"]["verdict"] == "cheated");  // the verdict's own name
  CHECK(reply["trial"]["overrun"] == json{{"array", "y"}, {"index", 37}, {"elements", 37}});
  has(desk.text, "trial 1: out_of_bounds: it wrote outside of its arrays: y[37]");
  has(desk.text, "Mask stores at the element that the reason names");
  CHECK(desk.text.find("cheated") == std::string::npos);
  const json why = desk.ok("explain_verdict", {{"run", 1}, {"trial", 1}});
  has(why["meaning"], "It wrote outside of its arrays");
  CHECK(desk.text.find("broke a rule") == std::string::npos);
}

TEST_CASE("checkpoints: trials get names, are compared, and work goes on from them") {
  Desk desk;
  start_submitting(desk);
  CHECK(desk.ok("checkpoints", {{"run", 1}})["checkpoints"].empty());
  has(desk.text, "no checkpoints yet");
  desk.ok("submit_kernel", {{"run", 1}, {"device", code_with("fast")}, {"strategies", {"halve"}}});
  desk.ok("submit_kernel", {{"run", 1}, {"device", code_with("bug")}, {"parent", 1}});
  json tree = desk.ok("checkpoints", {{"run", 1}, {"action", "name"}, {"name", "halved"}, {"note", "keep"}});
  REQUIRE(tree["checkpoints"].size() == 2);
  CHECK(named(tree["checkpoints"], "start")["trial"] == 0);
  const json halved = named(tree["checkpoints"], "halved");
  CHECK(halved["trial"] == 1);
  CHECK(halved["parent"] == "start");
  CHECK(halved["by"] == "halve");
  CHECK(halved["note"] == "keep");
  CHECK(tree["current"] == "halved");
  has(desk.text, "halved (trial 1) by halve");
  // What names no parent goes on from the current one, though another trial is the best.
  desk.ok("submit_kernel", {{"run", 1}, {"device", code_with("fast x")}, {"settings", {{"UNROLL", 4}}}});
  desk.ok("checkpoints", {{"run", 1}, {"action", "restore"}, {"name", "start"}});
  json reply = desk.ok("submit_kernel", {{"run", 1}, {"device", code_with("other")}});
  CHECK(reply["trial"]["parents"] == json{0});
  CHECK(reply["trial"]["settings"]["UNROLL"] == 1);
  tree = desk.ok("checkpoints", {{"run", 1}, {"action", "branch"}, {"name", "second"}, {"from", "halved"}});
  CHECK(tree["active"] == "second");
  CHECK(desk.ok("submit_kernel", {{"run", 1}, {"device", code_with("fast y")}})["trial"]["parents"] ==
        json{1});
  tree = desk.ok("checkpoints", {{"run", 1}, {"action", "switch"}, {"name", "main"}});
  CHECK(tree["current"] == "start");
  const json compared =
      desk.ok("checkpoints", {{"run", 1}, {"action", "compare"}, {"from", "start"}, {"name", "halved"}});
  CHECK(compared["comparison"]["speedup"] == approx(2.0));
  CHECK(compared["comparison"]["common"] == "start");
  CHECK(compared["comparison"]["only_second"] == json{"halve"});
  has(compared["comparison"]["diff"], "+" + words_line("fast"));
  has(desk.text, "halved is 2.000 times as fast as start");
  // A second name for a trial replaces the first; a name is one trial's.
  tree = desk.ok("checkpoints", {{"run", 1}, {"action", "name"}, {"name", "base"}, {"trial", 0}});
  CHECK(tree["checkpoints"].size() == 2);
  CHECK(named(tree["checkpoints"], "halved")["parent"] == "base");
  has(desk.refused("checkpoints", {{"run", 1}, {"action", "name"}, {"name", "base"}, {"trial", 3}}),
      "already");
  has(desk.refused("checkpoints", {{"run", 1}, {"action", "name"}, {"name", "b"}, {"trial", 2}}),
      "only a right kernel can be a checkpoint: trial 2: wrong_result");
  has(desk.refused("checkpoints", {{"run", 1}, {"action", "restore"}, {"name", "halve"}}),
      "did you mean halved?");
  has(desk.refused("checkpoints", {{"run", 1}, {"action", "restore"}}), "give name: a checkpoint");
  has(desk.refused("checkpoints", {{"run", 1}, {"action", "switch"}, {"name", "third"}}), "no such branch");
}

TEST_CASE(
    "checkpoints: of a run of peak they are its kernels, and the tool and the command change the same ones") {
  Desk desk;
  {
    RunOptions options;
    options.system = "peak";
    options.system_options = R"({"inner_trials": 1, "retries": 0, "middle_retries": 0})";
    options.memory = false;
    options.budget = "5";
    options.measurement.jobs = 1;
    RunParts parts;
    parts.evaluator = Words{small_problem(), desk.place.gate};
    parts.store = desk.place.store.get();
    auto asked = std::make_shared<int>(0);
    parts.model = scripted::RuleChat([asked](const ChatRequest&) {
      return scripted::RuleChat::replied(
          "```cpp\nextern \"C\" void twice(int n, const float* x, float* y) {\n  const int fast_" +
          std::to_string(++*asked) + " = 2;\n  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n```\n");
    });
    Run::start(small_problem(), options, std::move(parts)).to_end();
  }
  json tree = desk.ok("checkpoints", {{"run", 1}});
  REQUIRE(tree["checkpoints"].size() == 5);
  CHECK(named(tree["checkpoints"], "root")["trial"] == 0);
  const std::string last = tree["current"];
  CHECK(tree["checkpoints"][1]["by"] == tree["checkpoints"][1]["name"]);
  desk.ok("checkpoints", {{"run", 1}, {"action", "name"}, {"name", "first"}, {"trial", 1}, {"note", "keep"}});
  CHECK(desk.ok("checkpoints", {{"run", 1}})["current"] == last);  // a name moves nothing
  tree = desk.ok("checkpoints", {{"run", 1}, {"action", "restore"}, {"name", "first"}});
  CHECK(tree["current"] == "first");
  has(desk.text, "`kernelsearch tune --resume 1` goes on from first, trial 1");
  // What the command does is the same object's work.
  RunCheckpoints command(*desk.place.store, RunId{1});
  CHECK(command.tree().current()->name == "first");
  CHECK(command.tree().at("first").note == "keep");
  (void)command.change({CheckpointEdit::Action::branch, "second", "root"});
  CHECK(desk.ok("checkpoints", {{"run", 1}})["active"] == "second");
  has(desk.refused("checkpoints", {{"run", 1}, {"action", "restore"}, {"name", "frist"}}),
      "did you mean first?");
}

TEST_CASE("compare: what cannot be timed in pairs is refused with the reason") {
  Desk desk;
  start_submitting(desk);
  desk.ok("submit_kernel", {{"run", 1}, {"device", code_with("fast")}});
  desk.ok("submit_kernel", {{"run", 1}, {"device", code_with("bug")}, {"parent", 0}});
  has(desk.refused("compare", {{"run", 1}, {"trial", 1}}), "cannot be timed in pairs");  // scripted
  has(desk.refused("compare", {{"run", 1}, {"trial", 2}}),
      "only right kernels can be compared: trial 2: wrong_result");
  has(desk.refused("compare", {{"run", 1}, {"trial", 0}}), "trial 0 has no parent");
  has(desk.refused("compare", {{"run", 1}, {"trial", 1}, {"against", 1}}), "the same kernel");
  has(desk.refused("validate", {{"run", 1}, {"trial", 1}}), "nothing validates");
  has(desk.refused("profile", {{"run", 1}, {"trial", 2}}), "only right kernels can be profiled");
  const json seen = desk.ok("profile", {{"run", 1}, {"trial", 1}});
  CHECK(seen["features"]["words"].get<double>() > 0);
  CHECK(seen["bound"] == "unknown");
  CHECK(seen["missing"].size() == 1);
}

TEST_CASE("trial tools: real kernels are profiled, compared, validated and tuned on this machine") {
  Desk desk(data_of_tree, source_folder + "/tests/fixtures/problems", true);
  desk.ok("start_run", {{"problem", "dot"}, {"policy", "submit"}, {"suggest", "none"}, {"budget", "40"}});
  REQUIRE(desk.ok("submit_kernel", {{"run", 1}, {"device", dot_code("")}})["trial"]["verdict"] == "ok");
  // It reads one element more than there is, and does nothing with it: timed calls do not show that.
  const json beyond = desk.ok(
      "submit_kernel",
      {{"run", 1}, {"device", dot_code("  (void)*(volatile const float*)(x + n);\n")}, {"parent", 1}});
  const json profile = desk.ok("profile", {{"run", 1}, {"trial", 1}});
  CHECK(profile["features"].contains("roof_utilisation"));
  CHECK(profile["bound"] != "unknown");
  CHECK(profile["gaps"].contains("compute"));
  has(desk.text, "of what the roofline allows");
  // Who asks for facts or for the problem of a run is told the time that can be reached.
  has(desk.ok("prompt", {{"run", 1}, {"trial", 1}}).get<std::string>(), "; at best ");
  desk.ok("describe_problem", {{"run", 1}});
  has(desk.text, "; at best ");
  // What was seen stays with the trial.
  CHECK(desk.ok("explain_verdict", {{"run", 1}, {"trial", 1}})["features"].contains("roof_utilisation"));

  const int id = desk.client->modern(
      "tools/call", {{"name", "compare"}, {"arguments", {{"run", 1}, {"trial", 1}, {"against", 0}}}},
      {{"progressToken", 7}});
  const json compared = desk.client->answer(id)["result"];
  REQUIRE_MESSAGE(compared["isError"] == false, compared.dump());
  const json& pairs = compared["structuredContent"]["speedup"];
  CHECK(pairs["ratio"].get<double>() > 1);  // the problem's own goes through memory
  CHECK(compared["structuredContent"]["conclusion"] == (pairs["interval"][0].get<double>() > 1 ? "faster"
                                                        : pairs["interval"][1].get<double>() < 1
                                                            ? "slower"
                                                            : "not told apart"));
  CHECK(compared["structuredContent"]["speedup"]["pairs"].get<int>() > 0);
  CHECK(schema_fault(desk.outputs["compare"], compared["structuredContent"]) == "");
  bool told = false;
  for (const json& message : desk.client->all())
    if (message.value("method", "") == "notifications/progress")
      told = told || message["params"]["message"].get<std::string>().starts_with("timing trial 1 in pairs");
  CHECK(told);

  for (const char* tool : {"profile", "validate"}) {
    const int asked = desk.client->modern(
        "tools/call", {{"name", tool}, {"arguments", {{"run", 1}, {"trial", 1}}}}, {{"progressToken", tool}});
    REQUIRE(desk.client->answer(asked)["result"]["isError"] == false);
    bool said = false;
    for (const json& message : desk.client->all())
      if (message.value("method", "") == "notifications/progress" &&
          message["params"]["progressToken"] == tool)
        said =
            said || message["params"]["message"].get<std::string>().find("ing trial 1") != std::string::npos;
    CHECK_MESSAGE(said, tool);
  }
  json valid = desk.ok("validate", {{"run", 1}, {"trial", 1}});
  CHECK(valid["passed"] == true);
  CHECK(valid["checked"] == "accesses beyond the arrays");
  CHECK(desk.ok("explain_verdict", {{"run", 1}, {"trial", 1}})["features"]["bounds_checked"] == 1);
  if (beyond["trial"]["verdict"] == "ok") {
    valid = desk.ok("validate", {{"run", 1}, {"trial", 2}});
    CHECK(valid["passed"] == false);
    CHECK(valid["trial"]["verdict"] == "crashed");
    has(valid["trial"]["reason"], "past the end of x");
    CHECK(desk.ok("status", {{"run", 1}})["runs"][0]["best"]["trial"] != 2);
  } else {
    CHECK(beyond["trial"]["verdict"] == "crashed");
  }
  has(desk.refused("validate", {{"run", 1}, {"trial", 1}, {"tools", "memcheck"}}), "CUDA kernels");
  const json tuned = desk.ok("tune", {{"run", 1}, {"trial", 0}, {"trials", 3}, {"policy", "random"}});
  CHECK(tuned["trials_told"] == 3);
  CHECK(tuned["tried"][0]["settings"].contains("LANES"));
  // A run goes on after a call that was given up.
  const int given_up = desk.client->modern(
      "tools/call", {{"name", "compare"}, {"arguments", {{"run", 1}, {"trial", 1}, {"against", 0}}}});
  REQUIRE(soon([&] { return desk.ok("status", {{"run", 1}})["runs"][0].value("doing", "") == "compare"; }));
  desk.client->send(
      {{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", given_up}}}});
  CHECK(desk.client->server().wait_idle(30));
  CHECK(desk.ok("validate", {{"run", 1}, {"trial", 1}})["passed"] == true);
}
