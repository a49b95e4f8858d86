// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What runs learn and later ones are shown, by the command; replies are those of tests/fixtures/exchanges.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "apps/command.hpp"
#include "support/check_has.hpp"

using namespace kernelsearch_test;

namespace {

const std::filesystem::path memory_fixtures =
    std::filesystem::path(KERNELSEARCH_SOURCE_DIR) / "tests/fixtures";

Ran run_best_of_k(const Desk& desk, const std::string& store, const std::vector<std::string>& more = {}) {
  std::vector<std::string> line{"tune",
                                (memory_fixtures / "problems/dot").string(),
                                "--system",
                                "best_of_k",
                                "--budget",
                                "4",
                                "--samples",
                                "5",
                                "--store",
                                store,
                                "--json",
                                "-q",
                                "--out",
                                "out",
                                "--replay-exchanges",
                                (memory_fixtures / "exchanges/best_of_k").string()};
  line.insert(line.end(), more.begin(), more.end());
  return desk.kernelsearch(line);
}

/// The last messages of the questions of a run.
std::vector<std::string> asked(const Desk& desk, int run) {
  std::vector<std::string> texts;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(desk.path() / "runs.db.exchanges" / std::to_string(run)))
    if (entry.path().extension() == ".json")
      texts.push_back(nlohmann::json::parse(read_text(entry.path()))["question"]["messages"][1]["text"]);
  return texts;
}

}  // namespace

TEST_CASE("memory: the second run's prompts show what the first one learned, `--no-memory` shows nothing") {
  const Desk desk;
  const auto memory = [&](std::vector<std::string> line, const std::string& store = "runs.db") {
    line.insert(line.begin(), "memory");
    line.insert(line.end(), {"--store", store});
    return desk.kernelsearch(line);
  };
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {}, {"--no-memory"}}) {
    const Ran ran = run_best_of_k(desk, "runs.db", more);
    REQUIRE_MESSAGE(ran.code == 0, ran.err);
  }
  for (const std::string& text : asked(desk, 1))
    CHECK(text.find("earlier runs learned") == std::string::npos);
  REQUIRE(!asked(desk, 2).empty());
  for (const std::string& text : asked(desk, 2)) {
    check_has(text, "# What earlier runs learned\n");
    check_has(text, ", on dot (reduction)");
    check_has(text, "build_failed: ");
    check_has(text, "| its own choice | reduction | script | 3 |");
  }
  REQUIRE(!asked(desk, 3).empty());
  for (const std::string& text : asked(desk, 3))
    CHECK(text.find("earlier runs learned") == std::string::npos);

  // Each run has taught three changes: two right kernels, one that does not build.
  const auto list = memory({"list", "--json"}).json();
  REQUIRE(list.size() == 9);
  CHECK(list[0]["number"] == 9);
  CHECK(list[8]["problem"] == "dot");
  CHECK(list[8]["traits"] == nlohmann::json{"reduction"});
  CHECK(list[8]["system"] == "best_of_k");
  CHECK(list[8]["prompt"] == "rewrite");
  CHECK(list[8]["verdict"] == "ok");
  CHECK(list[8]["effect"]["ratio"].get<double>() > 0);
  check_has(list[8]["diff"].get<std::string>(), "+  // v1: one running sum\n");
  CHECK(list[6]["verdict"] == "build_failed");
  check_has(memory({"list"}).out, "its own choice");
  CHECK(memory({"list", "--json", "--limit", "2"}).json().size() == 2);
  CHECK(memory({"list", "--json", "--trait", "reduction"}).json().size() == 9);
  CHECK(memory({"list", "--json", "--trait", "matmul"}).json().empty());
  CHECK(memory({"list", "--json", "--problem", "other"}).json().empty());
  CHECK(memory({"list", "--json", "--strategy", "tiling"}).json().empty());
  CHECK(memory({"list", "--json", "--device", "another"}).json().empty());
  const auto table = memory({"table", "--json"}).json();
  REQUIRE(table.size() == 1);
  CHECK(table[0]["tried"] == 3);  // of nine, since equal ones count once
  CHECK(table[0]["failed"] == 1);
  check_has(memory({"table"}).out, "reduction");

  const Ran show = memory({"show", "1"});
  check_has(show.out, "by           best_of_k, prompt rewrite\n");
  check_has(show.out, "+  // v1: one running sum\n");
  CHECK(memory({"show", "1", "--json"}).json() == list[8]);

  // Into another store, once however often.
  CHECK(memory({"export", "m.jsonl"}).out == "9 written to m.jsonl\n");
  CHECK(memory({"import", "m.jsonl"}, "other.db").out == "9 read, 9 of them new\n");
  CHECK(memory({"import", "m.jsonl"}, "other.db").out == "9 read, 0 of them new\n");
  CHECK(memory({"export", "-"}, "other.db").out == read_text(desk.path() / "m.jsonl"));

  // What is forgotten is shown no more.
  CHECK(memory({"forget", "1", "2"}).out == "2 forgotten\n");
  CHECK(memory({"list", "--json"}).json().size() == 7);
  CHECK(memory({"forget", "--problem", "other"}).out == "0 forgotten\n");
  CHECK(memory({"forget", "--all"}).out == "7 forgotten\n");
  CHECK(memory({"list", "--json"}).json().empty());
  REQUIRE(run_best_of_k(desk, "runs.db").code == 0);
  for (const std::string& text : asked(desk, 4))
    CHECK(text.find("earlier runs learned") == std::string::npos);
}

TEST_CASE("memory: what cannot be done is said, with what to do instead") {
  const Desk desk;
  const auto refused = [&](std::vector<std::string> line, int code, const std::string& words) {
    line.insert(line.begin(), "memory");
    const Ran ran = desk.kernelsearch(line);
    CHECK(ran.code == code);
    CHECK(ran.out == "");
    check_has(ran.err, words);
  };
  refused({"list", "--store", "none.db"}, 3, "there is no store of runs yet");
  write_text(desk.path() / "empty.jsonl", "");
  REQUIRE(desk.kernelsearch({"memory", "import", "empty.jsonl", "--store", "m.db"}).out ==
          "0 read, 0 of them new\n");
  refused({"show", "3", "--store", "m.db"}, 3, "there is no such change in the memory: 3");
  refused({"forget", "3", "--store", "m.db"}, 3, "there is no such change in the memory: 3");
  refused({"forget", "--store", "m.db"}, 3, "nothing is named that is to be forgotten");
  refused({"forget", "3", "--all", "--store", "m.db"}, 3, "named twice");
  refused({"import", "none.jsonl", "--store", "m.db"}, 3, "cannot read the memory: none.jsonl");
  write_text(desk.path() / "bad.jsonl", "\n{\"change_format\": 7}\n");
  refused({"import", "bad.jsonl", "--store", "m.db"}, 3, "(bad.jsonl, line 2)");
  refused({"export", "nowhere/m.jsonl", "--store", "m.db"}, 3, "cannot write the memory: nowhere/m.jsonl");
  refused({"lsit"}, 2, "did you mean list?");
  refused({}, 2, "subcommand");
}
