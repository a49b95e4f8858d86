// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `kernelsearch bench`: a folder of tasks, killed and resumed, and answers of others.
#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "apps/command.hpp"
#include "support/check_has.hpp"

using namespace kernelsearch_test;

namespace {

const std::string kernel = "extern \"C\" void f(int n, const float* x, float* y) {\n";

/// Two small tasks, the slower the smaller WORK is not, and one that is none.
void write_tasks(const Desk& desk) {
  for (const char* name : {"one", "two", "bad"}) {
    const auto folder = desk.path() / "tasks" / name;
    std::filesystem::create_directories(folder);
    write_text(folder / "kernel.cpp",
               kernel +
                   "  for (int k = 0; k < WORK; ++k) for (int i = 0; i < n; ++i) { asm volatile(\"\" ::: "
                   "\"memory\"); y[i] = 2 * x[i]; }\n}\n");
    write_text(folder / "problem.json",
               std::string(R"({"schema": 1, "name": ")") + name + R"(", "function": "f",
    "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"},
                  {"name": "y", "type": "f32", "size": "n", "role": "out"}],
    "kernel": {"device": "kernel.cpp"}, "tunables": {"WORK": [1, 8, 16]}, "default": {"WORK": 16},
    "shapes": [{"name": "one", "n": 1000}],
    "reference": {"source": {"text": "void r(int n, const real* x, real* y) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }"},
                  "function": "r"}})");
  }
  write_text(desk.path() / "tasks" / "bad" / "problem.json", "{}");
}

nlohmann::json task_of(const nlohmann::json& report, const std::string& name) {
  for (const auto& task : report["tasks"])
    if (task["task"] == name) return task;
  return {};
}

std::vector<std::string> searching(std::vector<std::string> more = {}) {
  std::vector<std::string> all{"bench",     "tasks", "--policy",  "exhaustive", "--budget", "3",
                               "--samples", "5",     "--sandbox", "none",       "--store",  "runs.db",
                               "--format",  "json",  "--out",     "out"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

TEST_CASE("bench: a killed benchmark goes on, and a task that is none is refused with the reason") {
  const Desk desk;
  write_tasks(desk);
  {
    Started killed(desk.path(), Desk::line(searching()));
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (killed.running() && std::chrono::steady_clock::now() < end) {
      const auto runs = desk.program(Desk::line({"runs", "--store", "runs.db", "--json"})).json();
      if (runs.is_array() && !runs.empty() && runs[0]["trials"] > 0) break;
    }
    killed.signal(SIGKILL);
  }
  // What worked on the task ends with the benchmark: until then its run cannot be continued.
  Ran ran;
  for (int i = 0; i < 60; ++i) {
    ran = desk.kernelsearch(searching());
    if (ran.out.find("another process works on this run") == std::string::npos) break;
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  const auto report = ran.json();
  for (const char* name : {"one", "two"}) {
    const auto task = task_of(report, name);
    CAPTURE(task.dump());
    CHECK(task["state"] == "right");
    CHECK(task["speedups"].size() == 3);
    CHECK(task["over_reference"]["ratio"] > 0);
  }
  CHECK(task_of(report, "bad")["state"] == "refused");
  check_has(task_of(report, "bad")["reason"].get<std::string>(), "lacks the key \"schema\"");
  CHECK(report["iterations"][2]["each"]["tasks"] == 2);
  CHECK(report["fast_p"]["reference"][0]["tasks"] == 3);
  const auto runs = desk.kernelsearch({"runs", "--store", "runs.db", "--json"}).json();
  CHECK(runs.size() == 2);  // none was begun anew
  check_has(ran.err, "bad: refused: ");
  check_has(read_text(desk.path() / "out" / "index.html"), "<svg viewBox");
  check_has(read_text(desk.path() / "out" / "bench.md"), "| bad | refused |");
  CHECK(std::filesystem::exists(desk.path() / "out" / "winners" / "one"));

  // The same figures of stored runs, and of two tasks at a time from the store.
  const auto stored =
      desk.kernelsearch({"bench", "--runs", "1,2", "--store", "runs.db", "--format", "json"}).json();
  CHECK(stored["tasks"][0]["speedups"] == task_of(report, "one")["speedups"]);
  const auto again = desk.kernelsearch(searching({"--parallel", "2", "-q"})).json();
  CHECK(task_of(again, "two")["over_reference"] == task_of(report, "two")["over_reference"]);
  CHECK(task_of(again, "two")["memory_mib"] == 0);  // nothing was measured
}

TEST_CASE("bench: a task that lacks memory beside others is tried again alone, others are not") {
  const Desk desk;
  write_tasks(desk);
  // Its reference compiles once the other task's winner has been written; until then memory is short.
  const std::string winner = (desk.path() / "out/winners/one/one_best.cpp").string();
  const auto two = desk.path() / "tasks/two/problem.json";
  auto problem = nlohmann::json::parse(read_text(two));
  std::string& reference = problem["reference"]["source"]["text"].get_ref<std::string&>();
  reference = "#if !__has_include(\"" + winner + "\")\n#error CUDA out of memory\n#endif\n" + reference;
  write_text(two, problem.dump());
  const Ran ran = desk.kernelsearch(searching({"--parallel", "2"}));
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  CHECK(task_of(ran.json(), "one")["state"] == "right");
  CHECK(task_of(ran.json(), "two")["state"] == "right");
  CHECK(task_of(ran.json(), "bad")["state"] == "refused");
  check_has(ran.err, "two: too little memory while other tasks run; again when they have ended");
  CHECK(ran.err.find("bad: too little memory") == std::string::npos);
}

TEST_CASE("bench: answers of others are judged, with what their harness says beside it") {
  const Desk desk;
  write_tasks(desk);
  std::filesystem::create_directories(desk.path() / "answers");
  write_text(desk.path() / "answers" / "one.cpp",
             kernel + "  for (int i = 0; i < n; ++i) y[i] = x[i] + x[i];\n}\n");
  write_text(desk.path() / "answers" / "two.cpp", kernel + "  for (int i = 0; i < n; ++i) y[i] = 2;\n}\n");
  write_text(desk.path() / "harness.sh", "echo '{\"right\": true, \"speedup\": 3}'\n");
  const Ran ran =
      desk.kernelsearch({"bench", "tasks", "--answers", "answers", "--harness", "sh harness.sh", "--samples",
                         "5", "--sandbox", "none", "--store", "runs.db", "--format", "json", "--out", "out"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  const auto report = ran.json();
  REQUIRE(report["tasks"].size() == 2);
  check_has(ran.err, "1 tasks have no answer in answers and are left out");
  const auto one = task_of(report, "one"), two = task_of(report, "two");
  CHECK(one["state"] == "right");
  CHECK(one["first_iteration"] == 1);
  CHECK(one["other_harness"]["right"] == true);
  CHECK(one["other_harness"]["text"] == "right (3x)");
  CHECK(two["state"] == "wrong");
  check_has(two["reason"].get<std::string>(), "wrong_result: ");
  check_has(report["counts"].get<std::string>(), "the other harness agrees in 1 of 2");

  const Ran none = desk.kernelsearch({"bench", "tasks/bad", "--answers", "answers", "--store", "runs.db"});
  CHECK(none.code == 3);
  check_has(none.err, "no task has an answer in this folder");
}

TEST_CASE("bench: words that do not go together are refused") {
  const Desk desk;
  const auto refused = [&](std::vector<std::string> words, const char* text) {
    words.insert(words.begin(), "bench");
    const Ran ran = desk.kernelsearch(words);
    CHECK(ran.code == 2);
    check_has(ran.err, text);
  };
  refused({}, "name a folder of tasks, or --runs");
  refused({"tasks", "--runs", "1"}, "leave out FOLDER");
  refused({"tasks", "--record", "all.json"}, "each task would write the same file");
  refused({"tasks", "--harness", "sh"}, "--answers");
  refused({"tasks", "--parallel", "0"}, "--parallel");
}
