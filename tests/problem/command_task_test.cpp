// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/command_task.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <variant>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/problem/write_problem.hpp"
#include "support/check_has.hpp"
#include "support/temporary_folder.hpp"

namespace fs = std::filesystem;
using namespace kernelsearch;

namespace {

constexpr const char* task_yaml = R"(task_type: triton2triton
source_file_path:
- kernel.py
target_kernel_functions:
- scale kernel
- scale
compile_command:
- python3 -c "import kernel"
correctness_command:
- python3 harness.py --check
performance_command:
- python3 harness.py --time
performance_timeout: 90
prompt:
  instructions: write correctness_command here
)";

void put_task_file(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

void put_task(const fs::path& folder, const std::string& yaml = task_yaml) {
  put_task_file(folder / "config.yaml", yaml);
  put_task_file(folder / "kernel.py", "def scale():\n    pass\n");
  put_task_file(folder / "harness.py", "import kernel\n");
}

std::string instead(const std::string& what, const std::string& with) {
  std::string text = task_yaml;
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), with);
}

std::string refused_task(const std::string& yaml) {
  const TemporaryFolder folder;
  put_task(folder.path(), yaml);
  try {
    (void)read_command_task(folder.path(), "/usr/bin/python3");
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("command_task: a folder with a config.yaml is a file to rewrite and three commands") {
  const TemporaryFolder folder;
  put_task(folder.path());
  put_task_file(folder.path() / "data" / "x.bin", std::string("\x80\x00\xff", 3));
  put_task_file(folder.path() / ".git" / "config", "no");
  put_task_file(folder.path() / "__pycache__" / "kernel.pyc", "no");
  CHECK(is_command_task_folder(folder.path()));
  const Problem problem = read_command_task(folder.path(), "/usr/bin/python3");
  CHECK(has_command_reference(problem));
  CHECK(problem.kernel.regions.device == "def scale():\n    pass\n");
  CHECK(problem.names.device == "kernel.py");
  CHECK(problem.function == "scale");
  CHECK(problem.external->clock == ExternalClock::claimed);
  const CommandTask task = command_task_of(problem);
  CHECK(task.type == "triton2triton");
  CHECK(task.source == "kernel.py");
  CHECK(task.build == std::vector<std::string>{"python3 -c \"import kernel\""});
  CHECK(task.check == std::vector<std::string>{"python3 harness.py --check"});
  CHECK(task.time == std::vector<std::string>{"python3 harness.py --time"});
  CHECK(task.check_seconds == 600);
  CHECK(task.time_seconds == 90);
  std::vector<std::string> names;
  for (const SourceFile& file : problem.external->files) names.push_back(file.path);
  CHECK(names == std::vector<std::string>{"kernelsearch_commands.py", "task/data/x.bin.kernelsearch-hex",
                                          "task/harness.py"});
  CHECK(problem.external->files[1].text == "8000ff");
  const Problem again = parse_problem(problem_json(problem), ".");
  CHECK(has_command_reference(again));
  CHECK(problem_digest(again) == problem_digest(problem));
  CHECK(command_task_of(again).time == task.time);
}

TEST_CASE("command_task: the file to rewrite is said in one of four ways") {
  const std::string list = "source_file_path:\n- kernel.py\n";
  const TemporaryFolder folder;
  put_task(folder.path(), instead(list, "target_file_path: harness.py\n" + list));
  CHECK(command_task_of(read_command_task(folder.path(), "/usr/bin/python3")).source == "harness.py");
  put_task(folder.path(), instead(list, "source_file_path: kernel.py\n"));
  CHECK(command_task_of(read_command_task(folder.path(), "/usr/bin/python3")).source == "kernel.py");
  std::string older = instead(list, "source_file_path: []\n");
  older.replace(older.find("import kernel"), 13, "open('kernel.py')");
  put_task(folder.path(), older);
  CHECK(command_task_of(read_command_task(folder.path(), "/usr/bin/python3")).source == "kernel.py");

  check_has(refused_task(instead(list, "source_file_path: []\n")),
            "a task that does not say which file is to be rewritten");
  check_has(refused_task(instead(list, "target_file_path: hip/new.hip\n" + list)),
            "a task whose kernel is yet to be written: ");
  check_has(refused_task(instead(list, list + "- harness.py\n")),
            "a task of several source files, and an answer is one: ");
  check_has(refused_task(instead("- kernel.py", "- other.py")), "a task whose source is not in its folder: ");
  check_has(refused_task(instead("- kernel.py", "- ../kernel.py")),
            "a task whose source is not in its folder: ");
  check_has(refused_task(instead("- kernel.py", "- other.py\nimage_repo_path: /usr/lib/x")),
            "a task whose source is in the image of a container: ");
  check_has(refused_task(instead(list, "repo_url: https://example.org/x.git\n")),
            "a task in a repository that its tool clones: ");
}

TEST_CASE("command_task: what cannot be judged is refused with the reason") {
  check_has(refused_task(instead("compile_command:\n- python3 -c \"import kernel\"", "compile_command: []")),
            "a task without compile_command: ");
  check_has(
      refused_task(instead("performance_command:\n- python3 harness.py --time", "performance_command:")),
      "a task without performance_command: ");
  check_has(refused_task(instead("90", "soon")), "a limit of time that is not one: ");
  check_has(refused_task(instead("90", "0")), "a limit of time that is not one: ");
  check_has(refused_task(instead("- kernel.py", "- *kernel")), "a config.yaml that cannot be read: ");
  const TemporaryFolder folder;
  put_task(folder.path(), "model: x\nprompt: correctness_command\n");
  CHECK_FALSE(is_command_task_folder(folder.path()));
  put_task(folder.path());
  Problem problem = read_command_task(folder.path(), "/usr/bin/python3");
  const std::string source = problem.reference.source;
  problem.reference.source = "{}";
  CHECK_THROWS_WITH_AS((void)command_task_of(problem),
                       doctest::Contains("the commands of a task cannot be read"), ConfigError);
  problem.reference.source = source;
  problem.reference.source.replace(source.find("kernel.py"), 9, "../up.py ");
  CHECK_THROWS_WITH_AS((void)command_task_of(problem), doctest::Contains("is not in its folder"),
                       ConfigError);
}

TEST_CASE("cub_benchmark: ranges are a space, and CUB's own choice is its default") {
  const TemporaryFolder root;
  const fs::path file = root.path() / "cub" / "benchmarks" / "bench" / "reduce" / "sum.cu";
  const std::string ranges = "// %RANGE% TUNE_ITEMS ipt 7:9:1\n  // %RANGE% TUNE_THREADS tpb 128:256:32\n";
  put_task_file(root.path() / "nvbench_helper" / "nvbench_helper" / "nvbench_helper.cuh", "");
  put_task_file(file.parent_path() / "base.cuh", "// base\n");
  put_task_file(file.parent_path() / "other.cu", "// no part of it\n");
  put_task_file(file, "#include \"base.cuh\"\n" + ranges);
  CHECK(is_cub_benchmark(ranges));
  CHECK_FALSE(is_cub_benchmark("// a line of `%RANGE%` is\n"));
  const Problem problem = read_cub_benchmark(file, "/usr/bin/python3");
  CHECK(problem.name == "cub_reduce_sum");
  const Space& space = problem.kernel.space;
  REQUIRE(space.size() == 3);
  CHECK(space.count().to_string() == "16");  // 3 * 5, and CUB's own
  CHECK(space.tunable(2).values.size() == 5);
  CHECK(std::get<std::int64_t>(space.value(space.default_config(), 0)) == 1);
  const CommandTask task = command_task_of(problem);
  CHECK(task.source == "sum.cu");
  check_has(task.build.front(),
            "nvcc -std=c++20 -O3 --extended-lambda -arch=native $KERNELSEARCH_DEFINES -I");
  CHECK(task.time == std::vector<std::string>{"./benchmark --json nvbench.json"});
  REQUIRE(problem.external->files.size() == 2);
  CHECK(problem.external->files[1].path == "task/base.cuh");
  CHECK(problem_digest(parse_problem(problem_json(problem), ".")) == problem_digest(problem));
  const auto refused = [&](const std::string& text) {
    put_task_file(file, text);
    try {
      (void)read_cub_benchmark(file, "/usr/bin/python3");
      return std::string();
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
  };
  check_has(refused("int main() {}\n"), "a benchmark without a range: ");
  check_has(refused("// %RANGE% TUNE_A a\n"), "a range that is not three words: ");
  check_has(refused("// %RANGE% TUNE_A a 1:2\n"), "a range that is not three whole numbers: ");
  check_has(refused("// %RANGE% TUNE_A a 1:2:x\n"), "a range that is not three whole numbers: ");
  check_has(refused("// %RANGE% TUNE-A a 1:2:1\n"), "a range of what is not a macro: ");
  check_has(refused("// %RANGE% TUNE_A a 3:2:1\n"), "a range without values");
  check_has(refused("// %RANGE% TUNE_A a 0:4096:1\n"), "or with more than 4096: ");
  check_has(refused(ranges + "// %RANGE% TUNE_ITEMS b 1:2:1\n"), "a macro that has a range already: ");
  check_has(refused("// %RANGE% TUNE_BASE b 1:2:1\n"), "a macro that has a range already: ");
  fs::remove_all(root.path() / "nvbench_helper");
  check_has(refused(ranges), "a benchmark of CUB outside of a copy of CCCL: ");
}
