// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/agents/data_files.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include "kernelsearch/core/error.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

namespace {

const DataFile* named(const std::vector<DataFile>& files, const std::string& name) {
  const auto found =
      std::find_if(files.begin(), files.end(), [&](const DataFile& file) { return file.name == name; });
  return found == files.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("data files: what is compiled in is what stands in the tree, byte for byte") {
  const auto folders = data_folders();
  CHECK(std::find(folders.begin(), folders.end(), "prompts") != folders.end());
  CHECK(std::find(folders.begin(), folders.end(), "strategies") != folders.end());
  for (const std::string& folder : folders) {
    const auto files = data_files(folder);
    CHECK(!files.empty());
    for (const DataFile& file : files) {
      CAPTURE(file.name);
      CHECK(file.path.empty());
      std::ifstream stream(std::string(KERNELSEARCH_SOURCE_DIR "/data/") + folder + '/' + file.name,
                           std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(stream), {}};
      CHECK(text == file.text);
    }
  }
  CHECK(data_files("nothing").empty());
}

TEST_CASE("data files: a user's folder replaces and joins") {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder / "prompts");
  std::ofstream(folder / "prompts/rules.md") << "@system\nmine\n";
  std::ofstream(folder / "prompts/new.md") << "@user\nnew\n";
  std::ofstream(folder / "prompts/notes.txt") << "no data file\n";
  const auto before = data_files("prompts");
  const auto after = data_files("prompts", folder.path());
  CHECK(after.size() == before.size() + 1);
  REQUIRE(named(after, "rules.md") != nullptr);
  CHECK(named(after, "rules.md")->text == "@system\nmine\n");
  CHECK(!named(after, "rules.md")->path.empty());
  CHECK(named(after, "new.md") != nullptr);
  CHECK(named(after, "notes.txt") == nullptr);
  CHECK(data_files("strategies", folder.path()).size() == data_files("strategies").size());
  CHECK_THROWS_AS((void)data_files("prompts", folder / "absent"), ConfigError);
}

TEST_CASE("data files: a huge file is refused") {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder / "prompts");
  std::ofstream(folder / "prompts/big.md") << std::string((1 << 20) + 1, 'x');
  CHECK_THROWS_AS((void)data_files("prompts", folder.path()), ConfigError);
}
