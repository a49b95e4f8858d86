// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/problem/file_word.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <random>
#include <string>

using kernelsearch::file_word;

TEST_CASE("file_word: ordinary names stay as they are") {
  for (const char* name : {"matmul", "csr-spmv", "a.b", "c++", "_x", "2mm"}) CHECK(file_word(name) == name);
}

TEST_CASE("file_word: no name leads out of its folder or is hidden there") {
  CHECK(file_word("../X") == "_._X");
  CHECK(file_word("/etc/cron.d/x") == "_etc_cron.d_x");
  CHECK(file_word("..") == "_.");
  CHECK(file_word(".") == "_");
  CHECK(file_word("") == "_");
  CHECK(file_word("-rf") == "_rf");
  CHECK(file_word(std::string("a\0b", 3)) == "a_b");
  CHECK(file_word("a\x1b[2Jb\n") == "a__2Jb_");
  CHECK(file_word("\xe2\x80\xae"
                  "cpp") == "___cpp");
  CHECK(file_word(std::string(300, 'x')).size() == 100);
}

TEST_CASE("file_word: any bytes are one file's name") {
  std::mt19937 random(34);
  for (int i = 0; i < 2000; ++i) {
    std::string text(random() % 12, '\0');
    for (char& c : text) c = static_cast<char>(random() % 4 == 0 ? "./-\\"[random() % 4] : random() % 256);
    const std::filesystem::path word(file_word(text));
    REQUIRE(word.filename() == word);
    REQUIRE(word != "..");
    REQUIRE(word != ".");
    REQUIRE(word.native().front() != '.');
  }
}
