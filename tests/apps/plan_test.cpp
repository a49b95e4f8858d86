// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>
#include <sched.h>

#include <string>

#include "apps/command.hpp"
#include "kernelsearch/runtime/plan.hpp"
#include "kernelsearch/runtime/processor.hpp"
#include "kernelsearch/runtime/settings_table.hpp"
#include "support/check_has.hpp"

using namespace kernelsearch_test;

namespace {

/// The first core that this process may use.
std::string a_core() {
  cpu_set_t set;
  CPU_ZERO(&set);
  REQUIRE(sched_getaffinity(0, sizeof set, &set) == 0);
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) return std::to_string(core);
  return "0";
}

std::vector<std::string> on_one_core(const std::vector<std::string>& arguments) {
  std::vector<std::string> line{"taskset", "-c", a_core()};
  for (const std::string& one : Desk::line(arguments)) line.push_back(one);
  return line;
}

/// A problem whose default is slow beyond doubt: it does the work 32 times WASTE times, so that the fastest
/// takes microseconds, too, and no noise of single calls hides the order.
void write_wasteful(const std::filesystem::path& folder) {
  std::filesystem::create_directory(folder);
  write_text(folder / "problem.json", R"json({
  "schema": 1, "name": "waste", "function": "waste",
  "kernel": {"device": "kernel.cpp"},
  "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"},
                {"name": "y", "type": "f32", "size": "n", "role": "out"}],
  "shapes": [{"name": "one", "n": 4096}],
  "tunables": {"WASTE": [16, 8, 1], "BAD": [0, 1, 2]},
  "reference": {"function": "waste_reference", "source": "reference.cpp"}
})json");
  write_text(folder / "kernel.cpp", R"(extern "C" void waste(int n, const float* x, float* y) {
#if BAD == 1
  no_such_function(n);
#endif
  for (int k = 0; k < 32 * WASTE; ++k) {
    for (int i = 0; i < n; ++i) y[i] = 2 * x[i] + (BAD == 2 ? 1 : 0);
    asm volatile("" ::: "memory");
  }
}
)");
  write_text(folder / "reference.cpp",
             "void waste_reference(int n, const real* x, real* y) { for (int i = 0; i < n; ++i) y[i] = 2 * "
             "x[i]; }\n");
}

}  // namespace

TEST_CASE("command: from tune to the look-up at run time, and on whichever cores") {
  using namespace kernelsearch;
  const Desk desk;
  write_wasteful(desk.path() / "waste");
  const std::vector<std::string> tune{"tune",    "waste",   "--policy", "exhaustive", "--where", "BAD == 0",
                                      "--store", "runs.db", "--out",    "tuned",      "--budget"};
  auto with = [&](const char* budget) {
    auto line = tune;
    line.emplace_back(budget);
    line.emplace_back("--json");
    return line;
  };
  Ran ran = desk.kernelsearch(with("2"));
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.json()["device"] == processor_name());
  // The same device on one core: the run goes on, and a new run takes what was measured.
  ran = desk.program(on_one_core(
      {"tune", "--resume", "latest", "--budget", "3", "--store", "runs.db", "--out", "tuned", "--json"}));
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.json()["device"] == processor_name());
  CHECK(ran.json()["trials"] == 3);
  const std::vector<std::pair<std::string, Value>> shape{{"n", std::int64_t{4096}}};
  const auto table = SettingsTable::load(desk.path() / "tuned/waste_table.jsonl");
  auto best = table.best_for("waste", processor_name(), shape);
  REQUIRE(best);
  CHECK(best->integer("WASTE") == 1);

  // As the example says: best RUN --settings TABLE.
  ran = desk.kernelsearch({"best", "1", "--settings", "mine.jsonl", "--store", "runs.db"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.out.empty());
  best = SettingsTable::load(desk.path() / "mine.jsonl").best_for("waste", processor_name(), shape);
  REQUIRE(best);
  CHECK(best->integer("WASTE") == 1);
  // A word after --settings alone is the run, as it always was.
  ran = desk.kernelsearch({"best", "--settings", "1", "--store", "runs.db"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  check_has(ran.out, "#define WASTE 1\n");
  CHECK_FALSE(std::filesystem::exists(desk.path() / "1"));
  CHECK(desk.kernelsearch({"best", "1", "--settings", "no/such/folder.jsonl", "--store", "runs.db"}).code ==
        3);

  // The header gives the kernel what it was tuned with, also where it asks with #if.
  write_text(desk.path() / "uses.cpp",
             "#include \"tuned/waste_settings.hpp\"\n#if WASTE == 1 && BAD == 0\nint right;\n#else\n#error "
             "wrong branch\n"
             "#endif\n#include \"waste/kernel.cpp\"\n");
  ran = desk.program({"g++", "-std=c++20", "-fsyntax-only", "uses.cpp"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
}

TEST_CASE("command: plan export, check, apply and merge") {
  using namespace kernelsearch;
  const Desk desk;
  write_wasteful(desk.path() / "waste");
  Ran ran = desk.kernelsearch({"tune", "waste", "--policy", "exhaustive", "--where", "BAD == 0", "--budget",
                               "all", "--store", "runs.db", "--out", "tuned", "--quiet"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  ran = desk.kernelsearch({"plan", "export", "latest", "--store", "runs.db"});
  CHECK(ran.code == 3);
  check_has(ran.err, "--measure");
  ran = desk.kernelsearch({"plan", "export", "--any", "--store", "runs.db"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.json()["plans"][0]["never_worse"] == false);
  ran = desk.kernelsearch({"plan", "export", "--measure", "--store", "runs.db", "-o", "plan.json"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  check_has(ran.err, "n=4096: other settings");
  const auto plan = nlohmann::json::parse(read_text(desk.path() / "plan.json"));
  REQUIRE(plan["plans"][0]["entries"].size() == 1);
  CHECK(plan["plans"][0]["entries"][0]["settings"]["WASTE"] == 1);
  CHECK(plan["plans"][0]["entries"][0]["over_default"]["interval"][0].get<double>() > 1.0);
  CHECK(plan["plans"][0]["default"]["WASTE"] == 16);
  // What was measured is kept, so that the same plan comes again.
  ran = desk.kernelsearch({"plan", "export", "--store", "runs.db"});
  CHECK(ran.out == read_text(desk.path() / "plan.json"));
  // At run time.
  const std::vector<std::pair<std::string, Value>> shape{{"n", std::int64_t{5000}}};
  const auto best = Plan::load(desk.path() / "plan.json").best_for("waste", processor_name(), shape);
  REQUIRE(best);
  CHECK(best->integer("WASTE") == 1);

  ran = desk.program(on_one_core({"plan", "check", "plan.json", "waste"}));
  CHECK_MESSAGE(ran.code == 0, ran.out);
  check_has(ran.out, "the plan can be applied");
  ran = desk.kernelsearch({"plan", "check", "plan.json", "waste", "--device", "Another"});
  CHECK(ran.code == 1);
  check_has(ran.out, "it is for another device");
  ran = desk.kernelsearch({"plan", "apply", "plan.json", "waste", "--out", "applied", "--json"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.json()["files"].size() == 3);
  write_text(desk.path() / "uses.cpp",
             "#include \"applied/waste_settings.hpp\"\n#if WASTE != 1\n#error wrong\n#endif\n#include "
             "\"waste/kernel.cpp\"\n");
  ran = desk.program({"g++", "-std=c++20", "-fsyntax-only", "uses.cpp", "applied/waste_best.cpp"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  ran = desk.kernelsearch({"plan", "apply", "plan.json", "waste", "--shape", "n=7", "--out", "far"});
  check_has(ran.out, "the default, since it has nothing better near n=7");
  check_has(read_text(desk.path() / "far/waste_settings.hpp"), "#define WASTE 16\n");
  CHECK(desk.kernelsearch({"plan", "apply", "plan.json", "waste", "--shape", "n", "--out", "far"}).code == 3);

  ran = desk.kernelsearch({"plan", "merge", "plan.json", "plan.json", "-o", "merged.json"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  CHECK(read_text(desk.path() / "merged.json") == read_text(desk.path() / "plan.json"));
  CHECK(desk.kernelsearch({"plan", "merge", "plan.json", "none.json"}).code == 3);
  ran = desk.kernelsearch({"plan", "exprt"});
  CHECK(ran.code == 2);
  check_has(ran.err, "did you mean export?");

  // Another kernel is refused, with the reason.
  write_text(desk.path() / "waste/kernel.cpp", read_text(desk.path() / "waste/kernel.cpp") + "\n");
  ran = desk.kernelsearch({"plan", "apply", "plan.json", "waste", "--out", "never"});
  CHECK(ran.code == 3);
  check_has(ran.err, "the kernel or its space has changed");
  CHECK_FALSE(std::filesystem::exists(desk.path() / "never"));
}

TEST_CASE("command: why trials failed is in the progress, the summary and show") {
  const Desk desk;
  write_wasteful(desk.path() / "waste");
  Ran ran = desk.kernelsearch(
      {"tune", "waste", "--policy", "exhaustive", "--budget", "all", "--store", "runs.db", "--out", "tuned"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  check_has(ran.err, "failed: build_failed: ");
  check_has(ran.err, "failed: wrong_result: ");
  check_has(ran.out, "failed    3 build_failed, trial ");
  check_has(ran.out, "no_such_function");
  check_has(ran.out, "3 wrong_result, trial ");
  ran = desk.kernelsearch({"show", "--store", "runs.db", "--top", "100"});
  check_has(ran.out, "best 3, the winner first:");
  check_has(ran.out, "failed:\n");
  check_has(ran.out, "build_failed");
  ran = desk.kernelsearch({"show", "--store", "runs.db", "--failed"});
  CHECK(ran.code == 0);
  check_has(ran.out, "6 of 9 trials of run 1 failed");
  const auto failed = desk.kernelsearch({"show", "--store", "runs.db", "--failed", "--json"}).json();
  REQUIRE(failed.is_object());
  CHECK(failed["failed"] == 6);
  REQUIRE(failed["reasons"].size() == 2);
  CHECK(failed["reasons"][0]["count"] == 3);
  CHECK(failed["trials"].size() == 6);
}

TEST_CASE("command: no result is withheld because of a folder that cannot be written") {
  const Desk desk;
  write_wasteful(desk.path() / "waste");
  write_text(desk.path() / "taken", "a file");
  // Said before anything is measured.
  Ran ran = desk.kernelsearch({"tune", "waste", "--budget", "2", "--store", "runs.db", "--out", "taken"});
  CHECK(ran.code == 3);
  check_has(ran.err, "the winner's files could not be written");
  CHECK(desk.kernelsearch({"runs", "--store", "runs.db", "--json"}).json().empty());
  ran =
      desk.kernelsearch({"tune", "waste", "--budget", "2", "--store", "runs.db", "--record", "/proc/r.json"});
  CHECK(ran.code == 3);
  check_has(ran.err, "the record could not be written");
  // Of a folder that goes bad while the run lasts the summary is printed all the same.
  Started tune(desk.path(),
               Desk::line({"tune", "waste", "--where", "BAD == 0", "--policy", "exhaustive", "--budget",
                           "all", "--store", "runs.db", "--out", "late", "--quiet"}));
  std::filesystem::create_directory(desk.path() / "elsewhere");
  for (int i = 0; i < 1000 && tune.running(); ++i) {
    const auto rows =
        Started(desk.path() / "elsewhere", Desk::line({"runs", "--store", "../runs.db", "--json"}))
            .finish()
            .json();
    if (rows.is_array() && !rows.empty()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  REQUIRE(tune.running());
  write_text(desk.path() / "late", "a file");
  ran = tune.finish();
  CHECK(ran.code == 3);
  check_has(ran.out, "best      ");
  check_has(ran.err, "late");
  check_has(ran.err, "kernelsearch best 1");
  ran = desk.kernelsearch({"best", "1", "--store", "runs.db", "--out", "taken"});
  CHECK(ran.code == 3);
  check_has(ran.out, "best      ");
}
