// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/process/start_apart.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "kernelsearch/core/error.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

namespace {

/// Waits for what another process does; false after a minute.
template <class Condition>
bool soon(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace

TEST_CASE("start_apart: a session of its own, nothing to read, and no longer listed once it has ended") {
  const TemporaryFolder folder;
  const std::string out = folder / "out";
  setenv("KERNELSEARCH_APART", "passed on", 1);
  const pid_t process = start_apart(
      {"/bin/sh", "-c",
       "read line || line=nothing; echo \"$$ $line $KERNELSEARCH_APART $0\" > \"$1\"; mv \"$1\" \"$1.done\"",
       "a name", out});
  unsetenv("KERNELSEARCH_APART");
  CHECK(process > 0);
  REQUIRE(soon([&] { return std::filesystem::exists(out + ".done"); }));
  std::string line;
  std::getline(std::ifstream(out + ".done"), line);
  CHECK(line == std::to_string(process) + " nothing passed on a name");
  CHECK(soon([&] { return ::kill(process, 0) != 0; }));
  CHECK_THROWS_AS(start_apart({folder / "none"}), ConfigError);
}

TEST_CASE("start_apart: signals of our terminal do not reach it") {
  const pid_t process = start_apart({"/bin/sleep", "60"});
  CHECK(::getsid(process) == process);
  CHECK(::getsid(process) != ::getsid(0));
  CHECK(::kill(process, SIGTERM) == 0);  // not blocked, either
  CHECK(soon([&] { return ::kill(process, 0) != 0; }));
}
