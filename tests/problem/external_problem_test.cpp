// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <functional>
#include <set>
#include <string>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/problem/digest.hpp"
#include "kernelsearch/problem/lint.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "kernelsearch/problem/unused_tunables.hpp"
#include "kernelsearch/problem/write_problem.hpp"
#include "support/check_has.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

namespace {

std::string external_text(const std::string& external, const std::string& more = "") {
  return R"({"schema": 1, "name": "copy", "backend": "external", "function": "copy",
  "kernel": {"device": {"name": "kernel.py", "text": "pass"}},
  "arguments": [{"name": "x", "type": "f32", "size": "n", "role": "in"}, {"name": "y", "type": "f32", "size": "n", "role": "out"}],
  "shapes": [{"name": "s", "n": 8}], "tunables": {"TILE": [1, 2]},
  "files": {"evaluator.py": {"text": "import this"}})" +
         (external.empty() ? "" : ",\n  \"external\": " + external) + more + "}";
}

constexpr const char* good = R"({"command": ["python3", "${FILES}/evaluator.py"], "files": ["evaluator.py"],
  "identity": [["python3", "--version"]], "readable": ["/opt/tools"], "devices": true, "time": "claimed", "answer_seconds": 5})";
constexpr const char* reference =
    R"(, "reference": {"source": {"text": "void r(const real*, real*) {}"}, "function": "r"})";

std::string refused_text(const std::string& external, const std::string& more = reference) {
  try {
    (void)parse_problem(external_text(external, more), ".");
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("external: its keys are read, written and read again") {
  const Problem problem = parse_problem(external_text(good, reference), ".");
  REQUIRE(problem.external);
  CHECK(problem.backend == Backend::external);
  CHECK(problem.external->command == std::vector<std::string>{"python3", "${FILES}/evaluator.py"});
  CHECK(problem.external->files == std::vector<SourceFile>{{"evaluator.py", "import this"}});
  CHECK(problem.external->readable == std::vector<std::string>{"/opt/tools"});
  CHECK(problem.external->devices);
  CHECK(problem.external->clock == ExternalClock::claimed);
  CHECK(problem.external->answer_seconds == 5);
  const Problem again = parse_problem(problem_json(problem), ".");
  CHECK(problem_digest(again) == problem_digest(problem));
  CHECK(again.external->answer_seconds == 5);
  const TemporaryFolder folder;
  write_problem(problem, folder.path() / "new");
  CHECK(problem_digest(read_problem(folder.path() / "new")) == problem_digest(problem));
}

TEST_CASE("external: left out are slope, no devices and a minute") {
  const Problem problem = parse_problem(external_text(R"({"command": ["true"]})", reference), ".");
  CHECK(problem.external->clock == ExternalClock::slope);
  CHECK_FALSE(problem.external->devices);
  CHECK(problem.external->answer_seconds == 60);
  bool warned = false;
  for (const LintFinding& finding : lint_static(problem))
    warned = warned || finding.what.find("nothing identifies what the external program uses") == 0;
  CHECK(warned);
  CHECK(tunables_outside_kernel(problem) == std::vector<bool>{true});
}

TEST_CASE("external: every part of the program counts in the digest") {
  Problem problem = parse_problem(external_text(R"({"command": ["true"]})", reference), ".");
  std::set<std::string> seen{problem_digest(problem)};
  const std::function<void(Problem&)> changes[] = {
      [](Problem& p) {
        p.external->command = {"true", "a b"};
      },
      [](Problem& p) {
        p.external->command = {"true", "a", "b"};
      },
      [](Problem& p) {
        p.external->files = {{"a", "b"}};
      },
      [](Problem& p) { p.external->files[0].text = "c"; },
      [](Problem& p) { p.external->files[0].path = "c"; },
      [](Problem& p) {
        p.external->identity = {{"a", "b"}};
      },
      [](Problem& p) {
        p.external->identity = {{"a"}, {"b"}};
      },
      [](Problem& p) { p.external->readable = {"/opt/a"}; },
      [](Problem& p) { p.external->devices = true; },
      [](Problem& p) { p.external->clock = ExternalClock::claimed; },
  };
  std::size_t count = 1;
  for (const auto& change : changes) {
    change(problem);
    seen.insert(problem_digest(problem));
    CAPTURE(count);
    CHECK(seen.size() == ++count);
  }
}

TEST_CASE("external: what cannot be is refused with what to write") {
  check_has(refused_text(""), "lacks the key \"external\"");
  check_has(refused_text("{}"), "lacks the key \"command\"");
  check_has(refused_text(R"({"command": []})"), "names no program");
  check_has(refused_text(R"({"command": ["run", "${TILE}"]})"), "has a name in it that is not known here");
  check_has(refused_text(R"({"command": ["a"], "files": ["no.py"]})"), "names a file that is not there");
  check_has(refused_text(R"({"command": ["a"], "files": ["kernel.py"]})"), "is the kernel's source");
  check_has(refused_text(R"({"command": ["a"], "time": "ours"})"), "time");
  check_has(refused_text(R"({"command": ["a"], "devices": 1})"), "is not a bool");
  check_has(refused_text(R"({"command": ["a"], "answer_seconds": 0})"), "is not a number of seconds");
  check_has(refused_text(R"({"command": ["a"], "readable": ["/home"]})"), "stays closed");
  check_has(refused_text(R"({"command": ["a"]})", ""), "lacks the key \"reference\"");
  for (const char* key :
       {R"("build": {})", R"("libraries": "none")", R"("memory_gib": 1)", R"("over_read_bytes": 4)"})
    check_has(refused_text(R"({"command": ["a"]})", std::string(reference) + ", " + key),
              "is for kernels that we build ourselves");
  std::string host = external_text(good, reference);
  host.replace(host.find("\"backend\": \"external\""), 21, "\"backend\": \"host\"");
  CHECK_THROWS_WITH_AS((void)parse_problem(host, "."),
                       doctest::Contains("is for problems whose backend is external"), ConfigError);
}
