// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "problem/replace_file.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "support/temporary_folder.hpp"

using namespace kernelsearch;
namespace fs = std::filesystem;

namespace {

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_CASE("replace_file: makes and replaces a file, and leaves nothing beside it") {
  const TemporaryFolder folder;
  const auto file = folder / "file";
  const std::string text("one\0two\n", 8);
  REQUIRE_FALSE(detail::replace_file(file, text));
  CHECK(content(file) == text);
  REQUIRE_FALSE(detail::replace_file(file, ""));
  CHECK(content(file).empty());
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("replace_file: a file of its own is as readable as any that the process makes") {
  const TemporaryFolder folder;
  const mode_t mask = umask(0027);
  REQUIRE_FALSE(detail::replace_file(folder / "a", "text"));
  umask(mask);
  CHECK((fs::status(folder / "a").permissions() & fs::perms::all) ==
        (fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read));
}

TEST_CASE("replace_file: a link that lies there is replaced, and its target stays") {
  const TemporaryFolder folder;
  std::ofstream(folder / "precious") << "mine";
  fs::create_symlink(folder / "precious", folder / "file");
  REQUIRE_FALSE(detail::replace_file(folder / "file", "text"));
  CHECK(content(folder / "precious") == "mine");
  CHECK(content(folder / "file") == "text");
  CHECK_FALSE(fs::is_symlink(folder / "file"));
}

TEST_CASE(
    "private files and folders: their owner's alone whatever the umask, and what is there stays as it is") {
  const TemporaryFolder folder;
  const mode_t mask = umask(0);
  REQUIRE_FALSE(detail::create_private_folders(folder / "a/b"));
  REQUIRE_FALSE(detail::replace_private_file(folder / "a/b/text", "text"));
  REQUIRE_FALSE(detail::create_private_file(folder / "a/empty"));
  fs::create_directory(folder / "open");
  std::ofstream(folder / "open/file") << "kept";
  REQUIRE_FALSE(detail::create_private_folders(folder / "open"));
  REQUIRE_FALSE(detail::create_private_file(folder / "open/file"));
  umask(mask);
  const auto bits = [&](const char* name) {
    return fs::status(folder / name).permissions() & fs::perms::all;
  };
  CHECK(bits("a") == fs::perms::owner_all);
  CHECK(bits("a/b") == fs::perms::owner_all);
  CHECK(bits("a/b/text") == fs::perms(0600));
  CHECK(bits("a/empty") == fs::perms(0600));
  CHECK(bits("open") == fs::perms(0777));
  CHECK(bits("open/file") == fs::perms(0666));
  CHECK(content(folder / "open/file") == "kept");
  CHECK(content(folder / "a/b/text") == "text");
  CHECK(detail::create_private_folders(folder / "open/file/below"));
}

TEST_CASE("replace_file: who fails leaves the file as it was and nothing beside it") {
  const TemporaryFolder folder;
  CHECK(detail::replace_file(folder / "none/file", "text") == std::errc::no_such_file_or_directory);
  fs::create_directory(folder / "folder");
  CHECK(detail::replace_file(folder / "folder", "text") == std::errc::is_a_directory);
  std::ofstream(folder / "file") << "before";
  const auto refuse = [](const fs::path& draft) {
    std::ofstream(draft) << "half";
    errno = ENOSPC;
    return false;
  };
  CHECK(detail::replace_file(folder / "file", refuse) == std::errc::no_space_on_device);
  CHECK(detail::replace_file(folder / "file", [](const fs::path&) { return false; }) == std::errc::io_error);
  CHECK(content(folder / "file") == "before");
  CHECK(files_in(folder.path()) == 2);
}

TEST_CASE("replace_file: a text that does not fit is an error") {
  const TemporaryFolder folder;
  REQUIRE_FALSE(detail::replace_file(folder / "file", "before"));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{1000, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  const std::error_code error = detail::replace_file(folder / "file", std::string(20000, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(error == std::errc::file_too_large);
  CHECK(content(folder / "file") == "before");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("replace_file: readers find a whole text while several threads replace it") {
  const TemporaryFolder folder;
  const auto file = folder / "file";
  const auto text = [](int of) { return std::string(30000, static_cast<char>('a' + of)); };
  REQUIRE_FALSE(detail::replace_file(file, text(0)));
  std::vector<std::thread> writers;
  std::atomic<int> failed{0};
  for (int w = 0; w < 3; ++w)
    writers.emplace_back([&, w] {
      for (int i = 0; i < 60; ++i) failed += detail::replace_file(file, text(w)) ? 1 : 0;
    });
  for (int i = 0; i < 200; ++i) {
    const std::string found = content(file);
    CHECK((found == text(0) || found == text(1) || found == text(2)));
  }
  for (std::thread& writer : writers) writer.join();
  CHECK(failed == 0);
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("replace_file: what another process of this number left beside a file is not touched") {
  const TemporaryFolder folder;
  const auto file = folder / "file";
  std::string first;
  REQUIRE_FALSE(detail::replace_file(file, [&](const fs::path& draft) {
    first = draft.filename().string();
    return true;
  }));
  // The number before the ending counts on: the next ones are taken.
  const std::size_t end = first.rfind('.'), begin = first.rfind('.', end - 1) + 1;
  const unsigned long next = std::stoul(first.substr(begin, end - begin)) + 1;
  const std::string taken = first.substr(0, begin) + std::to_string(next) + first.substr(end);
  std::ofstream(folder / taken.c_str()) << "theirs";
  REQUIRE_FALSE(detail::replace_file(file, "mine"));
  CHECK(content(file) == "mine");
  CHECK(content(folder / taken.c_str()) == "theirs");
}
