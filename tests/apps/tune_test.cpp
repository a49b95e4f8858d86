// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "apps/command.hpp"
#include "support/approx.hpp"
#include "support/check_has.hpp"

using namespace kernelsearch_test;
using kernelsearch::test::approx;

namespace {

/// The newest run of the store; null where there is none yet.
nlohmann::json newest_run(const Desk& desk) {
  const Ran ran = desk.kernelsearch({"runs", "--store", "runs.db", "--json"});
  const auto rows = ran.json();
  return rows.is_array() && !rows.empty() ? rows[0] : nlohmann::json();
}

/// The configurations of the newest run's trials by their numbers.
std::map<int, nlohmann::json> trials_of_newest(const Desk& desk) {
  const auto run =
      desk.kernelsearch({"show", "latest", "--top", "100000", "--store", "runs.db", "--json"}).json();
  std::map<int, nlohmann::json> trials;
  REQUIRE(run.is_object());
  for (const auto& trial : run["top"]) trials[trial["trial"].get<int>()] = trial["config"];
  return trials;
}

}  // namespace

TEST_CASE("command: a kernel that reads past its arrays does not win, unless that is asked for") {
  const Desk desk;
  std::filesystem::create_directory(desk.path() / "past");
  // Without SAFE it is faster, and wrong by one element that it reads and does not use.
  write_text(desk.path() / "past" / "kernel.cpp",
             "extern \"C\" void f(int n, const float* x, float* y) {\n"
             "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n"
             "#if SAFE\n  for (int k = 0; k < 20; ++k) for (int i = 0; i < n; ++i) { asm volatile(\"\" ::: "
             "\"memory\"); "
             "y[i] = 2 * x[i]; }\n"
             "#else\n  volatile float next = x[n]; (void)next;\n#endif\n}\n");
  write_text(desk.path() / "past" / "problem.json", R"({"schema": 1, "name": "past", "function": "f",
    "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"},
                  {"name": "y", "type": "f32", "size": "n", "role": "out"}],
    "kernel": {"device": "kernel.cpp"}, "tunables": {"SAFE": [1, 0]}, "default": {"SAFE": 1},
    "shapes": [{"name": "one", "n": 1000}], "hidden_shapes": {"ranges": {"n": [1, 2000]}},
    "reference": {"source": {"text": "void r(int n, const real* x, real* y) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }"},
                  "function": "r"}})");
  const auto best_of = [&desk](std::vector<std::string> more) {
    std::vector<std::string> arguments{"tune",       "past",    "--budget", "all",    "--policy",
                                       "exhaustive", "--store", "runs.db",  "--json", "--no-reuse"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = desk.kernelsearch(arguments);
    REQUIRE_MESSAGE(ran.code == 0, ran.err);
    return ran.json();
  };
  const auto kept = best_of({});
  CHECK(kept["best"]["config"]["SAFE"] == 1);
  CHECK(kept["verdicts"]["crashed"] == 1);
  const auto shown = desk.kernelsearch({"show", "latest", "--failed", "--store", "runs.db"});
  check_has(shown.out, "it reads past the end of x, at byte 0 behind its 1000 elements (shape one)");
  const Ran told = desk.kernelsearch(
      {"tune", "past", "--budget", "all", "--policy", "exhaustive", "--store", "runs.db", "--no-reuse"});
  check_has(told.out, "bounds    kept");
  CHECK(best_of({"--no-bounds"})["best"]["config"]["SAFE"] == 0);
  const Ran checked = desk.kernelsearch({"check", "past", "--quick"});
  check_has(checked.out, "hidden     3 of each evaluation, checked only\n  n            1 to 2000\n");
}

TEST_CASE("command: new, check, tune, runs, show, best, export") {
  const Desk desk;
  Ran ran = desk.kernelsearch({"new", "mine"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.out == "mine\n");
  for (const char* file : {"problem.json", "kernel.cpp", "reference.cpp"})
    CHECK(std::filesystem::exists(desk.path() / "mine" / file));
  CHECK(desk.kernelsearch({"new", "mine"}).code == 3);  // nothing is overwritten

  ran = desk.kernelsearch({"check", "mine"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  check_has(ran.out, "clean: no findings (reference and default were run on 3 of 3 shapes)");

  with_one_small_shape(desk);
  ran =
      desk.kernelsearch({"tune", "mine", "--budget", "15", "--json", "--store", "runs.db", "--out", "tuned"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  check_has(ran.err, "run 1 of mine");
  const auto result = ran.json();
  REQUIRE(result.is_object());
  CHECK(result["run"] == 1);
  CHECK(result["problem"] == "mine");
  CHECK(result["trials"] == 15);
  std::uint64_t judged = 0;
  for (const auto& count : result["verdicts"]) judged += count.get<std::uint64_t>();
  CHECK(judged == 15);
  CHECK(result["best"]["config"].contains("ROWS"));
  CHECK(result["best"]["seconds"].get<double>() > 0);
  CHECK(result["best"]["speedup"]["ratio"].get<double>() > 0);
  for (const auto& file : result["files"]) {
    CAPTURE(file.get<std::string>());
    CHECK(std::filesystem::file_size(desk.path() / file.get<std::string>()) > 0);
  }
  CHECK(result["files"].size() == 4);

  const auto run = newest_run(desk);
  REQUIRE(run.is_object());
  CHECK(run["run"] == 1);
  CHECK(run["problem"] == "mine");
  CHECK(run["policy"] == "bayesian");
  CHECK(run["trials"] == 15);
  CHECK(run["finished"].is_string());
  CHECK(run["best_seconds"].get<double>() > 0);
  check_has(desk.kernelsearch({"runs", "--store", "runs.db"}).out, "mine");

  const auto shown =
      desk.kernelsearch({"show", "latest", "--store", "runs.db", "--json", "--top", "3"}).json();
  REQUIRE(shown.is_object());
  CHECK(shown["trials"] == 15);
  REQUIRE(shown["top"].size() == 3);
  CHECK(shown["top"][0]["config"].contains("ROWS"));
  const std::string best = std::to_string(shown["top"][0]["trial"].get<int>());
  ran = desk.kernelsearch({"show", "1", "--trial", best, "--store", "runs.db"});
  CHECK(ran.code == 0);
  check_has(ran.out, "verdict   ok");
  check_has(ran.out, "square");
  ran = desk.kernelsearch({"show", "1", "--trial", "999", "--store", "runs.db"});
  CHECK(ran.code == 3);
  check_has(ran.err, "15 trials");
  ran = desk.kernelsearch({"show", "other", "--store", "runs.db"});
  CHECK(ran.code == 3);
  check_has(ran.err, "kernelsearch runs");

  const auto winner = desk.kernelsearch({"best", "--store", "runs.db", "--json"}).json();
  REQUIRE(winner.is_object());
  CHECK(winner["best"] == result["best"]);
  ran = desk.kernelsearch({"best", "latest", "--store", "runs.db"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  check_has(ran.out, "ROWS");
  ran = desk.kernelsearch({"best", "1", "--store", "runs.db", "--source"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  write_text(desk.path() / "fast.cpp", ran.out);
  ran = desk.program({"g++", "-std=c++20", "-c", "fast.cpp", "-o", "fast.o"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  ran = desk.kernelsearch({"best", "1", "--store", "runs.db", "--settings"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  check_has(ran.out, "ROWS");
  write_text(desk.path() / "settings.cpp", ran.out);
  ran = desk.program({"g++", "-std=c++20", "-fsyntax-only", "-x", "c++", "settings.cpp"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  ran = desk.program(
      {"g++", "-std=c++20", "-fsyntax-only", "-DKERNELSEARCH_SETTINGS_AS_CONSTANTS", "settings.cpp"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  // What is defined already must not decide in silence.
  ran = desk.program({"g++", "-std=c++20", "-fsyntax-only", "-DROWS=1", "settings.cpp"});
  CHECK(ran.code != 0);
  check_has(ran.err, "ROWS is defined already");

  ran = desk.kernelsearch({"export", "latest", "--store", "runs.db"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  std::istringstream lines(ran.out);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    CHECK_MESSAGE(nlohmann::json::parse(line, nullptr, false).is_object(), line);
  CHECK(count >= 15);
  ran = desk.kernelsearch({"export", "latest", "--store", "runs.db", "--format", "csv", "-o", "run.csv"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.out == "");
  check_has(read_text(desk.path() / "run.csv"), "ROWS");
  for (const char* format : {"t4", "t4-metadata"})
    CHECK(desk.kernelsearch({"export", "1", "--store", "runs.db", "--format", format}).json().is_object());
  CHECK(desk.kernelsearch({"export", "1", "--store", "runs.db", "--format", "cvs"}).code == 2);
}

TEST_CASE("command: tune takes options of the policy, shows them, and goes on with them") {
  const Desk desk;
  REQUIRE(desk.kernelsearch({"new", "mine"}).code == 0);
  with_one_small_shape(desk);
  Ran ran = desk.kernelsearch({"tune", "mine", "--policy", "genetic( mutations=2,population=3)", "--budget",
                               "4", "--jobs", "1", "--store", "runs.db", "--out", "tuned"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  check_has(ran.err, "policy genetic(population=3, mutations=2.0), budget 4");
  ran = desk.kernelsearch(
      {"tune", "--resume", "latest", "--budget", "6", "--store", "runs.db", "--out", "tuned"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  check_has(ran.err, "policy genetic(population=3, mutations=2.0), budget 6");
  const auto run = newest_run(desk);
  CHECK(run["policy"] == "genetic(population=3, mutations=2.0)");
  CHECK(run["trials"] == 6);
  check_has(desk.kernelsearch({"show", "latest", "--store", "runs.db"}).out,
            "genetic(population=3, mutations=2.0)");
  ran = desk.kernelsearch({"tune", "mine", "--policy", "genetic(population=many)", "--store", "runs.db"});
  CHECK(ran.code == 3);
  check_has(ran.err, "the option population of genetic is of another type: many; give a whole number");
  CHECK(newest_run(desk)["run"] == run["run"]);
}

TEST_CASE("command: an interrupted run ends with 130, keeps its trials and goes on") {
  const Desk desk;
  REQUIRE(desk.kernelsearch({"new", "mine"}).code == 0);
  with_one_small_shape(desk);
  Started tune(desk.path(), Desk::line({"tune", "mine", "--policy", "random", "--budget", "10000", "--jobs",
                                        "1", "--store", "runs.db", "--out", "tuned", "--quiet"}));
  // Other commands write their output where this one does: the store alone tells how far it is.
  const auto told = [&] {
    Ran seen =
        Started(desk.path() / "elsewhere", Desk::line({"runs", "--store", "../runs.db", "--json"})).finish();
    const auto rows = seen.json();
    return rows.is_array() && !rows.empty() ? rows[0]["trials"].get<int>() : 0;
  };
  std::filesystem::create_directory(desk.path() / "elsewhere");
  for (int i = 0; i < 1000 && tune.running() && told() < 3; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  REQUIRE(tune.running());
  tune.signal(SIGINT);
  const Ran stopped = tune.finish(std::chrono::seconds(60));
  CHECK_MESSAGE(stopped.code == 130, stopped.err);
  check_has(stopped.err, "stopping");

  const auto run = newest_run(desk);
  REQUIRE(run.is_object());
  const int before = run["trials"].get<int>();
  CHECK(before >= 3);
  CHECK(before < 10000);
  const auto kept = trials_of_newest(desk);
  CHECK(static_cast<int>(kept.size()) == before);

  const Ran resumed = desk.kernelsearch({"tune", "--resume", "latest", "--budget", std::to_string(before + 4),
                                         "--store", "runs.db", "--out", "tuned", "--quiet"});
  CHECK_MESSAGE(resumed.code == 0, resumed.err);
  const auto after = newest_run(desk);
  REQUIRE(after.is_object());
  CHECK(after["run"] == run["run"]);
  CHECK(after["policy"] == "random");
  CHECK(after["trials"].get<int>() == before + 4);
  const auto all = trials_of_newest(desk);
  for (const auto& trial : kept) {
    CAPTURE(trial.first);
    REQUIRE(all.count(trial.first) == 1);
    CHECK(all.at(trial.first) == trial.second);
  }
}

TEST_CASE("command: tune keeps a recording that can be replayed, of all configurations if wanted") {
  const Desk desk;
  REQUIRE(desk.kernelsearch({"new", "mine"}).code == 0);
  // Few configurations, so that all can be measured.
  auto problem = nlohmann::json::parse(read_text(desk.path() / "mine/problem.json"), nullptr, true, true);
  problem["tunables"] = {{"ROWS", {1, 2}}, {"LANES", {1, 2}}, {"FAST_MATH", {""}}};
  problem.erase("constraints");
  problem.erase("default");
  one_small_shape(problem);
  write_text(desk.path() / "mine/problem.json", problem.dump());
  Ran ran = desk.kernelsearch({"tune", "mine", "--policy", "exhaustive", "--budget", "all", "--record",
                               "all.json.gz", "--store", "runs.db", "--json"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.json()["trials"] == 4);
  check_has(ran.err, "4 configurations recorded in all.json.gz");
  const auto recorded = desk.kernelsearch({"inspect", "all.json.gz", "--json"}).json();
  REQUIRE(recorded.is_object());
  CHECK(recorded["recorded"] == 4);
  CHECK(recorded["combinations"] == "4");
  CHECK(recorded["kernel"] == "mine");
  CHECK(recorded["recorded_seconds"]["build"].get<double>() > 0);
  // The same from the store, and as an export. The winner may be another: finalists are compared in pairs.
  const auto stored = desk.kernelsearch({"inspect", "runs.db:latest", "--json"}).json();
  REQUIRE(stored.is_object());
  CHECK(stored["verdicts"] == recorded["verdicts"]);
  CHECK(recorded["best"]["settings"] == stored["best"]["settings"]);
  CHECK(recorded["best"]["seconds"].get<double>() == approx(stored["best"]["seconds"].get<double>()));
  CHECK(desk.kernelsearch({"export", "latest", "--store", "runs.db", "--format", "cachefile", "--space",
                           "mine", "-o", "x.json"})
            .code == 0);
  const auto exported = desk.kernelsearch({"inspect", "x.json", "--json"}).json();
  REQUIRE(exported.is_object());
  CHECK(exported["best"] == recorded["best"]);
  // Said before anything is measured.
  ran = desk.kernelsearch({"tune", "mine", "--record", "all.txt"});
  CHECK(ran.code == 3);
  check_has(ran.err, "does not say its format");
  CHECK(desk.kernelsearch({"tune", "mine", "--record", "no/such/all.json"}).code == 3);
}
