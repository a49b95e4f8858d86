// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder from which a command of the user's makes a problem: tuned, taken up again, converted.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "apps/command.hpp"
#include "support/check_has.hpp"

using namespace kernelsearch_test;

namespace {

namespace fs = std::filesystem;

/// Makes a problem that adds the number in the file `addend`; --steps says how its one tunable can be set, of
/// which 3 gives wrong results.
void write_program_with_maker(const Desk& desk) {
  fs::create_directories(desk.path() / "adder");
  write_text(desk.path() / "adder/addend", "1\n");
  write_text(desk.path() / "adder/make_problem.json",
             R"({"schema": 1, "command": ["sh", "${FOLDER}/make.sh", "${FOLDER}", "${OUT}"]})");
  write_text(desk.path() / "adder/make.sh", R"sh(set -e
[ "$3" = --steps ] || { echo "make.sh: give --steps 'A, B', not '$3'" >&2; exit 5; }
addend=$(cat "$1/addend")
echo "adding $addend, steps $4"
cat > "$2/kernel.cpp" <<END
extern "C" void adder(int n, const int* x, int* y) {
  for (int i = 0; i < n; i += STEP)
    for (int k = i; k < i + STEP && k < n; ++k) y[k] = x[k] + $addend + (STEP == 3);
}
END
cat > "$2/reference.cpp" <<END
void adder_reference(int n, const int* x, int* y) { for (int i = 0; i < n; ++i) y[i] = x[i] + $addend; }
END
cat > "$2/problem.json" <<END
{"schema": 1, "name": "adder", "function": "adder", "kernel": {"device": "kernel.cpp"},
 "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "i32", "size": "n"},
               {"name": "y", "type": "i32", "size": "n", "role": "out"}],
 "shapes": [{"n": 4096}], "tunables": {"STEP": [$4]},
 "reference": {"source": "reference.cpp", "function": "adder_reference"}}
END
)sh");
}

}  // namespace

TEST_CASE(
    "command: a folder with a make_problem.json is made a problem and tuned; a changed source is another") {
  const Desk desk;
  write_program_with_maker(desk);
  std::vector<std::string> tune{"tune",    "adder",   "--policy", "exhaustive", "--budget",  "all",
                                "--store", "runs.db", "--json",   "-q",         "--samples", "3"};
  std::vector<std::string> arguments{"--", "--steps", "1, 3"};
  const auto tuned = [&] {
    std::vector<std::string> words = tune;
    words.insert(words.end(), arguments.begin(), arguments.end());
    return desk.kernelsearch(words);
  };
  Ran ran = tuned();
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.json()["trials"] == 2);
  CHECK(ran.json()["problem"] == "adder");
  check_has(ran.err, "made in adder_problem");
  CHECK(ran.err.find("adding 1") == std::string::npos);  // -q
  CHECK(fs::exists(desk.path() / "adder_tuned/adder_best.json"));

  // Taken up again by the made folder, or made again and taken up.
  const std::vector<std::string> resume{"tune", "--resume", "latest",  "--budget",
                                        "all",  "--store",  "runs.db", "--json"};
  ran = desk.kernelsearch(resume);
  CHECK_MESSAGE(ran.code == 0, ran.err);
  tune.insert(tune.end(), {"--resume", "latest"});
  ran = tuned();
  CHECK_MESSAGE(ran.code == 0, ran.err);
  tune.resize(tune.size() - 2);

  // What is known of the old contents is not taken for the new ones', and a run of them cannot go on.
  // (Finalists are measured again, wrong results are not.)
  ran = tuned();
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  check_has(desk.kernelsearch({"export", "latest", "--store", "runs.db"}).out, "reused, measured");
  write_text(desk.path() / "adder/addend", "2\n");
  tune.insert(tune.end(), {"--resume", "latest"});
  ran = tuned();
  CHECK(ran.code == 3);
  tune.resize(tune.size() - 2);
  ran = tuned();
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  CHECK(desk.kernelsearch({"export", "latest", "--store", "runs.db"}).out.find("reused, measured") ==
        std::string::npos);
  check_has(read_text(desk.path() / "adder_tuned/adder_best.cpp"), "x[k] + 2");

  // A command that fails ends it all, whatever was made before.
  arguments = {"--", "--step", "1"};
  ran = tuned();
  CHECK(ran.code == 3);
  check_has(ran.err, "ended with exit code 5");
  check_has(ran.err, "make.sh: give --steps 'A, B', not '--step'");
  CHECK_FALSE(fs::exists(desk.path() / "adder_problem"));
}

TEST_CASE("command: convert makes the folder only, and what stands behind -- needs a command that takes it") {
  const Desk desk;
  write_program_with_maker(desk);
  Ran ran = desk.kernelsearch({"convert", "adder", "mine", "--", "--steps", "4, 8"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  check_has(ran.err, "adding 1, steps 4, 8\n");
  check_has(ran.err, "the problem of adder is made in mine");
  ran = desk.kernelsearch({"space", "mine"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  check_has(ran.out, "4");
  ran = desk.kernelsearch({"convert", "adder", "adder", "--", "--steps", "1"});
  CHECK(ran.code == 3);
  CHECK(fs::exists(desk.path() / "adder/make.sh"));

  for (const char* word : {"tune", "convert"}) {
    ran = desk.kernelsearch({word, "mine", "out.csv", "--", "--steps", "4"});
    CHECK(ran.code == (std::string(word) == "tune" ? 2 : 3));
  }
  ran = desk.kernelsearch({"tune", "mine", "--", "--steps", "4"});
  CHECK(ran.code == 3);
  check_has(ran.err, "behind `--`: mine");
  ran = desk.kernelsearch({"tune", "--resume", "latest", "--store", "runs.db", "--", "--steps", "4"});
  CHECK(ran.code == 3);
  check_has(ran.err, "behind `--`");
  ran = desk.kernelsearch({"check", "adder"});
  CHECK(ran.code == 3);
  check_has(ran.err, "yet to be made: adder");
}
