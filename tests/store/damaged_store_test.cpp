// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stores that cannot be used as they are: a clear error, and what is in them stays.
#include <doctest/doctest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "kernelsearch/core/rng.hpp"
#include "kernelsearch/store/run_store.hpp"
#include "support/random_outcome.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

namespace {

namespace fs = std::filesystem;

StoredTrial some_trial(Rng& rng, std::uint64_t id) {
  StoredTrial t;
  t.point = "[1,2]";
  t.outcome = random_outcome::outcome(rng, id);
  return t;
}

/// A closed store with one run of so many trials; everything is in the one file.
RunId written(const fs::path& file, std::uint64_t trials) {
  RunId run{};
  {
    RunStore store(file);
    run = store.begin_run({.name = "first", .problem = "matmul"});
    Rng rng(7);
    for (std::uint64_t id = 0; id < trials; ++id) store.add_trial(run, {}, some_trial(rng, id));
  }
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
  REQUIRE(sqlite3_exec(database, "PRAGMA wal_checkpoint(TRUNCATE)", nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(database);
  return run;
}

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void put_bytes(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

/// What opening and reading everything of the store says; empty where it reads well.
std::string fault_of(const fs::path& file) {
  try {
    RunStore store(file, {.busy_seconds = 0.1});
    for (const RunRow& row : store.runs({})) {
      (void)store.trials(row.id);
      (void)store.best_trial(row.id);
    }
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

/// Runs `body` in a child, which ends with what it returns; so limits and users of this process stay.
template <class Body>
int in_child(Body body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("a truncated store: an error that names the file, wherever it was cut, and it is not touched") {
  const TemporaryFolder folder;
  const fs::path whole = folder / "whole.db", cut = folder / "cut.db";
  (void)written(whole, 60);
  const std::string bytes = bytes_of(whole);
  REQUIRE(bytes.size() > 40000);
  CHECK(fault_of(whole).empty());
  Rng rng(3);
  int refused = 0;
  for (int round = 0; round < 40; ++round) {
    const std::size_t left = 1 + rng.below(bytes.size() - 1);
    CAPTURE(left);
    put_bytes(cut, bytes.substr(0, left));
    const std::string fault = fault_of(cut);
    // A cut within the last page that is in use can leave all that is asked for.
    if (fault.empty()) continue;
    ++refused;
    CHECK_MESSAGE(fault.find("cut.db") != std::string::npos, fault);
    CHECK(bytes_of(cut) == bytes.substr(0, left));
    for (const char* suffix : {"-wal", "-shm"}) fs::remove(cut.string() + suffix);
  }
  CHECK(refused >= 30);
}

TEST_CASE("a damaged store: reading it says so or gives what is there, and never ends the process") {
  const TemporaryFolder folder;
  const fs::path whole = folder / "whole.db", damaged = folder / "damaged.db";
  (void)written(whole, 60);
  const std::string bytes = bytes_of(whole);
  Rng rng(11);
  int refused = 0;
  for (int round = 0; round < 60; ++round) {
    std::string changed = bytes;
    const std::size_t begin = rng.below(changed.size());
    const std::size_t end = std::min(changed.size(), begin + 1 + rng.below(3000));
    for (std::size_t i = begin; i < end; ++i) changed[i] = static_cast<char>(rng.below(256));
    put_bytes(damaged, changed);
    for (const char* suffix : {"-wal", "-shm"}) fs::remove(damaged.string() + suffix);
    refused += fault_of(damaged).empty() ? 0 : 1;
  }
  CHECK(refused >= 20);
}

TEST_CASE("a store that may only be read: the error says what to check") {
  const TemporaryFolder folder;
  const fs::path file = folder / "runs.db";
  (void)written(file, 3);
  const std::string before = bytes_of(file);
  fs::permissions(file, fs::perms(0444));
  fs::permissions(folder.path(), fs::perms(0555));
  const int code = in_child([&] {
    constexpr unsigned nobody = 65534;
    if (geteuid() == 0 && setuid(nobody) != 0) return 9;  // what may be written does not bind root
    try {
      RunStore store(file, {.busy_seconds = 0.1});
      (void)store.begin_run({.name = "second", .problem = "matmul"});
    } catch (const StoreError& error) {
      const std::string text = error.what();
      return text.find("runs.db") != std::string::npos && text.find("can be written") != std::string::npos
                 ? 0
                 : 2;
    }
    return 1;
  });
  fs::permissions(folder.path(), fs::perms(0755));
  CHECK(code == 0);
  CHECK(bytes_of(file) == before);
}

TEST_CASE(
    "a store that may only be read: is read as it is, whoever may not write beside it, and stays as it was") {
  const TemporaryFolder folder;
  const fs::path file = folder / "50% #1?.db";
  const RunId run = written(file, 3);
  // As a migrating command would find it: a store of the first version, too.
  const std::string before = bytes_of(file);
  fs::permissions(file, fs::perms(0444));
  fs::permissions(folder.path(), fs::perms(0555));
  const int code = in_child([&] {
    constexpr unsigned nobody = 65534;
    if (geteuid() == 0 && setuid(nobody) != 0) return 9;
    try {
      RunStore store(file, {.busy_seconds = 0.1, .only_read = true});
      if (store.trials(run).size() != 3 || store.runs().size() != 1) return 2;
      try {
        (void)store.begin_run({.name = "second"});
        return 3;
      } catch (const StoreError&) {
        return 0;
      }
    } catch (const StoreError& error) {
      std::fprintf(stderr, "%s\n", error.what());
      return 1;
    }
  });
  fs::permissions(folder.path(), fs::perms(0755));
  CHECK(code == 0);
  CHECK(bytes_of(file) == before);
  CHECK_FALSE(fs::exists(file.string() + "-wal"));
  CHECK_FALSE(fs::exists(file.string() + "-shm"));
  // Of one that could be written nothing is, either; and none is made.
  RunStore store(file, {.only_read = true});
  CHECK_THROWS_AS((void)store.begin_run({.name = "second"}), StoreError);
  CHECK_THROWS_WITH_AS(RunStore(folder / "absent.db", {.only_read = true}), doctest::Contains("--store"),
                       StoreError);
  CHECK_FALSE(fs::exists(folder / "absent.db"));
}

TEST_CASE("a new store is its owner's alone, and so is the folder that is made for it") {
  const TemporaryFolder folder;
  const mode_t mask = umask(0);
  { RunStore store(folder / "a/b/runs.db"); }
  umask(mask);
  const auto bits = [&](const char* name) {
    return fs::status(folder / name).permissions() & fs::perms::all;
  };
  CHECK(bits("a/b/runs.db") == fs::perms(0600));
  CHECK(bits("a") == fs::perms::owner_all);
  CHECK(bits("a/b") == fs::perms::owner_all);
}

TEST_CASE("a store of others: its views and triggers get no functions with effects") {
  const TemporaryFolder folder;
  const fs::path file = folder / "runs.db";
  (void)written(file, 3);
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
  // load_extension() in a trigger would be code of theirs in the next run that is stored.
  REQUIRE(sqlite3_exec(database,
                       "CREATE TRIGGER t AFTER INSERT ON runs BEGIN SELECT load_extension('/tmp/owned'); END",
                       nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(database);
  RunStore store(file);
  CHECK_THROWS_WITH_AS((void)store.begin_run({.name = "second"}),
                       doctest::Contains("unsafe use of load_extension"), StoreError);
}

TEST_CASE("a locked store: the error says that another process writes") {
  const TemporaryFolder folder;
  const fs::path file = folder / "runs.db";
  const RunId run = written(file, 3);
  sqlite3* other = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &other) == SQLITE_OK);
  REQUIRE(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) == SQLITE_OK);
  RunStore store(file, {.busy_seconds = 0.05});
  Rng rng(1);
  CHECK_THROWS_WITH_AS(store.add_trial(run, {}, some_trial(rng, 9)),
                       doctest::Contains("another process is writing"), StoreError);
  REQUIRE(sqlite3_exec(other, "ROLLBACK", nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(other);
  store.add_trial(run, {}, some_trial(rng, 9));
  CHECK(store.trials(run).size() == 4);
}

TEST_CASE("a full disk: the trial is refused, those before it stay, and writing goes on once there is room") {
  const TemporaryFolder folder;
  const fs::path file = folder / "runs.db";
  const RunId run = written(file, 3);
  const int stored = in_child([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit small{200000, 200000};
    Rng rng(1);
    RunStore store(file, {.busy_seconds = 0.1});
    if (setrlimit(RLIMIT_FSIZE, &small) != 0) return 250;
    int added = 0;
    try {
      for (; added < 200; ++added)
        store.add_trial(run, {}, some_trial(rng, 100 + static_cast<std::uint64_t>(added)));
    } catch (const StoreError& error) {
      return std::string(error.what()).find("what is stored stays") != std::string::npos ? added : 251;
    }
    return 252;
  });
  CAPTURE(stored);
  REQUIRE(stored < 200);
  CHECK(stored > 0);
  RunStore store(file);
  CHECK(store.trials(run).size() == 3 + static_cast<std::size_t>(stored));
  Rng rng(2);
  store.add_trial(run, {}, some_trial(rng, 500));
  CHECK(store.trials(run).size() == 4 + static_cast<std::size_t>(stored));
}
