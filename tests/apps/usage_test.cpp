// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>

#include <string>

#include "apps/command.hpp"
#include "support/check_has.hpp"

using namespace kernelsearch_test;

namespace {

/// A * B <= 6 over {1, 2, 3, 4} x {1, 2, 4}.
constexpr const char* small_t1 = R"({
  "General": {"FormatVersion": 1, "BenchmarkName": "small"},
  "ConfigurationSpace": {
    "TuningParameters": [
      {"Name": "A", "Type": "int", "Values": "[1, 2, 3, 4]", "Default": 1},
      {"Name": "B", "Type": "int", "Values": "[1, 2, 4]", "Default": 1}],
    "Conditions": [{"Expression": "A * B <= 6", "Parameters": ["A", "B"]}]},
  "KernelSpecification": {"Language": "CUDA", "KernelName": "small", "KernelFile": "small.cu"}})";

constexpr const char* wrong_default = R"({
  "schema": 1, "name": "twice", "function": "twice",
  "kernel": {"device": {"text": "extern \"C\" void twice(int n, const float* x, float* y) { for (int i = 0; i < n; ++i) y[i] = (2 + (UNROLL > 0)) * x[i]; }"}},
  "arguments": [{"name": "n", "type": "i32"}, {"name": "x", "type": "f32", "size": "n"},
                {"name": "y", "type": "f32", "size": "n", "role": "out"}],
  "shapes": [{"name": "large", "n": 5000}, {"name": "odd", "n": 37, "weight": 0}],
  "tunables": {"UNROLL": [1, 2]},
  "reference": {"function": "twice_reference",
                "source": {"text": "void twice_reference(int n, const real* x, real* y) { for (int i = 0; i < n; ++i) y[i] = 2 * x[i]; }"}}})";

}  // namespace

TEST_CASE("command: help of every subcommand has an example") {
  const Desk desk;
  const Ran all = desk.kernelsearch({"--help"});
  CHECK(all.code == 0);
  check_has(all.out, "Examples:");
  check_has(all.out, "Exit codes:");
  for (const char* name :
       {"tune", "check", "profile", "new", "best", "show", "runs", "checkpoints", "memory", "export",
        "convert", "inspect", "space", "compare", "list", "mcp", "trial", "doctor", "completion"}) {
    CAPTURE(name);
    const Ran one = desk.kernelsearch({name, "--help"});
    CHECK(one.code == 0);
    check_has(one.out, "Example");
    check_has(one.out, std::string("kernelsearch ") + name);
    check_has(all.out, std::string("\n  ") + name);
  }
  const Ran version = desk.kernelsearch({"--version"});
  CHECK(version.code == 0);
  CHECK(version.out.rfind("kernelsearch ", 0) == 0);
}

TEST_CASE("command: wrong usage names the nearest right word and ends with 2") {
  const Desk desk;
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& words) {
    const Ran ran = desk.kernelsearch(arguments);
    CHECK(ran.code == 2);
    CHECK(ran.out == "");
    check_has(ran.err, words);
  };
  refused({"tune", "mine", "--polcy", "random"}, "unknown option: --polcy; did you mean --policy?");
  refused({"check", "mine", "--statik"}, "did you mean --static?");
  refused({"space", "f.json", "--smaple=3"}, "unknown option: --smaple; did you mean --sample?");
  refused({"chek", "mine"}, "unknown argument: chek; did you mean check?");
  refused({"check", "--statik"}, "did you mean --static?");
  refused({"list", "polices"}, "policies");
  refused({"tune"}, "PROBLEM");
  refused({"check"}, "PROBLEM");
  refused({}, "subcommand");
}

TEST_CASE("command: input that cannot be used ends with 3 and says what is wrong where") {
  const Desk desk;
  std::filesystem::create_directory(desk.path() / "broken");
  const auto refused = [&](const std::string& problem, const std::string& words) {
    write_text(desk.path() / "broken" / "problem.json", problem);
    for (const std::vector<std::string>& arguments : {std::vector<std::string>{"check", "broken"},
                                                      {"tune", "broken", "--store", "runs.db"},
                                                      {"space", "broken"}}) {
      const Ran ran = desk.kernelsearch(arguments);
      CHECK(ran.code == 3);
      CHECK(ran.out == "");
      CHECK(ran.err.rfind("kernelsearch: ", 0) == 0);
      check_has(ran.err, "problem.json");
      check_has(ran.err, words);
    }
  };
  refused("{", "problem.json");
  refused(R"({"schema": 1, "nam": "x"})", "did you mean");
  std::string wrong = wrong_default;
  wrong.replace(wrong.find("\"size\""), 6, "\"sise\"");
  refused(wrong, "sise");
  for (const char* name : {"check", "space", "tune"}) {
    const Ran ran = desk.kernelsearch({name, "nowhere"});
    CHECK(ran.code == 3);
    check_has(ran.err, "nowhere");
  }
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"runs", "--store", "none.db"}, {"show", "--store", "none.db"}}) {
    const Ran ran = desk.kernelsearch(arguments);
    CHECK(ran.code == 3);
    check_has(ran.err, "none.db");
  }
}

TEST_CASE("command: space of a T1 file") {
  const Desk desk;
  write_text(desk.path() / "small.json", small_t1);
  const Ran ran = desk.kernelsearch({"space", "small.json", "--json", "--sample", "2"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.err == "");
  const auto json = ran.json();
  REQUIRE(json.is_object());
  CHECK(json["raw"] == 12);
  CHECK(json["valid"] == 8);
  CHECK(json["checksum"] == 17312607154u);  // sum of crc32("A,B") over the valid, by zlib
  CHECK(json["build_seconds"].is_number());
  CHECK(json["build_seconds"].get<double>() >= 0);
  REQUIRE(json["sample"].size() == 2);
  for (const auto& drawn : json["sample"]) CHECK(drawn["A"].get<int>() * drawn["B"].get<int>() <= 6);
  const Ran plain = desk.kernelsearch({"space", "small.json"});
  CHECK(plain.code == 0);
  check_has(plain.out, "valid      8\n");
}

TEST_CASE("command: check of a T1 file says that it is a space and what it lacks") {
  const Desk desk;
  write_text(desk.path() / "small.json", small_t1);
  const Ran ran = desk.kernelsearch({"check", "small.json"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  check_has(ran.out, "T1 file small: a space without a kernel that could be run");
  check_has(ran.out, "2 tunables, 12 combinations, 8 valid");
  check_has(ran.out, "lacks ");
  const auto json = desk.kernelsearch({"check", "small.json", "--json"}).json();
  REQUIRE(json.is_object());
  CHECK(json["runnable"] == false);
  CHECK(json["space"]["valid"] == 8);
  CHECK(json["missing"].size() >= 1);
}

TEST_CASE("command: check describes a device problem without running it") {
  const Desk desk;
  write_text(desk.path() / "problem.json",
             R"({"schema": 1, "name": "sums", "backend": "cuda", "function": "sums",
    "kernel": {"device": {"text": "f"}}, "shapes": [{"name": "large", "n": 65536}, {"name": "odd", "n": 48, "weight": 0}],
    "arguments": [
      {"name": "a", "type": "f32", "size": "n"},
      {"name": "map_a", "tensor_map": {"array": "a", "sizes": ["n"], "box": [64]}},
      {"name": "table", "type": "f32", "size": 4, "symbol": "c_table"},
      {"name": "partial", "type": "f32", "size": "SPLIT", "role": "workspace"},
      {"name": "total", "type": "f32", "size": 1, "role": "out"}],
    "tunables": {"SPLIT": [1, 2]},
    "launch": [{"zero": "total", "if": "SPLIT > 1"}, {"function": "sums<${SPLIT}>", "grid": ["SPLIT"], "block": [64]}]})");
  const Ran ran = desk.kernelsearch({"check", "problem.json", "--static"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  check_has(ran.out, "\n  map_a              tensor map of a\n");
  check_has(ran.out, "\n  table        f32   constant   [4]\n");
  check_has(ran.out, "\n  partial      f32   workspace  [SPLIT]\n");
  check_has(ran.out, "\nsteps\n  zero total if SPLIT > 1\n  sums<${SPLIT}>\nshapes\n");
  const auto json = desk.kernelsearch({"check", "problem.json", "--static", "--json"}).json();
  REQUIRE(json.is_object());
  CHECK(json["arguments"][1] == nlohmann::json({{"name", "map_a"}, {"array", "a"}, {"role", "tensor map"}}));
  CHECK(json["arguments"][3]["role"] == "workspace");
  CHECK(json["steps"][1] == "sums<${SPLIT}>");
}

TEST_CASE("command: check tells errors by its exit code") {
  const Desk desk;
  write_text(desk.path() / "problem.json", wrong_default);
  const Ran ran = desk.kernelsearch({"check", "problem.json"});
  CHECK_MESSAGE(ran.code == 1, ran.err);
  check_has(ran.out, "problem twice");
  check_has(ran.out, "n = 5000");
  check_has(ran.out, "twice_reference");
  check_has(ran.out, "ERROR      the default's output y (shape odd) is wrong");
  const auto json = desk.kernelsearch({"check", "problem.json", "--json"}).json();
  REQUIRE(json.is_object());
  CHECK(json["errors"] == 1);
  CHECK(json["ran"] == true);
  CHECK(json["findings"][0]["severity"] == "error");
  CHECK(json["shapes"][1]["bytes"] == 37 * 8);
  const Ran all = desk.kernelsearch({"check", "problem.json", "--all"});
  CHECK(all.code == 1);
  check_has(all.out, "run on 2 of 2 shapes");
  const Ran unseen = desk.kernelsearch({"check", "problem.json", "--static"});
  CHECK(unseen.code == 0);
  check_has(unseen.out, "clean: no findings (nothing was run)");
}

TEST_CASE("command: lists") {
  const Desk desk;
  const Ran policies = desk.kernelsearch({"list", "policies"});
  CHECK(policies.code == 0);
  for (const char* name : {"random", "exhaustive", "iterated_local_search"}) check_has(policies.out, name);
  const auto json = desk.kernelsearch({"list", "policies", "--json"}).json();
  REQUIRE(json.is_array());
  CHECK(json.size() >= 3);
  check_has(desk.kernelsearch({"list", "generators"}).out, "template");
  check_has(desk.kernelsearch({"list", "evaluators"}).out, "host");
  CHECK(desk.kernelsearch({"list", "policies", "--architecture", "90"}).code == 2);
}

TEST_CASE("command: methods, and which of them a profile asks for") {
  const Desk desk;
  CHECK(desk.kernelsearch({"list", "methods", "--json"}).json().size() == 63);
  check_has(desk.kernelsearch({"list", "methods", "--backend", "host"}).out, "compute.vectorise");
  write_text(desk.path() / "profile.json",
             R"({"counters": {"features": {"tensor_utilisation": 0, "stall_barrier": 4}}})");
  write_text(desk.path() / "plain.json",
             R"({"tensor_utilisation": 0, "trait.matmul": 1, "words": "left out"})");
  const Ran words =
      desk.kernelsearch({"list", "methods", "--features", "profile.json", "--architecture", "90"});
  CHECK(words.code == 0);
  check_has(words.out, "stall_barrier 4 % is not over 30");
  const auto json = desk.kernelsearch({"list", "methods", "--features", "plain.json", "--architecture", "90",
                                       "--slots", "2", "--json"})
                        .json();
  REQUIRE(json.size() == 63);
  CHECK(json[0]["id"] == "compute.tensor_core");
  CHECK(json[0]["reason"] == "taken");
  CHECK(json[0]["strength"] == 1.0);
  CHECK(desk.kernelsearch({"list", "methods", "--features", "absent.json"}).code == 3);
  CHECK(desk.kernelsearch({"list", "methods", "--architecture", "90"}).code == 3);
}

TEST_CASE("command: completion for bash parses and knows subcommands and options") {
  const Desk desk;
  const Ran script = desk.kernelsearch({"completion", "bash"});
  CHECK(script.code == 0);
  write_text(desk.path() / "completion.bash", script.out);
  const Ran parsed = desk.program({"bash", "-n", "completion.bash"});
  CHECK_MESSAGE(parsed.code == 0, parsed.err);
  const Ran completed = desk.program({"bash", "-c",
                                      "source completion.bash; complete -p kernelsearch > complete.txt; "
                                      "f=$(sed 's/.*-F \\([^ ]*\\).*/\\1/' complete.txt);"
                                      "COMP_WORDS=(kernelsearch tune --pol); COMP_CWORD=2; $f kernelsearch "
                                      "--pol tune; echo \"${COMPREPLY[@]}\""});
  check_has(completed.out, "--policy");
  CHECK(desk.kernelsearch({"completion", "zsh"}).code == 0);
  CHECK(desk.kernelsearch({"completion", "fish"}).code == 0);
  CHECK(desk.kernelsearch({"completion", "tcsh"}).code == 2);
}

TEST_CASE("command: convert and inspect a recording") {
  const Desk desk;
  write_text(desk.path() / "saxpy_gpu.json",
             R"({"device_name": "Some GPU", "kernel_name": "saxpy", "problem_size": [64],
"tune_params_keys": ["A", "B"], "tune_params": {"A": [1, 2], "B": [1, 2, 3]}, "objective": "time", "cache": {
"1,1": {"A": 1, "B": 1, "time": 2.0, "times": [2.0], "compile_time": 1000, "verification_time": 0, "benchmark_time": 2600},
"2,1": {"A": 2, "B": 1, "time": 1.0, "times": [1.0], "compile_time": 1000, "verification_time": 0, "benchmark_time": 1},
"2,3": {"A": 2, "B": 3, "time": "RuntimeFailedConfig", "compile_time": 1000, "verification_time": 0, "benchmark_time": 1},
"2,2": {"A": 2, "B": 2, "ti)");
  Ran ran = desk.kernelsearch({"inspect", "saxpy_gpu.json"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  for (const char* words : {"Some GPU", "[64]", "6 combinations, 3 recorded", "ok 2", "launch_failed 1",
                            "1.000 ms at A=2 B=1", "cut in the middle"})
    check_has(ran.out, words);
  ran = desk.kernelsearch({"inspect", "saxpy_gpu.json", "--json"});
  const auto json = ran.json();
  REQUIRE(json.is_object());
  CHECK(json["best"]["settings"] == nlohmann::json{{"A", 2}, {"B", 1}});
  CHECK(json["best"]["seconds"] == 0.001);
  CHECK(json["verdicts"] == nlohmann::json{{"ok", 2}, {"launch_failed", 1}});
  CHECK(json["recorded_seconds"]["build"] == 3.0);
  CHECK(json["notes"].size() == 1);

  // From one format to the next and back, without --to and with it.
  std::string from = "saxpy_gpu.json";
  for (const std::string to : {"a.t4.json", "b.csv.gz", "c.jsonl", "d.json.gz"}) {
    CAPTURE(to);
    ran = desk.kernelsearch({"convert", from, to});
    CHECK_MESSAGE(ran.code == 0, ran.err);
    check_has(ran.err, "3 configurations of saxpy");
    const auto again = desk.kernelsearch({"inspect", to, "--json"}).json();
    REQUIRE(again.is_object());
    for (const char* field : {"best", "verdicts", "median_seconds", "kernel", "recorded"})
      CHECK(again[field] == json[field]);
    from = to;
  }
  CHECK(desk.kernelsearch({"convert", "c.jsonl", "e.txt", "--to", "t4"}).code == 0);
  check_has(read_text(desk.path() / "e.txt"), "\"schema_version\": \"1.0.0\"");
  ran = desk.kernelsearch({"convert", "c.jsonl", "e.txt"});
  CHECK(ran.code == 3);
  check_has(ran.err, "give --to");
  CHECK(desk.kernelsearch({"convert", "absent.json", "x.json"}).code == 3);
  CHECK(desk.kernelsearch({"inspect", "absent.json"}).code == 3);
  // A declared space that is asked for decides which records count.
  write_text(desk.path() / "space.json", small_t1);
  ran = desk.kernelsearch({"inspect", "saxpy_gpu.json", "--space", "space.json", "--json"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.json()["recorded"] == 3);
}
