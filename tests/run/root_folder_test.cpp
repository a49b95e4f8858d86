// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/root_folder.hpp"

#include <doctest/doctest.h>

#include <fstream>

#include "kernelsearch/core/error.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;
namespace fs = std::filesystem;

TEST_CASE("RootFolder: finds what is below it, and nothing else") {
  const TemporaryFolder folder;
  fs::create_directories(folder / "root/inner");
  fs::create_directories(folder / "root2");
  std::ofstream(folder / "root/inner/file") << "x";
  std::ofstream(folder / "secret") << "x";
  std::ofstream(folder / "root2/file") << "x";
  fs::create_symlink(folder / "secret", folder / "root/link");
  fs::create_symlink(folder.path(), folder / "root/up");
  fs::create_symlink(folder / "root/inner", folder / "root/within");
  const RootFolder root(folder / "root");
  const fs::path real = fs::canonical(folder / "root");
  CHECK(root.path() == real);
  CHECK(root.find("inner/file") == real / "inner/file");
  CHECK(root.find("inner/../inner") == real / "inner");
  CHECK(root.find("within/file") == real / "inner/file");
  CHECK(root.find(".") == real);
  CHECK(root.find((real / "inner").string()) == real / "inner");
  std::string first;
  for (const std::string& wrong :
       {std::string("absent"), std::string("../secret"), std::string("link"), std::string("up"),
        std::string("up/secret"), std::string("up/root2/file"), std::string("/etc/passwd"),
        std::string("../root2/file"), std::string("inner/../.."), std::string("a\0b", 3),
        std::string(100'000, 'a')}) {
    CAPTURE(wrong.substr(0, 40));
    CHECK_THROWS_AS((void)root.find(wrong), ConfigError);
  }
  CHECK(!root.holds(folder / "secret"));
  CHECK(!root.holds(folder / "root2"));
  CHECK(!root.holds(folder / "absent"));
  CHECK(root.holds(folder / "root/inner"));
  CHECK_THROWS_AS(RootFolder(folder / "absent"), ConfigError);
  CHECK_THROWS_AS(RootFolder(folder / "secret"), ConfigError);
}
