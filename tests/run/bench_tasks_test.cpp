// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/bench_tasks.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/report/task_scores.hpp"
#include "kernelsearch/run/other_harness.hpp"
#include "kernelsearch/run/run_lock.hpp"
#include "run/support.hpp"
#include "support/check_has.hpp"

using namespace run_test;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

std::vector<std::string> names_in(const std::vector<fs::path>& paths) {
  std::vector<std::string> names;
  for (const BenchTask& task : find_bench_tasks(paths)) names.push_back(task.name);
  return names;
}

/// A bench over the scripted problem.
struct Field {
  Place place;
  Problem problem = small_problem();
  RunObserver nobody;
  fs::path path = place.folder / "root" / "twice";

  BenchEnd work(BenchRun how, std::stop_token stop = {}) {
    RunParts parts;
    parts.evaluator = Words{problem, place.gate};
    parts.store = place.store.get();
    parts.stop = std::move(stop);
    return run_bench_task(problem, path, std::move(how), std::move(parts), nobody);
  }
  BenchRun search(const std::string& budget) const {
    BenchRun how;
    how.name = "bench: twice";
    how.options.policy = "random";
    how.options.budget = budget;
    how.options.measurement.jobs = 1;
    return how;
  }
  BenchRun judging(const std::vector<fs::path>& answers) const {
    BenchRun how;
    how.name = "answers: twice";
    how.search = false;
    how.answers = answers;
    return how;
  }
  fs::path answer(const std::string& name, const std::string& words) const {
    const fs::path file = place.folder / "answers" / name;
    write(file, code_with(words));
    return file;
  }
  RunRow row(const BenchEnd& end) const { return place.store->run(end.run); }
  int judged() const { return place.gate->judged; }
};

}  // namespace

TEST_CASE("bench_tasks: tasks are found in folders, with names of their places") {
  const TemporaryFolder folder;
  write(folder / "levels/level1/1_Add.py", "");
  write(folder / "levels/level1/2_Mul.py", "");
  write(folder / "levels/level1/__init__.py", "");
  write(folder / "levels/level1/answers/1_Add.py", "");  // this folder has tasks of its own
  write(folder / "levels/level2/1_Add.py", "");
  CHECK(names_in({folder / "levels"}) ==
        std::vector<std::string>{"level1/1_Add", "level1/2_Mul", "level2/1_Add"});
  CHECK(names_in({folder / "levels/level1/"}) == std::vector<std::string>{"1_Add", "2_Mul"});
  CHECK(names_in({folder / "levels/level1/2_Mul.py"}) == std::vector<std::string>{"2_Mul"});

  write(folder / "mixed/softmax/problem.json", "");
  write(folder / "mixed/norm/definition.json", "");
  write(folder / "mixed/norm/reference.py", "");
  write(folder / "mixed/mode/task.yml", "");
  write(folder / "mixed/arena/config.yaml", "");
  write(folder / "mixed/chain.py", "");
  CHECK(names_in({folder / "mixed"}) ==
        std::vector<std::string>{"arena", "chain", "mode", "norm", "softmax"});
  CHECK(names_in({folder / "mixed/softmax"}) == std::vector<std::string>{"softmax"});

  write(folder / "data/definitions/norm/rms.json", "");
  write(folder / "data/workloads/norm/rms.jsonl", "");
  write(folder / "data/solutions/norm/rms/one.json", "");
  CHECK(names_in({folder / "data"}) == std::vector<std::string>{"definitions/norm/rms"});

  fs::create_directories(folder / "empty");
  CHECK_THROWS_WITH_AS(names_in({folder / "empty"}), doctest::Contains("there are no tasks in this folder"),
                       ConfigError);
  CHECK_THROWS_WITH_AS(names_in({folder / "gone"}), doctest::Contains("no such file or folder"), ConfigError);
  CHECK_THROWS_WITH_AS(names_in({folder / "levels/level1", folder / "levels/level2"}),
                       doctest::Contains("two tasks have the same name"), ConfigError);
}

TEST_CASE("bench_tasks: answers have their task's name, its place, or KernelBench's name") {
  const TemporaryFolder folder;
  write(folder / "level_1_problem_19_sample_0_kernel.py", "");
  write(folder / "level_1_problem_19_sample_1_kernel.py", "");
  write(folder / "level_1_problem_190_sample_0_kernel.py", "");
  write(folder / "softmax.cpp", "");
  write(folder / "level2/1_Add.py", "");
  write(folder / "1_Add.py", "");
  const auto names = [&](const std::string& task) {
    std::vector<std::string> found;
    for (const fs::path& file : bench_answers({task, {}}, folder.path()))
      found.push_back(file.lexically_relative(folder.path()).string());
    return found;
  };
  CHECK(names("level1/19_ReLU") == std::vector<std::string>{"level_1_problem_19_sample_0_kernel.py",
                                                            "level_1_problem_19_sample_1_kernel.py"});
  CHECK(names("softmax") == std::vector<std::string>{"softmax.cpp"});
  CHECK(names("level2/1_Add") == std::vector<std::string>{"level2/1_Add.py"});
  CHECK(names("level3/1_Add") == std::vector<std::string>{"1_Add.py"});
  CHECK(names("level3/2_Mul").empty());
}

TEST_CASE(
    "bench_tasks: links to folders of tasks are not followed, and no answer is a link out of its folder") {
  const TemporaryFolder outside, folder;
  write(folder / "levels/level1/1_Add.py", "");
  fs::create_directory_symlink(folder / "levels/level1", folder / "levels/again");
  fs::create_directory_symlink(folder / "levels", folder / "levels/round");
  CHECK(names_in({folder / "levels"}) == std::vector<std::string>{"level1/1_Add"});

  write(outside / "secret", "secret");
  write(folder / "answers/other.py", "");
  fs::create_symlink(folder / "answers/other.py", folder / "answers/1_Add.py");
  fs::create_symlink(outside / "secret", folder / "answers/2_Mul.py");
  fs::create_symlink(outside / "secret", folder / "answers/level_1_problem_3_sample_0_kernel.py");
  CHECK(bench_answers({"1_Add", {}}, folder / "answers").size() == 1);
  for (const char* task : {"2_Mul", "level1/3_Sub"}) {
    CAPTURE(task);
    CHECK_THROWS_WITH_AS(static_cast<void>(bench_answers({task, {}}, folder / "answers")),
                         doctest::Contains("an answer is a link out of its folder"), ConfigError);
  }
  // A pipe would be waited for.
  REQUIRE(mkfifo((folder / "answers/level_2_problem_4_sample_0_kernel.py").c_str(), 0600) == 0);
  CHECK(bench_answers({"level2/4_Div", {}}, folder / "answers").empty());
}

TEST_CASE("bench_tasks: a search that was finished is not searched again, one with a larger budget goes on") {
  Field field;
  const BenchEnd first = field.work(field.search("3"));
  CHECK(first.trials == 3);
  CHECK_FALSE(first.stopped);
  const int judged = field.judged();
  const BenchEnd again = field.work(field.search("3"));
  CHECK(again.run == first.run);
  CHECK(again.trials == 0);
  CHECK(field.judged() == judged);
  const BenchEnd more = field.work(field.search("5"));
  CHECK(more.run == first.run);
  CHECK(more.trials == 2);
  // Of a problem that has changed, nothing is continued.
  field.problem.kernel.regions.device = code_with("fast");
  CHECK(field.work(field.search("5")).run != first.run);
}

TEST_CASE("bench_tasks: a search that was stopped goes on where it was") {
  Field field;
  field.problem.kernel.regions.device = code_with("wait");
  std::stop_source stop;
  BenchEnd stopped;
  std::thread worker([&] { stopped = field.work(field.search("3"), stop.get_token()); });
  REQUIRE(soon([&] { return field.place.gate->waiting > 0; }));
  stop.request_stop();
  worker.join();
  CHECK(stopped.stopped);
  CHECK(stopped.trials < 3);
  field.place.gate->let_go();
  const BenchEnd end = field.work(field.search("3"));
  CHECK(end.run == stopped.run);
  CHECK_FALSE(end.stopped);
  CHECK(field.row(end).trials == 3);
}

TEST_CASE("bench_tasks: answers are judged once, and a new one alone") {
  Field field;
  const fs::path slow = field.answer("a.cpp", "mine"), bug = field.answer("b.cpp", "bug");
  const BenchEnd first = field.work(field.judging({slow, bug}));
  CHECK(first.trials == 3);  // the problem's own kernel too
  CHECK_FALSE(first.own_kernel);
  const TaskScore score = score_of_run(*field.place.store, field.row(first), first.own_kernel);
  CHECK(score.state == "right");
  CHECK(score.each.size() == 2);
  CHECK(score.each[0] > 0);
  CHECK(score.each[1] == 0);
  CHECK(field.work(field.judging({slow, bug})).trials == 0);
  const fs::path fast = field.answer("c.cpp", "fast");
  const BenchEnd later = field.work(field.judging({slow, bug, fast}));
  CHECK(later.run == first.run);
  CHECK(later.trials == 1);
  CHECK(score_of_run(*field.place.store, field.row(later), false).each[2] > score.each[0]);

  const BenchEnd wrong = field.work({"only bugs: twice", false, {bug}, {}});
  CHECK(score_of_run(*field.place.store, field.row(wrong), false).reason ==
        "wrong_result: y[3] is 7 instead of 6");
  CHECK_THROWS_WITH_AS(static_cast<void>(field.work(field.judging({field.place.folder / "gone.cpp"}))),
                       doctest::Contains("an answer cannot be read"), ConfigError);
}

TEST_CASE("bench_tasks: a task's own kernel is its answer") {
  Field field;
  const BenchEnd itself = field.work(field.judging({}));
  CHECK(itself.trials == 1);
  CHECK(field.work(field.judging({})).trials == 0);
  const TaskScore score = score_of_run(*field.place.store, field.row(itself), true);
  CHECK(score.state == "right");
  CHECK(score.each.size() == 1);
  // Handed in as a file it is not judged twice.
  const fs::path same = field.place.folder / "answers" / "same.cpp";
  write(same, small_problem().kernel.regions.device);
  const BenchEnd handed = field.work({"handed in: twice", false, {same}, {}});
  CHECK(handed.own_kernel);
  CHECK(handed.trials == 1);
}

TEST_CASE("bench_tasks: two benchmarks do not work on one run") {
  Field field;
  const BenchEnd first = field.work(field.search("3"));
  const RunLock held(field.place.store->file(), first.run);
  CHECK_THROWS_WITH_AS(static_cast<void>(field.work(field.search("3"))),
                       doctest::Contains("another process works on this run"), ConfigError);
}

TEST_CASE("other_harness: its verdict is read, kept and asked again when something changes") {
  const TemporaryFolder folder;
  const fs::path task = folder / "task 'x'.py", answer = folder / "answer.py",
                 kept = folder / "kept/one.json";
  write(task, "task");
  write(answer, "right");
  const std::string asked = (folder / "asked").string();
  const std::string command =
      "sh -c 'echo asked >> " + asked +
      "; echo noise; if grep -q right \"$2\"; then v=true; else v=false; fi; "
      "echo \"{\\\"right\\\": $v, \\\"speedup\\\": 1.5, \\\"text\\\": \\\"theirs\\\"}\"' harness";
  const auto times = [&] {
    std::ifstream in(asked);
    return std::count(std::istreambuf_iterator<char>(in), {}, '\n');
  };
  HarnessSays says = ask_harness(command, task, answer, kept, 60);
  REQUIRE(says.right.has_value());
  CHECK(*says.right);
  CHECK(says.speedup == 1.5);
  CHECK(says.text == "theirs");
  CHECK(times() == 1);
  CHECK(*ask_harness(command, task, answer, kept, 60).right);
  CHECK(times() == 1);
  write(answer, "wrong");
  CHECK_FALSE(*ask_harness(command, task, answer, kept, 60).right);
  CHECK(times() == 2);

  says = ask_harness("sh -c 'echo broken >&2; exit 3'", task, answer, kept, 60);
  CHECK_FALSE(says.right.has_value());
  CHECK(says.text == "no verdict, exit code 3: broken");
  says = ask_harness("sh -c 'sleep 60'", task, answer, kept, 0.2);
  check_has(says.text, "no verdict within 0.2 s");
}

TEST_CASE("other_harness: a link with the name of a verdict's file is replaced, not written through") {
  const TemporaryFolder folder;
  write(folder / "task.py", "task");
  write(folder / "answer.py", "answer");
  write(folder / "precious", "mine");
  fs::create_directories(folder / "kept");
  fs::create_symlink(folder / "precious", folder / "kept/one.json");
  const HarnessSays says = ask_harness("sh -c 'echo \"{\\\"right\\\": true}\"' harness", folder / "task.py",
                                       folder / "answer.py", folder / "kept/one.json", 60);
  CHECK(says.right.has_value());
  std::ifstream in(folder / "precious");
  std::string precious;
  std::getline(in, precious);
  CHECK(precious == "mine");
  CHECK_FALSE(fs::is_symlink(folder / "kept/one.json"));
}
