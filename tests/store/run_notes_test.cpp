// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/store/run_notes.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "kernelsearch/core/error.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;

namespace {

RunRow run_of(std::int64_t id, const std::string& started) {
  RunRow row;
  row.id = RunId{id};
  row.started = started;
  return row;
}

unsigned mode_of(const std::filesystem::path& path) {
  struct ::stat file {};
  ::stat(path.c_str(), &file);
  return file.st_mode & 0777;
}

}  // namespace

TEST_CASE("RunNotes: tags and a note stay beside the store, for their owner alone") {
  const TemporaryFolder folder;
  const RunNotes notes(folder / "runs.db");
  const RunRow run = run_of(3, "2026-01-01T00:00:00.000Z");
  CHECK(notes.of(run) == RunNote{});
  CHECK(notes.set(run, {{" fast ", "fast", "", "two words"}, "  as \x1b[2J said\n"}) ==
        RunNote{{"fast", "two words"}, "as \xef\xbf\xbd[2J said"});
  CHECK(RunNotes(folder / "runs.db").of(run).tags == std::vector<std::string>{"fast", "two words"});
  CHECK(mode_of(folder / "runs.db.notes" / "3.json") == 0600);
  CHECK(mode_of(folder / "runs.db.notes") == 0700);
  CHECK(notes.of(run_of(4, run.started)) == RunNote{});
  CHECK(notes.of(run_of(3, "2027-01-01T00:00:00.000Z")) == RunNote{});  // the number of a removed run
  CHECK(notes.set(run, {}) == RunNote{});
  CHECK_FALSE(std::filesystem::exists(folder / "runs.db.notes" / "3.json"));
}

TEST_CASE("RunNotes: what is no tag or too long changes nothing") {
  const TemporaryFolder folder;
  const RunNotes notes(folder / "runs.db");
  const RunRow run = run_of(1, "x");
  notes.set(run, {{"kept"}, "kept"});
  CHECK_THROWS_AS(notes.set(run, {{"a,b"}, ""}), ConfigError);
  CHECK_THROWS_AS(notes.set(run, {{std::string(65, 'x')}, ""}), ConfigError);
  CHECK_THROWS_AS(notes.set(run, {std::vector<std::string>(17, "x"), ""}), ConfigError);
  CHECK_THROWS_AS(notes.set(run, {{}, std::string(4001, 'x')}), ConfigError);
  CHECK(notes.of(run) == RunNote{{"kept"}, "kept"});
  CHECK_NOTHROW(notes.set(run, {{std::string(64, 'x')}, std::string(4000, 'x')}));
}

TEST_CASE("RunNotes: a stranger's file is read as far as it is one of ours") {
  const TemporaryFolder folder;
  const RunNotes notes(folder / "runs.db");
  const RunRow run = run_of(1, "x");
  std::filesystem::create_directories(notes.folder());
  const auto read = [&](const std::string& text) {
    std::ofstream(notes.folder() / "1.json", std::ios::trunc) << text;
    return notes.of(run);
  };
  for (const char* odd : {"", "[]", "{", "{\"started\": 1}", "{\"started\": \"x\", \"tags\": 1}",
                          "{\"started\": \"x\", \"tags\": [1, null], \"note\": {}}"})
    CHECK(read(odd) == RunNote{});
  std::string many = "{\"started\": \"x\", \"note\": \"" + std::string(5000, 'n') + "\", \"tags\": [\"" +
                     std::string(80, 't') + "\"";
  for (int i = 0; i < 30; ++i) many += ", \"" + std::to_string(i) + "\\u001b\"";
  const RunNote note = read(many + "]}");
  CHECK(note.text.size() == 4000);
  CHECK(note.tags.size() == 16);
  CHECK(note.tags[0] == "0\xef\xbf\xbd");
}
