// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/command_task.hpp"
#include "kernelsearch/problem/file_word.hpp"
#include "kernelsearch/problem/module_problem.hpp"
#include "kernelsearch/problem/shell_word.hpp"
#include "modules_program.hpp"
#include "problem_parts.hpp"

namespace kernelsearch {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view range_mark = "%RANGE%";
constexpr std::size_t most_values = 4096;
constexpr const char* write_a_range =
    "write // %RANGE% MACRO label FIRST:LAST:STEP, with whole numbers, in a line of its own";

struct MacroRange {
  std::string macro;
  std::int64_t first = 0, last = 0, step = 1;
};

/// The words behind `// %RANGE%` of a line; none in another line.
std::vector<std::string> words_of_range(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  if (words.size() < 2 || words[0] != "//" || words[1] != range_mark) return {};
  return {words.begin() + 2, words.end()};
}

bool read_number(std::string_view text, std::int64_t& value) {
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  return fault == std::errc() && end == text.data() + text.size();
}

std::vector<MacroRange> ranges_of(const std::string& text, const std::string& name) {
  std::vector<MacroRange> ranges;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(range_mark) == std::string::npos) continue;
    const std::vector<std::string> words = words_of_range(line);
    if (words.empty()) continue;  // said in the middle of a comment
    const auto refuse = [&](const char* what) {
      detail::raise<ConfigError>(what, name + ": " + line, write_a_range);
    };
    if (words.size() != 3) refuse("a range that is not three words");
    MacroRange range;
    range.macro = words[0];
    const std::size_t first = words[2].find(':'), second = words[2].find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos ||
        !read_number(std::string_view(words[2]).substr(0, first), range.first) ||
        !read_number(std::string_view(words[2]).substr(first + 1, second - first - 1), range.last) ||
        !read_number(std::string_view(words[2]).substr(second + 1), range.step))
      refuse("a range that is not three whole numbers");
    const bool is_name = std::all_of(range.macro.begin(), range.macro.end(), [](char one) {
      return (one >= 'A' && one <= 'Z') || (one >= 'a' && one <= 'z') || (one >= '0' && one <= '9') ||
             one == '_';
    });
    if (!is_name || (range.macro[0] >= '0' && range.macro[0] <= '9'))
      refuse("a range of what is not a macro");
    if (range.step < 1 || range.last < range.first ||
        static_cast<std::uint64_t>(range.last - range.first) / static_cast<std::uint64_t>(range.step) >=
            most_values)
      refuse("a range without values, or with more than 4096");
    if (std::any_of(ranges.begin(), ranges.end(),
                    [&](const MacroRange& one) { return one.macro == range.macro; }) ||
        range.macro == "TUNE_BASE")
      refuse("a macro that has a range already");
    ranges.push_back(std::move(range));
  }
  return ranges;
}

/// TUNE_BASE, with which the benchmark compiles CUB's own choice, and the macros that it reads without.
Space space_of(const std::vector<MacroRange>& ranges) {
  std::vector<Tunable> tunables{Tunable::integer("TUNE_BASE", 1, 0, -1)};
  for (const MacroRange& range : ranges) {
    tunables.push_back(Tunable::integer(range.macro, range.first, range.last, range.step));
    tunables.back().active_if = Expression::parse("TUNE_BASE == 0");
  }
  return Space::build(std::move(tunables));
}

/// The copy of CCCL that the benchmark is in: its benchmarks include what is there.
fs::path cccl_of(const fs::path& file) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(file, error);
  for (fs::path at = whole.parent_path(); at.has_relative_path(); at = at.parent_path())
    if (fs::is_regular_file(at / "nvbench_helper" / "nvbench_helper" / "nvbench_helper.cuh", error))
      return at;
  detail::raise<ConfigError>("a benchmark of CUB outside of a copy of CCCL", file.string(),
                             "leave it where it is in CCCL's repository: it includes nvbench_helper");
}

}  // namespace

bool is_cub_benchmark(std::string_view text) {
  for (std::size_t at = 0; (at = text.find(range_mark, at)) != std::string_view::npos; ++at) {
    const std::size_t begin = text.rfind('\n', at) + 1;
    if (text.substr(begin, at - begin).find_first_not_of("/ ") == std::string_view::npos) return true;
  }
  return false;
}

Problem read_cub_benchmark(const fs::path& file, const fs::path& python) {
  const std::string text = detail::whole_text_of(file);
  const std::vector<MacroRange> ranges = ranges_of(text, file.string());
  if (ranges.empty()) detail::raise<ConfigError>("a benchmark without a range", file.string(), write_a_range);
  const fs::path root = cccl_of(file);
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(file, error);
  Problem problem;
  std::string name = whole.stem().string();
  for (fs::path at = whole.parent_path(); at.filename() != "bench" && at != root; at = at.parent_path())
    name = at.filename().string() + "_" + name;
  problem.name = file_word("cub_" + name);
  problem.description =
      "A benchmark of CUB: what is sought are values of its macros with which it takes less time than with "
      "CUB's own choice (TUNE_BASE). The benchmark checks no results.";
  problem.function = "benchmark";
  problem.kernel.regions.device = text;
  problem.kernel.space = space_of(ranges);
  problem.names.device = whole.filename().string();
  problem.aggregate = Aggregate::geometric_mean;
  Shape shape;
  shape.name = "states";
  problem.shapes.push_back(std::move(shape));
  detail::add_commands_program(problem, python.empty() ? find_torch_python() : python);
  CommandTask task;
  task.type = "cub benchmark";
  task.source = whole.filename().string();
  const std::string at = root.string();
  std::string includes;
  for (const char* part : {"cub", "thrust", "libcudacxx/include", "nvbench_helper/nvbench_helper"})
    includes += " -I" + shell_word(at + "/" + part);
  task.build = {
      "nvcc -std=c++20 -O3 --extended-lambda -arch=native $KERNELSEARCH_DEFINES" + includes +
      " -I\"${NVBENCH_ROOT:-/usr}/include\" " + shell_word(task.source) + " " +
      shell_word(at + "/nvbench_helper/nvbench_helper/nvbench_helper.cu") +
      " -L\"${NVBENCH_ROOT:-/usr}/lib\" -Wl,-rpath,\"${NVBENCH_ROOT:-/usr}/lib\" -lnvbench -o benchmark"};
  task.check = {"./benchmark --run-once"};
  task.time = {"./benchmark --json nvbench.json"};
  problem.reference.source = detail::command_task_json(task);
  problem.names.reference = "kernelsearch_task.json";
  problem.external->readable.push_back(at);
  if (const char* nvbench = std::getenv("NVBENCH_ROOT");
      nvbench != nullptr && fs::is_directory(nvbench, error)) {
    problem.external->readable.push_back(fs::canonical(nvbench, error).string());
    task.build.front() =
        "NVBENCH_ROOT=" + shell_word(problem.external->readable.back()) + "; " + task.build.front();
    problem.reference.source = detail::command_task_json(task);
  }
  for (const fs::directory_entry& one : fs::directory_iterator(whole.parent_path(), error))
    if (one.path().extension() == ".cuh" && one.is_regular_file(error))
      problem.external->files.push_back(
          {"task/" + one.path().filename().string(), detail::whole_text_of(one.path(), whole.parent_path())});
  std::sort(problem.external->files.begin() + 1, problem.external->files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  problem.external->answer_seconds = task.build_seconds + task.check_seconds + task.time_seconds;
  problem.folder = whole.parent_path();
  return problem;
}

}  // namespace kernelsearch
