// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "apps/command.hpp"
#include "support/check_has.hpp"

using namespace kernelsearch_test;

namespace {

/// A cachefile of 8 x 12 configurations.
void write_space(const std::filesystem::path& file) {
  nlohmann::ordered_json json{{"device_name", "none"}, {"kernel_name", "made_up"}, {"problem_size", 1}};
  json["tune_params_keys"] = {"x", "y"};
  for (int x = 0; x < 8; ++x) json["tune_params"]["x"].push_back(x);
  for (int y = 0; y < 12; ++y) json["tune_params"]["y"].push_back(y);
  for (int x = 0; x < 8; ++x)
    for (int y = 0; y < 12; ++y)
      json["cache"][std::to_string(x) + "," + std::to_string(y)] = {
          {"x", x},
          {"y", y},
          {"time", 1.0 + (x - 3) * (x - 3) + 0.3 * std::abs(y - 5)},
          {"compile_time", 100.0},
          {"benchmark_time", 50.0}};
  write_text(file, json.dump());
}

/// Proposes x = k % 8, y = k / 8 for k = 0, 1, ..., one at a time; at k = 10 does `then`.
std::string policy_script(const std::string& then = ":") {
  return "read hello\necho '{\"type\":\"ready\",\"protocol\":1}'\nk=0\nwhile read line; do\n"
         "  case \"$line\" in '{\"type\":\"ask\"'*)\n    if [ $k -eq 10 ]; then " +
         then +
         "; fi\n"
         "    if [ $k -lt 96 ]; then c=\"{\\\"x\\\":$((k % 8)),\\\"y\\\":$((k / 8))}\"; else c=; fi\n"
         "    k=$((k + 1))\n    echo \"{\\\"type\\\":\\\"proposals\\\",\\\"configurations\\\":[$c]}\";;\n"
         "  esac\ndone\n";
}

}  // namespace

TEST_CASE("command: compare runs a policy that is a command beside ours, each run in a process of its own") {
  const Desk desk;
  write_space(desk.path() / "space.json");
  write_text(desk.path() / "mine.sh", "echo run >> started\n" + policy_script());
  const std::vector<std::string> line{
      "compare",          "space.json", "--policies", "random,mine", "--repeats", "3", "--budget", "30",
      "--policy-command", "sh mine.sh", "--out",      "compared",    "--jobs",    "2", "--strict"};
  const Ran ran = desk.kernelsearch(line);
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  check_has(ran.out, "\nmine ");
  CHECK(ran.out.find("proposed, not scored") == std::string::npos);
  CHECK(read_text(desk.path() / "started") == "run\nrun\nrun\n");
  const auto scores = nlohmann::json::parse(read_text(desk.path() / "compared/scores.json"));
  CHECK(scores["mine"]["spaces"]["space"]["median_len"] == 30);
  CHECK(scores["mine"]["summary"]["dev"]["policy_ms_per_eval"].get<double>() > 0);
  const std::string page = read_text(desk.path() / "compared/report.html");
  check_has(page, "<th>policy mine</th><td>sh mine.sh</td>");
  check_has(page, "end the comparison (--strict)");
  CHECK(std::filesystem::file_size(desk.path() / "compared/figures/space.svg") > 1000);
  check_has(read_text(desk.path() / "compared/scores.tex"), "\\begin{tabular}");
  CHECK(desk.kernelsearch(line).code == 0);  // finished: nothing is started
  CHECK(read_text(desk.path() / "started") == "run\nrun\nrun\n");
  // Not named, it takes part all the same; a name that there is not, is answered with those that there are.
  check_has(desk.kernelsearch({"compare", "space.json", "--policies", "random", "--repeats", "1", "--budget",
                               "5", "--policy-command", "other: sh mine.sh", "-q"})
                .out,
            "\nother ");
  const Ran none =
      desk.kernelsearch({"compare", "space.json", "--policies", "mne", "--policy-command", "sh mine.sh"});
  CHECK(none.code == 3);
  check_has(none.err, "did you mean mine?");
}

TEST_CASE(
    "command: compare names policy, space, repeat and evaluation of what goes wrong, and counts misuse") {
  const Desk desk;
  write_space(desk.path() / "space.json");
  const auto compare = [&](const std::string& then, std::vector<std::string> more) {
    write_text(desk.path() / "mine.sh", policy_script(then));
    more.insert(more.begin(), {"compare", "space.json", "--policies", "mine", "--repeats", "1", "--budget",
                               "30", "--policy-command", "sh mine.sh", "-q"});
    return desk.kernelsearch(more);
  };
  const Ran crashed = compare("echo out of luck >&2; exit 4", {});
  CHECK(crashed.code == 3);
  check_has(crashed.err,
            "a policy failed: mine on space, repeat 0, evaluation 11: policy mine ended: it ended with "
            "exit code 4, having written:\nout of luck");
  check_has(compare("k=7", {}).out, "proposed, not scored");
  const Ran again = compare("k=7", {"--strict"});
  CHECK(again.code == 3);
  check_has(again.err,
            "a policy proposed a configuration again: mine on space, repeat 0, evaluation 11: x = 7, y = 0");
  const Ran early = compare("k=96", {"--strict"});
  CHECK(early.code == 3);
  check_has(early.err, "a policy ended early: mine on space, repeat 0, evaluation 11");
  check_has(compare("sleep 30", {"--policy-timeout", "0.5"}).err,
            "evaluation 11: policy mine did not answer");
  check_has(compare("echo hm", {}).err, "answered with a line that is not a JSON object: hm");
}

TEST_CASE("command: contract says which promises hold, and its exit code whether all do") {
  const Desk desk;
  Ran ran = desk.kernelsearch({"contract", "--policy", "random,greedy"});
  CHECK_MESSAGE(ran.code == 0, ran.out);
  check_has(ran.out, "random: 7 of 7 hold");
  check_has(ran.out, "greedy: 7 of 7 hold");
  // It proposes x and y, which the spaces of the contract do not have.
  write_text(desk.path() / "mine.sh", policy_script());
  ran = desk.kernelsearch({"contract", "--policy-command", "sh mine.sh", "--json"});
  CHECK(ran.code == 1);
  CHECK(ran.json()["mine"]["proposes"]["holds"] == false);
  check_has(ran.json()["mine"]["proposes"]["fault"].get<std::string>(), "without a value for block");
  check_has(desk.kernelsearch({"contract", "--policy-command", "sh mine.sh"}).out,
            "mine: 0 of 7 hold\n  BROKEN  proposes");
  CHECK(desk.kernelsearch({"contract"}).code == 2);
  CHECK(desk.kernelsearch({"contract", "--policy", "randon"}).code == 3);
#ifdef KERNELSEARCH_TEST_FAR_FROM_BAD
  check_has(desk.kernelsearch({"contract", "--policy-plugin", KERNELSEARCH_TEST_FAR_FROM_BAD}).out,
            "far_from_bad: 7 of 7 hold");
  write_space(desk.path() / "space.json");
  ran = desk.kernelsearch({"compare", "space.json", "--policies", "random,far_from_bad,far_from_bad(draws=1)",
                           "--policy-plugin", KERNELSEARCH_TEST_FAR_FROM_BAD, "--repeats", "2", "--strict",
                           "-q"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  check_has(ran.out, "\nfar_from_bad ");
  check_has(ran.out, "\nfar_from_bad(draws=1) ");
#endif
}

TEST_CASE("command: a store of others runs nothing and loads nothing when its run is resumed") {
  const Desk desk;
  REQUIRE(desk.kernelsearch({"new", "mine"}).code == 0);
  auto problem = nlohmann::json::parse(read_text(desk.path() / "mine/problem.json"), nullptr, true, true);
  one_small_shape(problem);
  write_text(desk.path() / "mine/problem.json", problem.dump());
  const Ran ran = desk.kernelsearch(
      {"tune", "mine", "--policy", "random", "--budget", "2", "--store", "runs.db", "-q", "--out", "out"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  const auto with_option = [&desk](const std::string& name, const std::string& value) {
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open((desk.path() / "runs.db").c_str(), &database) == SQLITE_OK);
    const std::string set =
        "UPDATE runs SET options = json_set(json_remove(options, '$.policy_command', "
        "'$.policy_plugin', '$.readable'), '$." +
        name + "', json('" + value + "'))";
    char* error = nullptr;
    CHECK_MESSAGE(sqlite3_exec(database, set.c_str(), nullptr, nullptr, &error) == SQLITE_OK, error);
    sqlite3_close(database);
  };
  // Before, each of these ran or was read: as the user, outside of the sandbox.
  const std::string owned = (desk.path() / "owned").string();
  with_option("policy_command", "\"touch " + owned + "\"");
  for (const char* budget : {"5", "200"}) {
    const Ran again =
        desk.kernelsearch({"tune", "--resume", "latest", "--budget", budget, "--store", "runs.db"});
    CHECK(again.code == 3);
    check_has(again.err, "touch " + owned);
    check_has(again.err, "give --policy-command again");
  }
  with_option("policy_plugin", "\"" + owned + ".so\"");
  Ran again = desk.kernelsearch({"tune", "--resume", "latest", "--budget", "5", "--store", "runs.db"});
  CHECK(again.code == 3);
  check_has(again.err, "give --policy-plugin again");
  with_option("readable", "[\"" + desk.path().string() + "\"]");
  again = desk.kernelsearch({"tune", "--resume", "latest", "--budget", "5", "--store", "runs.db"});
  CHECK(again.code == 3);
  check_has(again.err, "give --readable again");
  CHECK_FALSE(std::filesystem::exists(owned));
}

TEST_CASE("command: tune with a policy that is a command, resumed") {
  const Desk desk;
  REQUIRE(desk.kernelsearch({"new", "mine"}).code == 0);
  auto problem = nlohmann::json::parse(read_text(desk.path() / "mine/problem.json"), nullptr, true, true);
  one_small_shape(problem);
  write_text(desk.path() / "mine/problem.json", problem.dump());
  if (std::system("python3 -c '' 2>/dev/null") != 0) {
    MESSAGE("skipped: there is no python3");
    return;
  }
  const std::string command =
      std::string("python3 ") + KERNELSEARCH_SOURCE_DIR + "/examples/policies/hill_climber.py";
  Ran ran = desk.kernelsearch(
      {"tune", "mine", "--policy-command", command, "--budget", "3", "--store", "runs.db", "-q"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  ran = desk.kernelsearch({"tune", "--resume", "latest", "--budget", "5", "--store", "runs.db"});
  CHECK(ran.code == 3);
  check_has(ran.err, "give --policy-command again");
  ran = desk.kernelsearch(
      {"tune", "--resume", "latest", "--policy-command", command, "--budget", "5", "--store", "runs.db"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  check_has(ran.err, "policy hill_climber");
  check_has(ran.err, "reads what its store names: problem ");
  CHECK(desk.kernelsearch({"runs", "--store", "runs.db", "--json"}).json()[0]["trials"] == 5);
  CHECK(desk.kernelsearch({"tune", "mine", "--policy", "random", "--policy-command", command}).code == 2);
}
