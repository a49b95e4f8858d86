// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "run/writable.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "kernelsearch/core/error.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

namespace {

std::size_t count(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

}  // namespace

TEST_CASE(
    "require_writable_folder: nothing is left behind, and what cannot be written is named with its reason") {
  const TemporaryFolder folder;
  detail::require_writable_folder(folder.path(), "the files");
  detail::require_writable_folder(folder / "a/b/c", "the files");
  detail::require_writable_folder(folder / "a/b/c/", "the files");
  CHECK(count(folder.path()) == 0);
  std::filesystem::create_directory(folder / "kept");
  detail::require_writable_folder(folder / "kept", "the files");
  CHECK(count(folder.path()) == 1);
  std::ofstream(folder / "file") << "x";
  CHECK_THROWS_WITH_AS(detail::require_writable_folder(folder / "file", "the files"),
                       doctest::Contains("the files could not be written"), ConfigError);
  CHECK_THROWS_AS(detail::require_writable_folder(folder / "file/below", "the files"), ConfigError);
  CHECK_THROWS_WITH_AS(detail::require_writable_folder("/proc/none", "the files"),
                       doctest::Contains("/proc/none"), ConfigError);
  CHECK_THROWS_AS(detail::require_writable_folder("/proc", "the files"), ConfigError);
}

TEST_CASE("require_writable_file: what it holds stays, and a new one goes again") {
  const TemporaryFolder folder;
  detail::require_writable_file(folder / "new", "the record");
  CHECK(count(folder.path()) == 0);
  std::ofstream(folder / "old") << "text";
  detail::require_writable_file(folder / "old", "the record");
  CHECK(std::filesystem::file_size(folder / "old") == 4);
  CHECK_THROWS_AS(detail::require_writable_file(folder.path(), "the record"), ConfigError);
  CHECK_THROWS_WITH_AS(detail::require_writable_file("/proc/none", "the record"),
                       doctest::Contains("/proc/none"), ConfigError);
}
