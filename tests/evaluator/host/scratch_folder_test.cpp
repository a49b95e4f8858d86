// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "evaluator/host/scratch_folder.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "evaluator/host/process.hpp"

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
