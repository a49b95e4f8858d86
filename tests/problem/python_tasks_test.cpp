// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/python_tasks.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/module_problem.hpp"
#include "support/check_has.hpp"
#include "support/temporary_folder.hpp"

namespace fs = std::filesystem;
using namespace kernelsearch;

namespace {

const std::string marks(146, '#');
const std::string own_kernels =
    "import triton\n\n\n@triton.autotune(\n    configs=[],\n    key=[],\n)\n@triton.jit\ndef "
    "scale_kernel(x):\n    pass\n\n\n"
    "def scale(x, by=2):\n    return x * by\n\n\ndef unused(x):\n    return x\n\n\nclass Scale:\n    apply = "
    "scale\n\n\n"
    "shift = Scale.apply\n";
const std::string own_test =
    "\n\ndef test_scale():\n    a = scale(1)\n    return shift(a)\n\n\nresult_gold = test_scale()\n";

std::string refused_cut(const std::string& text) {
  try {
    (void)triton_bench_problem(text, "scale.py", "/usr/bin/python3");
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

void put_file(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

constexpr const char* own_task =
    "files:\n  - {\"name\": \"submission.py\", \"source\": \"@SUBMISSION@\"}\n"
    "  - {\"name\": \"task.py\", \"source\": \"task.py\"}\n"
    "  - {\"name\": \"utils.py\", \"source\": \"../utils.py\"}\n  - {\"name\": \"json.py\", \"source\": "
    "\"json.py\"}\n"
    "lang: \"py\"\n\ntests:\n  - {\"size\": 3, \"seed\": 1}\n  - {size: 3, seed: 2, flag: "
    "True}\n\nbenchmarks:\n"
    "  - {\"size\": 64, \"seed\": 3}\nranking_by: \"geom\"\n";
constexpr const char* own_reference =
    "from task import output_t\n\n\ndef ref_kernel(data):\n    return data\n\n\ndef generate_input(size, "
    "seed):\n    pass\n";

fs::path own_folder(const fs::path& root, const std::string& task = own_task,
                    const std::string& reference = own_reference) {
  put_file(root / "utils.py", "x = 1\n");
  put_file(root / "one" / "task.py", "output_t = int\n");
  put_file(root / "one" / "json.py", "raise SystemExit\n");
  put_file(root / "one" / "task.yml", task);
  put_file(root / "one" / "reference.py", reference);
  return root / "one";
}

std::string refused_folder(const std::string& task, const std::string& reference = own_reference) {
  const TemporaryFolder folder;
  try {
    (void)read_gpu_mode_problem(own_folder(folder.path(), task, reference), "/usr/bin/python3");
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("python tasks: a file of TritonBench-G is cut, and the functions that its test calls are sought") {
  const std::string text = own_kernels + marks + own_test;
  CHECK(is_triton_bench(text));
  CHECK_FALSE(is_triton_bench(own_kernels + marks + "#" + own_test));
  CHECK(is_triton_bench(own_kernels + marks + "  \r" + own_test));
  const Problem problem = triton_bench_problem(text, "scale.py", "/usr/bin/python3");
  CHECK(problem.name == "scale");
  CHECK(problem.kernel.regions.device == own_kernels);
  CHECK(problem.function == "scale");
  REQUIRE(problem.shapes.size() == 1);
  CHECK(has_module_reference(problem));
  CHECK(is_function_reference(problem));
  check_has(
      problem.reference.source,
      "TASK = {\"form\": \"tritonbench\", \"calls\": [\"scale\", \"shift\"], \"test\": \"test_scale\"}\n");
  check_has(problem.reference.source, "\ndef test_scale():\n");
  CHECK(problem.reference.source.find("result_gold") == std::string::npos);
}

TEST_CASE("python tasks: a file that has no test, or whose test calls no function, says so") {
  check_has(refused_cut(own_kernels), "without the line that cuts");
  check_has(refused_cut(own_kernels + marks + "\nscale(1)\n"), "without its test: scale.py;");
  check_has(refused_cut(own_kernels + marks +
                        "\ndef test_x():\n    return my.scale(1), rescale(2), scale_kernel[1](3)\n"),
            "a test that calls no function of its file: scale.py: test_x;");
  check_has(refused_cut(own_kernels + marks + "\ndef test_x():\n    return Scale()\n"),
            "a test that uses a class of the file instead of calling functions: scale.py: Scale;");
  check_has(refused_cut(own_kernels + marks + "\ndef test_x():\n    return scale_kernel(3)\n"),
            "calls no function");
}

TEST_CASE("python tasks: a folder of GPU MODE has benchmarks as timed shapes and tests as checked ones") {
  const TemporaryFolder folder;
  const fs::path task = own_folder(folder.path());
  CHECK(is_gpu_mode_folder(task));
  CHECK_FALSE(is_gpu_mode_folder(folder.path()));
  const Problem problem = read_gpu_mode_problem(task, "/usr/bin/python3");
  CHECK(problem.name == "one");
  CHECK(problem.function == "custom_kernel");
  REQUIRE(problem.shapes.size() == 3);
  CHECK(problem.shapes[0].name == "size=64");
  CHECK(problem.shapes[0].weight == 1);
  CHECK(problem.shapes[1].name == "size=3");
  CHECK(problem.shapes[1].weight == 0);
  CHECK(problem.shapes[2].name == "size=3,flag=true");
  CHECK(problem.kernel.regions.device == std::string(own_reference) + "\n\ncustom_kernel = ref_kernel\n");
  check_has(problem.reference.source, R"("size=3,flag=true": {"size": 3, "seed": 2, "flag": True})");
  // A file that would take the place of a library's module does not go along.
  REQUIRE(problem.external->files.size() == 3);
  CHECK(problem.external->files[1].path == "task.py");
  CHECK(problem.external->files[2].path == "utils.py");
  CHECK(problem.external->files[2].text == "x = 1\n");
  put_file(task / "submission.py", "def custom_kernel(data):\n    return data\n");
  CHECK(read_gpu_mode_problem(task, "/usr/bin/python3").kernel.regions.device ==
        "def custom_kernel(data):\n    return data\n");
}

TEST_CASE("python tasks: a folder of GPU MODE that cannot be judged is refused with the reason") {
  const auto changed_task = [](std::string what, const std::string& instead) {
    std::string text = own_task;
    const std::size_t at = text.find(what);
    REQUIRE(at != std::string::npos);
    return refused_folder(text.replace(at, what.size(), instead));
  };
  check_has(changed_task("lang:", "multi_gpu: true\nlang:"), "a task for several GPUs");
  check_has(changed_task("\"size\": 64", "\"world_size\": 4"), "a task for several GPUs");
  check_has(changed_task("benchmarks:", "others:"), "a task without benchmarks");
  check_has(changed_task("\"size\": 64", "\"size\" 64"),
            "task.yml line 13: an entry of \"benchmarks\" cannot be read");
  check_has(changed_task("- {size: 3, seed: 2, flag: True}", "- size: 3"), "is not in braces");
  for (const char* path : {"../../../../outside.py", "/etc/passwd", "none.py", "../one/json.py"})
    check_has(changed_task("../utils.py", path), "a file of the task that is not in its collection");
  const TemporaryFolder folder;
  const fs::path task = own_folder(folder.path() / "in");
  put_file(folder.path() / "secret.py", own_reference);
  fs::create_symlink(folder.path() / "secret.py", task / "submission.py");
  CHECK_THROWS_WITH_AS((void)read_gpu_mode_problem(task, "/usr/bin/python3"),
                       doctest::Contains("a link out of the task's folder"), ConfigError);
  check_has(refused_folder(own_task, "def ref_kernel(data):\n    pass\n"),
            "a reference without `generate_input`");
}

TEST_CASE("python tasks: a Python in the home folder itself is refused, one in a folder there may be read") {
  const TemporaryFolder home;
  fs::create_directories(home.path() / "own" / "bin");
  const char* const named = std::getenv("HOME");
  const bool had_home = named != nullptr;
  const std::string before = had_home ? named : "";
  setenv("HOME", home.path().c_str(), 1);
  const auto with = [](const fs::path& python) {
    return triton_bench_problem(own_kernels + marks + own_test, "scale.py", python);
  };
  CHECK_THROWS_WITH_AS((void)with(home.path() / "bin" / "python3"),
                       doctest::Contains("in the home folder itself"), ConfigError);
  const Problem problem = with(home.path() / "own" / "bin" / "python3");
  CHECK(problem.external->readable == std::vector<std::string>{fs::canonical(home.path() / "own").string()});
  if (had_home)
    setenv("HOME", before.c_str(), 1);
  else
    unsetenv("HOME");
}

TEST_CASE("python tasks: long lines are read") {
  const std::string blanks(1u << 20, ' '), letters(1u << 20, 'a');
  const std::string kernels = "def" + blanks + "scale(x):\n    return x\n\n\n" + letters + blanks + "= 1\n";
  const std::string tests = "\n\ndef" + blanks + "test_" + letters +
                            "():\n    return scale(1)\n\n\nresult_gold" + blanks + "= test_" + letters +
                            "()\n";
  const Problem problem = triton_bench_problem(kernels + marks + tests, "long.py", "/usr/bin/python3");
  CHECK(problem.function == "scale");
  CHECK(problem.reference.source.find("result_gold") == std::string::npos);
  std::string task = own_task;
  task.insert(task.find("\"size\": 64"), letters + blanks + ": 1, ");
  CHECK(refused_folder(task).empty());
}
