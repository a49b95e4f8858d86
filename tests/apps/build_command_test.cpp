// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A problem whose kernel a command builds, as a user has it: tuned, taken up again, and built without us.
#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "apps/command.hpp"

using namespace kernelsearch_test;

namespace {

namespace fs = std::filesystem;

void check_says(const std::string& text, const std::string& part) {
  CHECK_MESSAGE(text.find(part) != std::string::npos, text);
}

void write_problem_with_tool(const Desk& desk) {
  const fs::path tools = desk.path() / "tools";
  fs::create_directories(desk.path() / "twice");
  fs::create_directories(tools);
  // Builds run as nobody where the tests run as root.
  fs::permissions(desk.path(), static_cast<fs::perms>(0755));
  write_text(tools / "plugin", "version 1\n");
  write_text(desk.path() / "twice/kernel.c",
             "void twice(int n, const float* x, float* y) {\n"
             "  for (int t = 0; t < TIMES; ++t) {\n"
             "    for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n"
             "    __asm__ volatile(\"\" ::: \"memory\");\n  }\n}\n");
  write_text(desk.path() / "twice/build.sh", "exec gcc -O2 -fPIC \"-DTIMES=$3\" -c \"$1\" -o \"$2\"\n");
  write_text(desk.path() / "twice/problem.json", R"json({
  "schema": 1, "name": "twice", "function": "twice", "kernel": {"device": "kernel.c"},
  "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"},
                {"name": "y", "type": "f32", "size": "n", "role": "out"}],
  "shapes": [{"name": "some", "n": 4096}],
  "tunables": {"TIMES": [1, 40, 60, 80, 100, 120]},
  "reference": {"source": {"text": "void r(int n, const real* x, real* y) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }"},
                "function": "r", "compiler": "g++"},
  "build": {"command": ["sh", "build.sh", "${SOURCE}", "${LIBRARY}", "${TIMES}"], "files": ["build.sh"],
            "identity": [["cat", ")json" + (tools / "plugin").string() +
                                                     R"json("]]}})json");
}

}  // namespace

TEST_CASE(
    "command: a kernel that a command builds, from tune to its object file; a changed plugin begins anew") {
  const Desk desk;
  write_problem_with_tool(desk);
  const std::string tools = (desk.path() / "tools").string();
  const std::vector<std::string> tune{"tune",       "twice",   "--policy", "exhaustive", "--budget",
                                      "all",        "--store", "runs.db",  "--out",      "tuned",
                                      "--readable", "tools",   "--json"};
  Ran ran = desk.kernelsearch({"tune", "twice", "--budget", "1", "--store", "runs.db", "--json"});
  CHECK(ran.code == 3);  // nothing shows the sandbox the folder
  check_says(ran.err, "build.readable");
  ran = desk.kernelsearch(tune);
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.json()["trials"] == 6);
  const std::string first = ran.json()["toolchain"];

  // The winner is built without us, by its script alone.
  ran = desk.program({"sh", "tuned/twice_best.sh"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  write_text(desk.path() / "main.cpp",
             "extern \"C\" void twice(int, const float*, float*);\n"
             "int main() { float x[3] = {1, 2, 3}, y[3]; twice(3, x, y); return y[2] == 6 ? 0 : 1; }\n");
  ran = desk.program({"g++", "main.cpp", "tuned/twice_best.o", "-o", "main"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  CHECK(desk.program({"./main"}).code == 0);
  CHECK(read_text(desk.path() / "tuned/twice_best.c") == read_text(desk.path() / "twice/kernel.c"));
  ran = desk.kernelsearch({"best", "latest", "--store", "runs.db"});
  CHECK_MESSAGE(ran.code == 0, ran.err);

  // Taken up again the options are those of the run, but for the folder, which no store may show a kernel.
  const std::vector<std::string> again{"tune", "--resume", "latest",  "--budget",
                                       "all",  "--store",  "runs.db", "--json"};
  ran = desk.kernelsearch(again);
  CHECK(ran.code == 3);
  check_says(ran.err, "--readable");
  std::vector<std::string> shown = again;
  shown.insert(shown.end(), {"--readable", "tools"});
  ran = desk.kernelsearch(shown);
  CHECK_MESSAGE(ran.code == 0, ran.err);
  // Of the same context everything is known, and stays as it was but for finalists, which are measured again;
  // of another plugin nothing is.
  ran = desk.kernelsearch(tune);
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.json()["toolchain"] == first);
  check_says(desk.kernelsearch({"export", "latest", "--store", "runs.db"}).out, "reused, measured");
  write_text(desk.path() / "tools/plugin", "version 2\n");
  ran = desk.kernelsearch(shown);
  CHECK(ran.code == 3);
  check_says(ran.err, "toolchain");
  ran = desk.kernelsearch(tune);
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.json()["toolchain"] != first);
  ran = desk.kernelsearch({"export", "latest", "--store", "runs.db"});
  CHECK(ran.out.find("reused, measured") == std::string::npos);

  ran = desk.kernelsearch({"check", "twice", "--readable", "tools"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  check_says(ran.out, "a build command makes this kernel");
}

#ifdef KERNELSEARCH_STANDIN_COMPILER
TEST_CASE("command: device code that a command builds, from tune to its image" *
          doctest::test_suite("thorough")) {
  setenv("KERNELSEARCH_HIP_RUNTIME", KERNELSEARCH_STANDIN_HIP, 1);
  setenv("KERNELSEARCH_HIPRTC", KERNELSEARCH_STANDIN_HIPRTC, 1);
  const Desk desk;
  fs::create_directories(desk.path() / "twice");
  fs::create_directories(desk.path() / "tools");
  write_text(desk.path() / "twice/kernel.txt",
             "extern \"C\" __global__ void twice(int n, const float* x, float* y) {\n"
             "  for (int t = 0; t < TIMES; ++t)\n"
             "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n"
             "      y[i] = 2 * x[i] + OFF;\n}\n");
  // The block is the command's word, and the folder that --readable names is in its words.
  write_text(desk.path() / "twice/build.sh",
             "[ -d \"$5\" ] || { echo \"no folder $5\" >&2; exit 1; }\n"
             "[ \"$3\" != 5 ] || { echo 'error: five is too many' >&2; exit 1; }\n"
             "{ echo \"#define TIMES $3\"; echo \"#define OFF ($3 == 4)\"; cat \"$1\"; } > "
             "k.hip\n" KERNELSEARCH_STANDIN_COMPILER
             " k.hip \"$2\" \"$4\" && echo '{\"block\": [64]}' > \"$2.json\"\n");
  write_text(desk.path() / "twice/problem.json", R"json({
  "schema": 1, "name": "twice", "backend": "hip", "function": "twice", "kernel": {"device": "kernel.txt"},
  "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"},
                {"name": "y", "type": "f32", "size": "n", "role": "out"}],
  "shapes": [{"name": "some", "n": 4096}],
  "tunables": {"TIMES": [3, 1, 4, 5]},
  "launch": {"grid": [4], "block": [1]},
  "reference": {"source": {"text": "extern \"C\" __global__ void r(int n, const real* x, real* y) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }"},
                "function": "r", "launch": {"grid": [1], "block": [1]}},
  "build": {"command": ["sh", "build.sh", "${SOURCE}", "${LIBRARY}", "${TIMES}", "${NAME}", "${READABLE}"],
            "files": ["build.sh"], "identity": [["cat", "build.sh"]]}})json");
  Ran ran = desk.kernelsearch({"tune", "twice", "--policy", "exhaustive", "--budget", "all", "--store",
                               "runs.db", "--out", "tuned", "--readable", "tools", "--samples", "6",
                               "--sandbox", "none", "--json"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.json()["trials"] == 4);
  // Which of the two right ones is faster depends on the machine's load: the stand-in's times are those of a
  // processor.
  const auto times = ran.json()["best"]["config"]["TIMES"].get<int>();
  CHECK((times == 1 || times == 3));
  CHECK(ran.json()["verdicts"]["wrong_result"] == 1);
  CHECK(ran.json()["verdicts"]["build_failed"] == 1);
  check_says(desk.kernelsearch({"show", "latest", "--trial", "3", "--store", "runs.db"}).out,
             "five is too many");
  CHECK(read_text(desk.path() / "tuned/twice_best.txt") == read_text(desk.path() / "twice/kernel.txt"));
  const std::string record = read_text(desk.path() / "tuned/twice_best.json");
  check_says(record, "\"block_threads\": 64");
  // The winner is built without us, for any architecture as its command asks for none.
  setenv("READABLE", (desk.path() / "tools").c_str(), 1);
  ran = desk.program({"sh", "tuned/twice_best.sh"});
  unsetenv("READABLE");
  CHECK_MESSAGE(ran.code == 0, ran.err);
  CHECK(read_text(desk.path() / "tuned/twice_best.bin").starts_with("__CLANG_OFFLOAD_BUNDLE__"));
  CHECK(read_text(desk.path() / "tuned/twice_best.bin.json") == "{\"block\": [64]}\n");
}
#endif
