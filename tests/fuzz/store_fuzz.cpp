// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A store of which one column holds what it should not: every call returns or refuses with an Error of ours.
// The file is a real one, written by RunStore; the first byte says which column, the rest is its content.
#include <sqlite3.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "kernelsearch/core/error.hpp"
#include "kernelsearch/store/load_record.hpp"
#include "kernelsearch/store/result_cache.hpp"
#include "kernelsearch/store/run_store.hpp"
#include "run/stored_options.hpp"

namespace {

using namespace kernelsearch;

struct Column {
  const char* table;
  const char* name;
};
// Its place in this list is the first byte of the corpus' files: add at the end.
constexpr Column columns[] = {{"trials", "parents"},
                              {"trials", "features"},
                              {"trials", "measurement"},
                              {"trials", "point"},
                              {"trials", "config"},
                              {"trials", "verdict"},
                              {"trials", "config_key"},
                              {"trials", "config_values"},
                              {"events", "outcome"},
                              {"events", "kind"},
                              {"inner_trials", "evaluation"},
                              {"results", "evaluation"},
                              {"runs", "options"},
                              {"runs", "environment"},
                              {"runs", "seed"},
                              {"runs", "finalists"},
                              {"trials", "kernel"},
                              {"trials", "objective"},
                              {"trials", "proposal"},
                              {"events", "trial"}};

void check(bool good) {
  if (!good) std::abort();
}

/// A run with a trial, a revised one, one from outside, an inner trial and a comparison, written once.
class Written {
 public:
  Written() {
    std::string name = (std::filesystem::temp_directory_path() / "kernelsearch-fuzz-XXXXXX").string();
    check(mkdtemp(name.data()) != nullptr);
    folder_ = name;
    store_ = std::make_unique<RunStore>(folder_ / "runs.db");
    run_ = store_->begin_run({.name = "fuzz", .problem = "p", .device = "d"});
    const AskEvent ask{1, 1};
    for (std::uint64_t id = 0; id < 3; ++id) {
      StoredTrial trial;
      trial.point = "[0]";
      trial.candidate = StoredCandidate{"", "[0]", "0", "{}"};
      trial.outcome.id = TrialId{id};
      if (id != 2) trial.outcome.origin = Origin{ProposalId{id}, 0, 1};
      trial.outcome.evaluation = Evaluation::succeeded(1.0);
      trial.outcome.objective = 1.0;
      store_->add_trial(run_, std::span(&ask, 1), trial);
    }
    Outcome revised;
    revised.id = TrialId{1};
    revised.evaluation = Evaluation::failed(Verdict::cheated, "late");
    store_->add_revision(run_, {}, revised);
    store_->add_inner(run_, TrialId{0}, {0, "0", Evaluation::succeeded(1.0)});
    store_->put_result("key", "d", Evaluation::succeeded(1.0));
    FinalistComparison finalists;
    store_->set_finalists(run_, finalists);
    check(sqlite3_open((folder_ / "runs.db").c_str(), &database_) == SQLITE_OK);
    execute("PRAGMA synchronous = OFF");
    // a copy of each table beside it, as those without row numbers have none to go by
    for (const char* table : {"trials", "events", "inner_trials", "results", "runs"})
      execute(std::string("CREATE TABLE kept_") + table + " AS SELECT * FROM " + table);
  }
  ~Written() {
    sqlite3_close(database_);
    store_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  [[nodiscard]] RunStore& store() const { return *store_; }
  [[nodiscard]] RunId run() const { return run_; }

  /// The column of every row is this text, for as long as `use` reads.
  template <class Use>
  void with(const Column& column, const std::string& text, Use use) {
    const std::string table = column.table, name = column.name;
    sqlite3_stmt* change = nullptr;
    check(sqlite3_prepare_v2(database_, ("UPDATE OR IGNORE " + table + " SET " + name + " = ?").c_str(), -1,
                             &change, nullptr) == SQLITE_OK);
    sqlite3_bind_text(change, 1, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
    sqlite3_step(change);
    sqlite3_finalize(change);
    use();
    execute("BEGIN; DELETE FROM " + table + "; INSERT INTO " + table + " SELECT * FROM kept_" + table +
            "; COMMIT");
  }

 private:
  void execute(const std::string& line) {
    check(sqlite3_exec(database_, line.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  }

  std::filesystem::path folder_;
  std::unique_ptr<RunStore> store_;
  RunId run_{};
  sqlite3* database_ = nullptr;
};

template <class Call>
void call(Call what) {
  try {
    what();
  } catch (const Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static Written written;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const RunStore& store = written.store();
  const RunId run = written.run();
  written.with(columns[data[0] % std::size(columns)], text, [&] {
    call([&] { (void)store.runs(); });
    call([&] { (void)store.trials(run); });
    call([&] { (void)store.trial(run, TrialId{1}); });
    call([&] { (void)store.best_trial(run); });
    call([&] { (void)store.finalists(run); });
    call([&] { (void)store.inner_trials(run); });
    call([&] { (void)store.events(run); });
    call([&] { (void)store.find_result("key"); });
    static const auto kernel = std::make_shared<const Kernel>();
    const auto codec = [] { return CandidateCodec<Candidate>([](const std::string&) { return kernel; }); };
    call([&] { (void)load_record<Config>(store, run, codec()); });
    call([&] { (void)load_record<Move>(store, run, codec()); });
    call([&] { (void)detail::encode_options(detail::decode_options(store.run(run))); });
    call([&] { (void)detail::resumed_options(store.run(run), {}); });
  });
  return 0;
}
