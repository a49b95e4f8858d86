// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A whole store of others: any bytes of the file may be other ones. Whatever looks at a store returns or
// refuses with an Error of ours, and what it prints or exports commands no terminal. Each four bytes of the
// input are a change: three say where, the fourth what stands there; so a small input is a store that SQLite
// still opens. An input that begins with SQL after `!` is run on the store instead, as whoever made it could
// have.
#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "kernelsearch/core/clean_text.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/recorded/stored_run.hpp"
#include "kernelsearch/report/export.hpp"
#include "kernelsearch/report/render_report.hpp"
#include "kernelsearch/report/summary.hpp"
#include "kernelsearch/store/run_store.hpp"
#include "run/stored_options.hpp"
#include "support/stored_run.hpp"

namespace {

using namespace kernelsearch;

void execute(const std::filesystem::path& file, const std::string& sql) {
  sqlite3* database = nullptr;
  if (sqlite3_open(file.c_str(), &database) != SQLITE_OK) std::abort();
  (void)sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
  sqlite3_close(database);
}

/// The bytes of a store with a run, all in one file.
const std::string& whole() {
  static const std::string bytes = [] {
    const StoredRun stored;
    const std::filesystem::path copy = stored.folder / "copy.db";
    execute(stored.store.file(), "VACUUM INTO '" + copy.string() + "'");
    std::ifstream in(copy, std::ios::binary);
    std::string all{std::istreambuf_iterator<char>(in), {}};
    if (all.size() < 4096) std::abort();
    return all;
  }();
  return bytes;
}

/// What is shown must command no terminal.
void shown(const std::string& text) {
  std::string plain = text;
  std::erase(plain, '\r');  // of CSV
  if (clean_text(plain) != plain) std::abort();
}

template <class Call>
void call(Call what) {
  try {
    what();
  } catch (const Error&) {
  }
}

void look_at(const RunStore& store) {
  std::vector<RunRow> runs;
  call([&] { runs = store.runs({.limit = 4}); });
  for (const RunRow& row : runs) {
    call([&] { (void)detail::check_given_again(row, {}, store.file()); });
    call([&] { (void)detail::resumed_options(row, {}); });
    call([&] { (void)store.events(row.id); });
    call([&] { (void)store.finalists(row.id); });
    call([&] { shown(run_summary(store, row.id)); });
    call([&] {
      const ReportModel whole = report_of(store, row.id);
      shown(report_html({&whole, 1}));
    });
    call([&] { (void)recording_of(store, row.id, {}); });
    for (const ExportFormat format : {ExportFormat::json_lines, ExportFormat::csv, ExportFormat::t4,
                                      ExportFormat::t4_metadata, ExportFormat::dot})
      call([&] {
        std::ostringstream out;
        export_run(store, row.id, format, out);
        shown(out.str());
      });
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const TemporaryFolder folder;
  const std::filesystem::path file = folder / "runs.db";
  std::string bytes = whole();
  const bool is_sql = size > 0 && data[0] == '!';
  for (std::size_t at = 0; !is_sql && at + 4 <= size; at += 4) {
    const std::size_t place = data[at] | std::size_t{data[at + 1]} << 8 | std::size_t{data[at + 2]} << 16;
    bytes[place % bytes.size()] = static_cast<char>(data[at + 3]);
  }
  std::error_code ignored;
  for (const char* end : {"", "-wal", "-shm", "-journal"})
    std::filesystem::remove(file.string() + end, ignored);
  std::ofstream(file, std::ios::binary) << bytes;
  if (is_sql) execute(file, std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  for (const bool only_read : {true, false})
    call([&] { look_at(RunStore(file, {.busy_seconds = 0.01, .only_read = only_read})); });
  return 0;
}
