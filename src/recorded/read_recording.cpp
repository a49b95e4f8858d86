// SPDX-FileCopyrightText: The kernelsearch authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernelsearch/recorded/read_recording.hpp"

#include <optional>
#include <string>
#include <string_view>

#include "formats.hpp"
#include "kernelsearch/core/error.hpp"
#include "kernelsearch/core/impl/utf8.hpp"
#include "kernelsearch/recorded/stored_run.hpp"
#include "kernelsearch/store/run_store.hpp"
#include "raw_recording.hpp"
#include "text_file.hpp"

namespace kernelsearch {
namespace {

using namespace recorded;

/// The text with U+FFFD in place of bytes outside of UTF-8, as it would have once the recording is written.
std::string in_utf8(std::string_view text) {
  std::string good;
  good.reserve(text.size());
  std::size_t begin = 0;  // of what is good and not taken over yet
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t length = detail::utf8_length(text, at); length > 0) {
      at += length;
      continue;
    }
    good.append(text, begin, at - begin).append(detail::utf8_replacement);
    begin = ++at;
  }
  return good.append(text, begin);
}

RawRecording parse(const Format& format, std::string_view text, const std::string& source,
                   const ReadRecordingOptions& options) {
  RawRecording raw = format.read(in_utf8(without_mark(text)), source, options);
  raw.format = format.name;
  return raw;
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
  const Format& format = format_of(content.text, source);
  if (format.store) return read_store(file, "latest", options);
  RawRecording raw = parse(format, content.text, source, options);
  if (content.cut) raw.notes.push_back("the gzip file ends too early: read up to there");
  return assemble(std::move(raw), file, name_of(file), options);
}

Recording parse_recording(std::string_view text, const std::string& name,
                          const ReadRecordingOptions& options) {
  const Format& format = format_of(text, name);
  if (format.store)
    detail::raise<ConfigError>("not a recording", name + ": " + std::string(format.refused), format.advice);
  RawRecording raw = parse(format, text, name, options);
  raw.alone = true;
  return assemble(std::move(raw), name, name_of(name), options);
}

}  // namespace kernelsearch
