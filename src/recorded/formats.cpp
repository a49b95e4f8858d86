// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "formats.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "csv_text.hpp"
#include "json_reader.hpp"
#include "kernelsearch/core/error.hpp"

namespace kernelsearch::recorded {
namespace {

template <RawRecording (*read)(std::string_view, const std::string&)>
RawRecording without_options(std::string_view text, const std::string& source, const ReadRecordingOptions&) {
  return read(text, source);
}

constexpr std::string_view no_times = "give what was measured of each configuration, not the winners alone";
constexpr std::string_view unpack = "unpack it and give the files inside; gzip alone is unpacked for you";

namespace known {

constexpr Format cachefile{"Kernel Tuner cachefile", without_options<read_cachefile>};
constexpr Format result_list{"Kernel Tuner's list of results", without_options<read_result_list>};
constexpr Format t4{"T4 results", read_t4};
constexpr Format json_lines{"kernelsearch export (JSON Lines)", without_options<read_json_lines>};
constexpr Format csv_export{"kernelsearch export (CSV)", without_options<read_csv>};
constexpr Format store{"kernelsearch store", nullptr, "a store as text", "give its file, or STORE:RUN", true};
constexpr Format ktt_json{"KTT results (JSON)", read_ktt_json};
constexpr Format ktt_xml{"KTT results (XML)", read_ktt_xml};
constexpr Format cltune{"CLTune or CLBlast results", without_options<read_cltune>};
constexpr Format bat_json{"BAT results (JSON)", without_options<read_bat_json>};
constexpr Format bat_csv{"BAT results (CSV)", without_options<read_bat_csv>};
constexpr Format triton{"Triton autotuning cache", without_options<read_triton>};
constexpr Format nvbench{"nvbench results (JSON)", without_options<read_nvbench>};
constexpr Format google_benchmark{"Google Benchmark results", without_options<read_google_benchmark>};
constexpr Format optuna{"Optuna trials", read_optuna};

constexpr Format t1{"T1", nullptr, "a T1 file, which declares a space and has no results",
                    "give the results that were recorded with it; the file itself is for --space"};
constexpr Format t4_metadata{"T4 metadata", nullptr, "T4 metadata, which describes a machine",
                             "give the file of results that was written next to it"};
constexpr Format schema{"JSON schema", nullptr,
                        "a JSON schema, which describes files of results and is not one",
                        "give a file that it describes"};
constexpr Format problem{"problem", nullptr, "a kernelsearch problem, which has no results",
                         "tune it, and give STORE:RUN; `kernelsearch check` reads problems"};
constexpr Format kernel_tables{"vLLM or SGLang configurations", nullptr,
                               "tuned configurations of vLLM or SGLang: the winner for each size, no times",
                               no_times};
constexpr Format inductor{"TorchInductor choice", nullptr,
                          "TorchInductor's cached choice: the winner of one kernel, no other times",
                          no_times};
constexpr Format triton_kernel{"Triton compiled kernel", nullptr,
                               "Triton's cache of compiled kernels, which has no times",
                               "give the NAME.autotune.json that TRITON_CACHE_AUTOTUNING=1 writes"};
constexpr Format autotvm{"AutoTVM log", nullptr, "a log of AutoTVM, whose spaces only TVM can name",
                         "write a table of its tunables and times as a cachefile or T4"};
constexpr Format ansor{"Ansor log", nullptr,
                       "a log of TVM's auto-scheduler, which has programs and no tunables",
                       "give a recording of a space of tunables"};
constexpr Format optuna_journal{
    "Optuna journal", nullptr, "Optuna's journal, which only Optuna can replay",
    "write study.trials_dataframe().to_csv(FILE, index=False) and give that, with --unit"};
constexpr Format optuna_storage{
    "Optuna storage", nullptr, "Optuna's SQLite storage, which only Optuna can open",
    "write study.trials_dataframe().to_csv(FILE, index=False) and give that, with --unit"};
constexpr Format optuna_many{"Optuna trials", nullptr, "Optuna's trials of a study with several objectives",
                             "keep the column that is a time and rename it to `value`"};
constexpr Format wandb{"W&B runs", nullptr,
                       "a table of W&B's runs, which does not say which columns are settings and which are "
                       "results, nor their units",
                       "give the tuner's own file, or rename the columns as Optuna has them (params_NAME, "
                       "value, number, state) and give --unit"};
constexpr Format wandb_chart{"W&B chart", nullptr, "the data of a W&B chart, which has steps and no tunables",
                             "give the tuner's own file"};
constexpr Format ktt_model{"KTT model", nullptr, "what KTT keeps along with a model of counters",
                           "give the results that KTT saved"};
constexpr Format ktt_csv{"KTT results (CSV)", nullptr,
                         "KTT's CSV table, which does not say which columns are tunables",
                         "write the results with OutputFormat::JSON or XML"};
constexpr Format nvbench_csv{"nvbench results (CSV)", without_options<read_nvbench_csv>};
constexpr Format google_csv{"Google Benchmark table", nullptr, "Google Benchmark's CSV table",
                            "run it with --benchmark_out_format=json"};
constexpr Format cltune_table{"CLTune table", nullptr, "CLTune's table by PrintToFile",
                              "write the results with PrintJSON"};
constexpr Format pytest_benchmark{"pytest-benchmark results", nullptr,
                                  "results of pytest-benchmark, which are of functions and not of a space",
                                  "give a recording of a space of tunables"};
constexpr Format hyperfine{"hyperfine results", nullptr,
                           "results of hyperfine, which are of commands and not of a space",
                           "give a recording of a space of tunables"};
constexpr Format hdf5{"HDF5", nullptr, "an HDF5 file, as BAT may write",
                      "write BAT's results as JSON or CSV"};
constexpr Format parquet{"Parquet", nullptr, "a Parquet file",
                         "write the table as CSV with Optuna's columns"};
constexpr Format pickle{"pickle", nullptr, "a pickle, which only the program that wrote it can open safely",
                        "write the results as JSON or CSV there"};
constexpr Format archive{"archive", nullptr, "a packed archive", unpack};
constexpr Format packed_twice{"gzip", nullptr, "packed by gzip twice", "unpack it once"};
constexpr Format program{"program", nullptr, "a program or library", "give what was recorded"};
constexpr Format lfs_pointer{"Git LFS pointer", nullptr,
                             "a pointer of Git LFS, which stands for a file that was not fetched",
                             "run `git lfs pull` where it comes from"};
constexpr Format utf16{"UTF-16", nullptr, "text in UTF-16", "save it as UTF-8"};
constexpr Format web_page{"web page", nullptr, "a web page",
                          "download the file itself, not the page about it"};

}  // namespace known

/// The one table of what is recognised, by signs that must all be there:
///
///     key       of a JSON object; `key.inner` of an object in it, `key[].inner` of a list's first object
///     key[]     is a list; `[].key` and `[][].key` where a list is outermost; `#` any key that is a number
///     starts:   how the file begins; `contains:` what is in its first 64 KiB
///     column:   of the first line of CSV; `column:params_*` any that begins so, `column:*__MIN` that ends so
///     tag:      the outermost of XML
///
/// The row whose signs are complete first counts; rows above others where one sign completes both. A weak
/// row counts where no other is complete at the end.
struct FormatRow {
  const Format* format;
  std::array<std::string_view, 3> signs;
  bool weak = false;
};
constexpr FormatRow format_rows[] = {
    {&known::optuna_storage, {"starts:SQLite format 3", "contains:CREATE TABLE studies"}},
    {&known::store, {"starts:SQLite format 3"}},
    {&known::hdf5, {"starts:\x89HDF"}},
    {&known::parquet, {"starts:PAR1"}},
    {&known::pickle, {"starts:\x80\x03"}},
    {&known::pickle, {"starts:\x80\x04"}},
    {&known::pickle, {"starts:\x80\x05"}},
    {&known::archive, {"starts:PK\x03\x04"}},
    {&known::archive,
     {"starts:\xfd"
      "7zXZ"}},
    {&known::archive, {"starts:BZh"}},
    {&known::archive, {"starts:\x28\xb5\x2f\xfd"}},
    {&known::packed_twice, {"starts:\x1f\x8b"}},
    {&known::program,
     {"starts:\x7f"
      "ELF"}},
    {&known::lfs_pointer, {"starts:version https://git-lfs"}},
    {&known::utf16, {"starts:\xff\xfe"}},
    {&known::utf16, {"starts:\xfe\xff"}},

    {&known::cachefile, {"cache"}},
    {&known::cachefile, {"tune_params_keys"}},
    {&known::cachefile, {"tune_params"}},
    {&known::cachefile, {"kernel_name"}},
    {&known::json_lines, {"evaluation"}},
    {&known::json_lines, {"candidate"}},
    {&known::autotvm, {"config.entity"}},
    {&known::ansor, {"i[]", "r[]"}},
    {&known::optuna_journal, {"op_code"}},
    {&known::t1, {"ConfigurationSpace"}},
    {&known::schema, {"$schema"}},
    {&known::cltune, {"device_core_clock", "results[]"}},
    {&known::cltune, {"best_kernel", "results[]"}},
    {&known::cltune, {"results[].parameters"}},
    {&known::hyperfine, {"results[].command"}},
    {&known::t4, {"results[].configuration"}},
    {&known::t4, {"results[].measurements"}},
    {&known::t4, {"schema_version", "results"}},
    {&known::t4, {"results"}, true},
    {&known::t4_metadata, {"metadata"}, true},
    {&known::ktt_json, {"Results[].Configuration"}},
    {&known::ktt_json, {"Metadata.KttVersion"}},
    {&known::ktt_model, {"tp[]", "pc[]"}},
    {&known::triton, {"configs_timings"}},
    {&known::inductor, {"found_by_coordesc"}},
    {&known::inductor, {"configs_hash"}},
    {&known::triton_kernel, {"child_paths"}},
    {&known::triton_kernel, {"num_warps", "shared", "name"}},
    {&known::triton_kernel, {"num_warps", "shared", "target"}},
    {&known::kernel_tables, {"#.BLOCK_SIZE_M"}},
    {&known::kernel_tables, {"#.num_warps"}},
    {&known::kernel_tables, {"triton_version"}},
    {&known::pytest_benchmark, {"machine_info", "benchmarks[]"}},
    {&known::nvbench, {"benchmarks[].states"}},
    {&known::google_benchmark, {"context", "benchmarks[]"}},
    {&known::google_benchmark, {"benchmarks[].real_time"}},
    {&known::google_benchmark, {"benchmarks[].run_type"}},
    {&known::problem, {"kernel", "arguments"}, true},

    {&known::bat_json, {"[].config", "[].objective"}},
    {&known::result_list, {"[].time"}},
    {&known::result_list, {"[].times"}},
    {&known::result_list, {"[].compile_time"}},
    {&known::result_list, {"[].benchmark_time"}},
    {&known::result_list, {"[].__error__"}},
    {&known::result_list, {"[][].time"}},
    {&known::result_list, {"[][].times"}},
    {&known::result_list, {"[][].compile_time"}},
    {&known::result_list, {"[][].benchmark_time"}},
    {&known::result_list, {"[][].__error__"}},

    {&known::ktt_xml, {"tag:TuningData"}},
    {&known::web_page, {"tag:html"}},
    {&known::web_page, {"tag:!DOCTYPE"}},
    {&known::web_page, {"tag:!doctype"}},

    {&known::csv_export, {"column:run", "column:config_key"}},
    {&known::optuna, {"column:number", "column:value", "column:state"}},
    {&known::optuna_many, {"column:number", "column:values_*", "column:state"}},
    {&known::bat_csv, {"column:config.*", "column:objective"}},
    {&known::nvbench_csv, {"column:Benchmark", "column:Device", "column:Skipped"}},
    {&known::google_csv, {"column:real_time", "column:time_unit"}},
    {&known::ktt_csv, {"column:Kernel name", "column:Global size"}},
    {&known::ktt_csv, {"column:Kernel name", "column:Status"}},
    {&known::cltune_table, {"starts:name;time;"}},
    {&known::wandb_chart, {"column:*__MIN"}},
    {&known::wandb, {"column:Name", "column:Runtime"}},
    {&known::wandb, {"column:Name", "column:State", "column:Created"}},
    {&known::wandb, {"column:State", "column:Runtime", "column:Sweep"}},
};

[[noreturn]] void refuse(const std::string& source, std::string_view what, std::string_view advice) {
  detail::raise<ConfigError>("not a recording", source + ": " + std::string(what), advice);
}

[[noreturn]] void refuse_unknown(const std::string& source, std::string_view what) {
  refuse(source, what,
         "give a file that a tuner wrote (docs/formats/recordings.md lists them), an export of a run, or "
         "STORE:RUN");
}

/// Looks at a file until the signs of a row are complete.
class Look {
 public:
  Look(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  const Format& format() {
    if (text_.find_first_not_of(" \t\r\n") == text_.npos) refuse_unknown(source_, "it is empty");
    begins(text_);
    text_ = without_comments(without_mark(text_));
    const char first = text_.size() > blank() ? text_[blank()] : ' ';
    if (!format_ && (first == '{' || first == '[')) json();
    if (!format_ && first == '<') tag();
    if (!format_ && first != '{' && first != '[' && first != '<') columns();
    for (std::size_t i = 0; !format_ && i < std::size(format_rows); ++i)
      if (format_rows[i].weak && complete(i)) format_ = format_rows[i].format;
    if (!format_) refuse_unknown(source_, layout(first));
    return *format_;
  }

 private:
  struct Enough {};

  std::size_t blank() const { return std::min(text_.find_first_not_of(" \t\r\n"), text_.size()); }

  static std::string_view layout(char first) {
    if (first == '{') return "JSON without records of a known layout";
    if (first == '[') return "a JSON list without records of a known layout";
    return first == '<' ? "XML of an unknown layout" : "neither JSON nor a table of a known layout";
  }

  /// TVM's published logs have lines of `#` before the first record.
  static std::string_view without_comments(std::string_view text) {
    std::string_view rest = text;
    while (rest.starts_with('#')) rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
    return rest.starts_with('{') ? rest : text;
  }

  void begins(std::string_view text) {
    const std::string_view head = text.substr(0, std::size_t{1} << 16U);
    constexpr std::string_view starts = "starts:", contains = "contains:";
    for (std::size_t i = 0; i < std::size(format_rows); ++i)
      for (std::size_t s = 0; s < format_rows[i].signs.size(); ++s) {
        const std::string_view sign = format_rows[i].signs[s];
        if (sign.starts_with(contains) && head.find(sign.substr(contains.size())) != head.npos)
          found_[i][s] = true;
        if (sign.starts_with(starts) && without_mark(text).starts_with(sign.substr(starts.size())))
          found_[i][s] = true;
      }
    take_complete();
  }

  bool complete(std::size_t row) const {
    for (std::size_t s = 0; s < format_rows[row].signs.size(); ++s)
      if (!format_rows[row].signs[s].empty() && !found_[row][s]) return false;
    return true;
  }

  void take_complete() {
    for (std::size_t i = 0; i < std::size(format_rows) && !format_; ++i)
      if (!format_rows[i].weak && complete(i)) format_ = format_rows[i].format;
  }

  void saw(std::string_view sign) {
    bool any = false;
    for (std::size_t i = 0; i < std::size(format_rows); ++i)
      for (std::size_t s = 0; s < format_rows[i].signs.size(); ++s)
        if (format_rows[i].signs[s] == sign) any = found_[i][s] = true;
    if (any) take_complete();
  }

  void json() {
    JsonReader in(text_, source_);
    try {
      value(in, "", 0);
    } catch (const Enough&) {
    } catch (const TextEnds&) {  // a file that was cut off is known by what is left of it
    }
  }

  void seen(const std::string& sign) {
    saw(sign);
    if (format_) throw Enough{};
  }

  void value(JsonReader& in, const std::string& path, int depth) {
    const char next = in.peek();
    if (depth == 3 || (next != '{' && next != '[')) {
      in.skip();
    } else if (next == '[') {
      seen(path + "[]");
      bool first = true;
      in.array([&] {
        if (first)
          value(in, path + "[]", depth + 1);
        else
          in.skip();
        first = false;
      });
    } else {
      in.object([&](std::string_view key) {
        const bool number =
            !key.empty() && std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
        const std::string inner = path + (path.empty() ? "" : ".") + (number ? "#" : std::string(key));
        seen(inner);
        value(in, inner, depth + 1);
      });
    }
  }

  void tag() {
    std::string_view rest = text_.substr(blank());
    while (rest.starts_with("<?") || rest.starts_with("<!--")) {
      const std::string_view end = rest[1] == '?' ? "?>" : "-->";
      const std::size_t at = rest.find(end);
      if (at == rest.npos) return;
      rest.remove_prefix(at + end.size());
      rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
    }
    if (!rest.starts_with('<')) return;
    saw("tag:" + std::string(rest.substr(1, std::min(rest.find_first_of(" \t\r\n>/", 1), rest.size()) - 1)));
  }

  void columns() {
    CsvText csv(text_);
    std::vector<std::string> header;
    (void)csv.next(header);
    for (const std::string& name : header) {
      saw("column:" + name);
      for (const char joint : {'_', '.'})
        if (const std::size_t at = name.find(joint); at != name.npos)
          saw("column:" + name.substr(0, at + 1) + "*");
      if (name.ends_with("__MIN")) saw("column:*__MIN");
    }
  }

  std::string_view text_;
  const std::string& source_;
  std::array<std::array<bool, 3>, std::size(format_rows)> found_{};
  const Format* format_ = nullptr;
};

}  // namespace

std::string_view without_mark(std::string_view text) noexcept {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  return text;
}

const Format& format_of(std::string_view text, const std::string& source) {
  const Format& format = Look(text, source).format();
  if (format.read == nullptr && !format.store) refuse(source, format.refused, format.advice);
  return format;
}

}  // namespace kernelsearch::recorded
