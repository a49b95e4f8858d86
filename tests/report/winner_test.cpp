// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/report/winner.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "kernelsearch/judge/translation_unit.hpp"
#include "kernelsearch/problem/tunable_text.hpp"
#include "support/stored_run.hpp"

using namespace kernelsearch;

namespace {

std::string read(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

bool compiles(const std::filesystem::path& file) {
  return std::system(("c++ -std=c++20 -Wall -Werror -fsyntax-only -x c++ '" + file.string() + "'").c_str()) ==
         0;
}

}  // namespace

TEST_CASE("write_winner: ready-to-use source, settings and record") {
  StoredRun stored;
  stored.store.end_run(stored.run, "4 trials", 4.0);
  const WinnerFiles files =
      write_winner(stored.store, stored.run, stored.problem, stored.folder / "deep/out");
  CHECK(files.source.filename() == "axpy_2_best.cpp");
  CHECK(files.settings.filename() == "axpy_2_settings.hpp");
  CHECK(files.record.filename() == "axpy_2_best.json");
  CHECK(compiles(files.source));
  const auto user = stored.folder / "user.cpp";
  const std::string include = "#include \"" + files.settings.string() + "\"\n";
  std::ofstream(user) << "#define KERNELSEARCH_SETTINGS_AS_CONSTANTS\n"
                      << include
                      << "static_assert(axpy_2_settings::TILE == 8);\n#ifdef TILE\n#error both\n#endif\n";
  CHECK(compiles(user));
  // As the kernel has them: a condition of the preprocessor must not take the wrong branch in silence.
  std::ofstream(user) << include
                      << "#if TILE != 8 || !FAST || ORDER_1 != 1\n#error the wrong branch\n#endif\n"
                         "#include <cstdint>\nint order[] = ORDER;\n"
                      << stored.problem.kernel.regions.macros << stored.problem.kernel.regions.device;
  CHECK(compiles(user));
  std::ofstream(user) << "#define FAST 0\n" << include;
  CHECK_FALSE(compiles(user));

  const std::string source = read(files.source);
  CHECK(source.starts_with("// axpy 2: the best of 4 trials"));
  CHECK(source.find("speedup    4.00x (3.90 to 4.10)") != std::string::npos);
  CHECK(source.find("device     some cpu x\n") != std::string::npos);
  CHECK(source.find("built with g++ -O3 -DT=8\n") != std::string::npos);
  CHECK(source.find("#define TILE 8\n") != std::string::npos);
  CHECK(source.find("#define FAST 1\n") != std::string::npos);
  CHECK(source.find("#define ORDER {0, 1}\n#define ORDER_0 0\n#define ORDER_1 1\n") != std::string::npos);
  CHECK(source.find("#define ONE 1") < source.find("extern \"C\" void axpy"));
  CHECK(source.find("// host") > source.find("extern \"C\" void axpy"));

  const std::string settings = read(files.settings);
  CHECK(settings.find("namespace axpy_2_settings {") != std::string::npos);
  CHECK(settings.find("inline constexpr long long TILE = 8;") != std::string::npos);
  CHECK(settings.find("inline constexpr bool FAST = true;") != std::string::npos);
  CHECK(settings.find("inline constexpr std::array<long long, 2> ORDER = {0, 1};") != std::string::npos);

  const auto record = nlohmann::json::parse(read(files.record));
  CHECK(record["settings"]["TILE"] == 8);
  CHECK(record["seconds"] == 1e-3);
  CHECK(record["speedup"]["ratio"] == 4.0);
  CHECK(record["speedup"]["interval"] == nlohmann::json::array({3.9, 4.1}));
  CHECK(record["speedup"]["pairs"] == 30);
  CHECK(record["device"] == "some cpu\nx");
  CHECK(record["toolchain"] == "g++ 12.2");
  CHECK(record["compiler"] == "g++");
  CHECK(record["flags"] == nlohmann::json::array({"-O3", "-DT=8"}));
  CHECK(record["shapes"][1]["variables"]["n"] == 4096);
  CHECK(record["shapes"][1]["median_seconds"] == 2e-3);
  CHECK(record["run"]["seed"] == 42);
  CHECK(record["run"]["options"]["budget"] == "4");
  CHECK(record["run"]["id"] == 1);
  CHECK(record["run"]["trial"] == 1);
  CHECK(record["run"]["verdicts"]["build_failed"] == 1);
  CHECK(record["run"]["verdicts"]["ok"] == 2);
  CHECK(record["environment"]["governor"] == "performance");
  CHECK(record["kernel_digest"].get<std::string>().size() == 64);
}

TEST_CASE(
    "write_winner: the printed line compiles as the evaluator did: a bool, an order, two words in a flag") {
  StoredRun stored;
  stored.store.end_run(stored.run, "4 trials", 4.0);
  Problem& problem = stored.problem;
  problem.build.flags = {"-O2 -Wall", "--param=max-completely-peel-times=${FAST}", "-DPLACES=${ORDER}"};
  const WinnerFiles files = write_winner(stored.store, stored.run, problem, stored.folder / "out");
  const auto record = nlohmann::json::parse(read(files.record));
  CHECK(record["flags"] ==
        nlohmann::json::array({"-O2", "-Wall", "--param=max-completely-peel-times=1", "-DPLACES={0,1}"}));
  const std::string source = read(files.source), before = "built with ";
  const std::size_t begin = source.find(before);
  REQUIRE(begin != std::string::npos);
  const std::string line =
      source.substr(begin + before.size(), source.find('\n', begin) - begin - before.size());
  std::ofstream(files.source, std::ios::app)
      << "int places[] = PLACES;\nstatic_assert(sizeof places == 8);\n";
  CHECK(std::system(
            (line + " -c -o '" + (stored.folder / "out/o").string() + "' '" + files.source.string() + "'")
                .c_str()) == 0);
}

TEST_CASE("write_winner: of a build command a script that makes the object file again, anywhere") {
  StoredRun stored;
  stored.store.end_run(stored.run, "4 trials", 4.0);
  Problem& problem = stored.problem;
  problem.names.device = "src/it's.c";
  problem.build.command = {"sh", "tools/build.sh", "${SOURCE}", "${LIBRARY}",
                           "${NAME} ${TILE} ${FAST} $x '\"${ORDER}"};
  problem.build.files = {
      {"tools/build.sh", "{ pwd; cat \"$1\" data.txt; printf '%s\\n' \"$3\"; } > \"$2\"\n"},
      {"data.txt", "data\n"}};
  const WinnerFiles files = write_winner(stored.store, stored.run, problem, stored.folder / "a b");
  CHECK(files.source.filename() == "axpy_2_best.c");
  CHECK(files.script.filename() == "axpy_2_best.sh");
  const std::string source = read(files.source);
  CHECK(source == winner_source(stored.store, stored.run, problem));
  CHECK(source.find("#define TILE") == std::string::npos);
  CHECK(source.find("extern \"C\" void axpy") != std::string::npos);
  const std::string script = read(files.script);
  CHECK(script.starts_with("#!/bin/sh\n# axpy 2: the best of 4 trials"));
  CHECK(script.find("#   built with sh tools/build.sh ${SOURCE} ${LIBRARY} axpy 8 1") != std::string::npos);
  std::filesystem::remove_all(stored.folder / "elsewhere");
  std::filesystem::rename(stored.folder / "a b", stored.folder / "elsewhere");
  const std::string in_folder = "cd '" + stored.folder.path().string() + "' && sh ";
  REQUIRE(std::system((in_folder + "elsewhere/axpy_2_best.sh").c_str()) == 0);
  const std::string made = read(stored.folder / "elsewhere/axpy_2_best.o");
  CHECK(made.find(source + "data\naxpy 8 1 $x '\"{0, 1}\n") != std::string::npos);
  CHECK(made.find("elsewhere") == std::string::npos);  // it ran in a folder of its own
  REQUIRE(std::system((in_folder + "elsewhere/axpy_2_best.sh other.o").c_str()) == 0);
  CHECK(read(stored.folder / "other.o").size() > source.size());
  const auto record = nlohmann::json::parse(read(stored.folder / "elsewhere/axpy_2_best.json"));
  CHECK(record["command"][4] == "axpy 8 1 $x '\"{0, 1}");
}

TEST_CASE(
    "write_winner: the script of device code takes the architecture and the folders from its environment") {
  StoredRun stored;
  stored.store.end_run(stored.run, "4 trials", 4.0);
  Problem& problem = stored.problem;
  problem.backend = Backend::cuda;
  problem.names.device = "axpy.py";
  problem.build.compiler = "nvrtc";
  problem.build.command = {"sh",          "-c",         "echo \"$2 $3 $4\" > \"$1\"; echo {} > \"$1.json\"",
                           "sh",          "${LIBRARY}", "for-${ARCH}",
                           "${READABLE}", "${TILE}"};
  const std::filesystem::path folder = stored.folder.path() / "device";
  const WinnerFiles files = write_winner(stored.store, stored.run, problem, folder);
  CHECK(files.source.filename() == "axpy_2_best.py");
  const std::string script = "sh '" + files.script.string() + "'";
  CHECK(std::system((script + " 2> /dev/null").c_str()) != 0);  // no architecture is right for all
  REQUIRE(std::system(("ARCH=sm_90a READABLE='/opt/a b:/c' " + script).c_str()) == 0);
  CHECK(read(folder / "axpy_2_best.bin") == "for-sm_90a /opt/a b:/c 8\n");
  CHECK(std::filesystem::exists(folder / "axpy_2_best.bin.json"));
  CHECK_FALSE(std::filesystem::exists(folder / "axpy_2_best.o"));
  const auto record = nlohmann::json::parse(read(files.record));
  CHECK_FALSE(record.contains("compiler"));
  CHECK(record["command"][5] == "for-${ARCH}");
}

TEST_CASE("write_winner: the script of a build command names what it makes by what that is") {
  StoredRun stored;
  stored.store.end_run(stored.run, "4 trials", 4.0);
  Problem& problem = stored.problem;
  problem.build.command = {"sh", "-c", "", "sh", "${LIBRARY}"};
  const std::string object = "echo 'void f(void) {}' | gcc -fPIC -x c - ";
  const std::pair<std::string, std::string> made[] = {
      {object + "-c -o \"$1\"", ".o"},
      {object + "-shared -o \"$1\"", ".so"},
      {object + "-c -o f.o && ar rc f.a f.o && cp f.a \"$1\"", ".a"}};
  for (const auto& [shell, suffix] : made) {
    const std::string& command = shell;  // no structured binding: clang 14 captures none
    CAPTURE(command);
    problem.build.command[2] = command;
    const std::filesystem::path folder = stored.folder.path() / ("made" + suffix);
    const WinnerFiles files = write_winner(stored.store, stored.run, problem, folder);
    REQUIRE(std::system(("sh '" + files.script.string() + "'").c_str()) == 0);
    for (const char* other : {".o", ".so", ".a"})
      CHECK(std::filesystem::exists(folder / (std::string("axpy_2_best") + other)) == (suffix == other));
    // A name that is given is kept.
    REQUIRE(std::system(
                ("sh '" + files.script.string() + "' '" + (folder / "mine").string() + "'").c_str()) == 0);
    CHECK(std::filesystem::exists(folder / "mine"));
  }
}

TEST_CASE("write_winner: a shader keeps the ending of its language") {
  StoredRun stored;
  stored.store.end_run(stored.run, "4 trials", 4.0);
  stored.problem.backend = Backend::vulkan;
  CHECK(write_winner(stored.store, stored.run, stored.problem, stored.folder / "glsl").source.filename() ==
        "axpy_2_best.comp");
  stored.problem.names.device = "kernel.hlsl";
  CHECK(write_winner(stored.store, stored.run, stored.problem, stored.folder / "hlsl").source.filename() ==
        "axpy_2_best.hlsl");
  // In GLSL nothing but comments may stand before the version, and C++'s headers in no shader.
  CHECK(read(stored.folder / "glsl/axpy_2_best.comp").starts_with("#version 450\n// axpy 2: the best"));
  CHECK(read(stored.folder / "hlsl/axpy_2_best.hlsl").starts_with("// axpy 2: the best"));
  for (const char* file : {"glsl/axpy_2_best.comp", "hlsl/axpy_2_best.hlsl"}) {
    CHECK(read(stored.folder / file).find("<cstdint>") == std::string::npos);
    CHECK(read(stored.folder / file).find("#define TILE 8\n") != std::string::npos);
  }
}

TEST_CASE("write_winner: of an external program the kernel's text as it is, and where times come from") {
  StoredRun stored;
  stored.store.end_run(stored.run, "4 trials", 4.0);
  stored.problem.names.device = "src/kernel.py";
  stored.problem.external.emplace();
  stored.problem.external->command = {"python3", "${FILES}/evaluator.py"};
  const WinnerFiles files =
      write_winner(stored.store, stored.run, stored.problem, stored.folder / "external");
  CHECK(files.source.filename() == "axpy_2_best.py");
  CHECK(files.script.empty());
  CHECK(read(files.source).find("#define TILE") == std::string::npos);
  auto record = nlohmann::json::parse(read(files.record));
  CHECK(record["command"] == nlohmann::json::array({"python3", "${FILES}/evaluator.py"}));
  CHECK(record["time"] == "slope");
  CHECK_FALSE(record.contains("flags"));
  stored.problem.external->clock = ExternalClock::claimed;
  record = nlohmann::json::parse(winner_record(stored.store, stored.run, stored.problem));
  CHECK(record["time"] == "claimed");
}

TEST_CASE("write_winner: links that lie in the folder are not followed") {
  StoredRun stored;
  const auto out = stored.folder / "out";
  std::filesystem::create_directories(out);
  std::ofstream(stored.folder / "precious") << "mine";
  for (const char* name : {"axpy_2_best.cpp", "axpy_2_settings.hpp", "axpy_2_best.json"})
    std::filesystem::create_symlink(stored.folder / "precious", out / name);
  const WinnerFiles files = write_winner(stored.store, stored.run, stored.problem, out);
  CHECK(read(stored.folder / "precious") == "mine");
  CHECK(read(files.source).starts_with("// axpy 2"));
  // The folder of a build command's files may be a link as well.
  Problem problem = stored.problem;
  problem.build.command = {"sh", "build.sh", "${SOURCE}", "${LIBRARY}"};
  problem.build.files = {{"build.sh", "exit 1\n"}};
  std::filesystem::create_directories(stored.folder / "elsewhere");
  std::filesystem::create_directory_symlink(stored.folder / "elsewhere", out / "axpy_2_build");
  CHECK_THROWS_WITH_AS(write_winner(stored.store, stored.run, problem, out), doctest::Contains("outside of"),
                       ConfigError);
  CHECK(std::filesystem::is_empty(stored.folder / "elsewhere"));
}

TEST_CASE("write_winner: no winner, no kernel, no folder") {
  StoredRun stored;
  const RunId empty = stored.store.begin_run({.name = "empty"});
  CHECK_THROWS_WITH_AS(write_winner(stored.store, empty, stored.problem, stored.folder.path()),
                       doctest::Contains("no winner"), ConfigError);
  StoredTrial number;
  number.point = "1";
  number.candidate = StoredCandidate{"", "1", "1"};
  number.outcome.objective = 1.0;
  stored.store.add_trial(empty, {}, number);
  CHECK_THROWS_WITH_AS(write_winner(stored.store, empty, stored.problem, stored.folder.path()),
                       doctest::Contains("code is not in the store"), ConfigError);
  CHECK_THROWS_AS(write_winner(stored.store, stored.run, stored.problem, "/proc/none"), ConfigError);
}

TEST_CASE("best_settings: each timed shape has the settings that were fastest on it") {
  StoredRun stored;
  const auto settings = best_settings(stored.store, stored.run, stored.problem);
  REQUIRE(settings.size() == 2);
  CHECK(settings[0].problem == "axpy 2");
  CHECK(settings[0].device == "some cpu\nx");
  CHECK(settings[0].shape == std::vector<NamedValue>{{"n", std::int64_t{64}}});
  CHECK(settings[0].integer("TILE") == 4);
  CHECK(settings[0].seconds == 1e-6);
  CHECK(settings[0].speedup == 3.0);
  CHECK(settings[1].integer("TILE") == 8);
  CHECK(settings[1].shape == std::vector<NamedValue>{{"n", std::int64_t{4096}}});
  CHECK(settings[1].speedup_interval == Interval{4.0, 6.0});
  CHECK(settings[1].order("ORDER") == Permutation{0, 1});
}

TEST_CASE("best_settings: of one timed shape they are the winner's, not those of the lowest time") {
  StoredRun stored;
  stored.problem.shapes = {{"large", {{"n", std::int64_t{4096}}}, 1.0}};
  stored.store.set_finalists(stored.run, {TrialId{0}, 4, false, {}});
  const auto settings = best_settings(stored.store, stored.run, stored.problem);
  REQUIRE(settings.size() == 1);
  CHECK(settings[0].source.find("trial 0") != std::string::npos);
}

namespace {

/// What the comment at the top of a winner's source says that it was built with.
std::string printed_line(const std::string& source) {
  const std::string mark = "built with ";
  const std::size_t at = source.find(mark) + mark.size();
  return source.substr(at, source.find('\n', at) - at);
}

bool has_program(const char* name) {
  return std::system((std::string("command -v ") + name + " > /dev/null").c_str()) == 0;
}

/// Whether the shell compiles a kernel of this text by that line.
bool compiles_by(const StoredRun& stored, const std::string& line, const std::string& extension,
                 const std::string& text) {
  const std::string source = (stored.folder / "kernel").string() + extension;
  std::ofstream(source) << text;
  return std::system((line + " -c " + source + " -o " + source + ".o").c_str()) == 0;
}

}  // namespace

TEST_CASE(
    "winner: the printed line is the judge's, and compiles: booleans, lists, flags of two words, libraries") {
  StoredRun stored;
  stored.store.end_run(stored.run, "4 trials", 4.0);
  Problem& problem = stored.problem;
  const std::string text =
      "static_assert(BOTH == 1 && PEEL == 1, \"\");\nint order[] = ORDER_LIST;\nstatic_assert(sizeof order "
      "== "
      "2 * sizeof(int), \"\");\nint twice(int n) { int s = 0; for (int i = 0; i < n; ++i) s += i; return s; "
      "}\n";
  const std::vector<std::string> flags{"-O2 -DBOTH=${FAST}", "-DPEEL=${FAST}", "-DORDER_LIST=${ORDER}", ""};
  const Candidate winner{stored.kernel, {{1, 1, 0}}};
  const auto line_of = [&] { return printed_line(winner_source(stored.store, stored.run, problem)); };

  problem.build = {"g++", flags};
  problem.build.flags.push_back("--param=max-completely-peel-times=${FAST}");
  problem.build.libraries = {"m"};
  const std::string line = line_of();
  CHECK(line.starts_with("g++ -O2 -DBOTH=1 -DPEEL=1 "));
  CHECK(line.ends_with(" --param=max-completely-peel-times=1 -lm"));
  CHECK(compiles_by(stored, line, ".cpp", text));
  const auto record = nlohmann::json::parse(winner_record(stored.store, stored.run, problem));
  std::vector<std::string> recorded{record["compiler"]};
  for (const auto& flag : record["flags"]) recorded.push_back(flag);
  for (const auto& library : record["libraries"]) recorded.push_back("-l" + library.get<std::string>());
  CHECK(recorded == compile_command(problem, winner));  // which the judge compiles by

  for (const char* compiler : {"clang++", "nvcc"}) {
    CAPTURE(compiler);
    const bool cuda = compiler == std::string("nvcc");
    problem.backend = cuda ? Backend::cuda : Backend::host;
    problem.build = {compiler, flags};
    if (cuda)
      problem.build.flags[2] = "-DORDER_LIST={1}";  // nvcc takes what is behind a comma for another one
    CHECK(line_of().starts_with(std::string(compiler) + " -O2 -DBOTH=1 "));
    if (!has_program(compiler)) continue;
    CHECK(compiles_by(stored, line_of(), cuda ? ".cu" : ".cpp",
                      cuda ? "int order[] = ORDER_LIST;\nstatic_assert(BOTH == 1 && PEEL == 1);\n" : text));
  }
  // By the driver, whose words clang's own reader of OpenCL C takes too.
  problem.backend = Backend::opencl;
  problem.build = {"", {"-cl-std=CL1.2 -DBOTH=${FAST}", "-DPEEL=${FAST}", "-DORDER_LIST=${ORDER}"}};
  const std::string driver = line_of();
  REQUIRE(driver.starts_with("the driver -cl-std=CL1.2 -DBOTH=1 -DPEEL=1 "));
  if (has_program("clang"))
    CHECK(compiles_by(
        stored, "clang -x cl -emit-llvm" + driver.substr(std::string("the driver").size()), ".cl",
        "kernel void f(global int* x) { int order[] = ORDER_LIST; x[0] = order[BOTH] + PEEL; }\n"));
  for (const auto& [backend, compiler] :
       {std::pair{Backend::hip, "hiprtc"}, std::pair{Backend::vulkan, "glslang"}}) {
    problem.backend = backend;
    problem.names.device = backend == Backend::vulkan ? "kernel.comp" : "";
    problem.build = {compiler, {"-DBOTH=${FAST}"}};
    CHECK(line_of() == std::string(compiler) + " -DBOTH=1");
  }
}
