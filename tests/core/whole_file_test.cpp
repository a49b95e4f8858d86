// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/core/whole_file.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "support/temporary_folder.hpp"

using namespace kernelsearch;

TEST_CASE("whole_file: all bytes of a file, or nothing") {
  const TemporaryFolder folder;
  std::string bytes;
  for (int i = 0; i < 200'000; ++i) bytes += static_cast<char>(i % 251);  // more than one part, with zeros
  std::ofstream(folder / "file", std::ios::binary) << bytes;
  CHECK(try_whole_file(folder / "file") == bytes);
  CHECK(try_whole_file(folder / "file", bytes.size()) == bytes);
  CHECK_FALSE(try_whole_file(folder / "file", bytes.size() - 1));
  std::ofstream(folder / "empty", std::ios::binary);
  CHECK(try_whole_file(folder / "empty") == "");
  CHECK(try_whole_file(folder / "empty", 0) == "");
  CHECK_FALSE(try_whole_file(folder / "none"));
  CHECK_FALSE(try_whole_file(folder / "."));
  CHECK(try_whole_file("/proc/self/stat")->size() > 10);  // whose size is said to be 0
}
