// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/made_problem.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "support/check_has.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;
namespace fs = std::filesystem;

namespace {

void write_maker(const fs::path& folder, const std::string& command, const std::string& more = "") {
  fs::create_directories(folder);
  std::ofstream(folder / "make_problem.json") << R"({"schema": 1, "command": )" << command << more << "}";
}

/// Makes a problem whose kernel multiplies by FACTOR, and whose further arguments are its description.
void write_maker_of_scale(const fs::path& folder, int factor) {
  write_maker(folder, R"(["sh", "${FOLDER}/make.sh", "${OUT}", "${FOLDER}/factor"])");
  std::ofstream(folder / "factor") << factor << "\n";
  std::ofstream(folder / "make.sh") << R"sh(set -e
out=$1 factor=$(cat "$2")
shift 2
echo "of $factor, with $# arguments"
echo "a warning" >&2
cat > "$out/kernel.cpp" <<END
extern "C" void scale(int n, const float* x, float* y) {
  for (int i = 0; i < n; i += STEP) for (int k = i; k < i + STEP; ++k) y[k] = $factor * x[k];
}
END
cat > "$out/problem.json" <<END
{"schema": 1, "name": "scale", "function": "scale", "kernel": {"device": "kernel.cpp"}, "description": "$*",
 "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"},
               {"name": "y", "type": "f32", "size": "n", "role": "out"}],
 "shapes": [{"n": 64}], "tunables": {"STEP": [1, 2]}}
END
)sh";
}

std::string text_of_file(const fs::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string refused_maker(const fs::path& folder) {
  try {
    (void)read_problem_maker(folder);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

std::string refused_making(const fs::path& folder, const fs::path& out,
                           const MakeProblemOptions& options = {}) {
  try {
    (void)make_problem(read_problem_maker(folder), out, options);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("ProblemMaker: what a make_problem.json says, by the folder or by the file") {
  const TemporaryFolder folder;
  const fs::path program = folder / "program_2";
  write_maker(program, R"(["make", "-C", "${FOLDER}", "OUT=${OUT}"])");
  for (const fs::path& named :
       {program, program / "", program / "make_problem.json", program / "../program_2"}) {
    CAPTURE(named);
    CHECK(has_problem_maker(named));
    const ProblemMaker maker = read_problem_maker(named);
    CHECK(maker.folder == program);
    CHECK(maker.name == "program_2");
    CHECK(maker.command == std::vector<std::string>{"make", "-C", "${FOLDER}", "OUT=${OUT}"});
    CHECK(made_problem_folder(maker) == "program_2_problem");
  }
  write_maker(program, R"(["make", "${OUT}"])", R"(, "name": "other")");
  CHECK(made_problem_folder(read_problem_maker(program)) == "other_problem");

  CHECK_FALSE(has_problem_maker(""));
  CHECK_FALSE(has_problem_maker(folder.path()));
  CHECK_FALSE(has_problem_maker(folder / "absent"));
  // A folder that is a problem is tuned as it is; its maker can be named all the same.
  std::ofstream(program / "problem.json") << "{}";
  CHECK_FALSE(has_problem_maker(program));
  CHECK(has_problem_maker(program / "make_problem.json"));
}

TEST_CASE("ProblemMaker: what is no make_problem.json is refused by file, line and place") {
  const std::pair<const char*, std::vector<const char*>> refused[] = {
      {R"({"schema": 1})", {"make_problem.json:1", "lacks the key \"command\""}},
      {R"({"command": ["a", "${OUT}"]})", {"lacks the key \"schema\""}},
      {R"({"schema": 2, "command": ["a", "${OUT}"]})", {"/schema", "not known: 2"}},
      {"{\"schema\": 1,\n\"comand\": [\"a\", \"${OUT}\"]}", {":2", "did you mean \"command\"?"}},
      {R"({"schema": 1, "command": "make ${OUT}"})", {"/command", "list the program and its arguments"}},
      {R"({"schema": 1, "command": ["make", 3, "${OUT}"]})", {"/command/1", "list the program"}},
      {R"({"schema": 1, "command": []})", {"/command", "names no program"}},
      {R"({"schema": 1, "command": ["", "${OUT}"]})", {"names no program"}},
      {R"({"schema": 1, "command": ["make"]})", {"/command", "has no ${OUT}"}},
      {R"({"schema": 1, "command": ["make", "${OUT}", "${OUTPUT}"]})", {"/command/2", "${FOLDER}"}},
      {R"({"schema": 1, "command": ["make", "${OUT}", "a\u0000b"]})", {"/command/2", "has a NUL"}},
      {R"({"schema": 1, "name": "two words", "command": ["a", "${OUT}"]})",
       {"/name", "letters, digits and _"}},
      {R"({"schema": 1, "name": "2nd", "command": ["a", "${OUT}"]})", {"/name", "no digit first"}},
      {R"({"schema": 1, "name": "", "command": ["a", "${OUT}"]})", {"/name"}},
      {R"({"schema": 1, "name": 3, "command": ["a", "${OUT}"]})", {"/name"}},
      {R"(["a", "${OUT}"])", {"make_problem.json:1"}},
      {R"({"schema": 1, "command": ["a", "${OUT}"])", {"make_problem.json:1"}},
      {"", {"make_problem.json"}}};
  const TemporaryFolder folder;
  fs::create_directory(folder / "program");
  for (const auto& [given, parts] : refused) {
    const char* text = given;  // no structured binding: clang 14 captures none
    CAPTURE(text);
    std::ofstream(folder / "program/make_problem.json") << text;
    for (const char* part : parts) check_has(refused_maker(folder / "program"), part);
  }
  write_maker(folder / "not-a-name", R"(["a", "${OUT}"])");
  check_has(refused_maker(folder / "not-a-name"), "lacks the key \"name\"");
  check_has(refused_maker(folder / "nowhere"), "without a make_problem.json");
}

TEST_CASE("make_problem: the problem that the command writes; what its contents are is another problem") {
  const TemporaryFolder folder;
  const fs::path program = folder / "it's a program", out = folder / "out folder";
  write_maker_of_scale(program, 2);
  write_maker(program, R"(["sh", "${FOLDER}/make.sh", "${OUT}", "${FOLDER}/factor", "it's $HOME"])",
              R"(, "name": "scale")");
  std::string said;
  MakeProblemOptions options;
  options.arguments = {"--fast", "", "two  words"};
  options.messages = [&said](std::string_view text) { said += text; };
  REQUIRE(make_problem(read_problem_maker(program), out, options));
  check_has(said, "of 2, with 4 arguments\n");
  check_has(said, "a warning\n");
  const Problem first = read_problem(out);
  CHECK(first.description == "it's $HOME --fast  two  words");
  check_has(text_of_file(out / "made_from.json"), "\"--fast\"");

  // Made again it is the same; of a changed source it is another, and nothing of the old one is left.
  std::ofstream(out / "left over") << "x";
  REQUIRE(make_problem(read_problem_maker(program), out, options));
  CHECK_FALSE(fs::exists(out / "left over"));
  CHECK(problem_digest(read_problem(out)) == problem_digest(first));
  CHECK(read_problem(out).kernel.regions.device == first.kernel.regions.device);
  std::ofstream(program / "factor") << 3;
  REQUIRE(make_problem(read_problem_maker(program), out, options));
  CHECK(read_problem(out).kernel.regions.device != first.kernel.regions.device);
}

TEST_CASE("make_problem: a command that fails says why, and leaves no problem") {
  const TemporaryFolder folder;
  const fs::path program = folder / "program", out = folder / "out";
  write_maker_of_scale(program, 2);
  const std::pair<const char*, std::vector<const char*>> failing[] = {
      {R"(["sh", "-c", "echo started; echo 'no such flag' >&2; touch $0/problem.json; exit 7", "${OUT}"])",
       {"make_problem.json", "ended with exit code 7", "started\nno such flag\n", "behind `--`"}},
      {R"(["sh", "-c", "kill -9 $$", "${OUT}"])", {"was ended by SIGKILL", "which printed nothing"}},
      {R"(["a-program-that-is-not-there", "${OUT}"])",
       {"ended with exit code 127", "a-program-that-is-not-there"}},
      {R"(["sh", "-c", "echo done > $0/readme", "${OUT}"])", {"wrote no problem.json"}},
      {R"(["sh", "-c", "mkdir $0/problem.json", "${OUT}"])", {"wrote no problem.json"}},
      {R"(["sh", "-c", "printf 'a\\033[2Jb\\n'; exit 1", "${OUT}"])", {"a\xEF\xBF\xBD[2Jb"}}};
  for (const auto& [given, parts] : failing) {
    const char* command = given;  // no structured binding: clang 14 captures none
    CAPTURE(command);
    write_maker_of_scale(program, 2);
    REQUIRE(make_problem(read_problem_maker(program), out));
    write_maker(program, command);
    const std::string text = refused_making(program, out);
    for (const char* part : parts) check_has(text, part);
    CHECK_FALSE(fs::exists(out));
  }
  // Of much that was printed the end is what matters.
  write_maker(program, R"(["sh", "-c", "seq 100000; exit 1", "${OUT}"])");
  const std::string text = refused_making(program, out);
  check_has(text, "\n99986\n");
  check_has(text, "\n100000\n");
  CHECK(text.find("99985") == std::string::npos);
  // What is no problem stays to be looked at, and the next making replaces it.
  write_maker(program, R"(["sh", "-c", "echo '{}' > $0/problem.json", "${OUT}"])");
  check_has(refused_making(program, out), "problem.json:1");
  CHECK(fs::exists(out / "problem.json"));
  write_maker_of_scale(program, 2);
  CHECK(make_problem(read_problem_maker(program), out));
}

TEST_CASE(
    "make_problem: folders of others are left alone, and a command is stopped with all that it started") {
  const TemporaryFolder folder;
  const fs::path program = folder / "program", mine = folder / "mine";
  write_maker_of_scale(program, 2);
  fs::create_directories(mine / "made_from.json");
  std::ofstream(mine / "notes") << "mine";
  check_has(refused_making(program, mine), "holds something else");
  CHECK(text_of_file(mine / "notes") == "mine");
  check_has(refused_making(program, program), "holds something else");
  check_has(refused_making(program, mine / "notes"), "a file has the name");
  fs::create_directory(folder / "empty");
  CHECK(make_problem(read_problem_maker(program), folder / "empty"));

  write_maker(program, R"(["sh", "-c", "sleep 1000 & echo $! > ${FOLDER}/pid; echo begun; wait", "${OUT}"])");
  // It is gone, or only its parent has not taken note of it yet.
  const auto is_gone = [&program] {
    const std::string stat = "/proc/" + std::to_string(std::stoi(text_of_file(program / "pid"))) + "/stat";
    for (int tries = 0; tries < 1000; ++tries) {
      const std::string text = text_of_file(stat);
      if (text.empty() || text.find(") Z ") != std::string::npos || text.find(") X ") != std::string::npos)
        return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  };
  std::stop_source stop;
  MakeProblemOptions options;
  options.stop = stop.get_token();
  options.messages = [&stop](std::string_view) { stop.request_stop(); };
  CHECK_FALSE(make_problem(read_problem_maker(program), folder / "empty", options));
  CHECK_FALSE(fs::exists(folder / "empty"));
  CHECK(is_gone());
  write_maker(program, R"(["sh", "-c", "sleep 1000 & echo $! > ${FOLDER}/pid; exit 1", "${OUT}"])");
  check_has(refused_making(program, folder / "empty"), "ended with exit code 1");
  CHECK(is_gone());
}
