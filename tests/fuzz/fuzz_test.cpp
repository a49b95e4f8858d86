// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every file of tests/fuzz/corpus goes through its target: what the fuzzers found once stays mended. Fixtures
// of other tests that are inputs of a target go through it as well.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

using Target = int (*)(const std::uint8_t* data, std::size_t size);

const fs::path corpus = fs::path(KERNELSEARCH_SOURCE_DIR) / "tests/fuzz/corpus";

/// The folder of fixtures that a target reads too; scripts/fuzz.sh knows them as well.
fs::path fixtures_of(const std::string& target) {
  const fs::path fixtures = fs::path(KERNELSEARCH_SOURCE_DIR) / "tests/fixtures";
  if (target == "recording") return fixtures / "others";
  if (target == "problem") return fixtures / "problems/dot";
  return {};
}

}  // namespace

#define KERNELSEARCH_FUZZ_TARGET(name) extern "C" int fuzz_##name(const std::uint8_t* data, std::size_t size);
#include "fuzz_targets.inc"
#undef KERNELSEARCH_FUZZ_TARGET

namespace {

struct Named {
  const char* name;
  Target target;
};
const Named targets[] = {
#define KERNELSEARCH_FUZZ_TARGET(name) {#name, fuzz_##name},
#include "fuzz_targets.inc"
#undef KERNELSEARCH_FUZZ_TARGET
};

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

TEST_CASE("fuzz: every file of the corpus goes through its target") {
  for (const Named& one : targets) {
    CAPTURE(std::string(one.name));
    REQUIRE(fs::is_directory(corpus / one.name));
    std::vector<fs::path> files = files_of(corpus / one.name);
    if (const fs::path fixtures = fixtures_of(one.name); !fixtures.empty()) {
      const std::vector<fs::path> more = files_of(fixtures);
      CHECK_FALSE(more.empty());
      files.insert(files.end(), more.begin(), more.end());
    }
    CHECK(files.size() >= 5);
    for (const fs::path& path : files) {
      INFO(path.filename().string());
      std::ifstream in(path, std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      // a copy of just that size, so that the sanitizers see a read beyond it
      const std::vector<std::uint8_t> data(text.begin(), text.end());
      CHECK(one.target(data.data(), data.size()) == 0);
    }
  }
}

TEST_CASE("fuzz: every folder of the corpus has a target, and the corpus stays small") {
  std::uintmax_t bytes = 0;
  for (const fs::path& folder : files_of(corpus)) {
    CAPTURE(folder.filename().string());
    CHECK(std::any_of(std::begin(targets), std::end(targets),
                      [&](const Named& one) { return folder.filename() == one.name; }));
    for (const fs::path& file : files_of(folder)) bytes += fs::file_size(file);
  }
  CHECK(bytes < 300'000);
}
