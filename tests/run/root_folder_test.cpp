// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/run/root_folder.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <vector>

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
  // A folder of the root whose problem.json is a link: what is wrong with it would tell what it says.
  fs::create_directories(folder / "root/linked");
  fs::create_symlink(folder / "secret", folder / "root/linked/problem.json");
  CHECK_THROWS_AS((void)root.find_problem("linked"), ConfigError);
  fs::remove_all(folder / "root/linked");
  CHECK(!root.holds(folder / "secret"));
  CHECK(!root.holds(folder / "root2"));
  CHECK(!root.holds(folder / "absent"));
  CHECK(root.holds(folder / "root/inner"));
  // What problems there are is said to who names one that is not; nothing of what lies outside.
  const auto refused = [&root](const std::string& name) {
    try {
      (void)root.find_problem(name);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(root.problems().empty());
  CHECK(refused("matmull").find("problem") == std::string::npos);
  for (const char* name :
       {"root/matmul", "root/cuda/scan", "root/a/b/c/four", "root/a/b/c/d/five", "root2"}) {
    fs::create_directories(folder / name);
    std::ofstream(folder / name / "problem.json") << "{}";
  }
  fs::create_symlink(folder / "root2", folder / "root/outside");
  CHECK(root.problems() == std::vector<std::string>{"a/b/c/four", "cuda/scan", "matmul"});
  CHECK(root.find_problem("matmul") == real / "matmul");
  CHECK(root.find_problem("matmul/problem.json") == real / "matmul/problem.json");
  CHECK(refused("matmull").find("; did you mean matmul?") != std::string::npos);
  CHECK(refused("outside").find("; problems there: a/b/c/four, cuda/scan, matmul") != std::string::npos);
  INFO(refused("inner"));
  CHECK(refused("inner").find("name a folder with a problem.json; problems there: a/b/c/four") !=
        std::string::npos);
  CHECK_THROWS_AS(RootFolder(folder / "absent"), ConfigError);
  CHECK_THROWS_AS(RootFolder(folder / "secret"), ConfigError);
}
