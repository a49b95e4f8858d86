// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole systems by the command, from the replies of tests/fixtures/exchanges (written for these tests):
// kernels are really compiled, checked and timed.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "apps/command.hpp"
#include "support/check_has.hpp"

using namespace kernelsearch_test;

namespace {

const std::filesystem::path fixtures = std::filesystem::path(KERNELSEARCH_SOURCE_DIR) / "tests/fixtures";

std::vector<std::string> line(const std::string& system, std::vector<std::string> more = {}) {
  std::vector<std::string> all{"tune",
                               (fixtures / "problems/dot").string(),
                               "--system",
                               system,
                               "--store",
                               "runs.db",
                               "--samples",
                               "7",
                               "--json",
                               "-q",
                               "--out",
                               "out",
                               "--replay-exchanges",
                               (fixtures / "exchanges" / system).string()};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// What a run printed, after it went well.
nlohmann::json result_of(const Ran& ran) {
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  const auto result = ran.json();
  REQUIRE(result.is_object());
  return result;
}

/// Questions by role.
std::map<std::string, int> calls_of(const nlohmann::json& result) {
  std::map<std::string, int> calls;
  for (const auto& row : result["models"]["rows"]) calls[row["role"]] += row["calls"].get<int>();
  return calls;
}

/// Trials of the newest run as the export has them.
std::vector<nlohmann::json> trials_of(const Desk& desk) {
  const Ran ran = desk.kernelsearch({"export", "latest", "--store", "runs.db", "--format", "jsonl"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  std::istringstream lines(ran.out);
  std::vector<nlohmann::json> trials;
  for (std::string one; std::getline(lines, one);) trials.push_back(nlohmann::json::parse(one));
  return trials;
}

/// `kind strategy <- parents: verdict` of each trial.
std::vector<std::string> story_of(const Desk& desk) {
  std::vector<std::string> story;
  for (const auto& trial : trials_of(desk)) {
    const auto& point = trial["point"];
    std::string text = point["kind"].get<std::string>();
    for (const auto& strategy : point["strategies"]) text += ' ' + strategy.get<std::string>();
    for (const auto& parent : trial["parents"]) text += " <- " + std::to_string(parent.get<int>());
    story.push_back(text + ": " + trial["evaluation"]["verdict"].get<std::string>());
  }
  return story;
}

/// A question as the run's folder of exchanges has it.
struct Question {
  std::string role, text;
  std::size_t messages = 0;
  std::set<std::string> window;  ///< what the other kernels shown are to the one to change
};

std::vector<Question> questions_of(const Desk& desk, int run) {
  std::vector<Question> all;
  const auto folder = desk.path() / "runs.db.exchanges" / std::to_string(run);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    const auto question = nlohmann::json::parse(read_text(entry.path()))["question"];
    Question one{question["role"], question["messages"][1]["text"], question["messages"].size(), {}};
    std::istringstream lines(one.text.substr(0, one.text.find("# Kernel to change")));
    for (std::string line; std::getline(lines, line);)
      if (line.rfind("## Kernel ", 0) == 0) one.window.insert(line.substr(line.find(": ") + 2));
    all.push_back(std::move(one));
  }
  return all;
}

/// Whether no question of the role shows other kernels than these, and one shows each of `some`.
void check_windows(const std::vector<Question>& questions, const std::string& role,
                   const std::set<std::string>& allowed, const std::set<std::string>& some) {
  std::set<std::string> seen;
  for (const Question& one : questions)
    if (one.role == role) seen.insert(one.window.begin(), one.window.end());
  for (const std::string& kind : seen) CHECK_MESSAGE(allowed.count(kind) == 1, role << ": " << kind);
  for (const std::string& kind : some) CHECK_MESSAGE(seen.count(kind) == 1, role << ": " << kind);
}

using Calls = std::map<std::string, int>;
using Story = std::vector<std::string>;

}  // namespace

TEST_CASE("command: list systems") {
  const Desk desk;
  const auto systems = desk.kernelsearch({"list", "systems", "--json"}).json();
  std::set<std::string> names;
  for (const auto& one : systems) names.insert(one["name"]);
  for (const auto& one : systems) {
    CHECK(one["variants"][0]["standard"] == true);
    CHECK(one["options"]["properties"]["variant"]["default"] == one["variants"][0]["name"]);
    if (one["name"] != "kernelband") continue;
    CHECK(one["variants"].size() == 3);
    const auto& exploration = one["options"]["properties"]["exploration"];
    CHECK(exploration["x-variants"]["v1"]["default"] == 2.0);
    CHECK(exploration["x-variants"]["v1"]["source"] == "KernelBand v1, section 4.4");
  }
  CHECK(names == std::set<std::string>{"best_of_k", "cuda_skill_v2", "geak", "greedy_refine", "helion_hybrid",
                                       "helion_lfbo", "helion_llm", "kernelband", "peak", "stark"});
  const Ran unknown = desk.kernelsearch(
      {"tune", (fixtures / "problems/dot").string(), "--system", "starc", "--store", "runs.db"});
  CHECK(unknown.code == 3);
  CHECK(unknown.err.find("did you mean stark?") != std::string::npos);
}

TEST_CASE("systems: best of K, compile errors and talk included") {
  const Desk desk;
  const auto result = result_of(desk.kernelsearch(line("best_of_k", {"--budget", "5", "--repairs", "0"})));
  CHECK(calls_of(result) == Calls{{"rewriter", 5}});  // four proposals, one of them asked for code again
  CHECK(result["models"]["faults"] == nlohmann::json{{"no_code", 1}});
  CHECK(story_of(desk) == Story{"root: ok", "rewrite <- 0: ok", "rewrite <- 0: ok",
                                "rewrite <- 0: build_failed", "rewrite <- 0: ok"});
  CHECK(result["files"].size() == 3);  // no table of settings: the candidates are several kernels
  // Which of them is the fastest is for the machine to say.
  const std::map<int, std::string> texts{
      {1, "// v1: one running sum"}, {2, "// v3: sixteen sums and the rest"}, {4, "// v5: two running sums"}};
  const int best = result["best"]["trial"];
  REQUIRE(texts.count(best) == 1);
  CHECK(read_text(desk.path() / "out/dot_best.cpp").find(texts.at(best)) != std::string::npos);
  const Ran dot = desk.kernelsearch({"export", "latest", "--store", "runs.db", "--format", "dot"});
  CHECK(dot.out.find("0->4") != std::string::npos);
}

TEST_CASE("systems: greedy refinement works on the best alone") {
  const Desk desk;
  const auto result = result_of(desk.kernelsearch(line("greedy_refine", {"--budget", "3"})));
  CHECK(calls_of(result) == Calls{{"rewriter", 2}});
  CHECK(story_of(desk) == Story{"root: ok", "rewrite <- 0: ok", "rewrite <- 1: ok"});
}

TEST_CASE("systems: STARK plans, codes and debugs on its tree; a run that was cut goes on for nothing") {
  const Desk desk;
  // Nothing of an earlier run changes a later one's course: neither its memory nor its tunings.
  const auto whole =
      result_of(desk.kernelsearch(line("stark", {"--budget", "8", "--no-memory", "--inner-trials", "0"})));
  const Story story = story_of(desk);
  REQUIRE(story.size() == 8);
  CHECK(story[1] == "rewrite <- 0: ok");            // plan and code
  CHECK(story[2] == "rewrite <- 1: wrong_result");  // the faster one is gone on with
  CHECK(std::count(story.begin(), story.end(), "debug <- 2: ok") == 1);
  const Calls calls = calls_of(whole);
  CHECK(calls.at("planner") >= calls.at("coder") - 1);
  CHECK(calls.at("coder") >= 2);
  CHECK(calls.at("debugger") >= 1);
  CHECK(whole["models"]["faults"].contains("no_code"));

  // What each role is shown: STARK's windows.
  const std::string root = "the original kernel", child = "made from the kernel to change",
                    leader = "among the fastest", nephew = "made from a sibling of the kernel to change",
                    sibling = "made from the same parent as the kernel to change";
  const std::vector<Question> questions = questions_of(desk, 1);
  CHECK(questions.size() == whole["models"]["total"]["calls"].get<std::size_t>());
  check_windows(questions, "planner", {root, child, leader}, {root, child});
  check_windows(questions, "coder", {root, child, nephew}, {});
  check_windows(questions, "debugger", {root, sibling}, {root});
  int corrected = 0, faults = 0;
  for (const Question& one : questions) {
    corrected += one.messages == 4 ? 1 : 0;
    CHECK(one.messages <= 4);  // told once, then given up
    if (one.role != "debugger") continue;
    const std::size_t failure = one.text.find("## How it failed");
    REQUIRE(failure != std::string::npos);
    CHECK(one.text.find("verdict: wrong_result", failure) != std::string::npos);
  }
  for (const auto& count : whole["models"]["faults"]) faults += count.get<int>();
  CHECK(faults == 2 * corrected);

  // The same in two parts, with results measured anew for nothing: the store knows them.
  const auto first = result_of(desk.kernelsearch(
      line("stark", {"--budget", "3", "--name", "parts", "--no-memory", "--inner-trials", "0"})));
  CHECK(first["trials"] == 3);
  const int asked = first["models"]["total"]["calls"];
  std::vector<std::string> more{"tune",   "--resume", "latest",    "--budget", "8",     "--store", "runs.db",
                                "--json", "-q",       "--samples", "5",        "--out", "out"};
  const auto second = result_of(desk.kernelsearch(more));
  CHECK(second["run"] == 2);
  CHECK(second["trials"] == 8);
  CHECK(story_of(desk) == story);
  CHECK(calls_of(second) == calls);
  CHECK(second["models"]["total"]["replayed"].get<int>() >= asked);  // booked, not asked again
}

TEST_CASE("systems: KernelBand pulls strategies on kernels, each one question") {
  const Desk desk;
  const auto result = result_of(desk.kernelsearch(line("kernelband", {"--budget", "10", "--variant", "v1"})));
  std::set<std::string> strategies;
  for (const auto& trial : trials_of(desk))
    for (const auto& name : trial["point"]["strategies"]) strategies.insert(name.get<std::string>());
  CHECK(strategies.size() >= 4);  // v1 tries each arm first
  CHECK(strategies.count("tiling") == 1);
  for (const std::string& one : strategies)
    CHECK(std::set<std::string>{"tiling", "vectorization", "fusion", "packing", "prefetching", "loop_order"}
              .count(one) == 1);
  const int faults = result["models"]["faults"].value("no_code", 0);
  CHECK(faults % 2 == 0);  // told once, then given up
  CHECK(calls_of(result)["rewriter"] == 9 + faults / 2);
  // As in the paper: nothing is tuned.
  const auto record = nlohmann::json::parse(read_text(desk.path() / "out/dot_best.json"));
  CHECK_FALSE(record["features"].contains("inner_trials"));

  // A run that goes on has the variant that it began with, and no other.
  const std::vector<std::string> resume{"tune",    "--resume", "latest",    "--budget", "11",
                                        "--store", "runs.db",  "--samples", "5",        "--json",
                                        "-q",      "--out",    "out"};
  std::vector<std::string> other = resume;
  other.insert(other.end(), {"--variant", "v2"});
  const Ran refused = desk.kernelsearch(other);
  CHECK(refused.code == 3);
  CHECK_MESSAGE(refused.err.find("keeps its variant") != std::string::npos, refused.err);
  CHECK(result_of(desk.kernelsearch(resume))["trials"] == 11);
}

TEST_CASE("systems: KernelBand is warmed up with the moves of earlier runs, its own and those named" *
          doctest::test_suite("thorough")) {
  const Desk desk;
  const auto ran = [&desk](std::vector<std::string> more, const std::string& store) {
    std::vector<std::string> all = line("kernelband", {"--variant", "v1", "--budget", "6"});
    std::replace(all.begin(), all.end(), std::string("runs.db"), store);
    all.erase(std::find(all.begin(), all.end(), "-q"));
    all.insert(all.end(), more.begin(), more.end());
    const Ran one = desk.kernelsearch(all);
    CHECK_MESSAGE(one.code == 0, one.err);
    return one.err;
  };
  const auto learns = [](const std::string& text) { return text.find("learns from ") != std::string::npos; };
  CHECK_FALSE(learns(ran({}, "runs.db")));
  const std::string second = ran({}, "runs.db");
  CHECK_MESSAGE(second.find("learns from ") != std::string::npos, second);
  CHECK(second.find(" moves of 1 run\n") != std::string::npos);
  CHECK_FALSE(learns(ran({"--no-learning"}, "runs.db")));
  CHECK(learns(ran({"--learn-from", "runs.db"}, "other.db")));
  CHECK(learns(ran({"--learn-from", "runs.db:1", "--no-learning"}, "third.db")));
  std::vector<std::string> bad = line("kernelband", {"--learn-from", "none.json"});
  const Ran refused = desk.kernelsearch(bad);
  CHECK(refused.code == 3);
  CHECK_MESSAGE(refused.err.find("name a store, or STORE:RUN") != std::string::npos, refused.err);
}

TEST_CASE("systems: GEAK reflects on each kernel, and mends what failed") {
  const Desk desk;
  const auto result = result_of(desk.kernelsearch(line("geak", {"--budget", "4"})));
  CHECK(story_of(desk) ==
        Story{"root: ok", "rewrite <- 0: wrong_result", "debug <- 1: ok", "rewrite <- 2: ok"});
  CHECK(calls_of(result) == Calls{{"generator", 1}, {"optimizer", 2}, {"reflector", 3}});
  const Ran shown = desk.kernelsearch({"show", "latest", "--trial", "1", "--store", "runs.db"});
  check_has(shown.out, "why       One sum depends on the one before");
  check_windows(questions_of(desk, 1), "optimizer", {"among the fastest"}, {"among the fastest"});
}

namespace {

/// `line` with the replies of another folder, and not quiet.
std::vector<std::string> declaring_line(std::vector<std::string> more) {
  std::vector<std::string> all = line("best_of_k", std::move(more));
  all[std::size_t(std::find(all.begin(), all.end(), "--replay-exchanges") - all.begin()) + 1] =
      (fixtures / "exchanges/declares").string();
  all.erase(std::find(all.begin(), all.end(), "-q"));
  return all;
}

}  // namespace

TEST_CASE("systems: what a reply declares is tuned, and the winner has its best value") {
  const Desk desk;
  const auto result = result_of(desk.kernelsearch(declaring_line({"--budget", "2"})));
  CHECK(calls_of(result) == Calls{{"rewriter", 1}});
  CHECK(story_of(desk) == Story{"root: ok", "rewrite <- 0: ok"});  // the budget counts kernels
  CHECK(result["best"]["trial"] == 1);
  CHECK(result["best"]["config"]["PASSES"] == 1);
  const std::string source = read_text(desk.path() / "out/dot_best.cpp");
  CHECK(source.find("#define PASSES 1\n") != std::string::npos);
  CHECK(source.find("//@tunables {\"tunables\":{\"PASSES\"") != std::string::npos);
  // Of the kernel's twelve problem settings none is in its text, and PASSES has two values that may be.
  const auto record = nlohmann::json::parse(read_text(desk.path() / "out/dot_best.json"));
  CHECK(record["features"]["inner_trials"] == 2);
  // Timed in pairs beside the best of the kernel that it was made from.
  REQUIRE(record["features"].contains("times_parent"));
  const double times = record["features"]["times_parent"];
  CHECK(record["features"]["times_parent.low"].get<double>() <= times);
  CHECK(record["features"]["times_parent.high"].get<double>() >= times);
  const auto trials = trials_of(desk);
  REQUIRE(trials.size() == 2);

  // The next run begins where this one found the problem's own kernel fastest, unless it shall not.
  const Ran again = desk.kernelsearch(declaring_line({"--budget", "1", "--inner-trials", "0"}));
  CHECK(again.code == 0);
  CHECK_MESSAGE(
      again.err.find("begins at the best configuration of this kernel that the store knows: LANES = ") !=
          std::string::npos,
      again.err);
  const auto at_best = trials_of(desk);
  CHECK(at_best[0]["candidate"]["values"] == trials[0]["candidate"]["values"]);
  const Ran paper =
      desk.kernelsearch(declaring_line({"--budget", "1", "--inner-trials", "0", "--root", "default"}));
  CHECK(paper.err.find("begins at") == std::string::npos);
  CHECK(trials_of(desk)[0]["candidate"]["values"] != trials[0]["candidate"]["values"]);
}

TEST_CASE("systems: with --inner-trials 0 a declaration is a fault that is told") {
  const Desk desk;
  const auto result = result_of(desk.kernelsearch(declaring_line({"--budget", "2", "--inner-trials", "0"})));
  CHECK(calls_of(result) == Calls{{"rewriter", 2}});
  CHECK(result["models"]["faults"] == nlohmann::json{{"unwanted_tunables", 1}});
  CHECK(read_text(desk.path() / "out/dot_best.cpp").find("// v5: four sums") != std::string::npos);
  const Ran refused = desk.kernelsearch({"tune", (fixtures / "problems/dot").string(), "--store", "runs.db",
                                         "--inner-trials", "3", "--budget", "1"});
  CHECK(refused.code == 3);
  CHECK(refused.err.find("a policy searches the problem's kernel itself") != std::string::npos);
}

TEST_CASE("systems: PEAK tunes each transformation's kernel and goes on from checkpoints") {
  const Desk desk;
  std::ofstream(desk.path() / "order.json") << R"({"evidence": false})";
  const auto result =
      result_of(desk.kernelsearch(line("peak", {"--budget", "100", "--options", "order.json"})));
  const Story story = story_of(desk);
  REQUIRE(story.size() > 8);
  // The kernel is short of memory's side of the roofline: its order, not the alphabet's.
  CHECK(story[1] == "rewrite loop_interchange <- 0: wrong_result");
  CHECK(story[2] == "rewrite loop_interchange <- 0: not_generated");  // the same again, which is named
  const auto at = [&story](const std::string& part) {
    return std::find_if(story.begin(), story.end(),
                        [&](const std::string& one) { return one.rfind(part, 0) == 0; }) -
           story.begin();
  };
  const auto vectors = at("rewrite vectorize_loop <- 0: ok"),
             tiles = at("rewrite loop_tiling <- 0: not_applicable"),
             blocks = at("rewrite register_block <- 0: not_applicable");  // every region came back UNCHANGED
  CHECK(tiles < blocks);
  CHECK(blocks < vectors);
  const auto sums = at("rewrite independent_accumulators <- " + std::to_string(vectors) + ": ok");
  REQUIRE(sums < std::ptrdiff_t(story.size()));
  CHECK(vectors < sums);
  const int best = result["best"]["trial"];
  CHECK((best == vectors || best == sums));
  // The winner is written as it was tuned, its new tunable included.
  if (best == sums) {
    CHECK(result["best"]["config"].contains("ACCUMULATORS"));
    CHECK(read_text(desk.path() / "out/dot_best.cpp").find("#define ACCUMULATORS") != std::string::npos);
  }
  CHECK(calls_of(result).begin()->first == "transformer");
}

TEST_CASE("systems: PEAK begins with what the machine code shows") {
  const Desk desk;
  (void)result_of(desk.kernelsearch(line("peak", {"--budget", "100"})));
  const Story story = story_of(desk);
  REQUIRE(story.size() > 1);
  CHECK(story[1] == "rewrite vectorize_loop <- 0: ok");  // the sum's loop has no vector instruction
}

TEST_CASE("systems: Helion's three search configurations; a cut reply is salvaged, a lost model is no end") {
  const Desk desk;
  auto result = result_of(desk.kernelsearch(line("helion_llm", {"--budget", "12"})));
  CHECK(result["trials"].get<int>() >= 11);  // the default and ten seeds, then what the model says
  CHECK(calls_of(result)["config_search"] >= 1);
  CHECK(result["files"].size() == 4);
  result = result_of(desk.kernelsearch(line("helion_hybrid", {"--budget", "12"})));
  CHECK(result["trials"] == 12);
  // All that the reply names was among the seeds of so small a space: it is asked once more.
  CHECK(calls_of(result) == Calls{{"config_search", 2}});
  const Ran stage = desk.kernelsearch(line("helion_hybrid", {"--budget", "12", "--stage2", "helion"}));
  CHECK(result_of(stage)["trials"] == 12);  // as many as there are
  CHECK(desk.kernelsearch(line("helion_hybrid", {"--stage2", "theirs"})).code == 2);
  CHECK(desk.kernelsearch(line("helion_llm", {"--stage2", "helion"})).code == 3);  // it has no second stage
  // A script of another system has no such role: LFBO goes on alone.
  auto lost = line("helion_hybrid", {"--budget", "12"});
  lost[std::size_t(std::find(lost.begin(), lost.end(), "--replay-exchanges") - lost.begin()) + 1] =
      (fixtures / "exchanges/geak").string();
  result = result_of(desk.kernelsearch(lost));
  CHECK(result["trials"] == 12);
  CHECK(result["models"]["total"]["failed"] == 1);
  std::vector<std::string> alone{"tune",      (fixtures / "problems/dot").string(),
                                 "--system",  "helion_lfbo",
                                 "--budget",  "6",
                                 "--store",   "runs.db",
                                 "--json",    "-q",
                                 "--samples", "5",
                                 "--out",     "out"};
  CHECK(result_of(desk.kernelsearch(alone))["trials"] == 6);
}

TEST_CASE("systems: a limit of tokens is kept to, and said") {
  const Desk desk;
  const auto result =
      result_of(desk.kernelsearch(line("best_of_k", {"--budget", "5", "--max-tokens", "20000"})));
  CHECK(result["models"]["total"]["tokens"]["input"].get<int>() +
            result["models"]["total"]["tokens"]["output"].get<int>() <=
        20000);
  CHECK(story_of(desk).back() == "rewrite <- 0: not_generated");
  // Whoever resumes it spends no more, without saying so again.
  const auto resumed = result_of(desk.kernelsearch(
      {"tune", "--resume", "latest", "--budget", "7", "--store", "runs.db", "--json", "-q", "--out", "out"}));
  CHECK(resumed["models"]["limits"]["tokens"] == 20000);
  CHECK(resumed["models"]["total"]["calls"] == result["models"]["total"]["calls"]);
  CHECK(story_of(desk).back() == "rewrite <- 0: not_generated");
}

namespace {

/// A system asked of a script of the test's own, with messages and progress.
Ran scripted(const Desk& desk, const std::string& system, const std::string& rules,
             std::vector<std::string> more = {}) {
  std::filesystem::create_directories(desk.path() / "replies");
  write_text(desk.path() / "replies/script.json", R"({"kernelsearch_script": 1, "rules": [)" + rules + "]}");
  std::vector<std::string> all{"tune",      (fixtures / "problems/dot").string(),
                               "--system",  system,
                               "--store",   "runs.db",
                               "--samples", "5",
                               "--json",    "--out",
                               "out",       "--replay-exchanges",
                               "replies"};
  all.insert(all.end(), more.begin(), more.end());
  return desk.kernelsearch(all);
}

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("systems: a kernel that failed is mended by one question, a trial of its own") {
  const Desk desk;
  std::filesystem::create_directories(desk.path() / "replies");
  for (const char* file : {"third.md", "first.md"})
    std::filesystem::copy(fixtures / "exchanges/best_of_k" / file, desk.path() / "replies" / file);
  const std::string rules = R"({"role": "rewriter", "file": "third.md"},
                               {"role": "debugger", "contains": ["## How it failed", "error"], "file": "first.md"})";
  for (const char* system : {"best_of_k", "greedy_refine", "kernelband"}) {
    CAPTURE(system);
    const Ran ran = scripted(desk, system, rules, {"--budget", "3"});
    const auto result = result_of(ran);
    CHECK(calls_of(result).at("debugger") == 1);
    const Story story = story_of(desk);
    REQUIRE(story.size() >= 3);
    CHECK(story[1].substr(story[1].find(" <- ")) == " <- 0: build_failed");
    CHECK(story[2].substr(story[2].find(" <- ")) == " <- 1: ok");
    CHECK(story[2].rfind("debug", 0) == 0);
    CHECK(mentions(ran.err, "trial 1 failed: build_failed"));
    const auto paper = result_of(scripted(desk, system, rules, {"--budget", "3", "--repairs", "0"}));
    CHECK(calls_of(paper).count("debugger") == 0);
  }
  const Ran other = scripted(desk, "stark", rules, {"--repairs", "1"});
  CHECK(other.code == 3);
  CHECK(mentions(other.err, "no such option of stark"));
  CHECK(desk.kernelsearch({"tune", (fixtures / "problems/dot").string(), "--repairs", "1"}).code == 2);
}

TEST_CASE("systems: that strategies do not apply costs no trial, is stored, and is said") {
  const Desk desk;
  std::filesystem::create_directories(desk.path() / "replies");
  write_text(desk.path() / "replies/no.md", "DOES NOT APPLY: a sum has nothing of the kind.\n");
  const std::string rules = R"({"role": "rewriter", "file": "no.md"})";
  const Ran ran = scripted(desk, "kernelband", rules, {"--budget", "6"});
  const auto result = result_of(ran);
  CHECK(result["trials"] == 1);  // the problem's own kernel
  CHECK(result["reason"] == "the policy has nothing more to propose");
  CHECK(result["models"]["faults"].empty());
  const Story story = story_of(desk);
  const int asked = calls_of(result)["rewriter"];
  CHECK(asked > 3);
  CHECK(story.size() > std::size_t(asked));
  std::set<std::string> unique(story.begin(), story.end());
  CHECK(unique.size() == story.size());  // each strategy once
  for (std::size_t i = 1; i < story.size(); ++i) CHECK(mentions(story[i], " <- 0: not_applicable"));
  CHECK(mentions(ran.err, "does not apply: "));
  CHECK(mentions(ran.err, ": a sum has nothing of the kind."));
  // A run that goes on asks none of them again.
  const auto resumed = result_of(desk.kernelsearch(
      {"tune", "--resume", "latest", "--budget", "9", "--store", "runs.db", "--json", "-q", "--out", "out"}));
  CHECK(resumed["trials"] == 1);
  CHECK(calls_of(resumed)["rewriter"] == asked);
  CHECK(story_of(desk) == story);
}

TEST_CASE("systems: where no reply is of any use the run says so, keeps all it has, and fails" *
          doctest::test_suite("thorough")) {
  const Desk desk;
  std::filesystem::create_directories(desk.path() / "replies");
  write_text(desk.path() / "replies/talk.md", "I would rather talk about it.\n");
  for (const char* system : {"best_of_k", "stark", "geak", "peak", "helion_llm"}) {
    CAPTURE(system);
    std::string rules;
    for (const char* role : {"rewriter", "planner", "reflector", "optimizer", "transformer", "config_search"})
      rules +=
          (rules.empty() ? "" : ",") + (R"({"role": ")" + std::string(role) + R"(", "file": "talk.md"})");
    // PEAK's root takes inner trials of the budget, Helion's search measures its seeds before the reply
    // counts.
    const std::string name = system;
    const bool long_start = name == "peak" || name == "helion_llm";
    const Ran ran = scripted(desk, name, rules, {"--budget", long_start ? "40" : "3"});
    CHECK(ran.code == 4);
    const auto result = ran.json();
    REQUIRE(result.is_object());
    CHECK(mentions(result["no_reply"], "no model gave a reply that could be used"));
    CHECK(mentions(ran.err, "kernelsearch: no model gave a reply that could be used, to "));
    CHECK(mentions(ran.err, ": a reply that cannot be used ("));  // while it ran
    CHECK(mentions(ran.err, "it is asked again"));
    CHECK(result["best"].is_object());
    CHECK(std::filesystem::exists(desk.path() / "out/dot_best.cpp"));
  }
  CHECK(mentions(read_text(desk.path() / ".err"), "the search of configurations by a model has ended: "));
}

TEST_CASE("systems: an outage is said while it lasts, with the next attempt, and as the end" *
          doctest::test_suite("thorough")) {
  const Desk desk;
  write_text(desk.path() / "models.json", R"({"models": {"one": {"provider": "openai", "model": "m",
    "base_url": "http://127.0.0.1:9/v1"}}})");
  ::setenv("no_proxy", "127.0.0.1", 1);
  const Ran ran = desk.kernelsearch({"tune", (fixtures / "problems/dot").string(), "--system", "best_of_k",
                                     "--store", "runs.db", "--samples", "5", "--budget", "2", "--models",
                                     "models.json", "--out", "out"});
  CHECK(ran.code == 4);
  CHECK(mentions(ran.err, "the model `one` gave no reply (network): "));
  CHECK(mentions(ran.err, "attempt 2 of 5 in "));
  CHECK(mentions(ran.err, "rewriter: no reply (network): "));
  CHECK(mentions(ran.err, "the question is given up, and the search goes on without it"));
  CHECK(mentions(ran.err, "no model gave a reply that could be used, to 10 questions;"));
  Story outages(11, "rewrite <- 0: not_generated");
  outages[0] = "root: ok";
  CHECK(story_of(desk) == outages);
  const auto runs = desk.kernelsearch({"runs", "--store", "runs.db", "--json"}).json();
  CHECK(runs[0]["trials"] == 1);
  CHECK(mentions(runs[0]["reason"], "nobody answered 10 questions in a row"));
}

TEST_CASE("systems: what cannot be, is refused before a run begins") {
  const Desk desk;
  write_text(desk.path() / "models.json", R"({"models": {"one": {"provider": "openai", "model": "m",
    "base_url": "http://127.0.0.1:9/v1"}}})");
  const std::string dot = (fixtures / "problems/dot").string();
  const auto tune = [&](std::vector<std::string> more) {
    std::vector<std::string> all{"tune", dot, "--system", "stark", "--store", "runs.db"};
    all.insert(all.end(), more.begin(), more.end());
    return desk.kernelsearch(all);
  };
  CHECK(tune({"--models", "none.json"}).code == 3);
  const Ran other = tune({"--models", "models.json", "--model", "two"});
  CHECK(other.code == 3);
  CHECK(other.err.find("two") != std::string::npos);
  CHECK(tune({"--models", "models.json", "--record", "all.json"}).code == 3);
  CHECK(desk.kernelsearch({"runs", "--store", "runs.db", "--json"}).json().size() == 0);
  const Ran doctor = desk.kernelsearch({"doctor", "--llm", "--models", "models.json", "--json"});
  CHECK(doctor.code == 4);
  REQUIRE(doctor.json().size() == 2);
  CHECK(doctor.json()[1]["what"] == "model one");
  CHECK_FALSE(doctor.json()[1]["works"].get<bool>());
}

namespace {

/// A model's server that takes questions and never answers.
class SilentServer {
 public:
  SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0);
    REQUIRE(::listen(socket_, 8) == 0);
    socklen_t size = sizeof at;
    REQUIRE(::getsockname(socket_, reinterpret_cast<sockaddr*>(&at), &size) == 0);
    port_ = ntohs(at.sin_port);
  }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;
  ~SilentServer() {
    hang_up();
    ::close(socket_);
  }

  [[nodiscard]] std::string models() const {
    return R"({"models": {"one": {"provider": "openai", "model": "m", "base_url": "http://127.0.0.1:)" +
           std::to_string(port_) + R"(/v1"}}})";
  }
  /// Whether somebody asks within two minutes.
  [[nodiscard]] bool asked() {
    pollfd waiting{socket_, POLLIN, 0};
    if (::poll(&waiting, 1, 120'000) != 1) return false;
    calls_.push_back(::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC));
    return true;
  }
  void hang_up() {
    for (const int call : calls_) ::close(call);
    calls_.clear();
  }

 private:
  int socket_, port_ = 0;
  std::vector<int> calls_;
};

std::size_t not_generated(const std::vector<nlohmann::json>& trials) {
  return static_cast<std::size_t>(std::count_if(trials.begin(), trials.end(), [](const auto& trial) {
    return trial["evaluation"]["verdict"] == "not_generated";
  }));
}

}  // namespace

TEST_CASE(
    "systems: Ctrl-C while a model is waited for costs no trial, in any system, also after two resumes") {
  ::setenv("no_proxy", "127.0.0.1", 1);
  for (const char* system : {"best_of_k", "cuda_skill_v2", "geak", "greedy_refine", "helion_hybrid",
                             "helion_llm", "kernelband", "peak", "stark"}) {
    CAPTURE(system);
    SilentServer server;
    const Desk desk;
    write_text(desk.path() / "models.json", server.models());
    std::vector<std::string> line{"tune",      (fixtures / "problems/dot").string(),
                                  "--system",  system,
                                  "--store",   "runs.db",
                                  "--samples", "5",
                                  "--budget",  "30",
                                  "--models",  "models.json",
                                  "--out",     "out"};
    std::size_t trials = 0;
    for (int part = 0; part < 3; ++part) {
      CAPTURE(part);
      Started run(desk.path(), Desk::line(line));
      REQUIRE_MESSAGE(server.asked(), read_text(desk.path() / ".err"));
      run.signal(SIGINT);
      const Ran ran = run.finish();
      CHECK_MESSAGE(ran.code == 130, ran.err);
      server.hang_up();
      const auto told = trials_of(desk);
      CHECK(not_generated(told) == 0);
      if (part > 0 && std::string(system).rfind("helion", 0) != 0) CHECK(told.size() == trials);
      trials = told.size();
      line = {"tune", "--resume", "latest", "--store", "runs.db", "--models", "models.json", "--out", "out"};
    }
  }
}

TEST_CASE("systems: the end of a time budget while a model is waited for costs no trial") {
  ::setenv("no_proxy", "127.0.0.1", 1);
  SilentServer server;
  const Desk desk;
  write_text(desk.path() / "models.json", server.models());
  Started run(desk.path(), Desk::line({"tune", (fixtures / "problems/dot").string(), "--system", "best_of_k",
                                       "--store", "runs.db", "--samples", "5", "--budget", "4s", "--models",
                                       "models.json", "--out", "out"}));
  REQUIRE_MESSAGE(server.asked(), read_text(desk.path() / ".err"));
  const Ran ran = run.finish();
  CHECK_MESSAGE(ran.code == 0, ran.err);
  CHECK(story_of(desk) == Story{"root: ok"});
}
