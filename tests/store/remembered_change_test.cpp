// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/store/remembered_change.hpp"

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/store/run_store.hpp"
#include "support/remembered_change.hpp"
#include "support/temporary_folder.hpp"

using namespace kernelsearch;
using support::changed;
using support::failed_change;

namespace {

void run_sql(const std::filesystem::path& file, const char* text) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
  CHECK(sqlite3_exec(database, text, nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(database);
}

std::vector<std::int64_t> numbers_of(const std::vector<StoredChange>& changes) {
  std::vector<std::int64_t> numbers;
  for (const StoredChange& one : changes) numbers.push_back(one.number);
  return numbers;
}

using Numbers = std::vector<std::int64_t>;

/// A change's JSON with one member replaced, or removed where there is no value.
std::string with(const char* name, const nlohmann::json& value) {
  nlohmann::json object = nlohmann::json::parse(change_text(changed(1)));
  if (value.is_discarded())
    object.erase(name);
  else
    object[name] = value;
  return object.dump();
}

}  // namespace

TEST_CASE("remembered change: what is written reads back, every member of it") {
  RememberedChange plain = changed(7);
  CHECK(change_from_text(change_text(plain)) == plain);
  CHECK(change_text(plain).find('\n') == std::string::npos);
  plain.effect->paired = false;
  plain.effect->ratio = 0.1 + 0.2;
  plain.kind = MoveKind::submitted;
  plain.strategies.clear();
  CHECK(change_from_text(change_text(plain)) == plain);
  RememberedChange failed = failed_change(8);
  failed.progress = 0.625;
  failed.verdict = Verdict::wrong_result;
  failed.reason = "c[3]: \"1\" instead of 2\n\ttab";
  CHECK(change_from_text(change_text(failed)) == failed);
  failed.verdict = Verdict::cheated;
  failed.overrun = Overrun{"y", -3, 9};
  CHECK(change_from_text(change_text(failed)) == failed);
}

TEST_CASE("remembered change: what the format does not allow is refused by name") {
  const auto refused = [](const std::string& text, const char* words) {
    CHECK_THROWS_WITH_AS((void)change_from_text(text), doctest::Contains(words), ConfigError);
  };
  using nlohmann::json;
  refused("", "no remembered change");
  refused("[]", "no remembered change");
  refused(with("overrun", {{"array", "y"}}), "overrun is not that of a refused change");  // of a right one
  refused(with("overrun", "y"), "overrun");
  refused(with("change_format", 2), "another format");
  refused(with("id", "12"), "id is not 64 hexadecimal digits");
  refused(with("id", std::string(64, 'X')), "id is not 64 hexadecimal digits");
  refused(with("model", json(json::value_t::discarded)), "it has no model");
  refused(with("model", 3), "model is not a text");
  refused(with("model", std::string(257, 'm')), "model is longer than 256 bytes");
  refused(with("diff", std::string(ChangeLimits::diff + 1, '+')), "diff is longer");
  refused(with("backend", "metal"), "there is no such backend");
  refused(with("kind", "guess"), "there is no such kind of move");
  refused(with("verdict", "fine"), "there is no such verdict");
  refused(with("progress", 1.5), "progress is not a number from 0 to 1");
  refused(with("traits", "matmul"), "traits is not a list");
  refused(with("strategies", std::vector<std::string>(33, "s")), "strategies is not a list of at most 32");
  refused(with("effect", {{"ratio", 0}, {"interval", {1, 2}}, {"paired", true}}),
          "ratio is not a positive number");
  refused(with("effect", {{"ratio", 1}, {"interval", {2, 1}}, {"paired", true}}), "interval ends before");
  refused(with("effect", {{"ratio", 1}, {"interval", {1, 2}}, {"paired", 1}}), "paired is neither");
  refused(with("verdict", "crashed"), "a change that failed has no effect");
  refused(std::string(ChangeLimits::line + 1, ' ') + "{}", "no remembered change");
}

TEST_CASE("remembered change: a file is read line by line, and the line with a fault is named") {
  std::istringstream good(change_text(changed(1)) + "\n\n" + change_text(failed_change(2)) + "\r\n");
  const std::vector<RememberedChange> read = read_changes(good, "m.jsonl");
  REQUIRE(read.size() == 2);
  CHECK(read[1] == failed_change(2));
  std::istringstream bad(change_text(changed(1)) + "\n\n{\"id\": 1}\n");
  CHECK_THROWS_WITH_AS((void)read_changes(bad, "m.jsonl"), doctest::Contains("(m.jsonl, line 3)"),
                       ConfigError);
}

TEST_CASE("RunStore: changes are kept once, replaced under their number, and found by filters") {
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  CHECK(store.last_change() == 0);
  RememberedChange other = changed(2, "vectorize");
  other.problem = "dot";
  other.traits = {"reduction", "threads"};
  other.backend = "cuda";
  other.device = "a GPU sm_90, driver 13000";
  store.put_change(changed(1));
  store.put_change(other);
  store.put_change(failed_change(3));
  CHECK(numbers_of(store.changes()) == Numbers{3, 2, 1});
  RememberedChange revised = changed(1);
  revised.verdict = Verdict::cheated;
  revised.effect.reset();
  store.put_change(revised);
  CHECK(numbers_of(store.changes()) == Numbers{3, 2, 1});
  CHECK(store.change(1)->change == revised);
  CHECK(store.change_of_id(support::change_id(3))->change == failed_change(3));
  CHECK(!store.change(4));
  CHECK(!store.change_of_id("nothing"));
  CHECK(store.last_change() == 3);

  CHECK(numbers_of(store.changes({.problem = "matmul"})) == Numbers{3, 1});
  CHECK(numbers_of(store.changes({.strategy = "vectorize"})) == Numbers{2});
  CHECK(numbers_of(store.changes({.trait = "threads"})) == Numbers{2});
  CHECK(numbers_of(store.changes({.device = "a GPU sm_90, driver 12000"})) == Numbers{2});
  CHECK(numbers_of(store.changes({.backend = "host"})) == Numbers{3, 1});
  CHECK(numbers_of(store.changes({.until = 2})) == Numbers{2, 1});
  CHECK(numbers_of(store.changes({.problem = "matmul", .limit = 1})) == Numbers{3});

  // A number that was forgotten is never given again: runs know by numbers what they began with.
  CHECK(store.forget_changes(std::vector<std::int64_t>{3, 9}) == 1);
  store.put_change(failed_change(4));
  CHECK(numbers_of(store.changes()) == Numbers{4, 2, 1});

  RememberedChange now = changed(5);
  now.at.clear();
  store.put_change(now);
  CHECK(store.change(5)->change.at.size() == 24);
}

TEST_CASE("RunStore: imported changes come in once, and what is known stays as it is") {
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  store.put_change(changed(1));
  RememberedChange forged = failed_change(1);
  const std::vector<RememberedChange> file{forged, changed(2), changed(3), changed(2)};
  CHECK(store.import_changes(file) == 2);
  CHECK(store.import_changes(file) == 0);
  CHECK(store.changes().size() == 3);
  CHECK(store.change(1)->change == changed(1));
}

TEST_CASE("RunStore: a store of the second version gets a memory and keeps its runs") {
  const TemporaryFolder folder;
  const auto file = folder / "runs.db";
  { RunStore(file).begin_run({.name = "old", .problem = "p", .device = "d"}); }
  run_sql(file,
          "DROP TABLE changes; ALTER TABLE trials DROP COLUMN rationale; ALTER TABLE runs DROP COLUMN times; "
          "DROP TABLE spans; ALTER TABLE trials DROP COLUMN overrun; PRAGMA user_version = 2");
  RunStore store(file);
  CHECK(store.changes().empty());
  store.put_change(changed(1));
  CHECK(store.last_change() == 1);
  CHECK(store.runs().front().info.name == "old");
  CHECK(RunStore(file).changes().size() == 1);
}

TEST_CASE("RunStore: what a run taught stays when the run is removed") {
  const TemporaryFolder folder;
  RunStore store(folder / "runs.db");
  const RunId run = store.begin_run({.name = "r", .problem = "p", .device = "d"});
  store.put_change(changed(1));
  store.remove_run(run);
  CHECK(store.changes().size() == 1);
}
