// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The command on problems for GPUs, with the stand-in of HIP.
#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "apps/command.hpp"

using namespace kernelsearch_test;

#ifdef KERNELSEARCH_STANDIN_HIP

namespace {

// The faster of two settings has a fault that does not show in its results. Its code says which it is.
const std::string problem = R"json({
  "schema": 1, "name": "twice", "backend": "hip", "function": "twice",
  "kernel": {"device": {"text": [
    "#define TEXT(x) #x",
    "#define NAME(x) \"setting \" TEXT(x)",
    "__constant__ char setting[] = NAME(RACY);",
    "extern \"C\" __global__ void twice(int n, const float* x, float* y) {",
    "  const int i = blockIdx.x * blockDim.x + threadIdx.x;",
    "  volatile float wasted = 0;",
    "  for (int k = 0; k < (RACY ? 0 : 2000); ++k) wasted = k;",
    "  if (i < n) y[i] = 2 * x[i];",
    "}"]}},
  "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"},
                {"name": "y", "type": "f32", "size": "n", "role": "out"}],
  "shapes": [{"name": "large", "n": 500}, {"name": "odd", "n": 37, "weight": 0}],
  "tunables": {"RACY": [0, 1]},
  "launch": {"grid": ["(n + 63) // 64"], "block": [64]},
  "reference": {"function": "twice_reference", "launch": {"grid": ["n"], "block": [1]}, "source": {"text": [
    "extern \"C\" __global__ void twice_reference(int n, const real* x, real* y) {",
    "  y[blockIdx.x] = 2 * x[blockIdx.x];",
    "}"]}}
})json";

// As NVIDIA's program prints it, into the file that it is told.
const std::string sanitizer = R"sh(#!/bin/sh
tool= log= frames=
while [ $# -gt 0 ]; do
  case $1 in
    --tool) tool=$2 ;;
    --log-file) log=$2 ;;
    --frames) frames=$2 ;;
  esac
  shift
done
echo "$tool" >> "$(dirname "$0")/asked"
if [ "$tool" = racecheck ]; then
  if grep -q 'setting 1' "$frames"; then
    cat > "$log" <<'LOG'
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at twice(int, const float *, float *)+0x1a0
=========     and Read access at twice(int, const float *, float *)+0x200 [124 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
LOG
  else
    printf '========= COMPUTE-SANITIZER\n========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n' > "$log"
  fi
else
  printf '========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n' > "$log"
fi
)sh";

/// With `--sandbox none`, as their headers are where no sandbox sees them.
void use_stand_ins() {
  setenv("KERNELSEARCH_HIP_RUNTIME", KERNELSEARCH_STANDIN_HIP, 1);
  setenv("KERNELSEARCH_HIPRTC", KERNELSEARCH_STANDIN_HIPRTC, 1);
}

}  // namespace

TEST_CASE("command: tune --validate takes the verdict from finalists with faults") {
  use_stand_ins();
  const Desk desk;
  write_text(desk.path() / "problem.json", problem);
  write_text(desk.path() / "sanitizer", sanitizer);
  chmod((desk.path() / "sanitizer").c_str(), 0700);
  const auto tune = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"tune",      "problem.json", "--policy", "exhaustive", "--budget",
                                       "all",       "--store",      "runs.db",  "--no-reuse", "--samples",
                                       "6",         "--json",       "--jobs",   "1",          "--no-learning",
                                       "--sandbox", "none"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return desk.kernelsearch(arguments);
  };
  const Ran fast = tune({});
  REQUIRE_MESSAGE(fast.code == 0, fast.err);
  CHECK(fast.json()["best"]["config"]["RACY"] == 1);

  const Ran refused = tune({"--validate", "memcheck"});
  CHECK(refused.code == 3);
  CHECK_MESSAGE(refused.err.find("Compute Sanitizer checks CUDA kernels: hip") != std::string::npos,
                refused.err);

  setenv("KERNELSEARCH_COMPUTE_SANITIZER", "/nonexistent/sanitizer", 1);
  const Ran missing = tune({"--validate", "memcheck"});
  CHECK(missing.code == 3);
  CHECK_MESSAGE(missing.err.find("Compute Sanitizer is not there") != std::string::npos, missing.err);

  setenv("KERNELSEARCH_COMPUTE_SANITIZER", (desk.path() / "sanitizer").c_str(), 1);
  const Ran validated = tune({"--validate", "memcheck,racecheck"});
  unsetenv("KERNELSEARCH_COMPUTE_SANITIZER");
  REQUIRE_MESSAGE(validated.code == 0, validated.err);
  const auto json = validated.json();
  CHECK(json["best"]["config"]["RACY"] == 0);
  CHECK(json["verdicts"]["ok"] == 1);
  CHECK(json["verdicts"]["wrong_result"] == 1);
  CHECK(read_text(desk.path() / "asked").find("memcheck\nracecheck\n") == 0);
  const Ran shown = desk.kernelsearch({"show", "latest", "--trial", "1", "--store", "runs.db"});
  CHECK_MESSAGE(
      (shown.out + shown.err).find("Race reported between Write access at twice") != std::string::npos,
      shown.out, shown.err);
}

TEST_CASE("command: a reply's launch and tunable are tuned, and stay with the kernel") {
  use_stand_ins();
  const Desk desk;
  write_text(desk.path() / "problem.json", problem);
  std::filesystem::create_directory(desk.path() / "script");
  write_text(desk.path() / "script/script.json",
             R"({"kernelsearch_script": 1, "rules": [{"role": "rewriter", "file": "wide.md"}]})");
  // Only blocks of 128 threads are fast, and only the launch can make them so. The problem's kernel is slow.
  write_text(desk.path() / "script/wide.md", R"reply(
```cpp device
extern "C" __global__ void twice(int n, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  volatile float wasted = 0;
  for (int k = 0; k < (blockDim.x == 128 ? 0 : 4000); ++k) wasted = k;
  if (i < n) y[i] = 2 * x[i];
}
```
```json
{"tunables": {"WIDTH": [32, 64, 128, 256]}, "constraints": ["WIDTH != 256"],
 "launch": {"grid": ["(n + WIDTH - 1) // WIDTH"], "block": ["WIDTH"]}}
```
)reply");
  const Ran ran = desk.kernelsearch({"tune",
                                     "problem.json",
                                     "--system",
                                     "best_of_k",
                                     "--budget",
                                     "2",
                                     "--store",
                                     "runs.db",
                                     "--samples",
                                     "6",
                                     "--json",
                                     "-q",
                                     "--sandbox",
                                     "none",
                                     "--out",
                                     "out",
                                     "--where",
                                     "RACY == 0",
                                     "--replay-exchanges",
                                     "script"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  const auto json = ran.json();
  CHECK(json["best"]["trial"] == 1);
  CHECK(json["best"]["config"]["WIDTH"] == 128);
  bool launch = false;
  for (const auto& file : std::filesystem::directory_iterator(desk.path() / "out"))
    launch = launch || read_text(file.path()).find("//@launch {\"grid\":[\"(n + WIDTH - 1) // WIDTH\"]") !=
                           std::string::npos;
  CHECK(launch);  // in the winner's file
  // What was stored is the whole kernel: a run that goes on knows it.
  const Ran more = desk.kernelsearch({"tune", "--resume", "latest", "--budget", "3", "--store", "runs.db",
                                      "--json", "-q", "--sandbox", "none", "--out", "out"});
  CHECK_MESSAGE(more.code == 0, more.err);
  CHECK(more.json()["best"]["config"]["WIDTH"] == 128);
}

TEST_CASE("command: check judges a device problem's default, or says how deep it came") {
  use_stand_ins();
  const Desk desk;
  write_text(desk.path() / "problem.json", problem);
  const Ran judged = desk.kernelsearch({"check", "problem.json", "--sandbox", "none"});
  CHECK_MESSAGE(judged.code == 0, judged.out, judged.err);
  CHECK_MESSAGE(
      judged.out.find("the default was judged on every shape on Stand-in of a GPU") != std::string::npos,
      judged.out);
  setenv("KERNELSEARCH_HIP_RUNTIME", "/nonexistent/libamdhip64.so", 1);
  const Ran compiled = desk.kernelsearch({"check", "problem.json", "--sandbox", "none"});
  CHECK(compiled.code == 0);
  CHECK_MESSAGE(compiled.out.find("only compiled, by hipRTC") != std::string::npos, compiled.out);
  const auto json = desk.kernelsearch({"check", "problem.json", "--json", "--sandbox", "none"}).json();
  CHECK(json["depth"] == "compiled");
  CHECK(json["ran"] == false);
  use_stand_ins();
}

#endif
