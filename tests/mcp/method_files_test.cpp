// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/mcp/method_files.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "support/temporary_folder.hpp"

using namespace kernelsearch;
namespace fs = std::filesystem;

TEST_CASE("read_method_files: every object with a name, by folder and name") {
  const TemporaryFolder folder;
  const auto put = [&folder](const char* name, const char* text) {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
  };
  put("transformations/matmul.json",
      R"({"schema": 1, "transformations": [{"name": "tile", "description": "in blocks"}, {"name": "pack"}]})");
  put("strategies/one.json",
      R"({"name": "vectorize", "description": "wider loads", "passes": [{"name": "inner pass"}]})");
  put("strategies/gpu/two.json", R"([{"name": "fuse", "description": 5}, {"noname": 1}, 7])");
  put("strategies/set.json",
      R"({"name": "set", "description": "of two", "strategies": [{"name": "a", "description": "first"}, {"name": "b"}]})");
  put("strategies/bad.json", "{");
  put("strategies/notes.md", "# no");
  put("transformations/proofs/tile/problem.json",
      R"({"name": "naive", "description": "what it was shown on"})");
  put("top.json", R"({"name": "in no folder"})");
  put("methods/set.json",
      R"({"name": "set", "methods": [{"id": "compute.fma", "description": "fused"}, {"id": "memory.pack"}]})");
  put("sets/set.json", R"({"name": "set", "strategies": [{"name": "tiling", "description": "blocks"}]})");
  std::vector<MethodEntry> all = read_method_files(folder.path());
  REQUIRE(all.size() == 9);
  CHECK(all[0].name == "compute.fma");
  CHECK(all[0].description == "fused");
  CHECK(all[1].name == "memory.pack");
  CHECK(all[2].name == "tiling");
  all.erase(all.begin(), all.begin() + 3);
  CHECK(all[0].name == "a");  // and not the set
  CHECK(all[0].description == "first");
  CHECK(all[0].definition == R"({"description":"first","name":"a"})");
  CHECK(all[1].name == "b");
  CHECK(all[2].name == "fuse");
  CHECK(all[2].description == "");
  CHECK(all[2].file == "strategies/gpu/two.json");
  CHECK(all[3].name == "vectorize");
  CHECK(all[3].description == "wider loads");
  CHECK(all[3].definition.find("inner pass") != std::string::npos);
  CHECK(all[4].folder == "transformations");
  CHECK(all[4].name == "pack");
  CHECK(all[5].name == "tile");
  CHECK(read_method_files(folder / "absent").empty());
  CHECK(read_method_files({}).empty());
}

TEST_CASE("read_method_files: backends and traits that a method is for") {
  const TemporaryFolder folder;
  const auto put = [&](const std::string& name, const std::string& text) {
    fs::create_directories((folder.path() / name).parent_path());
    std::ofstream(folder.path() / name) << text;
  };
  put("methods/set.json", R"({"name": "set", "backends": ["cuda", "hip"], "methods": [
    {"id": "a", "trigger": "(trait.matmul or trait.fp8) and x < 3"}, {"id": "b", "backends": ["hip"]}]})");
  put("transformations/c.json",
      R"({"name": "c", "tags": ["general", "host"], "backends": ["host"], "description": "One. Two."})");
  put("transformations/d.json", R"({"name": "d", "tags": ["stencil"], "description": ")" +
                                    std::string(100, 'x') + " " + std::string(100, 'y') + R"("})");
  const std::vector<MethodEntry> all = read_method_files(folder.path());
  REQUIRE(all.size() == 4);
  CHECK(all[0].backends == std::vector<std::string>{"cuda", "hip"});
  CHECK(all[0].traits == std::vector<std::string>{"matmul", "fp8"});
  CHECK(all[0].is_for_backend("hip"));
  CHECK(!all[0].is_for_backend("host"));
  CHECK(all[0].is_for_traits({"stencil", "fp8"}));
  CHECK(!all[0].is_for_traits({"stencil"}));
  CHECK(all[0].is_for_traits({}));  // of a problem that says nothing
  CHECK(all[1].backends == std::vector<std::string>{"hip"});
  CHECK(all[2].traits.empty());  // tags that are no traits
  CHECK(all[2].is_for_traits({"matmul"}));
  CHECK(all[2].summary() == "One");
  CHECK(all[3].is_for_backend("anything"));
  CHECK(all[3].traits == std::vector<std::string>{"stencil"});
  CHECK(all[3].summary() == std::string(100, 'x') + " ...");
}

TEST_CASE("data_folder: what the environment names comes first") {
  const TemporaryFolder folder;
  setenv("KERNELSEARCH_DATA", ("/nonexistent:" + folder.path().string()).c_str(), 1);
  CHECK(data_folder() == folder.path());
  setenv("KERNELSEARCH_DATA", "/nonexistent", 1);
  CHECK(data_folder().empty());
  unsetenv("KERNELSEARCH_DATA");
  const fs::path found = data_folder();
  CHECK((found.empty() || fs::is_directory(found)));
}
