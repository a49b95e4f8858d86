// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "apps/command.hpp"
#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/problem/mlir_schedule.hpp"
#include "kernelsearch/problem/read_problem.hpp"
#include "support/check_has.hpp"

using namespace kernelsearch_test;

namespace {

namespace fs = std::filesystem;

const fs::path mlir_examples = fs::path(KERNELSEARCH_SOURCE_DIR) / "examples/mlir";

bool mlir_is_missing() {
  for (const char* tool :
       {"/usr/bin/mlir-opt-22", "/usr/bin/mlir-translate-22", "/usr/bin/opt-22", "/usr/bin/llc-22"})
    if (access(tool, X_OK) != 0) {
      MESSAGE("skipped: there is no ", std::string(tool), " (Debian's mlir-22-tools and llvm-22)");
      return true;
    }
  return false;
}

/// The matmul of the examples on small matrices, which a test can afford to run.
void write_small(const fs::path& folder) {
  std::string schedule = read_text(mlir_examples / "matmul/schedule.mlir"),
              payload = read_text(mlir_examples / "matmul/payload.mlir");
  const auto all = [](std::string& text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  };
  all(payload, "512x512", "64x64");
  all(schedule, "= 128 from options = [64, 128, 256, 512]", "= 64 from options = [32, 64]");
  write_text(folder / "schedule.mlir", schedule);
  write_text(folder / "payload.mlir", payload);
}

}  // namespace

TEST_CASE(
    "mlir: every example becomes a problem, and its schedule with values is lowered to an object file") {
  if (mlir_is_missing()) return;
  const Desk desk;
  kernelsearch::Rng rng(7);
  int seen = 0;
  for (const auto& entry : fs::directory_iterator(mlir_examples)) {
    const std::string name = entry.path().filename().string();
    CAPTURE(name);
    const Ran converted = desk.kernelsearch({"convert", (entry.path() / "schedule.mlir").string(), name});
    if (converted.code != 0) FAIL(converted.err);
    const kernelsearch::Problem problem = kernelsearch::read_problem(desk.path() / name);
    const kernelsearch::Space& space = problem.kernel.space;
    const auto schedule = kernelsearch::MlirSchedule::read(problem.kernel.regions.device);
    CHECK(schedule.try_space()->count() == space.count());
    const auto written = schedule.try_written(space, space.sample(rng));
    if (!written) FAIL(written.error().text());
    write_text(desk.path() / name / "filled.mlir", *written);
    const Ran built = desk.program({"sh", "-c", "cd " + name + " && bash build.sh filled.mlir made.o"});
    if (built.code != 0) FAIL(built.err);
    CHECK(fs::file_size(desk.path() / name / "made.o") > 400);
    ++seen;
  }
  CHECK(seen == 10);
}

TEST_CASE("mlir: a schedule is tuned, and the best is a schedule that mlir-opt runs") {
  if (mlir_is_missing()) return;
  const Desk desk;
  write_small(desk.path());
  const Ran tuned = desk.kernelsearch(
      {"tune", "schedule.mlir", "--budget", "2", "--policy", "random", "--store", "s.db", "--json", "-q"});
  if (tuned.code != 0) FAIL(tuned.err);
  check_has(tuned.err, "schedule.mlir written as a problem to matmul_problem");
  CHECK(tuned.json()["trials"] == 2);
  const std::string best = read_text(desk.path() / "matmul_tuned/matmul_best.mlir");
  check_has(best, "selected = ");
  CHECK(best.find("constrain_params") == std::string::npos);
  const Ran lowered =
      desk.program({"mlir-opt-22", "payload.mlir",
                    "--transform-preload-library=transform-library-paths=matmul_tuned/matmul_best.mlir",
                    "--transform-interpreter"});
  if (lowered.code != 0) FAIL(lowered.err);
  check_has(lowered.out, "vector.fma");
  const Ran resumed =
      desk.kernelsearch({"tune", "--resume", "latest", "--budget", "3", "--store", "s.db", "--json", "-q"});
  if (resumed.code != 0) FAIL(resumed.err);
  CHECK(resumed.json()["trials"] == 3);
}

TEST_CASE("mlir: what cannot be tuned is refused by name and line, and folders of others are left alone") {
  if (mlir_is_missing()) return;
  const Desk desk;
  write_small(desk.path());
  const std::string schedule = read_text(desk.path() / "schedule.mlir");
  std::string free = schedule;
  free.replace(free.find("%lanes = smt.int.constant 16"), 28, "%lanes = smt.declare_fun : !smt.int");
  write_text(desk.path() / "free.mlir", free);
  const Ran refused = desk.kernelsearch({"convert", "free.mlir", "out"});
  CHECK(refused.code == 3);
  check_has(refused.err, "free.mlir:13: smt.declare_fun");
  CHECK_FALSE(fs::exists(desk.path() / "out"));

  write_text(desk.path() / "broken.mlir", schedule + "}\n");
  check_has(desk.kernelsearch({"convert", "broken.mlir", "out"}).err, "broken.mlir:");
  CHECK(desk.kernelsearch({"convert", "schedule.mlir", "out", "--payload", "schedule.mlir"}).code == 3);

  fs::create_directory(desk.path() / "mine");
  write_text(desk.path() / "mine/problem.json", "{}");
  const Ran foreign = desk.kernelsearch({"convert", "schedule.mlir", "mine"});
  CHECK(foreign.code == 3);
  CHECK(read_text(desk.path() / "mine/problem.json") == "{}");

  CHECK(desk.kernelsearch({"convert", "schedule.mlir", "out"}).code == 0);
  const std::string first = read_text(desk.path() / "out/problem.json");
  std::string more = schedule;
  more.replace(more.find("options = [16, 32, 64]"), 22, "options = [16, 32]");
  write_text(desk.path() / "schedule.mlir", more);
  CHECK(desk.kernelsearch({"convert", "schedule.mlir", "out"}).code == 0);
  CHECK(read_text(desk.path() / "out/problem.json") != first);
}

namespace {

/// A schedule in MLIR's own syntax: `choices`, then a constraint over %x and %y with the body given.
std::string schedule_with(const std::string& choices, const std::string& body) {
  std::string text =
      "module attributes {transform.with_named_sequence} {\n"
      "  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {\n" +
      choices;
  if (!body.empty())
    text +=
        "    transform.smt.constrain_params(%x, %y) : (!transform.param<i64>, !transform.param<i64>) -> () "
        "{\n"
        "    ^bb0(%a: !smt.int, %b: !smt.int):\n" +
        body + "      smt.assert %c\n    }\n";
  return text + "    transform.yield\n  }\n}\n";
}

}  // namespace

TEST_CASE(
    "mlir: all of the grammar of choices and constraints, as mlir-opt parses it, is translated or refused by "
    "name") {
  if (mlir_is_missing()) return;
  const Desk desk;
  write_small(desk.path());
  const std::string two =
      "    %x = transform.tune.knob<\"x\"> = 1 from options = [1, 2, 3] -> !transform.param<i64>\n"
      "    %y = transform.tune.knob<\"y\"> options = [1, 2, 3] -> !transform.param<i64>\n";
  const std::string less = "      %p = smt.int.cmp lt %a, %b\n",
                    same = "      %q = smt.eq %a, %b : !smt.int\n";
  const auto equals = [](const std::string& operation, int number) {
    return "      %v = " + operation + "\n      %n = smt.int.constant " + std::to_string(number) +
           "\n      %c = smt.eq %v, %n : !smt.int\n";
  };
  const auto knob = [](const std::string& options) {
    return "    %x = transform.tune.knob<\"x\"> options = " + options + " -> !transform.any_param\n";
  };
  const std::string regions =
      " -> !transform.any_op {\n      transform.yield %module : !transform.any_op\n    }, {\n"
      "      transform.yield %module : !transform.any_op\n    }\n";
  const struct {
    std::string choices, body;
    const char* count;
  } translated[] = {
      {two, equals("smt.int.add %a, %b", 4), "3"},
      {two, equals("smt.int.sub %a, %b", 1), "2"},
      {two, equals("smt.int.mul %a, %b", 6), "2"},
      {two, equals("smt.int.div %a, %b", 2), "1"},
      {two, equals("smt.int.mod %a, %b", 0), "5"},
      {two, "      %s = smt.int.sub %a, %b\n" + equals("smt.int.abs %s", 2), "2"},
      {two, "      %c = smt.int.cmp lt %a, %b\n", "3"},
      {two, "      %c = smt.int.cmp le %a, %b\n", "6"},
      {two, "      %c = smt.int.cmp gt %a, %b\n", "3"},
      {two, "      %c = smt.int.cmp ge %a, %b\n", "6"},
      {two, "      %c = smt.eq %a, %b : !smt.int\n", "3"},
      {two, "      %c = smt.distinct %a, %b : !smt.int\n", "6"},
      {two, less + "      %q = smt.distinct %a, %b : !smt.int\n      %c = smt.and %p, %q\n", "3"},
      {two, less + same + "      %c = smt.or %p, %q\n", "6"},
      {two, less + "      %q = smt.int.cmp le %a, %b\n      %c = smt.xor %p, %q\n", "3"},
      {two, less + "      %c = smt.not %p\n", "6"},
      {two, less + same + "      %c = smt.implies %p, %q\n", "6"},
      {two, less + equals("smt.ite %p, %a, %b : !smt.int", 1), "5"},
      {two, "      %c = smt.constant true\n", "9"},
      {two, "      %c = smt.constant false\n", "0"},
      {knob("[true, false]"), "", "2"},
      {knob("[\"a\", \"b\", \"c\"]"), "", "3"},
      {knob("[0.5, 1.5]"), "", "2"},
      {knob("[[1, 2], {depth = 3 : i64}, 4]"), "", "3"},
      {"    %r = transform.tune.alternatives<\"order\"> selected_region = 1" + regions, "", "2"},
      {"    %r = transform.tune.alternatives<\"order\">" + regions, "", "2"},
      {"    %p = transform.tune.knob<\"p\"> options = [0, 1, 4] -> !transform.param<i64>\n"
       "    %r = transform.tune.alternatives<\"order\"> selected_region = %p : !transform.param<i64>" +
           regions,
       "", "2"},
  };
  for (const auto& [choices, body, count] : translated) {
    const std::string schedule = schedule_with(choices, body);
    CAPTURE(schedule);
    write_text(desk.path() / "one.mlir", schedule);
    const Ran converted = desk.kernelsearch({"convert", "one.mlir", "out"});
    if (std::string(count) == "0") {
      CHECK(converted.code != 0);
      continue;
    }
    if (converted.code != 0) {
      FAIL_CHECK(converted.err);
      continue;
    }
    CHECK(kernelsearch::read_problem(desk.path() / "out").kernel.space.count().to_string() == count);
  }
  const struct {
    std::string choices, body;
    const char* name;
  } refused[] = {
      {two, equals("smt.declare_fun : !smt.int", 1), "smt.declare_fun"},
      {two, "      %v = smt.bv.constant #smt.bv<1> : !smt.bv<8>\n      %c = smt.eq %v, %v : !smt.bv<8>\n",
       "smt.bv.constant"},
      {two,
       "      %c = smt.forall {\n      ^bb0(%z: !smt.int):\n        %w = smt.eq %z, %z : !smt.int\n        "
       "smt.yield %w : !smt.bool\n      }\n",
       "smt.forall"},
      {two, equals("smt.int.neg %a", 1), "smt.int.neg"},  // mlir-opt's own word: there is no such operation
      {knob("{min = 1 : i64, max = 5 : i64}"), "", "transform.tune.knob"},
  };
  for (const auto& [choices, body, name] : refused) {
    const std::string schedule = schedule_with(choices, body);
    CAPTURE(schedule);
    write_text(desk.path() / "one.mlir", schedule);
    const Ran converted = desk.kernelsearch({"convert", "one.mlir", "refused"});
    CHECK(converted.code == 3);
    check_has(converted.err, name);
    check_has(converted.err, "one.mlir:");
    CHECK_FALSE(fs::exists(desk.path() / "refused"));
  }
}
