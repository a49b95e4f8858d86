// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/recorded/read_recording.hpp"

#include <optional>
#include <string_view>

#include "json_reader.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/recorded/stored_run.hpp"
#include "kernelsearch/store/run_store.hpp"
#include "raw_recording.hpp"
#include "text_file.hpp"

namespace kernelsearch {
namespace {

using namespace recorded;

constexpr std::string_view store_mark = "SQLite format 3";

enum class Format { cachefile, result_list, t4, json_lines, csv };

[[noreturn]] void unknown(const std::string& source, const std::string& what) {
  detail::raise<ConfigError>("not a recording", source + ": " + what,
                             "give a Kernel Tuner cachefile, T4 results, an export of a run, or STORE:RUN");
}

/// Told by the first key that only one format has.
Format format_of_json(std::string_view text, const std::string& source) {
  JsonReader in(text, source);
  std::optional<Format> format;
  bool t1 = false;
  struct Enough {};
  try {
    in.object([&](std::string_view key) {
      if (key == "cache" || key == "tune_params_keys" || key == "tune_params" || key == "kernel_name")
        format = Format::cachefile;
      else if (key == "results")
        format = Format::t4;
      else if (key == "evaluation" || key == "candidate")
        format = Format::json_lines;
      t1 = t1 || key == "ConfigurationSpace";
      if (format) throw Enough{};
      in.skip();
    });
  } catch (const Enough&) {
    return *format;
  } catch (const TextEnds&) {
  }
  unknown(source, t1 ? "a T1 file, which declares a space" : "JSON without records of a known layout");
}

Format format_of(std::string_view text, const std::string& source) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) unknown(source, "it is empty");
  if (text[first] == '{') return format_of_json(text, source);
  if (text[first] == '[') return Format::result_list;
  const std::string_view header = text.substr(0, text.find('\n'));
  if (header.starts_with("run,") && header.find("config_key") != std::string_view::npos) return Format::csv;
  unknown(source, "neither JSON nor an export");
}

RawRecording parse(std::string_view text, const std::string& source) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";  // as Windows' editors put before UTF-8
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  switch (format_of(text, source)) {
    case Format::cachefile:
      return read_cachefile(text, source);
    case Format::result_list:
      return read_result_list(text, source);
    case Format::t4:
      return read_t4(text, source);
    case Format::json_lines:
      return read_json_lines(text, source);
    case Format::csv:
      break;
  }
  return read_csv(text, source);
}

std::string name_of(const std::filesystem::path& file) {
  std::string name = file.filename().string();
  for (const std::string_view extension : {".gz", ".json", ".jsonl", ".csv", ".t4"})
    if (name.ends_with(extension)) name.resize(name.size() - extension.size());
  return name;
}

/// Reads `STORE:RUN`; a store alone stands for its newest run.
Recording read_store(const std::filesystem::path& file, const std::string& which,
                     const ReadRecordingOptions& options) {
  const RunStore store(file, {.only_read = true});
  const std::optional<RunRow> run = store.find_run(which);
  if (!run)
    detail::raise<ConfigError>("no such run", which + " in " + file.string(),
                               "see `kernelsearch runs --store " + file.string() + "` for what there is");
  return recording_of(store, run->id, options);
}

}  // namespace

Recording read_recording(const std::filesystem::path& file, const ReadRecordingOptions& options) {
  const std::string source = file.string();
  if (const std::size_t colon = source.rfind(':'); colon != std::string::npos &&
                                                   !std::filesystem::exists(file) &&
                                                   std::filesystem::exists(source.substr(0, colon)))
    return read_store(source.substr(0, colon), source.substr(colon + 1), options);

  const TextFile content = read_text(file);
  if (content.text.starts_with(store_mark)) return read_store(file, "latest", options);
  RawRecording raw = parse(content.text, source);
  if (content.cut) raw.notes.push_back("the gzip file ends too early: read up to there");
  return assemble(std::move(raw), file, name_of(file), options);
}

Recording parse_recording(std::string_view text, const std::string& name,
                          const ReadRecordingOptions& options) {
  RawRecording raw = parse(text, name);
  raw.alone = true;
  return assemble(std::move(raw), name, name_of(name), options);
}

}  // namespace kernelsearch
