// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "process/scratch_folder.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "process/process.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

TEST_CASE("ScratchFolder: it is its maker's alone and goes with its owner") {
  std::filesystem::path path;
  {
    const detail::ScratchFolder scratch;
    path = scratch.path();
    CHECK(std::filesystem::status(path).permissions() == std::filesystem::perms::owner_all);
    std::ofstream(path / "file") << "text";
  }
  CHECK(!std::filesystem::exists(path));
}

namespace {

/// A process with a folder that ends without its destructors; what it made.
std::filesystem::path made_and_abandoned() {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const detail::ScratchFolder scratch;
    std::ofstream(scratch.path() / "file") << "text";
    const std::string path = scratch.path().string();
    (void)!write(ends[1], path.data(), path.size());
    ::kill(getpid(), SIGKILL);
  }
  close(ends[1]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  char text[4096];
  const ssize_t size = read(ends[0], text, sizeof text);
  close(ends[0]);
  REQUIRE(size > 0);
  return std::string(text, static_cast<std::size_t>(size));
}

}  // namespace

TEST_CASE("ScratchFolder: those of the killed are removed, those in use and other folders are not") {
  // In a folder of its own, where no other test's processes are.
  const TemporaryFolder place;
  const char* const given = getenv("TMPDIR");
  const std::string before = given == nullptr ? "" : given;
  setenv("TMPDIR", place.path().c_str(), 1);
  const std::filesystem::path first = made_and_abandoned();
  CHECK(std::filesystem::exists(first / "file"));
  std::filesystem::create_directory(place / "kernelsearch-0");
  {
    const detail::ScratchFolder used;
    detail::ScratchFolder::remove_abandoned(place.path());
    CHECK_FALSE(std::filesystem::exists(first));
    CHECK(std::filesystem::exists(used.path()));
    CHECK(std::filesystem::exists(place / "kernelsearch-0"));  // of the name, but no such folder
  }
  if (given == nullptr)
    unsetenv("TMPDIR");
  else
    setenv("TMPDIR", before.c_str(), 1);
}

TEST_CASE("ScratchFolder: root makes it for nobody") {
  if (geteuid() != 0) {
    MESSAGE("skipped: only root runs others as nobody");
    return;
  }
  const detail::ScratchFolder scratch(true);
  struct stat about {};
  REQUIRE(stat(scratch.path().c_str(), &about) == 0);
  CHECK(about.st_uid == detail::nobody);
}
