// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/run_lock.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "support/temporary_folder.hpp"

using namespace kernelsearch;

TEST_CASE("RunLock: says which process works on a run while it does") {
  const TemporaryFolder folder;
  const auto store = folder / "runs.db";
  CHECK_FALSE(RunLock::holder(store, RunId{3}).has_value());
  {
    const RunLock lock(store, RunId{3});
    CHECK(RunLock::holder(store, RunId{3}) == getpid());
    CHECK_FALSE(RunLock::holder(store, RunId{4}).has_value());
    {
      const RunLock second(store, RunId{3});  // leaves the first as it is
    }
    CHECK(RunLock::holder(store, RunId{3}) == getpid());
  }
  CHECK_FALSE(RunLock::holder(store, RunId{3}).has_value());
}

TEST_CASE("RunLock: a link that lies where the lock would be is not written through") {
  const TemporaryFolder folder;
  folder.write("precious", "a text of some length");
  folder.write("runs.db.working/3", "");
  std::filesystem::remove(folder / "runs.db.working/3");
  std::filesystem::create_symlink(folder / "precious", folder / "runs.db.working/3");
  { const RunLock lock(folder / "runs.db", RunId{3}); }
  CHECK(std::filesystem::file_size(folder / "precious") == 21);
}

TEST_CASE("RunLock: a process that was killed works on nothing") {
  const TemporaryFolder folder;
  const auto store = folder / "runs.db";
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const RunLock lock(store, RunId{1});
    (void)!write(ready[1], "x", 1);
    pause();
  }
  char byte = 0;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  CHECK(RunLock::holder(store, RunId{1}) == child);
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK_FALSE(RunLock::holder(store, RunId{1}).has_value());
  close(ready[0]);
  close(ready[1]);
}
