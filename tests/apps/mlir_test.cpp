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
  CHECK(seen >= 5);
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
