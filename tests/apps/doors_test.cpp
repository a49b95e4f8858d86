// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <doctest/doctest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <string>

#include "apps/command.hpp"
#include "support/check_has.hpp"

// What others hand us cannot harm: each case is an attack that once worked (docs/security.md).

using namespace kernelsearch_test;

namespace {

namespace fs = std::filesystem;

/// A small problem in `mine`, called `name`.
void put_problem(const Desk& desk, const std::string& name) {
  if (!fs::exists(desk.path() / "mine")) REQUIRE(desk.kernelsearch({"new", "mine"}).code == 0);
  auto problem = nlohmann::json::parse(read_text(desk.path() / "mine/problem.json"), nullptr, true, true);
  one_small_shape(problem);
  problem["name"] = name;
  write_text(desk.path() / "mine/problem.json", problem.dump());
}

Ran tuned(const Desk& desk, const std::vector<std::string>& more = {}) {
  // one trial, so that no finalists are compared: what is looked at are files
  std::vector<std::string> line{"tune", "mine",      "--policy", "random", "--budget",
                                "1",    "--samples", "5",        "-q"};
  line.insert(line.end(), more.begin(), more.end());
  if (std::find(more.begin(), more.end(), "--store") == more.end())
    line.insert(line.end(), {"--store", "runs.db"});
  return desk.kernelsearch(line);
}

/// Runs SQL on the store, as whoever made it could have.
void crafted(const Desk& desk, const std::string& sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open((desk.path() / "runs.db").c_str(), &database) == SQLITE_OK);
  char* error = nullptr;
  CHECK_MESSAGE(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &error) == SQLITE_OK, error);
  sqlite3_close(database);
}

/// Whether a terminal that shows the text would obey it: escapes, other controls, turned writing.
bool commands(const std::string& text) {
  for (const char c : text)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r') || c == 0x7f)
      return true;
  for (const char* turned : {"\xe2\x80\xae", "\xe2\x81\xa6", "\xc2\x9b"})
    if (text.find(turned) != std::string::npos) return true;
  return false;
}

mode_t permissions(const fs::path& path) {
  struct stat about {};
  REQUIRE_MESSAGE(lstat(path.c_str(), &about) == 0, path.string());
  return about.st_mode & 0777;
}

}  // namespace

TEST_CASE("doors: no name of a problem writes outside of --out, or of the current folder") {
  const Desk desk;
  fs::create_directories(desk.path() / "in");
  put_problem(desk, "../escaped");
  Ran ran = tuned(desk, {"--out", "in/out"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  // Before: in/escaped_table.jsonl, beside the folder that was asked for.
  CHECK_FALSE(fs::exists(desk.path() / "in/escaped_table.jsonl"));
  CHECK(fs::exists(desk.path() / "in/out/_._escaped_table.jsonl"));
  // Without --out: before, ../escaped_tuned.
  ran = tuned(desk);
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  CHECK_FALSE(fs::exists(desk.path().parent_path() / "escaped_tuned"));
  CHECK(fs::exists(desk.path() / "_._escaped_tuned/_._escaped_table.jsonl"));
  put_problem(desk, (desk.path() / "absolute").string());
  ran = tuned(desk, {"--out", "in/out"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  CHECK_FALSE(fs::exists(desk.path() / "absolute_table.jsonl"));
  // The same through a store: its row decides the folder of a resumed run.
  put_problem(desk, "plain");
  ran = tuned(desk);
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  crafted(desk, "UPDATE runs SET problem = '../moved'");
  (void)desk.kernelsearch({"tune", "--resume", "latest", "--budget", "2", "--store", "runs.db", "-q"});
  CHECK_FALSE(fs::exists(desk.path().parent_path() / "moved_tuned"));
}

TEST_CASE("doors: links that lie in --out, or where it would be made, are not followed") {
  const Desk desk;
  put_problem(desk, "plain");
  write_text(desk.path() / "precious", "mine");
  fs::create_directories(desk.path() / "out");
  for (const char* name : {"plain_best.cpp", "plain_settings.hpp", "plain_best.json", "plain_table.jsonl"})
    fs::create_symlink(desk.path() / "precious", desk.path() / "out" / name);
  Ran ran = tuned(desk, {"--out", "out"});
  CHECK(read_text(desk.path() / "precious") == "mine");
  CHECK(ran.code == 3);  // the table is added to, never replaced, so its link is said
  check_has(ran.err, "plain_table.jsonl");
  CHECK_FALSE(fs::is_symlink(desk.path() / "out/plain_best.cpp"));

  fs::create_directories(desk.path() / "elsewhere");
  fs::create_directory_symlink(desk.path() / "elsewhere", desk.path() / "plain_tuned");
  ran = tuned(desk);
  CHECK(ran.code == 3);
  check_has(ran.err, "is a link");
  CHECK(fs::is_empty(desk.path() / "elsewhere"));

  fs::create_directory_symlink(desk.path() / "elsewhere", desk.path() / "mark_bench");
  ran = desk.kernelsearch({"bench", "mine", "--name", "mark", "--policy", "random", "--budget", "1",
                           "--samples", "5", "--store", "runs.db", "-q"});
  CHECK(ran.code == 3);
  check_has(ran.err, "is a link");
  CHECK(fs::is_empty(desk.path() / "elsewhere"));

  fs::create_directories(desk.path() / "shown");
  for (const char* name : {"index.html", "harness", "winners/mine"}) {
    CAPTURE(name);
    fs::create_directories((desk.path() / "shown" / name).parent_path());
    fs::create_directory_symlink(desk.path() / "elsewhere", desk.path() / "shown" / name);
    ran = desk.kernelsearch({"bench", "mine", "--policy", "random", "--budget", "1", "--samples", "5",
                             "--store", "runs.db", "--out", "shown", "-q"});
    CHECK(ran.code != 0);
    check_has(ran.out + ran.err, "is a link");
    CHECK(fs::is_empty(desk.path() / "elsewhere"));
    fs::remove_all(desk.path() / "shown");
  }

  fs::create_symlink(desk.path() / "precious", desk.path() / "run_1.html");
  ran = desk.kernelsearch({"report", "1", "--store", "runs.db"});
  CHECK(ran.code == 3);
  check_has(ran.err, "is a link");
  CHECK(read_text(desk.path() / "precious") == "mine");

  fs::create_directories(desk.path() / "maker");
  write_text(
      desk.path() / "maker/make_problem.json",
      R"({"schema": 1, "name": "made", "command": ["touch", "${FOLDER}/ran", "${OUT}/problem.json"]})");
  fs::create_directory_symlink(desk.path() / "elsewhere", desk.path() / "made_problem");
  ran =
      desk.kernelsearch({"tune", "maker", "--policy", "random", "--budget", "1", "--store", "runs.db", "-q"});
  CHECK(ran.code == 3);
  check_has(ran.err, "is a link");
  CHECK_FALSE(fs::exists(desk.path() / "maker/ran"));
  CHECK(fs::is_empty(desk.path() / "elsewhere"));
}

TEST_CASE("doors: a pipe in a folder of others is not waited for") {
  const Desk desk;
  REQUIRE(mkfifo((desk.path() / "pipe.py").c_str(), 0600) == 0);
  const Ran ran = desk.kernelsearch({"check", "pipe.py"});
  CHECK(ran.code == 3);
  check_has(ran.err, "no such file");
}

TEST_CASE("doors: nothing that the command prints commands a terminal") {
  const Desk desk;
  const std::string evil =
      "\x1b]0;owned\x07\xe2\x80\xaetxt.exe\xc2\x9b"
      "2J\x7f";
  put_problem(desk, evil);
  Ran ran = desk.kernelsearch({"check", "mine", "--static"});
  CHECK(ran.code == 0);
  CHECK_FALSE(commands(ran.out));
  check_has(ran.out, "txt.exe");
  ran = tuned(desk, {"--out", "out"});
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  CHECK_FALSE(commands(ran.out + ran.err));
  const std::string text = "char(27) || '[2J' || char(8238) || 'x' || char(155) || char(127)";
  crafted(desk, "UPDATE runs SET name = " + text + ", device = " + text + ", toolchain = " + text +
                    ", policy = " + text + "; UPDATE trials SET reason = " + text + ", provenance = " + text +
                    ", rationale = " + text + ", config_key = " + text);
  const std::vector<std::vector<std::string>> commands_of_stores{
      {"runs"},
      {"runs", "--json"},
      {"show", "latest"},
      {"show", "latest", "--json"},
      {"show", "latest", "--trial", "0"},
      {"show", "latest", "--failed"},
      {"best", "latest"},
      {"best", "latest", "--json"},
      {"best", "latest", "--settings"},
      {"export", "latest", "--format", "csv"},
      {"export", "latest", "--format", "jsonl"},
      {"export", "latest", "--format", "t4"},
      {"export", "latest", "--format", "t4-metadata"},
      {"export", "latest", "--format", "cachefile"},
      {"export", "latest", "--format", "dot"},
      {"plan", "export", "latest"}};
  for (std::vector<std::string> line : commands_of_stores) {
    line.insert(line.end(), {"--store", "runs.db"});
    CAPTURE(line[0]);
    CAPTURE(line.size() > 3 ? line[3] : line[1]);
    ran = desk.kernelsearch(line);
    CHECK_FALSE(commands(ran.out));
    CHECK_FALSE(commands(ran.err));
  }
  // Of JSON a program still gets every character.
  const auto rows = desk.kernelsearch({"runs", "--json", "--store", "runs.db"}).json();
  CHECK(rows[0]["name"] == "\x1b[2J\xe2\x80\xaex\xc2\x9b\x7f");
  ran = desk.kernelsearch({"tune", evil});
  CHECK(ran.code == 3);
  CHECK_FALSE(commands(ran.err));
}

TEST_CASE("doors: check --static says what a problem of others would run and read, and runs nothing") {
  const Desk desk;
  put_problem(desk, "plain");
  auto problem = nlohmann::json::parse(read_text(desk.path() / "mine/problem.json"));
  const std::string owned = (desk.path() / "owned").string();
  problem["build"] = {{"command", {"sh", "-c", "touch " + owned, "${LIBRARY}"}},
                      {"identity", nlohmann::json::array({nlohmann::json::array({"cat", "/opt/secret"})})},
                      {"readable", {"/opt/secret"}}};
  problem["reference"] = {{"source", {{"text", "void r() {}"}}}, {"function", "r"}};
  write_text(desk.path() / "mine/problem.json", problem.dump());
  Ran ran = desk.kernelsearch({"check", "mine", "--static"});
  CHECK_MESSAGE(ran.code == 0, ran.err);
  check_has(ran.out, "builds by  'sh' '-c' 'touch " + owned + "'");
  check_has(ran.out, "asks       'cat' '/opt/secret'");
  check_has(ran.out, "reads      /opt/secret");
  const auto asks = desk.kernelsearch({"check", "mine", "--static", "--json"}).json()["asks"];
  CHECK(asks.size() == 3);
  CHECK_FALSE(fs::exists(owned));

  fs::create_directories(desk.path() / "made");
  write_text(desk.path() / "made/make_problem.json",
             nlohmann::json{{"schema", 1}, {"name", "made"}, {"command", {"touch", owned, "${OUT}"}}}.dump());
  ran = desk.kernelsearch({"check", "made", "--static"});
  CHECK(ran.code == 0);
  check_has(ran.out, "makes      'touch'");
  CHECK_FALSE(fs::exists(owned));
}

TEST_CASE("doors: stores and caches are their owner's alone, whatever the umask") {
  const Desk desk;
  put_problem(desk, "plain");
  const mode_t before = umask(0);
  const Ran ran = tuned(desk, {"--store", "deep/runs.db", "--out", "out"});
  umask(before);
  REQUIRE_MESSAGE(ran.code == 0, ran.err);
  CHECK(permissions(desk.path() / "deep/runs.db") == 0600);
  CHECK(permissions(desk.path() / "deep") == 0700);
  CHECK(permissions(desk.path() / "kernelsearch") == 0700);  // the cache: $XDG_CACHE_HOME is the desk
}
